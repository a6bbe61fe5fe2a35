/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parser of /tmp/perf-PID.map, which JIT compilers write: lines of "START SIZE NAME" in
 * hexadecimal. Entries overlap if code was discarded or moved. The map has no times, so the later
 * line is then valid, unless marks state when the map grew. A line of size 0 reaches to the next
 * start, as in perf.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "binary/held_maps.h"

struct perfmap;

/* Text of a map, and its growth while it was recorded. */
struct perfmap_text {
	/* malloc'ed with room for one more byte; the map owns it, even after a failure */
	char *text;
	size_t size;
	uint64_t memory; /* limit of the map's memory */
	bool whole;      /* its writer has ended: a last line without a newline is complete */
	const struct map_mark *marks; /* ascending; text after the last one is ignored */
	size_t mark_count;            /* 0: no times are known */
	bool inherited;   /* its process runs code of the process that forked it: all are timed */
	uint64_t from_ns; /* when the process began, if it is known */
};

struct perfmap_entry {
	uint64_t start, end; /* the line's address range */
	const char *name;    /* belongs to the map */
	uint32_t line;       /* line number from 0, unique */
};

/* A timed entry: the range has its code from `time_ns` on. */
struct perfmap_timed {
	uint64_t time_ns, start, size;
	uint64_t offset; /* number of its first byte */
};

/*
 * Parses a text without a copy. Invalid lines are skipped and counted. SP_ERROR_LIMIT if the map
 * needs more than `memory` bytes.
 */
struct sp_error *perfmap_take(const struct perfmap_text *text, struct perfmap **ret) SP_MUST_CHECK;
void perfmap_free(struct perfmap *map);

/* Returns the memory that the map takes, in bytes. */
uint64_t perfmap_memory(const struct perfmap *map);

size_t perfmap_count(const struct perfmap *map);
size_t perfmap_bad_lines(const struct perfmap *map);

/* Returns the number of entries after the first 8,388,608, which are not read. */
size_t perfmap_unread_lines(const struct perfmap *map);

/* Finds the last entry that contains an address; false if there is none. */
bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret);

/*
 * Returns whether an earlier entry of another name contains the address, too, and there are no
 * marks.
 */
bool perfmap_is_ambiguous(const struct perfmap *map, uint64_t ip);

/*
 * Timed entries, in the order of lines: those that overlap entries of another time. Their bytes are
 * numbered: those of an entry begin at its `offset`.
 */
size_t perfmap_timed_count(const struct perfmap *map);
struct perfmap_timed perfmap_timed(const struct perfmap *map, size_t index);

/* Finds the timed entry that has a number; false if there is none. */
bool perfmap_find_timed(const struct perfmap *map, uint64_t offset, struct perfmap_entry *ret);
