/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A module's names in a resolver: its source of symbols, and the functions found so far. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "stored/stored_names.h"
#include "symbol/lines.h"
#include "symbol/resolver.h"
#include "symbol/source.h"

/*
 * Log of everything that a resolver found for one module, by offset: the content of stored names
 * (stored/stored_names.h). Symbols and frames are borrowed from the module's names. It has no lock,
 * like these.
 */

struct module_names;

struct name_point {
	uint64_t offset, vaddr;
	const struct symbol *symbol;
	const struct source_frame *innermost;
	bool has_vaddr;
};

/* A zeroed log is empty. */
struct name_log {
	struct u64map by_offset; /* offset -> index in points */
	VEC(struct name_point) points;
	VEC(struct stored_code) codes;
	struct arena bytes; /* owns the bytes of `codes` */
	uint16_t machine;   /* ELF machine of the codes; 0: none */
	bool no_memory;     /* something is missing in the log */
};

void name_log_deinit(struct name_log *log);

void name_log_add_symbol(struct name_log *log, uint64_t offset, const struct symbol *symbol);

void name_log_add_vaddr(struct name_log *log, uint64_t offset, uint64_t vaddr);

void name_log_add_sources(struct name_log *log, const struct source_query *query,
			  const struct source_frames *frames);

void name_log_add_code(struct name_log *log, uint64_t offset, const uint8_t *bytes, size_t size,
		       uint16_t machine);

/*
 * Adds the log of a module's names to stored names, and to those that earlier logs of the module
 * added. Returns false when out of memory.
 */
bool name_log_store(const struct name_log *log, const struct module_names *names,
		    struct stored_names *ret);

/* Has no lock: resolver.h forbids concurrent calls for one module. A zeroed struct is empty. */
struct module_names {
	const struct module *module; /* borrowed by the resolver that owns the names */
	const struct source *source; /* the source that serves the module; NULL: none */
	void *opened;                /* the source's state; NULL: none */
	void *stored; /* state of source_stored, for addresses without a name in `source` */
	struct diagnosis diagnosis, lines_diagnosis;
	struct dwarf *dwarf; /* debug information that stays open; NULL: not opened */
	bool stays_open;     /* it may stay open between calls */
	struct placement placement; /* set with `dwarf` */
	struct lines lines;
	struct known_lines known; /* results of earlier analyses; empty: they are not kept */
	bool asked; /* sources were tried */
	struct image *code; /* file with the instructions; NULL: none, or not tried (code_asked) */
	bool code_asked;
	struct arena arena;     /* symbols, their names, and the source's frames */
	struct u64map by_key;   /* found.key -> index in symbols; for symbols */
	struct u64map by_range; /* the same for ranges (from_cfi) */
	VEC(struct symbol *) symbols;
	bool logged;         /* results are added to `log` */
	struct name_log log;
};

void module_names_free(struct module_names *names);

/* Closes debug information that stayed open: it borrows from the source and the resolver. */
void module_names_close_lines(struct module_names *names);

/* Frees all functions and lines that were found by debug information. */
void module_names_drop_lines(struct module_names *names);

/* Returns the one struct symbol of a found function; NULL when out of memory. */
const struct symbol *module_names_intern(struct module_names *names, const struct found *found);
