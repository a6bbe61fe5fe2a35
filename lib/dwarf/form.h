/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The encodings of attribute values. What a value means is its unit's to say. */
#ifndef DWARF_FORM_H
#define DWARF_FORM_H

#include "dwarf/abbrev.h"

/* Bytes that a form takes; -1 where that depends on the value, or it is not known. */
int form_size(uint16_t form, const struct encoding *encoding);

/* The value of an attribute. */
struct value {
	uint16_t form; /* DW_FORM_*, never DW_FORM_indirect; 0: absent */
	uint64_t u;    /* the number, index or offset; of text in place, where it is in the section */
};

/*
 * Reads it, or passes over it (blocks have no value). False where it does not fit, or its
 * form is not known. The cursor's offset is that of its section.
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

/* Passes over an entry's attributes. *sibling_ret is its sibling's distance, or is left as it is. */
bool entry_skip(struct cursor *cursor, const struct abbrev_table *table,
		const struct abbrev *abbrev, const struct encoding *encoding,
		uint64_t *sibling_ret);

#endif
