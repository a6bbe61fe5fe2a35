/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vaddrs of a file's code. Linkers remove unused functions, but leave their debug information, with
 * addresses such as 0, 1, -1 or -2, perhaps plus an offset. These are in no executable section, but
 * an executable segment may begin at 0, because it has the file's headers.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include "base/error.h"
#include "base/vec.h"

/* Vaddrs [start, end). */
struct code_part {
	uint64_t start, end;
};

struct code_map {
	VEC(struct code_part) parts; /* sorted and apart */
	struct code_part largest;
	bool by_sections; /* the parts are executable sections */
};

/*
 * Reads the executable sections; if there are none, the executable segments; if there are none of
 * these, or the file is relocatable, every vaddr except 0, 1, -1 and -2 is code.
 */
struct sp_error *code_map_read(Elf *elf, struct code_map *map) SP_MUST_CHECK;
void code_map_deinit(struct code_map *map);

/* Returns whether all of [start, start + size) is code; `size` is not 0. */
bool code_map_holds(const struct code_map *map, uint64_t start, uint64_t size);

/* Returns whether code can begin at a vaddr: a range that begins elsewhere does not exist. */
static inline bool code_map_has(const struct code_map *map, uint64_t vaddr)
{
	return (vaddr >= map->largest.start && vaddr < map->largest.end) ||
	       code_map_holds(map, vaddr, 1);
}
