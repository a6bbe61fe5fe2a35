/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and paths found by all readers, each stored once: most inlined functions occur in many units.
 * Thread-safe.
 */
#ifndef DWARF_SHARED_STRINGS_H
#define DWARF_SHARED_STRINGS_H

#include <pthread.h>
#include <stdbool.h>
#include "base/strtab.h"

/* Number of shards, each with its lock: readers seldom wait for each other. */
#define STRING_SHARDS 32

struct shared_strings {
	struct {
		pthread_mutex_t lock;
		struct strtab strings;
	} shards[STRING_SHARDS];
};

void shared_strings_init(struct shared_strings *texts);
void shared_strings_deinit(struct shared_strings *texts);

/*
 * Returns the only copy of this text, and whether it is new; NULL when out of memory. It lives as
 * long as `texts`.
 */
const char *shared_strings_add(struct shared_strings *texts, const char *text, size_t size, bool *new_ret);

#endif
