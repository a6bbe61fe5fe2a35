/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/leaf_times.h"

#include "profile/interval.h"

void leaf_times_deinit(struct leaf_times *times)
{
	vec_deinit(times);
	sample_weights_deinit(&times->strata);
	sample_weights_deinit(&times->classes);
}

static struct sample_weight weight_of(const struct sample_time *sample, uint64_t key)
{
	return (struct sample_weight){key, sample->weight, sample->waits, sample->variance};
}

bool leaf_times_count(struct leaf_times *times, const struct sample_time *sample)
{
	struct stratum_id id = sample->stratum;
	if (sample->wait_class)
		id = stratum_of_waits(id.slice, sample->wait_class);
	const struct sample_weight weight = weight_of(sample, stratum_key(id));
	return sample_weights_add(&times->strata, &weight);
}

void leaf_times_add_wakeup(struct leaf_times *times, const struct sample_time *sample)
{
	const struct state_sums wakeup = {.waits = sample->waits,
					  .longest_ns = sample->wait_ns,
					  .delay_ns = sample->delay_ns};
	state_sums_add(&times->wakeups, &wakeup);
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
	const uint64_t key = (uint64_t)leaf << 32 | sample->wait_class;
	const struct sample_weight weight = weight_of(sample, key);
	struct state_sums sums = {.longest_ns = sample->wait_ns, .delay_ns = sample->delay_ns};
	struct leaf_time *time = time_of(times, leaf);
	if (!time)
		return false;
	time->stratum = sample->stratum;
	time->waker = sample->waker;
	if (!sample->wait_class) {
		sums.waits = sample->waits;
		sums.variance = sample->variance;
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

/* Adds the times that samples of a stratum stand for. */
static void add_scaled(struct stratum *stratum, const struct sample_weight *part,
		       struct state_sums *sums)
{
	uint64_t before = state_sums_total(sums);
	stratum_scale(stratum, part->weight, sums->ns);
	double ns = (double)(state_sums_total(sums) - before);
	double factor = part->weight ? ns / (double)part->weight : 0;
	sums->variance += part->variance * factor * factor;
	sums->waits += part->waits * stratum->waits_factor;
}

void leaf_times_scale(struct leaf_times *times, struct strata *strata)
{
	for (size_t i = 0; i < times->classes.count; i++) {
		const struct sample_weight *from = &times->classes.items[i];
		struct leaf_time *time = &times->items[from->key >> 32];
		uint32_t class = (uint32_t)from->key;
		struct stratum *stratum =
			strata_find(strata, stratum_of_waits(time->stratum.slice, class));
		if (stratum)
			add_scaled(stratum, from, &time->sums);
	}
	for (size_t i = 0; i < times->count; i++) {
		struct leaf_time *time = &times->items[i];
		const struct sample_weight all = {0, time->weight, time->sums.waits,
						  time->sums.variance};
		struct stratum *stratum = time->weight ? strata_find(strata, time->stratum) : NULL;
		time->weight = 0;
		if (!stratum)
			continue;
		time->sums.waits = time->sums.variance = 0;
		add_scaled(stratum, &all, &time->sums);
	}
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
		if (state == TIME_BLOCKED) {
			part.times = time->sums;
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
