/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event names that every Linux has: perf's tables of hardware, software and cache events. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "proc/tracefs.h"

struct event_code {
	uint32_t type;   /* PERF_TYPE_* */
	uint64_t config;
};

/* Finds an event by its name, which needs no NUL; false if it is unknown. */
bool event_name_find(const char *name, size_t size, struct event_code *ret);

/*
 * A name of the tables, without duplicates: hardware events, then software events. An alias follows its
 * name.
 */
struct event_plain_name {
	const char *name;
	struct event_code code;
};
size_t event_plain_count(void);
struct event_plain_name event_plain_name(size_t index);

/* Returns the nearest name by edit distance, for a suggestion; the caller frees it. */
struct sp_error *event_name_near(const char *name, size_t size, char **ret) SP_MUST_CHECK;

/* Search for the name nearest to a typed one. */
#define NEAR_LIMIT 128
struct near_search {
	const char *typed;
	size_t typed_size;
	unsigned int distance;
	char name[NEAR_LIMIT + 1]; /* the nearest name so far; "" if none is near enough */
};

/* Begins a search. A third of the characters may be wrong: "cycels", "l1_dcache_loads". */
struct near_search near_begin(const char *typed, size_t size);
void near_consider(struct near_search *search, const char *name);

/* Returns the list's nearest name, which the caller frees; NULL if none is near. */
struct sp_error *names_near(const char *typed, const struct name_list *names,
			    char **ret) SP_MUST_CHECK;

/*
 * Writes the name of a PERF_TYPE_HW_CACHE event as perf list prints it, "L1-dcache-load-misses"; false
 * if the config has none.
 */
bool event_cache_name(uint64_t config, char *buffer, size_t size);
