/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An eventfd by which other threads wake the one that polls it. It is written once, however
 * many threads raise it, until the poller arms it again:
 *
 *	raising thread            polling thread
 *	disarm  (atomic)          read the eventfd
 *	write the eventfd         arm     (atomic)
 *
 * The poller may run between the two steps of the raising thread. It reads the eventfd each time,
 * armed or not, so that a late write causes one needless round and no more.
 */
#ifndef BASE_WAKEUP_H
#define BASE_WAKEUP_H

#include <stdbool.h>
#include "base/error.h"

struct wakeup {
	int fd;     /* poll it: readable after a raise; -1: not open */
	bool armed; /* atomic: the next raise writes to `fd` */
};

/* Begins disarmed. */
struct sp_error *wakeup_init(struct wakeup *wakeup) SP_MUST_CHECK;
/* May also be called if `fd` is -1. */
void wakeup_deinit(struct wakeup *wakeup);

/* May be called from any thread. */
void wakeup_raise(struct wakeup *wakeup);

/* The two steps of wakeup_raise(). wakeup_disarm() is true if the caller must call wakeup_write(). */
bool wakeup_disarm(struct wakeup *wakeup);
void wakeup_write(struct wakeup *wakeup);

/*
 * Called by the poller: empties `fd`; then the next raise writes to it if `armed`. The poller must look
 * for work after the call, which includes work from before it.
 */
void wakeup_arm(struct wakeup *wakeup, bool armed);

#endif
