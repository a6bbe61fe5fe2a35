/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A unit of debug information: its header, and the attributes of its first entry (DIE), which hold
 * for the whole unit. Each thread reads units by its own struct dwarf_reader, which caches
 * abbreviation tables and units.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include "base/arena.h"
#include "base/strtab.h"
#include "dwarf/abbrev.h"
#include "dwarf/form.h"
#include "dwarf/section.h"

/*
 * Names and paths found by all readers, each stored once: most inlined functions occur in many
 * units. Thread-safe.
 */

/* Number of shards, each with its lock: readers seldom wait for each other. */
#define STRING_SHARDS 32

struct shared_strings {
	struct {
		pthread_mutex_t lock;
		struct strtab strings;
	} shards[STRING_SHARDS];
};

void shared_strings_init(struct shared_strings *texts);

void shared_strings_deinit(struct shared_strings *texts);

/*
 * The sections of one file with debug information: a binary or its debug file, a DWZ file (shared
 * by several files), a .dwo, or a .dwp that packs .dwo files.
 */

struct dwarf_file {
	struct image *image;
	bool split;       /* a .dwo or .dwp */
	uint32_t number;  /* not 0; a struct dwarf never uses it again for another file */
	struct section sections[SECTION_COUNT];
	const struct code_map *code; /* ranges that begin elsewhere are of removed code; borrowed */
	struct dwarf_file *alt; /* DWZ's file; NULL: none, or not found; borrowed */
	pthread_mutex_t units_lock;
	bool units_known;         /* `units` is set; protected by the lock */
	VEC(uint64_t) units;      /* offsets of all units in SECTION_INFO */
};

/*
 * Opens the sections of `image`. Takes ownership of the image, even if it fails. `ctx` is for the
 * cache of inflated sections; NULL: it is not used.
 */
struct sp_error *dwarf_file_new(struct sp_ctx *ctx, struct image *image, bool split,
				uint32_t number, struct dwarf_file **ret) SP_MUST_CHECK;

void dwarf_file_free(struct dwarf_file *file);

DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_free)

/* Inflates the compressed sections in parallel. */
void dwarf_file_unpack(struct dwarf_file *file, unsigned int threads);

/* Returns the end of the unit at `offset`; false if there is none. */
bool dwarf_file_unit_end(struct dwarf_file *file, uint64_t offset, uint64_t *ret);

/*
 * Finds the begin of all units, by following their lengths; does nothing if called again. Damage
 * ends the list; it is in *error_ret of the first call (the caller frees it). False: out of memory.
 */
bool dwarf_file_index(struct dwarf_file *file, struct sp_error **error_ret);

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

struct entry_name {
	const char *name;  /* NULL: the entry has none */
	uint32_t declared; /* line of its declaration, if it has no linkage name; 0: unknown */
};

struct dwarf_reader {
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
struct dwarf_reader *reader_new(const struct dwarf_file *file, struct shared_strings *texts);
void reader_free(struct dwarf_reader *reader);

/* Counts damage, keeps the first error, and returns NULL; returns `error` if it is out of memory. */
struct sp_error *reader_damage(struct dwarf_reader *reader, struct sp_error *error) SP_MUST_CHECK;

/* Copies a string to the shared strings; *ret is NULL if the limit of string bytes is exceeded. */
struct sp_error *reader_string(struct dwarf_reader *reader, const char *text, size_t size,
			       const char **ret) SP_MUST_CHECK;

/* Reads all entries of a unit into `held`, in place of the last unit's, if there is memory for them. */
void reader_hold(struct dwarf_reader *reader, const struct unit *unit);

/* Makes a cursor over [offset, end) of the unit's entries, held or not; false if reading fails. */
bool reader_entries(struct dwarf_reader *reader, const struct unit *unit, uint64_t offset,
		    uint64_t end, struct cursor *ret);

/* Returns the unit's abbreviation table, valid until the next call; NULL: damaged, which is noted. */
struct sp_error *reader_abbrevs(struct dwarf_reader *reader, const struct unit *unit,
				const struct abbrev_table **ret) SP_MUST_CHECK;

/* Reads a unit's header only. Fails with SP_ERROR_FORMAT. */
struct sp_error *unit_read_header(struct dwarf_file *file, uint64_t offset,
				  struct unit *ret) SP_MUST_CHECK;

/* Reads the unit's first entry. If it is damaged, that is noted, and top_known stays false. */
struct sp_error *unit_read_top(struct dwarf_reader *reader, struct unit *unit) SP_MUST_CHECK;

/* Finds the unit that contains an entry, and reads its top; NULL: none. Valid until the next call. */
struct sp_error *reader_unit(struct dwarf_reader *reader, struct dwarf_file *file, uint64_t offset,
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
