/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jit-PID.dump, which any process may write. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "symbol/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static int fd = -1;
	struct jitdump *dump = NULL;
	if (fd < 0)
		fd = memfd_create("jitdump", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	struct sp_error *error = jitdump_read(fd, "jit-1.dump", UINT64_MAX, &dump);
	if (error) {
		sp_error_free(error);
		return 0;
	}
	/* All code lies in the file, ascending, and each byte of it is found. */
	uint64_t end = 0;
	for (size_t i = 0; i < dump->codes.count; i++) {
		const struct jitdump_code *code = &dump->codes.items[i];
		assert(code->size && code->file_offset >= end);
		end = code->file_offset + code->size;
		assert(end <= size && code->name);
		assert(jitdump_find(dump, code->file_offset) == code);
		assert(jitdump_find(dump, end - 1) == code);
		assert((uint64_t)code->first_line + code->line_count <= dump->lines.count);
		const struct jitdump_line *line = jitdump_line_at(dump, code, end - 1);
		assert(!line || (line->file && line->offset < code->size));
		assert(code->frames_size <= JITDUMP_FRAMES_MAX);
		assert(!code->frames_size || code->frames_offset + code->frames_size < code->file_offset);
	}
	for (size_t i = 0; i < dump->places.count; i++) {
		const struct jitdump_place *place = &dump->places.items[i];
		assert(!place->size || jitdump_find(dump, place->file_offset));
	}
	jitdump_free(dump);
	return 0;
}
