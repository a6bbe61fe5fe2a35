/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modes wall and off-cpu: each thread's life by its states; off-cpu without the time on a CPU.
 * On-CPU samples distribute on-CPU time, and the time in which a thread was preempted. Waits'
 * strata have the exact time of waits of their class. Classes without samples add to the nearest
 * class of the thread that has some. Classes without waits (WAIT_CLASS_UNMATCHED, or a
 * contradiction of the records) have their samples' part of the weight of the thread's waits, and
 * the other classes share the rest.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/interval.h"
#include "record/types.h"
#include "times/times.h"

/* Smallest part of a thread's CPU time without samples that is taken for time in the kernel. */
#define KERNEL_PART_MIN 0.05

/*
 * Largest time between a sample and the switch that it belongs to. A sample without such a switch
 * has the duration of its period.
 */
#define SWITCH_DISTANCE_NS 1000000

/* Returns whether samples of the event are taken when a thread leaves a CPU. */
static bool is_switch(const struct sp_event *event)
{
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		return !strcmp(event->name, "sched:sched_switch");
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

static bool is_wait(const struct sp_event *event)
{
	return !strcmp(event->name, TIMES_WAIT_EVENT);
}

/*
 * Returns how well an event's samples show where threads run: 2 for clocks, 1 for hardware events
 * and the event `name`, 0 if not at all.
 */
static int on_cpu_rank(const struct sp_event *event, const char *name)
{
	if (name)
		return !strcmp(event->name, name) && !is_wait(event) && !is_switch(event);
	if (is_wait(event) || !event->attr.sample_period)
		return 0;
	if (record_is_clock(event->attr.type, event->attr.config))
		return 2;
	return event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_RAW;
}

/* Waits are those of TIMES_WAIT_EVENT, else of the first event that is taken at switches. */
void threads_find_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
			uint8_t *roles_ret)
{
	size_t count = sp_reader_event_count(reader), on_cpu = count, waits = count;
	int best = 0;
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *of = sp_reader_event(reader, i);
		int rank = on_cpu_rank(of, samples->event);
		roles_ret[i] = ROLE_NONE;
		if (rank > best) {
			best = rank;
			on_cpu = i;
		}
		bool before = waits == count || (is_wait(of) && roles_ret[waits] == ROLE_SWITCH);
		if ((is_wait(of) || is_switch(of)) && before) {
			if (waits < count)
				roles_ret[waits] = ROLE_NONE;
			waits = i;
			roles_ret[i] = is_wait(of) ? ROLE_WAIT : ROLE_SWITCH;
		}
	}
	if (on_cpu < count)
		roles_ret[on_cpu] = ROLE_ON_CPU;
}

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

/* Finds the wait that begins with the switch of a sample. Returns false if the records lack it. */
static bool find_wait(const struct times *times, const struct sp_sample *sample,
		      struct task_interval *ret)
{
	return times->states &&
	       task_states_next_wait(times->states, sample->tid, sample->time_ns, ret) &&
	       ret->begin_ns - sample->time_ns <= SWITCH_DISTANCE_NS;
}

static bool weigh_wait(const struct times *times, const struct sp_sample *sample,
		       struct sample_time *ret)
{
	struct task_interval wait;
	struct task_wakeup wakeup;
	ret->weight = ret->wait_ns = sample->period;
	if (!find_wait(times, sample, &wait) || wait.state == TASK_RUNNABLE ||
	    wait.end_ns <= wait.begin_ns)
		return true;
	ret->wait_class = wait_class(wait.end_ns - wait.begin_ns);
	/* The length is that of a loss, with which the wait begins. */
	if (wait.state != TASK_BLOCKED)
		return true;
	ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->begin_ns = wait.begin_ns;
	ret->wait_end_ns = ret->end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	/*
	 * A thread that was off the CPU for d ns is recorded with period T > d with probability d
	 * / T. Its wait then stands for T / d waits, and its weight has the variance T² (1 - d /
	 * T).
	 *
	 * States count the switch back as CPU time, periods do not.
	 */
	int64_t switch_ns =
		ret->lifetime == LIFETIME_NONE
			? 0
			: 2 * task_states_totals(times->states, ret->lifetime)->switch_ns;
	bool woken = task_states_wakeup(times->states, sample->tid, wait.end_ns, &wakeup);
	uint64_t off_ns = (woken ? wakeup.run_ns : wait.end_ns) - wait.begin_ns;
	double d = (double)off_ns, t = (double)sample->period;
	if (d < t && d + (double)switch_ns < t) {
		ret->waits = t / d;
		ret->variance = t * t * (1 - d / t);
	}
	return true;
}

/* Preempted threads do not wait for anything but a CPU: on-CPU samples distribute that time. */
static bool weigh_switch(const struct times *times, const struct sp_sample *sample,
			 struct sample_time *ret)
{
	struct task_interval wait;
	if (!find_wait(times, sample, &wait) || wait.state != TASK_BLOCKED)
		return false;
	ret->weight = ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->wait_class = wait_class(ret->wait_ns);
	ret->begin_ns = wait.begin_ns;
	ret->wait_end_ns = ret->end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	if (times->is_thinned)
		ret->variance = (double)ret->weight * (double)ret->weight;
	return true;
}

bool threads_weigh(const struct times *times, const struct sp_record *record,
		   struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	enum sample_role role = times->roles[record->event];
	uint32_t lifetime = LIFETIME_NONE;
	if (role == ROLE_NONE || (!sample->tid && times->states))
		return false;
	if (times->states) {
		size_t found = task_states_lifetime(times->states, sample->tid, sample->time_ns);
		if (found < LIFETIME_NONE)
			lifetime = (uint32_t)found;
	}
	*ret = (struct sample_time){.shown = ret->shown,
				    .begin_ns = sample->time_ns,
				    .step_ns = sample->time_ns,
				    .end_ns = sample->time_ns,
				    .lifetime = lifetime,
				    .is_timed = true,
				    .weight = sample->period};
	if (role == ROLE_ON_CPU) {
		ret->stratum = stratum_on_cpu(SLICE_NONE, 0);
		if (!(sample->present & PERF_SAMPLE_PERIOD))
			ret->weight = times->period;
		return lifetime != LIFETIME_NONE || times->is_clock;
	}
	ret->stratum = stratum_of_waits(SLICE_NONE, 0);
	ret->end_ns = weight_add(sample->time_ns, sample->period);
	ret->is_wait = true;
	ret->waits = 1;
	if (sample->present & PERF_SAMPLE_ADDR && sample->addr < UINT32_MAX)
		ret->syscall = (uint32_t)sample->addr;
	ret->wait_class = WAIT_CLASS_UNMATCHED;
	bool counts = role == ROLE_WAIT ? weigh_wait(times, sample, ret)
					: weigh_switch(times, sample, ret);
	if (lifetime == LIFETIME_NONE)
		ret->wait_class = 0;
	return counts;
}

uint64_t threads_blocked_ns(const struct times *times, const struct sp_record *record,
			    uint32_t *lifetime_ret)
{
	const struct sp_sample *sample = &record->sample;
	size_t lifetime = task_states_lifetime(times->states, sample->tid, sample->time_ns);
	struct sample_time time = {.lifetime = (uint32_t)lifetime, .waits = 1};
	struct slice slice;
	uint64_t shown_ns = 0;
	if (lifetime >= LIFETIME_NONE)
		return 0;
	*lifetime_ret = time.lifetime;
	/* Samples of waits that are not known have no end. */
	if (!(times->place_role == ROLE_WAIT ? weigh_wait(times, sample, &time)
					     : weigh_switch(times, sample, &time)))
		return 0;
	for (uint64_t at_ns = time.begin_ns;
	     at_ns < time.end_ns &&
	     slices_next(&times->slices, time.lifetime, &at_ns, time.end_ns, &slice);)
		shown_ns += slice.shown ? slice.end_ns - slice.begin_ns : 0;
	return weight_round((double)shown_ns * time.waits);
}

/* Times of waits. */
enum { WAIT_BLOCKED, WAIT_WOKEN, WAIT_OFF /* both */, WAIT_TIMES };

/* Waits of a slice with durations of one class. */
struct class_waits {
	uint64_t ns[WAIT_TIMES];
	double waits;
	const struct sample_weight *sampled; /* NULL: there are no samples, and no stratum */
	struct stratum *stratum;
	bool matched; /* has samples and waits */
};

static void add_wait(void *arg, const struct task_wait *wait)
{
	struct class_waits *classes = arg, *to = &classes[wait_class(wait->duration_ns)];
	to->ns[WAIT_BLOCKED] += wait->blocked_ns;
	to->ns[WAIT_WOKEN] += wait->woken_ns;
	to->ns[WAIT_OFF] += wait->blocked_ns + wait->woken_ns;
	to->waits++;
}

/* Returns the nearest class with samples and waits; 0: there is none. */
static uint32_t nearest_class(const struct class_waits *classes, uint32_t class)
{
	for (uint32_t distance = 0; distance < WAIT_CLASSES; distance++) {
		if (class > distance && classes[class - distance].matched)
			return class - distance;
		if (class + distance < WAIT_CLASSES && classes[class + distance].matched)
			return class + distance;
	}
	return 0;
}

/* Returns the sum of the matched classes. */
static uint64_t sum_classes(const struct class_waits *classes, int time)
{
	uint64_t sum = 0;
	for (uint32_t i = 1; i < WAIT_CLASSES; i++)
		sum = weight_add(sum, classes[i].matched ? classes[i].ns[time] : 0);
	return sum;
}

/*
 * Distributes a time to the strata: unmatched samples have their part of the weight, the others
 * that of their class. `time`: the classes' time for the parts, WAIT_OFF if it is 0. Returns the
 * time that is left if no class is matched.
 */
static uint64_t distribute(struct class_waits *classes, uint64_t weight, enum time_state state,
			   uint64_t ns, int time)
{
	time = sum_classes(classes, time) ? time : WAIT_OFF;
	struct stratum all = {.weight = weight}, matched = {.weight = sum_classes(classes, time)};
	all.ns[state] = matched.ns[state] = ns;
	for (uint32_t i = 1; i < WAIT_CLASSES; i++) {
		uint64_t part[TIME_STATES] = {0};
		if (!classes[i].sampled || classes[i].matched)
			continue;
		stratum_scale(&all, classes[i].sampled->weight, part);
		classes[i].stratum->ns[state] = part[state];
		matched.ns[state] -= part[state];
	}
	for (uint32_t i = 1; i < WAIT_CLASSES; i++)
		if (classes[i].matched)
			stratum_scale(&matched, classes[i].ns[time], classes[i].stratum->ns);
	return matched.weight ? 0 : matched.ns[state];
}

/* Sets the factors of the numbers of waits, by the same parts as the times. */
static void set_waits_factors(struct class_waits *classes, uint64_t weight, double waits)
{
	double matched = 1; /* part of all waits */
	for (uint32_t i = 1; i < WAIT_CLASSES; i++) {
		const struct sample_weight *sampled = classes[i].sampled;
		if (!sampled || classes[i].matched)
			continue;
		double part = (double)sampled->weight / (double)weight;
		if (sampled->waits > 0)
			classes[i].stratum->waits_factor = waits * part / sampled->waits;
		matched -= part;
	}
	for (uint32_t i = 1; i < WAIT_CLASSES; i++)
		if (classes[i].matched && classes[i].sampled->waits > 0)
			classes[i].stratum->waits_factor =
				classes[i].waits * fmax(matched, 0) / classes[i].sampled->waits;
}

/*
 * Distributes a slice's blocked time, and that from waking to running, to the classes of its waits.
 * classes[] have the samples.
 */
static void add_waits(struct times *times, const struct slice *slice,
		      const struct task_totals *totals, struct class_waits *classes)
{
	struct state_sums *rest = &times->strata.rests[slice->number].no_stack;
	uint64_t weight = 0;
	bool exact = totals->split == TASK_SPLIT_WAKING, split = totals->split != TASK_SPLIT_NONE;
	task_states_each_wait(times->states, slice->lifetime, slice->begin_ns, slice->end_ns,
			      add_wait, classes);
	for (uint32_t i = 1; i < WAIT_CLASSES; i++) {
		if (!classes[i].sampled)
			continue;
		weight = weight_add(weight, classes[i].sampled->weight);
		classes[i].matched = classes[i].waits > 0;
		classes[i].stratum =
			strata_find(&times->strata, stratum_of_waits(slice->number, i));
	}
	/* Waits of classes without samples are those of the nearest class with some. */
	for (uint32_t i = 1; i < WAIT_CLASSES; i++) {
		uint32_t to = classes[i].waits > 0 ? nearest_class(classes, i) : 0;
		if (!to || to == i)
			continue;
		for (int time = 0; time < WAIT_TIMES; time++)
			classes[to].ns[time] += classes[i].ns[time];
		classes[to].waits += classes[i].waits;
	}
	/* Snapshots find waits until the wake-up. The time after it may be most of short waits. */
	bool is_known = exact || !times->by_snapshots;
	uint64_t left = !is_known ? totals->woken_ns
				  : distribute(classes, weight, TIME_RUNNABLE, totals->woken_ns,
					       split ? WAIT_WOKEN : WAIT_OFF);
	rest->ns[TIME_RUNNABLE] = weight_add(rest->ns[TIME_RUNNABLE], left);
	left = distribute(classes, weight, TIME_BLOCKED, totals->blocked_ns,
			  split ? WAIT_BLOCKED : WAIT_OFF);
	rest->ns[TIME_BLOCKED] = weight_add(rest->ns[TIME_BLOCKED], left);
	/* Without samples of waits, all waits are those of the rest. */
	if (!weight) {
		rest->waits += (double)totals->waits;
		rest->longest_ns = totals->longest_wait_ns;
	}
	set_waits_factors(classes, weight, (double)totals->waits);
}

/*
 * A clock's samples are late or missing where a host runs another guest, and none is due in a
 * thread's last period, so that small differences do not prove CPU time in the kernel. Clocks of
 * whole CPUs find a thread by chance.
 */
void threads_find_kernel_time(struct times *times, const struct sample_weights *weights)
{
	double *parts = times->strata.user_part, period = (double)times->period;
	if (!times->user_only)
		return;
	memset(parts, 0, times->strata.slice_count * sizeof(*parts));
	for (size_t i = 0; i < weights->count; i++) {
		struct stratum_id id = stratum_of_key(weights->items[i].key);
		if (!stratum_is_of_waits(id) && id.slice != SLICE_NONE)
			parts[id.slice] += (double)weights->items[i].weight;
	}
	for (uint32_t i = 0; i < times->strata.slice_count; i++) {
		struct task_totals totals;
		slices_totals(&times->slices, i, &totals);
		double running = (double)totals.running_ns;
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
	if (!waits ||
	    !strata_make(strata, weights, times->slices.count))
		return false;
	threads_find_kernel_time(times, weights);
	for (size_t i = 0; i < weights->count; i++)
		if (stratum_is_of_waits(stratum_of_key(weights->items[i].key)) &&
		    weights->items[i].weight)
			waits[count++] = &weights->items[i];
	qsort(waits, count, sizeof(*waits), compare_weights);
	for (uint32_t i = 0; i < strata->slice_count; i++) {
		const struct slice slice = slices_get(&times->slices, i);
		struct class_waits classes[WAIT_CLASSES] = {0};
		struct task_totals totals;
		slices_totals(&times->slices, i, &totals);
		for (; at < count && stratum_of_key(waits[at]->key).slice == i; at++)
			classes[stratum_class(stratum_of_key(waits[at]->key))].sampled = waits[at];
		if (on_cpu)
			strata_add_on_cpu(strata, stratum_on_cpu(i, 0), totals.running_ns);
		strata_add(strata, stratum_on_cpu(i, 0), TIME_RUNNABLE,
			   totals.runnable_ns - totals.woken_ns);
		strata->rests[i].no_stack.ns[TIME_UNKNOWN] = totals.unknown_ns;
		add_waits(times, &slice, &totals, classes);
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
	.weigh = threads_weigh,
	.compute = compute,
	.split_leaf = split_leaf,
	.add_totals = add_totals,
};
