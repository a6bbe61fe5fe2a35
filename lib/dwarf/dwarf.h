/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions, inlined functions, files and lines for addresses of one file, by its debug
 * information (DWARF 2 to 5, split, shared by DWZ, compressed). Only what the addresses lie
 * in is read. Damage makes answers incomplete, and is said.
 */
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "base/arena.h"
#include "elf/debugfile.h"

struct dwarf;

/* Borrowed as long as the struct dwarf lives. */
struct dwarf_options {
	struct debugfile_places places; /* for files of DWZ */
	const struct image *runtime; /* the file that ran: it tells where code begins */
};

/* Whether the image has any; only its section headers are looked at. */
bool dwarf_exists(const struct image *image);

/*
 * `image` is the file that has the debug information; it becomes the struct dwarf's in any
 * case. SP_ERROR_FORMAT where that is damaged.
 */
struct sp_error *dwarf_open(struct image *image, const struct dwarf_options *options,
			    struct dwarf **ret) SP_MUST_CHECK;
void dwarf_free(struct dwarf *dwarf);

DEFINE_CLEANUP(struct dwarf *, dwarf_free)

/* A function at a place in the source. What is around several places is one frame. */
struct dwarf_frame {
	const char *name; /* linkage name, or the source's; NULL: not known */
	const char *file; /* NULL: not known */
	const struct dwarf_frame *caller; /* function that this one is inlined into; NULL: not inlined */
	uint64_t start;   /* vaddr where its code begins; UINT64_MAX: not known */
	uint32_t line;    /* 0: not known, or the compiler's own */
	uint32_t number;  /* among the frames of an answer */
};

/* Belongs to the caller; lives without the struct dwarf. */
struct dwarf_answer {
	const struct dwarf_frame **innermost; /* for each vaddr; NULL: unknown */
	size_t frame_count;       /* their numbers are below this */
	struct sp_error *damage;  /* the first that was met; NULL: none */
	uint64_t damages;
	struct shared_strings *texts;      /* names and files; equal ones are one pointer */
	struct arena *arenas;     /* memory of the frames */
	unsigned int arena_count;
};

/*
 * For ascending vaddrs. Without `lines`, frames that differ in their lines alone are one, of
 * any of these. Fails only when out of memory.
 */
struct sp_error *dwarf_resolve(struct dwarf *dwarf, const uint64_t *vaddrs, size_t count,
			       bool lines, unsigned int threads,
			       struct dwarf_answer **ret) SP_MUST_CHECK;
void dwarf_answer_free(struct dwarf_answer *answer);

DEFINE_CLEANUP(struct dwarf_answer *, dwarf_answer_free)

#endif
