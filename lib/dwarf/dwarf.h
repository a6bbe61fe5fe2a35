/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions, inlined functions, files and lines of addresses in one file, by its debug
 * information (DWARF 2 to 5, split, shared by DWZ, compressed). Only the units of these addresses
 * are read. Damage makes answers incomplete, and is reported in them.
 */
#pragma once

#include "base/arena.h"
#include "elf/debugfile.h"

struct dwarf;

/* Options. Their strings and `runtime` must outlive the struct dwarf. */
struct dwarf_options {
	struct sp_ctx *ctx; /* for the cache of inflated sections; NULL: it is not used */
	struct debugfile_places places; /* for files of DWZ */
	const struct image *runtime; /* the file that ran: has the code, too; NULL: `image` */
};

/* Returns whether the image has debug information; reads only its section headers. */
bool dwarf_exists(const struct image *image);

/*
 * Opens the debug information in `image`. Takes ownership of `image`, even if it fails.
 * SP_ERROR_FORMAT if the debug information is damaged.
 */
struct sp_error *dwarf_open(struct image *image, const struct dwarf_options *options,
			    struct dwarf **ret) SP_MUST_CHECK;
void dwarf_free(struct dwarf *dwarf);

DEFINE_CLEANUP(struct dwarf *, dwarf_free)

/* A function at a source line. Frames may share a caller's frame. */
struct dwarf_frame {
	const char *name; /* linkage name, or the source's; NULL: not known */
	const char *file; /* NULL: not known */
	const struct dwarf_frame *caller; /* function that this one is inlined into; NULL: not inlined */
	uint64_t start;   /* vaddr where its code begins; UINT64_MAX: not known */
	uint32_t line;    /* 0: not known, or the compiler's own */
	uint32_t declared; /* line of its declaration, if `name` is no linkage name; 0: not known */
	uint32_t number;  /* unique in an answer, below its frame_count */
};

/* Result of dwarf_resolve(). The caller owns it, and it may outlive the struct dwarf. */
struct dwarf_answer {
	const struct dwarf_frame **innermost; /* for each vaddr, its innermost frame; NULL: unknown */
	size_t frame_count;       /* number of frames */
	struct sp_error *damage;  /* first damage found; NULL: none */
	uint64_t damages;         /* number of damaged places found */
	struct shared_strings *texts;      /* names and files; equal ones are one pointer */
	struct arena *arenas;     /* memory of the frames */
	unsigned int arena_count;
};

/*
 * Request: ascending vaddrs. symbols[i] is the vaddr where the symbol of vaddrs[i] begins; 0: it
 * has none. A function that begins before the symbol is another one. Without `lines`, frames that
 * differ only in the line are merged into one, with the line of any of them.
 */
struct dwarf_query {
	const uint64_t *vaddrs, *symbols;
	size_t count;
	bool lines;
	unsigned int threads; /* number of threads to use at most */
};

/* Finds the frames of vaddrs. Fails only when out of memory. */
struct sp_error *dwarf_resolve(struct dwarf *dwarf, const struct dwarf_query *query,
			       struct dwarf_answer **ret) SP_MUST_CHECK;
void dwarf_answer_free(struct dwarf_answer *answer);

DEFINE_CLEANUP(struct dwarf_answer *, dwarf_answer_free)
