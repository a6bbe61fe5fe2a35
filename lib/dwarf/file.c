/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/file.h"

#include <stdlib.h>
#include "base/parallel.h"
#include "dwarf/leb.h"

struct sp_error *dwarf_file_new(struct sp_ctx *ctx, struct image *image, bool split,
				uint32_t number, struct dwarf_file **ret)
{
	CLEANUP(cleanup_image_free) struct image *taken = image;
	CLEANUP(cleanup_dwarf_file_free) struct dwarf_file *file = calloc(1, sizeof(*file));
	NEED(file);
	pthread_mutex_init(&file->units_lock, NULL);
	file->code = &image->code;
	file->image = take_ptr(taken);
	file->split = split;
	file->number = number;
	for (int i = 0; i < SECTION_COUNT; i++) {
		struct sp_error *error =
			section_open(&file->sections[i], ctx, image, (enum section_id)i, split);
		if (error)
			return error;
	}
	*ret = take_ptr(file);
	return NULL;
}

void dwarf_file_free(struct dwarf_file *file)
{
	if (!file)
		return;
	for (int i = 0; i < SECTION_COUNT; i++)
		section_close(&file->sections[i]);
	vec_deinit(&file->units);
	pthread_mutex_destroy(&file->units_lock);
	image_free(file->image);
	free(file);
}

/* Compressed sections to unpack, the largest first, so that threads end at about the same time. */
struct unpacking {
	struct section *sections[SECTION_COUNT];
	unsigned int count, next;
};

static int compare_packed(const void *a, const void *b)
{
	const struct section *x = *(struct section *const *)a, *y = *(struct section *const *)b;
	return (x->packed_size < y->packed_size) - (x->packed_size > y->packed_size);
}

static void unpack_some(void *arg, unsigned int hand)
{
	struct unpacking *unpacking = arg;
	(void)hand;
	while (true) {
		unsigned int next = __atomic_fetch_add(&unpacking->next, 1, __ATOMIC_RELAXED);
		if (next >= unpacking->count)
			return;
		section_size(unpacking->sections[next]);
	}
}

void dwarf_file_unpack(struct dwarf_file *file, unsigned int threads)
{
	struct unpacking unpacking = {0};
	for (int i = 0; i < SECTION_COUNT; i++)
		if (file->sections[i].packed_size)
			unpacking.sections[unpacking.count++] = &file->sections[i];
	if (!unpacking.count)
		return;
	qsort(unpacking.sections, unpacking.count, sizeof(*unpacking.sections), compare_packed);
	parallel_run(unpacking.count < threads ? unpacking.count : threads, unpack_some,
		     &unpacking);
}

/* Shortest unit header after its length: version, offset of abbreviations, address size. */
#define UNIT_LENGTH_MIN 7

bool dwarf_file_unit_end(struct dwarf_file *file, uint64_t offset, uint64_t *ret)
{
	struct section *info = &file->sections[SECTION_INFO];
	uint8_t bytes[12], offset_size;
	uint64_t length, size = section_size(info);
	size_t done = section_peek(info, offset, bytes, sizeof(bytes));
	struct cursor cursor = cursor_make(bytes, done, file->image->swap, file->image->path,
					   offset);
	if (!cursor_length(&cursor, &length, &offset_size) || length < UNIT_LENGTH_MIN ||
	    length > size - cursor_offset(&cursor))
		return false;
	*ret = cursor_offset(&cursor) + length;
	return true;
}

static bool add_units(struct dwarf_file *file, struct sp_error **error_ret)
{
	struct section *info = &file->sections[SECTION_INFO];
	uint64_t size = section_size(info);
	for (uint64_t at = 0, end; at < size; at = end) {
		if (!dwarf_file_unit_end(file, at, &end)) {
			*error_ret = section_error(info, at, "a unit of impossible length");
			return true;
		}
		uint64_t *unit = vec_push(&file->units);
		if (!unit)
			return false;
		*unit = at;
	}
	return true;
}

bool dwarf_file_index(struct dwarf_file *file, struct sp_error **error_ret)
{
	bool ok = true;
	*error_ret = NULL;
	pthread_mutex_lock(&file->units_lock);
	if (!file->units_known) {
		ok = add_units(file, error_ret);
		file->units_known = ok;
	}
	pthread_mutex_unlock(&file->units_lock);
	return ok;
}

bool dwarf_file_unit(const struct dwarf_file *file, uint64_t offset, uint64_t *ret)
{
	size_t count = sorted_up_to(file->units.items, file->units.count, , offset);
	if (count)
		*ret = file->units.items[count - 1];
	return count;
}
