/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples and losses by CPU and time. How long a recording takes is known at its end: so the
 * times that are told apart are powers of two of ns, and pairs of them become one as it grows.
 */
#ifndef CMD_INFO_TIME_BINS_H
#define CMD_INFO_TIME_BINS_H

#include <sprof/sprof.h>
#include <sprof/private/losses.h>
#include "list.h"

#define SLICES 32

struct slice {
	uint64_t samples, lost, throttled_ns;
};

struct slice_row {
	uint32_t cpu; /* UINT32_MAX: not known */
	struct slice all; /* with what has no time */
	uint64_t throttled;
	struct slice slices[SLICES];
};

/* Zeroed, there is nothing. */
struct slices {
	LIST(struct slice_row) rows; /* by CPU */
	struct slice_row sum;
	unsigned int shift;  /* a slice has 2^shift ns */
	uint64_t first;      /* its number, from time 0 on */
	bool timed;
	struct slice_row *last; /* row of the last addition; NULL: none yet */
};

void slices_deinit(struct slices *slices);

/* Both return false when out of memory. */
bool slices_add_sample(struct slices *slices, const struct sp_sample *sample);
/* Adds the losses of the whole recording. Call it after all samples were added. */
bool slices_add_losses(struct slices *slices, const struct sp_losses *losses);

#endif
