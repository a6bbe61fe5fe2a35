/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reader of feature TRACING_DATA, and of the data after a record of type 66 in a pipe: a sequence
 * of tracefs text files in trace-cmd's format, versions 0.5 and 0.6:
 *
 *	u8[3]   0x17 0x08 0x44
 *	"tracing", then the version as a string with its NUL
 *	u8      1: big-endian
 *	u8      the size of a long
 *	u32     the size of a page
 *	"header_page\0"  u64 size, text
 *	"header_event\0" u64 size, text
 *	u32     count of ftrace's formats, each u64 size, text
 *	u32     count of systems, each name\0, u32 count, each u64 size, text
 *	u32     size, kallsyms
 *	u32     size, printk_formats
 *	u64     size, names of tasks (0.6)
 */
#pragma once

#include <sprof/record.h>
#include "base/error.h"

/* Bit of feature TRACING_DATA in the file header. */
#define TRACE_FEATURE 1

enum trace_file {
	TRACE_HEADER_PAGE,
	TRACE_HEADER_EVENT,
	TRACE_FTRACE_FORMAT,
	TRACE_FORMAT,   /* format of a system's event */
	TRACE_KALLSYMS,
	TRACE_PRINTK_FORMATS,
	TRACE_TASKS,
};

struct trace_header {
	bool big_endian;
	uint8_t long_size; /* 4 or 8 */
	uint32_t page_size;
};

/* Callbacks for the files, which may be NULL; false: out of memory. */
struct trace_visitor {
	bool (*header)(void *arg, const struct trace_header *header);
	/* `system` is only set for TRACE_FORMAT, else NULL. The text has no final NUL. */
	bool (*file)(void *arg, enum trace_file kind, const char *system, const char *text,
		     size_t size);
	void *arg;
};

/*
 * Passes each file of the blob to the visitor. If the blob is damaged, fails with SP_ERROR_FORMAT
 * with `path` and the offset in the blob, after the files before the damage were passed.
 */
struct sp_error *trace_container_read(const struct sp_bytes *blob, const char *path,
				      const struct trace_visitor *visitor) SP_MUST_CHECK;
