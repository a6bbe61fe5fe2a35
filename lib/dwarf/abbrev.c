/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/abbrev.h"

#include <dwarf.h>
#include "dwarf/form.h"
#include "dwarf/leb.h"

/* Limits of a table, which is read and kept completely. Compilers write far smaller ones. */
#define ABBREVS_MAX ((size_t)1 << 20)
#define ATTRIBUTES_MAX ((size_t)1 << 22)

void abbrev_table_deinit(struct abbrev_table *table)
{
	vec_deinit(&table->abbrevs);
	vec_deinit(&table->attributes);
	vec_deinit(&table->steps);
	u64map_deinit(&table->index_of);
	*table = (struct abbrev_table){0};
}

/* Returns the step of a DW_AT_sibling; STEP_NONE: of another attribute or form. */
static enum step_then sibling_step(const struct attribute *attribute)
{
	if (attribute->name != DW_AT_sibling)
		return STEP_NONE;
	switch (attribute->form) {
	case DW_FORM_ref1:
		return STEP_SIBLING1;
	case DW_FORM_ref2:
		return STEP_SIBLING2;
	case DW_FORM_ref4:
		return STEP_SIBLING4;
	case DW_FORM_ref8:
		return STEP_SIBLING8;
	case DW_FORM_ref_udata:
		return STEP_SIBLING_LEB;
	default:
		return STEP_NONE;
	}
}

/* Returns the step of a form without a fixed size; STEP_NONE: the form is unknown. */
static enum step_then variable_step(uint16_t form)
{
	switch (form) {
	case DW_FORM_string:
		return STEP_STRING;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return STEP_BLOCK;
	case DW_FORM_block1:
		return STEP_BLOCK1;
	case DW_FORM_block2:
		return STEP_BLOCK2;
	case DW_FORM_block4:
		return STEP_BLOCK4;
	case DW_FORM_indirect:
		return STEP_INDIRECT;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return STEP_LEB;
	default:
		return STEP_NONE;
	}
}

static bool add_step(struct abbrev_table *table, uint32_t bytes, enum step_then then)
{
	struct step *step = vec_push(&table->steps);
	if (step)
		*step = (struct step){.bytes = (uint16_t)bytes, .then = (uint8_t)then};
	return step != NULL;
}

/* Adds an abbreviation's steps; sets *known_ret to false if a form is unknown. False: out of memory. */
static bool add_steps(struct abbrev_table *table, const struct abbrev *abbrev, bool *known_ret)
{
	uint32_t bytes = 0;
	const struct attribute *attributes = abbrev_attributes(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		if (bytes > UINT16_MAX - 16) {
			if (!add_step(table, bytes, STEP_MORE))
				return false;
			bytes = 0;
		}
		enum step_then then = sibling_step(&attributes[i]);
		int size = attributes[i].size;
		if (then == STEP_NONE && size >= 0) {
			bytes += (uint32_t)size;
			continue;
		}
		if (then == STEP_NONE)
			then = variable_step(attributes[i].form);
		*known_ret &= then != STEP_NONE;
		if (!add_step(table, bytes, then))
			return false;
		bytes = 0;
	}
	return add_step(table, bytes, STEP_END);
}

static bool has(const struct abbrev_table *table, const struct abbrev *abbrev, uint16_t name)
{
	for (uint32_t i = 0; i < abbrev->attribute_count; i++)
		if (table->attributes.items[abbrev->first_attribute + i].name == name)
			return true;
	return false;
}

static enum entry_kind kind_of(const struct abbrev_table *table, const struct abbrev *abbrev)
{
	bool code = has(table, abbrev, DW_AT_low_pc) || has(table, abbrev, DW_AT_ranges);
	switch (abbrev->tag) {
	case DW_TAG_subprogram:
		return code ? ENTRY_FUNCTION : ENTRY_HOLDER;
	case DW_TAG_inlined_subroutine:
		return code ? ENTRY_INLINED : ENTRY_OTHER;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return ENTRY_BLOCK;
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return ENTRY_SCOPE;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return ENTRY_HOLDER;
	default:
		return ENTRY_OTHER;
	}
}

/*
 * Reads attributes up to the pair of zeros. *ok_ret is false if the table ends before it, a form
 * has more than 16 bits, or there are too many attributes. False: out of memory.
 */
static bool read_attributes(struct abbrev_table *table, struct cursor *cursor,
			    const struct encoding *encoding, struct abbrev *abbrev, bool *ok_ret)
{
	while (true) {
		uint64_t name, form;
		int64_t constant = 0;
		*ok_ret = cursor_uleb(cursor, &name) && cursor_uleb(cursor, &form) &&
			  (form != DW_FORM_implicit_const || cursor_sleb(cursor, &constant)) &&
			  form <= UINT16_MAX && table->attributes.count < ATTRIBUTES_MAX;
		if (!*ok_ret || (name == 0 && form == 0))
			return true;
		struct attribute *attribute = vec_push(&table->attributes);
		if (!attribute)
			return false;
		*attribute = (struct attribute){
			.name = name > UINT16_MAX ? 0 : (uint16_t)name,
			.form = (uint16_t)form,
			.size = (int8_t)form_size((uint16_t)form, encoding),
			.constant = constant,
		};
		abbrev->attribute_count++;
	}
}

static bool index_abbrev(struct abbrev_table *table, uint32_t index)
{
	/* If two abbreviations have the same code, the first one is used. */
	return u64map_put(&table->index_of, table->abbrevs.items[index].code, index, NULL) != NULL;
}

static bool add_abbrev(struct abbrev_table *table, const struct abbrev *abbrev)
{
	uint32_t index = (uint32_t)table->abbrevs.count;
	if (!vec_append(&table->abbrevs, *abbrev))
		return false;
	bool follows = abbrev->code == (uint64_t)index + 1;
	if (table->dense && !follows) {
		table->dense = false;
		for (uint32_t i = 0; i < index; i++)
			if (!index_abbrev(table, i))
				return false;
	}
	return table->dense || index_abbrev(table, index);
}

/* Reads an abbreviation. *more_ret: not the end; *ok_ret: not damaged. False: out of memory. */
static bool read_abbrev(struct abbrev_table *table, struct cursor *cursor,
			const struct encoding *encoding, bool *more_ret, bool *ok_ret)
{
	uint64_t tag;
	uint8_t children;
	struct abbrev abbrev = {
		.first_attribute = (uint32_t)table->attributes.count,
		.first_step = (uint32_t)table->steps.count,
	};
	*ok_ret = cursor_uleb(cursor, &abbrev.code);
	*more_ret = *ok_ret && abbrev.code != 0;
	if (!*more_ret)
		return true;
	*ok_ret = cursor_uleb(cursor, &tag) && cursor_u8(cursor, &children) &&
		  table->abbrevs.count < ABBREVS_MAX;
	if (!*ok_ret)
		return true;
	abbrev.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	abbrev.children = children != 0;
	if (!read_attributes(table, cursor, encoding, &abbrev, ok_ret))
		return false;
	if (!*ok_ret)
		return true;
	abbrev.kind = (uint8_t)kind_of(table, &abbrev);
	return add_steps(table, &abbrev, ok_ret) && add_abbrev(table, &abbrev);
}

/* Bytes of the section that are tried first. Most tables have a few KB. */
#define WINDOW_FIRST ((uint64_t)2 << 10)

struct sp_error *abbrev_table_read(struct section *section, uint64_t offset,
				   const struct encoding *encoding, uint64_t last,
				   struct abbrev_table *table, uint64_t *size_ret)
{
	uint64_t all = section_size(section);
	if (offset >= all)
		return section_error(section, offset, "there is no such abbreviation table");
	/* If the table is longer than the window, it is read again with a larger one. */
	for (uint64_t window = WINDOW_FIRST;; window *= 8) {
		uint64_t end = window > all - offset ? all : offset + window;
		struct cursor cursor;
		if (!section_cursor(section, offset, end, &cursor))
			return section_error(section, offset, "cannot be read");
		CLEANUP(abbrev_table_deinit) struct abbrev_table read = {0};
		bool more = true, ok = true;
		read.dense = true;
		while (more && ok) {
			NEED(read_abbrev(&read, &cursor, encoding, &more, &ok));
			if (ok && more && last && vec_last(&read.abbrevs)->code == last)
				break;
		}
		if (ok) {
			*table = read;
			read = (struct abbrev_table){0};
			*size_ret = cursor_offset(&cursor) - offset;
			return NULL;
		}
		if (end == all)
			return section_error(section, offset, "a damaged abbreviation table");
	}
}
