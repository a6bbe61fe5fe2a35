/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and lines of code by a Go function table, inlined calls included. */
#pragma once

#include "base/vec.h"
#include "go/pclntab.h"

/* Limit on inlined calls within each other at one address. */
#define GO_FRAMES_MAX 64

/* A function at an address. Strings are valid as long as the table. */
struct go_frame {
	const char *name;
	const char *file; /* NULL: unknown */
	uint64_t start;   /* start of the code; of an inlined function, UINT64_MAX */
	uint64_t key;     /* equal for frames of the same function in the same inlined call */
	uint32_t line;    /* line of the address, or of the inner call; 0: unknown */
	uint32_t declared; /* line of the function's declaration; 0: unknown */
};

/* A value of code up to `to`, as distance from the function's start. */
struct go_value {
	uint64_t to;
	int32_t value;
};

struct go_values {
	VEC(struct go_value);
};

/* Tables of the function that was looked up last. Looking up addresses in ascending order is fast. */
struct go_frames {
	const struct pclntab *table; /* borrowed */
	struct image_bytes trees;    /* bytes from table->trees on */
	struct go_function function; /* end 0: none */
	struct go_values files, lines, calls;
	uint64_t budget; /* values that may still be read, in proportion to the table's size */
};

/* Reads the inline trees from the file. Fails if it cannot be read, or when out of memory. */
struct sp_error *go_frames_open(const struct image *image, const struct pclntab *table,
				struct go_frames *ret) SP_MUST_CHECK;
void go_frames_close(struct go_frames *frames);

/*
 * Finds the functions at an address, innermost first, and sets their number, 0 if there is none. Fails
 * only when out of memory.
 */
struct sp_error *go_frames_find(struct go_frames *frames, uint64_t vaddr,
				struct go_frame ret[GO_FRAMES_MAX], size_t *count_ret) SP_MUST_CHECK;
