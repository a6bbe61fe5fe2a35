/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parser of /tmp/perf-PID.map, which JIT compilers write: lines of "START SIZE NAME" in hexadecimal.
 * The map has no times. Entries overlap if code was discarded or moved; the later line is then valid. A
 * last line without a newline is ignored: the process may still be writing it.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct perfmap;

struct perfmap_entry {
	uint64_t start, end; /* the line's address range */
	const char *name;    /* belongs to the map */
	uint32_t line;       /* line number from 0, unique */
};

/* Parses a copy of the text. Invalid lines are skipped and counted. */
struct sp_error *perfmap_parse(const void *text, size_t size, struct perfmap **ret) SP_MUST_CHECK;

/*
 * Parses a malloc'ed text without a copy. It needs room for one more byte. The map owns it, even after
 * a failure. SP_ERROR_LIMIT if the map needs more than `memory` bytes.
 */
struct sp_error *perfmap_take(char *text, size_t size, uint64_t memory,
			      struct perfmap **ret) SP_MUST_CHECK;
void perfmap_free(struct perfmap *map);

/* Returns the memory that the map takes, in bytes. */
uint64_t perfmap_memory(const struct perfmap *map);

size_t perfmap_count(const struct perfmap *map);
size_t perfmap_bad_lines(const struct perfmap *map);

/* Returns the number of entries after the first 8,388,608, which are not read. */
size_t perfmap_unread_lines(const struct perfmap *map);

/* Finds the entry that contains an address; false if there is none. */
bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret);

#endif
