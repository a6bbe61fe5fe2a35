/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof record`: records as the options specify and prints a summary. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sprof/capture.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "cmd/common/child.h"
#include "cmd/common/control.h"
#include "cmd/common/session.h"
#include "cmd/record/record_arguments.h"
#include "cmd/record/file_options.h"
#include "cmd/record/name_store.h"
#include "cmd/record/record.h"
#include "command.h"
#include "diag.h"
#include "progress.h"
#include "text.h"

/*
 * Variables for language runtimes, so that they write symbols of generated code (--runtime-names).
 */

/*
 * Ruby, PHP and LuaJIT read no variable for this. Java before 17 has no perf maps: it ignores the
 * options that it does not know, but frame pointers help there, too.
 */
static const struct variable {
	const char *name, *value;
	bool has_options; /* the value is a list of options, which follow the user's */
	const char *program; /* begin of the runtime's name */
} variables[] = {
	{"NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", true, "node"},
	{"JAVA_TOOL_OPTIONS",
	 "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit", true, "java"},
	{"PYTHONPERFSUPPORT", "1", false, "python"},
	{"DOTNET_PerfMapEnabled", "1", false, "dotnet"},
};

#define COUNT (sizeof(variables) / sizeof(*variables))

/* Returns "NAME=VALUE", for the caller to free; NULL when out of memory. */
static char *assignment_of(const struct variable *variable)
{
	const char *known = variable->has_options ? getenv(variable->name) : NULL;
	char *text;
	if (asprintf(&text, "%s=%s%s%s", variable->name, known ?: "", known && *known ? " " : "",
		     variable->value) < 0)
		return NULL;
	return text;
}

static bool set_variable(const struct variable *variable, bool verbose)
{
	char *assignment = assignment_of(variable);
	if (!assignment) {
		diag_print("out of memory");
		return false;
	}
	bool done = setenv(variable->name, assignment + strlen(variable->name) + 1, true) == 0;
	if (!done)
		diag_print("cannot set %s: %s", variable->name, strerror(errno));
	else if (verbose)
		diag_print("set %s", assignment);
	free(assignment);
	return done;
}

/*
 * Returns whether other users' links are followed in /tmp, where runtimes write files with names
 * that can be guessed. They would make root overwrite any file. No runtime has another directory.
 */
static bool follows_links(void)
{
	static const char *const settings[] = {"symlinks", "hardlinks"};
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/sys/fs/protected_%s", settings[i]);
		FILE *file = fopen(path, "r");
		bool follows = file && fgetc(file) == '0';
		if (file)
			fclose(file);
		if (follows)
			return true;
	}
	return false;
}

/*
 * Prints the recorder's command line without --runtime-names, with the variable of the runtime that
 * it starts. Prints nothing if the command is no known runtime.
 */
static void print_one_runtime(const struct record_options *options)
{
	const char *program = options->target.command ? options->target.command[0] : "";
	for (size_t i = 0; i < COUNT; i++) {
		const char *runtime = variables[i].program;
		if (strncmp(text_base_name(program), runtime, strlen(runtime)))
			continue;
		char *assignment = assignment_of(&variables[i]);
		char *text = assignment ? text_append_word(strdup("env"), assignment) : NULL;
		for (const char *const *word = options->output.cmdline; *word; word++)
			if (strcmp(*word, "--runtime-names") != 0)
				text = text_append_word(text, *word);
		if (text)
			diag_more("For this runtime alone, if you trust the other users: %s", text);
		free(text);
		free(assignment);
	}
}

/*
 * Sets the variables in this process's environment, which COMMAND inherits, and prints their names,
 * or with `verbose` their values. Options that the user has set stay. Returns false after printing
 * an error: also as root, if other users' links are followed in /tmp.
 */
static bool runtime_names_set(const struct record_options *options, bool quiet, bool verbose)
{
	if (!geteuid() && follows_links()) {
		diag_print(
			"--runtime-names: other users' links in /tmp could make runtimes of root "
			"overwrite any file");
		print_one_runtime(options);
		char *text = strdup("sysctl fs.protected_symlinks=1 fs.protected_hardlinks=1 &&");
		for (const char *const *word = options->output.cmdline; text && *word; word++)
			text = text_append_word(text, *word);
		if (text)
			diag_more("To protect them, and record: %s", text);
		free(text);
		diag_more("Or record as an ordinary user: links lead runtimes to that user's "
			  "files alone.");
		return false;
	}
	char names[256] = "";
	for (size_t i = 0; i < COUNT; i++) {
		if (!set_variable(&variables[i], verbose))
			return false;
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			 variables[i].name);
	}
	if (!quiet && !verbose)
		diag_print("set %s", names);
	return true;
}

/* Executes the commands that a running recorder receives through --control. */

static void print_fields(const struct perf_event_attr *attr)
{
	printf(": type: %u, config: 0x%llx, { sample_period, sample_freq }: %llu, "
	       "sample_type: 0x%llx, read_format: 0x%llx, freq: %u, exclude_user: %u, "
	       "exclude_kernel: %u, precise_ip: %u, inherit: %u",
	       attr->type, (unsigned long long)attr->config,
	       (unsigned long long)attr->sample_period, (unsigned long long)attr->sample_type,
	       (unsigned long long)attr->read_format, attr->freq, attr->exclude_user,
	       attr->exclude_kernel, attr->precise_ip, attr->inherit);
}

/* Prints the events like perf's evlist: names; with -v also fields, with -F frequencies. */
static void list_events(const struct sp_capture *capture, const char *how)
{
	if (how && strcmp(how, "-v") && strcmp(how, "-F") && strcmp(how, "-g")) {
		diag_print("--control: evlist takes -v, -F or -g, not '%s'", how);
		return;
	}
	enum text_form form = text_form_of(STDOUT_FILENO);
	for (size_t i = 0; i < sp_capture_event_count(capture); i++) {
		const struct perf_event_attr *attr = sp_capture_event_attr(capture, i);
		text_write(sp_capture_event_name(capture, i), form, stdout);
		if (how && !strcmp(how, "-v"))
			print_fields(attr);
		if (how && !strcmp(how, "-F"))
			printf(": sample_%s=%llu", attr->freq ? "freq" : "period",
			       (unsigned long long)attr->sample_period);
		putchar('\n');
	}
	fflush(stdout);
}

/*
 * Executes the pending commands, prints their errors, and acknowledges each. Sets *stop_ret to true
 * after "stop".
 */
static void record_control_run(struct control *control, struct sp_capture *capture, bool *stop_ret)
{
	enum control_command command;
	while ((command = control_next(control)) != CONTROL_NONE && command != CONTROL_END) {
		struct sp_error *error = NULL;
		if (command == CONTROL_ENABLE)
			error = sp_capture_enable(capture, control->argument);
		else if (command == CONTROL_DISABLE)
			error = sp_capture_disable(capture, control->argument);
		else if (command == CONTROL_EVLIST)
			list_events(capture, control->argument);
		else if (command == CONTROL_SNAPSHOT)
			error = sp_capture_snapshot(capture);
		*stop_ret |= command == CONTROL_STOP;
		diag_error(error);
		/*
		 * Acknowledges even failed commands, as perf does, because the sender waits for the
		 * answer.
		 */
		control_ack(control);
	}
}

/*
 * Completes a recording. If the output is a pipe, its reader can delay this without limit; a signal
 * ends the wait.
 */

/* Delay in ms before printing that the recorder waits for the reader of the pipe. */
#define PATIENCE_MS 1000

/* State while sp_capture_stop() writes to a pipe; the pipe's reader may delay it. */
struct pipe_write {
	const char *name;
	struct session *session;
	struct session_watch watch;
	pid_t command; /* pid of the recorded command; 0: none */
	bool quiet;
};

static void give_up_pipe(const struct pipe_write *pipe_write, int number)
{
	diag_print("gave up: data that the reader of %s has not read is lost", pipe_write->name);
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
			diag_print("waiting for the reader of %s; Ctrl-C or SIGTERM "
				   "discards unread data", pipe_write->name);
			printed = true;
		}
		if (fds[0].revents && session_next_signal(pipe_write->session, &info) &&
		    info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
			give_up_pipe(pipe_write, (int)info.ssi_signo);
	}
	return NULL;
}

static bool is_file(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Calls sp_capture_stop(). If `path` is no regular file, a signal during the call ends this process
 * by that signal, and the command by SIGTERM. Unless `quiet`, prints that it waits for the reader,
 * or on a terminal that the file is finished.
 */
static struct sp_error *record_stop(struct sp_capture *capture, const char *path,
				    struct session *session, bool quiet)
{
	struct pipe_write pipe_write = {
		.name = strcmp(path, "-") ? path : "standard output",
		.session = session,
		.command = sp_capture_pid(capture),
		.quiet = quiet,
	};
	bool watched = !is_file(path) &&
		       session_watch_start(&pipe_write.watch, watch_signals, &pipe_write);
	struct progress progress;
	progress_begin_finishing(&progress, !quiet && !watched);
	struct sp_error *error = sp_capture_stop(capture);
	progress_end(&progress);
	if (watched)
		session_watch_end(&pipe_write.watch);
	return error;
}

/* A recording in progress. */
struct live_recording {
	const struct record_arguments *arguments;
	struct sp_capture *capture;
	struct control control;
	struct session session;
	struct name_store names;
	size_t notes_printed;
	size_t files; /* number of completed output files with numbered names (rotation) */
	bool is_complete; /* atomic: all records are in the files */
};

static void print_notes(struct live_recording *recording)
{
	size_t count = sp_capture_note_count(recording->capture);
	for (; recording->notes_printed < count; recording->notes_printed++)
		if (!recording->arguments->quiet &&
		    !sp_capture_note_is_silent(recording->capture, recording->notes_printed))
			diag_print("%s",
				   sp_capture_note(recording->capture, recording->notes_printed));
}

/* Prints the files that are complete, and stores names in them. */
static void finish_files(struct live_recording *recording)
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

/* Ends this process after a second signal, even if the main thread is stuck. */
static void give_up(void *arg, int number)
{
	const struct live_recording *recording = arg;
	pid_t command = sp_capture_pid(recording->capture);
	bool is_complete = __atomic_load_n(&recording->is_complete, __ATOMIC_RELAXED);
	diag_print("ended by a second signal%s",
		   is_complete ? "" : ": records that were not written yet are missing");
	if (command)
		kill(command, SIGTERM);
	session_raise(number);
}

/*
 * Opens the session and blocks signals. sp_capture_new() has already started the command, which
 * inherited the previous mask.
 */
static bool open_session(struct live_recording *recording)
{
	/* Ignored signals: a full disk or a closed pipe becomes an error of write(2). */
	static const int ignored[] = {SIGPIPE, SIGXFSZ, 0};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0};
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
static void restore_signals(const struct live_recording *recording)
{
	session_discard(&recording->session);
	session_restore(&recording->session);
}

/* Handles SIGUSR1: disables all events if any is enabled, else enables them. */
static void toggle_sampling(struct live_recording *recording)
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
		diag_print(any ? "sampling paused; SIGUSR1 resumes it" : "sampling resumed");
}

/* Handles SIGUSR2: snapshot, rotation, or dump of the ring buffers. */
static void on_snapshot_signal(struct live_recording *recording)
{
	const struct record_options *options = &recording->arguments->options;
	bool switches = options->output.switch_on_demand || options->buffers.overwrite;
	struct sp_error *error =
		options->buffers.snapshot ? sp_capture_snapshot(recording->capture) : NULL;
	if (!switches && !options->buffers.snapshot && !recording->arguments->quiet)
		diag_print("SIGUSR2 ignored: it needs --switch-output=signal, --overwrite or "
			   "--snapshot");
	if (!error && switches)
		error = sp_capture_switch(recording->capture);
	if (error)
		diag_error(error);
}

static void read_signals(struct live_recording *recording)
{
	int number;
	struct session *session = &recording->session;
	pid_t command = sp_capture_pid(recording->capture);
	uint64_t reached = session->reached;
	while ((number = session_read_signal(session, command))) {
		if (number == SIGUSR1)
			toggle_sampling(recording);
		else if (number == SIGUSR2)
			on_snapshot_signal(recording);
		else if (session->reached != reached && !session->stopped &&
			 !recording->arguments->quiet)
			diag_print("%s reached process %d, too; recording goes on until it ends "
				   "(end it with another %s)", session_signal_name(number),
				   (int)command, number == SIGINT ? "Ctrl-C" : "SIGTERM");
		reached = session->reached;
	}
}

static void read_control(struct live_recording *recording)
{
	bool stop = false;
	record_control_run(&recording->control, recording->capture, &stop);
	if (stop)
		recording->session.stopped = recording->session.expects_term = true;
}

/* Waits for records, a signal or the deadline (0: none). */
static void wait_for_work(struct live_recording *recording, uint64_t deadline_ns)
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
static struct sp_error *record(struct live_recording *recording)
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

static int wait_for_command(struct live_recording *recording)
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
static void end_command(struct live_recording *recording)
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
		diag_print("sent SIGTERM to process %d (%s), which still ran", (int)pid,
			   recording->arguments->options.target.command[0]);
}

/* Prints the hottest functions, unless the samples are in several files (rotation). */
static void print_answer(const struct live_recording *recording)
{
	const struct record_arguments *arguments = recording->arguments;
	if (!arguments->quiet && !arguments->no_summary && !recording->session.failed &&
	    !recording->files && sp_capture_stats(recording->capture)->samples)
		record_print_hottest(recording->capture, arguments->options.output.path,
				     recording->session.signal_fd);
}

/*
 * Writes the report that -o names, in a child: this process may still have to end by the command's
 * signal.
 */
static void write_view(const struct live_recording *recording)
{
	const struct record_arguments *arguments = recording->arguments;
	char name[] = "report", input[] = "-i", output[] = "-o", path[] = "sprof.data";
	char *view = arguments->view ? strdup(arguments->view) : NULL;
	char *argv[] = {name, input, path, output, view, NULL};
	if (!view || recording->session.failed || !sp_capture_stats(recording->capture)->samples) {
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
		diag_print("%s has the report of sprof.data", view);
	free(view);
}

/* Returns whether a signal came before those of the session were blocked, after printing it. */
static bool is_ended_early(void)
{
	int number = session_early_signal();
	if (number)
		diag_print("ended by %s before sampling began: nothing was recorded",
			   session_signal_name(number));
	return number;
}

static int run_recording(struct live_recording *recording)
{
	if (!open_session(recording))
		return EXIT_RECORDER;
	if (is_ended_early())
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
	if (!error && sp_capture_stats(recording->capture)->full)
		recording->session.stopped = recording->session.expects_term = true;
	const char *path = recording->arguments->options.output.path ?: "sprof.data";
	struct sp_error *stop_error = record_stop(recording->capture, path, &recording->session,
						  recording->arguments->quiet);
	__atomic_store_n(&recording->is_complete, !error && !stop_error, __ATOMIC_RELAXED);
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
	/* The last file, unless its name has a date, too; taken before the others replace it. */
	int last = sp_capture_take_file(recording->capture);
	finish_files(recording);
	record_print_summary(recording->arguments, recording->capture,
			     recording->files ? recording->files + (last >= 0) : 0,
			     recording->session.failed);
	end_command(recording);
	if (!recording->session.failed && sp_capture_stats(recording->capture)->samples)
		name_store_add(&recording->names, last, path);
	else if (last >= 0)
		close(last);
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
	struct live_recording recording = {.arguments = arguments, .session.signal_fd = -1};
	if (arguments->verbose)
		sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
	if (arguments->runtime_names &&
	    !runtime_names_set(&arguments->options, arguments->quiet, arguments->verbose))
		return EXIT_RECORDER;
	control_init(&recording.control);
	if (arguments->control && !control_open(&recording.control, arguments->control))
		return EXIT_USAGE;
	recording.control.named = true;
	const struct sp_capture_options options = record_capture_options(&arguments->options);
	session_catch_early();
	struct sp_error *error = sp_capture_new(ctx, &options, &recording.capture);
	if (error) {
		bool wrong = sp_error_code(error) == SP_ERROR_INVALID;
		/* The error may be a call that the signal interrupted. */
		if (is_ended_early())
			sp_error_free(error);
		else
			diag_error(error);
		control_close(&recording.control);
		if (session_early_signal())
			session_raise(session_early_signal());
		return wrong ? EXIT_USAGE : EXIT_RECORDER;
	}
	if (!arguments->no_names)
		recording.names = (struct name_store){
			.ctx = ctx,
			.capture = recording.capture,
			.size_limit = sp_capture_file_limit(recording.capture),
			.quiet = arguments->quiet,
			.code = arguments->store_code,
		};
	int status = 0;
	if (arguments->dry_run)
		print_notes(&recording);
	else
		status = run_recording(&recording);
	sp_capture_free(recording.capture);
	control_close(&recording.control);
	session_close(&recording.session);
	if (session_early_signal())
		session_raise(session_early_signal());
	return status;
}

/*
 * Puts "--" before the command in the recorder's words, which have room for one: then a reader can
 * separate options from the command.
 */
static void separate_command(const char **words, const char *const *command)
{
	size_t count = 0, own = 0;
	while (words[count])
		count++;
	while (command && command[own])
		own++;
	size_t at = own < count ? count - own : 0;
	if (!own || at < 2 || strcmp(words[at], command[0]) != 0 || !strcmp(words[at - 1], "--"))
		return;
	memmove(words + at + 1, words + at, (own + 1) * sizeof(*words));
	words[at] = "--";
}

int record_run(struct sp_ctx *ctx, int argc, char **argv, bool summary)
{
	struct record_arguments arguments = {.command_name = "record", .no_summary = !summary};
	const char **cmdline = session_cmdline(argc, argv);
	if (!cmdline)
		return EXIT_RECORDER;
	arguments.options.output.cmdline = cmdline;
	int status = record_arguments_parse(&arguments, argc, argv);
	if (status < 0)
		separate_command(cmdline, arguments.options.target.command);
	if (status < 0)
		status = arguments.repeat || arguments.versus ?
				 record_repeat(ctx, &arguments, run_arguments) :
				 run_arguments(ctx, &arguments);
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
