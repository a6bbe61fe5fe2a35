/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Abbreviation tables (.debug_abbrev): the attributes of each kind of entry (DIE) in a unit. Most
 * entries are skipped. Therefore each abbreviation has a list of steps to skip its attributes fast,
 * and to read DW_AT_sibling on the way.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "dwarf/section.h"

/* Kinds of entries, as far as they matter for finding functions. */
enum entry_kind {
	ENTRY_OTHER,
	ENTRY_SCOPE,    /* unit, namespace or module: may contain functions with code */
	ENTRY_FUNCTION, /* function with code */
	ENTRY_INLINED,  /* function inlined here, with code */
	ENTRY_BLOCK,    /* lexical block: may contain functions and inlined functions */
	ENTRY_HOLDER,   /* class or abstract function: no code, but may contain functions */
};

struct attribute {
	uint16_t name, form; /* DW_AT_*, DW_FORM_* */
	int8_t size;         /* form_size() */
	int64_t constant;    /* value of DW_FORM_implicit_const */
};

/* A step of skipping an entry's attributes: first `bytes` bytes, then one attribute as in `then`. */
struct step {
	uint16_t bytes;
	uint8_t then; /* enum step_then */
};

enum step_then {
	STEP_END,
	STEP_MORE, /* no attribute: the next step continues, as `bytes` has only 16 bits */
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
	STEP_NONE, /* in no table */
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
	struct u64map index_of; /* code -> index, if the table is not dense */
};

/* Properties of a unit on which the size of some forms depends. */
struct encoding {
	uint8_t address_size, offset_size;
	uint16_t version;
};

/*
 * Reads the table at an offset, up to the abbreviation with code `last`; 0: all of it. *size_ret is
 * the number of bytes read. Fails with SP_ERROR_FORMAT if the table is damaged.
 */
struct sp_error *abbrev_table_read(struct section *section, uint64_t offset,
				   const struct encoding *encoding, uint64_t last,
				   struct abbrev_table *table, uint64_t *size_ret) SP_MUST_CHECK;
void abbrev_table_deinit(struct abbrev_table *table);

/* Returns an abbreviation's first attribute; NULL if it has none. */
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
