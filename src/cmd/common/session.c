/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "diag.h"
#include "memory.h"

const char **session_cmdline(int argc, char **argv)
{
	const char **words = xcalloc((size_t)argc + 3, sizeof(*words));
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

static volatile sig_atomic_t early_signal;
static uint64_t early_ns; /* time of the first one */
static pid_t early_pid;

/* The command, before its exec, has the handler, too: it ends by the signal. */
static void on_early_signal(int number)
{
	uint64_t now_ns = session_now_ns();
	if (getpid() == early_pid &&
	    (!early_signal || now_ns - early_ns < SESSION_SENDING_MS * NS_PER_MS)) {
		early_ns = early_signal ? early_ns : now_ns;
		early_signal = number;
		return;
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* Signals that end this process unless they are caught. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

void session_replace_handlers(void (*from)(int), void (*to)(int))
{
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		struct sigaction action;
		sigaction(ending[i], NULL, &action);
		if (action.sa_handler != from)
			continue;
		action = (struct sigaction){.sa_handler = to};
		sigaction(ending[i], &action, NULL);
	}
}

void session_catch_early(void)
{
	early_signal = 0;
	early_pid = getpid();
	session_replace_handlers(SIG_DFL, on_early_signal);
}

int session_early_signal(void)
{
	return early_signal;
}

const char *session_signal_name(int number)
{
	return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "SIGHUP";
}

bool session_open(struct session *session, const int *signals, const int *ignored)
{
	sigset_t readable;
	*session = (struct session){.signal_fd = -1, .source_fd = -1, .pipe_fd = -1};
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
		diag_print("signalfd: %s", strerror(errno));
	return session->signal_fd >= 0;
}

/*
 * The probe is a child that blocks the session's signals: a signal that the whole process group
 * gets stays pending there, and /proc shows it. Open descriptors in the child would keep pipes
 * open.
 */
void session_probe_start(struct session *session)
{
	pid_t parent = getpid();
	session->probe = fork();
	if (session->probe < 0)
		session->probe = 0;
	if (session->probe || getpid() == parent)
		return;
	/* A signal to all processes named sprof, as by pkill, is none of the group. */
	prctl(PR_SET_NAME, "probe");
	char words[4096];
	size_t size = 0;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	for (ssize_t got; fd >= 0 && (got = read(fd, words, sizeof(words))) > 0;)
		size += (size_t)got;
	memset(program_invocation_name, 0, size);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (syscall(SYS_close_range, 0, ~0U, 0)) /* Linux 5.9 */
		for (fd = 0; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
			close(fd);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static void session_probe_end(struct session *session)
{
	if (!session->probe)
		return;
	kill(session->probe, SIGKILL);
	while (waitpid(session->probe, NULL, 0) < 0 && errno == EINTR)
		;
	session->probe = 0;
}

/* Returns whether the sender may still be in its loop over a group's processes. */
static bool is_sending(uint32_t sender)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/status", sender);
	/* "R (running)" or "D (disk sleep)", also while it waits for a CPU: a digit of base 36. */
	unsigned long long state = sender ? diag_proc_number(path, "State:", 36) : 0;
	return state == 10 + 'R' - 'A' || state == 10 + 'D' - 'A';
}

bool session_reached_group(struct session *session, const struct signalfd_siginfo *info)
{
	char path[64];
	if (info->ssi_code == SI_KERNEL)
		return true;
	if (!session->probe)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)session->probe);
	/* kill(2) sends to a group's processes one by one, and timeout(1) to the group last. */
	bool reached = false;
	for (int ms = 0; ms < SESSION_SENDING_MS && !reached; ms++) {
		bool sending = ms < 5 || is_sending(info->ssi_pid);
		reached = diag_proc_number(path, "ShdPnd:", 16) >> (info->ssi_signo - 1) & 1;
		if (!reached && !sending)
			break;
		if (!reached)
			usleep(1000);
	}
	/* The signal stays pending: a new probe can show the next one. */
	if (reached) {
		session_probe_end(session);
		session_probe_start(session);
	}
	return reached;
}

void session_close(struct session *session)
{
	session_probe_end(session);
	if (session->signal_fd < 0)
		return;
	if (session->pipe_fd >= 0) {
		session_watch_end(&session->guard);
		close(session->source_fd);
		close(session->pipe_fd);
	}
	close(session->signal_fd);
	session->signal_fd = session->source_fd = session->pipe_fd = -1;
}

/*
 * Returns whether the signal repeats one that asks for the end. timeout(1) sends each one twice: to
 * this process, and to the group.
 */
static bool is_repeat(struct session *session, const struct signalfd_siginfo *info)
{
	uint64_t now_ns = session_now_ns();
	const struct signalfd_siginfo *last = &session->last;
	bool same_sender = info->ssi_pid && info->ssi_pid == last->ssi_pid;
	uint64_t within_ms = same_sender ? SESSION_SENDING_MS : SESSION_REPEAT_MS;
	if (info->ssi_signo != SIGINT && info->ssi_signo != SIGTERM && info->ssi_signo != SIGHUP)
		return false;
	if (info->ssi_signo == last->ssi_signo &&
	    now_ns - session->last_ns < within_ms * NS_PER_MS)
		return true;
	session->last = *info;
	session->last_ns = now_ns;
	return false;
}

/* Number of signals that do not ask for the end: the command got them, too. */
static unsigned int reached_count(const struct session *session)
{
	uint64_t reached = __atomic_load_n(&session->reached, __ATOMIC_SEQ_CST);
	return (unsigned int)__builtin_popcountll(reached);
}

static void *guard(void *arg)
{
	struct session *session = arg;
	struct pollfd fds[] = {
		{.fd = session->source_fd, .events = POLLIN},
		{.fd = session->guard.done_fd, .events = POLLIN},
	};
	uint64_t deadline_ns = 0;
	unsigned int stops = 0;
	int last = 0;
	while (!fds[1].revents) {
		struct signalfd_siginfo info;
		uint64_t now_ns = session_now_ns();
		/* The main thread may have counted one in the meantime. */
		if (stops < 2 + reached_count(session))
			deadline_ns = 0;
		if (deadline_ns && now_ns >= deadline_ns)
			session->give_up(session->give_up_arg, last);
		int64_t left_ms = (int64_t)(deadline_ns - now_ns) / (int64_t)NS_PER_MS + 1;
		if (poll(fds, 2, deadline_ns ? (int)left_ms : -1) <= 0 || !fds[0].revents ||
		    read(session->source_fd, &info, sizeof(info)) != sizeof(info) ||
		    is_repeat(session, &info))
			continue;
		(void)!write(session->pipe_fd, &info, sizeof(info));
		if (info.ssi_signo != SIGINT && info.ssi_signo != SIGTERM)
			continue;
		last = (int)info.ssi_signo;
		if (++stops >= 2 && !deadline_ns)
			deadline_ns = session_now_ns() + SESSION_PATIENCE_MS * NS_PER_MS;
	}
	return NULL;
}

bool session_guard(struct session *session, void (*give_up)(void *arg, int number), void *arg)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		diag_print("pipe: %s", strerror(errno));
		return false;
	}
	session->source_fd = session->signal_fd;
	session->signal_fd = ends[0];
	session->pipe_fd = ends[1];
	session->give_up = give_up;
	session->give_up_arg = arg;
	if (session_watch_start(&session->guard, guard, session))
		return true;
	diag_print("cannot make a thread");
	close(ends[0]);
	close(ends[1]);
	session->signal_fd = session->source_fd;
	session->source_fd = session->pipe_fd = -1;
	return false;
}

void session_raise(int number)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, number);
	signal(number, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	raise(number);
}

void session_block(struct session *session)
{
	sigprocmask(SIG_BLOCK, &session->blocked, &session->old);
	session_replace_handlers(on_early_signal, SIG_DFL);
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

bool session_next_signal(struct session *session, struct signalfd_siginfo *ret)
{
	/* The guard passes no repeated signal on. */
	while (read(session->signal_fd, ret, sizeof(*ret)) == sizeof(*ret))
		if (session->source_fd >= 0 || !is_repeat(session, ret))
			return true;
	return false;
}

int session_read_signal(struct session *session, pid_t command)
{
	struct signalfd_siginfo info;
	if (!session_next_signal(session, &info))
		return 0;
	int number = (int)info.ssi_signo;
	uint64_t bit = 1ull << number;
	if ((number == SIGINT || number == SIGTERM) && command && !(session->reached & bit) &&
	    getpgid(command) == getpgrp() && session_reached_group(session, &info))
		__atomic_or_fetch(&session->reached, bit, __ATOMIC_SEQ_CST);
	else if (number != SIGUSR1 && number != SIGUSR2)
		session->stopped = true;
	return number;
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
