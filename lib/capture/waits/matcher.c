/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/matcher.h"

#include <sprof/record.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "capture/waits/match.h"

struct matcher {
	struct matcher_options options;
	struct u64map ids;
	struct waiting_threads threads;
	uint64_t safe_ns;    /* argument of the last matcher_write() */
	uint64_t lost_ns;    /* time of the last LOST record since; 0: none */
	struct sampled_parts parts;
	struct preempted_output preempted;
	struct matcher_counts counts;
};

struct matcher *matcher_new(const struct matcher_options *options)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));
	if (!matcher)
		return NULL;
	matcher->options = *options;
	matcher->threads.max = options->threads_max;
	return matcher;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	waiting_threads_deinit(&matcher->threads);
	u64map_deinit(&matcher->ids);
	free(matcher);
}

/* -- Input ---------------------------------------------------------------------- */

struct sp_error *matcher_add_id(struct matcher *matcher, uint64_t id)
{
	return u64map_put(&matcher->ids, id, 0, NULL) ? NULL : error_no_memory();
}

bool matcher_has_id(const struct matcher *matcher, uint64_t id)
{
	return u64map_find(&matcher->ids, id);
}

struct sp_error *matcher_add_sample(struct matcher *matcher, const uint8_t *record)
{
	const struct record_fields *fields = &matcher->options.fields;
	size_t size = record_header_of(record).size;
	uint32_t tid = second_u32(bytes_u64(record + fields->sample_tid));
	struct waiting_thread *thread;
	if (!thread_has_number(tid))
		return NULL;
	TRY(waiting_threads_find(&matcher->threads, tid, &thread));
	if (!thread || size < fields->sample_period + sizeof(uint64_t) ||
	    matcher->threads.bytes + size > matcher->options.bytes_max) {
		matcher->counts.dropped++;
		return NULL;
	}
	CLEANUP_FREE uint8_t *copy = malloc(size);
	NEED(copy);
	memcpy(copy, record, size);
	const struct wait_event event = {.time_ns = bytes_u64(record + fields->sample_time),
					 .record = copy,
					 .kind = record_is_snapshot(record) ? EVENT_SNAPSHOT
									    : EVENT_SAMPLE};
	TRY(waiting_threads_add_event(&matcher->threads, thread, &event));
	copy = NULL;
	matcher->threads.bytes += size;
	return NULL;
}

struct sp_error *matcher_take_samples(struct matcher *matcher, struct record_buffer *buffer)
{
	size_t kept = 0, size;
	for (size_t at = 0; at < buffer->count; at += size) {
		const struct perf_event_header header = record_header_of(buffer->items + at);
		size = header.size;
		if (header.type == PERF_RECORD_SAMPLE &&
		    matcher_has_id(matcher, bytes_u64(buffer->items + at +
						      matcher->options.fields.sample_id))) {
			TRY(matcher_add_sample(matcher, buffer->items + at));
			continue;
		}
		if (kept != at)
			memmove(buffer->items + kept, buffer->items + at, size);
		kept += size;
	}
	buffer->count = kept;
	return NULL;
}

struct sp_error *matcher_add_switch(struct matcher *matcher, uint32_t pid, uint32_t tid,
				    uint32_t cpu, uint64_t time_ns, uint16_t misc)
{
	struct waiting_thread *thread;
	bool out = misc & PERF_RECORD_MISC_SWITCH_OUT;
	if (!thread_has_number(tid))
		return NULL;
	struct sp_error *error = waiting_threads_find(&matcher->threads, tid, &thread);
	if (error || !thread)
		return error;
	const struct wait_event event = {
		.time_ns = time_ns, .cpu = cpu,
		.kind = !out ? EVENT_IN
			: misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? EVENT_PREEMPTED : EVENT_OUT,
	};
	matcher->counts.switches += out;
	thread->pid = pid;
	return waiting_threads_add_event(&matcher->threads, thread, &event);
}

struct sp_error *matcher_add_thread(struct matcher *matcher, uint32_t pid, uint32_t tid,
				    uint64_t begin_ns)
{
	struct waiting_thread *thread;
	struct sp_error *error = waiting_threads_find(&matcher->threads, tid, &thread);
	if (error || !thread || thread->state != THREAD_UNKNOWN || thread->events.count)
		return error;
	thread->pid = pid;
	thread->state = THREAD_THERE;
	thread->off_ns = begin_ns;
	return NULL;
}

void matcher_set_sampled(struct matcher *matcher, uint64_t from_ns, uint32_t each)
{
	matcher->parts.items[matcher->parts.count++ % SAMPLED_PARTS] =
		(struct sampled_part){from_ns, each};
}

void matcher_write_preempted(struct matcher *matcher, uint64_t id, double thin_ns)
{
	uint64_t least_ns = matcher->options.thin_ns;
	matcher->preempted.id = id;
	matcher->preempted.thin_ns = thin_ns > UINT32_MAX ? UINT32_MAX : (uint64_t)thin_ns;
	if (matcher->preempted.thin_ns < least_ns)
		matcher->preempted.thin_ns = least_ns;
}

void matcher_add_lost(struct matcher *matcher, uint64_t time_ns)
{
	if (time_ns > matcher->lost_ns)
		matcher->lost_ns = time_ns;
}

struct sp_error *matcher_disable(struct matcher *matcher, uint64_t time_ns)
{
	const struct wait_event event = {.time_ns = time_ns, .kind = EVENT_DISABLED};
	return waiting_threads_add_to_all(&matcher->threads, &event);
}

/*
 * Returns whether the thread may wait without a stack. A thread that ran at its last record may
 * wait now: without it, snapshots would prefer threads with waits longer than the age of the
 * records. *since_ns_ret: the time when the thread went off, or 0 if it ran at its last record.
 */
static bool is_bare(const struct matcher *matcher, const struct waiting_thread *thread,
		    uint64_t *since_ns_ret, bool *unsampled_ret)
{
	const struct wait_event *last = NULL;
	vec_each (event, &thread->events) {
		if (event->kind != EVENT_SNAPSHOT && (!last || wait_event_order(event, last) > 0))
			last = event;
	}
	if (last) {
		bool off = last->kind == EVENT_OUT || last->kind == EVENT_LOST;
		*since_ns_ret = off ? last->time_ns : 0;
		*unsampled_ret = last->kind == EVENT_LOST;
		return last->kind != EVENT_EXIT;
	}
	bool off = thread->state == THREAD_BLOCKED || thread->state == THREAD_THERE;
	*since_ns_ret = thread->lost_ns ?: off ? thread->off_ns : 0;
	*unsampled_ret = thread->lost_ns || thread->state == THREAD_THERE;
	bool has_stack = off && thread->held && !wait_output_is_early(&matcher->options, thread);
	return thread->state != THREAD_ENDED && (*unsampled_ret || !has_stack);
}

bool matcher_next_bare(struct matcher *matcher, uint64_t before_ns, size_t *at,
		       struct matcher_thread *ret)
{
	while (*at < matcher->threads.slots.count) {
		struct waiting_thread *thread = &matcher->threads.slots.items[(*at)++];
		uint64_t since_ns;
		bool unsampled;
		if (!thread->tid || !is_bare(matcher, thread, &since_ns, &unsampled) ||
		    (since_ns && thread->seen_ns == since_ns))
			continue;
		if (!unsampled && before_ns != MATCHER_BARE && (!since_ns || since_ns >= before_ns))
			continue;
		thread->seen_ns = since_ns;
		*ret = (struct matcher_thread){.pid = thread->pid, .tid = thread->tid};
		ret->unsampled = unsampled;
		return true;
	}
	return false;
}

struct sp_error *matcher_on_change(struct matcher *matcher, const struct task_change *change)
{
	struct waiting_thread *thread;
	const struct wait_event event = {.time_ns = change->time_ns, .kind = EVENT_EXIT};
	/* A new thread is known by its number even if all of its switches are lost. */
	if (change->kind == TASK_FORKED && thread_has_number(change->tid)) {
		TRY(waiting_threads_find(&matcher->threads, change->tid, &thread));
		if (thread)
			thread->pid = change->pid;
	}
	const uint32_t *index = change->kind == TASK_ENDED ?
		u64map_find(&matcher->threads.index, change->tid) : NULL;
	if (!index)
		return NULL;
	return waiting_threads_add_event(&matcher->threads, &matcher->threads.slots.items[*index],
					 &event);
}

/* -- Output ---------------------------------------------------------------------- */

static struct wait_output output_to(struct matcher *matcher, struct record_buffer *to)
{
	return (struct wait_output){&matcher->parts, &matcher->options, &matcher->counts,
				    &matcher->preempted, to};
}

/* Processes a thread's events before `safe_ns`; the others stay. */
static struct sp_error *process(struct matcher *matcher, uint32_t index, uint64_t safe_ns,
				const struct wait_output *output)
{
	struct waiting_thread *thread = &matcher->threads.slots.items[index];
	struct sp_error *error = NULL;
	size_t done = 0;
	waiting_thread_sort(thread);
	while (done < thread->events.count && thread->events.items[done].time_ns < safe_ns &&
	       !error)
		error = wait_process_event(&matcher->threads, thread,
					   &thread->events.items[done++], output);
	thread->events.count -= done;
	memmove(thread->events.items, thread->events.items + done,
		thread->events.count * sizeof(*thread->events.items));
	return error;
}

/* The kernel lost records of any thread since the last round but one. */
static struct sp_error *add_losses(struct matcher *matcher)
{
	const struct wait_event event = {
		.time_ns = matcher->lost_ns, .complete_ns = matcher->safe_ns, .kind = EVENT_LOST};
	struct sp_error *error =
		matcher->lost_ns ? waiting_threads_add_to_all(&matcher->threads, &event) : NULL;
	matcher->lost_ns = 0;
	return error;
}

struct sp_error *matcher_write(struct matcher *matcher, uint64_t safe_ns,
			       struct record_buffer *output)
{
	const struct wait_output to = output_to(matcher, output);
	struct sp_error *error = add_losses(matcher);
	size_t kept = 0;
	matcher->counts.first_ns = matcher->counts.last_ns = 0;
	matcher->safe_ns = safe_ns;
	for (size_t i = 0; i < matcher->threads.busy.count; i++) {
		uint32_t index = matcher->threads.busy.items[i];
		if (!error)
			error = process(matcher, index, safe_ns, &to);
		if (matcher->threads.slots.items[index].events.count)
			matcher->threads.busy.items[kept++] = index;
	}
	matcher->threads.busy.count = kept;
	return error ? error : waiting_threads_remove_ended(&matcher->threads, safe_ns);
}

struct sp_error *matcher_split(struct matcher *matcher, uint64_t end_ns,
			       struct record_buffer *output)
{
	const struct wait_output to = output_to(matcher, output);
	struct sp_error *error = NULL;
	for (size_t i = 0; i < matcher->threads.slots.count && !error; i++) {
		struct waiting_thread *thread = &matcher->threads.slots.items[i];
		if (thread->state == THREAD_THERE && thread->off_ns < end_ns)
			thread->off_ns = end_ns;
		if (!thread_is_off(thread) || end_ns <= thread->off_ns)
			continue;
		error = wait_output_write(&to, thread, end_ns, SP_MISC_UNFINISHED);
		thread->off_ns = end_ns;
		thread->lost_ns = 0;
		if (thread->held)
			bytes_set_u64(thread->held + matcher->options.fields.sample_time, end_ns);
	}
	return error;
}

uint64_t matcher_oldest_ns(const struct matcher *matcher)
{
	uint32_t at = matcher->options.fields.sample_time;
	uint64_t oldest_ns = UINT64_MAX;
	vec_each (thread, &matcher->threads.slots) {
		/* Snapshots of waits get the time of their begin. */
		bool off = thread->state == THREAD_BLOCKED || thread->state == THREAD_THERE;
		uint64_t held_ns = thread->held ? bytes_u64(thread->held + at) : UINT64_MAX;
		if (off && thread->off_ns < oldest_ns)
			oldest_ns = thread->off_ns;
		if (held_ns < oldest_ns)
			oldest_ns = held_ns;
		vec_each (event, &thread->events)
			if (event->time_ns < oldest_ns)
				oldest_ns = event->time_ns;
	}
	return oldest_ns;
}

const struct matcher_counts *matcher_counts(const struct matcher *matcher)
{
	return &matcher->counts;
}
