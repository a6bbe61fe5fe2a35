/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A module's names in a resolver: its source of symbols, and the functions found so far. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbol/lines.h"
#include "symbol/name_log.h"
#include "symbol/resolver.h"
#include "symbol/source.h"

/* Has no lock: resolver.h forbids concurrent calls for one module. A zeroed struct is empty. */
struct module_names {
	const struct module *module; /* borrowed by the resolver that owns the names */
	const struct source *source; /* the source that serves the module; NULL: none */
	void *opened;                /* the source's state; NULL: none */
	void *stored; /* state of source_stored, for addresses that `source` names poorly or not */
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
