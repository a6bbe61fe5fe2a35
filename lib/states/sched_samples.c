/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/sched_samples.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "file/reader_io.h"
#include "file/tracing_data.h"
#include "reader/feature_payloads.h"

/*
 * Bits of prev_state. The others that a sleeping thread can have are INTERRUPTIBLE 1, UNINTERRUPTIBLE 2,
 * STOPPED 4 and TRACED 8. Without any of them it was preempted: kernels differ in the bit that marks this.
 */
#define STATE_BITS 0xff
#define STATE_EXITED 0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

void sched_samples_deinit(struct sched_samples *samples)
{
	vec_deinit(&samples->events);
}

static bool has_fields(enum sched_kind kind)
{
	return kind == SCHED_EVENT_SWITCH || kind == SCHED_EVENT_WAKE;
}

/* Search for the formats of a recording's events. */
struct sched_format_search {
	const struct sp_reader *reader;
	struct sched_samples *samples;
};

/* Sets the fields of the event that a format of the system sched describes. */
static bool on_format(void *arg, enum trace_file kind, const char *system, const char *text, size_t size)
{
	const struct sched_format_search *search = arg;
	char name[64] = "";
	if (kind != TRACE_FORMAT || !system || strcmp(system, "sched") != 0)
		return true;
	CLEANUP_FREE char *format = strndup(text, size);
	if (!format)
		return false;
	if (sscanf(format, "name: %63s", name) != 1)
		return true;
	for (size_t i = 0; i < search->samples->events.count; i++) {
		struct sched_event *event = &search->samples->events.items[i];
		const char *event_name = sp_reader_event(search->reader, i)->name;
		if (!has_fields(event->kind) || strcmp(event_name + strlen("sched:"), name) != 0)
			continue;
		event->prev_pid = trace_field_find(format, "prev_pid");
		event->prev_state = trace_field_find(format, "prev_state");
		event->next_pid = trace_field_find(format, "next_pid");
		event->pid = trace_field_find(format, "pid");
		event->flags = trace_field_find(format, "common_flags");
	}
	return true;
}

static bool ignore_header(void *arg, const struct trace_header *header)
{
	(void)arg;
	(void)header;
	return true;
}

static enum sched_kind kind_of(const struct sp_event *event)
{
	if (event->name &&
	    (!strcmp(event->name, "offcpu-time") || !strcmp(event->name, "preempted-time")))
		return SCHED_EVENT_WAIT;
	if (event->attr.type != PERF_TYPE_TRACEPOINT || !event->name)
		return SCHED_EVENT_OTHER;
	if (!strcmp(event->name, "sched:sched_switch"))
		return SCHED_EVENT_SWITCH;
	return !strcmp(event->name, "sched:sched_waking") || !strcmp(event->name, "sched:sched_wakeup") ||
	       !strcmp(event->name, "sched:sched_wakeup_new") ? SCHED_EVENT_WAKE : SCHED_EVENT_OTHER;
}

/* Adds the events, if some are of the scheduler. Returns false when out of memory. */
static bool add_events(struct sched_samples *samples, const struct sp_reader *reader)
{
	size_t count = sp_reader_event_count(reader);
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any |= has_fields(kind_of(sp_reader_event(reader, i)));
	for (size_t i = 0; any && i < count; i++) {
		struct sched_event *event = vec_push(&samples->events);
		if (!event)
			return false;
		*event = (struct sched_event){.kind = kind_of(sp_reader_event(reader, i))};
	}
	return true;
}

struct sp_error *sched_samples_init(struct sched_samples *samples, const struct sp_reader *reader)
{
	struct sched_format_search search = {reader, samples};
	const struct trace_visitor visitor = {ignore_header, on_format, &search};
	const struct sp_bytes blob = reader_feature(reader, TRACE_FEATURE);
	*samples = (struct sched_samples){.swap = reader_layout(reader)->swap};
	NEED(add_events(samples, reader));
	if (!samples->events.count || !blob.size)
		return NULL;
	struct sp_error *error = trace_container_read(&blob, sp_reader_info(reader)->path, &visitor);
	/* Text of samples reports the damage. */
	if (error && sp_error_code(error) == SP_ERROR_FORMAT)
		sp_error_free(take_ptr(error));
	return error;
}

static bool read_field(const struct sched_samples *samples, const struct sp_sample *sample,
		       struct trace_field field, uint64_t *ret)
{
	struct cursor cursor = cursor_make(sample->raw.bytes, sample->raw.size, samples->swap, NULL, 0);
	uint32_t word;
	uint8_t byte;
	if (!field.size || field.size > 8 || !cursor_skip(&cursor, field.offset))
		return false;
	if (field.size == 8)
		return cursor_u64(&cursor, ret);
	if (!(field.size == 1 ? cursor_u8(&cursor, &byte) : cursor_u32(&cursor, &word)))
		return false;
	*ret = field.size == 1 ? byte : word;
	return true;
}

bool sched_samples_has_wakes(const struct sched_samples *samples, uint16_t event)
{
	const struct sched_event *of = event < samples->events.count ? &samples->events.items[event] : NULL;
	return of && of->kind == SCHED_EVENT_WAKE && of->pid.size;
}

/* Returns the context of a wake-up. Without flags, interrupts are not distinguished from threads. */
static enum task_waker waker_of(const struct sched_samples *samples, const struct sched_event *event,
				const struct sp_sample *sample)
{
	uint64_t flags = 0;
	read_field(samples, sample, event->flags, &flags);
	if (flags & TRACE_FLAGS_INTERRUPT)
		return TASK_WAKER_INTERRUPT;
	if (flags & TRACE_FLAGS_SOFTIRQ)
		return TASK_WAKER_SOFTIRQ;
	if (!(sample->present & PERF_SAMPLE_TID))
		return TASK_WAKER_UNKNOWN;
	return sample->tid ? TASK_WAKER_THREAD : TASK_WAKER_IDLE;
}

bool sched_samples_wake(const struct sched_samples *samples, const struct sp_record *record,
			struct sched_wake *ret)
{
	const struct sched_event *event = &samples->events.items[record->event];
	uint64_t woken;
	if (!read_field(samples, &record->sample, event->pid, &woken))
		return false;
	*ret = (struct sched_wake){(uint32_t)woken, waker_of(samples, event, &record->sample)};
	return true;
}

static enum task_switch switch_of(uint64_t state)
{
	if (state & STATE_EXITED)
		return TASK_SWITCH_EXIT;
	return state & STATE_BITS ? TASK_SWITCH_BLOCK : TASK_SWITCH_PREEMPT;
}

static struct sp_error *add_switch(const struct sched_samples *samples, const struct sched_event *event,
				   const struct sp_sample *sample, struct task_states *states)
{
	uint64_t prev = sample->tid, state = STATE_BITS & ~STATE_EXITED, next = 0;
	struct task_switched from = {.pid = sample->pid, .time_ns = sample->time_ns,
				     .cpu = sample->present & PERF_SAMPLE_CPU ? sample->cpu : UINT32_MAX};
	struct task_switched to = {.time_ns = from.time_ns, .cpu = from.cpu, .kind = TASK_SWITCH_IN};
	read_field(samples, sample, event->prev_pid, &prev);
	read_field(samples, sample, event->prev_state, &state);
	read_field(samples, sample, event->next_pid, &next);
	from.tid = prev;
	from.kind = switch_of(state);
	to.tid = next;
	TRY(task_states_add_switch(states, &from));
	return task_states_add_switch(states, &to);
}

static struct sp_error *add_wake(const struct sched_samples *samples, const struct sp_record *record,
				 struct task_states *states)
{
	const struct sp_sample *sample = &record->sample;
	struct sched_wake wake;
	struct task_switched waker = {.pid = sample->pid, .tid = sample->tid, .time_ns = sample->time_ns,
				      .cpu = UINT32_MAX, .kind = TASK_SWITCH_WAKER};
	struct sp_error *error = task_states_add_switch(states, &waker);
	if (error || !sched_samples_wake(samples, record, &wake))
		return error;
	const struct task_switched woken = {.tid = wake.tid, .time_ns = sample->time_ns, .cpu = UINT32_MAX,
					    .kind = TASK_SWITCH_WAKE, .waker = wake.waker,
					    .waker_tid = sample->tid, .ips = sample->ips,
					    .ip_count = sample->ip_count};
	return task_states_add_switch(states, &woken);
}

struct sp_error *sched_samples_add(const struct sched_samples *samples, const struct sp_record *record,
				   struct task_states *states)
{
	const struct sp_sample *sample = &record->sample;
	const struct sched_event *event = record->event < samples->events.count ?
						  &samples->events.items[record->event] : NULL;
	const struct task_switched seen = {.pid = sample->pid, .tid = sample->tid,
					   .time_ns = sample->time_ns, .cpu = UINT32_MAX,
					   .kind = TASK_SWITCH_SEEN};
	if (!event || event->kind == SCHED_EVENT_WAIT || !sample->time_ns)
		return NULL;
	if (event->kind == SCHED_EVENT_SWITCH)
		return add_switch(samples, event, sample, states);
	return event->kind == SCHED_EVENT_WAKE ? add_wake(samples, record, states) :
						 task_states_add_switch(states, &seen);
}
