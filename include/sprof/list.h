/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists that options are made of. */
#ifndef SPROF_LIST_H
#define SPROF_LIST_H

#include <stddef.h>
#include <stdint.h>

/* A list of names or numbers; what an empty one means, its user says. */
struct sp_string_list {
	const char *const *items;
	size_t count;
};

struct sp_number_list {
	const int32_t *items;
	size_t count;
};

#endif
