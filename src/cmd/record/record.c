/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sprof record: from the command line to a file, and what the user is told of it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cmd/common/child.h"
#include "cmd/record/answer.h"
#include "cmd/record/arguments.h"
#include "cmd/record/control.h"
#include "cmd/record/files.h"
#include "cmd/record/record.h"
#include "cmd/record/stop.h"
#include "cmd/record/summary.h"
#include "command.h"
#include "diag.h"

/* A recording that is under way. */
struct session {
	const struct record_arguments *arguments;
	struct sp_capture *capture;
	struct control control;
	int signal_fd;
	sigset_t signals, old_signals;
	bool stopped;      /* by a signal or by the duration, before the command's end */
	bool as_asked;     /* the command was ended, as was asked, and is no failure by that */
	bool told_to_wait; /* an interrupt that the command has got too */
	bool failed;
	size_t notes_said;
	size_t files; /* that got names of their own */
};

static void log_line(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	diag_say("%s", line);
}

static void say_notes(struct session *session)
{
	size_t count = sp_capture_note_count(session->capture);
	for (; session->notes_said < count; session->notes_said++)
		if (!session->arguments->quiet &&
		    !sp_capture_note_is_silent(session->capture, session->notes_said))
			diag_say("%s", sp_capture_note(session->capture, session->notes_said));
}

/* Whether SIGUSR2 means something. */
static bool takes_demands(const struct sp_capture_options *options)
{
	return options->snapshot || options->switch_on_demand || options->overwrite;
}

/*
 * What ends a recording, and what a file or pipe that takes no more would end:
 * from here on they are read, or seen as an errno. Only now, since the command
 * was to have the signals as they were.
 */
static bool take_signals(struct session *session)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE, SIGXFSZ,
				    SIGUSR2};
	sigset_t wanted;
	sigemptyset(&session->signals);
	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		if (taken[i] == SIGUSR2 && !takes_demands(&session->arguments->options))
			continue;
		sigaddset(&session->signals, taken[i]);
		if (taken[i] != SIGPIPE && taken[i] != SIGXFSZ)
			sigaddset(&wanted, taken[i]);
	}
	sigprocmask(SIG_BLOCK, &session->signals, &session->old_signals);
	session->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd >= 0)
		return true;
	diag_say("signalfd: %s", strerror(errno));
	return false;
}

/*
 * Drops signals that arrived for the recording, which is over: they must not interrupt the rest.
 */
static void restore_signals(struct session *session)
{
	const struct timespec none = {0};
	while (sigtimedwait(&session->signals, NULL, &none) > 0)
		;
	sigprocmask(SIG_SETMASK, &session->old_signals, NULL);
}

/* SIGUSR1: no samples from now on, or samples again. */
static void pause_or_go_on(struct session *session)
{
	struct sp_capture *capture = session->capture;
	bool any = false;
	for (size_t i = 0; i < sp_capture_event_count(capture); i++)
		any |= sp_capture_event_enabled(capture, i);
	struct sp_error *error = any ? sp_capture_disable(capture, NULL)
				     : sp_capture_enable(capture, NULL);
	if (error)
		diag_error(error);
	else if (!session->arguments->quiet)
		diag_say(any ? "sampling paused; SIGUSR1 resumes it" : "sampling resumed");
}

/* SIGUSR2 */
static void take_snapshot(struct session *session)
{
	const struct sp_capture_options *options = &session->arguments->options;
	struct sp_error *error = options->snapshot ? sp_capture_snapshot(session->capture) : NULL;
	if (!error && (options->switch_on_demand || options->overwrite))
		error = sp_capture_switch(session->capture);
	if (error)
		diag_error(error);
}

static void read_signals(struct session *session)
{
	struct signalfd_siginfo info;
	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2) {
			take_snapshot(session);
			continue;
		}
		if (info.ssi_signo == SIGUSR1) {
			pause_or_go_on(session);
			continue;
		}
		/*
		 * The terminal's ^C went to the command too: how it comes to its end is
		 * recorded as well, unless it does not and the user insists.
		 */
		bool from_terminal = info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL;
		if (from_terminal && sp_capture_pid(session->capture) && !session->told_to_wait)
			session->told_to_wait = true;
		else
			session->stopped = true;
	}
}

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void read_control(struct session *session)
{
	bool stop = false;
	record_control_run(&session->control, session->capture, &stop);
	if (stop)
		session->stopped = session->as_asked = true;
}

/* Waits for work, a signal or the deadline (0: none). */
static void wait_for_work(struct session *session, int64_t deadline_ns)
{
	struct pollfd fds[] = {
		{.fd = sp_capture_fd(session->capture), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->control.in, .events = POLLIN}, /* none: negative */
	};
	struct timespec timeout, *limit = NULL;
	if (deadline_ns) {
		int64_t left_ns = deadline_ns - now_ns();
		if (left_ns <= 0) {
			session->stopped = session->as_asked = true;
			return;
		}
		timeout = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
		limit = &timeout;
	}
	ppoll(fds, 3, limit, NULL);
	if (fds[1].revents)
		read_signals(session);
	if (fds[2].revents)
		read_control(session);
}

/* Until the command, or all that is followed, has ended, or a signal says so. */
static struct sp_error *record(struct session *session)
{
	uint64_t duration_ns = session->arguments->duration_ns;
	int64_t deadline_ns = duration_ns ? now_ns() + (int64_t)duration_ns : 0;
	struct sp_error *error = NULL;
	bool running = true;
	while (running && !session->stopped && !error) {
		wait_for_work(session, deadline_ns);
		if (!session->stopped)
			error = sp_capture_step(session->capture, &running);
		say_notes(session);
		session->files += record_say_files(session->capture, session->arguments->quiet);
	}
	return error;
}

/* Ends as the command did: by its status or by its signal. */
static int pass_on(const struct session *session, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && session->as_asked)
		return 0;
	return child_pass_on(status);
}

static int wait_for_command(struct session *session)
{
	bool ended = false;
	int status = 0;
	struct sp_error *error = sp_capture_wait(session->capture, true, &ended, &status);
	if (error) {
		diag_error(error);
		return EXIT_RECORDER;
	}
	return session->failed ? EXIT_RECORDER : ended ? pass_on(session, status) : 0;
}

/* The recording is written: the command is ended, unless it has ended. */
static void end_command(struct session *session)
{
	pid_t pid = sp_capture_pid(session->capture);
	/* All targets have ended: there is nothing to wait for. */
	bool needless = record_command_is_limit(&session->arguments->options);
	if (pid && needless && !session->stopped)
		session->as_asked = true;
	if (pid && (session->stopped || needless))
		kill(pid, SIGTERM);
}

/* Only if one file has all samples: the answer is about the recording, not a part of it. */
static void print_answer(const struct session *session)
{
	const struct record_arguments *arguments = session->arguments;
	if (!arguments->quiet && !arguments->no_summary && !session->failed && !session->files &&
	    sp_capture_stats(session->capture).samples)
		record_answer(arguments->options.path, session->signal_fd);
}

/* Says what is wrong, if anything is; the first time decides the exit status. */
static void see_error(struct session *session, struct sp_error *error)
{
	session->failed |= error != NULL;
	diag_error(error);
}

static int run_session(struct session *session)
{
	if (!take_signals(session))
		return EXIT_RECORDER;
	say_notes(session);
	if (session->arguments->verbose)
		record_say_bounds(session->capture, &session->arguments->options);
	struct sp_error *error = sp_capture_start(session->capture);
	if (error) {
		/* It does not run; of one that could not be run the status says why. */
		diag_error(error);
		sp_error_free(sp_capture_stop(session->capture));
		restore_signals(session);
		control_close(&session->control);
		return wait_for_command(session) ?: EXIT_RECORDER;
	}
	error = record(session);
	/* Like a --duration: ending the command is no failure. */
	if (!error && sp_capture_stats(session->capture).full)
		session->stopped = session->as_asked = true;
	const char *path = session->arguments->options.path ?: "sprof.data";
	struct sp_error *stop_error = record_stop(session->capture, path, session->signal_fd,
						  session->arguments->quiet);
	/* A full disk, for example, may stop the end of the recording, too. */
	if (error && stop_error &&
	    !strcmp(sp_error_message(error), sp_error_message(stop_error))) {
		sp_error_free(stop_error);
		stop_error = NULL;
	}
	see_error(session, error);
	see_error(session, stop_error);
	say_notes(session);
	session->files += record_say_files(session->capture, session->arguments->quiet);
	record_print_summary(session->arguments, session->capture, session->files, session->failed);
	end_command(session);
	print_answer(session);
	/* Before this process ends by the command's signal. */
	restore_signals(session);
	control_close(&session->control);
	if (session->arguments->options.command)
		return wait_for_command(session);
	return session->failed ? EXIT_RECORDER : 0;
}

static int run_arguments(struct sp_ctx *ctx, const struct record_arguments *arguments)
{
	struct session session = {.arguments = arguments, .signal_fd = -1};
	if (arguments->verbose)
		sp_ctx_set_log(ctx, log_line, NULL, SP_LOG_DEBUG);
	control_init(&session.control);
	if (arguments->control && !control_open(&session.control, arguments->control))
		return EXIT_USAGE;
	session.control.named = true;
	struct sp_error *error = sp_capture_new(ctx, &arguments->options, &session.capture);
	if (error) {
		bool wrong = sp_error_code(error) == SP_ERROR_INVALID;
		diag_error(error);
		control_close(&session.control);
		return wrong ? EXIT_USAGE : EXIT_RECORDER;
	}
	int status = 0;
	if (arguments->dry_run)
		say_notes(&session);
	else
		status = run_session(&session);
	sp_capture_free(session.capture);
	control_close(&session.control);
	if (session.signal_fd >= 0)
		close(session.signal_fd);
	return status;
}

int record_run(struct sp_ctx *ctx, int argc, char **argv, bool summary)
{
	struct record_arguments arguments = {.options.call_graph = SP_CALL_GRAPH_AUTO,
					     .no_summary = !summary};
	/* The command line as typed, for the file: options_parse() reorders it. */
	const char **cmdline = calloc((size_t)argc + 2, sizeof(*cmdline));
	if (!cmdline) {
		diag_say("out of memory");
		return EXIT_RECORDER;
	}
	cmdline[0] = "sprof";
	memcpy(cmdline + 1, argv, (size_t)argc * sizeof(*argv));
	arguments.options.cmdline = cmdline;
	int status = record_arguments_parse(&arguments, argc, argv);
	if (status < 0)
		status = run_arguments(ctx, &arguments);
	record_arguments_deinit(&arguments);
	free(cmdline);
	return status;
}

static int run(struct sp_ctx *ctx, int argc, char **argv)
{
	return record_run(ctx, argc, argv, true);
}

const struct command command_record = {
	.name = "record",
	.summary = "sample a command, running processes or all CPUs",
	.run = run,
};
