/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modes wall and off-cpu: each thread's life by its states; off-cpu without the time on a CPU.
 * On-CPU samples distribute on-CPU time. Samples of preempted threads distribute the time in which
 * a thread was preempted; in slices that have none, on-CPU samples do. Samples of waits distribute
 * the time of waits (wait_times.h). weigh() is in thread_samples.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "times/wait_times.h"

/* Smallest part of a thread's CPU time without samples that is taken for time in the kernel. */
#define KERNEL_PART_MIN 0.05

/* Periods of waits are times, too, and so are those of clocks. */
static struct sp_error *check_wall(const struct times *times)
{
	if (times->states || (times->has_waits && (!times->has_on_cpu || times->is_clock)))
		return NULL;
	return times_no_switches(times->from.reader, "mode wall");
}

static struct sp_error *check_off_cpu(const struct times *times)
{
	if (times->states || times->has_waits)
		return NULL;
	return times_no_switches(times->from.reader, "mode off-cpu");
}

/*
 * A clock's samples are late or missing where a host runs another guest, and none is due in a
 * thread's last period, so that small differences do not prove CPU time in the kernel. Clocks of
 * whole CPUs find a thread by chance.
 */
void threads_find_kernel_time(struct times *times, const struct sample_weights *weights)
{
	double *parts = times->strata.user_part, period = times->period;
	if (!times->user_only && !times->kernel_only)
		return;
	memset(parts, 0, times->strata.slice_count * sizeof(*parts));
	vec_each (weight, weights) {
		struct stratum_id id = stratum_of_key(weight->key);
		if (!stratum_is_of_waits(id) && !stratum_is_preempted(id) && id.slice != SLICE_NONE)
			parts[id.slice] += (double)weight->weight;
	}
	for (uint32_t i = 0; i < times->strata.slice_count; i++) {
		struct task_totals totals;
		slices_totals(&times->slices, i, &totals);
		double running = totals.running_ns;
		double least = running * KERNEL_PART_MIN + period;
		if (!times->of_tasks)
			least += 2 * sqrt(running * period);
		parts[i] = running - parts[i] > least ? parts[i] / running : 1;
	}
}

static int compare_weights(const void *a, const void *b)
{
	const struct sample_weight *const *x = a, *const *y = b;
	return u64_order((*x)->key, (*y)->key);
}

/* Adds the lives of all threads. Returns false when out of memory. */
static bool compute(struct times *times, const struct sample_weights *weights)
{
	struct strata *strata = &times->strata;
	bool on_cpu = !times->weigher->excludes_on_cpu;
	size_t count = 0, at = 0;
	CLEANUP_FREE const struct sample_weight **waits =
		calloc(weights->count + 1, sizeof(*waits));
	if (!waits || !strata_make(strata, weights, times->slices.count))
		return false;
	threads_find_kernel_time(times, weights);
	vec_each (weight, weights)
		if (stratum_is_of_waits(stratum_of_key(weight->key)) && weight->weight)
			waits[count++] = weight;
	qsort(waits, count, sizeof(*waits), compare_weights);
	for (uint32_t i = 0; i < strata->slice_count; i++) {
		const struct slice slice = slices_get(&times->slices, i);
		const struct sample_weight *sampled[WAIT_CLASSES] = {0};
		struct task_totals totals;
		slices_totals(&times->slices, i, &totals);
		for (; at < count && stratum_of_key(waits[at]->key).slice == i; at++)
			sampled[stratum_class(stratum_of_key(waits[at]->key))] = waits[at];
		if (on_cpu)
			strata_add_on_cpu(strata, stratum_on_cpu(i, 0), totals.running_ns);
		struct stratum_id preempted = stratum_preempted(i, 0);
		if (!strata_find(strata, preempted))
			preempted = stratum_on_cpu(i, 0);
		strata_add(strata, preempted, TIME_RUNNABLE, totals.runnable_ns - totals.woken_ns);
		strata->rests[i].no_stack.ns[TIME_UNKNOWN] = totals.unknown_ns;
		wait_times_add(times, &slice, &totals, sampled);
	}
	for (size_t i = 0; i < times->slices.lifetime_count; i++) {
		const struct task_totals *totals = task_states_totals(times->states, i);
		strata->whole.waits += (double)totals->waits;
		if (totals->longest_wait_ns > strata->whole.longest_ns)
			strata->whole.longest_ns = totals->longest_wait_ns;
	}
	strata_add_unknown(strata, weights, on_cpu);
	return true;
}

static size_t split_leaf(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES])
{
	/* Leaves that filters reject may have no time. */
	return leaf->weight ? leaf_split_by_state(leaf, STATE_WAIT + leaf->time->reason, ret) : 0;
}

static void add_totals(const struct times *times, const struct state_sums *leaves,
		       struct state_sums *all, struct state_whole *whole)
{
	(void)whole;
	if (times->states)
		return;
	all->waits = leaves->waits;
	all->longest_ns = leaves->longest_ns;
}

const struct weigher weigher_wall = {
	.of_threads = true,
	.leaves_out_idle = true,
	.parts_max = TIME_STATES,
	.find_roles = threads_find_roles,
	.check = check_wall,
	.prepare = threads_find_places,
	.weigh = threads_weigh,
	.compute = compute,
	.split_leaf = split_leaf,
	.add_totals = add_totals,
};

const struct weigher weigher_off_cpu = {
	.of_threads = true,
	.leaves_out_idle = true,
	.excludes_on_cpu = true,
	.parts_max = TIME_STATES,
	.find_roles = threads_find_roles,
	.check = check_off_cpu,
	.prepare = threads_find_places,
	.weigh = threads_weigh,
	.compute = compute,
	.split_leaf = split_leaf,
	.add_totals = add_totals,
};
