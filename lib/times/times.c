/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/times.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"
#include "profile/interval.h"
#include "record/types.h"

/*
 * A thread is idle if it waited at one place for more than this part of its time. Time that is
 * unknown, or in which it waited for a CPU, does not count: both depend on other threads.
 */
#define IDLE_SHARE 0.99

/* Part of its blocked time for which samples must show the place. */
#define PLACED_SHARE 0.5

struct sp_error *times_no_switches(const struct sp_reader *reader, const char *what)
{
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, "%s has no context switches "
					   "(SWITCH records), which %s needs",
					   sp_reader_info(reader)->path, what);
	return error_set_remedy(error, "'sprof record --off-cpu COMMAND' records them");
}

size_t times_wake_event(const struct sp_reader *reader)
{
	static const char *const names[] = {"sched:sched_waking", "sched:sched_wakeup"};
	size_t count = sp_reader_event_count(reader);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < count; j++)
			if (sp_reader_event(reader, j)->attr.type == PERF_TYPE_TRACEPOINT &&
			    !strcmp(sp_reader_event(reader, j)->name, names[i]))
				return j;
	return count;
}

struct sp_error *times_check_wakes(const struct times *times, const char *what)
{
	const struct sp_reader *reader = times->from.reader;
	if (sched_samples_has_wakes(times->from.sched, times_wake_event(reader)))
		return NULL;
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, "%s has no wake-ups (samples of "
					   "sched:sched_waking), which %s needs",
					   sp_reader_info(reader)->path, what);
	return error_set_remedy(error, "as root, 'sprof record --wakers COMMAND' records them");
}

struct sp_error *times_init(struct times *times, const struct times_source *source,
			    const struct analysis_options *options,
			    const struct analysis_keys *keys)
{
	const struct weigher *weigher = source->weigher;
	size_t count = sp_reader_event_count(source->reader);
	bool known = weigher->of_threads && source->states && task_states_known(source->states);
	*times = (struct times){
		.weigher = weigher,
		.from = *source,
		.states = known ? source->states : NULL,
		.place_event = SP_EVENT_NONE,
		.roles = calloc(count + 1, sizeof(*times->roles)),
		.wakers = weigher->needs_wakers ||
			  (weigher->of_threads &&
			   (keys->rows[SP_KEY_WAKER] || keys->rows[SP_KEY_WAKEE])),
		.by_state = weigher->of_threads &&
			    (keys->rows[SP_KEY_STATE] || keys->rows[SP_KEY_WAITS_FOR]),
	};
	NEED(times->roles);
	if (weigher->of_threads)
		weigher->find_roles(source->reader, &options->samples, times->roles);
	else
		memset(times->roles, ROLE_ON_CPU, count);
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr *attr = &sp_reader_event(source->reader, i)->attr;
		if (times->roles[i] == ROLE_ON_CPU) {
			times->has_on_cpu = true;
			times->is_clock = record_is_clock(attr->type, attr->config);
			times->user_only = times->is_clock && attr->exclude_kernel;
			times->kernel_only = times->is_clock && attr->exclude_user;
			times->of_tasks = attr->inherit;
			times->period = times->is_clock ? record_clock_period_ns(attr) ?: 1
					: attr->freq    ? 1
							: attr->sample_period;
		}
		times->has_waits |= times->roles[i] == ROLE_WAIT;
		/* The kernel refused samples of switches. */
		times->by_snapshots |= times->roles[i] == ROLE_WAIT && record_is_dummy(attr);
		if (times->roles[i] == ROLE_SWITCH)
			times->is_thinned = attr->freq || attr->sample_period > 1;
		if (times->roles[i])
			times->any_event = i;
	}
	bool parallelism = weigher->needs_parallelism || options->filter.parallelism.count ||
			   keys->rows[SP_KEY_PARALLELISM];
	if (parallelism && source->states && task_states_known(source->states))
		NEED(runners_make(&times->runners, source->states));
	if (weigher->prepare)
		TRY(weigher->prepare(times, options));
	if (!weigher->of_threads)
		return NULL;
	if (times->states)
		TRY(slices_make(&times->slices, times->states, options));
	if (keys->rows[SP_KEY_WAKER] && !weigher->needs_wakers)
		TRY(times_check_wakes(times, "key waker"));
	return weigher->check(times);
}

void times_deinit(struct times *times)
{
	free(times->roles);
	slices_deinit(&times->slices);
	strata_deinit(&times->strata);
	runners_deinit(&times->runners);
	scaled_clocks_deinit(&times->clocks);
}

bool times_next_part(const struct times *times, const struct sample_time *whole, uint64_t *at_ns,
		     struct sample_time *ret)
{
	uint64_t end_ns = whole->end_ns > whole->begin_ns ? whole->end_ns : whole->begin_ns + 1;
	uint64_t from_ns = *at_ns;
	struct slice slice;
	if (!slices_next(&times->slices, whole->lifetime, at_ns, end_ns, &slice))
		return false;
	*ret = *whole;
	ret->shown = slice.shown;
	ret->stratum.slice = slice.number;
	ret->step_ns = slices_clamp(&times->slices, slice.number, from_ns);
	if (from_ns == whole->begin_ns && *at_ns == end_ns)
		return true;
	double length = end_ns - whole->begin_ns;
	double from = (double)(from_ns - whole->begin_ns) / length;
	double to = (double)(*at_ns - whole->begin_ns) / length;
	ret->begin_ns = from_ns;
	ret->weight = weight_part(whole->weight, to) - weight_part(whole->weight, from);
	ret->variance *= (to - from) * (to - from);
	if (!whole->is_preempted)
		ret->wait_ns = slice.end_ns - slice.begin_ns;
	/* The wake-up is at the end. */
	ret->delay_ns = *at_ns == end_ns ? whole->delay_ns : 0;
	return true;
}

struct sp_error *times_compute(struct times *times, const struct sample_weights *weights)
{
	if (times->weigher->compute)
		NEED(times->weigher->compute(times, weights));
	strata_sum(&times->strata);
	return NULL;
}

bool times_mostly_waits(const struct times *times, uint32_t lifetime)
{
	const struct task_totals *of = task_states_totals(times->states, lifetime);
	/* A thread that mostly waited for a CPU is not idle. */
	return (double)of->blocked_ns > IDLE_SHARE * (double)(of->blocked_ns + of->running_ns) &&
	       of->runnable_ns <= of->blocked_ns;
}

void times_add_place(struct times *times, uint32_t lifetime, uint32_t place, uint64_t ns)
{
	struct time_rest *rest = &times->strata.rests[times->slices.first[lifetime]];
	rest->placed_ns = weight_add(rest->placed_ns, ns);
	if (place != PLACE_HELD_UP && ns > rest->place_ns)
		rest->place_ns = ns;
}

/*
 * Sets whether a thread waited at one place in the ranges of --time, and not for a lock. Without
 * samples of most waits, it may have waited for a lock.
 */
static void find_idle(const struct times *times, uint32_t lifetime)
{
	const struct slices *slices = &times->slices;
	const struct task_totals *of = task_states_totals(times->states, lifetime);
	struct time_rest *rest = &times->strata.rests[slices->first[lifetime]];
	double blocked_ns = 0, running_ns = 0, placed_ns = (double)rest->placed_ns;
	if (!times_mostly_waits(times, lifetime))
		return;
	for (uint32_t i = slices->first[lifetime]; i < slices->first[lifetime + 1]; i++) {
		struct task_totals part;
		if (!slices_get(slices, i).shown)
			continue;
		slices_totals(slices, i, &part);
		blocked_ns += (double)part.blocked_ns;
		running_ns += (double)part.running_ns;
	}
	rest->is_unplaced = placed_ns <= PLACED_SHARE * blocked_ns;
	/* Thinned samples stand for more or less than the time that there was. */
	if (rest->is_unplaced)
		rest->is_idle = (double)of->longest_wait_ns >
				IDLE_SHARE * (double)(of->blocked_ns + of->running_ns);
	else
		rest->is_idle = (double)rest->place_ns / placed_ns * blocked_ns >
				IDLE_SHARE * (blocked_ns + running_ns);
}

/*
 * Finds all idle threads. A process without any others is shown if its threads may have waited for
 * locks. Returns false when out of memory.
 */
static bool find_all_idle(struct times *times)
{
	CLEANUP(u64map_deinit) struct u64map others = {0}; /* pids with threads that are not idle */
	const struct slices *slices = &times->slices;
	for (uint32_t i = 0; i < slices->lifetime_count; i++) {
		find_idle(times, i);
		if (!times->strata.rests[slices->first[i]].is_idle &&
		    !u64map_put(&others, task_states_totals(times->states, i)->pid, 1, NULL))
			return false;
	}
	for (uint32_t i = 0; i < slices->lifetime_count; i++) {
		struct time_rest *rest = &times->strata.rests[slices->first[i]];
		rest->is_idle &= !rest->is_unplaced ||
				 u64map_find(&others, task_states_totals(times->states, i)->pid);
		times->idle_threads += rest->is_idle;
	}
	return true;
}

bool times_leaves_out(const struct times *times, uint32_t lifetime)
{
	return lifetime != LIFETIME_NONE && times->idle_threads &&
	       times->strata.rests[times->slices.first[lifetime]].is_idle;
}

/* Subtracts the time of a lifetime from the whole of modes wall and off-cpu. */
static void leave_out_states(struct times *times, uint32_t lifetime)
{
	struct state_sums *whole = &times->strata.whole;
	const struct slices *slices = &times->slices;
	whole->waits -= (double)task_states_totals(times->states, lifetime)->waits;
	for (uint32_t i = slices->first[lifetime]; i < slices->first[lifetime + 1]; i++) {
		struct task_totals part;
		slices_totals(slices, i, &part);
		if (!times->weigher->excludes_on_cpu)
			whole->ns[TIME_ON_CPU] -= part.running_ns;
		whole->ns[TIME_RUNNABLE] -= part.runnable_ns;
		const struct stratum *preempted =
			strata_find(&times->strata, stratum_preempted(i, 0));
		whole->preempted_ns -= preempted ? preempted->ns[TIME_RUNNABLE] : 0;
		whole->ns[TIME_BLOCKED] -= part.blocked_ns;
		whole->ns[TIME_UNKNOWN] -= part.unknown_ns;
	}
}

/* Subtracts the blocked time of a lifetime that wake-ups ended. */
static void leave_out_wakeups(struct times *times, uint32_t lifetime)
{
	const struct slices *slices = &times->slices;
	for (uint32_t i = slices->first[lifetime]; i < slices->first[lifetime + 1]; i++) {
		const struct stratum *of = strata_find(&times->strata, stratum_of_waits(i, 0));
		times->strata.whole.ns[TIME_BLOCKED] -= of ? of->ns[TIME_BLOCKED] : 0;
	}
}

bool times_leave_out_idle(struct times *times)
{
	struct state_sums *whole = &times->strata.whole;
	const struct slices *slices = &times->slices;
	size_t count = slices->lifetime_count;
	uint64_t before_ns = state_sums_total(whole), blocked_ns = 0;
	bool wakers = times->weigher->needs_wakers;
	if (!find_all_idle(times))
		return false;
	if (times->idle_threads == count)
		times->idle_threads = 0;
	if (!times->idle_threads)
		return true;
	whole->longest_ns = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct task_totals *of = task_states_totals(times->states, i);
		if (!times_leaves_out(times, i)) {
			if (!wakers && of->longest_wait_ns > whole->longest_ns)
				whole->longest_ns = of->longest_wait_ns;
			continue;
		}
		blocked_ns = weight_add(blocked_ns, of->blocked_ns);
		(wakers ? leave_out_wakeups : leave_out_states)(times, i);
	}
	times->idle_ns = wakers ? blocked_ns : before_ns - state_sums_total(whole);
	return true;
}

void times_add_totals(const struct times *times, const struct state_sums *leaves,
		      const struct state_sums *wakeups, struct sp_profile *profile,
		      struct state_whole *whole)
{
	struct state_sums all = times->strata.whole;
	state_sums_add(&all, wakeups);
	all.variance = leaves->variance;
	times->weigher->add_totals(times, leaves, &all, whole);
	state_sums_add(&whole->sums, &all);
	state_sums_add(&whole->shown, leaves);
	profile->weight_is_time = !whole->counts;
	profile->weight = state_sums_total(&whole->sums);
	profile->times = state_times(&whole->sums, whole);
	profile->times.unknown_ns += whole->unended_ns;
	profile->threads += times->strata.slice_count ? times->slices.lifetime_count : 0;
	profile->idle_threads += times->idle_threads;
	profile->idle_ns = weight_add(profile->idle_ns, times->idle_ns);
}
