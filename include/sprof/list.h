/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of strings and of numbers, used in option structs. */
#ifndef SPROF_LIST_H
#define SPROF_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Each option that has a list documents the meaning of an empty one. */
struct sp_string_list {
	const char *const *items;
	size_t count;
};

struct sp_number_list {
	const int32_t *items;
	size_t count;
};

#endif
