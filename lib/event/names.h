/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event names that every Linux knows: perf's tables of hardware, software and cache events. */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "proc/tracefs.h"

struct event_code {
	uint32_t type;   /* PERF_TYPE_* */
	uint64_t config;
};

/* Find a name (not terminated); false if it is unknown. */
bool event_name_find(const char *name, size_t size, struct event_code *ret);

/* The names of a table, each once: hardware, then software events, aliases behind their name. */
struct event_plain_name {
	const char *name;
	struct event_code code;
};
size_t event_plain_count(void);
struct event_plain_name event_plain_name(size_t index);

/* The name that somebody who typed this may have meant, by edit distance; the caller's to free. */
struct sp_error *event_name_near(const char *name, size_t size, char **ret) SP_MUST_CHECK;

/* Names near to one that was typed: the nearest of those that were considered. */
#define NEAR_LIMIT 128
struct near_search {
	const char *typed;
	size_t typed_size;
	unsigned int distance;
	char name[NEAR_LIMIT + 1]; /* "" where none is near enough */
};

/* A third of it may be wrong: "cycels", "l1_dcache_loads", but not anything. */
struct near_search near_begin(const char *typed, size_t size);
void near_consider(struct near_search *search, const char *name);

/* The nearest of a list, or NULL; the caller's to free. */
struct sp_error *names_near(const char *typed, const struct name_list *names,
			    char **ret) SP_MUST_CHECK;

/* "L1-dcache-load-misses", as perf list has it, for PERF_TYPE_HW_CACHE; false where there is none. */
bool event_cache_name(uint64_t config, char *buffer, size_t size);

#endif
