/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/wakeup.h"

#include <poll.h>
#include "test.h"

static bool is_readable(const struct wakeup *wakeup)
{
	struct pollfd poll_fd = {.fd = wakeup->fd, .events = POLLIN};
	return poll(&poll_fd, 1, 0) == 1;
}

TEST(a_wakeup_is_written_once_until_it_is_armed_again)
{
	struct wakeup wakeup;
	ok_or_fail(wakeup_init(&wakeup));
	wakeup_raise(&wakeup);
	ck_assert(!is_readable(&wakeup)); /* not armed */
	wakeup_arm(&wakeup, true);
	wakeup_raise(&wakeup);
	ck_assert(is_readable(&wakeup));
	ck_assert(!wakeup_disarm(&wakeup));
	wakeup_arm(&wakeup, true);
	ck_assert(!is_readable(&wakeup));
	ck_assert(wakeup_disarm(&wakeup));
	wakeup_arm(&wakeup, false);
	wakeup_raise(&wakeup);
	ck_assert(!is_readable(&wakeup));
	wakeup_deinit(&wakeup);
}

/* The poller runs between the two steps of the thread that raises it. */
TEST(a_late_write_does_not_leave_it_readable)
{
	struct wakeup wakeup;
	ok_or_fail(wakeup_init(&wakeup));
	wakeup_arm(&wakeup, true);
	ck_assert(wakeup_disarm(&wakeup));
	wakeup_arm(&wakeup, true);
	wakeup_write(&wakeup);
	ck_assert(is_readable(&wakeup));
	wakeup_arm(&wakeup, true);
	ck_assert(!is_readable(&wakeup));
	/* Nor is the next one missed. */
	wakeup_raise(&wakeup);
	ck_assert(is_readable(&wakeup));
	wakeup_deinit(&wakeup);
}
