/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "info/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "record/note.h"
#include "record/types.h"

/* Flag in a LOST_SAMPLES record: a BPF filter discarded the samples (perf's name). */
#define MISC_LOST_SAMPLES_BPF (1 << 15)

struct event_losses {
	uint64_t ring;     /* records of any type for which the ring buffer had no room, by LOST records */
	uint64_t hardware; /* samples lost outside of the ring buffers, by LOST_SAMPLES records written at
			    * the time */
	uint64_t counted;  /* the kernel's count of lost samples, by LOST_SAMPLES records that perf writes
			    * at the end */
	uint64_t read;     /* the kernel's count of lost samples, by READ records */
	struct event_throttling throttled;
};

struct sp_losses {
	const struct record_layout *layout;
	struct u64map event_of_id;
	struct event_losses *events; /* one item for each event, and one for unknown events */
	struct u64map read_index;    /* event id -> index in read_lost */
	VEC(uint64_t) read_lost;
	bool counted;                /* some event has the kernel's own count */
	bool filtered;               /* events are on whole CPUs, and samples of others left out */
	bool complete;               /* the recorder noted all losses of the file */
	uint64_t noted, noted_own;   /* by the last note about losses of other processes; 0: none */
	struct { VEC(struct sp_loss); } moments;
	struct { VEC(struct sp_throttling); } throttlings;
	struct u64map throttled;     /* (event id, CPU) -> index + 1 of the throttling that has not ended */
	struct u64map thread_index;  /* pid and tid -> index in threads */
	struct { VEC(struct sp_thread_loss); } threads;
};

DEFINE_CLEANUP(struct sp_losses *, sp_losses_free)

struct sp_error *sp_losses_new(const struct sp_reader *reader, struct sp_losses **ret)
{
	CLEANUP(cleanup_sp_losses_free) struct sp_losses *losses = calloc(1, sizeof(*losses));
	NEED(losses);
	const struct record_layout *layout = reader_layout(reader);
	losses->layout = layout;
	losses->events = calloc(layout->event_count + 1, sizeof(*losses->events));
	NEED(losses->events);
	for (size_t i = 0; i < layout->event_count; i++)
		for (size_t j = 0; j < layout->events[i].id_count; j++)
			NEED(u64map_put(&losses->event_of_id, layout->events[i].ids[j], i, NULL));
	*ret = take_ptr(losses);
	return NULL;
}

void sp_losses_free(struct sp_losses *losses)
{
	if (!losses)
		return;
	u64map_deinit(&losses->event_of_id);
	free(losses->events);
	u64map_deinit(&losses->read_index);
	vec_deinit(&losses->read_lost);
	vec_deinit(&losses->moments);
	vec_deinit(&losses->throttlings);
	u64map_deinit(&losses->throttled);
	u64map_deinit(&losses->thread_index);
	vec_deinit(&losses->threads);
	free(losses);
}

uint16_t losses_event_of_id(const struct sp_losses *losses, uint64_t id)
{
	const uint32_t *event = u64map_find(&losses->event_of_id, id);
	return event ? (uint16_t)*event : SP_EVENT_NONE;
}

/* Returns a record's event: by its sample_id, else by the id in its fields, else 0. */
static uint16_t event_of(const struct sp_losses *losses, const struct sp_record *record,
			 uint64_t id)
{
	uint16_t event = record->event != SP_EVENT_NONE ? record->event
							: losses_event_of_id(losses, id);
	return event != SP_EVENT_NONE ? event : 0;
}

uint16_t losses_event_of_counter(const struct sp_losses *losses, const struct sp_record *record,
				 uint64_t id)
{
	uint16_t event = losses_event_of_id(losses, id);
	return event != SP_EVENT_NONE ? event : event_of(losses, record, id);
}

/*
 * Returns whether a LOST_SAMPLES record was written when samples were lost. perf writes others at the
 * end, for the whole recording.
 */
static bool is_moment(const struct sp_record *record)
{
	/* Records that perf writes at the end have no time. */
	return record->type == PERF_RECORD_LOST ||
	       (record->type == PERF_RECORD_LOST_SAMPLES && record->id.time_ns &&
		!(record->misc & MISC_LOST_SAMPLES_BPF));
}

static uint32_t cpu_of(const struct sp_record *record)
{
	return record->id.present & PERF_SAMPLE_CPU ? record->id.cpu : UINT32_MAX;
}

/* Adds a LOST or LOST_SAMPLES record. Returns false when out of memory. */
static bool add_lost(struct sp_losses *losses, const struct sp_record *record)
{
	bool ring = record->type == PERF_RECORD_LOST;
	uint64_t id = ring ? record->lost.id : record->id.id;
	uint16_t index = event_of(losses, record, id);
	struct event_losses *event = &losses->events[index];
	if (!is_moment(record)) {
		event->counted += record->lost.lost;
		losses->counted = true; /* perf writes such records for events that lost samples, so all
					 * other events lost none. */
		return true;
	}
	if (ring)
		event->ring += record->lost.lost;
	else
		event->hardware += record->lost.lost;
	return vec_append(&losses->moments, (struct sp_loss){.time_ns = record->id.time_ns,
							     .lost = record->lost.lost,
							     .cpu = cpu_of(record),
							     .event = index});
}

/*
 * Adds a THROTTLE record. Two of one event and CPU without an UNTHROTTLE record between them are one
 * throttling.
 */
static bool add_throttle(struct sp_losses *losses, const struct sp_record *record)
{
	const struct sp_throttle *throttle = &record->throttle;
	uint64_t key = hash_pair(hash_pair(throttle->id, throttle->stream_id), record->id.cpu);
	uint16_t event = event_of(losses, record, throttle->id);
	if (!vec_reserve(&losses->throttlings, losses->throttlings.count + 1))
		return false;
	uint32_t *lasting = u64map_put(&losses->throttled, key, 0, NULL);
	if (!lasting)
		return false;
	losses->events[event].throttled.count++;
	if (*lasting)
		return true;
	*vec_push(&losses->throttlings) = (struct sp_throttling){
		.begin_ns = throttle->time_ns, .cpu = cpu_of(record), .event = event};
	*lasting = losses->throttlings.count;
	return true;
}

static void end_throttle(struct sp_losses *losses, const struct sp_record *record)
{
	const struct sp_throttle *throttle = &record->throttle;
	uint64_t key = hash_pair(hash_pair(throttle->id, throttle->stream_id), record->id.cpu);
	uint32_t *lasting = u64map_find(&losses->throttled, key);
	if (!lasting || !*lasting)
		return;
	struct sp_throttling *throttling = &losses->throttlings.items[*lasting - 1];
	*lasting = 0;
	throttling->end_ns = throttle->time_ns;
	if (throttle->time_ns > throttling->begin_ns)
		losses->events[event_of(losses, record, throttle->id)].throttled.ns +=
			throttle->time_ns - throttling->begin_ns;
}

/* Adds a READ record's count of lost samples. The count only grows, so the last one is kept. */
static bool add_read(struct sp_losses *losses, const struct sp_record *record, uint64_t id,
		     uint64_t lost)
{
	if (!lost)
		return true;
	uint64_t *known = u64map_item(&losses->read_index, id, &losses->read_lost);
	if (!known)
		return false;
	if (lost <= *known)
		return true;
	uint64_t more = lost - *known;
	losses->events[losses_event_of_counter(losses, record, id)].read += more;
	*known = lost;
	uint64_t key = key_of_pair(record->read.pid, record->read.tid);
	struct sp_thread_loss *thread = u64map_item(&losses->thread_index, key, &losses->threads);
	if (!thread)
		return false;
	thread->pid = record->read.pid;
	thread->tid = record->read.tid;
	thread->lost += more;
	return true;
}

static void add_note(struct sp_losses *losses, const struct sp_record *record)
{
	struct sp_note note;
	uint64_t lost, own;
	if (!sp_record_note(record, &note) || !note_lost_own(&note, &lost, &own) || own > lost)
		return;
	losses->filtered = true;
	losses->complete |= note.value_count > 2 && note.values[2];
	/* A file of a rotation begins with a note without losses. */
	losses->noted = lost ? lost : losses->noted;
	losses->noted_own = lost ? own : losses->noted_own;
}

struct sp_error *sp_losses_add(struct sp_losses *losses, const struct sp_record *record)
{
	const struct sp_counters *counters = &record->read.counters;
	bool done = true;
	switch (record->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		if (record->type == PERF_RECORD_LOST || !(record->misc & MISC_LOST_SAMPLES_BPF))
			done = add_lost(losses, record);
		break;
	case PERF_RECORD_THROTTLE:
		done = add_throttle(losses, record);
		break;
	case PERF_RECORD_UNTHROTTLE:
		end_throttle(losses, record);
		break;
	case PERF_RECORD_READ:
		for (size_t i = 0; i < counters->count && done; i++) {
			const struct sp_counter *counter = &counters->values[i];
			bool has_id = counters->read_format & PERF_FORMAT_ID;
			done = add_read(losses, record, has_id ? counter->id : record->id.id,
					counter->lost);
		}
		break;
	default:
		add_note(losses, record);
	}
	return done ? NULL : error_no_memory();
}

uint64_t losses_outside_rings(const struct sp_losses *losses, size_t event)
{
	return losses->events[event].hardware;
}

/*
 * Prefers the kernel's own count, which is written at the end. LOST counts records of all types, but
 * exists even if the recorder was killed. Neither includes samples that the hardware lost.
 */
uint64_t sp_losses_count(const struct sp_losses *losses, size_t event)
{
	const struct event_losses *of = &losses->events[event];
	uint64_t ring = of->ring > of->read ? of->ring : of->read;
	return of->hardware + (losses->counted ? of->counted : ring);
}

uint64_t sp_losses_own(const struct sp_losses *losses, size_t event)
{
	uint64_t lost = sp_losses_count(losses, event);
	if (!losses->filtered)
		return lost;
	if (!losses->noted)
		return losses->complete ? lost : 0;
	return (double)lost * ((double)losses->noted_own / (double)losses->noted) + 0.5;
}

uint64_t sp_losses_unknown(const struct sp_losses *losses, size_t event)
{
	bool known = !losses->filtered || losses->noted || losses->complete;
	return known ? 0 : sp_losses_count(losses, event);
}

struct event_throttling losses_throttling(const struct sp_losses *losses, size_t event)
{
	return losses->events[event].throttled;
}

size_t sp_losses_moment_count(const struct sp_losses *losses)
{
	return losses->moments.count;
}

const struct sp_loss *sp_losses_moment(const struct sp_losses *losses, size_t index)
{
	return &losses->moments.items[index];
}

size_t sp_losses_throttling_count(const struct sp_losses *losses)
{
	return losses->throttlings.count;
}

const struct sp_throttling *sp_losses_throttling(const struct sp_losses *losses, size_t index)
{
	return &losses->throttlings.items[index];
}

size_t sp_losses_thread_count(const struct sp_losses *losses)
{
	return losses->threads.count;
}

const struct sp_thread_loss *sp_losses_thread(const struct sp_losses *losses, size_t index)
{
	return &losses->threads.items[index];
}

/* Least size to propose: four times perf's largest, and more with copies of stacks. */
#define LARGER_RINGS (UINT64_C(2) << 20)
#define LARGER_COPY_RINGS (UINT64_C(32) << 20)

/* Limit of a proposed size. */
#define LARGEST_RINGS (UINT64_C(64) << 20)

bool sp_larger_rings_option(uint64_t ring_bytes, bool copies, char *text, size_t size)
{
	uint64_t wanted = copies ? LARGER_COPY_RINGS : LARGER_RINGS;
	if (ring_bytes > LARGEST_RINGS / 4)
		return false;
	if (ring_bytes * 4 > wanted)
		wanted = ring_bytes * 4;
	snprintf(text, size, "-m %" PRIu64 "M", wanted >> 20);
	return true;
}

/*
 * Rates of advice. Quarters of higher rates end at LOWERED_HZ or above, quarters of others at
 * LOWEST_RAISED_HZ or below. Only rates between them are raised, so that no quarter is.
 */
#define LOWERED_HZ 1249
#define LOWEST_RAISED_HZ (LOWERED_HZ / 4)
#define PYTHON_HZ 2500

uint64_t sp_lower_rate_hz(uint64_t hz)
{
	uint64_t quarter = hz > 4 ? hz / 4 : 1;
	return hz > LOWERED_HZ && quarter < LOWERED_HZ ? LOWERED_HZ : quarter;
}

uint64_t sp_higher_rate_hz(uint64_t hz, bool python)
{
	bool raised = hz > LOWEST_RAISED_HZ && hz < LOWERED_HZ;
	return !raised ? 0 : python ? PYTHON_HZ : SP_FAST_HZ;
}
