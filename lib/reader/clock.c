/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times that go back. All that is located goes by time, so that what was sampled after the clock was
 * set back would be of before its process began. perf says when the recording began, by its own
 * clock (CLOCK_DATA): what is of before that was recorded after the clock was set, and is moved behind
 * the last that came before it in its CPU's ring, which is that much too early at most as nothing
 * came there. Steps that do not lead so far back are not seen. (A recording of sprof's own has none
 * at all: its times go on as if the clock had not been set.)
 */
#include "reader/clock.h"

#include <time.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "file/reader_struct.h"
#include "record/decode.h"
#include "record/types.h"
#include "walk/walker.h"

/* Tasks may be sampled before it is said when that began. */
#define EARLY_NS UINT64_C(5000000000)

DEFINE_CLEANUP(struct walker *, walker_free)
DEFINE_CLEANUP(struct decoder *, decoder_free)

/* The last time of a CPU before the clock was set, and whether it was. */
struct ring_time {
	uint64_t last_ns;
	bool set_back;
};

struct settling {
	uint64_t began_ns;
	struct u64map of_cpu; /* index in `rings` */
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

static struct ring_time *ring_of(struct settling *settling, uint32_t cpu)
{
	bool added;
	uint32_t *index = u64map_put(&settling->of_cpu, cpu, (uint32_t)settling->rings.count, &added);
	if (!index)
		return NULL;
	if (!added)
		return &settling->rings.items[*index];
	struct ring_time *ring = vec_push(&settling->rings);
	if (ring)
		*ring = (struct ring_time){0};
	return ring;
}

static struct sp_error *see(struct settling *settling, const struct sp_record *record)
{
	const struct record_origin from = record_origin(record);
	uint64_t time_ns = from.time_ns;
	if (record->type >= RECORD_USER_TYPES || !(from.present & PERF_SAMPLE_TIME) || !time_ns ||
	    time_ns == UINT64_MAX)
		return NULL;
	struct ring_time *ring = ring_of(settling, from.present & PERF_SAMPLE_CPU ? from.cpu : UINT32_MAX);
	if (!ring)
		return error_no_memory();
	if (time_ns >= settling->began_ns) {
		if (!ring->set_back && time_ns > ring->last_ns)
			ring->last_ns = time_ns;
		return NULL;
	}
	/* No ring shows less than the whole step but for how long nothing came. */
	if (!ring->set_back && ring->last_ns && ring->last_ns - time_ns > settling->back_ns)
		settling->back_ns = ring->last_ns - time_ns;
	ring->set_back = true;
	settling->moved++;
	return NULL;
}

/* Damage is met again by who reads it for good. */
static struct sp_error *look(struct sp_reader *reader, struct settling *settling)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_error *error = walker_new(reader, reader->extent, &walker);
	if (error)
		return error;
	error = decoder_new(&reader->layout, &decoder);
	while (!error) {
		struct raw_record raw;
		struct sp_record record;
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		if (!error)
			error = decoder_decode(decoder, &raw, &record);
		if (!error)
			error = see(settling, &record);
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
	struct settling settling = {.began_ns = reader->info.clock_ns - EARLY_NS};
	struct sp_error *error = look(reader, &settling);
	if (!error && settling.moved) {
		/* Nothing came before: it is enough that nothing is of before the beginning. */
		if (!settling.back_ns)
			settling.back_ns = EARLY_NS;
		reader->layout.began_ns = settling.began_ns;
		reader->layout.set_back_ns = settling.back_ns;
		*moved_ret = settling.moved;
		*back_ns_ret = settling.back_ns;
	}
	u64map_deinit(&settling.of_cpu);
	vec_deinit(&settling.rings);
	return error;
}
