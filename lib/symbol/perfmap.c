/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The entries are cut into pieces that do not overlap, once: the starts and ends
 * of all are walked by address, and of the entries that are open the one with
 * the latest line (the top of a heap) gives the piece up to the next place.
 * Closed entries leave the heap when they come to its top.
 */
#include "symbol/perfmap.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "proc/text.h"

struct piece {
	uint64_t start;
	uint32_t entry; /* NOTHING: a gap */
};

#define NOTHING UINT32_MAX

struct perfmap {
	char *text;                        /* names are within, their newlines replaced by NULs */
	VEC(struct perfmap_entry) entries; /* by line */
	VEC(struct piece) pieces;          /* by start; each reaches to the next */
	size_t bad_lines;
};

DEFINE_CLEANUP(struct perfmap *, perfmap_free)

void perfmap_free(struct perfmap *map)
{
	if (!map)
		return;
	vec_deinit(&map->pieces);
	vec_deinit(&map->entries);
	free(map->text);
	free(map);
}

/* With or without "0x", as strtoull() in perf takes it. */
static bool read_hex(struct cursor *line, uint64_t *ret)
{
	struct cursor at = *line;
	if (!(text_char(&at, '0') && (text_char(&at, 'x') || text_char(&at, 'X'))))
		at = *line;
	if (!text_hex(&at, ret))
		return false;
	*line = at;
	return true;
}

static bool parse_line(struct cursor *line, struct perfmap_entry *ret)
{
	uint64_t size;
	if (!read_hex(line, &ret->start))
		return false;
	text_blanks(line);
	if (!read_hex(line, &size))
		return false;
	text_blanks(line);
	if (cursor_left(line) == 0 || *line->pos == '\0')
		return false;
	if (__builtin_add_overflow(ret->start, size ?: 1, &ret->end))
		return false;
	ret->name = (const char *)line->pos;
	return true;
}

static struct sp_error *parse_lines(struct perfmap *map, size_t size)
{
	struct cursor text = cursor_make(map->text, size, false, NULL, 0), line;
	/* A last line without its end is being written: its name, even its size, may be cut. */
	while (text_line(&text, &line) && line.end < text.end) {
		struct perfmap_entry entry;
		char *end = map->text + (line.end - (const uint8_t *)map->text);
		if (!parse_line(&line, &entry)) {
			map->bad_lines++;
			continue;
		}
		*end = '\0';
		struct perfmap_entry *slot = vec_push(&map->entries);
		if (!slot)
			return error_no_memory();
		entry.line = (uint32_t)(map->entries.count - 1);
		*slot = entry;
		if (map->entries.count == NOTHING)
			return error_new(SP_ERROR_LIMIT, "a perf map of more than 2^32 lines");
	}
	return NULL;
}

/* Open entries, the latest line on top. */
struct heap {
	uint32_t *items;
	size_t count;
};

static void heap_push(struct heap *heap, uint32_t item)
{
	size_t at = heap->count++;
	for (; at > 0 && heap->items[(at - 1) / 2] < item; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static void heap_pop(struct heap *heap)
{
	uint32_t item = heap->items[--heap->count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && heap->items[child + 1] > heap->items[child])
			child++;
		if (heap->items[child] <= item)
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = item;
}

/* Where an entry begins or ends. */
struct place {
	uint64_t address;
	uint32_t entry;
	bool begins;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return u64_order(x->address, y->address);
}

static bool add_piece(struct perfmap *map, uint64_t start, uint32_t entry)
{
	if (map->pieces.count > 0 && vec_last(&map->pieces)->entry == entry)
		return true;
	struct piece *piece = vec_push(&map->pieces);
	if (piece)
		*piece = (struct piece){.start = start, .entry = entry};
	return piece != NULL;
}

static bool walk_places(struct perfmap *map, const struct place *places, size_t count,
			struct heap *open)
{
	for (size_t i = 0; i < count;) {
		uint64_t address = places[i].address;
		for (; i < count && places[i].address == address; i++)
			if (places[i].begins)
				heap_push(open, places[i].entry);
		while (open->count > 0 && map->entries.items[open->items[0]].end <= address)
			heap_pop(open);
		if (!add_piece(map, address, open->count > 0 ? open->items[0] : NOTHING))
			return false;
	}
	return true;
}

static struct sp_error *cut(struct perfmap *map)
{
	size_t count = map->entries.count;
	CLEANUP_FREE struct place *places = malloc((2 * count ?: 1) * sizeof(*places));
	CLEANUP_FREE uint32_t *items = malloc((count ?: 1) * sizeof(*items));
	if (!places || !items)
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		const struct perfmap_entry *entry = &map->entries.items[i];
		places[2 * i] = (struct place){.address = entry->start, .entry = i, .begins = true};
		places[2 * i + 1] = (struct place){.address = entry->end, .entry = i};
	}
	qsort(places, 2 * count, sizeof(*places), compare_places);
	struct heap open = {.items = items};
	return walk_places(map, places, 2 * count, &open) ? NULL : error_no_memory();
}

struct sp_error *perfmap_parse(const void *text, size_t size, struct perfmap **ret)
{
	CLEANUP(cleanup_perfmap_free) struct perfmap *map = calloc(1, sizeof(*map));
	if (!map || !(map->text = malloc(size + 1)))
		return error_no_memory();
	if (size > 0)
		memcpy(map->text, text, size);
	map->text[size] = '\0';
	struct sp_error *error = parse_lines(map, size);
	if (!error)
		error = cut(map);
	if (error)
		return error;
	*ret = take_ptr(map);
	return NULL;
}

size_t perfmap_count(const struct perfmap *map)
{
	return map->entries.count;
}

size_t perfmap_bad_lines(const struct perfmap *map)
{
	return map->bad_lines;
}

bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret)
{
	size_t count = sorted_up_to(map->pieces.items, map->pieces.count, .start, ip);
	if (!count || map->pieces.items[count - 1].entry == NOTHING)
		return false;
	*ret = map->entries.items[map->pieces.items[count - 1].entry];
	return true;
}
