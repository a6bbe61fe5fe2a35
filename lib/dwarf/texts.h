/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and paths that several readers find, each kept once: most functions that are
 * inlined are so in many units. Thread-safe.
 */
#ifndef DWARF_TEXTS_H
#define DWARF_TEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include "base/strtab.h"

/* Number of shards: readers seldom meet in one. */
#define TEXT_SHARDS 32

struct texts {
	struct {
		pthread_mutex_t lock;
		struct strtab strings;
	} shards[TEXT_SHARDS];
};

void texts_init(struct texts *texts);
void texts_deinit(struct texts *texts);

/*
 * The one copy of this text, and whether it is new; NULL when out of memory. It lives as
 * long as the struct texts.
 */
const char *texts_add(struct texts *texts, const char *text, size_t size, bool *new_ret);

#endif
