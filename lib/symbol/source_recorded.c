/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for symbols in the recording itself. simpleperf records on phones and reports elsewhere, so it
 * stores the symbols of each sampled file in one of two features. Both consist of entries of
 * {u32 size, size bytes}. An entry of FILE (128), in the file's byte order:
 *
 *	path, NUL  u32 type  u64 lowest vaddr  u32 n  {u64 vaddr, u32 size, name, NUL}
 *	of DEX files: u32 n, u64 offsets;  of ELF files, since 2020: u64 file offset of that vaddr
 *
 * An entry of FILE2 (132), a protobuf message with fields: 1 path, 2 type, 3 lowest vaddr,
 * 4 {1 vaddr, 2 size, 3 name} for each symbol, 6 {1 file offset of that vaddr} of ELF files.
 */
#include "symbol/recorded.h"

#include <elf.h>
#include <string.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "symbol/source.h"
#include "symbol/symbol_table.h"

enum file_type { TYPE_KERNEL, TYPE_KERNEL_MODULE, TYPE_ELF, TYPE_DEX };

/* Vaddr and file offset of a file's lowest symbol, which relate vaddrs to offsets. */
struct lowest_symbol {
	uint64_t type, lowest;
	uint64_t file_offset; /* file offset of the lowest symbol */
	bool has_offset;      /* the recording has it */
};

struct feature_symbols {
	struct arena arena;
	struct symbol_table table;
	struct lowest_symbol layout;
};

/* One file's entry in a feature. */
struct feature_entry {
	const char *path;
	struct lowest_symbol layout;
	struct feature_symbols *names; /* NULL: only the fields before the symbols are wanted */
	bool no_memory;
};

static void names_close(void *opened)
{
	struct feature_symbols *names = opened;
	if (!names)
		return;
	table_deinit(&names->table);
	arena_deinit(&names->arena);
	free(names);
}

DEFINE_CLEANUP(void *, names_close)

static void add(struct feature_entry *entry, uint64_t vaddr, uint64_t size, const void *name,
		size_t length)
{
	if (!entry->names)
		return;
	const char *copy = arena_copy_string(&entry->names->arena, name,
					     strnlen(name, length));
	if (!copy || !table_add(&entry->names->table, vaddr, size, copy, STB_GLOBAL, STT_FUNC))
		entry->no_memory = true;
}

/* -- FILE2 ----------------------------------------------------------------- */

static bool read_varint(struct cursor *cursor, uint64_t *ret)
{
	uint8_t byte = 0x80;
	*ret = 0;
	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		if (shift > 63 || !cursor_u8(cursor, &byte))
			return false;
		*ret |= (uint64_t)(byte & 0x7f) << shift;
	}
	return true;
}

/* A protobuf field: a number, or bytes. Reading one returns false at the end or at damage. */
struct field {
	uint64_t number, value;
	struct cursor bytes;
};

static bool read_field(struct cursor *cursor, struct field *ret)
{
	uint64_t key, size;
	const uint8_t *bytes = NULL;
	if (!cursor_left(cursor) || !read_varint(cursor, &key))
		return false;
	*ret = (struct field){.number = key >> 3};
	switch (key & 7) {
	case 0:
		return read_varint(cursor, &ret->value);
	case 1:
		return cursor_skip(cursor, 8);
	case 2:
		if (!read_varint(cursor, &size) || size > cursor_left(cursor) ||
		    !cursor_bytes(cursor, size, &bytes))
			return false;
		ret->bytes = cursor_make(bytes, size, false, cursor->path, 0);
		return true;
	case 5:
		return cursor_skip(cursor, 4);
	default:
		return false;
	}
}

static void read_symbol(struct cursor cursor, struct feature_entry *entry)
{
	struct field field, name = {0};
	uint64_t vaddr = 0, size = 0;
	while (read_field(&cursor, &field)) {
		if (field.number == 1)
			vaddr = field.value;
		else if (field.number == 2)
			size = field.value;
		else if (field.number == 3)
			name = field;
	}
	if (cursor_left(&name.bytes))
		add(entry, vaddr, size, name.bytes.pos, cursor_left(&name.bytes));
}

/* Parses an entry of FILE2. The path is copied to the arena. */
static bool read_message(struct cursor *cursor, struct feature_entry *entry, struct arena *arena)
{
	struct field field;
	while (read_field(cursor, &field)) {
		struct cursor inner = field.bytes;
		if (field.number == 1 && cursor_left(&inner))
			entry->path = arena_copy_string(arena, (const char *)inner.pos,
							cursor_left(&inner));
		else if (field.number == 2)
			entry->layout.type = field.value;
		else if (field.number == 3)
			entry->layout.lowest = field.value;
		else if (field.number == 4 && entry->names)
			read_symbol(inner, entry);
		else if (field.number == 6 && read_field(&inner, &field) && field.number == 1) {
			entry->layout.file_offset = field.value;
			entry->layout.has_offset = true;
		}
	}
	return entry->path != NULL;
}

/* -- Which entry ----------------------------------------------------------- */

static bool is_of(const struct feature_entry *entry, const struct module *module)
{
	if (module->kind == MODULE_KERNEL)
		return entry->layout.type == TYPE_KERNEL;
	return !strcmp(entry->path, module->path) &&
	       (entry->layout.type == TYPE_ELF || entry->layout.type == TYPE_DEX);
}

/*
 * Returns the module's offset minus the vaddr, as AOSP's ElfDso::IpToVaddrInFile() computes it. If the
 * recording lacks the file offset, the mapping's is used: the linker maps the whole executable segment,
 * which begins with the lowest vaddr. Symbols of JIT code have run time addresses, and its offset is
 * the ip.
 */
static uint64_t shift_at(const struct lowest_symbol *layout, const struct location *location)
{
	if (layout->type != TYPE_ELF || location->offset == location->ip)
		return 0;
	return (layout->has_offset ? layout->file_offset : location->mapped_offset) -
	       layout->lowest;
}

typedef bool read_entry_fn(struct cursor *cursor, struct feature_entry *entry, struct arena *arena);

static bool read_plain_entry(struct cursor *cursor, struct feature_entry *entry,
			     struct arena *arena)
{
	(void)arena;

	/* Parses an entry of FILE, up to the first incomplete symbol. */
	uint32_t type, count;
	if (!cursor_text(cursor, &entry->path) || !cursor_u32(cursor, &type) ||
	    !cursor_u64(cursor, &entry->layout.lowest) || !cursor_u32(cursor, &count))
		return false;
	entry->layout.type = type;
	for (uint32_t i = 0; entry->names && i < count; i++) {
		uint64_t vaddr;
		uint32_t size;
		const char *name;
		if (!cursor_u64(cursor, &vaddr) || !cursor_u32(cursor, &size) ||
		    !cursor_text(cursor, &name))
			return true;
		add(entry, vaddr, size, name, strlen(name));
	}
	if (entry->names && type == TYPE_ELF)
		entry->layout.has_offset = cursor_u64(cursor, &entry->layout.file_offset);
	return true;
}

/* Position and format of an entry. */
struct entry_place {
	const uint8_t *bytes;
	uint32_t size;
	read_entry_fn *read;
	bool is_dex;
};

struct recorded_index {
	bool swap;
	struct u64map by_path; /* hash of the path -> index in places; KERNEL_KEY for the kernel */
	struct { VEC(struct entry_place); } places;
};

#define KERNEL_KEY 1

static uint64_t key_of(const char *path)
{
	uint64_t key = hash_bytes(path, strlen(path));
	return key > KERNEL_KEY ? key : key + KERNEL_KEY + 1;
}

/* Adds an entry to the index. Of several with one path, the first is used. */
static bool index_entry(struct recorded_index *index, const struct entry_place *place,
			const struct feature_entry *entry)
{
	struct entry_place indexed = *place;
	indexed.is_dex = entry->layout.type == TYPE_DEX;
	if (entry->layout.type > TYPE_DEX || entry->layout.type == TYPE_KERNEL_MODULE)
		return true;
	uint64_t key = entry->layout.type == TYPE_KERNEL ? KERNEL_KEY : key_of(entry->path);
	struct entry_place *first = u64map_item(&index->by_path, key, &index->places);
	if (first && !first->read)
		*first = indexed;
	return first;
}

static bool index_payload(struct recorded_index *index, struct sp_bytes payload,
			  read_entry_fn *read)
{
	struct cursor cursor = cursor_make(payload.bytes, payload.size, index->swap, NULL, 0);
	struct entry_place place = {.read = read};
	bool good = true;
	while (good && cursor_u32(&cursor, &place.size) &&
	       cursor_bytes(&cursor, place.size, &place.bytes)) {
		CLEANUP(arena_deinit) struct arena arena = {0};
		struct cursor at = cursor_make(place.bytes, place.size, index->swap, NULL, 0);
		struct feature_entry entry = {0};
		if (read(&at, &entry, &arena))
			good = index_entry(index, &place, &entry);
	}
	return good;
}

struct sp_error *recorded_index_new(const struct recorded_symbols *recorded,
				    struct recorded_index **ret)
{
	*ret = NULL;
	if (!recorded->file.size && !recorded->file2.size)
		return NULL;
	struct recorded_index *index = calloc(1, sizeof(*index));
	NEED(index);
	index->swap = recorded->swap;
	if (!index_payload(index, recorded->file, read_plain_entry) ||
	    !index_payload(index, recorded->file2, read_message)) {
		recorded_index_free(index);
		return error_no_memory();
	}
	*ret = index;
	return NULL;
}

void recorded_index_free(struct recorded_index *index)
{
	if (!index)
		return;
	u64map_deinit(&index->by_path);
	vec_deinit(&index->places);
	free(index);
}

static const struct entry_place *find_place(const struct recorded_index *index,
					    const struct module *module)
{
	if (!index || (module->kind != MODULE_KERNEL && module->kind != MODULE_FILE &&
		       module->kind != MODULE_VDSO))
		return NULL;
	uint64_t key = module->kind == MODULE_KERNEL ? KERNEL_KEY : key_of(module->path);
	const uint32_t *found = u64map_find(&index->by_path, key);
	return found ? &index->places.items[*found] : NULL;
}

bool recorded_is_dex(const struct recorded_index *index, const struct module *module)
{
	const struct entry_place *place = find_place(index, module);
	return place && place->is_dex;
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	const struct entry_place *place = find_place(env->recorded, module);
	(void)pid;
	if (!place)
		return NULL;
	CLEANUP(cleanup_names_close) void *opened = calloc(1, sizeof(struct feature_symbols));
	struct feature_symbols *names = opened;
	NEED(names);
	struct cursor at = cursor_make(place->bytes, place->size, env->recorded->swap, NULL, 0);
	struct feature_entry entry = {.names = names};
	if (!place->read(&at, &entry, &names->arena) || !is_of(&entry, module) ||
	    !names->table.symbols.count)
		return entry.no_memory ? error_no_memory() : NULL;
	names->layout = entry.layout;
	TRY(table_seal(&names->table, TABLE_REACH_ANY));
	diagnosis_clear(diagnosis);
	*ret = take_ptr(opened);
	return NULL;
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	struct feature_symbols *names = opened;
	uint64_t shift = shift_at(&names->layout, location);
	(void)diagnosis;
	const struct table_symbol *symbol = table_find(&names->table, location->offset - shift);
	if (!symbol)
		return false;
	*ret = (struct found){
		.key = symbol->start + shift,
		.raw_name = symbol->name,
		.start = symbol->start + shift,
		.size = symbol->end - symbol->start,
		.mangled = true,
	};
	return true;
}

const struct source source_recorded = {
	.name = "recorded",
	.open = names_open,
	.find = names_find,
	.close = names_close,
};
