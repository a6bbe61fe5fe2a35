/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of records that are larger than their contents. Such a header makes sense, and hides up
 * to 64 KB of records.
 */
#ifndef WALK_WALKER_SIZES_H
#define WALK_WALKER_SIZES_H

#include "record/raw.h"
#include "walk/walker_buffer.h"

/* Moves to the end of the doubted sample's fields if records begin there, else to its end. */
struct sp_error *walker_check_doubt(struct walker *walker) SP_MUST_CHECK;

/* Whether a plausible header, or too little space for one, is between a possible end and `size`. */
bool walker_has_header_inside(const struct walker *walker, const struct raw_record *raw);

static inline bool walker_seems_too_long(const struct walker *walker, const struct raw_record *raw)
{
	return !likely(lengths_fit(walker->lengths, raw, walker->swap)) &&
	       walker_has_header_inside(walker, raw);
}

/* Shortens *raw, which is the next record, if its size contains other records. */
struct sp_error *walker_check_size(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;

#endif
