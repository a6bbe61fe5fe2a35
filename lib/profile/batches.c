/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/batches.h"

#include <string.h>

uint64_t *batches_row(struct batches *batches, size_t width, uint32_t row)
{
	size_t end = ((size_t)row + 1) * width;
	if (end > batches->count) {
		if (!vec_reserve(batches, end))
			return NULL;
		memset(batches->items + batches->count, 0,
		       (end - batches->count) * sizeof(*batches->items));
		batches->count = end;
	}
	return batches->items + (end - width);
}
