/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `sprof PROGRAM`: record and report in one command. The recorder is a child process: if a signal ends
 * the program, the recorder ends by that signal too. This process prints the report first and then ends
 * the same way. It forwards signals that end a recording to the child.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cmd/common/child.h"
#include "cmd/common/session.h"
#include "cmd/record/record.h"
#include "command.h"
#include "diag.h"

static const char recording[] = "sprof.data";

/* Creates a context. Returns false after printing the error. */
static bool new_ctx(struct sp_ctx **ret)
{
	struct sp_error *error = sp_ctx_new(ret);
	diag_error(error);
	return !error;
}

static int record(int argc, char **argv)
{
	struct sp_ctx *ctx;
	if (!new_ctx(&ctx))
		return EXIT_RECORDER;
	int status = record_run(ctx, argc, argv, false);
	sp_ctx_free(ctx);
	fflush(NULL);
	return status;
}

/* Prints to standard error if standard output is no terminal: there the program's output is. */
static void report(void)
{
	if (!isatty(STDOUT_FILENO) && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	/*
	 * Without a terminal, text has 99 % of self, which can be hundreds of rows. Here it follows
	 * the program's, and has the rows that its last line does not sum up.
	 */
	char name[] = "report", limit[] = "--percent-limit", least[] = "0.5";
	char *argv[] = {name, limit, least, NULL};
	struct sp_ctx *ctx;
	if (!new_ctx(&ctx))
		return;
	command_report.run(ctx, isatty(STDOUT_FILENO) ? 1 : 3, argv);
	sp_ctx_free(ctx);
}

/*
 * Waits for the recorder's end and forwards signals to it, except those of the whole process group,
 * which the recorder receives directly.
 */
static int wait_for_recorder(pid_t pid, struct session *session)
{
	int status = 0;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct signalfd_siginfo info;
		session_wait(session, -1, -1, 0);
		while (session_next_signal(session, &info))
			if (info.ssi_signo != SIGCHLD && !session_reached_group(session, &info))
				kill(pid, (int)info.ssi_signo);
	}
	return status;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Forks the recorder and waits for its end. Returns its wait status, or -1. */
static int run_recorder(int argc, char **argv)
{
	/*
	 * Signals that this process forwards to the recorder, and SIGCHLD, which reports the recorder's
	 * end.
	 */
	static const int signals[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0};
	struct session session;
	if (!session_open(&session, signals, NULL))
		return -1;
	signal(SIGCHLD, SIG_DFL);
	session_block(&session);
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		session_restore(&session);
		session_close(&session);
		_exit(record(argc, argv));
	}
	if (pid < 0)
		diag_print("cannot start the recorder: %s", strerror(errno));
	session_probe_start(&session);
	int status = pid < 0 ? -1 : wait_for_recorder(pid, &session);
	session_discard(&session);
	session_restore(&session);
	session_close(&session);
	return status;
}

int program_run(char **words)
{
	static char name[] = "record";
	struct stat old = {0}, new;
	int count = 0;
	while (words[count])
		count++;
	char **argv = calloc((size_t)count + 2, sizeof(*argv));
	if (!argv) {
		diag_print("out of memory");
		return EXIT_RECORDER;
	}
	argv[0] = name;
	memcpy(argv + 1, words, (size_t)count * sizeof(*argv));
	if (stat(recording, &old))
		old = (struct stat){0};
	int status = run_recorder(count + 1, argv);
	free(argv);
	if (status == -1)
		return EXIT_RECORDER;
	if (!stat(recording, &new) && !is_same_file(&old, &new))
		report();
	return child_exit_like(status);
}
