/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A code object of CPython, read from a process. */
#pragma once

#include "python/layout.h"

#define PYTHON_TEXT_MAX 1024       /* bytes of a name in UTF-8; longer ones are shortened */
#define PYTHON_LINES_MAX (1 << 18) /* bytes of a location table; larger ones count as absent */

/* Fields that are equal only for one code object. */
struct python_code_key {
	uint64_t type, name, file, lines; /* addresses of objects */
	uint64_t units;                   /* size of the bytecode, in code units of 2 bytes */
	uint32_t first_line, padding;     /* padding is 0: keys are compared as bytes */
};

struct python_code {
	struct python_code_key key;
	char name[PYTHON_TEXT_MAX + 1], file[PYTHON_TEXT_MAX + 1]; /* UTF-8, not empty; untrusted */
};

/* Reads the fields; false if it is no code object, or not readable. */
bool python_code_read_key(struct python_memory *memory, const struct python_runtime *runtime,
			  uint64_t code, struct python_code_key *ret);

/* Reads the names for ret->key. */
bool python_code_read_names(struct python_memory *memory, const struct python_layout *layout,
			    struct python_code *ret);

/*
 * Reads the location table. *table_ret is the caller's (free()), NULL if it is absent or too large.
 * False when out of memory.
 */
bool python_code_read_lines(struct python_memory *memory, const struct python_layout *layout,
			    const struct python_code_key *key, uint8_t **table_ret, size_t *size_ret);

/*
 * Converts an instruction's address to an offset in the bytecode of the code object at `code`. An address
 * just before it, where a frame stands that has not begun, gives 0. False if it is of other code.
 */
bool python_code_offset(const struct python_layout *layout, uint64_t code,
			const struct python_code_key *key, uint64_t instr, uint64_t *ret);
