/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mode cpu: a profile for each event. Weights are periods, latencies of memory, or branches.
 *
 * An inherited event begins with a whole period in each task, so the first period of a task has no
 * sample, however many short tasks there are. If switches were recorded, samples of an inherited
 * clock are therefore scaled to the exact CPU time of their epoch (epochs.h), and that of an epoch
 * without samples is a rest. Numbers of slices in strata and rests are those of the epochs, once
 * for each scaled clock.
 */
#include <stdlib.h>
#include <sprof/private/words.h>
#include "base/error.h"
#include "profile/detail.h"
#include "profile/interval.h"
#include "record/types.h"
#include "times/times.h"

/*
 * A clock that excludes the kernel: samples may be late or missing for up to this part of an
 * epoch's CPU time. A larger part was in the kernel if it is more than a period.
 */
#define LATE_PART_MAX 0.05

static uint64_t period_of(const struct perf_event_attr *attr)
{
	return attr->freq ? 1 : attr->sample_period;
}

/*
 * Returns whether samples of the event are scaled if switches were recorded. Samples of the kernel
 * alone do not stand for the CPU time in user code.
 */
static bool is_inherited_clock(const struct perf_event_attr *attr)
{
	return attr->inherit && record_is_clock(attr->type, attr->config) && !attr->exclude_user &&
	       !(attr->sample_type & PERF_SAMPLE_READ) &&
	       (attr->sample_type & PERF_SAMPLE_PERIOD || period_of(attr) > 1);
}

static bool wants_states(const struct sp_reader *reader)
{
	bool switches = false, clocks = false;
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		switches |= sp_reader_event(reader, i)->attr.context_switch;
		clocks |= is_inherited_clock(&sp_reader_event(reader, i)->attr);
	}
	return switches && clocks;
}

static struct sp_error *prepare(struct times *times, const struct analysis_options *options)
{
	const struct sp_reader *reader = times->from.reader;
	struct scaled_clocks *clocks = &times->clocks;
	size_t count = sp_reader_event_count(reader);
	/* While single events were disabled, threads ran without samples of them. */
	if (!wants_states(reader) || !times->from.states ||
	    !task_states_known(times->from.states) || task_states_partly_off(times->from.states))
		return NULL;
	times->states = times->from.states;
	NEED(clocks->number_of = calloc(count + 1, sizeof(*clocks->number_of)));
	TRY(slices_make(&times->slices, times->states, options));
	NEED(epochs_make(&clocks->epochs, &times->slices, times->from.machine));
	for (uint16_t i = 0; i < count; i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (!is_inherited_clock(attr))
			continue;
		struct scaled_clock *clock = vec_push(clocks);
		NEED(clock);
		*clock = (struct scaled_clock){.event = i,
					       .user_only = attr->exclude_kernel,
					       .period_ns = record_clock_period_ns(attr)};
		clocks->number_of[i] = clocks->count;
		times->user_only |= clock->user_only;
	}
	return NULL;
}

uint16_t times_rest(const struct times *times, uint32_t number, struct slice *ret)
{
	const struct scaled_clocks *clocks = &times->clocks;
	if (times->weigher->of_threads) {
		*ret = slices_get(&times->slices, number);
		return times->any_event;
	}
	*ret = epochs_get(&clocks->epochs, number % (uint32_t)clocks->epochs.count);
	ret->number = number;
	return clocks->items[number / clocks->epochs.count].event;
}

/* Returns the stratum of a clock's samples in an epoch; UINT32_MAX: of threads without states. */
static struct stratum_id stratum_of(const struct scaled_clocks *clocks, uint32_t clock,
				    uint32_t epoch)
{
	return stratum_on_cpu(epoch == UINT32_MAX ? SLICE_NONE
			      : clock * (uint32_t)clocks->epochs.count + epoch, clock);
}

static bool weigh(const struct times *times, const struct sp_record *record,
		  struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	const struct scaled_clocks *clocks = &times->clocks;
	uint32_t epoch = UINT32_MAX;
	ret->lifetime = LIFETIME_NONE; /* the epoch is in one slice */
	ret->weight = sample->period;
	if (!(sample->present & PERF_SAMPLE_PERIOD))
		ret->weight = period_of(&sp_reader_event(times->from.reader, record->event)->attr);
	if (!clocks->number_of || !clocks->number_of[record->event])
		return true;
	size_t lifetime = task_states_lifetime(times->states, sample->tid, sample->time_ns);
	if (lifetime < LIFETIME_NONE)
		epoch = epochs_at(&clocks->epochs, lifetime, sample->time_ns);
	ret->is_timed = true;
	ret->stratum = stratum_of(clocks, clocks->number_of[record->event] - 1u, epoch);
	return true;
}

/*
 * Returns an epoch's CPU time. Lost switches make a part of it unknown, for which samples stand.
 * Samples without any time of their thread contradict the switches, and stay as they are.
 */
static uint64_t cpu_ns(const struct epoch *epoch, uint64_t weight)
{
	uint64_t most_ns = epoch->running_ns + epoch->unknown_ns;
	if (!most_ns || weight < epoch->running_ns)
		return most_ns ? epoch->running_ns : weight;
	return weight < most_ns ? weight : most_ns;
}

/* Adds an epoch's CPU time to the stratum of its samples, and to its rest. */
static void add_epoch(struct times *times, uint32_t clock, uint32_t index)
{
	const struct scaled_clock *of = &times->clocks.items[clock];
	struct stratum_id id = stratum_of(&times->clocks, clock, index);
	struct stratum *stratum = strata_find(&times->strata, id);
	struct time_rest *rest = &times->strata.rests[id.slice];
	uint64_t weight = stratum ? stratum->weight : 0;
	uint64_t ns = cpu_ns(&times->clocks.epochs.items[index], weight);
	uint64_t late_ns = ns > weight ? ns - weight : 0;
	uint64_t late_max_ns = weight_part(ns, LATE_PART_MAX);
	bool user_only = of->user_only && times->user_only;
	if (weight && (!user_only || late_ns <= late_max_ns))
		late_ns = 0;
	if (weight)
		stratum->ns[TIME_ON_CPU] = ns - late_ns;
	if (user_only && late_ns > late_max_ns + of->period_ns)
		rest->kernel_ns = late_ns;
	else
		rest->no_stack.ns[TIME_ON_CPU] = late_ns;
}

/* Returns whether a lifetime is that of a process that ended. */
static bool is_ended_process(const struct task_totals *of)
{
	return of->ended && of->pid == of->tid;
}

/*
 * Adds the CPU time of the command that its epochs lack. From Linux 6.16, a task's events end
 * before its memory is freed. Which program lacks how much is not recorded. The work at an exit is
 * in part the same for all, and in part grows with the memory that was used: half is distributed to
 * the processes that ended in equal parts, and half by their CPU time.
 */
static void add_unrecorded(struct times *times)
{
	const struct epochs *epochs = &times->clocks.epochs;
	size_t lifetimes = task_states_count(times->states);
	uint64_t known_ns = 0;
	double ended = 0, ran_ns = 0, done = 0;
	vec_each (epoch, epochs)
		known_ns = weight_add(known_ns, epoch->running_ns + epoch->unknown_ns);
	for (size_t i = 0; i < lifetimes; i++) {
		const struct task_totals *of = task_states_totals(times->states, i);
		ended += is_ended_process(of);
		ran_ns += is_ended_process(of) ? (double)of->running_ns : 0;
	}
	if (times->from.command_ns <= known_ns)
		return;
	uint64_t all_ns = times->from.command_ns - known_ns;
	for (uint32_t i = 0; i < lifetimes; i++) {
		const struct task_totals *of = task_states_totals(times->states, i);
		if (!is_ended_process(of))
			continue;
		double by_time = ran_ns > 0 ? (double)of->running_ns / ran_ns : 1 / ended;
		uint64_t from_ns = weight_part(all_ns, done);
		done += (1 / ended + by_time) / 2;
		for (size_t clock = 0; clock < times->clocks.count; clock++)
			times->strata.rests[clock * epochs->count + epochs_last(epochs, i)]
				.unrecorded_ns = weight_part(all_ns, done) - from_ns;
	}
}

/* Sums the times of each clock, and the factors by which its samples were scaled. */
static void sum_clocks(struct times *times, const struct sample_weights *weights)
{
	struct scaled_clocks *clocks = &times->clocks;
	for (size_t i = 0; i < times->strata.slice_count; i++) {
		const struct time_rest *rest = &times->strata.rests[i];
		struct scaled_clock *clock = &clocks->items[i / clocks->epochs.count];
		uint64_t *ns = &clock->ns;
		clock->kernel_ns = weight_add(clock->kernel_ns, rest->kernel_ns);
		*ns = weight_add(*ns, rest->kernel_ns);
		*ns = weight_add(*ns, rest->unrecorded_ns);
		*ns = weight_add(*ns, rest->no_stack.ns[TIME_ON_CPU]);
	}
	for (size_t i = 0; i < weights->count; i++) {
		const struct stratum_id id = stratum_of_key(weights->items[i].key);
		struct scaled_clock *clock = &clocks->items[id.number >> 1];
		uint64_t ns = times->strata.items[i].ns[TIME_ON_CPU];
		double weight = weights->items[i].weight;
		clock->ns = weight_add(clock->ns, ns);
		clock->sampled_ns += (double)ns;
		clock->factor += weight > 0 ? (double)ns * ((double)ns / weight) : 0;
	}
	vec_each (item, clocks)
		if (item->sampled_ns > 0)
			item->factor /= item->sampled_ns;
}

static bool compute(struct times *times, const struct sample_weights *weights)
{
	const struct scaled_clocks *clocks = &times->clocks;
	if (!clocks->count)
		return true;
	if (!strata_make(&times->strata, weights, clocks->epochs.count * clocks->count))
		return false;
	for (uint32_t clock = 0; clock < clocks->count; clock++)
		for (uint32_t i = 0; i < clocks->epochs.count; i++)
			add_epoch(times, clock, i);
	strata_add_unknown(&times->strata, weights, true);
	add_unrecorded(times);
	sum_clocks(times, weights);
	return true;
}

const struct scaled_clock *times_scaled_clock(const struct times *times, uint16_t event)
{
	uint16_t number = times->clocks.number_of ? times->clocks.number_of[event] : 0;
	return number ? &times->clocks.items[number - 1] : NULL;
}

void scaled_clocks_deinit(struct scaled_clocks *clocks)
{
	vec_deinit(clocks);
	epochs_deinit(&clocks->epochs);
	free(clocks->number_of);
}

/* The latency of a memory sample in cycles; 1 if it is unknown, as in perf. */
static bool weigh_memory(const struct times *times, const struct sp_record *record,
			 struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	(void)times;
	ret->weight = 0;
	if (sample->present & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		ret->weight = sp_weight_parts(sample->present, sample->weight).latency;
	ret->weight = ret->weight ?: 1;
	return true;
}

static size_t split_leaf(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES])
{
	*ret = (struct leaf_part){leaf->samples, leaf->weight, .state = DETAIL_NONE};
	return leaf->samples || leaf->weight;
}

const struct weigher weigher_cpu = {
	.unit = WEIGHER_COUNTERS,
	.wants_states = wants_states,
	.prepare = prepare,
	.weigh = weigh,
	.compute = compute,
	.split_leaf = split_leaf,
};

const struct weigher weigher_memory = {
	.weigh = weigh_memory,
	.split_leaf = split_leaf,
};

const struct weigher weigher_branches = {
	.unit = WEIGHER_BRANCHES,
	.split_leaf = split_leaf,
};
