/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ratio of two sums over samples, with a confidence interval. Samples are dealt at random into
 * REPLICATES jackknife groups. The variation of the ratio when one group is omitted estimates its
 * variance (the delete-a-group jackknife). This holds for sums of the same samples (leader sampling) or
 * of different ones, and for any weights. The interval is Student's, for the logarithm, because a ratio
 * is as easily twice too large as half.
 */
#pragma once

#include <linux/perf_event.h>
#include <sprof/profile.h>

#define REPLICATES 16

/* Weight by jackknife group. */
struct replicate_sums {
	uint64_t self[REPLICATES], total[REPLICATES]; /* saturating */
};

struct sp_ratio ratio_estimate(const uint64_t numerator[REPLICATES],
			       const uint64_t denominator[REPLICATES]);

/*
 * Limits the ratio of a part to its whole to 1, which estimates by samples may exceed. It is
 * unknown if the whole interval does, or if there is no interval.
 */
struct sp_ratio ratio_limit(struct sp_ratio ratio);

/*
 * Lists the ratios (IPC, miss rates, …) with both events in `attrs`. The caller frees it; NULL when
 * out of memory.
 */
struct sp_ratio_kind *ratio_kinds(const struct perf_event_attr *const *attrs, size_t count,
				  size_t *count_ret);
