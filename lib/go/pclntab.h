/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Go runtime's function table (.gopclntab), which each Go program has, stripped or not: names and
 * ranges of functions, sizes of their stack frames, files, lines and inlined calls. Go 1.2 to 1.26. The
 * bytes are untrusted: results are wrong at worst. Constant after pclntab_read(): any thread may read.
 */
#pragma once

#include "base/cursor.h"
#include "elf/image.h"

/* Layouts, named after the first Go release that wrote them. */
enum pclntab_layout {
	PCLNTAB_1_2,
	PCLNTAB_1_16,
	PCLNTAB_1_18,
	PCLNTAB_1_20,
};

/* A zeroed struct is empty. */
struct pclntab {
	struct image_bytes bytes;
	uint64_t vaddr;          /* address of the first byte */
	bool swap;
	uint8_t layout;          /* enum pclntab_layout */
	uint8_t word, quantum;   /* sizes of an address, and of the smallest instruction, in bytes */
	uint64_t count;          /* number of functions; 0: the file has no table */
	uint64_t text;           /* address to which offsets of code are relative */
	uint64_t trees;          /* address to which inline trees are relative; 0: unknown */
	uint64_t names, units, files, values, functions; /* offsets of the parts in `bytes` */
	uint64_t strings_end;    /* a string that begins before this offset ends within `bytes` */
};

/*
 * Reads the table of an image with an open file. *ret is empty if there is none. Fails if the table
 * is damaged, or when out of memory. The bytes belong to *ret, or to the image if it is from
 * memory.
 */
struct sp_error *pclntab_read(const struct image *image, struct pclntab *ret) SP_MUST_CHECK;
void pclntab_deinit(struct pclntab *table);

/* Flags of a function; the first two are the runtime's, the others are ours by its name. */
#define GO_TOP_FRAME 1 /* is the outermost of its stack */
#define GO_SP_WRITE 2  /* loads the stack pointer: its callers are on another stack */
#define GO_INJECTED 4  /* signal handlers of the runtime let interrupted code "call" it */
#define GO_RESUMED 8   /* its return address is a copy of where a goroutine had stopped */
#define GO_WAITED_FOR 16 /* with SP_WRITE: its caller runs on when it returns, and not before */
#define GO_GROWS 32 /* called before a function's frame exists, if the stack lacks space for it */

struct go_function {
	const char *name;        /* valid as long as the table */
	uint64_t start, end;     /* range of code, as vaddr */
	uint8_t flags;           /* GO_* */
	uint32_t declared;       /* line of its declaration; 0: unknown, before Go 1.20 */
	uint32_t unit;           /* its compilation unit's first index in the table of files */
	/* Offsets of tables of values; 0: none. */
	uint32_t frame_sizes, files, lines, calls;
	uint64_t tree;           /* vaddr of the inline tree; 0: none */
};

/* Decodes the function with an index below table->count; false if it is damaged. */
bool pclntab_function(const struct pclntab *table, uint64_t index, struct go_function *ret);

/* Finds the function with code at `vaddr`. */
bool pclntab_find(const struct pclntab *table, uint64_t vaddr, struct go_function *ret);

/*
 * Iterates over a table of values by code: after pc_values_next(), `value` holds for the code from `from`
 * to `to`, as distances from the function's start.
 */
struct pc_values {
	struct cursor cursor;
	uint64_t from, to;
	uint32_t value; /* the bits of an int32_t */
	uint8_t quantum;
	bool begun;
};

/* Starts at the table with an offset from struct go_function; false if there is none. */
bool pc_values_open(const struct pclntab *table, uint32_t offset, struct pc_values *ret);
bool pc_values_next(struct pc_values *values);

/* Gets the value that holds at a distance from the function's start; false if there is none. */
bool pc_values_find(struct pc_values *values, uint64_t distance, int32_t *ret);

/* Returns the path of a value of a table of files; NULL: unknown. */
const char *pclntab_file(const struct pclntab *table, const struct go_function *function,
			 int32_t number);

/* Returns the string at an offset from the table of names; NULL: there is none. */
const char *pclntab_name(const struct pclntab *table, uint32_t offset);
