/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples, losses and throttling by CPU and time slice, for `sprof info --losses`. A recording's
 * duration is known only at its end. Slices are therefore 2^n ns wide, and pairs of them are merged as
 * the span grows.
 */
#ifndef CMD_INFO_CPU_TIME_BINS_H
#define CMD_INFO_CPU_TIME_BINS_H

#include <sprof/sprof.h>
#include <sprof/private/losses.h>
#include "list.h"

#define SLICES 32

struct bin_counts {
	uint64_t samples, lost, throttled_ns;
};

struct slice_row {
	uint32_t cpu; /* UINT32_MAX: unknown CPU */
	struct bin_counts all; /* sum over all slices, and over samples and losses without a time */
	uint64_t throttled;
	struct bin_counts slices[SLICES];
};

/* Time slices of all CPUs. Zeroed: empty. */
struct cpu_time_bins {
	LIST(struct slice_row) rows; /* rows of CPUs, ordered by CPU number */
	struct slice_row sum;
	unsigned int shift;  /* a slice has 2^shift ns */
	uint64_t first;      /* number of the first slice: its begin time divided by 2^shift ns */
	uint64_t highest;    /* number of the last slice with a time */
	bool timed;
	struct slice_row *last; /* row used by the last addition; NULL: none yet */
};

void time_bins_deinit(struct cpu_time_bins *slices);

/* Adds a sample. */
void time_bins_add_sample(struct cpu_time_bins *slices, const struct sp_sample *sample);
/* Adds the losses of the whole recording, after all samples. */
void time_bins_add_losses(struct cpu_time_bins *slices, const struct sp_losses *losses);

#endif
