/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof record`: records as the options specify and prints a summary. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "cmd/common/child.h"
#include "cmd/common/session.h"
#include "cmd/record/answer.h"
#include "cmd/record/arguments.h"
#include "cmd/record/control.h"
#include "cmd/record/empty.h"
#include "cmd/record/files.h"
#include "cmd/record/name_store.h"
#include "cmd/record/record.h"
#include "cmd/record/runtime_names.h"
#include "cmd/record/stop.h"
#include "cmd/record/summary.h"
#include "command.h"
#include "diag.h"

/* A recording in progress. */
struct recording {
	const struct record_arguments *arguments;
	struct sp_capture *capture;
	struct control control;
	struct session session;
	struct name_store names;
	size_t notes_printed;
	size_t files; /* number of completed output files with numbered names (rotation) */
};

static void print_notes(struct recording *recording)
{
	size_t count = sp_capture_note_count(recording->capture);
	for (; recording->notes_printed < count; recording->notes_printed++)
		if (!recording->arguments->quiet &&
		    !sp_capture_note_is_silent(recording->capture, recording->notes_printed))
			diag_say("%s", sp_capture_note(recording->capture, recording->notes_printed));
}

/* Prints the files that are complete, and stores names in them. */
static void finish_files(struct recording *recording)
{
	struct sp_capture_file file;
	for (; sp_capture_next_file(recording->capture, &file); recording->files++) {
		if (!recording->arguments->quiet)
			record_print_file(&file);
		name_store_add(&recording->names, sp_capture_take_file(recording->capture),
			       file.path);
	}
	name_store_step(&recording->names);
}

/* Returns whether SIGUSR2 triggers a snapshot, a rotation or a dump. */
static bool accepts_demands(const struct record_options *options)
{
	return options->buffers.snapshot || options->output.switch_on_demand || options->buffers.overwrite;
}

/* Ends this process after a second signal, even if the main thread is stuck. */
static void give_up(void *arg, int number)
{
	const struct recording *recording = arg;
	pid_t command = sp_capture_pid(recording->capture);
	diag_say("ended by a second signal: records that were not written yet are missing");
	if (command)
		kill(command, SIGTERM);
	session_raise(number);
}

/*
 * Opens the session and blocks signals. sp_capture_new() has already started the command, which
 * inherited the previous mask.
 */
static bool open_session(struct recording *recording)
{
	/* Ignored signals: a full disk or a closed pipe becomes an error of write(2). */
	static const int ignored[] = {SIGPIPE, SIGXFSZ, 0};
	bool demands = accepts_demands(&recording->arguments->options);
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, demands ? SIGUSR2 : 0, 0};
	if (!session_open(&recording->session, signals, ignored))
		return false;
	session_block(&recording->session);
	if (sp_capture_pid(recording->capture) &&
	    !record_command_is_limit(&recording->arguments->options))
		session_probe_start(&recording->session);
	return session_guard(&recording->session, give_up, recording);
}

/*
 * Discards pending signals, which were meant for the recording and would end this process, and restores
 * the signal mask.
 */
static void restore_signals(const struct recording *recording)
{
	session_discard(&recording->session);
	session_restore(&recording->session);
}

/* Handles SIGUSR1: disables all events if any is enabled, else enables them. */
static void toggle_sampling(struct recording *recording)
{
	struct sp_capture *capture = recording->capture;
	bool any = false;
	for (size_t i = 0; i < sp_capture_event_count(capture); i++)
		any |= sp_capture_event_enabled(capture, i);
	struct sp_error *error = any ? sp_capture_disable(capture, NULL)
				     : sp_capture_enable(capture, NULL);
	if (error)
		diag_error(error);
	else if (!recording->arguments->quiet)
		diag_say(any ? "sampling paused; SIGUSR1 resumes it" : "sampling resumed");
}

/* Handles SIGUSR2: snapshot, rotation, or dump of the ring buffers. */
static void on_snapshot_signal(struct recording *recording)
{
	const struct record_options *options = &recording->arguments->options;
	struct sp_error *error = options->buffers.snapshot ? sp_capture_snapshot(recording->capture) : NULL;
	if (!error && (options->output.switch_on_demand || options->buffers.overwrite))
		error = sp_capture_switch(recording->capture);
	if (error)
		diag_error(error);
}

static void read_signals(struct recording *recording)
{
	int number;
	struct session *session = &recording->session;
	pid_t command = sp_capture_pid(recording->capture);
	bool interrupted = session->interrupted;
	while ((number = session_read_signal(session, command))) {
		if (number == SIGUSR1)
			toggle_sampling(recording);
		else if (number == SIGUSR2)
			on_snapshot_signal(recording);
	}
	if (session->interrupted && !interrupted && !session->stopped &&
	    !recording->arguments->quiet)
		diag_say("SIGINT reached process %d, too; recording goes on until it ends "
			 "(end it with another Ctrl-C)", (int)command);
}

static void read_control(struct recording *recording)
{
	bool stop = false;
	record_control_run(&recording->control, recording->capture, &stop);
	if (stop)
		recording->session.stopped = recording->session.expects_term = true;
}

/* Waits for records, a signal or the deadline (0: none). */
static void wait_for_work(struct recording *recording, uint64_t deadline_ns)
{
	if (deadline_ns && session_now_ns() >= deadline_ns) {
		recording->session.stopped = recording->session.expects_term = true;
		return;
	}
	unsigned int ready = session_wait(&recording->session, sp_capture_fd(recording->capture),
					  recording->control.in, deadline_ns);
	if (ready & SESSION_SIGNAL)
		read_signals(recording);
	if (ready & SESSION_CONTROL)
		read_control(recording);
}

/* Records until the command or all targets have ended, or the session is stopped. */
static struct sp_error *record(struct recording *recording)
{
	uint64_t duration_ns = recording->arguments->duration_ns;
	uint64_t deadline_ns = duration_ns ? session_now_ns() + duration_ns : 0;
	struct sp_error *error = NULL;
	bool running = true;
	while (running && !recording->session.stopped && !error) {
		wait_for_work(recording, deadline_ns);
		if (!recording->session.stopped)
			error = sp_capture_step(recording->capture, &running);
		print_notes(recording);
		finish_files(recording);
	}
	return error;
}

static int wait_for_command(struct recording *recording)
{
	bool ended = false;
	int status = 0;
	struct sp_error *error = sp_capture_wait(recording->capture, true, &ended, &status);
	if (error) {
		diag_error(error);
		return EXIT_RECORDER;
	}
	if (recording->session.failed)
		return EXIT_RECORDER;
	return ended ? child_exit_like(session_status(&recording->session, status)) : 0;
}

/*
 * Sends SIGTERM to the command if the recording ended first, or if the command only limited its
 * duration.
 */
static void end_command(struct recording *recording)
{
	pid_t pid = sp_capture_pid(recording->capture);
	/* With -p, -t or -a, COMMAND only limits the duration, so the end of the recording ends it. */
	bool needless = record_command_is_limit(&recording->arguments->options);
	if (pid && needless && !recording->session.stopped)
		recording->session.expects_term = true;
	bool ended = false;
	int status;
	sp_error_free(sp_capture_wait(recording->capture, false, &ended, &status));
	if (pid && !ended && (recording->session.stopped || needless) && !kill(pid, SIGTERM) &&
	    !recording->arguments->quiet)
		diag_say("sent SIGTERM to process %d (%s), which still ran", (int)pid,
			 recording->arguments->options.target.command[0]);
}

/* Prints the hottest functions, unless the samples are in several files (rotation). */
static void print_answer(const struct recording *recording)
{
	const struct record_arguments *arguments = recording->arguments;
	if (!arguments->quiet && !arguments->no_summary && !recording->session.failed && !recording->files &&
	    sp_capture_stats(recording->capture).samples)
		record_print_hottest(recording->capture, arguments->options.output.path,
				     recording->session.signal_fd);
}

/*
 * Writes the report that -o names, in a child: this process may still have to end by the command's
 * signal.
 */
static void write_view(const struct recording *recording)
{
	const struct record_arguments *arguments = recording->arguments;
	char name[] = "report", input[] = "-i", output[] = "-o", path[] = "sprof.data";
	char *view = arguments->view ? strdup(arguments->view) : NULL;
	char *argv[] = {name, input, path, output, view, NULL};
	if (!view || recording->session.failed || !sp_capture_stats(recording->capture).samples) {
		free(view);
		return;
	}
	int status = -1;
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		struct sp_ctx *ctx = NULL;
		sp_capture_after_fork(recording->capture, NULL, 0);
		sp_error_free(sp_ctx_new(&ctx));
		_exit(ctx ? command_report.run(ctx, 5, argv) : EXIT_RECORDER);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && !status && !arguments->quiet)
		diag_say("%s has the report of sprof.data", view);
	free(view);
}

static int run_recording(struct recording *recording)
{
	if (!open_session(recording))
		return EXIT_RECORDER;
	print_notes(recording);
	if (!recording->arguments->quiet)
		record_print_dump_size(recording->capture);
	if (recording->arguments->verbose)
		record_print_size_limit(recording->capture, &recording->arguments->options);
	struct sp_error *error = sp_capture_start(recording->capture);
	if (error) {
		/* The command was not started. If exec failed, its exit status is returned. */
		diag_error(error);
		sp_error_free(sp_capture_stop(recording->capture));
		restore_signals(recording);
		control_close(&recording->control);
		return wait_for_command(recording) ?: EXIT_RECORDER;
	}
	error = record(recording);
	/* A full file ends the recording like --duration: ending the command is no failure. */
	if (!error && sp_capture_stats(recording->capture).full)
		recording->session.stopped = recording->session.expects_term = true;
	const char *path = recording->arguments->options.output.path ?: "sprof.data";
	struct sp_error *stop_error = record_stop(recording->capture, path, &recording->session,
						  recording->arguments->quiet);
	/*
	 * A single cause, such as a full disk, may make both calls fail: its message is printed once.
	 */
	if (error && stop_error &&
	    !strcmp(sp_error_message(error), sp_error_message(stop_error))) {
		sp_error_free(stop_error);
		stop_error = NULL;
	}
	session_add_error(&recording->session, error);
	session_add_error(&recording->session, stop_error);
	print_notes(recording);
	finish_files(recording);
	record_print_summary(recording->arguments, recording->capture, recording->files,
			     recording->session.failed);
	end_command(recording);
	if (!recording->files && !recording->session.failed &&
	    sp_capture_stats(recording->capture).samples)
		name_store_add(&recording->names, sp_capture_take_file(recording->capture), path);
	name_store_start_last(&recording->names);
	print_answer(recording);
	name_store_finish(&recording->names);
	/* Restores signals before this process raises the signal that ended the command. */
	restore_signals(recording);
	control_close(&recording->control);
	write_view(recording);
	bool is_lost = record_is_command_lost(&recording->arguments->options, recording->capture);
	if (recording->arguments->options.target.command)
		return wait_for_command(recording) ?: is_lost ? EXIT_RECORDER : 0;
	return recording->session.failed ? EXIT_RECORDER : 0;
}

static int run_arguments(struct sp_ctx *ctx, struct record_arguments *arguments)
{
	struct recording recording = {.arguments = arguments, .session.signal_fd = -1};
	if (arguments->verbose)
		sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
	if (arguments->runtime_names && !runtime_names_set(arguments->quiet, arguments->verbose))
		return EXIT_RECORDER;
	control_init(&recording.control);
	if (arguments->control && !control_open(&recording.control, arguments->control))
		return EXIT_USAGE;
	recording.control.named = true;
	const struct sp_capture_options options = record_capture_options(&arguments->options);
	struct sp_error *error = sp_capture_new(ctx, &options, &recording.capture);
	if (error) {
		bool wrong = sp_error_code(error) == SP_ERROR_INVALID;
		diag_error(error);
		control_close(&recording.control);
		return wrong ? EXIT_USAGE : EXIT_RECORDER;
	}
	if (!arguments->no_names)
		recording.names = (struct name_store){
			.ctx = ctx,
			.capture = recording.capture,
			.size_limit = sp_capture_file_limit(recording.capture),
			.quiet = arguments->quiet,
		};
	int status = 0;
	if (arguments->dry_run)
		print_notes(&recording);
	else
		status = run_recording(&recording);
	sp_capture_free(recording.capture);
	control_close(&recording.control);
	session_close(&recording.session);
	return status;
}

int record_run(struct sp_ctx *ctx, int argc, char **argv, bool summary)
{
	struct record_arguments arguments = {.no_summary = !summary};
	const char **cmdline = session_cmdline(argc, argv);
	if (!cmdline)
		return EXIT_RECORDER;
	arguments.options.output.cmdline = cmdline;
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
