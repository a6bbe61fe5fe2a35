/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/entry_ranges.h"

#include <dwarf.h>
#include "dwarf/leb.h"

/* Longest entry of a range list: a byte, and two LEB128 numbers or addresses. */
#define ENTRY_MAX 24

/* Finds the list of DW_FORM_rnglistx: an index into the table of offsets at DW_AT_rnglists_base. */
static bool indexed_list(const struct unit *unit, uint64_t index, uint64_t *ret)
{
	uint64_t offset;
	return section_entry(&unit->file->sections[SECTION_RNGLISTS], unit->rnglists_base, index,
			     unit->encoding.offset_size, &offset) &&
	       !__builtin_add_overflow(offset, unit->rnglists_base, ret);
}

static bool is_constant(uint16_t form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return true;
	default:
		return false;
	}
}

static bool is_code(const struct unit *unit, uint64_t vaddr)
{
	return code_map_has(unit->main->code, vaddr);
}

static void begin_list(const struct value *list, struct entry_ranges *ranges)
{
	const struct unit *unit = ranges->unit;
	bool ok = true;
	/* Units of several sections have the base 0: offsets are then addresses. */
	ranges->base = unit->has_low_pc ? unit->low_pc : 0;
	ranges->removed = ranges->base && !is_code(unit, ranges->base);
	if (unit->encoding.version >= 5) {
		ranges->section = &unit->file->sections[SECTION_RNGLISTS];
		ok = list->form == DW_FORM_rnglistx
			     ? indexed_list(unit, list->u, &ranges->at)
			     : !__builtin_add_overflow(list->u, unit->rnglists_start, &ranges->at);
	} else {
		/*
		 * Offsets in a split file are relative to DW_AT_GNU_ranges_base of its skeleton.
		 * Offsets in the skeleton itself are not.
		 */
		uint64_t base = unit->file->split ? unit->ranges_base : 0;
		ranges->section = &unit->main->sections[SECTION_RANGES];
		ok = !__builtin_add_overflow(list->u, base, &ranges->at);
	}
	ranges->ended = ranges->damaged = !ok;
}

void ranges_begin(const struct unit *unit, const struct value *low, const struct value *high,
		  const struct value *list, struct entry_ranges *ret)
{
	*ret = (struct entry_ranges){.unit = unit};
	if (list->form) {
		begin_list(list, ret);
		return;
	}
	bool ok = unit_address(unit, low, &ret->low);
	if (ok && is_constant(high->form))
		ok = !__builtin_add_overflow(ret->low, high->u, &ret->high);
	else
		ok = ok && unit_address(unit, high, &ret->high);
	ret->ended = !ok || ret->low >= ret->high || !is_code(unit, ret->low);
}

/* Adds the base to an entry's offsets. The range is empty if its code was removed. */
static void add_base(const struct entry_ranges *ranges, uint64_t low, uint64_t high,
		     uint64_t *low_ret, uint64_t *high_ret)
{
	if (ranges->removed || __builtin_add_overflow(low, ranges->base, low_ret) ||
	    __builtin_add_overflow(high, ranges->base, high_ret))
		*low_ret = *high_ret = 0;
}

/* Returns the end of a range; 0 if the sum is too large, as it is for removed code at -1. */
static uint64_t end_of(uint64_t low, uint64_t size)
{
	uint64_t end;
	return __builtin_add_overflow(low, size, &end) ? 0 : end;
}

static bool set_base(struct entry_ranges *ranges, uint64_t base)
{
	ranges->base = base;
	ranges->removed = !is_code(ranges->unit, base);
	return true;
}

/* Reads one entry of .debug_ranges. False at the end of the list. */
static bool next_old(struct entry_ranges *ranges, struct cursor *cursor, uint64_t *low_ret,
		     uint64_t *high_ret)
{
	unsigned int size = ranges->unit->encoding.address_size;
	uint64_t low, high, largest = size == 8 ? UINT64_MAX : UINT32_MAX;
	*low_ret = *high_ret = 0;
	if (!cursor_unsigned(cursor, size, &low) || !cursor_unsigned(cursor, size, &high)) {
		ranges->damaged = true;
		return false;
	}
	if (low == 0 && high == 0)
		return false;
	/* Both ends may be marked as removed. */
	if (low == largest && high == largest)
		return true;
	if (low == largest) {
		ranges->base = high;
		/* A base of 0 may be written to make the offsets that follow addresses. */
		ranges->removed = high && !is_code(ranges->unit, high);
		return true;
	}
	add_base(ranges, low, high, low_ret, high_ret);
	return true;
}

/* Reads the operands of an entry of .debug_rnglists; false if they are truncated or invalid. */
static bool operands(struct entry_ranges *ranges, struct cursor *cursor, uint8_t kind,
		     uint64_t *low, uint64_t *high)
{
	const struct unit *unit = ranges->unit;
	unsigned int size = unit->encoding.address_size;
	uint64_t first = 0, second = 0;
	bool ok;
	*low = *high = 0;
	switch (kind) {
	case DW_RLE_base_addressx:
		return cursor_uleb(cursor, &first) && unit_indexed_address(unit, first, &first) &&
		       set_base(ranges, first);
	case DW_RLE_base_address:
		return cursor_unsigned(cursor, size, &first) && set_base(ranges, first);
	case DW_RLE_startx_endx:
		return cursor_uleb(cursor, &first) && cursor_uleb(cursor, &second) &&
		       unit_indexed_address(unit, first, low) &&
		       unit_indexed_address(unit, second, high);
	case DW_RLE_startx_length:
		ok = cursor_uleb(cursor, &first) && cursor_uleb(cursor, &second) &&
		     unit_indexed_address(unit, first, low);
		*high = end_of(*low, second);
		return ok;
	case DW_RLE_offset_pair:
		ok = cursor_uleb(cursor, &first) && cursor_uleb(cursor, &second);
		add_base(ranges, first, second, low, high);
		return ok;
	case DW_RLE_start_end:
		return cursor_unsigned(cursor, size, low) && cursor_unsigned(cursor, size, high);
	case DW_RLE_start_length:
		ok = cursor_unsigned(cursor, size, low) && cursor_uleb(cursor, &second);
		*high = end_of(*low, second);
		return ok;
	default:
		return false;
	}
}

static bool next_new(struct entry_ranges *ranges, struct cursor *cursor, uint64_t *low_ret,
		     uint64_t *high_ret)
{
	uint8_t kind;
	if (!cursor_u8(cursor, &kind)) {
		ranges->damaged = true;
		return false;
	}
	if (kind == DW_RLE_end_of_list)
		return false;
	if (!operands(ranges, cursor, kind, low_ret, high_ret)) {
		ranges->damaged = true;
		return false;
	}
	return true;
}

bool ranges_next(struct entry_ranges *ranges, uint64_t *low_ret, uint64_t *high_ret)
{
	if (!ranges->section) {
		bool first = !ranges->ended;
		ranges->ended = true;
		*low_ret = ranges->low;
		*high_ret = ranges->high;
		return first;
	}
	uint64_t size = section_size(ranges->section);
	while (!ranges->ended) {
		struct cursor cursor;
		uint64_t left = ranges->at < size ? size - ranges->at : 0;
		uint64_t end = ranges->at + (left < ENTRY_MAX ? left : ENTRY_MAX);
		ranges->damaged =
			left == 0 || !section_cursor(ranges->section, ranges->at, end, &cursor);
		ranges->ended = ranges->damaged ||
				!(ranges->unit->encoding.version >= 5
					  ? next_new(ranges, &cursor, low_ret, high_ret)
					  : next_old(ranges, &cursor, low_ret, high_ret));
		if (ranges->ended)
			return false;
		ranges->at = cursor_offset(&cursor);
		if (*low_ret < *high_ret && is_code(ranges->unit, *low_ret))
			return true;
	}
	return false;
}
