/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples with counter values (leader sampling). Each sample stands for the increase of every
 * counter of the group since the last sample of the same event, CPU and task.
 *
 * A counter's first value counts from when the counter was opened. If the recording begins later,
 * for example because it is a part of a longer one, that value includes earlier periods. This
 * shows in the leader's first value, which is then much more than the sample's period: the group's
 * first values are left out.
 *
 * Counts each branch of a sample's branch stack at its target, as perf does. All branches of one
 * sample come from one moment, so they are not independent draws: the intervals are computed from
 * the number of samples.
 */
#include "samples/sample_reader.h"

#include "base/cleanup.h"
#include "file/reader_damage.h"
#include "info/losses.h"
#include "profile/filter.h"
#include "samples/sample_counter.h"
#include "samples/sample_values.h"
#include "walk/walker.h"

/*
 * Samples of at least this size usually have stack copies. The first PREFETCH_SIZE bytes of the
 * next record are prefetched then, because unwinding soon needs most of them.
 */
#define LARGE 4096
#define PREFETCH_SIZE 1024

/*
 * A first value of more than this many periods includes time before the recording. First periods
 * are small, because the kernel still adapts the period to the frequency.
 */
#define PERIODS_MOST 4
#define FIRST_MOST 10000000

DEFINE_CLEANUP(struct walker *, walker_free)
DEFINE_CLEANUP(struct decoder *, decoder_free)

/*
 * Returns a counter's state, which is zeroed if it is new. Valid until the next call. NULL when
 * out of memory.
 */
static struct counter_state *state_of(struct counted *counted, const struct perf_event_attr *attr,
				      const struct sp_counter *counter, uint32_t tid,
				      bool *added_ret)
{
	uint64_t key = attr->inherit ? hash_pair(counter->id, tid) : counter->id;
	size_t before = counted->counters.count;
	struct counter_state *state = u64map_item(&counted->counter_of, key, &counted->counters);
	*added_ret = counted->counters.count > before;
	return state;
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

/* Adds the increase of each counter of the sample's group to the counter's event. */
static struct sp_error *count_counters(struct counted *counted, const struct sp_record *record)
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
		if (!delta)
			continue;
		TRY(count_sample(counted, record, member.event, delta));
		TRY(count_before_filters(counted, record, member.event, delta));
	}
	return NULL;
}

/*
 * Returns the sums for `count` branches of a sample that has `size` branches. The squares make
 * intervals as wide as if the sample were one draw.
 */
static struct weight_sums sums_of(uint64_t count, uint64_t size)
{
	return (struct weight_sums){count, count, wide_product(count, size)};
}

/*
 * Counts one branch. *shown_ret: whether it passes the filters, if that is known without function
 * names. Returns false when out of memory.
 */
static bool count_branch(struct counted *counted, const struct sp_record *record,
			 const struct place_of_sample *place, const struct sp_branch *branch,
			 bool *shown_ret)
{
	const struct work *work = counted->work;
	uint32_t view = place->view;
	uint64_t words[SP_KEY_COUNT];
	*shown_ret = false;
	if (work->detail_count && !sample_values(counted, record, branch, view, words))
		return false;
	uint32_t root = sample_root(counted, place, record->event,
				    work->detail_count ? words : NULL, 0);
	uint32_t answer = branch_lookup(counted, view, branch->to);
	if (root == RADIX_NONE || answer == ANSWER_FAILED)
		return false;
	uint32_t index = sample_leaf(counted, root, answer);
	if (index == UINT32_MAX)
		return false;
	if (!place->shown || !(answer & (ANSWER_SHOWN | ANSWER_PENDING)))
		return true;
	struct leaf *leaf = &counted->leaves.items[index];
	leaf->samples++;
	leaf->weight = weight_add(leaf->weight, 1);
	*shown_ret = !(answer & ANSWER_PENDING);
	if (*shown_ret)
		return true;
	const struct weight_sums one = sums_of(1, record->sample.branch_count);
	return leaf_add_pending(counted, index, &one);
}

/* Counts the branches of a sample's branch stack for its event. */
static struct sp_error *count_branches(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	struct event_sums *sums = &counted->events[record->event];
	struct place_of_sample place;
	uint64_t shown = 0;
	if (!sample->branch_count) {
		sums->branchless++;
		return NULL;
	}
	NEED(sample_place(counted, record, &place));
	for (size_t i = 0; i < sample->branch_count; i++) {
		bool is_shown;
		NEED(count_branch(counted, record, &place, &sample->branches[i], &is_shown));
		shown += is_shown;
	}
	const struct weight_sums all = sums_of(sample->branch_count, sample->branch_count);
	const struct weight_sums these = sums_of(shown, shown);
	weight_sums_merge(&sums->all, &all);
	weight_sums_merge(&sums->shown, &these);
	sums->branch_stacks++;
	return NULL;
}

/* Counts a sample, or what it has of one slice. */
static struct sp_error *count_part(struct counted *counted, const struct sp_record *record)
{
	NEED(leaf_times_count(&counted->times, &counted->time));
	return count_sample(counted, record, record->event, counted->time.weight);
}

/* Counts a sample with its weight in each slice of its thread's life. */
static struct sp_error *count_times(struct counted *counted, const struct sp_record *record)
{
	struct sample_time *time = &counted->time;
	if (time->wake.tid)
		leaf_times_add_wakeup(&counted->times, time);
	if (times_is_one_part(counted->work->times, time)) {
		TRY(count_part(counted, record));
		return count_before_filters(counted, record, record->event, time->weight);
	}
	const struct sample_time whole = *time;
	bool any = false;
	for (uint64_t at_ns = whole.begin_ns;
	     times_next_part(counted->work->times, &whole, &at_ns, time);) {
		time->is_later = any;
		TRY(count_part(counted, record));
		any |= time->shown;
	}
	return count_before_filters(counted, record, record->event, whole.weight);
}

/* Counts a sample, or the parts of it that have weights. */
static struct sp_error *count_parts(struct counted *counted, const struct sp_record *record)
{
	const struct times *times = counted->work->times;
	struct sample_time *time = &counted->time;
	*time = (struct sample_time){
		.shown = filter_time(&counted->work->options->filter, record->sample.time_ns),
		.begin_ns = record->sample.time_ns,
		.step_ns = record->sample.time_ns,
	};
	if (counted->work->options->samples.memory)
		counted->events[record->event].accesses += sample_has_access(&record->sample);
	switch (times->weigher->unit) {
	case WEIGHER_BRANCHES:
		return count_branches(counted, record);
	case WEIGHER_COUNTERS:
		if (record->sample.present & PERF_SAMPLE_READ)
			return count_counters(counted, record);
		break;
	case WEIGHER_SAMPLE:
		break;
	}
	if (!times->weigher->weigh(times, record, time))
		return NULL;
	if (time->is_timed)
		return count_times(counted, record);
	TRY(count_sample(counted, record, record->event, time->weight));
	return count_before_filters(counted, record, record->event, time->weight);
}

struct sp_error *count_extent(struct counted *counted, struct reader_extent extent)
{
	const struct work *work = counted->work;
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_record record;
	TRY(walker_new(work->reader, extent, &walker));
	TRY(decoder_new(work->layout, &decoder));
	for (;;) {
		struct raw_record raw;
		uint64_t at = walker_offset(walker);
		struct sp_error *error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		if (!error && raw.type != PERF_RECORD_SAMPLE)
			continue;
		if (!error && raw.size >= LARGE)
			walker_prefetch(walker, PREFETCH_SIZE);
		if (!error)
			error = decoder_decode(decoder, &raw, &record);
		if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
			reader_add_damage(work->reader, at, error);
			continue;
		}
		if (error)
			return error;
		walker_note_excess(walker, &raw, decoder_excess(decoder));
		counted->has_stack = false;
		if (record.event == SP_EVENT_NONE) {
			counted->unknown_event++;
			continue;
		}
		counted->events[record.event].recorded++;
		const struct sp_sample *sample = &record.sample;
		if (sample->time_ns) {
			if (!counted->last_ns || sample->time_ns < counted->first_ns)
				counted->first_ns = sample->time_ns;
			if (sample->time_ns > counted->last_ns)
				counted->last_ns = sample->time_ns;
			if (counted->time_bins)
				NEED(time_bins_count(&counted->time_bins[record.event],
						     sample->time_ns));
		}
		TRY(count_parts(counted, &record));
	}
}
