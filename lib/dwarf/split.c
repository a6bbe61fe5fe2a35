/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of a .dwp (.debug_cu_index) is a hash table from a unit's id to a row of a table. The row
 * has, for each section, offset and size of the unit's part.
 */
#include "dwarf/split.h"

#include <dwarf.h>
#include "base/diagnosis.h"
#include "base/format.h"
#include "dwarf/leb.h"

#define COLUMNS_MAX 16
/* Section numbers of columns (DW_SECT_*). GNU's version 2 uses other numbers for newer sections. */
#define COLUMN_INFO 1
#define COLUMN_ABBREV 3
#define COLUMN_STR_OFFSETS 6
#define COLUMN_RNGLISTS 8

bool split_is_skeleton(const struct unit *unit)
{
	return unit->has_dwo_id && unit->dwo_name.form && !unit->file->split;
}

struct package_header {
	uint32_t version, columns, units, slots;
	uint64_t hashes, rows, ids, offsets; /* offsets of the tables in the section */
};

static bool read_package_header(struct cursor *cursor, struct package_header *ret)
{
	/* The version has 32 bits in version 2, and 16 bits plus padding in version 5. */
	if (!cursor_u32(cursor, &ret->version) || !cursor_u32(cursor, &ret->columns) ||
	    !cursor_u32(cursor, &ret->units) || !cursor_u32(cursor, &ret->slots))
		return false;
	if (cursor->swap && ret->version > UINT16_MAX)
		ret->version >>= 16;
	if ((ret->version != 2 && (ret->version & 0xffff) != 5) || ret->slots == 0 ||
	    (ret->slots & (ret->slots - 1)) || ret->columns == 0 || ret->columns > COLUMNS_MAX)
		return false;
	ret->hashes = cursor_offset(cursor);
	ret->rows = ret->hashes + 8 * (uint64_t)ret->slots;
	ret->ids = ret->rows + 4 * (uint64_t)ret->slots;
	ret->offsets = ret->ids + 4 * (uint64_t)ret->columns;
	return true;
}

static bool at(const struct cursor *section, uint64_t offset, struct cursor *ret)
{
	*ret = *section;
	ret->pos = ret->begin;
	return cursor_skip(ret, offset);
}

/* Finds the row of a unit in the package's index, counted from 1; false if it has none. */
static bool find_row(const struct cursor *section, const struct package_header *header,
		     uint64_t id, uint32_t *ret)
{
	uint64_t mask = header->slots - 1, slot = id & mask, step = (id >> 32 & mask) | 1;
	for (uint32_t tries = 0; tries < header->slots; tries++) {
		struct cursor hash, row;
		uint64_t found;
		if (!at(section, header->hashes + 8 * slot, &hash) || !cursor_u64(&hash, &found) ||
		    !at(section, header->rows + 4 * slot, &row) || !cursor_u32(&row, ret))
			return false;
		if (*ret == 0)
			return false;
		if (found == id)
			return *ret <= header->units;
		slot = (slot + step) & mask;
	}
	return false;
}

static bool find_part(struct dwarf_file *package, uint64_t id, struct package_part *ret)
{
	struct section *section = &package->sections[SECTION_CU_INDEX];
	struct cursor whole, ids, offsets;
	struct package_header header;
	uint32_t row;
	if (!section_cursor(section, 0, section_size(section), &whole))
		return false;
	struct cursor cursor = whole;
	if (!read_package_header(&cursor, &header) || !find_row(&whole, &header, id, &row) ||
	    !at(&whole, header.ids, &ids) ||
	    !at(&whole, header.offsets + 4 * (uint64_t)(row - 1) * header.columns, &offsets))
		return false;
	*ret = (struct package_part){0};
	for (uint32_t i = 0; i < header.columns; i++) {
		uint32_t column, offset;
		if (!cursor_u32(&ids, &column) || !cursor_u32(&offsets, &offset))
			return false;
		if (column == COLUMN_INFO)
			ret->info = offset;
		else if (column == COLUMN_ABBREV)
			ret->abbrev = offset;
		else if (column == COLUMN_STR_OFFSETS)
			ret->str_offsets = offset;
		else if (column == COLUMN_RNGLISTS && header.version != 2)
			ret->rnglists = offset;
	}
	return true;
}

/* Search for a skeleton's unit. */
struct unit_search {
	struct dwarf_reader *reader;
	const struct unit *skeleton;
	struct unit *unit; /* result */
	bool found;
};

/* Reads the unit at an offset. It is the result if its id is the skeleton's. */
static struct sp_error *try_unit(struct unit_search *search, struct dwarf_file *file, uint64_t offset,
				 const struct package_part *part, uint64_t *end_ret)
{
	struct unit unit;
	*end_ret = UINT64_MAX;
	struct sp_error *error = unit_read_header(file, offset, &unit);
	if (error)
		return reader_damage(search->reader, error);
	*end_ret = unit.end;
	if (unit.type != DW_UT_split_compile && unit.type != DW_UT_compile)
		return NULL;
	unit.abbrev_offset += part->abbrev;
	unit.str_offsets_base = part->str_offsets;
	unit.rnglists_start = part->rnglists;
	error = unit_read_top(search->reader, &unit);
	if (error || !unit.top_known || !unit.has_dwo_id || unit.dwo_id != search->skeleton->dwo_id)
		return error;

	/* Copies the values of a split unit that only its skeleton has. */
	unit.main = search->skeleton->main;
	unit.has_low_pc = search->skeleton->has_low_pc;
	unit.low_pc = search->skeleton->low_pc;
	unit.addr_base = search->skeleton->addr_base;
	unit.ranges_base = search->skeleton->ranges_base;
	unit.has_lines = search->skeleton->has_lines;
	unit.line_offset = search->skeleton->line_offset;
	*search->unit = unit;
	search->found = true;
	return NULL;
}

/* Opens "DIRECTORY/NAME" below `symfs`; *ret is NULL if there is none. */
static struct sp_error *open_at(const char *symfs, const char *directory, const char *name,
				struct image **ret)
{
	const char *slash = directory[0] ? "/" : "";
	CLEANUP_FREE char *path = format_text("%s%s%s", directory, slash, name);
	NEED(path);
	*ret = NULL;
	return error_if_no_memory(image_open_in(symfs, path, ret));
}

static struct sp_error *open_object(const struct split_places *places,
				    const struct unit *skeleton, struct dwarf_file **ret)
{
	const char *name = unit_string(skeleton, &skeleton->dwo_name);
	const char *directory = unit_string(skeleton, &skeleton->comp_dir) ?: "";
	struct image *image = NULL;
	*ret = NULL;
	if (!name || !*name)
		return NULL;
	if (*name == '/')
		directory = "";
	struct sp_error *error = NULL;
	if (places->symfs && *places->symfs)
		error = open_at(places->symfs, directory, name, &image);
	if (!error && !image)
		error = open_at(NULL, directory, name, &image);
	if (error || !image)
		return error;
	uint32_t number = __atomic_add_fetch(places->next_number, 1, __ATOMIC_RELAXED);
	return dwarf_file_new(NULL, image, true, number, ret);
}

/* Searches a .dwo for the skeleton's unit, which may come after type units. */
static struct sp_error *search_object(struct unit_search *search, struct dwarf_file *file)
{
	static const struct package_part whole;
	uint64_t size = section_size(&file->sections[SECTION_INFO]), next;
	struct sp_error *error = NULL;
	for (uint64_t offset = 0;
	     !error && !search->found && offset < size && search->reader->split_units-- > 0;
	     offset = next)
		error = try_unit(search, file, offset, &whole, &next);
	return error;
}

static struct sp_error *missing(struct dwarf_reader *reader, const struct unit *skeleton)
{
	const char *name = unit_string(skeleton, &skeleton->dwo_name) ?: "?";
	struct sp_error *error =
		error_new(SP_ERROR_NOT_FOUND, "%s: its debug information in %s is not there, "
			  "or is of another build", skeleton->file->image->path, name);
	return reader_damage(reader, error_set_remedy(error, "keep the .dwo files, or pack them "
						      "with dwp next to the binary"));
}

struct sp_error *split_open(struct dwarf_reader *reader, const struct split_places *places,
			    const struct unit *skeleton, struct dwarf_file **file_ret,
			    struct unit *ret)
{
	struct unit_search search = {.reader = reader, .skeleton = skeleton, .unit = ret};
	struct package_part part;
	struct sp_error *error = NULL;
	uint64_t end;
	*file_ret = NULL;
	if (places->package && find_part(places->package, skeleton->dwo_id, &part))
		error = try_unit(&search, places->package, part.info, &part, &end);
	if (error || search.found)
		return error;
	CLEANUP(cleanup_dwarf_file_free) struct dwarf_file *file = NULL;
	error = open_object(places, skeleton, &file);
	if (error)
		return reader_damage(reader, error);
	if (file)
		error = search_object(&search, file);
	if (error || search.found) {
		*file_ret = take_ptr(file);
		return error;
	}
	*ret = *skeleton;
	return missing(reader, skeleton);
}
