/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sections of one file with debug information: a binary or its debug file, a DWZ file (shared
 * by several files), a .dwo, or a .dwp that packs .dwo files.
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include "dwarf/section.h"

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

/* Sets *ret to the begin of the unit around an offset. Call dwarf_file_index() before. */
bool dwarf_file_unit(const struct dwarf_file *file, uint64_t offset, uint64_t *ret);

#endif
