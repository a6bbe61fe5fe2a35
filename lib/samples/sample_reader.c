/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the samples of a range: a record is decoded, weighed and given to count_sample().
 *
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
#include "record/types.h"
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
	struct counter_state *state =
		u64map_item(&counted->counters.index_of, key, &counted->counters);
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
		ret->event =
			losses_event_of_id(counted->work->read->sideband.losses, ret->counter.id);
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
		return !u64map_find(&counted->counters.index_of, key) &&
		       member.counter.value > most;
	}
	return false;
}

static void add_counter_times(struct event_sums *sums, const struct counter_state *state,
			      const struct sp_counters *now)
{
	uint64_t both = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if ((now->read_format & both) != both || now->time_enabled_ns < state->enabled_ns ||
	    now->time_running_ns < state->running_ns)
		return;
	sums->enabled_ns += now->time_enabled_ns - state->enabled_ns;
	sums->running_ns += now->time_running_ns - state->running_ns;
}

/* Adds the increase of each counter of the sample's group to the counter's event. */
static void count_counters(struct counted *counted, const struct sp_record *record)
{
	const struct perf_event_attr *attr = work_attr(counted->work, record->event);
	const struct sp_counters *counters = &record->sample.counters;
	bool before = began_before(counted, record, attr);
	for (size_t i = 0; i < counters->count; i++) {
		struct member member;
		bool added;
		if (!find_member(counted, record, i, &member)) {
			counted->unknown_event++;
			continue;
		}
		struct counter_state *state =
			state_of(counted, attr, &member.counter, record->sample.tid, &added);
		if (!state) {
			counted->failed = true;
			return;
		}
		/* The increase since the counter's last sample */
		uint64_t value = member.counter.value, delta = value - state->value;
		struct event_sums *sums = &counted->events[member.event];
		bool unknown = value < state->value || (added && before);
		sums->unattributed += unknown;
		if (!unknown)
			add_counter_times(sums, state, counters);
		*state = (struct counter_state){value, counters->time_enabled_ns,
						counters->time_running_ns};
		if (unknown || !delta)
			continue;
		count_sample(counted, record, member.event, delta);
		count_before_filters(counted, record, member.event, delta);
	}
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
 * Counts one branch. Returns whether it passes the filters; false if only function names can tell.
 */
static bool count_branch(struct counted *counted, const struct sp_record *record,
			 const struct sample_origin *origin, const struct sp_branch *branch)
{
	const struct work *work = counted->work;
	uint64_t words[SP_KEY_LIMIT];
	uint32_t root = RADIX_NONE, answer = ANSWER_FAILED;
	if (!work->keys->detail_count ||
	    sample_values(counted, record, branch, origin->view, words)) {
		root = sample_root(counted, origin, record->event,
				   work->keys->detail_count ? words : NULL, 0);
		answer = branch_lookup(counted, origin->view, branch->to);
	}
	if (root == RADIX_NONE || answer == ANSWER_FAILED) {
		counted->failed = true;
		return false;
	}
	uint32_t index = sample_leaf(counted, root, answer);
	if (!origin->shown || !(answer & (ANSWER_SHOWN | ANSWER_PENDING)))
		return false;
	struct leaf *leaf = &counted->leaves.items[index];
	leaf->samples++;
	leaf->weight = weight_add(leaf->weight, 1);
	if (!(answer & ANSWER_PENDING))
		return true;
	const struct weight_sums one = sums_of(1, record->sample.branch_count);
	leaf_add_pending(counted, index, &one);
	return false;
}

/* Counts the branches of a sample's branch stack for its event. */
static void count_branches(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	struct event_sums *sums = &counted->events[record->event];
	struct sample_origin origin;
	uint64_t shown = 0;
	if (!sample->branch_count) {
		sums->branchless++;
		return;
	}
	if (!sample_find_origin(counted, record, &origin)) {
		counted->failed = true;
		return;
	}
	for (size_t i = 0; i < sample->branch_count; i++)
		shown += count_branch(counted, record, &origin, &sample->branches[i]);
	const struct weight_sums all = sums_of(sample->branch_count, sample->branch_count);
	const struct weight_sums these = sums_of(shown, shown);
	weight_sums_merge(&sums->all, &all);
	weight_sums_merge(&sums->shown, &these);
	sums->branch_stacks++;
}

/* Counts a sample, or its part in one slice. */
static void count_slice(struct counted *counted, const struct sp_record *record)
{
	counted->failed |= !leaf_times_count(&counted->times, &counted->sample.time);
	count_sample(counted, record, record->event, counted->sample.time.weight);
}

/* Counts a sample with its weight in each slice of its thread's life. */
static void count_slices(struct counted *counted, const struct sp_record *record)
{
	struct sample_time *time = &counted->sample.time;
	if (time->wake.tid)
		counted->failed |= !leaf_times_add_wakeup(&counted->times, time);
	if (times_is_one_part(counted->work->times, time)) {
		count_slice(counted, record);
		count_before_filters(counted, record, record->event, time->weight);
		return;
	}
	const struct sample_time whole = *time;
	bool any = false;
	for (uint64_t at_ns = whole.begin_ns;
	     times_next_part(counted->work->times, &whole, &at_ns, time);) {
		time->is_later = any;
		count_slice(counted, record);
		any |= time->shown;
	}
	count_before_filters(counted, record, record->event, whole.weight);
}

/* Returns the part of the recording's time that contains `time_ns`, or is next to it. */
static uint32_t find_part(struct counted *counted, uint64_t time_ns)
{
	const struct work *work = counted->work;
	/* Most samples are in the part of the sample before. */
	if (time_ns - counted->part_begin_ns < work->part_ns)
		return counted->sample.part;
	uint64_t part = time_ns > work->parts_begin_ns
				? (time_ns - work->parts_begin_ns) / work->part_ns
				: 0;
	part = part < INTERVAL_PARTS ? part : INTERVAL_PARTS - 1;
	counted->part_begin_ns = work->parts_begin_ns + part * work->part_ns;
	return part;
}

/* Counts a sample by the mode's unit: its counters, its branches, or itself by its weight. */
static void count_by_unit(struct counted *counted, const struct sp_record *record)
{
	const struct times *times = counted->work->times;
	struct sample_time *time = &counted->sample.time;
	*time = (struct sample_time){
		.shown = filter_time(&counted->work->options->filter, record->sample.time_ns),
		.begin_ns = record->sample.time_ns,
		.step_ns = record->sample.time_ns,
	};
	if (counted->work->part_ns)
		counted->sample.part = find_part(counted, record->sample.time_ns);
	if (counted->work->options->samples.memory)
		counted->events[record->event].accesses += sample_has_access(&record->sample);
	if (record->event == times->place_event)
		count_place(counted, record);
	if (times->weigher->unit == WEIGHER_BRANCHES) {
		count_branches(counted, record);
	} else if (times->weigher->unit == WEIGHER_COUNTERS &&
		   record->sample.present & PERF_SAMPLE_READ) {
		count_counters(counted, record);
	} else if (times->weigher->weigh(times, record, time)) {
		if (time->is_timed) {
			count_slices(counted, record);
			return;
		}
		count_sample(counted, record, record->event, time->weight);
		count_before_filters(counted, record, record->event, time->weight);
	}
}

struct sp_error *count_extent(struct counted *counted, struct reader_extent extent)
{
	const struct work *work = counted->work;
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_record record;
	TRY(walker_new(work->read->reader, extent, &walker));
	TRY(decoder_new(work->read->sideband.layout, &decoder));
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
			reader_add_damage(work->read->reader, at, error);
			continue;
		}
		if (error)
			return error;
		walker_set_excess(walker, &raw, decoder_excess(decoder));
		counted->sample.has_stack = false;
		if (record.event == SP_EVENT_NONE) {
			counted->unknown_event++;
			continue;
		}
		counted->events[record.event].recorded++;
		const struct sp_sample *sample = &record.sample;
		if (sample->time_ns && sample->time_ns < RECORD_SUMMED_NS) {
			if (!counted->last_ns || sample->time_ns < counted->first_ns)
				counted->first_ns = sample->time_ns;
			if (sample->time_ns > counted->last_ns)
				counted->last_ns = sample->time_ns;
			if (counted->time_bins)
				NEED(time_bins_count(&counted->time_bins[record.event],
						     sample->time_ns));
		}
		count_by_unit(counted, &record);
		NEED(!counted->failed);
	}
}
