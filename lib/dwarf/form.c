/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/form.h"

#include <dwarf.h>
#include "dwarf/leb.h"

int form_size(uint16_t form, const struct encoding *encoding)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return encoding->address_size;
	case DW_FORM_ref_addr:
		return encoding->version <= 2 ? encoding->address_size : encoding->offset_size;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return encoding->offset_size;
	default:
		return -1;
	}
}

static bool skip_block(struct cursor *cursor, unsigned int size_bytes)
{
	uint64_t size;
	bool ok = size_bytes ? cursor_unsigned(cursor, size_bytes, &size)
			     : cursor_uleb(cursor, &size);
	return ok && cursor_skip(cursor, size);
}

/* Reads a value of any form but blocks and DW_FORM_indirect. */
static bool read_number(struct cursor *cursor, const struct attribute *attribute, uint64_t *ret)
{
	int64_t s;
	const char *text;
	switch (attribute->form) {
	case DW_FORM_flag_present:
		*ret = 1;
		return true;
	case DW_FORM_implicit_const:
		*ret = (uint64_t)attribute->constant;
		return true;
	case DW_FORM_sdata:
		if (!cursor_sleb(cursor, &s))
			return false;
		*ret = (uint64_t)s;
		return true;
	case DW_FORM_string:
		*ret = cursor_offset(cursor);
		return cursor_text(cursor, &text);
	case DW_FORM_data16:
		*ret = 0;
		return cursor_skip(cursor, 16);
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return cursor_uleb(cursor, ret);
	default:
		break;
	}
	return attribute->size > 0 && cursor_unsigned(cursor, (unsigned int)attribute->size, ret);
}

bool value_read_slowly(struct cursor *cursor, const struct attribute *attribute,
		       const struct encoding *encoding, struct value *ret)
{
	ret->form = attribute->form;
	ret->u = 0;
	switch (attribute->form) {
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return skip_block(cursor, 0);
	case DW_FORM_block1:
		return skip_block(cursor, 1);
	case DW_FORM_block2:
		return skip_block(cursor, 2);
	case DW_FORM_block4:
		return skip_block(cursor, 4);
	case DW_FORM_indirect: {
		uint64_t form;
		struct attribute real = {.name = attribute->name};
		/* The real form may not be indirect, nor have its value in the abbreviation table. */
		if (!cursor_uleb(cursor, &form) || form == DW_FORM_indirect ||
		    form == DW_FORM_implicit_const || form > UINT16_MAX)
			return false;
		real.form = (uint16_t)form;
		real.size = (int8_t)form_size(real.form, encoding);
		return value_read(cursor, &real, encoding, ret);
	}
	default:
		return read_number(cursor, attribute, &ret->u);
	}
}

static bool take_step(struct cursor *cursor, enum step_then then, const struct encoding *encoding,
		      uint64_t *sibling_ret)
{
	const char *text;
	struct value value;
	static const struct attribute indirect = {.form = DW_FORM_indirect, .size = -1};
	switch (then) {
	case STEP_END:
	case STEP_NONE:
	case STEP_MORE:
		return true;
	case STEP_LEB:
		return cursor_skip_leb(cursor);
	case STEP_STRING:
		return cursor_text(cursor, &text);
	case STEP_BLOCK:
		return skip_block(cursor, 0);
	case STEP_BLOCK1:
		return skip_block(cursor, 1);
	case STEP_BLOCK2:
		return skip_block(cursor, 2);
	case STEP_BLOCK4:
		return skip_block(cursor, 4);
	case STEP_INDIRECT:
		return value_read(cursor, &indirect, encoding, &value);
	case STEP_SIBLING1:
		return cursor_unsigned(cursor, 1, sibling_ret);
	case STEP_SIBLING2:
		return cursor_unsigned(cursor, 2, sibling_ret);
	case STEP_SIBLING4:
		return cursor_unsigned(cursor, 4, sibling_ret);
	case STEP_SIBLING8:
		return cursor_unsigned(cursor, 8, sibling_ret);
	case STEP_SIBLING_LEB:
		return cursor_uleb(cursor, sibling_ret);
	}
	return false;
}

bool entry_skip(struct cursor *cursor, const struct abbrev_table *table,
		const struct abbrev *abbrev, const struct encoding *encoding,
		uint64_t *sibling_ret)
{
	const struct step *step = table->steps.items + abbrev->first_step;
	for (;; step++) {
		if (!cursor_skip(cursor, step->bytes))
			return false;
		if (step->then == STEP_END)
			return true;
		if (!take_step(cursor, (enum step_then)step->then, encoding, sibling_ret))
			return false;
	}
}
