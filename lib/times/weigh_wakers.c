/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mode wakers: wake-ups, with the blocked time that they ended. */
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/detail.h"
#include "profile/interval.h"
#include "times/times.h"

static void find_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
		       uint8_t *roles_ret)
{
	size_t count = sp_reader_event_count(reader), wakes = times_wake_event(reader);
	(void)samples;
	memset(roles_ret, ROLE_NONE, count);
	if (wakes < count)
		roles_ret[wakes] = ROLE_WAKE;
}

static struct sp_error *check(const struct times *times)
{
	return times_check_wakes(times, "mode wakers");
}

/*
 * A wake-up without a wait counts, with weight 0: the thread had not left its CPU, or was woken
 * before. Without switches, no wait is known, and each wake-up weighs 1.
 */
static bool weigh(const struct times *times, const struct sp_record *record,
		  struct sample_time *ret)
{
	struct task_wakeup wakeup;
	if (times->roles[record->event] != ROLE_WAKE)
		return false;
	*ret = (struct sample_time){
		.shown = ret->shown,
		.begin_ns = record->sample.time_ns,
		.step_ns = record->sample.time_ns,
		.end_ns = record->sample.time_ns,
		.lifetime = LIFETIME_NONE,
		.stratum = stratum_of_waits(SLICE_NONE, 0), /* one for all: nothing is scaled */
		.weight = !times->states,
		.is_timed = true,
		.waits = 1,
	};
	if (!sched_samples_wake(times->from.sched, record, &ret->wake) || !ret->wake.tid)
		return false;
	uint32_t tid = ret->wake.tid;
	ret->woken_pid = (times->from.states ? task_states_pid(times->from.states, tid) : 0) ?: tid;
	if (times->states &&
	    task_states_wakeup(times->states, tid, record->sample.time_ns, &wakeup)) {
		ret->lifetime = task_states_lifetime(times->states, tid, wakeup.begin_ns);
		ret->begin_ns = wakeup.begin_ns;
		ret->end_ns = wakeup.wake_ns;
		ret->weight = ret->wait_ns = wakeup.blocked_ns;
		ret->delay_ns = wakeup.run_ns - wakeup.wake_ns;
	}
	return true;
}

static bool compute(struct times *times, const struct sample_weights *weights)
{
	struct strata *strata = &times->strata;
	if (!strata_make(strata, weights, times->slices.count))
		return false;
	vec_each (stratum, strata)
		stratum->ns[TIME_BLOCKED] = stratum->weight;
	return true;
}

/* A leaf that filters show has one part, with the name of its waker. */
static size_t split_leaf(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES])
{
	if (!leaf->samples && !leaf->weight)
		return 0;
	*ret = (struct leaf_part){.samples = leaf->samples,
				  .weight = leaf->weight,
				  .times = leaf->time->sums,
				  .state = DETAIL_NONE,
				  .time = TIME_BLOCKED,
				  .text = leaf->time->waker};
	return 1;
}

/* Adds the blocked time that no wake-up ended. */
static void add_totals(const struct times *times, const struct state_sums *leaves,
		       struct state_sums *all, struct state_whole *whole)
{
	/* Weights are counts if no recording has switches, neither this one nor those before. */
	bool only_counts = whole->counts || !state_sums_total(&whole->sums);
	uint64_t blocked = 0, ended = state_sums_total(all);
	(void)leaves;
	for (size_t i = 0; times->states && i < task_states_count(times->states); i++)
		if (!times_leaves_out(times, i))
			blocked = weight_add(blocked,
					     task_states_totals(times->states, i)->blocked_ns);
	whole->counts = !times->states && only_counts;
	if (blocked > ended)
		whole->unended_ns = weight_add(whole->unended_ns, blocked - ended);
}

const struct weigher weigher_wakers = {
	.of_threads = true,
	.needs_wakers = true,
	.keeps_untimed = true,
	.leaves_out_idle = true,
	.parts_max = 1,
	.find_roles = find_roles,
	.check = check,
	.prepare = threads_find_places,
	.weigh = weigh,
	.compute = compute,
	.split_leaf = split_leaf,
	.add_totals = add_totals,
};
