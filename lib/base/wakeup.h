/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An eventfd by which threads wake a polling thread. It is written once, however many threads
 * raise it, until the poller arms it again:
 *
 *	raising thread            polling thread
 *	disarm  (atomic)          read the eventfd
 *	write the eventfd         arm     (atomic)
 *
 * The poller may run between the two steps of the raising thread. It reads the eventfd each time,
 * armed or not, so that a late write causes one needless round and no more.
 */
#pragma once

#include <stdbool.h>
#include "base/error.h"

struct wakeup {
	int fd;     /* poll it: readable after a raise; -1: not open */
	bool armed; /* atomic: the next raise writes to `fd` */
};

/* Opens the eventfd, disarmed. */
struct sp_error *wakeup_init(struct wakeup *wakeup) SP_MUST_CHECK;
/* May also be called if `fd` is -1. */
void wakeup_deinit(struct wakeup *wakeup);

/* May be called from any thread. */
void wakeup_raise(struct wakeup *wakeup);

/*
 * The two steps of wakeup_raise(): if wakeup_disarm() returns true, the caller must call
 * wakeup_write().
 */
bool wakeup_disarm(struct wakeup *wakeup);
void wakeup_write(struct wakeup *wakeup);

/*
 * Called by the poller: empties `fd`. If `armed`, the next raise writes to it again. The poller must
 * look for work after the call; this finds work from before it, too.
 */
void wakeup_arm(struct wakeup *wakeup, bool armed);
