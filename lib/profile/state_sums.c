/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/state_sums.h"

#include <math.h>
#include "profile/interval.h"

void state_sums_add(struct state_sums *to, const struct state_sums *from)
{
	for (int i = 0; i < TIME_STATES; i++)
		to->ns[i] = weight_add(to->ns[i], from->ns[i]);
	to->preempted_ns = weight_add(to->preempted_ns, from->preempted_ns);
	to->waits += from->waits;
	to->variance += from->variance;
	to->delay_ns = weight_add(to->delay_ns, from->delay_ns);
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
}

uint64_t state_sums_total(const struct state_sums *sums)
{
	uint64_t total = 0;
	for (int i = 0; i < TIME_STATES; i++)
		total = weight_add(total, sums->ns[i]);
	return total;
}

/*
 * Returns the variance of a part's blocked time. The whole blocked time is exact: an error of the part is one
 * of all others, too. The last term is that of Wilson's interval for whole² / variance samples: where all
 * samples, or none, are in the part, they do not prove that all waits are.
 */
static double variance_of(const struct state_sums *part, const struct state_sums *whole)
{
	double blocked = whole->ns[TIME_BLOCKED];
	if (!(blocked > 0))
		return part->variance;
	double share = fmin((double)part->ns[TIME_BLOCKED] / blocked, 1);
	double others = fmax(whole->variance - part->variance, 0);
	double few = INTERVAL_Z * whole->variance / blocked;
	return (1 - share) * (1 - share) * part->variance + share * share * others + few * few;
}

/* Errors of a part's time, in ns. */
struct time_error {
	double below, above;
};

/* Adds the error of a part that `n_eff` samples show. */
static void add_error(struct time_error *error, uint64_t part_ns, uint64_t whole_ns, double n_eff)
{
	if (!part_ns || !(n_eff > 0))
		return;
	struct sp_share share = interval_share(part_ns, whole_ns, n_eff);
	error->below += (share.value - share.low) * (double)whole_ns;
	error->above += (share.high - share.value) * (double)whole_ns;
}

struct sp_share state_share(const struct state_sums *part, const struct state_whole *whole)
{
	uint64_t total = state_sums_total(&whole->sums);
	double all = total;
	struct time_error sampled = {0}, preempted = {0};
	if (!total)
		return (struct sp_share){.high = 1};
	add_error(&sampled, part->ns[TIME_ON_CPU], whole->sums.ns[TIME_ON_CPU], whole->n_eff);
	add_error(&sampled, part->ns[TIME_RUNNABLE] - part->preempted_ns,
		  whole->sums.ns[TIME_RUNNABLE] - whole->sums.preempted_ns, whole->n_eff);
	add_error(&preempted, part->preempted_ns, whole->sums.preempted_ns, whole->preempted_n_eff);
	double value = (double)state_sums_total(part) / all;
	double others = INTERVAL_Z * INTERVAL_Z * variance_of(part, &whole->sums);
	double below = sampled.below * sampled.below + preempted.below * preempted.below + others;
	double above = sampled.above * sampled.above + preempted.above * preempted.above + others;
	return (struct sp_share){
		.value = fmin(value, 1),
		.low = fmax(0, value - sqrt(below) / all),
		.high = fmin(1, value + sqrt(above) / all),
	};
}

struct sp_times state_times(const struct state_sums *part, const struct state_whole *whole)
{
	uint64_t waits = weight_round(part->waits);
	if (whole->counts)
		return (struct sp_times){.waits = waits};
	return (struct sp_times){
		.running_ns = part->ns[TIME_ON_CPU],
		.runnable_ns = weight_add(part->ns[TIME_RUNNABLE], part->delay_ns),
		.blocked_ns = part->ns[TIME_BLOCKED],
		.unknown_ns = part->ns[TIME_UNKNOWN],
		.waits = waits,
		.longest_wait_ns = part->longest_ns,
	};
}
