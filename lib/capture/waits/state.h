/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of waits.c. */
#ifndef CAPTURE_WAITS_STATE_H
#define CAPTURE_WAITS_STATE_H

#include "capture/waits/matcher.h"
#include "capture/waits/snapshots.h"
#include "capture/waits/waits.h"
#include "capture/waits/wakeups.h"

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
	uint32_t wanted;              /* the same from the next window on, or fewer: see cost_ns */
	bool suspended;               /* the event of waits is off: in a gap, or if each is 0 */
	uint64_t windows;             /* their number so far */
	uint64_t window_ns;           /* time of the next window */
	uint64_t cost_ns;             /* CPU time of opening the last window */
	bool disabled;                /* all events are */
	uint64_t id;                  /* an id of the event of waits, in the file */
	size_t outside_count;         /* outside events of wake-ups in `wakeups` */
	uint64_t switches, rate_ns;   /* count and time of the last check of the rate */
	double rate;                  /* switches per second before that */
	uint64_t snapshot_ns;         /* time of the next snapshots: CLOCK_MONOTONIC, as rate_ns */
	uint32_t denied_pid;          /* first process with unreadable stacks; 0: none */
	enum note_denied denied;      /* its missing right */
};

#endif
