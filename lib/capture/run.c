/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole recording in one call, on top of the public functions. */
#include <errno.h>
#include <poll.h>
#include "capture/recorder.h"

/* Milliseconds until `end_ns` (0: never), rounded up, as poll(2) expects them. */
static int timeout_until(uint64_t end_ns)
{
	uint64_t now_ns = capture_now_ns();
	if (!end_ns)
		return -1;
	if (now_ns >= end_ns)
		return 0;
	uint64_t left_ms = (end_ns - now_ns + 999999) / 1000000;
	return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

/* Waits for work. *stopped_ret is set if `stop_fd` is readable or `end_ns` has passed. */
static struct sp_error *wait_for_work(const struct sp_capture *capture, int stop_fd, uint64_t end_ns,
				      bool *stopped_ret)
{
	struct pollfd fds[] = {
		{.fd = sp_capture_fd(capture), .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
	};
	int timeout = timeout_until(end_ns);
	if (poll(fds, 2, timeout) < 0 && errno != EINTR)
		return error_os(errno, "cannot wait for samples");
	*stopped_ret = fds[1].revents || timeout == 0;
	return NULL;
}

static struct sp_error *run(struct sp_capture *capture, int stop_fd)
{
	struct sp_error *error = capture->started ? NULL : sp_capture_start(capture);
	uint64_t duration_ns = capture->config.duration_ns;
	uint64_t end_ns = duration_ns ? capture_now_ns() + duration_ns : 0;
	bool running = true, stopped = false;
	while (!error && running) {
		error = wait_for_work(capture, stop_fd, end_ns, &stopped);
		if (stopped)
			break;
		if (!error)
			error = sp_capture_step(capture, &running);
	}
	return error;
}

struct sp_error *sp_capture_run(struct sp_capture *capture, int stop_fd)
{
	struct sp_error *error = run(capture, stop_fd);
	return error_first(error, sp_capture_stop(capture));
}
