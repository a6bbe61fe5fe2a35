/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rows and tree nodes are made of: a function as people see it, by the names
 * of its dso and of itself. Files of one name are one dso here, as they are one
 * to perf; functions of one name in them are apart where they lie at other places.
 */
#ifndef PROFILE_FUNCTION_H
#define PROFILE_FUNCTION_H

#include <sprof/profile.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"

struct function {
	const char *dso;      /* equal names are equal pointers */
	const char *dso_path; /* of several files of one name, the first by alphabet */
	const char *build_id; /* hex; NULL: unknown, or not the same for all */
	const char *symbol;   /* equal names are equal pointers */
	uint64_t start, size; /* in its file; of what has no name, the address and 0 */
	uint32_t dso_index;   /* functions of one dso have the same */
	bool known;           /* false: `symbol` is an address */
	enum sp_level level;
};

struct functions {
	VEC(struct function);
	VEC(struct function) dsos;    /* by dso_index: what is common to all of a dso */
	uint32_t *slots;              /* hash table of index + 1 */
	size_t slot_count;
	struct strtab strings;
	struct u64map dso_of;         /* name's address -> dso_index */
};

/* A zeroed struct functions is empty. */
void functions_deinit(struct functions *functions);

/* What a function is made of; strings are copied. */
struct function_source {
	const char *dso, *dso_path;
	const uint8_t *build_id;
	size_t build_id_size;
	const char *symbol; /* NULL: no name; `start` is the address */
	uint64_t start, size;
	enum sp_level level;
};

/* Its index; UINT32_MAX when out of memory. */
uint32_t functions_add(struct functions *functions, const struct function_source *source);

/* By name, then by place: an order that does not depend on who came first. */
int function_compare(const struct function *a, const struct function *b);

#endif
