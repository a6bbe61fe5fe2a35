/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel writes the two samples of a wake-up one after the other, with interrupts off, so that they are
 * neighbours in the ring buffer of the CPU. Which one is first depends on when the events were scheduled.
 */
#include "capture/waits/wakeups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"

/* Largest time between the two samples of a wake-up. It is a few us, or more if the host stops. */
#define REPEAT_NS 1000000

/* More than Linux supports. */
#define CPUS_MAX (1 << 16)

/* A name is read again after that. */
#define NAME_NS UINT64_C(1000000000)

void wakeups_deinit(struct wakeups *wakeups)
{
	u64map_deinit(&wakeups->ids);
	vec_deinit(&wakeups->last);
	u64map_deinit(&wakeups->waker_of);
	vec_deinit(&wakeups->wakers);
	vec_deinit(&wakeups->records);
	free(wakeups->names);
}

bool wakeups_add_id(struct wakeups *wakeups, uint64_t id, bool outside)
{
	return u64map_put(&wakeups->ids, id, outside, NULL);
}

/* The kernel's part of a sample. */
struct wakeup_fields {
	uint64_t raw_at; /* position of the raw data */
	uint32_t woken;
	bool by_thread;  /* not by an interrupt on its CPU; a system call may run a softirq */
};

/* Reads a number of 1 or 4 bytes at any position of a ring, where words are whole. */
static uint32_t read_bytes(const struct ring *ring, uint64_t position, uint32_t size)
{
	uint64_t word = ring_u64(ring, position & ~UINT64_C(7));
	uint32_t value = 0;
	memcpy(&value, (const uint8_t *)&word + position % 8, size);
	return value;
}

/* Raw data follows the call chain: its size in 4 bytes, and its fields. Returns false if it is too short. */
static bool read_wakeup(const struct wakeups *wakeups, const struct ring *ring,
			const struct record_values *record, struct wakeup_fields *ret)
{
	const struct wakeup_event *event = wakeups->options.event;
	uint64_t at = record->position + wakeups->options.fields->sample_end;
	uint64_t end = record->position + record->header.size;
	if (wakeups->options.attr->sample_type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t count = at + 8 <= end ? ring_u64(ring, at) : UINT64_MAX;
		if (count > (end - at) / 8)
			return false;
		at += 8 + 8 * count;
	}
	uint64_t size = at + 8 <= end ? first_u32(ring_u64(ring, at)) : 0;
	if (!size || size > end - at - 4 || event->pid.offset % 4 || event->pid.offset + 4 > size ||
	    event->flags.offset >= size)
		return false;
	*ret = (struct wakeup_fields){
		.raw_at = at + 4,
		.woken = read_bytes(ring, at + 4 + event->pid.offset, 4),
		.by_thread = !(read_bytes(ring, at + 4 + event->flags.offset, 1) &
			       TRACE_FLAGS_INTERRUPT),
	};
	return true;
}

/* Returns whether the sample and the last one are of the same wake-up, by the two events. */
static bool is_repeated(struct wakeups_last *last, const struct wakeups_last *now)
{
	bool is_near = now->time_ns - last->time_ns + REPEAT_NS < 2 * REPEAT_NS;
	bool repeated = is_near && last->woken == now->woken && last->waker == now->waker &&
			last->outside != now->outside;
	*last = repeated ? (struct wakeups_last){0} : *now;
	return repeated;
}

/* -- Names of wakers -------------------------------------------------------------- */

static struct sp_error *add_comm(struct wakeups *wakeups, const struct record_values *record, uint64_t id,
				 const char *comm)
{
	/* Readers sort by time, and the sample may precede this record in the file. */
	const struct sp_record made = {
		.type = PERF_RECORD_COMM,
		.comm = {.pid = record->pid, .tid = record->tid, .comm = comm},
		.id = {.pid = record->pid, .tid = record->tid, .id = id, .cpu = record->cpu,
		       .time_ns = record->time_ns - 1},
	};
	return record_encode(&wakeups->records, &made, wakeups->options.attr);
}

/* Returns the waker's entry. Too many wakers are forgotten. */
static struct wakeups_waker *find_waker(struct wakeups *wakeups, uint32_t tid)
{
	if (wakeups->wakers.count >= WAKEUPS_WAKERS_MAX && !u64map_find(&wakeups->waker_of, tid))
		wakeups_restart(wakeups);
	return u64map_item(&wakeups->waker_of, tid, &wakeups->wakers);
}

/* Remembers the name of a thread that is woken and not recorded: it may wake a recorded one, and end. */
static struct sp_error *remember_name(struct wakeups *wakeups, const struct ring *ring,
				      const struct wakeup_fields *wakeup)
{
	const struct wakeup_event *event = wakeups->options.event;
	const struct trace_field *field = &event->comm;
	/* Data is known to reach the pid. */
	if (field->size != WAKEUPS_COMM_SIZE || field->offset % 4 ||
	    field->offset + field->size > event->pid.offset)
		return NULL;
	if (!wakeups->names)
		wakeups->names = calloc(WAKEUPS_NAMES, sizeof(*wakeups->names));
	NEED(wakeups->names);
	struct wakeups_name *name = &wakeups->names[wakeup->woken % WAKEUPS_NAMES];
	name->tid = wakeup->woken;
	for (uint32_t at = 0; at < field->size; at += 4) {
		uint32_t bytes = read_bytes(ring, wakeup->raw_at + field->offset + at, 4);
		memcpy(name->comm + at, &bytes, sizeof(bytes));
	}
	return NULL;
}

/* Finds a waker's name. Returns false when out of memory; *ret is "" if it is unknown. */
static bool find_name(const struct wakeups *wakeups, uint32_t pid, uint32_t tid, char ret[WAKEUPS_COMM_SIZE])
{
	const struct wakeups_name *name = wakeups->names ? &wakeups->names[tid % WAKEUPS_NAMES] : NULL;
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task/%u/comm", ctx_root(wakeups->options.ctx),
					      pid, tid);
	CLEANUP_FREE char *text = NULL;
	size_t size;
	*ret = 0;
	if (!path)
		return false;
	if (!io_read_file(path, &text, &size))
		snprintf(ret, WAKEUPS_COMM_SIZE, "%.*s", (int)strcspn(text, "\n"), text);
	else if (name && name->tid == tid)
		snprintf(ret, WAKEUPS_COMM_SIZE, "%.*s", WAKEUPS_COMM_SIZE - 1, name->comm);
	return true;
}

static struct sp_error *describe(struct wakeups *wakeups, const struct record_values *record, uint64_t id)
{
	char comm[WAKEUPS_COMM_SIZE];
	struct wakeups_waker *waker = find_waker(wakeups, record->tid);
	NEED(waker);
	if (waker->read_ns && record->time_ns < waker->read_ns + NAME_NS)
		return NULL;
	waker->read_ns = record->time_ns;
	NEED(find_name(wakeups, record->pid, record->tid, comm));
	if (!*comm || !strcmp(comm, waker->comm))
		return NULL;
	memcpy(waker->comm, comm, sizeof(comm));
	return add_comm(wakeups, record, id, comm);
}

void wakeups_restart(struct wakeups *wakeups)
{
	u64map_deinit(&wakeups->waker_of);
	wakeups->waker_of = (struct u64map){0};
	wakeups->wakers.count = 0;
}

/* -- Decisions ------------------------------------------------------------------ */

static struct wakeups_last *last_of(struct wakeups *wakeups, uint32_t cpu)
{
	while (wakeups->last.count <= cpu && cpu < CPUS_MAX)
		if (!vec_append(&wakeups->last, (struct wakeups_last){0}))
			return NULL;
	return cpu < wakeups->last.count ? &wakeups->last.items[cpu] : NULL;
}

static bool is_recorded(const struct wakeups *wakeups, uint32_t tid, uint64_t time_ns)
{
	/* By thread, the process does not matter. */
	return membership_has(wakeups->options.threads, 0, tid, time_ns);
}

struct sp_error *wakeups_decide(struct wakeups *wakeups, const struct ring *ring,
				const struct record_values *record, uint64_t id,
				enum wakeups_verdict *ret, bool *outside_ret)
{
	const uint32_t *outside = u64map_find(&wakeups->ids, record->id);
	struct wakeup_fields wakeup;
	*ret = WAKEUPS_OTHER;
	*outside_ret = outside && *outside;
	if (!outside || !read_wakeup(wakeups, ring, record, &wakeup))
		return NULL;
	const struct wakeups_last now = {record->tid, wakeup.woken, record->time_ns, *outside};
	struct wakeups_last *last = last_of(wakeups, record->cpu);
	NEED(last);
	bool waker_is_recorded = is_recorded(wakeups, record->tid, record->time_ns);
	bool repeated = is_repeated(last, &now);
	wakeups->by_recorded += *outside && waker_is_recorded;
	bool recorded = is_recorded(wakeups, wakeup.woken, record->time_ns) ||
			(!*outside && wakeups->options.event->was_named);
	*ret = !recorded ? WAKEUPS_FILTERED : repeated ? WAKEUPS_REPEATED : WAKEUPS_KEEP;
	if (!recorded && *outside)
		return remember_name(wakeups, ring, &wakeup);
	bool unknown = *ret == WAKEUPS_KEEP && *outside && wakeup.by_thread && record->tid;
	return unknown && !waker_is_recorded ? describe(wakeups, record, id) : NULL;
}
