/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that rows and tree nodes are made of: the requested ones of dso, symbol, function and source
 * line. Files of one name are one dso here, as in perf; functions of one name in them differ if
 * their places or bodies differ.
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
	const char *dso;      /* NULL, as all that follow: not asked for */
	const char *dso_path; /* the alphabetically first of several files of one name */
	const char *build_id; /* hex; NULL: unknown, or not the same for all */
	const char *symbol;
	const char *function;
	const char *srcfile;  /* the whole path; NULL: or not known */
	const char *home;     /* the file of the function's body; NULL: its place identifies it */
	uint64_t start, size; /* in the file; of what has no name, the address and 0 */
	uint32_t line;        /* 0: not asked for, or not known */
	bool known;           /* false: `symbol` and `function` are an address, or from_cfi */
	bool from_cfi;        /* they are "fn@" and the address of a range of call frame information */
	bool inlined;         /* here, into its caller; of several, all are */
	enum sp_level level;
};

struct functions {
	VEC(struct function);
	bool inlined_apart;    /* a function that was inlined is another than where it was not */
	struct index_set index_of;
	struct strtab strings;
};

/* All zero but `inlined_apart` is empty. */
void functions_deinit(struct functions *functions);

/* The one copy of a text, an address or a build-id; NULL when out of memory. */
const char *functions_text(struct functions *functions, const char *text);
const char *functions_address(struct functions *functions, uint64_t address);
const char *functions_hex(struct functions *functions, const uint8_t *bytes, size_t size);

/*
 * The index of what has the same dso, symbol, function and source line (and, if it has a
 * symbol or function, place or home, level); UINT32_MAX when out of memory.
 */
uint32_t functions_add(struct functions *functions, const struct function *function);

/* The name it goes by: that of the function, else of the symbol, the line or the dso. */
const char *function_name(const struct function *function);

/* By name, then by place: an order that does not depend on who came first. */
int function_compare(const struct function *a, const struct function *b);

#endif
