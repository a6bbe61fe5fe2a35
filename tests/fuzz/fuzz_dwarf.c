/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information of ELF files, and of relocatable ones (kernel modules) that lie somewhere: the
 * addresses asked for are spread over the code, and some that a hostile file may use.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "dwarf/dwarf.h"
#include "elf/relocate.h"
#include "fuzz.h"
#include "symbol/ko.h"

#define ADDRESSES_MAX 256
#define OBJECT_AT 0x400000 /* a relocatable file's code */

static size_t add_load(const struct image_load *load, uint64_t *vaddrs, size_t count)
{
	uint64_t step = load->memory_size / 64 + 1;
	for (uint64_t at = 0; at < load->memory_size && count < ADDRESSES_MAX; at += step)
		vaddrs[count++] = load->vaddr + at;
	return count;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static size_t make_addresses(const struct image *image, uint64_t *vaddrs)
{
	static const uint64_t others[] = {0, 1, 0x1000, 0x401000, UINT32_MAX, UINT64_MAX - 1};
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		vaddrs[count++] = others[i];
	for (size_t i = 0; i < image->loads.count; i++)
		count = add_load(&image->loads.items[i], vaddrs, count);
	for (uint64_t at = 0; image->type == ET_REL && at < 16; at++)
		vaddrs[count++] = OBJECT_AT + at * 7;
	qsort(vaddrs, count, sizeof(*vaddrs), compare);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || vaddrs[i] != vaddrs[i - 1])
			vaddrs[kept++] = vaddrs[i];
	return kept;
}

static void check_answer(const struct dwarf_answer *answer, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_frame *frame = answer->innermost[i];
		for (; frame; frame = frame->caller) {
			assert(frame->number < answer->frame_count);
			assert(!frame->name || strlen(frame->name) < (size_t)1 << 24);
			assert(!frame->file || strlen(frame->file) < (size_t)1 << 24);
		}
	}
	/* It names the file. */
	assert(!answer->damage || strstr(sp_error_message(answer->damage), "fuzz"));
}

static void resolve(struct image *image)
{
	uint64_t vaddrs[ADDRESSES_MAX + 32], symbols[ADDRESSES_MAX + 32];
	size_t count = make_addresses(image, vaddrs);
	struct dwarf_query query = {.vaddrs = vaddrs, .symbols = symbols, .count = count,
				    .lines = count % 2, .threads = 1};
	struct dwarf_options options = {.places.symfs = "/nowhere"};
	struct dwarf *dwarf = NULL;
	struct dwarf_answer *answer = NULL;
	for (size_t i = 0; i < count; i++)
		symbols[i] = i % 3 ? 0 : vaddrs[i];
	struct sp_error *error = dwarf_open(image, &options, &dwarf);
	if (!error)
		error = dwarf_resolve(dwarf, &query, &answer);
	if (answer)
		check_answer(answer, count);
	assert(!error || strstr(sp_error_message(error), "fuzz"));
	sp_error_free(error);
	dwarf_answer_free(answer);
	dwarf_free(dwarf);
}

static void resolve_object(struct image *image)
{
	size_t count;
	struct image *linked = NULL;
	CLEANUP_FREE uint64_t *addresses = ko_lay_out(image, &count);
	assert(addresses);
	for (size_t i = 0; i < count; i++)
		if (addresses[i] != RELOCATE_NOWHERE)
			addresses[i] += OBJECT_AT;
	struct sp_error *error = relocate_debug(image, addresses, count, &linked);
	assert(!error || strstr(sp_error_message(error), "fuzz"));
	sp_error_free(error);
	if (linked)
		resolve(linked);
	image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);
	memcpy(copy, bytes, size);
	struct image *image = NULL;
	struct sp_error *error = image_open_memory(copy, size, "fuzz", &image);
	sp_error_free(error);
	if (error)
		return 0;
	if (dwarf_exists(image) && image->type == ET_REL)
		resolve_object(image);
	else if (dwarf_exists(image))
		resolve(image);
	else
		image_free(image);
	return 0;
}
