/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives a thread's exact time of waits to the samples of its waits. Samples of one slice (a part of
 * the thread's life) and one class (waits of similar duration) are a stratum, which has the exact
 * time of the class's waits. Classes without samples add to the nearest class of the slice that has
 * some. Classes without waits (WAIT_CLASS_UNMATCHED, or a contradiction of the records) have their
 * samples' part of the weight of the slice's waits, and the other classes share the rest.
 */
#include "times/wait_times.h"

#include <math.h>
#include "profile/interval.h"

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

void wait_times_add(struct times *times, const struct slice *slice,
		    const struct task_totals *totals,
		    const struct sample_weight *const sampled[WAIT_CLASSES])
{
	struct class_waits classes[WAIT_CLASSES] = {0};
	struct state_sums *rest = &times->strata.rests[slice->number].no_stack;
	uint64_t weight = 0;
	bool exact = totals->split == TASK_SPLIT_WAKING, split = totals->split != TASK_SPLIT_NONE;
	task_states_each_wait(times->states, slice->lifetime, slice->begin_ns, slice->end_ns,
			      add_wait, classes);
	for (uint32_t i = 1; i < WAIT_CLASSES; i++) {
		classes[i].sampled = sampled[i];
		if (!sampled[i])
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
	/*
	 * Snapshots find waits until the wake-up. The time after it may be most of short waits, so
	 * that their samples do not tell which code had it: it stays in the rest, without a stack.
	 */
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
	set_waits_factors(classes, weight, totals->waits);
}
