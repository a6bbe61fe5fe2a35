/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/state_sums.h"

#include <math.h>
#include "profile/interval.h"

/* 95 % of a normal distribution are within this number of standard deviations. */
#define Z 1.959963984540054

void state_sums_add(struct state_sums *to, const struct state_sums *from)
{
	for (int i = 0; i < TIME_STATES; i++)
		to->ns[i] = weight_add(to->ns[i], from->ns[i]);
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
	double blocked = (double)whole->ns[TIME_BLOCKED];
	if (!(blocked > 0))
		return part->variance;
	double share = fmin((double)part->ns[TIME_BLOCKED] / blocked, 1);
	double others = fmax(whole->variance - part->variance, 0), few = Z * whole->variance / blocked;
	return (1 - share) * (1 - share) * part->variance + share * share * others + few * few;
}

struct sp_share state_share(const struct state_sums *part, const struct state_whole *whole)
{
	uint64_t total = state_sums_total(&whole->sums);
	double all = (double)total, below = 0, above = 0;
	if (!total)
		return (struct sp_share){.high = 1};
	for (enum time_state state = TIME_ON_CPU; state <= TIME_RUNNABLE; state++) {
		double ns = (double)whole->sums.ns[state];
		if (!part->ns[state] || !(whole->n_eff > 0))
			continue;
		struct sp_share share = interval_share(part->ns[state], whole->sums.ns[state], whole->n_eff);
		below += (share.value - share.low) * ns;
		above += (share.high - share.value) * ns;
	}
	double value = (double)state_sums_total(part) / all;
	double variance = Z * Z * variance_of(part, &whole->sums);
	return (struct sp_share){
		.value = fmin(value, 1),
		.low = fmax(0, value - sqrt(below * below + variance) / all),
		.high = fmin(1, value + sqrt(above * above + variance) / all),
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
