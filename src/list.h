/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing array of any type; zeroed, it is empty:
 *
 *     LIST(int) fds = {0};
 *     *list_push(&fds) = fd;
 *     for (size_t i = 0; i < fds.count; i++) use(fds.items[i]);
 *     free(fds.items);
 *
 * Growing moves the items: keep indexes, not pointers. (The library has its own list, which is not
 * exported.)
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include "memory.h"

#define LIST(type)                                                                          \
	struct {                                                                            \
		type *items;                                                                \
		size_t count, capacity;                                                     \
	}

/*
 * Grows the array to a capacity of at least `need` items. list_try_grow() returns false when out of
 * memory; the array is then unchanged.
 */
void list_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size);
bool list_try_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size);

#define list_reserve(list, need)                                                            \
	((need) <= (list)->capacity                                                         \
		 ? (void)0                                                                  \
		 : list_grow(&(list)->items, &(list)->capacity, (need), sizeof(*(list)->items)))

/* Appends an uninitialised item and returns it. */
#define list_push(list)                                                                     \
	(list_reserve((list), (list)->count + 1), &(list)->items[(list)->count++])

/* The same while recording, which memory must not end: returns NULL when out of memory. */
#define list_try_push(list)                                                                 \
	((list)->count < (list)->capacity ||                                                \
			 list_try_grow(&(list)->items, &(list)->capacity, (list)->count + 1, \
				       sizeof(*(list)->items))                              \
		 ? &(list)->items[(list)->count++]                                          \
		 : NULL)

#endif
