/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ratio of two sums over samples, and how sure it is. Samples are dealt into REPLICATES
 * hands at random; how much the ratio changes when one hand is left out says how much it varies
 * (the delete-a-group jackknife), whether the sums are of the same samples, as with leader
 * sampling, or of other ones, and whatever their weights are. The interval is Student's, on the
 * logarithm: for a ratio is as easily twice too large as half.
 */
#ifndef PROFILE_RATIO_H
#define PROFILE_RATIO_H

#include <linux/perf_event.h>
#include <sprof/profile.h>

#define REPLICATES 16

/* Weight by hand. */
struct replicate_sums {
	uint64_t self[REPLICATES], total[REPLICATES]; /* saturating */
};

struct sp_ratio ratio_estimate(const uint64_t numerator[REPLICATES],
			       const uint64_t denominator[REPLICATES]);

/* The ratios that are known by their events' attrs; to be freed; NULL when out of memory. */
struct sp_ratio_kind *ratio_kinds(const struct perf_event_attr *const *attrs, size_t count,
				  size_t *count_ret);

#endif
