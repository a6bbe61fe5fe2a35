/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples of sched_switch, sched_waking and sched_wakeup, as switches and wake-ups of threads. Without raw
 * data, a sample of sched_switch only gives that its thread blocked.
 */
#pragma once

#include <sprof/reader.h>
#include "base/vec.h"
#include "states/task_states.h"
#include "trace/event_format.h"

enum sched_kind {
	SCHED_EVENT_OTHER,
	SCHED_EVENT_SWITCH,
	SCHED_EVENT_WAKE,
	SCHED_EVENT_WAIT, /* samples of threads that do not run */
};

/* Tracepoint of one event. */
struct sched_event {
	enum sched_kind kind;
	struct trace_field prev_pid, prev_state, next_pid; /* SCHED_EVENT_SWITCH */
	struct trace_field pid, flags;                     /* SCHED_EVENT_WAKE; flags: common_flags */
};

struct sched_samples {
	VEC(struct sched_event) events; /* by event; empty: the recording has no sched_switch */
	bool swap;                      /* raw data is not in this machine's byte order */
};

/*
 * Finds the events, and the fields of their formats in the recording. A damaged format has no fields.
 * *samples must be freed after a failure, too.
 */
struct sp_error *sched_samples_init(struct sched_samples *samples,
				    const struct sp_reader *reader) SP_MUST_CHECK;
void sched_samples_deinit(struct sched_samples *samples);

/* Wake-up of a thread by the thread of the sample, or by an interrupt on its CPU. */
struct sched_wake {
	uint32_t tid; /* the woken thread */
	enum task_waker waker;
};

/* Returns whether samples of an event are wake-ups, and their format is known. */
bool sched_samples_has_wakes(const struct sched_samples *samples, uint16_t event);

/* Gets the wake-up of a sample of such an event. Returns false if its raw data is too short. */
bool sched_samples_wake(const struct sched_samples *samples, const struct sp_record *record,
			struct sched_wake *ret);

/* Adds a sample to the states. */
struct sp_error *sched_samples_add(const struct sched_samples *samples, const struct sp_record *record,
				   struct task_states *states) SP_MUST_CHECK;
