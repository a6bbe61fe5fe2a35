/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * List of a file's damaged places, by offset. The first DAMAGE_LISTED are described, others are
 * counted. Threads may add at the same time; other functions need the list for themselves.
 */
#ifndef FILE_DAMAGE_H
#define FILE_DAMAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sprof/reader.h>
#include "base/vec.h"

#define DAMAGE_LISTED 1000

struct damage {
	struct sp_damage shown;
	uint64_t place; /* in the flat data, where records are missing; or one of the below */
	bool between;   /* `place` is between records: the record there is good */
	bool of_data;   /* found while reading records */
};

#define DAMAGE_NOWHERE UINT64_MAX       /* nothing is missing */
#define DAMAGE_OF_FILE (UINT64_MAX - 1) /* records are missing at the offset in the file */
#define DAMAGE_AT_END (UINT64_MAX - 2)  /* records are missing after the last one */

struct damage_list {
	pthread_mutex_t lock;
	VEC(struct damage) places; /* each owns shown.what */
	uint64_t unlisted;
	struct sp_damage more; /* stands for the unlisted places */
	char more_what[64];
};

void damage_list_init(struct damage_list *list);
void damage_list_deinit(struct damage_list *list);

/* Adds a copy. Two passes may find the same damage: equal offset and text are listed once. */
void damage_list_add(struct damage_list *list, const struct damage *damage);

/* Counts a place that damage_list_add() would only count. False if it would be listed. */
bool damage_list_count_unlisted(struct damage_list *list, uint64_t offset);

/* Removes places that are `of_data`, and unlisted ones. */
void damage_list_remove_data(struct damage_list *list);

/* Listed places, and one item for all unlisted ones. */
size_t damage_list_count(const struct damage_list *list);
const struct sp_damage *damage_list_item(const struct damage_list *list, size_t index);

#endif
