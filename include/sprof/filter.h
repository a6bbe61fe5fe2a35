/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection of samples, and folders of their files. */
#ifndef SPROF_FILTER_H
#define SPROF_FILTER_H

#include <sprof/list.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Times from begin_ns up to, but not including, end_ns, in the recording's clock; end_ns 0: no end.
 */
struct sp_time_span {
	uint64_t begin_ns, end_ns;
};

/*
 * Filter of samples: a sample passes if it matches one item of each list that is not empty. All
 * members are borrowed.
 */
struct sp_filter {
	size_t size; /* sizeof of this struct */
	struct sp_string_list comms, dsos, symbols; /* symbols: or functions */
	struct sp_number_list pids, tids, cpus;
	const struct sp_time_span *times;
	size_t time_count;
	/*
	 * Extended regular expressions for the names of functions. A stack passes if one of its
	 * functions, inlined ones included, matches one of `focus`, and none matches `ignore`.
	 * For analyses only.
	 */
	struct sp_string_list focus, ignore;
	struct sp_number_list parallelism; /* values of SP_KEY_PARALLELISM; for analyses only */
	/* Texts of SP_KEY_ARGUMENT and SP_KEY_CMDLINE at the sample's time; "?": not recorded. */
	struct sp_string_list arguments, command_lines;
};

/* Places of files. NULL members mean the default; borrowed. */
struct sp_files {
	size_t size;          /* sizeof of this struct */
	const char *symfs;    /* root directory of every path of the recording; NULL: none */
	const char *vmlinux;  /* the kernel's ELF file; NULL: look for it */
	const char *kallsyms; /* a file in the format of /proc/kallsyms; NULL: the recording's */
	const char *unwinder; /* unwinder for stack copies: a name or "none"; NULL: the best */
};

#ifdef __cplusplus
}
#endif
#endif
