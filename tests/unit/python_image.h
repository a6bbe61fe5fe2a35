/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a made-up process, for the readers of Python's structures. */
#ifndef UNIT_PYTHON_IMAGE_H
#define UNIT_PYTHON_IMAGE_H

#include <string.h>
#include "python/process_memory.h"

#define IMAGE_BASE UINT64_C(0x100000)

struct python_image {
	const uint8_t *bytes;
	size_t size; /* the rest of the last page is zeros */
	unsigned int reads;
};

static inline bool python_image_read(void *arg, uint64_t address, void *ret, size_t size)
{
	struct python_image *image = arg;
	uint64_t at = address - IMAGE_BASE;
	image->reads++;
	if (address < IMAGE_BASE || at >= image->size)
		return false;
	size_t left = image->size - (size_t)at;
	memset(ret, 0, size);
	memcpy(ret, image->bytes + at, size < left ? size : left);
	return true;
}

#endif
