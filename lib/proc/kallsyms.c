/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line is "ADDRESS TYPE NAME", followed by "\t[MODULE]" for modules. A symbol is stored in 16
 * bytes, sorted by address. Names are moved to the front of the text buffer, in the file's order,
 * which overwrites only text that is already parsed. A lower name offset means an earlier line.
 *
 * Encoded symbols are looked up where they are, by address:
 *
 *	u64  number of symbols
 *	for each: u64 address, u32 offset of its name in the names, u32 size of the name << 8 | type
 *	names, each with a NUL
 */
#include "proc/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "proc/proc_text.h"

/* Largest file that is read. The largest kernels have 30 MB. */
#define TEXT_LIMIT ((size_t)1 << 28)
#define PAGE ((uint64_t)4096)
/* Lines that kallsyms_reference() reads at most. On x86, symbols of per-CPU data come first. */
#define REFERENCE_LINES 8192
/* Code symbols at address 0 after which kallsyms_reference() concludes that addresses are hidden. */
#define REFERENCE_HIDDEN 128
/* Largest distance of _stext from _text if they differ (arm64: 64 KiB). */
#define REFERENCE_DISTANCE ((uint64_t)1 << 20)

struct kallsyms_entry {
	uint64_t address;
	uint32_t name;	 /* offset in names */
	uint16_t module; /* index in modules; 0: the kernel */
	char type;
};

/* Encoded sizes: the number of symbols, and a symbol. */
#define COUNT_SIZE sizeof(uint64_t)
#define ENTRY_SIZE (2 * sizeof(uint64_t))
/* Longest encoded name. */
#define NAME_MAX_SIZE ((size_t)1 << 16)

struct kallsyms {
	VEC(struct kallsyms_entry) entries;
	struct disk_entry
		*encoded; /* encoded symbols instead of `entries` and `names`; NULL: none */
	size_t encoded_count;
	VEC(uint32_t) modules; /* offsets in names; the first is unused */
	struct u64map by_name; /* hash of a module's name -> index in modules */
	char *names;
	bool hidden;
};

/* A line of the file. */
struct kallsyms_line {
	uint64_t address;
	char type;
	const char *name, *module; /* without a NUL at the end; module NULL: the kernel itself */
	size_t name_size, module_size;
};

static bool line_parse(struct cursor *cursor, struct kallsyms_line *line)
{
	uint8_t type;
	if (!text_hex(cursor, &line->address) || !text_char(cursor, ' ') ||
	    !cursor_u8(cursor, &type) || !text_char(cursor, ' ') ||
	    !text_word(cursor, &line->name, &line->name_size))
		return false;
	line->type = type;
	line->module = NULL;
	text_blanks(cursor);
	if (!cursor_left(cursor))
		return true;
	if (!text_char(cursor, '[') || cursor_left(cursor) < 2 || cursor->end[-1] != ']')
		return false;
	line->module = (const char *)cursor->pos;
	line->module_size = cursor_left(cursor) - 1;
	return true;
}

/* Selects symbols like perf's symbol_type__filter(): code, and data, since data bounds code. */
static bool type_is_kept(char type)
{
	return strchr("tTwWdDbB", type) && type;
}

static bool type_is_code(char type)
{
	return strchr("tTwW", type) && type;
}

/* Appends a name to the front of the buffer. Source and destination may overlap. */
static uint32_t name_put(struct kallsyms *kallsyms, size_t *used, const char *name, size_t size)
{
	uint32_t offset = (uint32_t)*used;
	memmove(kallsyms->names + *used, name, size);
	kallsyms->names[*used + size] = 0;
	*used += size + 1;
	return offset;
}

/* Returns the index of the line's module, and adds the module if it is new. */
static struct sp_error *module_index(struct kallsyms *kallsyms, const struct kallsyms_line *line,
				     size_t *used, uint16_t *ret)
{
	uint64_t key = hash_bytes(line->module, line->module_size);
	for (;; key++) {
		bool added;
		uint32_t *index =
			u64map_put(&kallsyms->by_name, key, kallsyms->modules.count, &added);
		NEED(index);
		*ret = (uint16_t)*index;
		if (added) {
			if (*index > UINT16_MAX)
				return error_new(SP_ERROR_LIMIT, "kallsyms: too many modules");
			NEED(vec_append(&kallsyms->modules,
					name_put(kallsyms, used, line->module, line->module_size)));
			return NULL;
		}
		const char *known = kallsyms->names + kallsyms->modules.items[*index];
		if (strlen(known) == line->module_size &&
		    memcmp(known, line->module, line->module_size) == 0)
			return NULL;
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct kallsyms_entry *x = a, *y = b;
	return u64_order(x->address, y->address) ?: u64_order(x->name, y->name);
}

/* Sorts the unsorted rest and merges it: the kernel's own symbols are sorted, modules' are not. */
static struct sp_error *sort_entries(struct kallsyms *kallsyms)
{
	struct kallsyms_entry *entries = kallsyms->entries.items;
	size_t count = kallsyms->entries.count, sorted = 1;
	while (sorted < count && entries[sorted - 1].address <= entries[sorted].address)
		sorted++;
	if (sorted >= count)
		return NULL;
	size_t left = sorted, right = count - sorted, to = count;
	qsort(entries + sorted, right, sizeof(*entries), compare_entries);
	CLEANUP_FREE struct kallsyms_entry *tail = malloc(right * sizeof(*tail));
	NEED(tail);
	memcpy(tail, entries + sorted, right * sizeof(*tail));
	while (right) {
		bool from_tail = !left || compare_entries(&entries[left - 1], &tail[right - 1]) < 0;
		entries[--to] = from_tail ? tail[--right] : entries[--left];
	}
	return NULL;
}

/* Parses `text` and owns it from now on. The buffer has one byte more than `size`. */
static struct sp_error *take_text(char *text, size_t size, const char *path, struct kallsyms **ret)
{
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	if (!kallsyms) {
		free(text);
		return error_no_memory();
	}
	kallsyms->names = text;
	kallsyms->hidden = true;
	uint32_t *unused = vec_push(&kallsyms->modules);
	/* Lines of real kernels have 44 bytes on average. */
	NEED(unused && vec_reserve(&kallsyms->entries, size / 44 + 16));
	*unused = 0;
	struct cursor cursor = cursor_make(text, size, false, path, 0), line_cursor;
	size_t used = 0;
	while (text_line(&cursor, &line_cursor)) {
		struct kallsyms_line line;
		if (!cursor_left(&line_cursor))
			continue;
		if (!line_parse(&line_cursor, &line))
			return cursor_error(&line_cursor, "not a line of kallsyms");
		if (!type_is_kept(line.type))
			continue;
		/*
		 * Move the symbol's name before the module's, which follows it and is not
		 * overwritten yet.
		 */
		struct kallsyms_entry entry = {.address = line.address, .type = line.type};
		entry.name = name_put(kallsyms, &used, line.name, line.name_size);
		if (line.module)
			TRY(module_index(kallsyms, &line, &used, &entry.module));
		NEED(vec_append(&kallsyms->entries, entry));
		kallsyms->hidden &= line.address == 0;
	}
	TRY(sort_entries(kallsyms));
	/* Shrinks the text buffer to the names in it. It may move. */
	char *names = realloc(kallsyms->names, used ? used : 1);
	if (names)
		kallsyms->names = names;
	*ret = take_ptr(kallsyms);
	return NULL;
}

/* Reads the whole file into a buffer with a spare byte. Fails if it exceeds TEXT_LIMIT. */
static struct sp_error *read_text(int fd, const char *path, char **ret, size_t *size_ret)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0, capacity = 0, got;
	do {
		if (size >= TEXT_LIMIT)
			return error_new(SP_ERROR_LIMIT, "%s: larger than %zu MiB", path,
					 TEXT_LIMIT >> 20);
		NEED(vec_grow(&text, &capacity, size + ((size_t)1 << 23), 1));
		int errnum = io_read(fd, text + size, capacity - size - 1, &got);
		if (errnum)
			return error_os(errnum, "%s", path);
		size += got;
	} while (size == capacity - 1);
	*ret = take_ptr(text);
	*size_ret = size;
	return NULL;
}

struct sp_error *kallsyms_read(const struct sp_ctx *ctx, const char *path, struct kallsyms **ret)
{
	CLEANUP_FREE char *own_path = NULL;
	if (!path) {
		own_path = format_text("%s/proc/kallsyms", ctx_root(ctx));
		NEED(own_path);
		path = own_path;
	}
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_os(errno, "%s", path) : kallsyms_read_fd(fd, path, ret);
}

struct sp_error *kallsyms_read_fd(int fd, const char *path, struct kallsyms **ret)
{
	char *text = NULL;
	size_t size = 0;
	TRY(read_text(fd, path, &text, &size));
	return take_text(text, size, path, ret);
}

struct sp_error *kallsyms_parse(const void *text, size_t size, const char *path,
				struct kallsyms **ret)
{
	if (size > TEXT_LIMIT)
		return error_new(SP_ERROR_LIMIT, "%s: larger than %zu MiB", path ?: "(memory)",
				 TEXT_LIMIT >> 20);
	char *copy = malloc(size + 1);
	NEED(copy);
	if (size)
		memcpy(copy, text, size);
	return take_text(copy, size, path, ret);
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	vec_deinit(&kallsyms->entries);
	vec_deinit(&kallsyms->modules);
	u64map_deinit(&kallsyms->by_name);
	free(kallsyms->names);
	disk_entry_free(kallsyms->encoded);
	free(kallsyms);
}

bool kallsyms_hidden(const struct kallsyms *kallsyms)
{
	return kallsyms->hidden;
}

size_t kallsyms_count(const struct kallsyms *kallsyms)
{
	return kallsyms->encoded ? kallsyms->encoded_count : kallsyms->entries.count;
}

/* Reads an encoded symbol, and the place of its name; false if it is damaged. */
static bool encoded_entry(const struct kallsyms *kallsyms, size_t index, struct kallsyms_entry *ret,
			  uint64_t *name_ret, size_t *name_size_ret)
{
	uint64_t at = COUNT_SIZE + index * ENTRY_SIZE, address;
	uint32_t name, rest;
	if (!disk_entry_need(kallsyms->encoded, at, ENTRY_SIZE))
		return false;
	struct cursor cursor =
		cursor_make(disk_entry_bytes(kallsyms->encoded) + at, ENTRY_SIZE, false, NULL, 0);
	if (!cursor_u64(&cursor, &address) || !cursor_u32(&cursor, &name) ||
	    !cursor_u32(&cursor, &rest))
		return false;
	*ret = (struct kallsyms_entry){.address = address, .type = rest};
	*name_ret = COUNT_SIZE + kallsyms->encoded_count * ENTRY_SIZE + name;
	*name_size_ret = rest >> 8;
	return true;
}

/* Reads a symbol, and its name unless `name_ret` is NULL; false if it is damaged. */
static bool entry_at(const struct kallsyms *kallsyms, size_t index, struct kallsyms_entry *ret,
		     const char **name_ret)
{
	uint64_t name;
	size_t size;
	if (!kallsyms->encoded) {
		*ret = kallsyms->entries.items[index];
		if (name_ret)
			*name_ret = kallsyms->names + ret->name;
		return true;
	}
	if (!encoded_entry(kallsyms, index, ret, &name, &size))
		return false;
	if (!name_ret)
		return true;
	*name_ret = (const char *)disk_entry_bytes(kallsyms->encoded) + name;
	return disk_entry_need(kallsyms->encoded, name, size + 1) && !(*name_ret)[size];
}

/* Returns the number of symbols at or below an address; 0 if one that was compared is damaged. */
static size_t count_up_to(const struct kallsyms *kallsyms, uint64_t address)
{
	if (!kallsyms->encoded)
		return sorted_up_to(kallsyms->entries.items, kallsyms->entries.count, .address,
				    address);
	size_t low = 0, high = kallsyms->encoded_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct kallsyms_entry entry;
		if (!entry_at(kallsyms, middle, &entry, NULL))
			return 0;
		if (entry.address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns a symbol's end. kallsyms has no sizes: a symbol ends at the next one's address. The last
 * symbol of a module ends a page after its start, rounded up, like in perf: the next module may be
 * far away.
 */
static uint64_t entry_end(const struct kallsyms *kallsyms, const struct kallsyms_entry *entry,
			  size_t next)
{
	uint64_t page_end = ((entry->address - 1) | (PAGE - 1)) + 1 + PAGE;
	struct kallsyms_entry after;
	if (page_end < entry->address)
		page_end = UINT64_MAX;
	if (next >= kallsyms_count(kallsyms) || !entry_at(kallsyms, next, &after, NULL))
		return page_end;
	if (after.module == entry->module || after.address < page_end)
		return after.address;
	return page_end;
}

static bool symbol_at(const struct kallsyms *kallsyms, size_t index, size_t next,
		      struct kallsyms_symbol *ret)
{
	struct kallsyms_entry entry;
	const char *name;
	if (!entry_at(kallsyms, index, &entry, &name))
		return false;
	*ret = (struct kallsyms_symbol){
		.address = entry.address,
		.end = entry_end(kallsyms, &entry, next),
		.name = name,
		.module = entry.module ? kallsyms->names + kallsyms->modules.items[entry.module]
				       : NULL,
		.type = entry.type,
	};
	return true;
}

struct kallsyms_symbol kallsyms_symbol(const struct kallsyms *kallsyms, size_t index)
{
	struct kallsyms_symbol symbol = {.name = ""};
	struct kallsyms_entry entry, after;
	/* The next index, unless several symbols share this address. */
	size_t next = index + 1;
	if (next < kallsyms_count(kallsyms) && entry_at(kallsyms, index, &entry, NULL) &&
	    entry_at(kallsyms, next, &after, NULL) && after.address == entry.address)
		next = count_up_to(kallsyms, entry.address);
	(void)symbol_at(kallsyms, index, next, &symbol);
	return symbol;
}

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, struct kallsyms_symbol *ret)
{
	size_t count = kallsyms->hidden ? 0 : count_up_to(kallsyms, address);
	struct kallsyms_symbol symbol;
	if (!count || !symbol_at(kallsyms, count - 1, count, &symbol) || address >= symbol.end)
		return false;
	*ret = symbol;
	return true;
}

bool kallsyms_find_name(const struct kallsyms *kallsyms, const char *name,
			struct kallsyms_symbol *ret)
{
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_entry entry;
		const char *found;
		if (!entry_at(kallsyms, i, &entry, &found) || entry.module ||
		    strcmp(found, name) != 0)
			continue;
		*ret = kallsyms_symbol(kallsyms, i);
		return true;
	}
	return false;
}

/* Whether a symbol is one of the part; sets its encoded address and its size of name. */
static bool is_in_part(const struct kallsyms *kallsyms, const struct kallsyms_part *part,
		       size_t index, struct kallsyms_entry *ret, const char **name_ret,
		       size_t *size_ret)
{
	if (!entry_at(kallsyms, index, ret, name_ret))
		return false;
	const char *module =
		ret->module ? kallsyms->names + kallsyms->modules.items[ret->module] : NULL;
	uint64_t distance = ret->address - part->start;
	*size_ret = strlen(*name_ret);
	ret->address = part->base + distance;
	return (part->module ? module && !strcmp(module, part->module) : !module) &&
	       distance < part->size && *size_ret < NAME_MAX_SIZE;
}

struct sp_error *kallsyms_encode(const struct kallsyms *kallsyms, const struct kallsyms_part *part,
				 uint8_t **ret, size_t *size_ret)
{
	uint64_t count = 0, names = 0;
	struct kallsyms_entry entry;
	const char *name;
	size_t size;
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++)
		if (is_in_part(kallsyms, part, i, &entry, &name, &size)) {
			count++;
			names += size + 1;
		}
	uint8_t *bytes = malloc(COUNT_SIZE + count * ENTRY_SIZE + names), *to = bytes + COUNT_SIZE;
	NEED(bytes);
	memcpy(bytes, &count, COUNT_SIZE);
	uint32_t used = 0;
	uint8_t *names_to = to + count * ENTRY_SIZE;
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		if (!is_in_part(kallsyms, part, i, &entry, &name, &size))
			continue;
		uint32_t rest = (uint32_t)size << 8 | (uint8_t)entry.type;
		memcpy(to, &entry.address, sizeof(entry.address));
		memcpy(to + 8, &used, sizeof(used));
		memcpy(to + 12, &rest, sizeof(rest));
		to += ENTRY_SIZE;
		memcpy(names_to + used, name, size + 1);
		used += (uint32_t)size + 1;
	}
	*ret = bytes;
	*size_ret = COUNT_SIZE + count * ENTRY_SIZE + names;
	return NULL;
}

struct sp_error *kallsyms_open(struct disk_entry *entry, struct kallsyms **ret)
{
	CLEANUP(cleanup_disk_entry_free) struct disk_entry *owned = entry;
	uint64_t count;
	*ret = NULL;
	if (!disk_entry_need(entry, 0, COUNT_SIZE))
		return NULL;
	struct cursor cursor = cursor_make(disk_entry_bytes(entry), COUNT_SIZE, false, NULL, 0);
	if (!cursor_u64(&cursor, &count) ||
	    count > (disk_entry_size(entry) - COUNT_SIZE) / ENTRY_SIZE)
		return NULL;
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	NEED(kallsyms);
	kallsyms->encoded = take_ptr(owned);
	kallsyms->encoded_count = count;
	*ret = kallsyms;
	return NULL;
}

/* State of kallsyms_reference()'s search: addresses found so far (0: not found), and line counts. */
struct reference_search {
	uint64_t text, stext;
	size_t lines, hidden;
};

/* Processes one line; true if no further line is needed. */
static bool reference_line(struct reference_search *search, const struct kallsyms_line *line)
{
	search->lines++;
	if (line->module || search->lines > REFERENCE_LINES)
		return true;
	if (!type_is_code(line->type))
		return false;
	if (!line->address)
		return ++search->hidden > REFERENCE_HIDDEN;
	if (line->name_size == 5 && memcmp(line->name, "_text", 5) == 0)
		search->text = line->address;
	if (line->name_size == 6 && memcmp(line->name, "_stext", 6) == 0)
		search->stext = line->address;
	uint64_t first = search->text ? search->text : search->stext;
	return (search->text && search->stext) ||
	       (first && line->address > first && line->address - first > REFERENCE_DISTANCE);
}

/* Reads kallsyms page by page and stops early, because the kernel generates the text while reading. */
static void reference_scan(int fd, struct reference_search *search)
{
	char buffer[8192];
	size_t kept = 0;
	for (;;) {
		ssize_t got = read(fd, buffer + kept, sizeof(buffer) - kept);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		size_t size = kept + (size_t)got;
		const char *newline = memrchr(buffer, '\n', size);
		if (!newline && size == sizeof(buffer))
			return;
		size_t whole = newline ? (size_t)(newline - buffer) + 1 : 0;
		struct cursor cursor = cursor_make(buffer, whole, false, NULL, 0), line_cursor;
		while (text_line(&cursor, &line_cursor)) {
			struct kallsyms_line line;
			if (!line_parse(&line_cursor, &line) || reference_line(search, &line))
				return;
		}
		kept = size - whole;
		memmove(buffer, buffer + whole, kept);
	}
}

bool kallsyms_reference(const struct sp_ctx *ctx, struct kernel_reference *ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/kallsyms", ctx_root(ctx));
	if (!path)
		return false;
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reference_search search = {0};
	if (fd >= 0)
		reference_scan(fd, &search);
	if (!search.text && !search.stext)
		return false;
	*ret = (struct kernel_reference){
		.address = search.text ? search.text : search.stext,
		.name = search.text ? "_text" : "_stext",
		.stext = search.stext,
	};
	return true;
}
