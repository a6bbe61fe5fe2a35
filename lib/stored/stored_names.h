/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stored names: for each module of a recording, what was found at each of its sampled addresses. It is the
 * data of a chunk (stored/chunks.h), which another program may have made: names are claims. Numbers
 * are LEB128, signed ones with their sign in the lowest bit; a "text" is an index of the texts, 0 for
 * none. "+" marks differences to the entry before.
 *
 *	number of texts; texts, each with a NUL
 *	number of modules; for each its size in bytes, and
 *	    kind, path (text), size of the build-id and its bytes, major, minor, inode, pid
 *	    twice a problem: number, text, remedy; of symbols, and of lines
 *	    flags: 1 the module has functions and lines of debug information
 *	    ELF machine of the code; number of its stored file, from 1 on, or 0
 *	    symbols:  number; for each +start (signed), size, name (text), flags: 1 mangled, 2 from CFI
 *	    frames:   number; for each name (text), mangled (0 or 1), file (text), line,
 *	              index of the caller + 1 (a frame before this one; 0: not inlined), start + 1 or 0
 *	    points:   number; for each +offset, symbol index + 1, frame index + 1, 1 if it has a vaddr,
 *	              then vaddr - offset (signed)
 *	    code:     number; for each +offset, size, bytes
 *	    size of its file, if that is not stored because of its size; else 0
 *	    source files by the symbol table: for each symbol a text
 *	    declarations: for each frame its line, or 0
 * Modules of older recordings end after the code, or after the size of the file.
 */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "record/encode.h"

/* Identifies a module among those of its recording. */
struct stored_key {
	uint32_t kind; /* enum module_kind */
	const char *path;
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint32_t maj, min, pid;
	uint64_t ino;
};

struct stored_problem {
	uint32_t problem; /* enum resolver_problem */
	const char *text, *remedy; /* may be NULL */
};

struct stored_symbol {
	uint64_t start, size;
	const char *name; /* raw name in the symbol table; for a range of CFI, the shown name */
	const char *object; /* source file of a local symbol; NULL: unknown */
	bool mangled, from_cfi;
};

struct stored_frame {
	const char *name, *file; /* may be NULL */
	uint64_t start;          /* offset of the function's code; UINT64_MAX: unknown */
	uint32_t caller;         /* index of the function that it is inlined into + 1; 0: none */
	uint32_t line;
	uint32_t declared; /* line of the declaration without a linkage name; 0: unknown */
	uint32_t depth; /* number of callers; set by decoding, which cuts chains at a limit */
	bool mangled;
};

/* A sampled address. */
struct stored_point {
	uint64_t offset, vaddr;
	uint32_t symbol, frame; /* index + 1; 0: none */
	bool has_vaddr;
};

/* Bytes of code that the analysis needed. */
struct stored_code {
	uint64_t offset;
	const uint8_t *bytes;
	uint32_t size;
};

struct stored_module {
	struct stored_key key;
	struct stored_problem symbols_problem, lines_problem;
	bool has_lines;
	uint16_t machine;
	uint32_t file; /* number of its file among the stored ones, from 1 on; 0: it is not stored */
	uint64_t left_out; /* size of its file, which was too large to be stored; 0: it was not */
	struct { VEC(struct stored_symbol); } symbols;
	struct { VEC(struct stored_frame); } frames;
	struct { VEC(struct stored_point); } points; /* by offset, once decoded; no two have the same */
	struct { VEC(struct stored_code); } codes;   /* by offset, once decoded */
};

/* Modules to encode, or decoded ones. A zeroed struct is empty. */
struct stored_names {
	VEC(struct stored_module);
	struct u64map index_of; /* hash of a key -> index of its first module */
	struct strtab texts;    /* owns the texts of modules to encode */
	struct arena code;      /* owns their code */
	struct record_buffer files; /* chunks of files to encode (stored/stored_files.h) */
	uint32_t file_count;
	uint64_t file_bytes, file_limit; /* size of the files, and its limit; 0: none */
	uint8_t *data;          /* owns the texts and code of decoded modules */
};

void stored_names_deinit(struct stored_names *names);

/* Returns the module of that key; NULL if there is none. Valid until one is added. */
struct stored_module *stored_names_find(const struct stored_names *names,
					const struct stored_key *key);

/* Lets stored_names_find() find the last module. Returns false when out of memory. */
bool stored_names_index(struct stored_names *names);

/* Adds an empty module and copies the key's path. NULL when out of memory. */
struct stored_module *stored_names_add(struct stored_names *names, const struct stored_key *key);

/* Returns the point of an offset; NULL if it was not sampled. Of decoded modules only. */
const struct stored_point *stored_module_point(const struct stored_module *module, uint64_t offset);

/* Appends the data. Sorts points and codes. */
struct sp_error *stored_names_encode(struct stored_names *names,
				     struct record_buffer *ret) SP_MUST_CHECK;

/*
 * Decodes data, which the result owns, even after a failure. SP_ERROR_FORMAT if it is damaged. Indexes in
 * the result are valid, and a frame's caller comes before it.
 */
struct sp_error *stored_names_decode(uint8_t *data, size_t size, const char *path,
				     struct stored_names *ret) SP_MUST_CHECK;
