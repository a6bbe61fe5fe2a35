/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored chunks, names and files: the first byte says which. */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "stored/chunks.h"
#include "stored/stored.h"
#include "stored/stored_files.h"
#include "stored/stored_names.h"

/* Chunks at the end of a file, and all that they contain. */
static void read_recording(const uint8_t *bytes, size_t size)
{
	char path[64];
	int fd = fuzz_file(bytes, size, path);
	struct stored *stored = NULL;
	struct stored_chunks chunks = {0};
	struct sp_error *error = stored_open(fd, size, path, &stored);
	sp_error_free(error);
	error = chunks_list(fd, size, path, &chunks);
	assert(chunks.begin <= size);
	for (size_t i = 0; !error && i < chunks.count; i++) {
		uint8_t *data = NULL;
		assert(chunks.items[i].size / CHUNK_RATIO_MAX <= size);
		sp_error_free(chunk_read(fd, path, &chunks.items[i], &data));
		free(data);
	}
	sp_error_free(error);
	chunks_deinit(&chunks);
	stored_free(stored);
	close(fd);
}

/* Checks each module: indexes that its readers rely on. */
static void check_module(const struct stored_module *module)
{
	for (size_t i = 0; i < module->points.count; i++) {
		const struct stored_point *point = &module->points.items[i];
		assert(point->symbol <= module->symbols.count && point->frame <= module->frames.count);
		assert(stored_module_point(module, point->offset) == point);
	}
	for (size_t i = 0; i < module->frames.count; i++)
		assert(module->frames.items[i].caller <= i);
	for (size_t i = 0; i < module->symbols.count; i++)
		assert(strlen(module->symbols.items[i].name) < 1 << 24);
}

static void read_names(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	assert(copy);
	memcpy(copy, bytes, size);
	struct stored_names names = {0};
	struct sp_error *error = stored_names_decode(copy, size, "fuzz", &names);
	for (size_t i = 0; !error && i < names.count; i++)
		check_module(&names.items[i]);
	sp_error_free(error);
	stored_names_deinit(&names);
}

static void read_file(const uint8_t *bytes, size_t size)
{
	int fd = -1;
	struct sp_error *error = stored_file_decode(bytes, size, "fuzz", &fd);
	if (!error)
		close(fd);
	sp_error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static void (*const readers[])(const uint8_t *, size_t) = {read_recording, read_names, read_file};
	if (size)
		readers[*bytes % 3](bytes + 1, size - 1);
	return 0;
}
