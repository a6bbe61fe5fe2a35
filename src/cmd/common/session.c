/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "diag.h"

const char **session_cmdline(int argc, char **argv)
{
	const char **words = calloc((size_t)argc + 2, sizeof(*words));
	if (!words) {
		diag_say("out of memory");
		return NULL;
	}
	words[0] = "sprof";
	memcpy(words + 1, argv, (size_t)argc * sizeof(*argv));
	return words;
}

uint64_t session_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool session_open(struct session *session, const int *signals, const int *ignored)
{
	sigset_t readable;
	*session = (struct session){.signal_fd = -1};
	sigprocmask(SIG_BLOCK, NULL, &session->old);
	sigemptyset(&readable);
	sigemptyset(&session->blocked);
	for (; *signals; signals++) {
		sigaddset(&readable, *signals);
		sigaddset(&session->blocked, *signals);
	}
	for (; ignored && *ignored; ignored++)
		sigaddset(&session->blocked, *ignored);
	session->signal_fd = signalfd(-1, &readable, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd < 0)
		diag_say("signalfd: %s", strerror(errno));
	return session->signal_fd >= 0;
}

void session_close(struct session *session)
{
	if (session->signal_fd >= 0)
		close(session->signal_fd);
	session->signal_fd = -1;
}

void session_block(struct session *session)
{
	sigprocmask(SIG_BLOCK, &session->blocked, &session->old);
}

void session_discard(const struct session *session)
{
	const struct timespec none = {0};
	while (sigtimedwait(&session->blocked, NULL, &none) > 0)
		;
}

void session_restore(const struct session *session)
{
	sigprocmask(SIG_SETMASK, &session->old, NULL);
}

unsigned int session_wait(const struct session *session, int work_fd, int control_fd, uint64_t deadline_ns)
{
	struct pollfd fds[] = {
		{.fd = work_fd, .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = control_fd, .events = POLLIN},
	};
	uint64_t now_ns = session_now_ns();
	uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	struct timespec timeout = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
	if (ppoll(fds, 3, deadline_ns ? &timeout : NULL, NULL) <= 0)
		return 0;
	return (fds[1].revents ? SESSION_SIGNAL : 0) | (fds[2].revents ? SESSION_CONTROL : 0);
}

bool session_next_signal(const struct session *session, struct signalfd_siginfo *ret)
{
	return read(session->signal_fd, ret, sizeof(*ret)) == sizeof(*ret);
}

int session_read_signal(struct session *session, bool has_command)
{
	struct signalfd_siginfo info;
	if (!session_next_signal(session, &info))
		return 0;
	bool from_terminal = info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL;
	if (from_terminal && has_command && !session->interrupted)
		session->interrupted = true;
	else if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
		session->stopped = true;
	return (int)info.ssi_signo;
}

void session_add_error(struct session *session, struct sp_error *error)
{
	session->failed |= error != NULL;
	diag_error(error);
}

int session_status(const struct session *session, int status)
{
	bool ended_by_term = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
	return session->expects_term && ended_by_term ? 0 : status;
}

bool session_watch_start(struct session_watch *watch, void *(*run)(void *), void *arg)
{
	watch->done_fd = eventfd(0, EFD_CLOEXEC);
	if (watch->done_fd < 0)
		return false;
	if (!pthread_create(&watch->thread, NULL, run, arg))
		return true;
	close(watch->done_fd);
	return false;
}

void session_watch_end(struct session_watch *watch)
{
	const uint64_t one = 1;
	while (write(watch->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(watch->thread, NULL);
	close(watch->done_fd);
}
