/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of names and values that describe a feature. */
#pragma once

#include <sprof/private/describe.h>
#include "base/arena.h"
#include "base/cursor.h"
#include "base/vec.h"

struct sp_description {
	struct arena arena;
	VEC(struct sp_description_row) rows;
	bool no_memory; /* rows are missing, because memory was exhausted */
};

/* Adds a copy of a row. Sets no_memory on failure. */
void description_add(struct sp_description *to, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads a string: a u32 size, and that many bytes, which include a NUL. */
bool description_read_string(struct cursor *cursor, const char **ret);
