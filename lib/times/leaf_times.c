/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/leaf_times.h"

#include <math.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "profile/interval.h"
#include "times/slices.h"

void leaf_times_deinit(struct leaf_times *times)
{
	vec_deinit(times);
	sample_weights_deinit(&times->strata);
	sample_weights_deinit(&times->classes);
	sample_weights_deinit(&times->places);
	vec_deinit(&times->wakeups);
}

/*
 * Rounds a variance to a multiple of 1 µs², nearly. Sums of less than 2^73 ns² are then exact, and
 * the order of adding does not matter.
 */
static double round_variance(double variance)
{
	return floor(variance / 0x1p20 + 0.5) * 0x1p20;
}

static struct sample_weight weight_of(const struct sample_time *sample, uint64_t key)
{
	return (struct sample_weight){key, sample->weight, sample->waits,
				      round_variance(sample->variance)};
}

bool leaf_times_count(struct leaf_times *times, const struct sample_time *sample)
{
	struct stratum_id id = sample->stratum;
	if (sample->wait_class)
		id = stratum_of_waits(id.slice, sample->wait_class);
	const struct sample_weight weight = weight_of(sample, stratum_key(id));
	return sample_weights_add(&times->strata, &weight);
}

bool leaf_times_add_wakeup(struct leaf_times *times, const struct sample_time *sample)
{
	size_t index = sample->lifetime == LIFETIME_NONE ? 0 : (size_t)sample->lifetime + 1;
	const struct state_sums wakeup = {.waits = sample->waits,
					  .longest_ns = sample->wait_ns,
					  .delay_ns = sample->delay_ns};
	if (!vec_reserve(&times->wakeups, index + 1))
		return false;
	while (times->wakeups.count <= index)
		*vec_push(&times->wakeups) = (struct state_sums){0};
	state_sums_add(&times->wakeups.items[index], &wakeup);
	return true;
}

/* Returns a leaf's time, which is new and zeroed, or exists. NULL when out of memory. */
static struct leaf_time *time_of(struct leaf_times *times, uint32_t leaf)
{
	if (!vec_reserve(times, (size_t)leaf + 1))
		return NULL;
	while (times->count <= leaf)
		*vec_push(times) = (struct leaf_time){0};
	return &times->items[leaf];
}

bool leaf_times_add(struct leaf_times *times, uint32_t leaf, const struct sample_time *sample)
{
	const uint64_t key = key_of_pair(leaf, sample->wait_class);
	const struct sample_weight weight = weight_of(sample, key);
	struct state_sums sums = {.longest_ns = sample->wait_ns, .delay_ns = sample->delay_ns};
	struct leaf_time *time = time_of(times, leaf);
	if (!time)
		return false;
	time->stratum = sample->stratum;
	time->waker = sample->waker;
	if (!sample->wait_class) {
		sums.waits = sample->waits;
		sums.variance = weight.variance;
		time->weight = weight_add(time->weight, sample->weight);
	}
	state_sums_add(&time->sums, &sums);
	return !sample->wait_class || sample_weights_add(&times->classes, &weight);
}

bool leaf_times_add_rest(struct leaf_times *times, uint32_t leaf, uint32_t slice,
			 const struct state_sums *rest)
{
	struct leaf_time *time = time_of(times, leaf);
	if (!time)
		return false;
	time->is_rest = true;
	time->stratum = stratum_on_cpu(slice, 0);
	state_sums_add(&time->sums, rest);
	return true;
}

/* A weight to scale: that of a leaf, or that of a class of its waits. */
struct scaled_weight {
	uint64_t order; /* number in struct ordered_leaves */
	uint32_t stratum, worker;
	uint32_t number; /* index of the leaf, or in `classes` */
	bool is_class;
};

struct scaled_weights {
	VEC(struct scaled_weight);
};

static void scaled_weights_deinit(struct scaled_weights *weights)
{
	vec_deinit(weights);
}

/* Leaves come before their classes, which add to their waits and variance. */
static int compare_weights(const void *left, const void *right)
{
	const struct scaled_weight *a = left, *b = right;
	return u64_order(a->order, b->order)      ?:
	       a->is_class - b->is_class	  ?:
	       u64_order(a->stratum, b->stratum);
}

/*
 * Sorts weights: first into as many buckets as there are weights, by the highest bits of `order`,
 * which are hashes. Returns false when out of memory.
 */
static bool sort_weights(struct scaled_weights *weights)
{
	unsigned int shift = 63;
	while (shift > 32 && weights->count >> (63 - shift) > 1)
		shift--;
	CLEANUP_FREE size_t *ends = calloc((UINT64_MAX >> shift) + 2, sizeof(*ends));
	CLEANUP(scaled_weights_deinit) struct scaled_weights sorted = {0};
	if (!ends || !vec_reserve(&sorted, weights->count + 1))
		return false;
	vec_each (weight, weights)
		ends[(weight->order >> shift) + 1]++;
	for (size_t i = 1; i <= UINT64_MAX >> shift; i++)
		ends[i] += ends[i - 1];
	vec_each (item, weights)
		sorted.items[ends[item->order >> shift]++] = *item;
	sorted.count = weights->count;
	for (size_t i = 0, begin = 0; i <= UINT64_MAX >> shift; begin = ends[i++])
		if (ends[i] - begin > 1)
			qsort(sorted.items + begin, ends[i] - begin, sizeof(*sorted.items),
			      compare_weights);
	scaled_weights_deinit(weights);
	*weights = sorted;
	sorted = (struct scaled_weights){0};
	return true;
}

/* Lists a weight if it has a stratum. Returns false when out of memory. */
static bool list_weight(struct scaled_weights *weights, const struct strata *strata,
			struct stratum_id id, struct scaled_weight weight)
{
	const struct stratum *stratum = strata_find(strata, id);
	struct scaled_weight *to = stratum ? vec_push(weights) : NULL;
	if (to) {
		weight.stratum = (uint32_t)(stratum - strata->items);
		*to = weight;
	}
	return to || !stratum;
}

/* Lists the weights of a worker. Returns false when out of memory. */
static bool list_weights(struct scaled_weights *weights, const struct strata *strata,
			 const struct ordered_leaves *leaves, uint32_t worker)
{
	const struct leaf_times *times = leaves->times;
	for (uint32_t i = 0; i < times->count; i++) {
		const struct scaled_weight weight = {
			.order = leaves->orders[i], .worker = worker, .number = i};
		if (times->items[i].weight &&
		    !list_weight(weights, strata, times->items[i].stratum, weight))
			return false;
	}
	for (uint32_t i = 0; i < times->classes.count; i++) {
		uint32_t leaf = key_high(times->classes.items[i].key);
		uint32_t class = (uint32_t)times->classes.items[i].key;
		const struct scaled_weight weight = {.order = leaves->orders[leaf],
						     .worker = worker,
						     .number = i,
						     .is_class = true};
		uint32_t slice = times->items[leaf].stratum.slice;
		if (!list_weight(weights, strata, stratum_of_waits(slice, class), weight))
			return false;
	}
	return true;
}

/* Returns the variance of a stratum's samples after scaling. */
static double scale_variance(const struct stratum *stratum, double variance)
{
	double ns = 0;
	for (int i = 0; i < TIME_STATES; i++)
		ns += (double)stratum->ns[i];
	double factor = stratum->weight ? ns / (double)stratum->weight : 0;
	return round_variance(variance * factor * factor);
}

bool leaf_times_scale(const struct ordered_leaves *workers, uint32_t count, struct strata *strata)
{
	CLEANUP(scaled_weights_deinit) struct scaled_weights weights = {0};
	for (uint32_t i = 0; i < count; i++)
		if (!list_weights(&weights, strata, &workers[i], i))
			return false;
	if (!sort_weights(&weights))
		return false;
	double variance = 0; /* sum for equal leaves */
	for (size_t i = 0; i < weights.count; i++) {
		const struct scaled_weight *weight = &weights.items[i];
		struct leaf_times *times = workers[weight->worker].times;
		struct stratum *stratum = &strata->items[weight->stratum];
		const struct sample_weight *class =
			weight->is_class ? &times->classes.items[weight->number] : NULL;
		struct leaf_time *time =
			&times->items[class ? key_high(class->key) : weight->number];
		struct state_sums *sums = &time->sums;
		struct sample_weight part = {0, time->weight, sums->waits, sums->variance};
		if (class)
			part = *class;
		else
			sums->waits = sums->variance = 0;
		stratum_scale(stratum, part.weight, sums->ns);
		if (stratum->is_preempted)
			sums->preempted_ns = sums->ns[TIME_RUNNABLE];
		sums->waits += part.waits * stratum->waits_factor;
		variance += part.variance;
		if (i + 1 == weights.count || compare_weights(weight, weight + 1)) {
			sums->variance += scale_variance(stratum, variance);
			variance = 0;
		}
	}
	return true;
}

size_t leaf_split_by_state(const struct timed_leaf *leaf, uint64_t state_of_waits,
			   struct leaf_part ret[TIME_STATES])
{
	const struct leaf_time *time = leaf->time;
	size_t count = 0;
	if (!leaf->weight)
		return 0;
	const uint64_t *ns = time->sums.ns;
	/* Samples were taken on a CPU, or of a wait; they stand for the time before it, too. */
	enum time_state sampled = ns[TIME_ON_CPU]     ? TIME_ON_CPU
				  : ns[TIME_BLOCKED]  ? TIME_BLOCKED
				  : ns[TIME_RUNNABLE] ? TIME_RUNNABLE
						      : TIME_UNKNOWN;
	for (enum time_state state = 0; state < TIME_STATES; state++) {
		if (!ns[state])
			continue;
		struct leaf_part part = {.samples = state == sampled ? leaf->samples : 0,
					 .weight = ns[state],
					 .state = state,
					 .time = state};
		if (state == TIME_RUNNABLE)
			part.times.preempted_ns = time->sums.preempted_ns;
		if (state == TIME_BLOCKED) {
			part.times = time->sums;
			part.times.preempted_ns = 0;
			part.times.ns[TIME_ON_CPU] = part.times.ns[TIME_RUNNABLE] = 0;
			part.times.ns[TIME_UNKNOWN] = 0;
			part.state = state_of_waits;
		}
		part.times.ns[state] = ns[state];
		part.text = leaf_state_text(part.state);
		ret[count++] = part;
	}
	return count;
}

const char *leaf_state_text(uint64_t state)
{
	static const char *const texts[] = {"[on CPU]", "[waiting for CPU]", "[blocked]",
					    "[unknown state]", "[all threads blocked]"};
	return state < STATE_WAIT ? texts[state] : wait_reason_state((uint8_t)(state - STATE_WAIT));
}

const char *leaf_state_waits_for(uint64_t state)
{
	if (state >= STATE_WAIT)
		return wait_reason_name((uint8_t)(state - STATE_WAIT));
	return state == TIME_RUNNABLE ? "CPU" : state == TIME_ON_CPU ? "-" : NULL;
}
