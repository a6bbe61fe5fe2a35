/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growing array of any type; below it, orders for qsort(), getters of public arrays, and binary
 * search:
 *
 *	struct { VEC(struct frame); } or: VEC(int) fds = {0};
 *	int *slot = vec_push(&fds);        NULL when out of memory
 *	vec_each (fd, &fds)                each item's address, first to last
 *		use(*fd);
 *	vec_deinit(&fds);
 *
 * Items move when the array grows: keep indexes, not pointers. The macros evaluate `vec` several
 * times.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Number of items of an array of fixed size. */
#define count_of(array) (sizeof(array) / sizeof((array)[0]))

#define VEC(type)                                                             \
	struct {                                                              \
		type *items;                                                  \
		size_t count, capacity;                                       \
	}

/* Makes room for `need` items in all; false when out of memory, and the vec is unchanged. */
bool vec_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size);

#define vec_reserve(vec, need)                                                \
	((need) <= (vec)->capacity ||                                         \
	 vec_grow(&(vec)->items, &(vec)->capacity, (need), sizeof(*(vec)->items)))

/* Adds an uninitialised item and returns it; NULL when out of memory. */
#define vec_push(vec)                                                         \
	(vec_reserve((vec), (vec)->count + 1) ? &(vec)->items[(vec)->count++] : NULL)

/*
 * The same for a vec that had room for an item before. Out of memory: sets *failed, and returns the
 * last item. The phase that fills the vec asks *failed once.
 */
#define vec_add(vec, failed)                                                                       \
	(vec_reserve((vec), (vec)->count + 1) ? &(vec)->items[(vec)->count++]                      \
					      : (*(failed) = true, vec_last(vec)))

/*
 * Appends a value; false when out of memory. The value may be a compound literal, and may read
 * `count`, which is its index.
 */
#define vec_append(vec, ...)                                                                       \
	(vec_reserve((vec), (vec)->count + 1) &&                                                   \
	 ((vec)->items[(vec)->count] = (__VA_ARGS__), (vec)->count++, true))

/* Iterates over the addresses of all items. The array must not grow or shrink meanwhile. */
#define vec_each(item, vec)                                                                        \
	for (__typeof__(*(vec)->items) *item = (vec)->items,                                       \
				       *item##_end_ = (vec)->count ? item + (vec)->count : item;   \
	     item != item##_end_; item++)

/* Sorts by a comparison for qsort(), which must not be given NULL for an empty array. */
#define vec_sort(vec, compare)                                                                     \
	do {                                                                                       \
		if ((vec)->count)                                                                  \
			qsort((vec)->items, (vec)->count, sizeof(*(vec)->items), (compare));       \
	} while (0)

/* Returns the last item of a vec that is not empty. */
#define vec_last(vec) (&(vec)->items[(vec)->count - 1])

#define vec_deinit(vec)                                                       \
	do {                                                                  \
		free((vec)->items);                                           \
		(vec)->items = NULL;                                          \
		(vec)->count = (vec)->capacity = 0;                           \
	} while (0)

/* Compares: negative, 0 or positive if x is less than, equal to or greater than y. */
static inline int u64_order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* Defines a comparison for qsort() and bsearch() by a number that each struct has. */
#define DEFINE_ORDER(name, type, member)                                                           \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const type *x = a, *y = b;                                                         \
		return u64_order(x->member, y->member);                                            \
	}

/* Defines a public function that returns an item of its object's array. */
#define DEFINE_GETTER(name, type, owner, array, number)                                            \
	const struct type *name(const struct owner *object, size_t index)                          \
	{                                                                                          \
		const struct type *items = object->array;                                          \
		assert(index < object->number);                                                    \
		return &items[index];                                                              \
	}

/* Comparison for qsort() and bsearch() of uint64_t. */
int u64_compare(const void *a, const void *b);

/*
 * Number of sorted items below `value`, or (up_to) not above it, by binary search. Items are sorted by
 * `member` (".time_ns"; empty if items are numbers).
 */
#define sorted_below(items, count, member, value) sorted_before_(items, count, member, <, value)
#define sorted_up_to(items, count, member, value) sorted_before_(items, count, member, <=, value)

#define sorted_before_(items_, count_, member_, is_before_, value_)           \
	({                                                                    \
		const __typeof__(*(items_)) *sorted_ = (items_);              \
		const __typeof__(value_) wanted_ = (value_);                  \
		size_t low_ = 0, high_ = (count_);                            \
		while (low_ < high_) {                                        \
			size_t middle_ = low_ + (high_ - low_) / 2;           \
			if (sorted_[middle_] member_ is_before_ wanted_)      \
				low_ = middle_ + 1;                           \
			else                                                  \
				high_ = middle_;                              \
		}                                                             \
		low_;                                                         \
	})

/* Comparison for qsort() and bsearch() of uint32_t. */
int u32_compare(const void *a, const void *b);

/* Sorts, removes duplicates, and returns the new count. */
size_t u32_sort_unique(uint32_t *items, size_t count);
