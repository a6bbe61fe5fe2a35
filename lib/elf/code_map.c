/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/code_map.h"

/* Addresses of removed code: 0 and 1, and -1 and -2 in an address's size. */
#define LOWEST 2
#define HIGHEST32 (UINT32_MAX - 2)
#define HIGHEST64 (UINT64_MAX - 2)

/* More parts than any linker writes. */
#define PARTS_MAX 65536

void code_map_deinit(struct code_map *map)
{
	vec_deinit(&map->parts);
}

static bool add(struct code_map *map, uint64_t start, uint64_t size)
{
	uint64_t end;
	if (__builtin_add_overflow(start, size, &end))
		end = UINT64_MAX;
	if (start >= end || map->parts.count >= PARTS_MAX)
		return true;
	return vec_append(&map->parts, (struct code_part){start, end});
}

static bool add_sections(Elf *elf, struct code_map *map)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & wanted) == wanted &&
		    !add(map, header.sh_addr, header.sh_size))
			return false;
	map->by_sections = map->parts.count;
	return true;
}

static bool add_segments(Elf *elf, struct code_map *map)
{
	GElf_Phdr header;
	size_t count = 0;
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count && i < PARTS_MAX; i++) {
		if (!gelf_getphdr(elf, i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X))
			continue;
		uint64_t cut = header.p_vaddr < LOWEST ? LOWEST - header.p_vaddr : 0;
		if (header.p_memsz > cut && !add(map, header.p_vaddr + cut, header.p_memsz - cut))
			return false;
	}
	return true;
}

DEFINE_ORDER(compare_parts, struct code_part, start)

struct sp_error *code_map_read(Elf *elf, struct code_map *map)
{
	GElf_Ehdr header;
	bool linked = gelf_getehdr(elf, &header) && header.e_type != ET_REL;
	NEED(!linked || add_sections(elf, map));
	NEED(!linked || map->parts.count || add_segments(elf, map));
	if (!map->parts.count) {
		uint64_t highest = gelf_getclass(elf) == ELFCLASS32 ? HIGHEST32 : HIGHEST64;
		NEED(add(map, LOWEST, highest - LOWEST + 1));
	}

	/* Sorts the parts, and joins those that touch or overlap. */
	size_t count = 0;
	vec_sort(&map->parts, compare_parts);
	vec_each (item, &map->parts) {
		struct code_part part = *item;
		struct code_part *last = count ? &map->parts.items[count - 1] : NULL;
		if (last && part.start <= last->end)
			last->end = part.end > last->end ? part.end : last->end;
		else
			map->parts.items[count++] = part;
	}
	map->parts.count = count;
	for (size_t i = 0; i < count; i++) {
		struct code_part part = map->parts.items[i];
		if (part.end - part.start > map->largest.end - map->largest.start)
			map->largest = part;
	}
	return NULL;
}

bool code_map_holds(const struct code_map *map, uint64_t start, uint64_t size)
{
	size_t count = sorted_up_to(map->parts.items, map->parts.count, .start, start);
	return count && start < map->parts.items[count - 1].end &&
	       size <= map->parts.items[count - 1].end - start;
}
