/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A jit-PID.dump, which a JIT compiler writes as it makes code: the code with its name, lines and
 * time, in the format of perf's jitdump-specification.txt. The process maps the file as a mark,
 * which is how a recording knows of it.
 */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "binary/identity.h"
#include "base/diagnosis.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "machine/module.h"

struct sp_ctx;

/* From `offset` of the code on, up to the next one's. */
struct jitdump_line {
	uint64_t offset;
	const char *file; /* the JIT's path; interned */
	uint32_t line;
	uint32_t order;   /* in the file */
};

/* Code that was loaded. */
struct jitdump_code {
	uint64_t file_offset, size; /* position of its bytes in the dump */
	uint64_t start;             /* its first load address */
	const char *name;           /* interned */
	uint32_t first_line, line_count; /* in lines, by offset */
};

/* From a time on code is at an address: it was loaded there, or moved to it. */
struct jitdump_place {
	uint64_t time;        /* by the dump's clock */
	uint64_t start, size;
	uint64_t file_offset; /* position of the byte at `start` */
};

struct jitdump {
	char *path; /* begins with `root` */
	char *root; /* the directory that it was opened in (--symfs); NULL: any path */
	dev_t device;
	ino_t inode;
	uint32_t pid;       /* the writer's pid in its own namespace */
	uint16_t machine;   /* EM_* */
	bool in_ticks;      /* times are the processor's, no nanoseconds */
	uint64_t began;     /* about when the file was mapped, by the clock of its times */
	VEC(struct jitdump_code) codes;   /* by file_offset */
	VEC(struct jitdump_place) places; /* in the file's order */
	VEC(struct jitdump_line) lines;
	struct strtab strings;
	uint64_t bad_records; /* passed over */
	uint64_t cut_at;      /* the file ends within the record that begins here; 0: none */
};

/*
 * Reads the whole of the file as far as it goes; the bytes of code are passed over. Fails with
 * SP_ERROR_FORMAT where it does not begin as a jitdump does.
 */
struct sp_error *jitdump_read(int fd, const char *path, struct jitdump **ret) SP_MUST_CHECK;
void jitdump_free(struct jitdump *dump);

/* The code that the byte at `file_offset` is of, or NULL. */
const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t file_offset);

/* The line at a byte of the code, or NULL. */
const struct jitdump_line *jitdump_line_at(const struct jitdump *dump,
					   const struct jitdump_code *code, uint64_t file_offset);

/*
 * Finds the dump that a process had mapped (symbol/process_file.h says what is believed), and
 * reads it. NULL where there is none to be used: *diagnosis says why. `host`: whether the
 * recording was made here. Fails only when out of memory.
 */
struct sp_error *jitdump_open(struct sp_ctx *ctx, const char *symfs, enum host host,
			      const struct module *module, uint32_t pid,
			      struct diagnosis *diagnosis, struct jitdump **ret) SP_MUST_CHECK;

#endif
