/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of waits.c. */
#pragma once

#include "capture/waits/matcher.h"
#include "capture/waits/snapshots.h"
#include "capture/waits/waits.h"
#include "capture/waits/wakeups.h"

/* Rate of preempted threads. */
struct preempted_rate {
	uint64_t id;           /* their event's, in the file; 0: they are not written */
	uint64_t time_ns;      /* begin of the present interval; 0: none yet */
	uint64_t samples;      /* other samples since */
	uint64_t switches, ns; /* matcher_counts() then */
	/* Wanted number of samples, and preempted time, of the last intervals. */
	double wanted, off_ns;
};

struct waits {
	struct waits_options options;
	struct record_fields fields;  /* the planned events' */
	struct matcher *matcher;      /* owned */
	struct snapshots *snapshots;  /* owned; NULL: none can be taken */
	struct wakeups wakeups;
	bool filters_wakeups;         /* false: all wake-ups are kept */
	struct waits_made made;
	struct record_buffer ended;
	bool unwinds;                 /* samples are unwound while recording */
	bool always;                  /* snapshots are the only stacks */
	uint32_t each;                /* one of that many switches is sampled; 0: none */
	uint64_t each_ns;             /* if each is 1: all later switches are sampled */
	uint32_t wanted;              /* the same from the next window on, or fewer: see cost_ns */
	bool suspended;               /* the event of waits is off: in a gap, or if each is 0 */
	uint64_t windows;             /* number of windows so far */
	uint64_t window_ns;           /* time of the next window */
	uint64_t cost_ns;             /* CPU time of opening the last window */
	bool disabled;                /* all events are disabled */
	struct preempted_rate preempted;
	uint64_t id;                  /* an id of the event of waits, in the file */
	size_t outside_count;         /* outside events of wake-ups in `wakeups` */
	uint64_t switches, rate_ns;   /* count and time of the last check of the rate */
	double rate;                  /* switches per second before that */
	uint64_t snapshot_ns;         /* time of the next snapshots: CLOCK_MONOTONIC, as rate_ns */
	uint32_t denied_pid;          /* first process with unreadable stacks; 0: none */
	enum note_denied denied;      /* the right that the recorder lacks for it */
};
