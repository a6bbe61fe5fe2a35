/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a /tmp/perf-PID.map, which JIT compilers write: "START SIZE NAME"
 * a line, in hexadecimal. It has no times; where entries overlap, code was
 * dropped or moved, and the later line holds. A last line that is not ended is not
 * taken: while the process runs it may be cut anywhere.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct perfmap;

struct perfmap_entry {
	uint64_t start, end; /* the code's range in its line */
	const char *name;    /* the map's */
	uint32_t line;       /* from 0; no other entry has it */
};

/* The text is copied. Lines that are no entries are passed over and counted. */
struct sp_error *perfmap_parse(const void *text, size_t size, struct perfmap **ret) SP_MUST_CHECK;

/* The same of a malloc'ed text with room for a byte more, which becomes the map's in any case. */
struct sp_error *perfmap_take(char *text, size_t size, struct perfmap **ret) SP_MUST_CHECK;
void perfmap_free(struct perfmap *map);

size_t perfmap_count(const struct perfmap *map);
size_t perfmap_bad_lines(const struct perfmap *map);

/* Entries after the first 8,388,608, which are not read. */
size_t perfmap_unread_lines(const struct perfmap *map);

/* The entry that covers an address; false if none does. */
bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret);

#endif
