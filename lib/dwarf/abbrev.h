/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Abbreviation tables: what entries of a unit look like, made ready for passing over
 * entries fast. Most entries are passed over: a table has for each shape the distances
 * to step, and where among them it says where its next sibling is.
 */
#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "base/hash.h"
#include "base/vec.h"
#include "dwarf/section.h"

/* Kinds of entries for a reader of functions. */
enum entry_kind {
	ENTRY_OTHER,
	ENTRY_SCOPE,    /* functions may be in it, and it names them: namespace, module */
	ENTRY_FUNCTION, /* with code */
	ENTRY_INLINED,  /* a function inlined here, with code */
	ENTRY_BLOCK,    /* may have both in it */
	ENTRY_HOLDER,   /* without code, but functions may be in it: a class, an abstract function */
};

struct attribute {
	uint16_t name, form; /* DW_AT_*, DW_FORM_* */
	int8_t size;         /* form_size() */
	int64_t constant;    /* value of DW_FORM_implicit_const */
};

/* How to pass over an attribute that `bytes` of others precede. */
struct step {
	uint16_t bytes;
	uint8_t then; /* enum step_then */
};

enum step_then {
	STEP_END,
	STEP_MORE, /* nothing: `bytes` were too many for one step */
	STEP_LEB,
	STEP_STRING,
	STEP_BLOCK, /* sized by a LEB */
	STEP_BLOCK1,
	STEP_BLOCK2,
	STEP_BLOCK4,
	STEP_INDIRECT,
	STEP_SIBLING1,
	STEP_SIBLING2,
	STEP_SIBLING4,
	STEP_SIBLING8,
	STEP_SIBLING_LEB,
};

struct abbrev {
	uint64_t code;
	uint16_t tag; /* DW_TAG_* */
	uint8_t kind; /* enum entry_kind */
	bool children;
	uint32_t first_attribute, attribute_count;
	uint32_t first_step; /* ends with STEP_END */
};

struct abbrev_table {
	VEC(struct abbrev) abbrevs;
	VEC(struct attribute) attributes;
	VEC(struct step) steps;
	bool dense; /* abbrevs.items[i].code == i + 1 */
	struct u64map index_of; /* code -> index, where it is not */
};

/* Facts that decide the size of some forms. */
struct encoding {
	uint8_t address_size, offset_size;
	uint16_t version;
};

/*
 * Reads the table at an offset, up to the abbreviation of code `last`, or, where that is 0, whole.
 * *size_ret is what was read. Fails with SP_ERROR_FORMAT where it is damaged.
 */
struct sp_error *abbrev_table_read(struct section *section, uint64_t offset, bool swap,
				   const struct encoding *encoding, uint64_t last,
				   struct abbrev_table *table, uint64_t *size_ret) SP_MUST_CHECK;
void abbrev_table_deinit(struct abbrev_table *table);

/* Its first attribute; NULL where it has none. */
static inline const struct attribute *abbrev_attributes(const struct abbrev_table *table,
							const struct abbrev *abbrev)
{
	return abbrev->attribute_count ? &table->attributes.items[abbrev->first_attribute] : NULL;
}

static inline const struct abbrev *abbrev_find(const struct abbrev_table *table, uint64_t code)
{
	if (code - 1 < table->abbrevs.count && table->dense)
		return &table->abbrevs.items[code - 1];
	const uint32_t *index = table->dense ? NULL : u64map_find(&table->index_of, code);
	return index ? &table->abbrevs.items[*index] : NULL;
}

#endif
