/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/session.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

static const int signals[] = {SIGTERM, SIGUSR1, 0};

static void open_session(struct session *session)
{
	static const int ignored[] = {SIGPIPE, 0};
	ck_assert(session_open(session, signals, ignored));
	session_block(session);
}

static void close_session(struct session *session)
{
	session_discard(session);
	session_restore(session);
	session_close(session);
}

static bool is_blocked(int number)
{
	sigset_t mask;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, number);
}

TEST(session_blocks_its_signals_until_they_are_restored)
{
	struct session session;
	ck_assert(session_open(&session, signals, NULL));
	ck_assert(!is_blocked(SIGTERM));
	session_block(&session);
	ck_assert(is_blocked(SIGTERM));
	ck_assert(is_blocked(SIGUSR1));
	session_restore(&session);
	ck_assert(!is_blocked(SIGTERM));
	session_close(&session);
	ck_assert_int_eq(session.signal_fd, -1);
	session_close(&session);
}

TEST(session_restores_signals_that_were_blocked_before)
{
	struct session session;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	open_session(&session);
	close_session(&session);
	ck_assert(is_blocked(SIGTERM));
	ck_assert(!is_blocked(SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Without session_block(), the mask stays. */
	ck_assert(session_open(&session, signals, NULL));
	session_restore(&session);
	ck_assert(!is_blocked(SIGTERM));
	session_close(&session);
}

TEST(session_discards_pending_signals)
{
	struct session session;
	open_session(&session);
	raise(SIGTERM);
	raise(SIGPIPE);
	close_session(&session);
	ck_assert(!is_blocked(SIGPIPE));
}

TEST(session_wait_ends_at_the_deadline)
{
	struct session session;
	open_session(&session);
	uint64_t begin_ns = session_now_ns();
	ck_assert_uint_eq(session_wait(&session, -1, -1, begin_ns + 20 * NS_PER_MS), 0);
	ck_assert_uint_ge(session_now_ns() - begin_ns, 20 * NS_PER_MS);
	ck_assert_uint_eq(session_wait(&session, -1, -1, begin_ns), 0);
	close_session(&session);
}

TEST(session_wait_names_the_descriptors_that_are_ready)
{
	struct session session;
	int work[2], control[2];
	open_session(&session);
	ck_assert_int_eq(pipe(work), 0);
	ck_assert_int_eq(pipe(control), 0);
	ck_assert_int_eq(write(work[1], "x", 1), 1);
	ck_assert_uint_eq(session_wait(&session, work[0], control[0], 0), 0);
	ck_assert_int_eq(write(control[1], "x", 1), 1);
	ck_assert_uint_eq(session_wait(&session, work[0], control[0], 0), SESSION_CONTROL);
	raise(SIGUSR1);
	ck_assert_uint_eq(session_wait(&session, -1, control[0], 0), SESSION_SIGNAL | SESSION_CONTROL);
	for (size_t i = 0; i < 2; i++) {
		close(work[i]);
		close(control[i]);
	}
	close_session(&session);
}

TEST(session_stops_by_signals_except_user_signals)
{
	struct session session;
	open_session(&session);
	ck_assert_int_eq(session_read_signal(&session, getpid()), 0);
	raise(SIGUSR1);
	ck_assert_int_eq(session_read_signal(&session, getpid()), SIGUSR1);
	ck_assert(!session.stopped);
	raise(SIGTERM);
	ck_assert_int_eq(session_read_signal(&session, getpid()), SIGTERM);
	ck_assert(session.stopped);
	ck_assert_uint_eq(session.reached, 0);
	ck_assert_int_eq(session_read_signal(&session, getpid()), 0);
	close_session(&session);
}

/* SIGINT of a process is no terminal's: the command did not receive it. */
TEST(session_stops_by_another_process_interrupt)
{
	static const int interrupt[] = {SIGINT, 0};
	struct session session;
	ck_assert(session_open(&session, interrupt, NULL));
	session_block(&session);
	ck_assert_int_eq(kill(getpid(), SIGINT), 0);
	ck_assert_int_eq(session_read_signal(&session, getpid()), SIGINT);
	ck_assert(session.stopped);
	close_session(&session);
}

/* A group of its own gets SIGINT: the session knows it from one that it got alone. */
TEST(session_knows_interrupts_of_the_whole_group)
{
	static const int interrupt[] = {SIGINT, 0};
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		struct session session;
		setpgid(0, 0);
		ck_assert(session_open(&session, interrupt, NULL));
		session_block(&session);
		session_probe_start(&session);
		kill(0, SIGINT);
		bool alone = session_read_signal(&session, getpid()) != SIGINT;
		alone |= session.reached != 1u << SIGINT;
		/* timeout(1) sends the signal to its child first, and then to the group. */
		kill(getpid(), SIGINT);
		bool repeated = session_read_signal(&session, getpid()) == 0;
		repeated &= !session.stopped;
		usleep((SESSION_SENDING_MS + 10) * 1000);
		kill(getpid(), SIGINT);
		session_read_signal(&session, getpid());
		_exit(alone || !repeated || !session.stopped);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

TEST(session_status_forgives_an_expected_term_alone)
{
	struct session session = {.signal_fd = -1};
	ck_assert_int_eq(session_status(&session, SIGTERM), SIGTERM);
	session.expects_term = true;
	ck_assert_int_eq(session_status(&session, SIGTERM), 0);
	ck_assert_int_eq(session_status(&session, SIGKILL), SIGKILL);
	ck_assert_int_eq(session_status(&session, 3 << 8), 3 << 8);
}

static void *wait_for_end(void *arg)
{
	struct session_watch *watch = arg;
	struct pollfd fd = {.fd = watch->done_fd, .events = POLLIN};
	return poll(&fd, 1, -1) == 1 ? arg : NULL;
}

TEST(session_watch_ends_with_the_call_that_it_watches)
{
	struct session_watch watch;
	ck_assert(session_watch_start(&watch, wait_for_end, &watch));
	session_watch_end(&watch);
}

static void die(void *arg, int number)
{
	(void)arg;
	session_raise(number);
}

/* A recorder that never reads its signals. Returns its process. */
static pid_t start_stuck(void)
{
	int ready[2];
	char byte = 0;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct session session;
		alarm(20);
		open_session(&session);
		if (session_guard(&session, die, NULL) && write(ready[1], &byte, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

TEST(a_second_signal_ends_a_stuck_process)
{
	int status = 0;
	pid_t pid = start_stuck();
	kill(pid, SIGTERM);
	kill(pid, SIGUSR1);
	usleep((SESSION_PATIENCE_MS + 400) * 1000);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGTERM);
}

TEST(the_guard_passes_signals_on)
{
	struct session session;
	struct signalfd_siginfo info = {0};
	struct pollfd poll_fd = {.events = POLLIN};
	open_session(&session);
	ck_assert(session_guard(&session, die, NULL));
	kill(getpid(), SIGUSR1);
	poll_fd.fd = session.signal_fd;
	ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
	ck_assert(session_next_signal(&session, &info));
	ck_assert_uint_eq(info.ssi_signo, SIGUSR1);
	ck_assert(!session_next_signal(&session, &info));
	close_session(&session);
	ck_assert_int_eq(session.signal_fd, -1);
}
