/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps. */
#include <assert.h>
#include <string.h>
#include "fuzz.h"
#include "proc/maps.h"

static size_t walk(const uint8_t *bytes, size_t size, enum maps_filter filter)
{
	struct maps *maps;
	struct sp_error *error = maps_parse(bytes, size, "fuzz", filter, &maps);
	assert(!error);
	size_t entries = 0;
	for (const struct maps_entry *entry;;) {
		error = maps_next(maps, &entry);
		/* It goes on behind a bad line. */
		if (error) {
			sp_error_free(error);
			continue;
		}
		if (!entry)
			break;
		assert(entry->start < entry->end && strlen(entry->path) <= size);
		entries++;
	}
	maps_free(maps);
	return entries;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	assert(walk(bytes, size, MAPS_EXECUTABLE) <= walk(bytes, size, MAPS_ALL));
	return 0;
}
