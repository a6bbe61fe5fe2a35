/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds records with a size larger than their contents. Such a size looks right, and hides up to
 * 64 KB of other records.
 */
#pragma once

#include "walk/walker_buffer.h"

/*
 * Moves to the end of the checked sample's fields if records begin there, else to the end by its
 * size.
 */
struct sp_error *walker_check_excess(struct walker *walker) SP_MUST_CHECK;

/*
 * Returns whether a plausible header, or too little space for one, is between a possible end of the
 * record and its size.
 */
bool walker_has_header_inside(const struct walker *walker, const struct raw_record *raw);

static inline bool walker_seems_too_long(const struct walker *walker, const struct raw_record *raw)
{
	return !likely(lengths_fit(walker->lengths, raw, walker->swap)) &&
	       walker_has_header_inside(walker, raw);
}

/* Shortens *raw, the next record, if its size includes other records. */
struct sp_error *walker_check_size(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;
