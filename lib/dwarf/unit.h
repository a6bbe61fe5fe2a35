/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A unit of debug information: its header, and the attributes of its first entry (DIE), which hold
 * for the whole unit. Each thread reads units by its own struct reader, which caches abbreviation
 * tables and units.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "base/arena.h"
#include "base/strtab.h"
#include "dwarf/abbrev.h"
#include "dwarf/file.h"
#include "dwarf/form.h"
#include "dwarf/shared_strings.h"

struct unit {
	struct dwarf_file *file; /* file of its entries */
	struct dwarf_file *main; /* file of its addresses and lines: of a split unit, the skeleton's */
	uint64_t offset, end, entries; /* in SECTION_INFO */
	struct encoding encoding;
	uint8_t type; /* DW_UT_*; in DWARF 4 and older, derived from the first entry's tag */
	uint64_t abbrev_offset;
	uint64_t dwo_id;
	bool has_dwo_id;
	bool top_known; /* the following members, from the first entry, are set */
	struct value low_pc_value, high_pc, ranges, name, comp_dir, dwo_name;
	bool has_low_pc, has_lines;
	uint64_t low_pc, line_offset;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint64_t language; /* DW_LANG_*; 0: not known */
	uint64_t rnglists_start; /* in a .dwp: begin of the unit's part of SECTION_RNGLISTS; else 0 */
};

#define TABLE_SLOTS 256
#define UNIT_SLOTS 256

struct table_slot {
	uint32_t file; /* its number; 0: the slot is empty */
	uint64_t offset;
	struct encoding encoding;
	struct abbrev_table table;
};

struct unit_slot {
	uint32_t file; /* its number; 0: the slot is empty */
	struct unit unit;
};

/* Copy of the current unit's entries. They are read once, so the file's section need not keep them. */
struct held_entries {
	uint32_t file; /* number of the unit's file; 0: no entries are held */
	uint64_t begin, end;
	uint8_t *bytes;
	size_t capacity;
};

struct dwarf_frame;

struct entry_name {
	const char *name;  /* NULL: the entry has none */
	uint32_t declared; /* line of its declaration, if it has no linkage name; 0: unknown */
};

struct reader {
	struct table_slot tables[TABLE_SLOTS];
	struct unit_slot units[UNIT_SLOTS];
	int64_t table_bytes;  /* bytes of abbreviations left to read; only a hostile file exceeds it */
	int64_t line_bytes;   /* bytes of line programs left to run */
	int64_t string_bytes; /* bytes of names and paths left to keep */
	int64_t split_units;  /* number of .dwo files left to try */
	int64_t search_bytes; /* bytes of entries left to skip in the search for names */
	struct u64map name_index; /* file and entry -> index in `names` */
	VEC(struct entry_name) names; /* names of functions */
	struct shared_strings *texts;   /* names and paths; borrowed, as it is shared */
	struct held_entries held;
	struct arena nodes;    /* memory of the current unit */
	struct arena frames;   /* memory for all units */
	VEC(struct dwarf_frame *) list; /* all frames in `frames` */
	struct sp_error *damage; /* first damage found; NULL: none */
	uint64_t damages;        /* number of damaged places found */
};

/* Makes a reader with limits in proportion to the file's sections; NULL when out of memory. */
struct reader *reader_new(const struct dwarf_file *file, struct shared_strings *texts);
void reader_free(struct reader *reader);

/* Counts damage, keeps the first error, and returns NULL; returns `error` if it is out of memory. */
struct sp_error *reader_damage(struct reader *reader, struct sp_error *error) SP_MUST_CHECK;

/* Copies a string to the shared strings; *ret is NULL if the limit of string bytes is exceeded. */
struct sp_error *reader_string(struct reader *reader, const char *text, size_t size,
			       const char **ret) SP_MUST_CHECK;

/* Reads all entries of a unit into `held`, in place of the last unit's, if there is memory for them. */
void reader_hold(struct reader *reader, const struct unit *unit);

/* Makes a cursor over [offset, end) of the unit's entries, held or not; false if reading fails. */
bool reader_entries(struct reader *reader, const struct unit *unit, uint64_t offset, uint64_t end,
		    struct cursor *ret);

/* Returns the unit's abbreviation table, valid until the next call; NULL: damaged, which is noted. */
struct sp_error *reader_abbrevs(struct reader *reader, const struct unit *unit,
				const struct abbrev_table **ret) SP_MUST_CHECK;

/* Reads a unit's header only. Fails with SP_ERROR_FORMAT. */
struct sp_error *unit_read_header(struct dwarf_file *file, uint64_t offset,
				  struct unit *ret) SP_MUST_CHECK;

/* Reads the unit's first entry. If it is damaged, that is noted, and top_known stays false. */
struct sp_error *unit_read_top(struct reader *reader, struct unit *unit) SP_MUST_CHECK;

/* Finds the unit that contains an entry, and reads its top; NULL: none. Valid until the next call. */
struct sp_error *reader_unit(struct reader *reader, struct dwarf_file *file, uint64_t offset,
			     const struct unit **ret) SP_MUST_CHECK;

/* Convert a value to an address, string or reference. False, or NULL, if its form is of another class. */
bool unit_address(const struct unit *unit, const struct value *value, uint64_t *ret);
const char *unit_string(const struct unit *unit, const struct value *value);
bool unit_reference(const struct unit *unit, const struct value *value, struct dwarf_file **file_ret,
		    uint64_t *ret);

/* Reads an address by its index in the unit's part of .debug_addr. */
bool unit_indexed_address(const struct unit *unit, uint64_t index, uint64_t *ret);

static inline struct section *unit_info(const struct unit *unit)
{
	return &unit->file->sections[SECTION_INFO];
}

#endif
