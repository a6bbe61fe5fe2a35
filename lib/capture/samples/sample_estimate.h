/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates from counts of samples: lost samples, and the target's part of them. */
#pragma once

#include "capture/event_control/lost_counts.h"
#include "capture/samples/ring_filter.h"

/* Returns the number of lost samples of all tasks, including filtered ones. */
uint64_t sample_estimate_lost(const struct filter_counts *counts, const struct losses *losses);

/*
 * Returns the number of lost samples of the followed tasks; samples of other tasks were filtered.
 * `used_ns`: CPU time of the followed tasks, if samples have CPU time as weight; 0: unknown.
 */
uint64_t sample_estimate_lost_own(const struct filter_counts *counts, const struct losses *losses,
				  uint64_t used_ns);

/* Returns the weight of the samples that the write queue did not drop. */
uint64_t sample_estimate_written_weight(const struct filter_counts *counts, uint64_t dropped);
