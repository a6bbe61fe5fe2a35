/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread has a list of events that are not yet processed, and a state. Events are sorted before they
 * are processed: they come sorted from each ring buffer, but a thread moves between CPUs.
 *
 *	       SAMPLE (held)          OUT                 IN
 *	ON ────────────────▶ ON ────────────▶ BLOCKED ────────▶ ON, the held sample is written
 *	                        OUT, preempted            IN
 *	                     ON ────────────▶ PREEMPTED ──────▶ ON, the held sample is freed
 *
 * A snapshot's sample comes while the thread is BLOCKED. All other transitions mean lost records.
 *
 * After a LOST record, any thread may be blocked without a stack, as those that were there before the
 * recording. A thread that was BLOCKED may have waited, run, and waited again elsewhere. A snapshot decides.
 *
 * CPU-wide events record the last OUT of a thread after its EXIT: it is no wait. A later IN is of a new
 * thread with the same number.
 */
#include "capture/waits/waits.h"

#include <sprof/record.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cleanup.h"

/*
 * Limit of a snapshot's weight, in intervals. Larger weights, of waits hardly longer than the reading, add more
 * variance than they remove bias: 4 had the least error for waits of 15 to 50 us, read in 7 to 16 us.
 */
#define SNAPSHOT_WEIGHT_MAX 4

/* Time from EXIT to the last switch, at most. */
#define ENDED_NS UINT64_C(1000000000)

/* Kinds of events; at the same time, they are in this order. */
enum event_kind {
	EVENT_LOST,
	EVENT_SAMPLE,
	EVENT_OUT,
	EVENT_PREEMPTED,
	EVENT_IN,
	EVENT_SNAPSHOT,
	EVENT_DISABLED,
	EVENT_EXIT,
};

struct event {
	uint64_t time_ns;
	uint64_t complete_ns; /* LOST: records before are complete */
	uint8_t *record;      /* SAMPLE and SNAPSHOT; owned */
	enum event_kind kind;
};

enum thread_state {
	THREAD_UNKNOWN,
	THREAD_THERE, /* it has not switched since the recording began, or since the end of a loss */
	THREAD_ON,
	THREAD_BLOCKED,
	THREAD_PREEMPTED,
	THREAD_ENDED,
};

struct waiting_thread {
	uint32_t pid, tid; /* tid 0: the slot is free */
	enum thread_state state;
	uint64_t off_ns; /* begin of BLOCKED, PREEMPTED, ENDED, or THERE */
	uint8_t *held;   /* stack of the wait; owned, or NULL */
	/* BLOCKED: between these times, the wait may have ended, and another begun. lost_ns 0: no. */
	uint64_t complete_ns, lost_ns;
	bool unsorted;
	uint64_t seen_ns; /* begin of the wait that waits_next_bare() has returned last */
	bool switched;   /* since waits_next_thread() */
	struct { VEC(struct event); } events;
};

struct waits {
	struct waits_options options;
	struct u64map ids;
	struct u64map index; /* tid -> index in `threads` */
	struct { VEC(struct waiting_thread); } threads;
	struct { VEC(uint32_t); } free_slots, busy, ended; /* busy: threads with events */
	size_t bytes;        /* size of all records */
	uint64_t safe_ns;    /* argument of the last waits_write() */
	uint64_t lost_ns;    /* time of the last LOST record since; 0: none */
	struct waits_counts counts;
};

struct waits *waits_new(const struct waits_options *options)
{
	struct waits *waits = calloc(1, sizeof(*waits));
	if (waits)
		waits->options = *options;
	return waits;
}

/* -- Records ----------------------------------------------------------------- */

static struct perf_event_header header_of(const uint8_t *record)
{
	struct perf_event_header header;
	memcpy(&header, record, sizeof(header));
	return header;
}

static bool is_snapshot(const uint8_t *record)
{
	return header_of(record).misc & SP_MISC_SNAPSHOT;
}

static void free_record(struct waits *waits, uint8_t *record)
{
	if (record)
		waits->bytes -= header_of(record).size;
	free(record);
}

static void hold(struct waits *waits, struct waiting_thread *thread, uint8_t *record)
{
	free_record(waits, thread->held);
	thread->held = record;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	for (size_t i = 0; i < waits->threads.count; i++) {
		struct waiting_thread *thread = &waits->threads.items[i];
		for (size_t j = 0; j < thread->events.count; j++)
			free(thread->events.items[j].record);
		free(thread->held);
		vec_deinit(&thread->events);
	}
	vec_deinit(&waits->threads);
	vec_deinit(&waits->free_slots);
	vec_deinit(&waits->busy);
	vec_deinit(&waits->ended);
	u64map_deinit(&waits->index);
	u64map_deinit(&waits->ids);
	free(waits);
}

/* -- Threads and their events ------------------------------------------------- */

static struct sp_error *add_thread(struct waits *waits, uint32_t tid, uint32_t *index_ret)
{
	uint32_t slot = (uint32_t)waits->threads.count;
	if (waits->free_slots.count)
		slot = *vec_last(&waits->free_slots);
	else if (!vec_reserve(&waits->threads, waits->threads.count + 1))
		return error_no_memory();
	if (!u64map_put(&waits->index, tid, slot, NULL))
		return error_no_memory();
	if (waits->free_slots.count)
		waits->free_slots.count--;
	else
		waits->threads.items[waits->threads.count++] = (struct waiting_thread){0};
	waits->threads.items[slot].tid = tid;
	waits->threads.items[slot].pid = 0;
	waits->threads.items[slot].seen_ns = 0;
	waits->threads.items[slot].switched = true;
	*index_ret = slot;
	return NULL;
}

/* Frees the slot; its list of events is kept for the next thread. */
static struct sp_error *remove_thread(struct waits *waits, uint32_t index)
{
	struct waiting_thread *thread = &waits->threads.items[index];
	uint32_t *slot = vec_push(&waits->free_slots);
	if (!slot)
		return error_no_memory();
	*slot = index;
	u64map_remove(&waits->index, thread->tid);
	hold(waits, thread, NULL);
	thread->tid = 0;
	thread->state = THREAD_UNKNOWN;
	return NULL;
}

/* *thread_ret is NULL if there are too many threads. */
static struct sp_error *find_thread(struct waits *waits, uint32_t tid, struct waiting_thread **thread_ret)
{
	const uint32_t *found = u64map_find(&waits->index, tid);
	uint32_t index = found ? *found : 0;
	struct sp_error *error = NULL;
	*thread_ret = NULL;
	if (!found && waits->index.count >= waits->options.threads_max)
		return NULL;
	if (!found)
		error = add_thread(waits, tid, &index);
	if (!error)
		*thread_ret = &waits->threads.items[index];
	return error;
}

/* The idle thread has no number, and a thread that ended may have lost it. */
static bool has_number(uint32_t tid)
{
	return tid && tid != UINT32_MAX;
}

/* Takes event->record over, unless it fails. */
static struct sp_error *add_event(struct waits *waits, struct waiting_thread *thread,
				  const struct event *event)
{
	size_t count = thread->events.count;
	if (!vec_reserve(&waits->busy, waits->busy.count + 1) || !vec_reserve(&thread->events, count + 1))
		return error_no_memory();
	if (!count)
		*vec_push(&waits->busy) = (uint32_t)(thread - waits->threads.items);
	else if (event->time_ns < thread->events.items[count - 1].time_ns)
		thread->unsorted = true;
	*vec_push(&thread->events) = *event;
	return NULL;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns) ?: (int)x->kind - (int)y->kind;
}

/* -- Input ---------------------------------------------------------------------- */

struct sp_error *waits_add_id(struct waits *waits, uint64_t id)
{
	return u64map_put(&waits->ids, id, 0, NULL) ? NULL : error_no_memory();
}

bool waits_has_id(const struct waits *waits, uint64_t id)
{
	return u64map_find(&waits->ids, id);
}

struct sp_error *waits_add_sample(struct waits *waits, const uint8_t *record)
{
	const struct record_fields *fields = &waits->options.fields;
	size_t size = header_of(record).size;
	uint32_t tid = second_u32(bytes_u64(record + fields->sample_tid));
	struct waiting_thread *thread;
	if (!has_number(tid))
		return NULL;
	struct sp_error *error = find_thread(waits, tid, &thread);
	if (error)
		return error;
	if (!thread || size < fields->sample_period + sizeof(uint64_t) ||
	    waits->bytes + size > waits->options.bytes_max) {
		waits->counts.dropped++;
		return NULL;
	}
	CLEANUP_FREE uint8_t *copy = malloc(size);
	if (!copy)
		return error_no_memory();
	memcpy(copy, record, size);
	const struct event event = {.time_ns = bytes_u64(record + fields->sample_time), .record = copy,
				    .kind = is_snapshot(record) ? EVENT_SNAPSHOT : EVENT_SAMPLE};
	error = add_event(waits, thread, &event);
	if (error)
		return error;
	copy = NULL;
	waits->bytes += size;
	return NULL;
}

struct sp_error *waits_take_samples(struct waits *waits, struct record_buffer *buffer)
{
	size_t kept = 0, size;
	for (size_t at = 0; at < buffer->count; at += size) {
		const struct perf_event_header header = header_of(buffer->items + at);
		size = header.size;
		if (header.type == PERF_RECORD_SAMPLE &&
		    waits_has_id(waits, bytes_u64(buffer->items + at + waits->options.fields.sample_id))) {
			struct sp_error *error = waits_add_sample(waits, buffer->items + at);
			if (error)
				return error;
			continue;
		}
		if (kept != at)
			memmove(buffer->items + kept, buffer->items + at, size);
		kept += size;
	}
	buffer->count = kept;
	return NULL;
}

struct sp_error *waits_add_switch(struct waits *waits, uint32_t pid, uint32_t tid, uint64_t time_ns,
				  uint16_t misc)
{
	struct waiting_thread *thread;
	bool out = misc & PERF_RECORD_MISC_SWITCH_OUT;
	if (!has_number(tid))
		return NULL;
	struct sp_error *error = find_thread(waits, tid, &thread);
	if (error || !thread)
		return error;
	const struct event event = {
		.time_ns = time_ns,
		.kind = !out ? EVENT_IN
			: misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? EVENT_PREEMPTED : EVENT_OUT,
	};
	waits->counts.switches += out;
	thread->pid = pid;
	thread->switched = true;
	return add_event(waits, thread, &event);
}

struct sp_error *waits_add_thread(struct waits *waits, uint32_t pid, uint32_t tid, uint64_t begin_ns)
{
	struct waiting_thread *thread;
	struct sp_error *error = find_thread(waits, tid, &thread);
	if (error || !thread || thread->state != THREAD_UNKNOWN || thread->events.count)
		return error;
	thread->pid = pid;
	thread->state = THREAD_THERE;
	thread->off_ns = begin_ns;
	return NULL;
}

void waits_add_lost(struct waits *waits, uint64_t time_ns)
{
	if (time_ns > waits->lost_ns)
		waits->lost_ns = time_ns;
}

/* Adds an event to all threads, whichever records they have. */
static struct sp_error *add_to_all(struct waits *waits, const struct event *event)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < waits->threads.count && !error; i++) {
		struct waiting_thread *thread = &waits->threads.items[i];
		if (thread->tid && thread->pid && thread->state != THREAD_ENDED)
			error = add_event(waits, thread, event);
	}
	return error;
}

struct sp_error *waits_disable(struct waits *waits, uint64_t time_ns)
{
	return add_to_all(waits, &(struct event){.time_ns = time_ns, .kind = EVENT_DISABLED});
}

static struct waits_thread describe(const struct waiting_thread *thread)
{
	return (struct waits_thread){.pid = thread->pid, .tid = thread->tid, .switched = thread->switched};
}

/*
 * Returns whether the thread may wait without a stack. A thread that ran at its last record may wait now:
 * without it, snapshots would prefer threads whose waits are longer than the age of the records.
 * *since_ns_ret: the time when the thread went off, or 0 if it ran at its last record.
 */
static bool is_bare(const struct waiting_thread *thread, uint64_t *since_ns_ret, bool *unsampled_ret)
{
	const struct event *last = NULL;
	for (size_t i = 0; i < thread->events.count; i++) {
		const struct event *event = &thread->events.items[i];
		if (event->kind != EVENT_SNAPSHOT && (!last || compare_events(event, last) > 0))
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
	return thread->state != THREAD_ENDED && (*unsampled_ret || !(off && thread->held));
}

bool waits_next_bare(struct waits *waits, size_t *at, struct waits_thread *ret)
{
	while (*at < waits->threads.count) {
		struct waiting_thread *thread = &waits->threads.items[(*at)++];
		uint64_t since_ns;
		bool unsampled;
		if (!thread->tid || !is_bare(thread, &since_ns, &unsampled) ||
		    (since_ns && thread->seen_ns == since_ns))
			continue;
		thread->seen_ns = since_ns;
		*ret = describe(thread);
		ret->unsampled = unsampled;
		return true;
	}
	return false;
}

bool waits_next_thread(struct waits *waits, size_t *at, struct waits_thread *ret)
{
	while (*at < waits->threads.count) {
		struct waiting_thread *thread = &waits->threads.items[(*at)++];
		if (!thread->tid || !thread->pid || thread->state == THREAD_ENDED)
			continue;
		*ret = describe(thread);
		thread->switched = false;
		return true;
	}
	return false;
}

/* FORK and EXIT: header, u32 pid, ppid, tid, ptid, u64 time. */
#define TASK_PID 8
#define TASK_TID 16
#define TASK_TIME 24

/* A new thread is known by its number even if all of its switches are lost. */
static struct sp_error *on_fork_record(struct waits *waits, uint32_t pid, uint32_t tid)
{
	struct waiting_thread *thread;
	struct sp_error *error = has_number(tid) ? find_thread(waits, tid, &thread) : NULL;
	if (!error && has_number(tid) && thread)
		thread->pid = pid;
	return error;
}

struct sp_error *waits_add_metadata(struct waits *waits, const uint8_t *bytes, size_t size)
{
	struct sp_error *error = NULL;
	size_t step;
	for (size_t at = 0; at + sizeof(struct perf_event_header) <= size && !error; at += step) {
		const struct perf_event_header header = header_of(bytes + at);
		step = header.size;
		if (step < sizeof(header) || step > size - at)
			break;
		if ((header.type != PERF_RECORD_EXIT && header.type != PERF_RECORD_FORK) ||
		    step < TASK_TIME + sizeof(uint64_t))
			continue;
		uint32_t tid = bytes_u32(bytes + at + TASK_TID);
		if (header.type == PERF_RECORD_FORK) {
			error = on_fork_record(waits, bytes_u32(bytes + at + TASK_PID), tid);
			continue;
		}
		const uint32_t *index = u64map_find(&waits->index, tid);
		const struct event event = {.time_ns = bytes_u64(bytes + at + TASK_TIME), .kind = EVENT_EXIT};
		if (index)
			error = add_event(waits, &waits->threads.items[*index], &event);
	}
	return error;
}

/* -- Output ---------------------------------------------------------------------- */

/* Whether a wait that long is written, if only `thin_ns` or longer ones always are. */
static bool is_selected(const struct waiting_thread *thread, uint64_t duration_ns, uint64_t thin_ns)
{
	uint64_t hash = hash_pair(thread->tid, thread->off_ns) >> 32;
	return duration_ns >= thin_ns || hash * thin_ns < duration_ns << 32;
}

/*
 * Returns the period of a wait found by a snapshot, whose reading took `read_ns`. The thread was off the CPU
 * all that time: the probability to find such a wait is the rest of its duration / interval.
 */
static uint64_t snapshot_period(uint64_t duration_ns, uint64_t read_ns, uint64_t interval_ns)
{
	double duration = (double)duration_ns, interval = (double)interval_ns;
	double rest = duration_ns > read_ns ? duration - (double)read_ns : 0;
	double least = duration / SNAPSHOT_WEIGHT_MAX;
	if (rest >= interval)
		return duration_ns;
	double factor = interval / (rest > least ? rest : least);
	return factor > 1 ? (uint64_t)(duration * factor + 0.5) : duration_ns;
}

/* Appends the held sample, as one of the thread's wait until `end_ns`. */
static struct sp_error *write_wait(struct waits *waits, const struct waiting_thread *thread,
				   uint64_t end_ns, uint16_t misc, struct record_buffer *output)
{
	const struct record_fields *fields = &waits->options.fields;
	struct waits_counts *counts = &waits->counts;
	uint64_t duration_ns = end_ns > thread->off_ns ? end_ns - thread->off_ns : 0;
	if (!duration_ns)
		return NULL;
	counts->waits++;
	counts->bare += !thread->held;
	if (!thread->held)
		return NULL;
	bool snapshot = is_snapshot(thread->held);
	uint64_t thin_ns = waits->options.thin_ns, period_ns = duration_ns;
	if (!snapshot && !is_selected(thread, duration_ns, thin_ns))
		return NULL;
	if (!snapshot && duration_ns < thin_ns)
		period_ns = thin_ns;
	if (snapshot && !(misc & SP_MISC_UNFINISHED))
		period_ns = snapshot_period(duration_ns, bytes_u64(thread->held + fields->sample_period),
					    waits->options.snapshot_ns);
	struct perf_event_header header = header_of(thread->held);
	if (!vec_reserve(output, output->count + header.size))
		return error_no_memory();
	uint8_t *record = output->items + output->count;
	memcpy(record, thread->held, header.size);
	header.misc |= misc;
	memcpy(record, &header, sizeof(header));
	bytes_set_u64(record + fields->sample_period, period_ns);
	if (snapshot)
		bytes_set_u64(record + fields->sample_time, thread->off_ns);
	uint64_t time_ns = bytes_u64(record + fields->sample_time);
	output->count += header.size;
	counts->written++;
	if (!counts->first_ns || time_ns < counts->first_ns)
		counts->first_ns = time_ns;
	if (time_ns > counts->last_ns)
		counts->last_ns = time_ns;
	return NULL;
}

static void on_lost(struct waiting_thread *thread, const struct event *event)
{
	if (thread->state == THREAD_ENDED)
		return;
	if (thread->state == THREAD_BLOCKED) {
		/* The first loss of a wait ends its complete part. */
		if (!thread->lost_ns)
			thread->complete_ns = event->complete_ns;
		thread->lost_ns = event->time_ns;
		return;
	}
	/* The held sample's switch may still come: losses are those of some ring buffer. */
	thread->state = THREAD_THERE;
	thread->off_ns = event->time_ns;
}

/* The wait's rest is not known: a snapshot finds it after the events are enabled again. */
static struct sp_error *on_disabled(struct waits *waits, struct waiting_thread *thread, uint64_t time_ns,
				    struct record_buffer *output)
{
	struct sp_error *error = NULL;
	if (thread->state == THREAD_BLOCKED)
		error = write_wait(waits, thread, time_ns, SP_MISC_UNFINISHED, output);
	if (thread->state != THREAD_ENDED)
		thread->state = THREAD_UNKNOWN;
	thread->lost_ns = 0;
	hold(waits, thread, NULL);
	return error;
}

static void on_out(struct waits *waits, struct waiting_thread *thread, const struct event *event)
{
	thread->lost_ns = 0;
	if (thread->state == THREAD_ENDED) {
		hold(waits, thread, NULL);
		return;
	}
	if (thread->state == THREAD_BLOCKED) {
		waits->counts.unmatched++;
		hold(waits, thread, NULL);
	}
	thread->state = event->kind == EVENT_OUT ? THREAD_BLOCKED : THREAD_PREEMPTED;
	thread->off_ns = event->time_ns;
	if (event->kind == EVENT_PREEMPTED)
		hold(waits, thread, NULL);
}

/* A sample of a switch comes while the thread is on: if it seems blocked, its way back is missing. */
static void on_sample(struct waits *waits, struct waiting_thread *thread, uint8_t *record)
{
	if (thread->state == THREAD_BLOCKED)
		waits->counts.unmatched++;
	if (thread->state != THREAD_ENDED)
		thread->state = THREAD_ON;
	thread->lost_ns = 0;
	hold(waits, thread, record);
}

/* Ends a wait where records were lost, and begins another where they are complete again. */
static struct sp_error *end_at_loss(struct waits *waits, struct waiting_thread *thread,
				    struct record_buffer *output)
{
	struct sp_error *error = write_wait(waits, thread, thread->complete_ns, SP_MISC_UNFINISHED, output);
	hold(waits, thread, NULL);
	thread->off_ns = thread->lost_ns;
	thread->lost_ns = 0;
	return error;
}

/* Takes the record over. */
static struct sp_error *on_snapshot(struct waits *waits, struct waiting_thread *thread, uint8_t *record,
				    struct record_buffer *output)
{
	const struct record_fields *fields = &waits->options.fields;
	uint64_t begin_ns = bytes_u64(record + fields->sample_time) -
			    bytes_u64(record + fields->sample_period);
	bool off = thread->state == THREAD_BLOCKED || thread->state == THREAD_THERE;
	bool proven = off && thread->off_ns <= begin_ns && thread->lost_ns <= begin_ns;
	struct sp_error *error = proven && thread->lost_ns ? end_at_loss(waits, thread, output) : NULL;
	bool fits = proven && (thread->state == THREAD_THERE || !thread->held);
	waits->counts.raced += !proven;
	if (proven)
		thread->state = THREAD_BLOCKED;
	if (fits)
		hold(waits, thread, record);
	else
		free_record(waits, record);
	return error;
}

static struct sp_error *on_in(struct waits *waits, struct waiting_thread *thread,
			      const struct event *event, struct record_buffer *output)
{
	struct sp_error *error = NULL;
	if (thread->state == THREAD_BLOCKED)
		error = write_wait(waits, thread, event->time_ns, 0, output);
	thread->state = THREAD_ON;
	thread->lost_ns = 0;
	hold(waits, thread, NULL);
	return error;
}

static struct sp_error *on_exit_record(struct waits *waits, struct waiting_thread *thread, uint64_t time_ns)
{
	uint32_t *slot = vec_push(&waits->ended);
	if (!slot)
		return error_no_memory();
	*slot = (uint32_t)(thread - waits->threads.items);
	if (waits->options.on_end)
		waits->options.on_end(waits->options.arg, thread->tid);
	thread->state = THREAD_ENDED;
	thread->lost_ns = 0;
	thread->off_ns = time_ns;
	hold(waits, thread, NULL);
	return NULL;
}

/* Takes event->record over. */
static struct sp_error *on_event(struct waits *waits, struct waiting_thread *thread, struct event *event,
				 struct record_buffer *output)
{
	uint8_t *record = take_ptr(event->record);
	switch (event->kind) {
	case EVENT_LOST:
		on_lost(thread, event);
		return NULL;
	case EVENT_SAMPLE:
		on_sample(waits, thread, record);
		return NULL;
	case EVENT_SNAPSHOT:
		return on_snapshot(waits, thread, record, output);
	case EVENT_DISABLED:
		return on_disabled(waits, thread, event->time_ns, output);
	case EVENT_OUT:
	case EVENT_PREEMPTED:
		on_out(waits, thread, event);
		return NULL;
	case EVENT_IN:
		return on_in(waits, thread, event, output);
	default:
		return on_exit_record(waits, thread, event->time_ns);
	}
}

/* Processes a thread's events before `safe_ns`; the others stay. */
static struct sp_error *process(struct waits *waits, uint32_t index, uint64_t safe_ns,
				struct record_buffer *output)
{
	struct waiting_thread *thread = &waits->threads.items[index];
	struct sp_error *error = NULL;
	size_t done = 0;
	if (thread->unsorted)
		qsort(thread->events.items, thread->events.count, sizeof(*thread->events.items),
		      compare_events);
	thread->unsorted = false;
	while (done < thread->events.count && thread->events.items[done].time_ns < safe_ns && !error)
		error = on_event(waits, thread, &thread->events.items[done++], output);
	thread->events.count -= done;
	memmove(thread->events.items, thread->events.items + done,
		thread->events.count * sizeof(*thread->events.items));
	return error;
}

/* Removes threads that ended a while before `safe_ns`, and are no new ones. */
static struct sp_error *remove_ended(struct waits *waits, uint64_t safe_ns)
{
	struct sp_error *error = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < waits->ended.count && !error; i++) {
		uint32_t index = waits->ended.items[i];
		const struct waiting_thread *thread = &waits->threads.items[index];
		bool ended = thread->state == THREAD_ENDED;
		bool waiting = thread->events.count || thread->off_ns + ENDED_NS > safe_ns;
		if (ended && waiting)
			waits->ended.items[kept++] = index;
		else if (ended)
			error = remove_thread(waits, index);
	}
	waits->ended.count = kept;
	return error;
}

/* The kernel lost records of any thread since the last round but one. */
static struct sp_error *add_losses(struct waits *waits)
{
	const struct event event = {.time_ns = waits->lost_ns, .complete_ns = waits->safe_ns,
				    .kind = EVENT_LOST};
	struct sp_error *error = waits->lost_ns ? add_to_all(waits, &event) : NULL;
	waits->lost_ns = 0;
	return error;
}

struct sp_error *waits_write(struct waits *waits, uint64_t safe_ns, struct record_buffer *output)
{
	struct sp_error *error = add_losses(waits);
	size_t kept = 0;
	waits->safe_ns = safe_ns;
	for (size_t i = 0; i < waits->busy.count; i++) {
		uint32_t index = waits->busy.items[i];
		if (!error)
			error = process(waits, index, safe_ns, output);
		if (waits->threads.items[index].events.count)
			waits->busy.items[kept++] = index;
	}
	waits->busy.count = kept;
	return error ? error : remove_ended(waits, safe_ns);
}

struct sp_error *waits_split(struct waits *waits, uint64_t end_ns, struct record_buffer *output)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < waits->threads.count && !error; i++) {
		struct waiting_thread *thread = &waits->threads.items[i];
		if (thread->state != THREAD_BLOCKED || end_ns <= thread->off_ns)
			continue;
		error = write_wait(waits, thread, end_ns, SP_MISC_UNFINISHED, output);
		thread->off_ns = end_ns;
		thread->lost_ns = 0;
		if (thread->held)
			bytes_set_u64(thread->held + waits->options.fields.sample_time, end_ns);
	}
	return error;
}

uint64_t waits_oldest_ns(const struct waits *waits)
{
	uint32_t at = waits->options.fields.sample_time;
	uint64_t oldest_ns = UINT64_MAX;
	for (size_t i = 0; i < waits->threads.count; i++) {
		const struct waiting_thread *thread = &waits->threads.items[i];
		/* Snapshots of waits get the time of their begin. */
		bool off = thread->state == THREAD_BLOCKED || thread->state == THREAD_THERE;
		uint64_t held_ns = thread->held ? bytes_u64(thread->held + at) : UINT64_MAX;
		if (off && thread->off_ns < oldest_ns)
			oldest_ns = thread->off_ns;
		if (held_ns < oldest_ns)
			oldest_ns = held_ns;
		for (size_t j = 0; j < thread->events.count; j++)
			if (thread->events.items[j].time_ns < oldest_ns)
				oldest_ns = thread->events.items[j].time_ns;
	}
	return oldest_ns;
}

const struct waits_counts *waits_counts(const struct waits *waits)
{
	return &waits->counts;
}
