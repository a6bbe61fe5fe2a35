/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many samples a recording lacks. One loss may be told three times: by LOST when
 * there is room again (which counts records of all kinds), by READ, and by the kernel's
 * own count of an event's lost samples, which recorders write at the end.
 */
#ifndef SPROF_LOSSES_H
#define SPROF_LOSSES_H

#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_losses;

/* None so far. The reader must outlive it. */
SP_API struct sp_error *sp_losses_new(const struct sp_reader *reader,
				      struct sp_losses **ret) SP_MUST_CHECK;
SP_API void sp_losses_free(struct sp_losses *losses);

/* To be called with each record of the reader; most say nothing. Fails only for want of memory. */
SP_API struct sp_error *sp_losses_add(struct sp_losses *losses,
				      const struct sp_record *record) SP_MUST_CHECK;

/* Of the event of that index, by what was added so far; of the first, where it is not known. */
SP_API uint64_t sp_losses_count(const struct sp_losses *losses, size_t event);

#ifdef __cplusplus
}
#endif
#endif
