/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divides a perf map's entries, which may overlap, into pieces that do not. Starts of entries are
 * visited by address. Of the entries that contain an address, the one of the latest line (the top
 * of a heap) is the piece up to the next start, or to its end. Ended entries leave the heap at its
 * top.
 *
 * Marks divide the lines into epochs. Entries that are connected by overlaps form a group. If it
 * has several epochs, its entries are timed.
 *
 * Maps have hundreds of megabytes if V8 runs for days, so each line takes little memory: its name,
 * 16 bytes for the entry, 12 for each piece, and 8 while pieces are made.
 */
#include "symbol/perfmap.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "proc/proc_text.h"

/* The largest maps of V8 have a million entries. */
#define ENTRIES_MAX ((size_t)8 << 20)

/* Limit of timed entries: a machine may need a view for each. */
#define TIMED_MAX ((size_t)1 << 18)

/* Memory of a timed entry, with that of its place in a machine. */
#define TIMED_MEMORY 200

#define PAGE UINT64_C(4096)

struct perfmap_symbol {
	uint64_t start;
	uint32_t size; /* size of the code, below 4 GiB; 0 until its end is known */
	uint32_t name; /* offset in names */
};

struct perfmap {
	char *names;                  /* NUL-terminated names, in the order of lines */
	size_t names_size;
	VEC(struct perfmap_symbol) entries; /* in the order of lines */
	VEC(uint64_t) starts;         /* starts of pieces, ascending */
	VEC(uint32_t) piece_entries;  /* entry of each piece, which ends with it or at the next start */
	VEC(uint32_t) epochs;         /* first entry of each epoch after the first */
	VEC(uint64_t) times;          /* its begin */
	VEC(uint32_t) timed;          /* timed entries, ascending */
	VEC(uint64_t) timed_offsets;   /* numbers of their first bytes */
	size_t bad_lines, unread_lines;
	uint64_t from_ns;             /* begin of the first epoch */
	bool has_marks;               /* it is known when the map grew */
	bool has_open_ends;           /* lines of size 0 occur */
};

/* Flag of piece_entries: the piece may be in an earlier entry, too. */
#define OVERLAPS (UINT32_C(1) << 31)

/* Number of earlier lines that are searched for another name of an address. */
#define SEARCHED_LINES 65536

DEFINE_CLEANUP(struct perfmap *, perfmap_free)

void perfmap_free(struct perfmap *map)
{
	if (!map)
		return;
	vec_deinit(&map->timed_offsets);
	vec_deinit(&map->timed);
	vec_deinit(&map->times);
	vec_deinit(&map->epochs);
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
static bool parse_line(struct cursor *line, struct perfmap_symbol *ret)
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
	ret->size = size;
	return size <= UINT32_MAX && ret->start <= UINT64_MAX - (size ?: 2 * PAGE);
}

/*
 * Largest memory for a line, except its name: the entry, two pieces and the heap in vecs that may
 * be half empty, and the order of entries, which is sorted by a copy.
 */
#define PIECE_MEMORY (sizeof(uint64_t) + sizeof(uint32_t))
#define LINE_MEMORY (2 * (sizeof(struct perfmap_symbol) + 2 * PIECE_MEMORY) + 4 * sizeof(uint32_t))

/* Parses the lines and moves the names to the front of the text, where numbers were. */
static struct sp_error *parse_lines(struct perfmap *map, const struct perfmap_text *from)
{
	const struct map_mark *last = from->mark_count ? &from->marks[from->mark_count - 1] : NULL;
	size_t size = last && last->size < from->size ? (size_t)last->size : from->size;
	bool whole = from->whole && size == from->size;
	uint64_t entries_max = from->memory > size ? (from->memory - size) / LINE_MEMORY : 0;
	struct cursor text = cursor_make(map->names, size, false, NULL, 0), line;
	size_t used = 0;
	/*
	 * While the process writes, a last line without a newline may be incomplete: its name, or
	 * even its size, may be truncated.
	 */
	while (text_line(&text, &line) && (whole || line.end < text.end)) {
		struct perfmap_symbol entry;

		/* Begins each epoch that the text has at `offset`. */
		uint64_t offset = cursor_offset(&line);
		for (size_t next; (next = map->epochs.count + 1) < from->mark_count;) {
			if (offset < from->marks[next - 1].size)
				break;
			uint32_t *first = vec_push(&map->epochs);
			uint64_t *time = vec_push(&map->times);
			NEED(first && time);
			*first = map->entries.count;
			*time = from->marks[next].time_ns;
		}
		if (line.end > line.pos && line.end[-1] == '\r')
			line.end--;
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
		map->has_open_ends |= !entry.size;
		size_t length = cursor_left(&line);
		entry.name = used;
		memmove(map->names + used, line.pos, length);
		map->names[used + length] = '\0';
		used += length + 1;
		NEED(vec_append(&map->entries, entry));
	}
	char *shorter = realloc(map->names, used + 1);
	map->names = shorter ?: map->names;
	map->names_size = used + 1;
	return NULL;
}

/* Returns the number of an entry's epoch. */
static size_t epoch_of(const struct perfmap *map, uint32_t entry)
{
	return sorted_up_to(map->epochs.items, map->epochs.count, , entry);
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
	const struct perfmap_symbol *entries = arg;
	return u64_order(entries[*(const uint32_t *)a].start, entries[*(const uint32_t *)b].start);
}

static uint64_t end_of(const struct perfmap *map, uint32_t entry)
{
	return map->entries.items[entry].start + map->entries.items[entry].size;
}

static const char *name_of(const struct perfmap *map, uint32_t entry)
{
	return map->names + map->entries.items[entry].name;
}

static bool add_piece(struct perfmap *map, const struct heap *open, uint64_t start)
{
	uint32_t entry = open->items[0] | (open->count > 1 ? OVERLAPS : 0);
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
		if (open->count > 0 && end < address && !add_piece(map, open, end))
			return false;
	}
	return true;
}

static bool walk_starts(struct perfmap *map, const uint32_t *order, struct heap *open)
{
	const struct perfmap_symbol *entries = map->entries.items;
	for (size_t i = 0; i < map->entries.count;) {
		uint64_t address = entries[order[i]].start;
		if (!close_entries(map, open, address))
			return false;
		for (; i < map->entries.count && entries[order[i]].start == address; i++)
			if (!heap_push(open, order[i]))
				return false;
		if (!add_piece(map, open, address))
			return false;
	}
	return close_entries(map, open, UINT64_MAX);
}

/* Sets sizes of 0: up to the next start; of the last entry, as in perf, to the next page's end. */
static void set_sizes(struct perfmap *map, const uint32_t *order)
{
	uint64_t next = 0;
	for (size_t i = map->entries.count; i-- > 0;) {
		struct perfmap_symbol *entry = &map->entries.items[order[i]];
		uint64_t limit = (entry->start | (PAGE - 1)) + 1 + PAGE;
		uint64_t end = next ?: limit;
		if (!entry->size)
			entry->size = (uint32_t)(end - entry->start < UINT32_MAX ?
							 end - entry->start : UINT32_MAX);
		if (i > 0 && map->entries.items[order[i - 1]].start < entry->start)
			next = entry->start;
	}
}

/* Adds a group, order[0..count), if it has several epochs, or `all`. False when out of memory. */
static bool add_group(struct perfmap *map, const uint32_t *order, size_t count, bool all)
{
	for (size_t i = 1; i < count && !all; i++)
		all = epoch_of(map, order[i]) != epoch_of(map, order[0]);
	if (!all)
		return true;
	if (!vec_reserve(&map->timed, map->timed.count + count))
		return false;
	memcpy(map->timed.items + map->timed.count, order, count * sizeof(*order));
	map->timed.count += count;
	return true;
}

/* Finds all timed entries. `all`: each entry is one. Returns false when out of memory. */
static bool find_timed(struct perfmap *map, const uint32_t *order, bool all)
{
	const struct perfmap_symbol *entries = map->entries.items;
	if (!all && !map->epochs.count)
		return true;
	for (size_t i = 0, begin = 0; i < map->entries.count; begin = i) {
		uint64_t end = entries[order[i]].start + 1;
		for (; i < map->entries.count && entries[order[i]].start < end; i++)
			end = end_of(map, order[i]) > end ? end_of(map, order[i]) : end;
		if (!add_group(map, order + begin, i - begin, all))
			return false;
	}
	return true;
}

static int compare_lines(const void *a, const void *b)
{
	return u64_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Numbers the timed entries, in the order of lines. Returns false when out of memory. */
static bool number_timed(struct perfmap *map)
{
	uint64_t offset = 0;
	if (!map->timed.count)
		return true;
	vec_sort(&map->timed, compare_lines);
	vec_each (item, &map->timed) {
		if (!vec_append(&map->timed_offsets, offset))
			return false;
		offset += map->entries.items[*item].size;
	}
	return true;
}

/* Drops all times if too many entries need them: then the last line is valid. */
static void limit_timed(struct perfmap *map)
{
	if (map->timed.count <= TIMED_MAX)
		return;
	map->timed.count = 0;
	map->epochs.count = 0;
}

/* Makes the pieces, and the timed entries. `all_timed`: each entry is one. */
static struct sp_error *divide_entries(struct perfmap *map, bool all_timed)
{
	uint32_t count = map->entries.count;
	CLEANUP_FREE uint32_t *order = malloc((count ?: 1) * sizeof(*order));
	struct heap open = {0};
	NEED(order);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_starts, map->entries.items);
	if (map->has_open_ends)
		set_sizes(map, order);
	bool done = find_timed(map, order, all_timed);
	limit_timed(map);
	done = done && number_timed(map) && walk_starts(map, order, &open);
	vec_deinit(&open);
	return done ? NULL : error_no_memory();
}

struct sp_error *perfmap_take(const struct perfmap_text *text, struct perfmap **ret)
{
	CLEANUP(cleanup_perfmap_free) struct perfmap *map = calloc(1, sizeof(*map));
	if (!map) {
		free(text->text);
		return error_no_memory();
	}
	map->names = text->text;
	map->from_ns = text->from_ns;
	map->has_marks = text->mark_count;
	if (text->size > UINT32_MAX)
		return error_new(SP_ERROR_LIMIT, "the perf map is larger than 4 GiB");
	TRY(parse_lines(map, text));
	TRY(divide_entries(map, text->inherited));
	*ret = take_ptr(map);
	return NULL;
}

uint64_t perfmap_memory(const struct perfmap *map)
{
	return map->names_size + map->entries.capacity * sizeof(*map->entries.items) +
	       map->starts.capacity * sizeof(*map->starts.items) +
	       map->piece_entries.capacity * sizeof(*map->piece_entries.items) +
	       map->timed.count * TIMED_MEMORY;
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

static struct perfmap_entry entry_of(const struct perfmap *map, uint32_t line)
{
	return (struct perfmap_entry){
		.start = map->entries.items[line].start,
		.end = end_of(map, line),
		.name = name_of(map, line),
		.line = line,
	};
}

/* Returns the piece that contains an address, with its flag; UINT32_MAX: there is none. */
static uint32_t find_piece(const struct perfmap *map, uint64_t ip)
{
	size_t count = sorted_up_to(map->starts.items, map->starts.count, , ip);
	uint32_t piece = count ? map->piece_entries.items[count - 1] : UINT32_MAX;
	return count && ip < end_of(map, piece & ~OVERLAPS) ? piece : UINT32_MAX;
}

bool perfmap_find(const struct perfmap *map, uint64_t ip, struct perfmap_entry *ret)
{
	uint32_t piece = find_piece(map, ip);
	if (piece == UINT32_MAX)
		return false;
	*ret = entry_of(map, piece & ~OVERLAPS);
	return true;
}

bool perfmap_is_ambiguous(const struct perfmap *map, uint64_t ip)
{
	uint32_t piece = find_piece(map, ip), line = piece & ~OVERLAPS;
	if (map->has_marks || piece == UINT32_MAX || !(piece & OVERLAPS))
		return false;
	uint32_t first = line > SEARCHED_LINES ? line - SEARCHED_LINES : 0;
	for (uint32_t i = first; i < line; i++)
		if (map->entries.items[i].start <= ip && ip < end_of(map, i) &&
		    strcmp(name_of(map, i), name_of(map, line)) != 0)
			return true;
	return false;
}

size_t perfmap_timed_count(const struct perfmap *map)
{
	return map->timed.count;
}

struct perfmap_timed perfmap_timed(const struct perfmap *map, size_t index)
{
	uint32_t line = map->timed.items[index];
	size_t epoch = epoch_of(map, line);
	return (struct perfmap_timed){
		.time_ns = epoch ? map->times.items[epoch - 1] : map->from_ns,
		.start = map->entries.items[line].start,
		.size = map->entries.items[line].size,
		.offset = map->timed_offsets.items[index],
	};
}

bool perfmap_find_timed(const struct perfmap *map, uint64_t offset, struct perfmap_entry *ret)
{
	size_t count = sorted_up_to(map->timed_offsets.items, map->timed_offsets.count, , offset);
	if (!count)
		return false;
	*ret = entry_of(map, map->timed.items[count - 1]);
	return offset - map->timed_offsets.items[count - 1] < ret->end - ret->start;
}
