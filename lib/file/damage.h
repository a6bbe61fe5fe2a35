/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * List of a file's damaged places, ordered by offset. The first DAMAGE_LISTED places are described,
 * others only counted. Threads may add places at the same time; all other functions must not run in
 * parallel.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sprof/reader.h>
#include "base/vec.h"

#define DAMAGE_LISTED 1000

struct damage {
	struct sp_damage shown;
	uint64_t place; /* offset in the flat data where records are missing, or one of the values below */
	bool between;   /* `place` is a boundary: the record there is good */
	bool of_data;   /* found while reading records, not while opening */
};

#define DAMAGE_NOWHERE UINT64_MAX       /* value of `place`: no records are missing */
#define DAMAGE_OF_FILE (UINT64_MAX - 1) /* value of `place`: records are missing at the offset in the file */
#define DAMAGE_AT_END (UINT64_MAX - 2)  /* value of `place`: records are missing after the last one */

struct damage_list {
	pthread_mutex_t lock;
	VEC(struct damage) places; /* listed places; each owns shown.what */
	uint64_t unlisted;
	struct sp_damage more; /* description of all places that are not listed */
	char more_what[64];
};

void damage_list_init(struct damage_list *list);
void damage_list_deinit(struct damage_list *list);

/*
 * Adds a copy of a damaged place. Equal offset and text are listed once, because two passes may find
 * the same damage.
 */
void damage_list_add(struct damage_list *list, const struct damage *damage);

/* Counts a place if the list is full. Returns false if damage_list_add() would list it. */
bool damage_list_count_unlisted(struct damage_list *list, uint64_t offset);

/*
 * Removes places that were found while reading records (`of_data`), and the count of unlisted places.
 */
void damage_list_remove_data(struct damage_list *list);

/* Returns the number of listed places, plus one item for all that are not listed. */
size_t damage_list_count(const struct damage_list *list);
const struct sp_damage *damage_list_item(const struct damage_list *list, size_t index);
