/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /tmp/perf-PID.map, which any process may write. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "symbol/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct perfmap *map = NULL;
	const struct map_mark marks[] = {{1, size / 4}, {2, size / 2}, {3, size}};
	struct perfmap_text text = {
		.text = malloc(size + 1), .size = size, .memory = UINT64_MAX, .marks = marks};
	if (size) {
		memcpy(text.text, bytes, size);
		text.mark_count = bytes[size - 1] % 4;
		text.inherited = bytes[0] == '0';
		text.whole = bytes[0] & 1;
	}
	struct sp_error *error = perfmap_take(&text, &map);
	if (error) {
		sp_error_free(error);
		return 0;
	}
	for (size_t i = 0; i < perfmap_timed_count(map); i++) {
		struct perfmap_entry entry;
		const struct perfmap_timed timed = perfmap_timed(map, i);
		assert(perfmap_find_timed(map, timed.offset, &entry));
		assert(entry.start == timed.start && entry.end == timed.start + timed.size);
	}
	/* Whatever starts is found where it starts, as itself or as what came later. */
	uint64_t at = 0;
	for (size_t i = 0; i < size; i++) {
		struct perfmap_entry entry;
		at = at * 16 + bytes[i] % 16;
		if (perfmap_find(map, at, &entry)) {
			assert(entry.start <= at && at < entry.end);
			assert(entry.line < perfmap_count(map) && strlen(entry.name) > 0);
		}
	}
	perfmap_free(map);
	return 0;
}
