/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and skips attribute values (DW_FORM_*). unit.h converts them to addresses and strings. */
#pragma once

#include "dwarf/abbrev.h"

/* Size of a form in bytes; -1 if it depends on the value, or the form is not known. */
int form_size(uint16_t form, const struct encoding *encoding);

/* The value of an attribute. */
struct value {
	uint16_t form; /* DW_FORM_*, never DW_FORM_indirect; 0: absent */
	uint64_t u;    /* number, index or offset; of DW_FORM_string, the text's offset in the section */
};

/*
 * Reads a value of any form; blocks and numbers of 16 bytes are skipped and have no value. False
 * if the value reaches past the end, or its form is not known. The cursor's offset must be the
 * offset in the section.
 */
bool value_read_slowly(struct cursor *cursor, const struct attribute *attribute,
		       const struct encoding *encoding, struct value *ret);

static inline bool value_read(struct cursor *cursor, const struct attribute *attribute,
			      const struct encoding *encoding, struct value *ret)
{
	if (attribute->size != 4 || cursor_left(cursor) < 4 || cursor->swap)
		return value_read_slowly(cursor, attribute, encoding, ret);
	uint32_t u32;
	memcpy(&u32, cursor->pos, sizeof(u32));
	cursor->pos += sizeof(u32);
	*ret = (struct value){.form = attribute->form, .u = u32};
	return true;
}

/* Skips an entry's attributes. Sets *sibling_ret to DW_AT_sibling if the entry has it. */
bool entry_skip(struct cursor *cursor, const struct abbrev_table *table,
		const struct abbrev *abbrev, const struct encoding *encoding,
		uint64_t *sibling_ret);
