/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/epoll.h>
#include "capture/recorder.h"

struct sp_error *capture_watch_fd(struct sp_capture *capture, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (fd >= 0 && epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_os(errno, "epoll_ctl");
	return NULL;
}
