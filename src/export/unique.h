/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables without duplicate rows, for formats that refer to names and functions by index. */
#ifndef EXPORT_UNIQUE_H
#define EXPORT_UNIQUE_H

#include <stddef.h>
#include <stdint.h>

/* Index that no row has. */
#define UNIQUE_NONE UINT32_MAX

/* Rows of numbers, or of one text each, in the order of their addition. */
struct unique {
	size_t columns; /* numbers in a row; 0: rows are texts */
	size_t count;
	union {
		uint64_t *numbers;
		const char **texts; /* borrowed */
	};
	size_t capacity;   /* number of allocated numbers or texts */
	uint32_t *slots;   /* hash table of row index + 1; 0: empty */
	size_t slot_count; /* power of two, or 0 */
};

void unique_deinit(struct unique *table);

/* Return the index of the equal row, which they add if there is none. */
uint32_t unique_add(struct unique *table, const uint64_t *row);
uint32_t unique_add_text(struct unique *table, const char *text);

static inline const uint64_t *unique_row(const struct unique *table, size_t row)
{
	return table->numbers + row * table->columns;
}

static inline uint64_t unique_number(const struct unique *table, size_t row, size_t column)
{
	return unique_row(table, row)[column];
}

#endif
