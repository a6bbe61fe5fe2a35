/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/stop.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include "diag.h"

/* Delay in ms before printing that the recorder waits for the reader of the pipe. */
#define PATIENCE_MS 1000

/* State while sp_capture_stop() writes to a pipe; the pipe's reader may delay it. */
struct pipe_write {
	const char *name;
	const struct session *session;
	struct session_watch watch;
	pid_t command; /* pid of the recorded command; 0: none */
	bool quiet;
};

static void give_up(const struct pipe_write *pipe_write, int number)
{
	diag_say("gave up: data that the reader of %s has not read is lost", pipe_write->name);
	if (pipe_write->command)
		kill(pipe_write->command, SIGTERM);
	session_raise(number);
}

static void *watch_signals(void *arg)
{
	const struct pipe_write *pipe_write = arg;
	struct pollfd fds[] = {
		{.fd = pipe_write->session->signal_fd, .events = POLLIN},
		{.fd = pipe_write->watch.done_fd, .events = POLLIN},
	};
	bool printed = pipe_write->quiet;
	while (!fds[1].revents) {
		struct signalfd_siginfo info;
		if (poll(fds, 2, printed ? -1 : PATIENCE_MS) == 0) {
			diag_say("waiting for the reader of %s; Ctrl-C or SIGTERM "
				 "discards unread data", pipe_write->name);
			printed = true;
		}
		if (fds[0].revents && session_next_signal(pipe_write->session, &info) &&
		    info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
			give_up(pipe_write, (int)info.ssi_signo);
	}
	return NULL;
}

static bool is_file(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct sp_error *record_stop(struct sp_capture *capture, const char *path,
			     const struct session *session, bool quiet)
{
	struct pipe_write pipe_write = {
		.name = strcmp(path, "-") ? path : "standard output",
		.session = session,
		.command = sp_capture_pid(capture),
		.quiet = quiet,
	};
	bool watched = !is_file(path) && session_watch_start(&pipe_write.watch, watch_signals, &pipe_write);
	struct sp_error *error = sp_capture_stop(capture);
	if (watched)
		session_watch_end(&pipe_write.watch);
	return error;
}
