/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/unit_index.h"

#include <dwarf.h>
#include <string.h>
#include "dwarf/leb.h"
#include "dwarf/line.h"
#include "dwarf/ranges.h"

struct search {
	struct reader *reader;
	struct dwarf_file *file;
	const uint64_t *vaddrs;
	size_t count;
	uint64_t *units_of;
	size_t open;         /* number of vaddrs without a unit yet */
	int64_t work;        /* steps left; only a hostile file exceeds it */
	uint64_t claimant;   /* offset of the unit that has the ranges read now */
	struct u64map listed; /* units that are in .debug_aranges */
};

static void claim(void *arg, uint64_t low, uint64_t high)
{
	struct search *search = arg;
	const uint64_t *vaddrs = search->vaddrs;
	if (high <= vaddrs[0] || low > vaddrs[search->count - 1] ||
	    !code_map_has(search->file->code, low))
		return;
	size_t first = sorted_below(vaddrs, search->count, , low);
	for (; first < search->count && vaddrs[first] < high && search->work > 0; first++) {
		search->work--;
		if (search->units_of[first] != UNIT_NONE)
			continue;
		search->units_of[first] = search->claimant;
		search->open--;
	}
}

/* Reads the (address, size) pairs of a set. Size 0 is the end, or code that the linker removed. */
static void read_pairs(struct search *search, struct cursor *cursor, uint8_t address_size)
{
	uint64_t low, size, high;
	while (cursor_unsigned(cursor, address_size, &low) &&
	       cursor_unsigned(cursor, address_size, &size))
		if (size > 0 && !__builtin_add_overflow(low, size, &high))
			claim(search, low, high);
}

/* Reads a set of .debug_aranges, which has the ranges of one unit. False if it is damaged. */
static bool read_set(struct search *search, struct cursor *cursor, bool *memory_ret)
{
	uint64_t length;
	uint16_t version;
	uint8_t offset_size, address_size, segment_size;
	const uint8_t *start = cursor->pos;
	*memory_ret = true;
	if (!cursor_length(cursor, &length, &offset_size) || length > cursor_left(cursor))
		return false;
	struct cursor set = *cursor;
	set.end = set.pos + length;
	cursor->pos += length;
	if (!cursor_u16(&set, &version) || version != 2 ||
	    !cursor_unsigned(&set, offset_size, &search->claimant) ||
	    !cursor_u8(&set, &address_size) || !cursor_u8(&set, &segment_size) ||
	    (address_size != 4 && address_size != 8) || segment_size != 0)
		return false;
	size_t pair = 2u * address_size, done = (size_t)(set.pos - start);
	if (!cursor_skip(&set, (pair - done % pair) % pair))
		return false;
	*memory_ret = u64map_put(&search->listed, search->claimant, 0, NULL) != NULL;
	read_pairs(search, &set, address_size);
	return true;
}

static struct sp_error *read_aranges(struct search *search)
{
	struct section *section = &search->file->sections[SECTION_ARANGES];
	uint64_t size = section_size(section);
	struct cursor cursor;
	bool memory = true;
	if (size == 0)
		return NULL;
	section_expect(section, size);
	if (!section_cursor(section, 0, size, search->file->image->swap, &cursor))
		return reader_damage(search->reader, section_error(section, 0, "cannot be read"));
	while (memory && cursor_left(&cursor) > 0) {
		uint64_t at = cursor_offset(&cursor);
		if (!read_set(search, &cursor, &memory))
			return reader_damage(search->reader,
					     section_error(section, at, "a damaged set"));
	}
	return memory ? NULL : error_no_memory();
}

/* Finds the code of a unit without ranges by its line table. */
static struct sp_error *ask_lines(struct search *search, const struct unit *unit)
{
	struct line_table table;
	struct sp_error *error = line_table_open(search->reader, unit, &table);
	if (!error)
		error = line_table_extents(search->reader, &table, claim, search);
	line_table_close(&table);
	return error;
}

static struct sp_error *ask_unit(struct search *search, uint64_t offset)
{
	struct unit unit;
	struct sp_error *error = unit_read_header(search->file, offset, &unit);
	if (error)
		return reader_damage(search->reader, error);
	if (unit.type == DW_UT_type || unit.type == DW_UT_partial)
		return NULL;
	error = unit_read_top(search->reader, &unit);
	if (error || !unit.top_known ||
	    (unit.type != DW_UT_compile && unit.type != DW_UT_skeleton))
		return error;
	search->claimant = offset;
	bool said = unit.ranges.form || (unit.low_pc_value.form && unit.high_pc.form);
	if (!said)
		return unit.has_lines ? ask_lines(search, &unit) : NULL;
	struct ranges ranges;
	uint64_t low, high;
	ranges_begin(&unit, &unit.low_pc_value, &unit.high_pc, &unit.ranges, &ranges);
	while (search->work-- > 0 && ranges_next(&ranges, &low, &high))
		claim(search, low, high);
	return NULL;
}

static struct sp_error *ask_units(struct search *search)
{
	struct dwarf_file *file = search->file;
	struct sp_error *damage;
	NEED(dwarf_file_index(file, &damage));
	struct sp_error *error = reader_damage(search->reader, damage);
	for (size_t i = 0; !error && i < file->units.count && search->open > 0; i++)
		if (!u64map_find(&search->listed, file->units.items[i]))
			error = ask_unit(search, file->units.items[i]);
	return error;
}

struct sp_error *unit_index_find(struct reader *reader, struct dwarf_file *file,
				 const uint64_t *vaddrs, size_t count, uint64_t *units_of)
{
	for (size_t i = 0; i < count; i++)
		units_of[i] = UNIT_NONE;
	if (count == 0)
		return NULL;
	struct search search = {
		.reader = reader,
		.file = file,
		.vaddrs = vaddrs,
		.count = count,
		.units_of = units_of,
		.open = count,
		.work = 65536 + 256 * (int64_t)count +
			(int64_t)(file->sections[SECTION_ARANGES].size +
				  file->sections[SECTION_RANGES].size +
				  file->sections[SECTION_RNGLISTS].size),
	};
	struct sp_error *error = read_aranges(&search);
	if (!error && search.open > 0)
		error = ask_units(&search);
	u64map_deinit(&search.listed);
	return error;
}
