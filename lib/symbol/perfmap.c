/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divides a perf map's entries, which may overlap, into pieces that do not. Starts of entries are
 * visited by address. Of the entries that contain an address, the one of the latest line (the top of a
 * heap) is the piece up to the next start, or to its end. Ended entries leave the heap at its top.
 *
 * Maps have hundreds of megabytes if V8 runs for days, so each line takes little memory: its name,
 * 16 bytes for the entry, 12 for each piece, and 8 while pieces are made.
 */
#include "symbol/perfmap.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "proc/text.h"

/* The largest maps of V8 have a million entries. */
#define ENTRIES_MAX ((size_t)8 << 20)

struct entry {
	uint64_t start;
	uint32_t size; /* size of the code, below 4 GiB */
	uint32_t name; /* offset in names */
};

struct perfmap {
	char *names;                  /* NUL-terminated names, in the order of lines */
	size_t names_size;
	VEC(struct entry) entries;    /* in the order of lines */
	VEC(uint64_t) starts;         /* starts of pieces, ascending */
	VEC(uint32_t) piece_entries;  /* entry of each piece, which ends with it or at the next start */
	size_t bad_lines, unread_lines;
};

DEFINE_CLEANUP(struct perfmap *, perfmap_free)

void perfmap_free(struct perfmap *map)
{
	if (!map)
		return;
	vec_deinit(&map->piece_entries);
	vec_deinit(&map->starts);
	vec_deinit(&map->entries);
	free(map->names);
	free(map);
}

/* Reads a number with or without "0x", as perf does with strtoull(). */
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

/* Parses start and size. The cursor then points at the name. */
static bool parse_line(struct cursor *line, struct entry *ret)
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
	ret->size = (uint32_t)(size ?: 1);
	return size <= UINT32_MAX && ret->start <= UINT64_MAX - ret->size;
}

/*
 * Largest memory for a line, except its name: the entry, two pieces and the heap in vecs that may
 * be half empty, and the order of entries, which is sorted by a copy.
 */
#define PIECE_MEMORY (sizeof(uint64_t) + sizeof(uint32_t))
#define LINE_MEMORY (2 * (sizeof(struct entry) + 2 * PIECE_MEMORY) + 4 * sizeof(uint32_t))

/* Parses the lines and moves the names to the front of the text, where numbers were. */
static struct sp_error *parse_lines(struct perfmap *map, size_t size, uint64_t memory)
{
	uint64_t entries_max = memory > size ? (memory - size) / LINE_MEMORY : 0;
	struct cursor text = cursor_make(map->names, size, false, NULL, 0), line;
	size_t used = 0;
	/*
	 * A last line without a newline may be incomplete: its name, or even its size, may be
	 * truncated.
	 */
	while (text_line(&text, &line) && line.end < text.end) {
		struct entry entry;
		if (!parse_line(&line, &entry)) {
			map->bad_lines++;
			continue;
		}
		if (map->entries.count >= ENTRIES_MAX) {
			map->unread_lines++;
			continue;
		}
		if (map->entries.count >= entries_max)
			return error_new(SP_ERROR_LIMIT, "the perf map has too many lines");
		size_t length = cursor_left(&line);
		entry.name = (uint32_t)used;
		memmove(map->names + used, line.pos, length);
		map->names[used + length] = '\0';
		used += length + 1;
		struct entry *slot = vec_push(&map->entries);
		NEED(slot);
		*slot = entry;
	}
	char *shorter = realloc(map->names, used + 1);
	map->names = shorter ?: map->names;
	map->names_size = used + 1;
	return NULL;
}

/* Entries that contain the current address; the entry of the latest line is on top. */
struct heap {
	VEC(uint32_t);
};

static bool heap_push(struct heap *heap, uint32_t item)
{
	if (!vec_reserve(heap, heap->count + 1))
		return false;
	size_t at = heap->count++;
	for (; at > 0 && heap->items[(at - 1) / 2] < item; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
	return true;
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

static int compare_starts(const void *a, const void *b, void *arg)
{
	const struct entry *entries = arg;
	return u64_order(entries[*(const uint32_t *)a].start, entries[*(const uint32_t *)b].start);
}

static uint64_t end_of(const struct perfmap *map, uint32_t entry)
{
	return map->entries.items[entry].start + map->entries.items[entry].size;
}

static bool add_piece(struct perfmap *map, uint64_t start, uint32_t entry)
{
	if (map->starts.count > 0 && *vec_last(&map->piece_entries) == entry)
		return true;
	uint64_t *start_slot = vec_push(&map->starts);
	uint32_t *entry_slot = vec_push(&map->piece_entries);
	if (!start_slot || !entry_slot)
		return false;
	*start_slot = start;
	*entry_slot = entry;
	return true;
}

/* Makes pieces up to an address: after the top entry ends, the entry below it continues. */
static bool close_entries(struct perfmap *map, struct heap *open, uint64_t address)
{
	while (open->count > 0 && end_of(map, open->items[0]) <= address) {
		uint64_t end = end_of(map, open->items[0]);
		while (open->count > 0 && end_of(map, open->items[0]) <= end)
			heap_pop(open);
		if (open->count > 0 && end < address && !add_piece(map, end, open->items[0]))
			return false;
	}
	return true;
}

static bool walk_starts(struct perfmap *map, const uint32_t *order, struct heap *open)
{
	const struct entry *entries = map->entries.items;
	for (size_t i = 0; i < map->entries.count;) {
		uint64_t address = entries[order[i]].start;
		if (!close_entries(map, open, address))
			return false;
		for (; i < map->entries.count && entries[order[i]].start == address; i++)
			if (!heap_push(open, order[i]))
				return false;
		if (!add_piece(map, address, open->items[0]))
			return false;
	}
	return close_entries(map, open, UINT64_MAX);
}

static struct sp_error *cut(struct perfmap *map)
{
	uint32_t count = (uint32_t)map->entries.count;
	CLEANUP_FREE uint32_t *order = malloc((count ?: 1) * sizeof(*order));
	struct heap open = {0};
	NEED(order);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_starts, map->entries.items);
	bool done = walk_starts(map, order, &open);
	vec_deinit(&open);
	return done ? NULL : error_no_memory();
}

struct sp_error *perfmap_parse(const void *text, size_t size, struct perfmap **ret)
{
	char *copy = malloc(size + 1);
	NEED(copy);
	if (size > 0)
		memcpy(copy, text, size);
	return perfmap_take(copy, size, UINT64_MAX, ret);
}

struct sp_error *perfmap_take(char *text, size_t size, uint64_t memory, struct perfmap **ret)
{
	CLEANUP(cleanup_perfmap_free) struct perfmap *map = calloc(1, sizeof(*map));
	if (!map) {
		free(text);
		return error_no_memory();
	}
	map->names = text;
	if (size > UINT32_MAX)
		return error_new(SP_ERROR_LIMIT, "the perf map is larger than 4 GiB");
	TRY(parse_lines(map, size, memory));
	TRY(cut(map));
	*ret = take_ptr(map);
	return NULL;
}

uint64_t perfmap_memory(const struct perfmap *map)
{
	return map->names_size + map->entries.capacity * sizeof(*map->entries.items) +
	       map->starts.capacity * sizeof(*map->starts.items) +
	       map->piece_entries.capacity * sizeof(*map->piece_entries.items);
}

size_t perfmap_count(const struct perfmap *map)
{
	return map->entries.count;
}

size_t perfmap_bad_lines(const struct perfmap *map)
{
	return map->bad_lines;
}

size_t perfmap_unread_lines(const struct perfmap *map)
{
	return map->unread_lines;
}

bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret)
{
	size_t count = sorted_up_to(map->starts.items, map->starts.count, , ip);
	if (!count || ip >= end_of(map, map->piece_entries.items[count - 1]))
		return false;
	uint32_t line = map->piece_entries.items[count - 1];
	const struct entry *entry = &map->entries.items[line];
	*ret = (struct perfmap_entry){
		.start = entry->start,
		.end = end_of(map, line),
		.name = map->names + entry->name,
		.line = line,
	};
	return true;
}
