/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sections of one file with debug information: a binary or its debug file, the file
 * that DWZ moved what several have in common to, a .dwo, or a .dwp that packs those.
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include "dwarf/section.h"

struct dwarf_file {
	struct image *image;
	bool split;       /* a .dwo or .dwp */
	uint32_t number;  /* not 0, and never that of another, open or closed, of one struct dwarf */
	struct section sections[SECTION_COUNT];
	struct dwarf_file *alt; /* DWZ's file; NULL: none, or not found; borrowed */
	pthread_mutex_t units_lock;
	bool units_known;         /* under the lock */
	VEC(uint64_t) units;      /* their offsets in SECTION_INFO */
};

/* The image becomes the file's in any case. */
struct sp_error *dwarf_file_new(struct image *image, bool split, uint32_t number,
				struct dwarf_file **ret) SP_MUST_CHECK;
void dwarf_file_free(struct dwarf_file *file);

DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_free)

/* Inflates its compressed sections, if any, several at once. */
void dwarf_file_unpack(struct dwarf_file *file, unsigned int threads);

/* Returns the end of the unit at `offset`; false if there is none. */
bool dwarf_file_unit_end(struct dwarf_file *file, uint64_t offset, uint64_t *ret);

/*
 * Finds where all units begin, once; their lengths are hopped along. Damage ends the list:
 * it is said by *error_ret of the call that found it (the caller's to free). False: out of memory.
 */
bool dwarf_file_index(struct dwarf_file *file, struct sp_error **error_ret);

/* The unit that an offset lies in; false where there is none. After dwarf_file_index(). */
bool dwarf_file_unit(const struct dwarf_file *file, uint64_t offset, uint64_t *ret);

#endif
