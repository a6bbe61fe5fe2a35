/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/sample_reader.h"

#include <sprof/private/words.h>
#include "base/cleanup.h"
#include "file/reader_damage.h"
#include "samples/branches.h"
#include "samples/counters.h"
#include "samples/sample_counter.h"
#include "walk/walker.h"

/*
 * Samples of at least this size usually have stack copies. The first PREFETCH_SIZE bytes of the next
 * record are prefetched then, because unwinding soon needs most of them.
 */
#define LARGE 4096
#define PREFETCH_SIZE 1024

DEFINE_CLEANUP(struct walker *, walker_free)
DEFINE_CLEANUP(struct decoder *, decoder_free)

/* Returns the latency of a memory sample in cycles; 1 if it is unknown, as in perf. */
static uint64_t cost_of(const struct sp_sample *sample)
{
	uint64_t bits = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, cost = 0;
	if (sample->present & bits)
		cost = sp_weight_parts(sample->present, sample->weight).latency;
	return cost ?: 1;
}

/* Counts a sample by its thread's state. */
static struct sp_error *count_of_mode(struct counted *counted, const struct sp_record *record)
{
	const struct mode_sample *of = &counted->of_mode;
	if (!mode_sample(counted->work->mode, record, &counted->of_mode))
		return NULL;
	uint32_t stratum = of->is_wait ? of->wait_class : of->stratum;
	const struct mode_weight weight = {mode_stratum_key(of->lifetime, of->is_wait, stratum),
					   of->weight, of->waits};
	const struct state_sums wakeup = {.waits = of->waits, .longest_ns = of->wait_ns,
					  .delay_ns = of->delay_ns};
	if (of->wake.tid)
		state_sums_add(&counted->wakeups, &wakeup);
	NEED(mode_weights_add(&counted->mode_weights, &weight));
	return count_sample(counted, record, record->event, of->weight);
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
		const struct perf_event_attr *attr = &work->layout->events[record.event].attr;
		if (work->mode)
			TRY(count_of_mode(counted, &record));
		else if (work->options->samples.branches)
			TRY(count_branches(counted, &record));
		else if (work->options->samples.memory)
			TRY(count_sample(counted, &record, record.event, cost_of(sample)));
		else if (sample->present & PERF_SAMPLE_READ)
			TRY(count_counters(counted, &record));
		else if (sample->present & PERF_SAMPLE_PERIOD)
			TRY(count_sample(counted, &record, record.event, sample->period));
		else
			TRY(count_sample(counted, &record, record.event,
					 attr->freq ? 1 : attr->sample_period));
	}
}
