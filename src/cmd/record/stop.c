/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"

/* Time until the message that the recorder waits for the reader. */
#define PATIENCE_MS 1000

struct watch {
	const char *name;
	pid_t command; /* 0: none */
	int signal_fd, done_fd;
	bool quiet;
};

static void give_up(const struct watch *watch, int number)
{
	sigset_t signals;
	diag_say("gave up: data that the reader of %s has not read is lost", watch->name);
	if (watch->command)
		kill(watch->command, SIGTERM);
	sigemptyset(&signals);
	sigaddset(&signals, number);
	signal(number, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	raise(number);
}

static void *watch_signals(void *arg)
{
	const struct watch *watch = arg;
	struct pollfd fds[] = {
		{.fd = watch->signal_fd, .events = POLLIN},
		{.fd = watch->done_fd, .events = POLLIN},
	};
	bool said = watch->quiet;
	while (!fds[1].revents) {
		struct signalfd_siginfo info;
		if (poll(fds, 2, said ? -1 : PATIENCE_MS) == 0) {
			diag_say("waiting for the reader of %s; Ctrl-C or SIGTERM "
				 "discards unread data", watch->name);
			said = true;
		}
		if (fds[0].revents && read(watch->signal_fd, &info, sizeof(info)) == sizeof(info) &&
		    info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
			give_up(watch, (int)info.ssi_signo);
	}
	return NULL;
}

static bool is_file(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct sp_error *record_stop(struct sp_capture *capture, const char *path, int signal_fd,
			     bool quiet)
{
	struct watch watch = {
		.name = strcmp(path, "-") ? path : "standard output",
		.command = sp_capture_pid(capture),
		.signal_fd = signal_fd,
		.quiet = quiet,
		.done_fd = is_file(path) ? -1 : eventfd(0, EFD_CLOEXEC),
	};
	const uint64_t one = 1;
	pthread_t thread;
	bool watched = watch.done_fd >= 0 && !pthread_create(&thread, NULL, watch_signals, &watch);
	struct sp_error *error = sp_capture_stop(capture);
	if (watched) {
		while (write(watch.done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
		pthread_join(thread, NULL);
	}
	if (watch.done_fd >= 0)
		close(watch.done_fd);
	return error;
}
