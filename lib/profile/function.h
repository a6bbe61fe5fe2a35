/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Identity of rows and tree nodes by code: the requested ones of dso, symbol, function and source line.
 * Files of one name are one dso, as in perf. In these, functions of one name differ if their addresses
 * or source files differ.
 */
#ifndef PROFILE_FUNCTION_H
#define PROFILE_FUNCTION_H

#include <sprof/profile.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"

/* Names are interned by functions_text(): equal names are equal pointers. */
struct function {
	const char *dso;      /* NULL in this and the following members: not requested */
	const char *dso_path; /* the alphabetically first of several files of one name */
	const char *build_id; /* hex; NULL: unknown, or several */
	const char *symbol;
	const char *function;
	const char *srcfile;  /* whole path; NULL: not requested, or unknown */
	const char *home;     /* source file of the function's body; NULL: `start` identifies it */
	uint64_t start, size; /* in the file; without a name: the address, and size 0 */
	uint32_t line;        /* 0: not requested, or unknown */
	bool known;           /* false: `symbol` and `function` are an address, or from_cfi */
	bool from_cfi;        /* the names are "fn@ADDRESS", of a range of call frame information */
	bool inlined;         /* inlined into its caller; merged: inlined in all */
	enum sp_level level;
	const struct sp_instruction *instruction; /* NULL: not requested, or unknown */
};

struct functions {
	VEC(struct function);
	bool inlined_apart;    /* inlined and other instances of a function are distinct */
	struct index_set index_of;
	struct strtab strings;
	struct arena instructions;
};

/* A zeroed struct is empty, except for `inlined_apart`. */
void functions_deinit(struct functions *functions);

/* Returns the interned copy of a text, an address or a build-id; NULL when out of memory. */
const char *functions_text(struct functions *functions, const char *text);
const char *functions_address(struct functions *functions, uint64_t address);
const char *functions_hex(struct functions *functions, const uint8_t *bytes, size_t size);

/*
 * Returns the index of the function with the same dso, symbol, function and source line, added if new.
 * If it has a symbol or function, its address or home and its level must be equal, too. UINT32_MAX when
 * out of memory.
 */
uint32_t functions_add(struct functions *functions, const struct function *function);

/* Returns the most specific name: of the function, else the symbol, the line or the dso. */
const char *function_name(const struct function *function);

/* Orders by name, then by address, independent of the order of insertion. */
int function_compare(const struct function *a, const struct function *b);

#endif
