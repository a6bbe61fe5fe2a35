/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates from counts of samples: what was lost, and whose samples these were. */
#ifndef CAPTURE_SAMPLES_SAMPLE_ESTIMATE_H
#define CAPTURE_SAMPLES_SAMPLE_ESTIMATE_H

#include "capture/event_control/losses.h"
#include "capture/samples/filter.h"

/* Returns the number of lost samples, of all tasks whose samples are in the rings. */
uint64_t sample_estimate_lost(const struct filter_counts *counts, const struct losses *losses);

/*
 * Returns the number of lost samples of the followed tasks, whose samples are filtered from those of other
 * tasks. `used_ns`: the followed tasks' CPU time, where samples have their CPU time as their weight; 0:
 * unknown.
 */
uint64_t sample_estimate_lost_own(const struct filter_counts *counts, const struct losses *losses,
				  uint64_t used_ns);

/* Returns the weight of the samples that are not dropped by the write queue. */
uint64_t sample_estimate_written_weight(const struct filter_counts *counts, uint64_t dropped);

#endif
