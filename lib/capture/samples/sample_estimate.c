/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/sample_estimate.h"

uint64_t sample_estimate_lost(const struct filter_counts *counts, const struct losses *losses)
{
	return counts->lost - losses->not_counting + losses->at_end;
}

/* Returns the number of samples that the CPU time lacks, at most the lost ones. */
static uint64_t missing_samples(const struct filter_counts *counts, uint64_t lost, uint64_t used_ns)
{
	double period_ns = (double)counts->weight / (double)counts->samples;
	double missing = ((double)used_ns - (double)counts->weight) / period_ns;
	return missing < 0 ? 0 : missing > (double)lost ? lost : (uint64_t)missing;
}

uint64_t sample_estimate_lost_own(const struct filter_counts *counts, const struct losses *losses,
				  uint64_t used_ns)
{
	if (used_ns && counts->samples)
		return missing_samples(counts, sample_estimate_lost(counts, losses), used_ns);
	/* Share of the target among neighbours; at the end, among all samples. */
	double kept = counts->samples, seen = kept + (double)counts->filtered;
	double at_end = (double)losses->at_end * (seen > 0 ? kept / seen : 1);
	double reported = counts->lost, others = losses->not_counting;
	double counting = reported > 0 ? (reported - others) / reported : 1;
	return counts->lost_own * counting + at_end + 0.5;
}

uint64_t sample_estimate_written_weight(const struct filter_counts *counts, uint64_t dropped)
{
	double share = counts->samples ? 1 - (double)dropped / (double)counts->samples : 1;
	return (double)counts->weight * share;
}
