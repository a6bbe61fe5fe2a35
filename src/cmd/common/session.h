/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Main loop of record, stat and `sprof PROGRAM`: reads signals from a descriptor, waits with a
 * deadline, and handles the command's end.
 *
 *     session_open
 *     session_block         start the command first, so that it does not inherit blocked signals
 *     session_wait, session_read_signal until `stopped`
 *     session_restore, session_close
 */
#ifndef CMD_COMMON_SESSION_H
#define CMD_COMMON_SESSION_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sprof/error.h>

#define NS_PER_MS 1000000ull

/* Time to finish after a second signal. */
#define SESSION_PATIENCE_MS 800

/* A signal within this time after the same signal is one signal: timeout(1) sends two. */
#define SESSION_REPEAT_MS 100

/* The same for signals of one sender, which may wait for a CPU between them. */
#define SESSION_SENDING_MS 400

/* Helper thread that reads signals while the main thread may be in a long call. */
struct session_watch {
	int done_fd; /* readable when the thread must end */
	pthread_t thread;
};

struct session {
	int signal_fd;     /* descriptor that reads signals; -1: closed */
	int source_fd;     /* descriptor that the guard reads; -1: no guard */
	int pipe_fd;       /* other end of signal_fd's pipe; -1: no guard */
	struct session_watch guard;
	void (*give_up)(void *arg, int number);
	void *give_up_arg;
	sigset_t blocked, old;
	pid_t probe;       /* child that shows which signals the whole process group got; 0: none */
	struct signalfd_siginfo last; /* last signal that asked for the end, at last_ns */
	uint64_t last_ns;
	bool stopped;      /* the main loop must end: after a signal, "stop", a full file or a deadline */
	uint64_t reached;  /* atomic: bits of signals that the command got, too, as by ^C */
	bool expects_term; /* this process sends SIGTERM to the command, so its end by SIGTERM is not a
			    * failure */
	bool failed;
};

/* Results of session_wait(). */
enum session_ready {
	SESSION_SIGNAL = 1,
	SESSION_CONTROL = 2,
};

/* Returns the time of CLOCK_MONOTONIC. */
uint64_t session_now_ns(void);

/*
 * Returns "sprof" and the words of argv, NULL-terminated: the command line for the recording, made
 * before options_parse() reorders argv. The caller frees the array, not the words. NULL after
 * printing that memory is exhausted.
 */
const char **session_cmdline(int argc, char **argv);

/*
 * Initializes the session and opens a descriptor that reads `signals`. Signals of `ignored` (NULL:
 * none) become errors of system calls, for example EPIPE. Both arrays end with 0. Blocks no signal
 * yet. Returns false after printing the error; signal_fd is -1 then.
 */
bool session_open(struct session *session, const int *signals, const int *ignored);
/* Ends the guard and closes signal_fd. Does nothing if that is -1. */
void session_close(struct session *session);

/*
 * Replaces the handlers of SIGINT, SIGTERM and SIGHUP that are `from`. A signal may be ignored on
 * purpose, or have another handler.
 */
void session_replace_handlers(void (*from)(int), void (*to)(int));

/*
 * Catches the first SIGINT, SIGTERM or SIGHUP, until session_block(): the process can remove the
 * file that it began. One that comes SESSION_SENDING_MS later ends the process.
 */
void session_catch_early(void);
/* Returns the caught signal; 0: none came. */
int session_early_signal(void);

/* Returns "SIGINT", "SIGTERM" or "SIGHUP". */
const char *session_signal_name(int number);

/* Blocks the signals given to session_open(). */
void session_block(struct session *session);
/*
 * Starts a thread that gets the signals first and passes them on to signal_fd. If the process still
 * runs SESSION_PATIENCE_MS after a second SIGINT or SIGTERM, for example because the main thread
 * is stuck, the thread calls give_up(arg, signal), which ends the process. Signals that leave the
 * command its time (session_read_signal()) do not count. Call it after session_block(). Returns
 * false after printing the error.
 */
bool session_guard(struct session *session, void (*give_up)(void *arg, int number), void *arg);

/* Ends this process by a signal, as if the signal were not blocked. */
void session_raise(int number);

/* Discards pending signals: session_restore() would unblock them, and they would end the process. */
void session_discard(const struct session *session);
/* Restores the signal mask from before session_block(). Has no effect without session_block(). */
void session_restore(const struct session *session);

/*
 * Waits for input of work_fd or control_fd (negative: none), for a signal, or until `deadline_ns` of
 * session_now_ns() (0: no deadline). Returns bits of enum session_ready.
 */
unsigned int session_wait(const struct session *session, int work_fd, int control_fd,
			  uint64_t deadline_ns);

/* Gets the next pending signal, without repeated ones. Returns false if there is none. */
bool session_next_signal(struct session *session, struct signalfd_siginfo *ret);

/*
 * Starts the probe of session_reached_group(). Call it after session_block(). session_close() ends
 * it. Without a probe, only a terminal's signals count as the group's.
 */
void session_probe_start(struct session *session);

/* Returns whether the signal was sent to the whole process group, for example by ^C. */
bool session_reached_group(struct session *session, const struct signalfd_siginfo *info);

/*
 * Returns the next pending signal, or 0. Signals other than SIGUSR1 and SIGUSR2 set `stopped`, except
 * the first SIGINT and the first SIGTERM of the whole process group if the process `command` (0:
 * none) belongs to it: the command received them too, and its end is recorded.
 */
int session_read_signal(struct session *session, pid_t command);

/* Prints and frees the error, and sets `failed`. NULL: no error. */
void session_add_error(struct session *session, struct sp_error *error);

/*
 * Returns the command's wait status. Returns 0 if it ended by SIGTERM and that is expected
 * (expects_term).
 */
int session_status(const struct session *session, int status);

/* Starts a thread with run(arg). Returns false if that fails; session_watch_end() is not called then. */
bool session_watch_start(struct session_watch *watch, void *(*run)(void *), void *arg);
/* Ends the thread: makes done_fd readable and joins it. */
void session_watch_end(struct session_watch *watch);

#endif
