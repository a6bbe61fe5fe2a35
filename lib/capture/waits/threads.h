/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of the threads that have switches, each with its state and its events that are not processed yet.
 * Events may be added in any order.
 *
 * The table owns the records of events and those that threads hold. Functions that return an error fail only
 * when out of memory. Pointers to threads are valid until a thread is added.
 */
#pragma once

#include <sprof/record.h>
#include <string.h>
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "record/encode.h"

/* Kinds of events; at the same time, they are in this order. */
enum wait_event_kind {
	EVENT_LOST,
	EVENT_SAMPLE,
	EVENT_OUT,
	EVENT_PREEMPTED,
	EVENT_IN,
	EVENT_SNAPSHOT,
	EVENT_DISABLED,
	EVENT_EXIT,
};

struct wait_event {
	uint64_t time_ns;
	uint64_t complete_ns; /* LOST: records before are complete */
	uint8_t *record;      /* SAMPLE and SNAPSHOT; owned */
	enum wait_event_kind kind;
	uint32_t cpu;         /* the CPU of a switch */
};

enum waiting_state {
	THREAD_UNKNOWN,
	THREAD_THERE, /* it has not switched since the recording began, or since the end of a loss */
	THREAD_ON,
	THREAD_BLOCKED,
	THREAD_PREEMPTED,
	THREAD_ENDED,
};

struct waiting_thread {
	uint32_t pid, tid; /* tid 0: the slot is free */
	enum waiting_state state;
	uint64_t off_ns; /* begin of BLOCKED, PREEMPTED, ENDED, or THERE */
	uint32_t cpu;    /* the CPU of the last switch off it; UINT32_MAX: unknown */
	uint8_t *held;   /* stack of its last switch off the CPU; owned, or NULL */
	/* BLOCKED: between these times, the wait may have ended, and another begun. lost_ns 0: no. */
	uint64_t complete_ns, lost_ns;
	bool unsorted;
	bool preempted; /* ENDED: before its last OUT; its next IN is not a new thread's */
	uint32_t each;   /* off the CPU: one of that many switches was sampled then; 0: none */
	double preempted_part, mark; /* see preempted_marks() */
	uint64_t seen_ns; /* begin of the wait that matcher_next_bare() has returned last */
	struct { VEC(struct wait_event); } events;
};

/* Number of free slots that keep their lists of events, for the next threads. */
#define WAITING_FREE_LISTS 256

/* A zeroed table is empty. */
struct waiting_threads {
	struct u64map index; /* tid -> index in `items` */
	struct { VEC(struct waiting_thread); } slots;
	struct { VEC(uint32_t); } free_slots, busy, ended; /* busy: threads with events */
	size_t max;   /* limit for threads */
	size_t bytes; /* size of all records */
};

void waiting_threads_deinit(struct waiting_threads *threads);

/* Finds a thread, or adds it. *ret is NULL if there are too many threads. */
struct sp_error *waiting_threads_find(struct waiting_threads *threads, uint32_t tid,
				      struct waiting_thread **ret) SP_MUST_CHECK;

/* Takes event->record over, unless it fails; its size is not counted yet. */
struct sp_error *waiting_threads_add_event(struct waiting_threads *threads, struct waiting_thread *thread,
					   const struct wait_event *event) SP_MUST_CHECK;

/* Adds an event to all threads that have not ended, whichever records they have. It has no record. */
struct sp_error *waiting_threads_add_to_all(struct waiting_threads *threads,
					    const struct wait_event *event) SP_MUST_CHECK;

/* Sorts a thread's events by time and kind. */
void waiting_thread_sort(struct waiting_thread *thread);

/* Orders two events as waiting_thread_sort() does: returns less than, equal to, or more than 0. */
int wait_event_order(const void *a, const void *b);

/* Replaces the stack of the thread's wait. Takes the record over; NULL: none. */
void waiting_threads_hold(struct waiting_threads *threads, struct waiting_thread *thread, uint8_t *record);

/* Frees a record that an event had, or NULL. */
void waiting_threads_free_record(struct waiting_threads *threads, uint8_t *record);

/* Ends a thread at a time. */
struct sp_error *waiting_threads_end(struct waiting_threads *threads, struct waiting_thread *thread,
				     uint64_t time_ns) SP_MUST_CHECK;

/* Removes threads that ended a while before `safe_ns`, and are no new ones. */
struct sp_error *waiting_threads_remove_ended(struct waiting_threads *threads,
					      uint64_t safe_ns) SP_MUST_CHECK;

/* The idle thread has no number, and a thread that ended may have lost it. */
static inline bool thread_has_number(uint32_t tid)
{
	return tid && tid != UINT32_MAX;
}

/* Returns whether the thread is known to be off the CPU. */
static inline bool thread_is_off(const struct waiting_thread *thread)
{
	return thread->state == THREAD_BLOCKED || thread->state == THREAD_PREEMPTED;
}

static inline bool record_is_snapshot(const uint8_t *record)
{
	return record_header_of(record).misc & SP_MISC_SNAPSHOT;
}
