/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "test.h"

/* Raised by another thread, right before the poller's read; NULL: none. */
static struct wakeup *raised_before_read;

/* Replaces the C library's function. */
int eventfd_read(int fd, eventfd_t *value)
{
	if (raised_before_read)
		wakeup_raise(raised_before_read);
	return read(fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

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

TEST(a_raise_right_before_the_read_does_not_make_the_next_one_vanish)
{
	struct wakeup wakeup;
	ok_or_fail(wakeup_init(&wakeup));
	wakeup_arm(&wakeup, true);
	wakeup_raise(&wakeup);
	raised_before_read = &wakeup;
	wakeup_arm(&wakeup, true);
	raised_before_read = NULL;
	wakeup_raise(&wakeup);
	ck_assert(is_readable(&wakeup));
	wakeup_deinit(&wakeup);
}
