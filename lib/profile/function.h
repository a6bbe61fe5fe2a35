/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Identity of rows and tree nodes by code: the requested ones of dso, symbol, function and source
 * line. A dso is a file, wherever its copies are. A symbol or function is known by its raw name, so
 * that it is the same in another build of the file; functions with one raw name also have a place
 * (struct named).
 */
#pragma once

#include <sprof/profile.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"

/* A file with code. Files with equal build-ids are one, and so are those of one path. */
struct dso {
	const char *name, *path, *build_id; /* interned; build_id may be NULL */
	bool is_file;      /* false: the name alone identifies it, such as "[kernel.kallsyms]" */
	const char *text;  /* pointer that identifies the file in all functions */
};

/*
 * A function with a symbol or debug information, for its shown name. There is one object for each.
 */
struct named {
	const char *dso;  /* same as in struct function */
	const char *name; /* without parameters */
	const char *raw;  /* spelled as in the symbol table or debug information */
	const char *file; /* source file; NULL: unknown */
	uint64_t place;   /* distinguishes functions of one raw name in the dso; 0: there is one */
	uint64_t start;   /* lowest start address; UINT64_MAX: always inlined */
	uint32_t declared; /* line of the declaration; 0: unknown, or not needed */
	/* Set by name_functions(): */
	const char *shown;
	struct sp_identity identity;
};

/* Names are interned by functions_text(): equal names are equal pointers. */
struct function {
	const char *dso;      /* text of struct dso; NULL in all these: not requested */
	const char *dso_path; /* the alphabetically first of several files of one name */
	const char *build_id; /* hex; NULL: unknown, or several */
	const char *symbol;
	const char *function;
	const char *srcfile;  /* whole path; NULL: not requested, or unknown */
	const char *home;     /* source file of the function's body; NULL: unknown */
	/* Objects of `symbol` and `function`; NULL: they are a mere text. */
	const struct named *symbol_of, *function_of;
	uint64_t start;       /* in the file; without a name: the address */
	uint64_t sampled;     /* sampled address in the file; 0: not requested, or unknown */
	uint32_t line;        /* 0: not requested, or unknown */
	bool known;           /* false: `symbol` and `function` are an address, or from_cfi */
	bool from_cfi;        /* the names are "fn@ADDRESS", of a range of call frame information */
	bool own_code;        /* the user's own code (frames/names.h) */
	bool inlined;         /* inlined into its caller; merged: inlined in all */
	enum sp_level level;
	const struct sp_instruction *instruction; /* NULL: not requested, or unknown */
};

/* Orders instructions by their offset; NULL comes first. */
int instruction_compare(const struct sp_instruction *a, const struct sp_instruction *b);

/* A sampled instruction, and its code: `shown` is that of the row. */
struct instruction {
	struct sp_instruction shown;
	struct resolver *resolver; /* NULL: it ends before the analysis does */
	const struct module *module;
	const struct symbol *symbol; /* NULL: unknown */
	uint32_t pid;                /* process that has the module mapped */
};

struct functions {
	VEC(struct function);
	bool inlined_apart;    /* inlined and other instances of a function are distinct */
	struct index_set index_of;
	struct strtab strings;
	struct arena instructions;
	struct arena names;      /* owns texts of dsos, and `named` */
	struct { VEC(struct dso); } dsos;
	struct { VEC(struct named *); } named;
	struct u64map named_of;  /* hash of a struct named -> index in `named` */
	struct u64map several;   /* raw names of several functions (frames/function_identity.h) */
};

/* A zeroed struct is empty, except for `inlined_apart`. */
void functions_deinit(struct functions *functions);

/* Returns the interned copy of a text, an address or a build-id; NULL when out of memory. */
const char *functions_text(struct functions *functions, const char *text);
const char *functions_address(struct functions *functions, uint64_t address);
const char *functions_hex(struct functions *functions, const uint8_t *bytes, size_t size);

/*
 * Adds a dso; its `text` is not used. Returns the pointer that identifies it in all functions:
 * equal for all facts that are the same file; NULL when out of memory. Each call adds an entry, so
 * call it once for each module.
 */
const char *functions_dso(struct functions *functions, const struct dso *facts);

/* Returns the object of a function with these facts; NULL when out of memory. */
const struct named *functions_named(struct functions *functions, const struct named *facts);

/*
 * Returns the index of the function with the same dso, symbol, function and source line, added if new.
 * If it has a symbol or function, its level must be equal, too. UINT32_MAX when out of memory.
 */
uint32_t functions_add(struct functions *functions, const struct function *function);

/* Returns whether functions_add() gives both one index. */
bool function_equals(const struct function *a, const struct function *b, bool inlined_apart);

/* Returns what the most specific name stands for; NULL: it is a mere text. */
static inline const struct named *function_named(const struct function *function)
{
	return function->function ? function->function_of : function->symbol_of;
}

/* Returns the most specific name: of the function, else the symbol, the line or the dso. */
const char *function_name(const struct function *function);

/* Orders texts; NULL comes first. */
int text_compare(const char *a, const char *b);

/* Orders by name, then by address, independent of the order of insertion. */
int function_compare(const struct function *a, const struct function *b);
