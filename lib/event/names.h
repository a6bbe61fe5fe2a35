/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event names that every Linux knows: perf's tables of hardware, software and cache events. */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct event_code {
	uint32_t type;   /* PERF_TYPE_* */
	uint64_t config;
};

/* What a name (not terminated) means; false where it means nothing. */
bool event_name_find(const char *name, size_t size, struct event_code *ret);

/* The name that somebody who typed this may have meant, by edit distance; the caller's to free. */
struct sp_error *event_name_near(const char *name, size_t size, char **ret) SP_MUST_CHECK;

/* "L1-dcache-load-misses", as perf list has it, for PERF_TYPE_HW_CACHE; false where there is none. */
bool event_cache_name(uint64_t config, char *buffer, size_t size);

#endif
