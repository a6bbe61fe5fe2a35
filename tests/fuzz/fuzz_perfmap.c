/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /tmp/perf-PID.map, which any process may write. */
#include <assert.h>
#include <string.h>
#include "fuzz.h"
#include "symbol/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct perfmap *map = NULL;
	struct sp_error *error = perfmap_parse(bytes, size, &map);
	if (error) {
		sp_error_free(error);
		return 0;
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
