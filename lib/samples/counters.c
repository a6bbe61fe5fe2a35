/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples with counter values (leader sampling). Each sample stands for the increase of every counter
 * of the group since the last sample of the same event, CPU and task.
 *
 * A counter's first value counts from when the counter was opened. If the recording begins later, for
 * example because it is a part of a longer one, that value includes earlier periods. This shows in the
 * leader's first value, which is then much more than the sample's period: the group's first values are
 * left out.
 */
#include "samples/counters.h"

#include "info/losses.h"
#include "samples/sample_counter.h"

/*
 * A first value of more than this many periods includes time before the recording. First periods are
 * small, because the kernel still adapts the period to the frequency.
 */
#define PERIODS_MOST 4
#define FIRST_MOST 10000000

/*
 * Returns a counter's state, which is zeroed if it is new. Valid until the next call. NULL when out of
 * memory.
 */
static struct counter_state *state_of(struct counted *counted, const struct perf_event_attr *attr,
				      const struct sp_counter *counter, uint32_t tid,
				      bool *added_ret)
{
	uint64_t key = attr->inherit ? hash_pair(counter->id, tid) : counter->id;
	if (!vec_reserve(&counted->counters, counted->counters.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&counted->counter_of, key,
					   (uint32_t)counted->counters.count, added_ret);
	if (!index)
		return NULL;
	if (*added_ret)
		*vec_push(&counted->counters) = (struct counter_state){0};
	return &counted->counters.items[*index];
}

/* One counter value of a sample, with its event. */
struct member {
	struct sp_counter counter;
	uint16_t event;
};

/* Finds the event of counter value `i`. Returns false if the event is not in the recording. */
static bool find_member(struct counted *counted, const struct sp_record *record, size_t i,
			struct member *ret)
{
	const struct sp_counters *counters = &record->sample.counters;
	*ret = (struct member){counters->values[i], record->event};
	if (counters->read_format & PERF_FORMAT_ID)
		ret->event = losses_event_of_id(counted->work->sideband->losses, ret->counter.id);
	else
		ret->counter.id = record->sample.id;
	return ret->event != SP_EVENT_NONE;
}

/* Returns whether the leader's first value includes counts from before the recording. */
static bool began_before(struct counted *counted, const struct sp_record *record,
			 const struct perf_event_attr *attr)
{
	const struct sp_sample *sample = &record->sample;
	struct member member;
	uint64_t most;
	if (!(sample->present & PERF_SAMPLE_PERIOD) || !sample->period)
		return false;
	if (__builtin_mul_overflow(sample->period, PERIODS_MOST, &most))
		return false;
	most = most > FIRST_MOST ? most : FIRST_MOST;
	for (size_t i = 0; i < sample->counters.count; i++) {
		if (!find_member(counted, record, i, &member) || member.event != record->event)
			continue;
		uint64_t key = attr->inherit ? hash_pair(member.counter.id, sample->tid)
					     : member.counter.id;
		return !u64map_find(&counted->counter_of, key) && member.counter.value > most;
	}
	return false;
}

static void add_times(struct event_sums *sums, const struct counter_state *state,
		      const struct sp_counters *now)
{
	uint64_t both = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if ((now->read_format & both) != both || now->time_enabled_ns < state->enabled_ns ||
	    now->time_running_ns < state->running_ns)
		return;
	sums->enabled_ns += now->time_enabled_ns - state->enabled_ns;
	sums->running_ns += now->time_running_ns - state->running_ns;
}

/* Computes a counter's increase since its last sample; 0 if it is unknown. */
static struct sp_error *counter_delta(struct counted *counted, const struct sp_record *record,
				      const struct member *member, bool began_before,
				      uint64_t *delta_ret)
{
	const struct perf_event_attr *attr = &counted->work->layout->events[record->event].attr;
	const struct sp_counters *counters = &record->sample.counters;
	struct event_sums *sums = &counted->events[member->event];
	bool added;
	struct counter_state *state = state_of(counted, attr, &member->counter, record->sample.tid,
					       &added);
	NEED(state);
	bool unknown = member->counter.value < state->value || (added && began_before);
	*delta_ret = unknown ? 0 : member->counter.value - state->value;
	sums->unattributed += unknown;
	if (!unknown)
		add_times(sums, state, counters);
	*state = (struct counter_state){member->counter.value, counters->time_enabled_ns,
					counters->time_running_ns};
	return NULL;
}

struct sp_error *count_counters(struct counted *counted, const struct sp_record *record)
{
	const struct perf_event_attr *attr = &counted->work->layout->events[record->event].attr;
	bool before = began_before(counted, record, attr);
	for (size_t i = 0; i < record->sample.counters.count; i++) {
		struct member member;
		uint64_t delta = 0;
		if (!find_member(counted, record, i, &member)) {
			counted->unknown_event++;
			continue;
		}
		TRY(counter_delta(counted, record, &member, before, &delta));
		if (delta)
			TRY(count_sample(counted, record, member.event, delta));
	}
	return NULL;
}
