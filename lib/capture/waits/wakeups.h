/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples of wake-ups (sched:sched_waking) of recorded threads, whichever thread or interrupt is the waker.
 *
 * A wake-up by a recorded thread has a sample of the thread's own event, with its user stack. Events of
 * whole CPUs ("outside", event_control/alternate.h) sample all wake-ups, without user space. This part drops
 * wake-ups of threads that are not recorded, and the second sample of a wake-up that both events sampled.
 *
 * Wakers that are not recorded have no COMM records. Their names are read from /proc when they first wake a
 * recorded thread, and again after a second, as they may have changed. At most WAKEUPS_WAKERS_MAX are known.
 * Wakers that have ended have the name of their own last wake-up, if it is among the last few thousand.
 */
#pragma once

#include "base/ctx.h"
#include "base/hash.h"
#include "base/vec.h"
#include "capture/config/off_cpu.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/tasks/membership.h"
#include "record/encode.h"

#define WAKEUPS_WAKERS_MAX 4096
#define WAKEUPS_COMM_SIZE 16
#define WAKEUPS_NAMES 4096 /* a power of 2 */

/* All pointers are borrowed, and must outlive the part. */
struct wakeups_options {
	const struct sp_ctx *ctx;
	const struct wakeup_event *event;
	const struct perf_event_attr *attr; /* the planned event's */
	const struct membership *threads;   /* recorded threads; metadata precedes the samples that need it */
	const struct record_fields *fields;
};

/* Last wake-up on a CPU. */
struct wakeups_last {
	uint32_t waker, woken; /* 0: none */
	uint64_t time_ns;
	bool outside;
};

/* A waker that is not recorded. */
struct wakeups_waker {
	uint64_t read_ns;      /* when its name was read */
	char comm[WAKEUPS_COMM_SIZE];
};

/* Name of a thread that is not recorded, when it was woken itself. */
struct wakeups_name {
	uint32_t tid; /* 0: none */
	char comm[WAKEUPS_COMM_SIZE];
};

/* Zeroed, it may be given to wakeups_deinit(). */
struct wakeups {
	struct wakeups_options options;
	struct u64map ids; /* events' ids -> whether it is an outside event */
	struct { VEC(struct wakeups_last); } last; /* by CPU */
	struct u64map waker_of;                    /* tid -> index in `wakers` */
	struct { VEC(struct wakeups_waker); } wakers;
	struct wakeups_name *names;                /* WAKEUPS_NAMES, by tid modulo that; NULL: none yet */
	struct record_buffer records;              /* COMM records; the user empties it */
	uint64_t by_recorded; /* wake-ups by recorded threads that outside events sampled */
};

enum wakeups_verdict {
	WAKEUPS_OTHER,    /* it is no sample of a wake-up */
	WAKEUPS_KEEP,
	WAKEUPS_FILTERED, /* the woken thread is not recorded */
	WAKEUPS_REPEATED, /* its wake-up has a sample */
};

void wakeups_deinit(struct wakeups *wakeups);

/* Adds an id of the planned event, or of an outside one. Returns false when out of memory. */
bool wakeups_add_id(struct wakeups *wakeups, uint64_t id, bool outside);

/*
 * Decides on a sample; those of one ring buffer must come in order. `id`: its event's in the file.
 * *outside_ret: it is an outside event's. Fails only without memory.
 */
struct sp_error *wakeups_decide(struct wakeups *wakeups, const struct ring *ring,
				const struct record_values *record, uint64_t id,
				enum wakeups_verdict *ret, bool *outside_ret) SP_MUST_CHECK;

/* A file begins: it needs the names again. */
void wakeups_restart(struct wakeups *wakeups);
