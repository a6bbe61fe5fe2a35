/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/damage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void damage_list_init(struct damage_list *list)
{
	*list = (struct damage_list){0};
	pthread_mutex_init(&list->lock, NULL);
}

static void free_text(struct damage *damage)
{
	free((char *)(uintptr_t)damage->shown.what);
}

void damage_list_deinit(struct damage_list *list)
{
	vec_each (place, &list->places)
		free_text(place);
	vec_deinit(&list->places);
	pthread_mutex_destroy(&list->lock);
}

/* Returns the index of the first place at or after `offset`. */
static size_t find(const struct damage_list *list, uint64_t offset)
{
	size_t low = 0, high = list->places.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->places.items[middle].shown.offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void count_one(struct damage_list *list, uint64_t offset)
{
	if (!list->unlisted++)
		list->more.offset = offset;
	snprintf(list->more_what, sizeof(list->more_what), "%llu more places are damaged",
		 (unsigned long long)list->unlisted);
	list->more.what = list->more_what;
}

static void insert(struct damage_list *list, const struct damage *damage)
{
	uint64_t offset = damage->shown.offset;
	size_t at = find(list, offset);
	for (; at < list->places.count && list->places.items[at].shown.offset == offset; at++)
		if (!strcmp(list->places.items[at].shown.what, damage->shown.what))
			return;
	char *what = list->places.count < DAMAGE_LISTED ? strdup(damage->shown.what) : NULL;
	if (!what || !vec_reserve(&list->places, list->places.count + 1)) {
		free(what);
		count_one(list, offset);
		return;
	}
	struct damage *items = list->places.items;
	memmove(&items[at + 1], &items[at], (list->places.count++ - at) * sizeof(*items));
	items[at] = *damage;
	items[at].shown.what = what;
}

void damage_list_add(struct damage_list *list, const struct damage *damage)
{
	pthread_mutex_lock(&list->lock);
	insert(list, damage);
	pthread_mutex_unlock(&list->lock);
}

bool damage_list_count_unlisted(struct damage_list *list, uint64_t offset)
{
	pthread_mutex_lock(&list->lock);
	bool full = list->places.count >= DAMAGE_LISTED && find(list, offset) == list->places.count;
	if (full)
		count_one(list, offset);
	pthread_mutex_unlock(&list->lock);
	return full;
}

void damage_list_remove_data(struct damage_list *list)
{
	size_t left = 0;
	vec_each (damage, &list->places) {
		if (damage->of_data)
			free_text(damage);
		else
			list->places.items[left++] = *damage;
	}
	list->places.count = left;
	list->unlisted = 0;
}

size_t damage_list_count(const struct damage_list *list)
{
	return list->places.count + (list->unlisted > 0);
}

const struct sp_damage *damage_list_item(const struct damage_list *list, size_t index)
{
	if (index == list->places.count && list->unlisted)
		return &list->more;
	assert(index < list->places.count);
	return &list->places.items[index].shown;
}
