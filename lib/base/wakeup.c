/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/wakeup.h"

#include <errno.h>
#include <sys/eventfd.h>
#include "base/cleanup.h"

struct sp_error *wakeup_init(struct wakeup *wakeup)
{
	*wakeup = (struct wakeup){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	return wakeup->fd < 0 ? error_os(errno, "eventfd") : NULL;
}

void wakeup_deinit(struct wakeup *wakeup)
{
	cleanup_close(&wakeup->fd);
	*wakeup = (struct wakeup){.fd = -1};
}

bool wakeup_disarm(struct wakeup *wakeup)
{
	return __atomic_exchange_n(&wakeup->armed, false, __ATOMIC_ACQ_REL);
}

void wakeup_write(struct wakeup *wakeup)
{
	(void)!eventfd_write(wakeup->fd, 1);
}

void wakeup_raise(struct wakeup *wakeup)
{
	if (wakeup_disarm(wakeup))
		wakeup_write(wakeup);
}

void wakeup_arm(struct wakeup *wakeup, bool armed)
{
	eventfd_t count;
	/* Always read: a raising thread may still write long after it disarmed. */
	(void)!eventfd_read(wakeup->fd, &count);
	/*
	 * An exchange, to acquire the work of threads that found the wakeup disarmed and did not write.
	 */
	(void)__atomic_exchange_n(&wakeup->armed, armed, __ATOMIC_ACQ_REL);
}
