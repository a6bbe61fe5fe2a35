/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of a clock that was set back. Samples are located by time; after the step they would be
 * before their process began. CLOCK_DATA has the time at which the recording began. A record with
 * an earlier time was made after the step. It is shifted to after the last earlier record of its
 * CPU's ring buffer: too early by at most the time without records there. Smaller steps are not
 * found. sprof's own recordings have no steps (-k realtime is CLOCK_MONOTONIC plus an offset).
 */
#include "reader/clock_setback.h"

#include <time.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "file/reader_struct.h"
#include "record/decode.h"
#include "record/types.h"
#include "walk/walker.h"

/* Samples may be taken this long before the recorder reads CLOCK_DATA's time. */
#define EARLY_NS UINT64_C(5000000000)

/* State of one CPU's ring buffer while the step is searched. */
struct ring_time {
	uint64_t last_ns;
	bool set_back;
};

struct clock_step {
	uint64_t began_ns;
	struct u64map of_cpu; /* CPU -> index in `rings` */
	struct { VEC(struct ring_time); } rings;
	uint64_t back_ns, moved;
};

static bool can_be_set(const struct sp_reader *reader)
{
	const struct record_layout *layout = &reader->layout;
	for (size_t i = 0; i < layout->event_count; i++) {
		const struct perf_event_attr *attr = &layout->events[i].attr;
		if (attr->use_clockid &&
		    (attr->clockid == CLOCK_REALTIME || attr->clockid == CLOCK_TAI))
			return reader->info.clock_ns > EARLY_NS;
	}
	return false;
}

static struct sp_error *on_record(struct clock_step *step, const struct sp_record *record)
{
	const struct record_origin from = record_origin(record);
	uint64_t time_ns = from.time_ns;
	if (record->type >= RECORD_USER_TYPES || !(from.present & PERF_SAMPLE_TIME) || !time_ns ||
	    time_ns == UINT64_MAX)
		return NULL;
	uint32_t cpu = from.present & PERF_SAMPLE_CPU ? from.cpu : UINT32_MAX;
	struct ring_time *ring = u64map_item(&step->of_cpu, cpu, &step->rings);
	NEED(ring);
	if (time_ns >= step->began_ns) {
		if (!ring->set_back && time_ns > ring->last_ns)
			ring->last_ns = time_ns;
		return NULL;
	}
	/*
	 * Each ring buffer shows the step minus the time without records there. The largest value is
	 * the best bound.
	 */
	if (!ring->set_back && ring->last_ns && ring->last_ns - time_ns > step->back_ns)
		step->back_ns = ring->last_ns - time_ns;
	ring->set_back = true;
	step->moved++;
	return NULL;
}

/*
 * Searches all records for the step. Damaged records are skipped without a message, because later
 * passes list them.
 */
static struct sp_error *find_step(struct sp_reader *reader, struct clock_step *step)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	TRY(walker_new(reader, reader->extent, &walker));
	struct sp_error *error = decoder_new(&reader->layout, &decoder);
	while (!error) {
		struct raw_record raw;
		struct sp_record record;
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		if (!error)
			error = decoder_decode(decoder, &raw, &record);
		if (!error)
			error = on_record(step, &record);
		if (error && sp_error_code(error) == SP_ERROR_FORMAT)
			sp_error_free(take_ptr(error));
	}
	return error;
}

struct sp_error *reader_find_clock_step(struct sp_reader *reader, uint64_t *moved_ret,
					uint64_t *back_ns_ret)
{
	*moved_ret = *back_ns_ret = 0;
	if (reader->layout.set_back_ns || !can_be_set(reader))
		return NULL;
	struct clock_step step = {.began_ns = reader->info.clock_ns - EARLY_NS};
	struct sp_error *error = find_step(reader, &step);
	if (!error && step.moved) {
		/*
		 * There is no record before the step: any shift that moves times after the recording's
		 * begin is right.
		 */
		if (!step.back_ns)
			step.back_ns = EARLY_NS;
		reader->layout.began_ns = step.began_ns;
		reader->layout.set_back_ns = step.back_ns;
		*moved_ret = step.moved;
		*back_ns_ret = step.back_ns;
	}
	u64map_deinit(&step.of_cpu);
	vec_deinit(&step.rings);
	return error;
}
