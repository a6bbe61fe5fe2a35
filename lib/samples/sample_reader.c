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

/* Counts one SAMPLE record. */
static struct sp_error *add_sample(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	counted->has_stack = false;
	if (record->event == SP_EVENT_NONE) {
		counted->unknown_event++;
		return NULL;
	}
	const struct perf_event_attr *attr = &counted->work->layout->events[record->event].attr;
	if (sample->time_ns) {
		if (!counted->last_ns || sample->time_ns < counted->first_ns)
			counted->first_ns = sample->time_ns;
		if (sample->time_ns > counted->last_ns)
			counted->last_ns = sample->time_ns;
		if (counted->time_bins &&
		    !time_bins_count(&counted->time_bins[record->event], sample->time_ns))
			return error_no_memory();
	}
	if (counted->work->mode)
		return count_of_mode(counted, record);
	if (counted->work->options->samples.branches)
		return count_branches(counted, record);
	if (counted->work->options->samples.memory)
		return count_sample(counted, record, record->event, cost_of(sample));
	if (sample->present & PERF_SAMPLE_READ)
		return count_counters(counted, record);
	uint64_t weight = sample->period;
	if (!(sample->present & PERF_SAMPLE_PERIOD))
		weight = attr->freq ? 1 : attr->sample_period;
	return count_sample(counted, record, record->event, weight);
}

struct sp_error *count_extent(struct counted *counted, struct reader_extent extent)
{
	struct sp_reader *reader = counted->work->reader;
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_record record;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error)
		error = decoder_new(counted->work->layout, &decoder);
	while (!error) {
		struct raw_record raw;
		uint64_t at = walker_offset(walker);
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		if (!error && raw.type != PERF_RECORD_SAMPLE)
			continue;
		if (!error && raw.size >= LARGE)
			walker_prefetch(walker, PREFETCH_SIZE);
		if (!error)
			error = decoder_decode(decoder, &raw, &record);
		if (!error) {
			walker_note_excess(walker, &raw, decoder_excess(decoder));
			error = add_sample(counted, &record);
		} else if (sp_error_code(error) == SP_ERROR_FORMAT) {
			reader_add_damage(reader, at, error);
			error = NULL;
		}
	}
	return error;
}
