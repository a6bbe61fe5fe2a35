/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Namesakes: functions of a module that share their name without parameters, whether they have
 * samples or not. Shown names are unique among all of them, so that they do not depend on filters.
 */
#pragma once

#include "symbol/namesake_keys.h"
#include "symbol/source.h"

struct module_names;

struct queried_name {
	const char *name, *raw_name; /* borrowed */
};

/* Functions of one module, to search their namesakes. A zeroed struct is empty. */
struct namesake_query {
	const struct module *module;
	uint32_t pid; /* process that has the module mapped, as in struct location */
	bool sourced; /* functions in the debug information are listed, too */
	struct namesake_keys keys;
	const struct u64map *symbols; /* addresses of symbols that are in the query; borrowed */
	VEC(struct queried_name) added;
	size_t hashed;        /* number of `added` that are in the maps, which few queries need */
	struct u64map names;  /* hashes of names without parameters */
	struct u64map raws;   /* hashes of raw names, without the suffix of a clone */
};

void namesake_query_deinit(struct namesake_query *query);

/* Adds a function; its names are borrowed. Returns false when out of memory. */
bool namesake_query_add(struct namesake_query *query, const char *name, const char *raw_name);

struct namesake {
	const struct symbol *symbol; /* NULL: functions of the debug information are there */
	uint64_t offset; /* a place in the function, in the module's own offsets */
	bool same_raw; /* a function of the query has its raw name, or it is a clone of one */
};

struct namesakes {
	VEC(struct namesake);
};

void namesakes_deinit(struct namesakes *namesakes);

/*
 * Lists all functions of the query's names, those of the query included. The module's source must
 * be open. Returns false when out of memory.
 */
bool namesakes_list(struct module_names *names, struct namesake_query *query,
		    struct namesakes *ret);

/*
 * Lists those that have the raw name and the source file of another one, without folders, by
 * offset. Returns false when out of memory.
 */
bool namesakes_list_equal(const struct namesakes *namesakes, struct namesakes *ret);
