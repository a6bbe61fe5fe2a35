/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/parallel.h"
#include "dwarf/leb.h"

void shared_strings_init(struct shared_strings *texts)
{
	*texts = (struct shared_strings){0};
	for (size_t i = 0; i < STRING_SHARDS; i++)
		pthread_mutex_init(&texts->shards[i].lock, NULL);
}

void shared_strings_deinit(struct shared_strings *texts)
{
	for (size_t i = 0; i < STRING_SHARDS; i++) {
		strtab_deinit(&texts->shards[i].strings);
		pthread_mutex_destroy(&texts->shards[i].lock);
	}
}

/*
 * Returns the only copy of this text, and whether it is new; NULL when out of memory. It lives as
 * long as `texts`.
 */
static const char *shared_strings_add(struct shared_strings *texts, const char *text, size_t size,
			       bool *new_ret)
{
	uint64_t hash = hash_bytes(text, size);
	/* Use high bits of the hash, because the shard's own table uses the low ones. */
	__typeof__(&texts->shards[0]) shard = &texts->shards[hash >> 32 & (STRING_SHARDS - 1)];
	pthread_mutex_lock(&shard->lock);
	size_t count = shard->strings.count;
	const char *kept = strtab_add_hashed(&shard->strings, hash, text, size);
	*new_ret = shard->strings.count > count;
	pthread_mutex_unlock(&shard->lock);
	return kept;
}

struct sp_error *dwarf_file_new(struct sp_ctx *ctx, struct image *image, bool split,
				uint32_t number, struct dwarf_file **ret)
{
	CLEANUP(cleanup_image_free) struct image *taken = image;
	CLEANUP(cleanup_dwarf_file_free) struct dwarf_file *file = calloc(1, sizeof(*file));
	NEED(file);
	pthread_mutex_init(&file->units_lock, NULL);
	file->code = &image->code;
	file->image = take_ptr(taken);
	file->split = split;
	file->number = number;
	for (int i = 0; i < SECTION_COUNT; i++) {
		TRY(section_open(&file->sections[i], ctx, image, (enum section_id)i, split));
	}
	*ret = take_ptr(file);
	return NULL;
}

void dwarf_file_free(struct dwarf_file *file)
{
	if (!file)
		return;
	for (int i = 0; i < SECTION_COUNT; i++)
		section_close(&file->sections[i]);
	vec_deinit(&file->units);
	pthread_mutex_destroy(&file->units_lock);
	image_free(file->image);
	free(file);
}

/* Compressed sections to unpack, the largest first, so that threads end at about the same time. */
struct unpacking {
	struct section *sections[SECTION_COUNT];
	unsigned int count, next;
};

static int compare_packed(const void *a, const void *b)
{
	const struct section *x = *(struct section *const *)a, *y = *(struct section *const *)b;
	return (x->packed_size < y->packed_size) - (x->packed_size > y->packed_size);
}

static void unpack_some(void *arg, unsigned int hand)
{
	struct unpacking *unpacking = arg;
	(void)hand;
	while (true) {
		unsigned int next = __atomic_fetch_add(&unpacking->next, 1, __ATOMIC_RELAXED);
		if (next >= unpacking->count)
			return;
		section_size(unpacking->sections[next]);
	}
}

void dwarf_file_unpack(struct dwarf_file *file, unsigned int threads)
{
	struct unpacking unpacking = {0};
	for (int i = 0; i < SECTION_COUNT; i++)
		if (file->sections[i].packed_size)
			unpacking.sections[unpacking.count++] = &file->sections[i];
	if (!unpacking.count)
		return;
	qsort(unpacking.sections, unpacking.count, sizeof(*unpacking.sections), compare_packed);
	parallel_run(unpacking.count < threads ? unpacking.count : threads, unpack_some,
		     &unpacking);
}

/* Shortest unit header after its length: version, offset of abbreviations, address size. */
#define UNIT_LENGTH_MIN 7

bool dwarf_file_unit_end(struct dwarf_file *file, uint64_t offset, uint64_t *ret)
{
	struct section *info = &file->sections[SECTION_INFO];
	uint8_t bytes[12], offset_size;
	uint64_t length, size = section_size(info);
	size_t done = section_peek(info, offset, bytes, sizeof(bytes));
	struct cursor cursor = cursor_make(bytes, done, file->image->swap, file->image->path,
					   offset);
	if (!cursor_length(&cursor, &length, &offset_size) || length < UNIT_LENGTH_MIN ||
	    length > size - cursor_offset(&cursor))
		return false;
	*ret = cursor_offset(&cursor) + length;
	return true;
}

static bool add_units(struct dwarf_file *file, struct sp_error **error_ret)
{
	struct section *info = &file->sections[SECTION_INFO];
	uint64_t size = section_size(info);
	for (uint64_t at = 0, end; at < size; at = end) {
		if (!dwarf_file_unit_end(file, at, &end)) {
			*error_ret = section_error(info, at, "a unit of impossible length");
			return true;
		}
		if (!vec_append(&file->units, at))
			return false;
	}
	return true;
}

bool dwarf_file_index(struct dwarf_file *file, struct sp_error **error_ret)
{
	bool ok = true;
	*error_ret = NULL;
	pthread_mutex_lock(&file->units_lock);
	if (!file->units_known) {
		ok = add_units(file, error_ret);
		file->units_known = ok;
	}
	pthread_mutex_unlock(&file->units_lock);
	return ok;
}

/* Sets *ret to the begin of the unit around an offset. Call dwarf_file_index() before. */
static bool dwarf_file_unit(const struct dwarf_file *file, uint64_t offset, uint64_t *ret)
{
	size_t count = sorted_up_to(file->units.items, file->units.count, , offset);
	if (count)
		*ret = file->units.items[count - 1];
	return count;
}

/*
 * Limits of a reader: LEAST bytes plus TIMES the section's size. Tables are shared by units and may
 * be read again, but in a hostile file, too many units could refer to one huge table.
 */
#define TABLE_BYTES_LEAST ((int64_t)64 << 20)
#define TABLE_BYTES_TIMES 16
#define LINE_BYTES_LEAST ((int64_t)64 << 20)
#define LINE_BYTES_TIMES 4
#define STRING_BYTES ((int64_t)256 << 20)
#define SPLIT_UNITS ((int64_t)16 << 20)
#define SEARCH_BYTES_LEAST ((int64_t)64 << 20)
#define SEARCH_BYTES_TIMES 4

struct dwarf_reader *reader_new(const struct dwarf_file *file, struct shared_strings *texts)
{
	struct dwarf_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return NULL;
	reader->texts = texts;
	reader->table_bytes = TABLE_BYTES_LEAST +
			      TABLE_BYTES_TIMES * (int64_t)file->sections[SECTION_ABBREV].size;
	reader->line_bytes = LINE_BYTES_LEAST +
			     LINE_BYTES_TIMES * (int64_t)file->sections[SECTION_LINE].size;
	reader->string_bytes = STRING_BYTES;
	reader->split_units = SPLIT_UNITS;
	reader->search_bytes = SEARCH_BYTES_LEAST +
			       SEARCH_BYTES_TIMES * (int64_t)file->sections[SECTION_INFO].size;
	return reader;
}

void reader_free(struct dwarf_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < TABLE_SLOTS; i++)
		abbrev_table_deinit(&reader->tables[i].table);
	u64map_deinit(&reader->name_index);
	vec_deinit(&reader->names);
	free(reader->held.bytes);
	arena_deinit(&reader->nodes);
	arena_deinit(&reader->frames);
	vec_deinit(&reader->list);
	sp_error_free(reader->damage);
	free(reader);
}

struct sp_error *reader_damage(struct dwarf_reader *reader, struct sp_error *error)
{
	if (!error || sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	reader->damages++;
	if (reader->damage)
		sp_error_free(error);
	else
		reader->damage = error;
	return NULL;
}

struct sp_error *reader_string(struct dwarf_reader *reader, const char *text, size_t size,
			       const char **ret)
{
	*ret = NULL;
	if (reader->string_bytes < 0)
		return NULL;
	bool is_new;
	*ret = shared_strings_add(reader->texts, text, size, &is_new);
	if (*ret && is_new)
		reader->string_bytes -= (int64_t)size;
	return *ret ? NULL : error_no_memory();
}

void reader_hold(struct dwarf_reader *reader, const struct unit *unit)
{
	struct section *info = unit_info(unit);
	struct held_entries *held = &reader->held;
	size_t size = unit->end - unit->entries;
	held->file = 0;
	/* Sections that are inflated, or of an image in memory, are read in place. */
	if (!info->reserved)
		return;
	if (size > held->capacity) {
		free(held->bytes);
		held->capacity = size + size / 4;
		held->bytes = malloc(held->capacity);
		if (!held->bytes)
			held->capacity = 0;
	}
	if (!held->bytes || section_peek(info, unit->entries, held->bytes, size) < size)
		return;
	held->file = unit->file->number;
	held->begin = unit->entries;
	held->end = unit->end;
}

bool reader_entries(struct dwarf_reader *reader, const struct unit *unit, uint64_t offset,
		    uint64_t end, struct cursor *ret)
{
	const struct held_entries *held = &reader->held;
	const struct image *image = unit->file->image;
	if (held->file != unit->file->number || offset < held->begin || end > held->end ||
	    offset > end)
		return section_cursor(unit_info(unit), offset, end, ret);
	*ret = cursor_make(held->bytes + (offset - held->begin), end - offset, image->swap,
			   image->path, offset);
	return true;
}

static bool slot_has(const struct table_slot *slot, const struct unit *unit)
{
	return slot->file == unit->file->number && slot->offset == unit->abbrev_offset &&
	       slot->encoding.address_size == unit->encoding.address_size &&
	       slot->encoding.offset_size == unit->encoding.offset_size &&
	       (slot->encoding.version <= 2) == (unit->encoding.version <= 2);
}

struct sp_error *reader_abbrevs(struct dwarf_reader *reader, const struct unit *unit,
				const struct abbrev_table **ret)
{
	uint64_t hash = hash_pair(unit->file->number, unit->abbrev_offset), size;
	struct table_slot *slot = &reader->tables[hash % TABLE_SLOTS];
	*ret = &slot->table;
	if (slot_has(slot, unit))
		return NULL;
	abbrev_table_deinit(&slot->table);
	slot->file = 0;
	*ret = NULL;
	struct section *section = &unit->file->sections[SECTION_ABBREV];
	if (reader->table_bytes < 0)
		return reader_damage(reader,
				     section_error(section, unit->abbrev_offset,
						   "too many units share abbreviation tables"));
	struct sp_error *error =
		abbrev_table_read(section, unit->abbrev_offset, &unit->encoding, 0, &slot->table,
				  &size);
	if (error)
		return reader_damage(reader, error);
	reader->table_bytes -= (int64_t)size;
	slot->file = unit->file->number;
	slot->offset = unit->abbrev_offset;
	slot->encoding = unit->encoding;
	*ret = &slot->table;
	return NULL;
}

static bool header_behind_version(struct cursor *cursor, struct unit *unit)
{
	uint64_t ignored;
	if (unit->encoding.version < 5) {
		unit->type = DW_UT_compile;
		return cursor_unsigned(cursor, unit->encoding.offset_size, &unit->abbrev_offset) &&
		       cursor_u8(cursor, &unit->encoding.address_size);
	}
	if (!cursor_u8(cursor, &unit->type) || !cursor_u8(cursor, &unit->encoding.address_size) ||
	    !cursor_unsigned(cursor, unit->encoding.offset_size, &unit->abbrev_offset))
		return false;
	switch (unit->type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		unit->has_dwo_id = true;
		return cursor_u64(cursor, &unit->dwo_id);
	case DW_UT_type:
	case DW_UT_split_type:
		return cursor_skip(cursor, 8) &&
		       cursor_unsigned(cursor, unit->encoding.offset_size, &ignored);
	default:
		return true;
	}
}

/* Longest unit header: a type unit's with offsets of 8 bytes. */
#define HEADER_MAX 40

struct sp_error *unit_read_header(struct dwarf_file *file, uint64_t offset, struct unit *ret)
{
	struct section *info = &file->sections[SECTION_INFO];
	uint64_t size = section_size(info), length = 0;
	struct unit unit = {.file = file, .main = file, .offset = offset};
	struct cursor cursor;
	uint64_t head = offset < size && size - offset > HEADER_MAX ? offset + HEADER_MAX : size;
	if (offset >= size || !section_cursor(info, offset, head, &cursor) ||
	    !cursor_length(&cursor, &length, &unit.encoding.offset_size) ||
	    length > size - cursor_offset(&cursor))
		return section_error(info, offset, "no unit, or one of impossible length");
	unit.end = cursor_offset(&cursor) + length;
	if (!cursor_u16(&cursor, &unit.encoding.version) || unit.encoding.version < 2 ||
	    unit.encoding.version > 5)
		return section_error(info, offset, "a unit of a version other than 2 to 5");
	if (!header_behind_version(&cursor, &unit) || cursor_offset(&cursor) > unit.end ||
	    (unit.encoding.address_size != 4 && unit.encoding.address_size != 8))
		return section_error(info, offset, "a damaged unit header");
	unit.entries = cursor_offset(&cursor);
	*ret = unit;
	return NULL;
}

/* Sets default bases for units without DW_AT_*_base: after the header of each table. */
static void default_bases(struct unit *unit)
{
	if (unit->encoding.version < 5)
		return;
	bool wide = unit->encoding.offset_size == 8;
	unit->str_offsets_base += wide ? 16 : 8;
	unit->addr_base = wide ? 16 : 8;
	unit->rnglists_base = unit->rnglists_start + (wide ? 20 : 12);
}

/* Bytes to read for the first entry. In real files it is shorter. */
#define TOP_MAX 4096

static bool read_top(struct unit *unit, struct cursor *cursor, const struct abbrev_table *table,
		     uint64_t code)
{
	const struct abbrev *abbrev = abbrev_find(table, code);
	if (!abbrev)
		return false;
	if (abbrev->tag == DW_TAG_partial_unit)
		unit->type = DW_UT_partial;
	if (abbrev->tag == DW_TAG_type_unit)
		unit->type = DW_UT_type;
	const struct attribute *attribute = abbrev_attributes(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attribute_count; i++, attribute++) {
		struct value value;
		if (!value_read(cursor, attribute, &unit->encoding, &value))
			return false;
		switch (attribute->name) {
		case DW_AT_low_pc:
			unit->low_pc_value = value;
			break;
		case DW_AT_high_pc:
			unit->high_pc = value;
			break;
		case DW_AT_ranges:
			unit->ranges = value;
			break;
		case DW_AT_name:
			unit->name = value;
			break;
		case DW_AT_comp_dir:
			unit->comp_dir = value;
			break;
		case DW_AT_dwo_name:
		case DW_AT_GNU_dwo_name:
			unit->dwo_name = value;
			break;
		case DW_AT_GNU_dwo_id:
			unit->dwo_id = value.u;
			unit->has_dwo_id = true;
			break;
		case DW_AT_stmt_list:
			unit->line_offset = value.u;
			unit->has_lines = true;
			break;
		case DW_AT_addr_base:
		case DW_AT_GNU_addr_base:
			unit->addr_base = value.u;
			break;
		case DW_AT_str_offsets_base:
			unit->str_offsets_base = value.u;
			break;
		case DW_AT_rnglists_base:
			unit->rnglists_base = value.u;
			break;
		case DW_AT_GNU_ranges_base:
			unit->ranges_base = value.u;
			break;
		case DW_AT_language:
			unit->language = value.u;
			break;
		default:
			break;
		}
	}
	return true;
}

/*
 * Reads the first entry with only the abbreviations up to its own, which is usually the table's
 * first. This is fast, because a search by address may read the first entries of all units.
 */
static struct sp_error *read_top_alone(struct dwarf_reader *reader, struct unit *unit, bool *ok_ret)
{
	CLEANUP(abbrev_table_deinit) struct abbrev_table table = {0};
	struct cursor cursor;
	uint64_t code, size;
	uint64_t end = unit->end - unit->entries > TOP_MAX ? unit->entries + TOP_MAX : unit->end;
	*ok_ret = false;
	if (!section_cursor(unit_info(unit), unit->entries, end, &cursor) ||
	    !cursor_uleb(&cursor, &code) || code == 0 || reader->table_bytes < 0)
		return NULL;
	struct sp_error *error =
		abbrev_table_read(&unit->file->sections[SECTION_ABBREV], unit->abbrev_offset,
				  &unit->encoding, code, &table, &size);
	if (error)
		return reader_damage(reader, error);
	reader->table_bytes -= (int64_t)size;
	*ok_ret = read_top(unit, &cursor, &table, code);
	return NULL;
}

struct sp_error *unit_read_top(struct dwarf_reader *reader, struct unit *unit)
{
	bool ok;
	if (unit->top_known)
		return NULL;
	default_bases(unit);
	TRY(read_top_alone(reader, unit, &ok));
	if (!ok)
		return reader_damage(reader, section_error(unit_info(unit), unit->entries,
							   "a damaged first entry of a unit"));
	unit->has_low_pc = unit_address(unit, &unit->low_pc_value, &unit->low_pc);
	unit->top_known = true;
	return NULL;
}

struct sp_error *reader_unit(struct dwarf_reader *reader, struct dwarf_file *file, uint64_t offset,
			     const struct unit **ret)
{
	uint64_t start;
	struct sp_error *damage;
	*ret = NULL;
	NEED(dwarf_file_index(file, &damage));
	struct sp_error *error = reader_damage(reader, damage);
	if (error || !dwarf_file_unit(file, offset, &start))
		return error;
	struct unit_slot *slot = &reader->units[hash_pair(file->number, start) % UNIT_SLOTS];
	struct unit *unit = &slot->unit;
	if (slot->file != file->number || unit->offset != start) {
		slot->file = 0;
		error = unit_read_header(file, start, unit);
		if (error)
			return reader_damage(reader, error);
		slot->file = file->number;
	}
	error = unit_read_top(reader, unit);
	if (!error && unit->top_known && offset >= unit->entries && offset < unit->end)
		*ret = unit;
	return error;
}

bool unit_indexed_address(const struct unit *unit, uint64_t index, uint64_t *ret)
{
	return section_entry(&unit->main->sections[SECTION_ADDR], unit->addr_base, index,
			     unit->encoding.address_size, ret);
}

bool unit_address(const struct unit *unit, const struct value *value, uint64_t *ret)
{
	switch (value->form) {
	case DW_FORM_addr:
		*ret = value->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return unit_indexed_address(unit, value->u, ret);
	default:
		return false;
	}
}

static const char *indexed_string(const struct unit *unit, uint64_t index)
{
	uint64_t offset;
	return section_entry(&unit->file->sections[SECTION_STR_OFFSETS], unit->str_offsets_base,
			     index, unit->encoding.offset_size, &offset)
		       ? section_string(&unit->file->sections[SECTION_STR], offset)
		       : NULL;
}

const char *unit_string(const struct unit *unit, const struct value *value)
{
	struct dwarf_file *file = unit->file;
	switch (value->form) {
	case DW_FORM_string:
		return section_string(&file->sections[SECTION_INFO], value->u);
	case DW_FORM_strp:
		return section_string(&file->sections[SECTION_STR], value->u);
	case DW_FORM_line_strp:
		return section_string(&file->sections[SECTION_LINE_STR], value->u);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(unit, value->u);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return file->alt ? section_string(&file->alt->sections[SECTION_STR], value->u)
				 : NULL;
	default:
		return NULL;
	}
}

bool unit_reference(const struct unit *unit, const struct value *value,
		    struct dwarf_file **file_ret, uint64_t *ret)
{
	struct dwarf_file *file = unit->file;
	uint64_t offset = value->u;
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (__builtin_add_overflow(offset, unit->offset, &offset) || offset >= unit->end)
			return false;
		break;
	case DW_FORM_ref_addr:
		break;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		file = file->alt;
		break;
	default:
		return false;
	}
	if (!file)
		return false;
	*file_ret = file;
	*ret = offset;
	return true;
}
