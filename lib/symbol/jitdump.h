/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reader of jit-PID.dump files. A JIT compiler writes one as it makes code: the code with its name,
 * lines and time, in the format of perf's jitdump-specification.txt. The process maps the file, so that
 * the recording has an MMAP2 record of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/cleanup.h"
#include "binary/identity.h"
#include "base/diagnosis.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "machine/module.h"
#include "stored/stored.h"

/* Source line of the code from `offset` up to the next line's offset. */
struct jitdump_line {
	uint64_t offset;
	const char *file; /* the JIT's path; interned */
	uint32_t line;
	uint32_t order;   /* position among the file's lines */
};

/* A function of a LOAD record. */
struct jitdump_code {
	uint64_t file_offset, size; /* position of its bytes in the dump */
	uint64_t start;             /* its first load address */
	const char *name;           /* interned */
	uint32_t first_line, line_count; /* its elements of dump->lines, sorted by offset */
	uint64_t frames_offset;     /* position of its .eh_frame in the dump */
	uint32_t frames_size;       /* 0: it has none */
};

/* Address range that has code from a time on, because the code was loaded there or moved to it. */
struct jitdump_place {
	uint64_t time;        /* in the dump's clock */
	uint64_t start, size;
	uint64_t file_offset; /* position of the byte at `start` */
};

struct jitdump {
	char *path; /* path of the file, below `root` */
	char *root; /* the directory that it was opened in (--symfs); NULL: any path */
	dev_t device;
	ino_t inode;
	uint32_t pid;       /* the writer's pid in its own namespace */
	uint16_t machine;   /* EM_* */
	bool in_ticks;      /* times are processor ticks, not ns */
	uint64_t began;     /* about when the file was mapped, in the dump's clock */
	VEC(struct jitdump_code) codes;   /* sorted by file_offset */
	VEC(struct jitdump_place) places; /* in the file's order */
	VEC(struct jitdump_line) lines;
	struct strtab strings;
	uint64_t text_bytes; /* memory of `strings` */
	uint64_t bad_records; /* number of records that were skipped as invalid */
	uint64_t cut_at;      /* offset of an incomplete record at the end of the file; 0: none */
	int held_fd; /* the file as a recorder holds it (borrowed); -1: it is opened again */
	struct stored *stored; /* the recording that stores the file, with `key`; borrowed; NULL: `path` */
	struct stored_key key; /* borrows the module's path */
};

/*
 * Reads the whole file up to an incomplete record, but not the bytes of code. Fails with
 * SP_ERROR_FORMAT if the file does not begin with a jitdump header, and with SP_ERROR_LIMIT if it
 * needs more than `memory` bytes.
 */
struct sp_error *jitdump_read(int fd, const char *path, uint64_t memory,
			      struct jitdump **ret) SP_MUST_CHECK;
void jitdump_free(struct jitdump *dump);
DEFINE_CLEANUP(struct jitdump *, jitdump_free)

/* Returns the memory that the dump takes, in bytes, with that of its places in a machine. */
uint64_t jitdump_memory(const struct jitdump *dump);

/* Returns the code that contains the byte at `file_offset`, or NULL. */
const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t file_offset);

/* Largest .eh_frame of a function. Larger ones are ignored. */
#define JITDUMP_FRAMES_MAX (64u << 10)

/*
 * Reads the code's .eh_frame. Its addresses are those of perf's ELF files: the section begins where the
 * code ends, rounded up to 8. Returns false if the file was replaced, or if it has none. `ret` has room
 * for frames_size bytes.
 */
bool jitdump_read_frames(const struct jitdump *dump, const struct jitdump_code *code, uint8_t *ret);

/* Returns the source line of a byte of the code, or NULL. */
const struct jitdump_line *jitdump_line_at(const struct jitdump *dump,
					   const struct jitdump_code *code, uint64_t file_offset);

/* The jitdump to open: `pid` had it mapped as `module`. */
struct jitdump_request {
	struct sp_ctx *ctx;
	const char *symfs;
	enum host host; /* whether the recording was made on this host */
	const struct module *module;
	uint32_t pid;
	struct stored *stored; /* files in the recording, in place of a missing one; NULL: none */
	struct jit_files *files; /* owns the result */
};

/*
 * Finds and reads a jitdump. symbol/process_file.h states which files are accepted. NULL if there is
 * none; *diagnosis then has the reason. Fails only when out of memory.
 */
struct sp_error *jitdump_open(const struct jitdump_request *request, struct diagnosis *diagnosis,
			      const struct jitdump **ret) SP_MUST_CHECK;

/*
 * Stores a jitdump in a recording, up to 64 MB: without it, a report does not know where code was. Does
 * nothing if it is not found. Fails when out of memory.
 */
struct sp_error *jitdump_store(const struct jitdump_request *request, struct stored_names *names,
			       struct stored_module *module) SP_MUST_CHECK;
