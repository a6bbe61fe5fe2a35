/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof top`: reports of the last seconds of a recording that goes on. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sprof/private/command.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cmd/common/child.h"
#include "cmd/common/session.h"
#include "cmd/record/record.h"
#include "cmd/report/report_result.h"
#include "cmd/top/live_source.h"
#include "cmd/top/top_arguments.h"
#include "command.h"
#include "diag.h"
#include "input.h"
#include "tui/browse.h"

#define NS_PER_S 1000000000ull

/*
 * Without -d: time between refreshes, which rises to the limit until a refresh takes less than this
 * part of it. The first one comes earlier.
 */
#define DELAY_NS (2 * NS_PER_S)
#define DELAY_MAX_NS (10 * NS_PER_S)
#define DELAY_COST 0.05
#define FIRST_DELAY_NS (NS_PER_S / 2)

/*
 * Text by self shows the first rows that together have this part of all self weight. By total, the
 * functions in all stacks would be hidden: they come after rows of equal total.
 */
#define COVERAGE 0.99

struct top {
	struct sp_ctx *ctx;
	struct top_arguments *arguments;
	const char **cmdline;
	struct sp_capture *capture;
	struct live_source *live;
	struct session session;
	pid_t pid;                    /* pid of the command; 0: none */
	struct sp_error *error;       /* error of the recording, to be printed without the screen */
	struct sp_names *names;
	struct recordings recordings; /* the shown window: one recording, or none */
	struct report_result *result; /* its report; NULL: nothing is recorded yet */
	struct report_live facts;
	uint64_t refreshed_ns, cpu_ns; /* time and own CPU time at the begin of the last refresh */
	uint64_t cost_ns;              /* CPU time of the last analysis */
	uint64_t refreshes;
	uint64_t end_ns;               /* time to end; UINT64_MAX: none */
	size_t notes_printed;
	bool frozen;                   /* the screen keeps its window */
	bool ended;                    /* the shown window is the last one */
	bool resolved;                 /* options that depend on the recording are resolved */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static uint64_t own_cpu_ns(const struct top *top)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + sp_capture_proxy_ns(top->capture);
}

/* Appends the target as the user gave it: the options, or the command. */
static void add_target(const struct top *top, char *text, size_t size)
{
	const struct record_options *options = &top->arguments->record.options;
	const char *const *words = options->target.command ?: top->cmdline + 2;
	size_t used = strlen(text);
	if (top->arguments->all_or_own)
		snprintf(text + used, size - used, "%s", options->target.by_user ?
			 "own processes" : "all processes");
	else
		for (; *words && used + 1 < size; words++, used = strlen(text))
			snprintf(text + used, size - used, "%s%s", *words, words[1] ? " " : "");
}

/* Sets the title: "08:15:02  last 10.0 s  sprof itself 0.4% of a CPU  -a". */
static void set_title(const struct top *top, struct report_live *facts)
{
	char clock[16] = "";
	struct tm fields;
	const time_t seconds = (time_t)(facts->time_ms / 1000);
	if (localtime_r(&seconds, &fields))
		strftime(clock, sizeof(clock), "%T", &fields);
	snprintf(facts->title, sizeof(facts->title),
		 "%s  %slast %.1f s  sprof itself %.1f%% of a CPU  ", clock,
		 top->frozen ? "frozen: " : top->ended ? "ended: " : "",
		 (double)(facts->end_ns - facts->begin_ns) / 1e9, 100 * facts->own_cpu);
	add_target(top, facts->title, sizeof(facts->title));
}

static void set_facts(const struct top *top, const struct window_times *window, double own_cpu,
		      struct report_live *ret)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	*ret = (struct report_live){
		.begin_ns = window->begin_ns,
		.end_ns = window->end_ns,
		.time_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000,
		.own_cpu = own_cpu,
	};
	set_title(top, ret);
}

static void free_window(struct top *top)
{
	report_result_free(top->result);
	recordings_close(&top->recordings);
	top->result = NULL;
	top->recordings = (struct recordings){0};
}

/* Opens the window as it is now, and sets its facts. */
static struct sp_error *open_window(struct top *top, struct recordings *ret,
				    struct report_live *facts_ret)
{
	uint64_t now_ns = session_now_ns(), cpu_ns = own_cpu_ns(top);
	double own_cpu = (double)(cpu_ns - top->cpu_ns) / (double)(now_ns - top->refreshed_ns + 1);
	struct window_times window;
	top->refreshed_ns = now_ns;
	top->cpu_ns = cpu_ns;
	top->refreshes++;
	struct sp_error *error = live_source_open(top->live, ret, &window);
	if (!error)
		set_facts(top, &window, own_cpu, facts_ret);
	return error;
}

/* Analyses the window as it is now. Returns false after printing an error. */
static bool refresh(struct top *top)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	free_window(top);
	struct sp_error *error = open_window(top, &top->recordings, &top->facts);
	struct report_arguments *arguments = &top->arguments->report;
	if (!error && top->recordings.count && !top->resolved) {
		if (report_arguments_resolve(arguments, top->ctx, &top->recordings) >= 0)
			return false;
		top->resolved = true;
	}
	if (!error && top->recordings.count)
		error = report_result_new(arguments, top->ctx, &top->recordings, top->names, NULL,
					  &top->result);
	if (error || (top->recordings.count && !top->result)) {
		if (error)
			diag_error(error);
		else
			diag_print("out of memory");
		return false;
	}
	if (top->result) {
		struct report *report = report_result_report(top->result);
		report->live = &top->facts;
		/* The browser shows times since its begin. */
		if (top->arguments->stdio)
			report->timeline = NULL;
		bool all = top->arguments->json || !top->arguments->most;
		report->row_coverage = all || report_by_total(report) ? 0 : COVERAGE;
	}
	top->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return true;
}

/* Returns the time of the next refresh. */
static uint64_t next_refresh_ns(const struct top *top)
{
	uint64_t delay_ns = top->arguments->delay_ns;
	uint64_t cost_ns = (uint64_t)((double)top->cost_ns / DELAY_COST);
	if (!delay_ns) {
		/* The first analysis reads the names that later ones keep. */
		delay_ns = cost_ns > DELAY_NS && top->refreshes > 1 ? cost_ns : DELAY_NS;
		delay_ns = delay_ns > DELAY_MAX_NS ? DELAY_MAX_NS : delay_ns;
	}
	if (!top->refreshes && delay_ns > FIRST_DELAY_NS)
		delay_ns = FIRST_DELAY_NS;
	return top->refreshed_ns + delay_ns;
}

/* Writes JSON without line feeds between values: one object a line. */
static bool write_json(const struct report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool done = out && output_json.write(report, out);
	done = out && !fclose(out) && done;
	for (char *at = text; done && *at; at++)
		if (*at != '\n')
			putchar(*at);
	if (done)
		putchar('\n');
	free(text);
	return done;
}

/* Prints the window. Returns false when out of memory, or if standard output is closed. */
static bool print_window(const struct top *top)
{
	const struct report *report = report_result_report(top->result);
	bool done = top->arguments->json ? write_json(report)
					 : output_text.write(report, stdout);
	if (!done)
		diag_print("out of memory");
	if (!top->arguments->json)
		putchar('\n');
	return done && !fflush(stdout) && !ferror(stdout);
}

static void print_notes(struct top *top)
{
	for (; top->notes_printed < sp_capture_note_count(top->capture); top->notes_printed++)
		if (!sp_capture_note_is_silent(top->capture, top->notes_printed))
			diag_print("%s", sp_capture_note(top->capture, top->notes_printed));
}

/* Returns whether the recording has ended. Keeps its error, if it failed. */
static bool has_ended(struct top *top)
{
	struct sp_error *error;
	bool ended = live_source_has_ended(top->live, &error);
	top->error = error ?: top->error;
	return ended;
}

/* -- On a screen ----------------------------------------------------------- */

/* Longest wait for a key, so that signals are read in time. */
#define KEY_MS 200

static int wait_ms(void *arg)
{
	const struct top *top = arg;
	uint64_t now_ns = session_now_ns(), next_ns = next_refresh_ns(top);
	uint64_t left_ms = next_ns > now_ns ? (next_ns - now_ns) / NS_PER_MS + 1 : 0;
	/* Overdue: the target has ended, or the view keeps its window. */
	return top->frozen || !left_ms || left_ms > KEY_MS ? KEY_MS : (int)left_ms;
}

static bool is_due(void *arg)
{
	struct top *top = arg;
	bool ended = has_ended(top);
	return !top->frozen && !top->ended && (ended || session_now_ns() >= next_refresh_ns(top));
}

static bool is_over(void *arg)
{
	struct top *top = arg;
	while (session_read_signal(&top->session, 0))
		;
	/* The last window is shown until the next one would begin. */
	return top->session.stopped || session_now_ns() >= top->end_ns ||
	       (top->arguments->refreshes && top->refreshes > top->arguments->refreshes);
}

static struct sp_error *open_next(void *arg, struct recordings *ret, struct report_live *facts_ret)
{
	struct top *top = arg;
	top->ended = has_ended(top);
	return open_window(top, ret, facts_ret);
}

static void on_end(void *arg, uint64_t cpu_ns, bool failed)
{
	struct top *top = arg;
	/* A key stopped the analysis: the last window is analysed again, unless that failed. */
	if (!cpu_ns && !failed)
		top->ended = false;
	else if (cpu_ns)
		top->cost_ns = cpu_ns;
}

static void freeze(void *arg, struct report_live *facts)
{
	struct top *top = arg;
	top->frozen = !top->frozen;
	set_title(top, facts);
}

/*
 * Saves the recording of a window. Writes a message, without a line feed. Returns false if it
 * failed.
 */
static bool save_window(const struct top *top, const struct recordings *recordings, char *message,
			size_t size)
{
	const char *path = top->arguments->file ?: "sprof.data";
	if (!recordings->count) {
		snprintf(message, size, "nothing is recorded yet");
		return false;
	}
	struct sp_error *error = sp_recordings_join(&recordings->items[0].reader, 1, path, NULL);
	char *command = input_command("sprof report", path);
	if (error)
		snprintf(message, size, "%s", sp_error_message(error));
	else
		snprintf(message, size, "%s has the window: %s", path, command);
	free(command);
	bool done = !error;
	sp_error_free(error);
	/* Without stored names, a report here has all the same. */
	if (done)
		sp_error_free(sp_archive(top->ctx, path, NULL, NULL));
	return done;
}

static void save(void *arg, const struct recordings *recordings, char *message, size_t size)
{
	(void)save_window(arg, recordings, message, size);
}

/* Shows the windows on a screen. Returns false after printing an error. */
static bool run_screen(struct top *top)
{
	const struct browse_live live = {
		.arg = top,
		.wait_ms = wait_ms,
		.is_due = is_due,
		.is_over = is_over,
		.open = open_next,
		.on_end = on_end,
		.freeze = freeze,
		.save = save,
	};
	const struct browse_source source = {
		.ctx = top->ctx,
		.arguments = &top->arguments->report,
		.recordings = &top->recordings,
		.names = top->names,
		.make = report_result_new,
		.live = &live,
	};
	while (!top->result && !top->ended && !is_over(top)) {
		struct pollfd end = {.fd = live_source_end_fd(top->live), .events = POLLIN};
		poll(&end, 1, wait_ms(top));
		if (!is_due(top))
			continue;
		top->ended = has_ended(top);
		if (!refresh(top))
			return false;
	}
	if (!top->result && top->ended)
		diag_print("the recording ended without a window");
	struct report_result *first = top->result;
	top->result = NULL;
	return !first || !browse_run(&source, first);
}

/* -- As text --------------------------------------------------------------- */

/* Prints a report at each refresh, until a signal, a limit or the end of the targets. */
static bool run_stdio(struct top *top)
{
	const struct top_arguments *arguments = top->arguments;
	uint64_t end_ns = top->end_ns;
	bool ended = false, done = true;
	while (done && !ended && !top->session.stopped &&
	       !(arguments->refreshes && top->refreshes >= arguments->refreshes)) {
		uint64_t next_ns = next_refresh_ns(top);
		session_wait(&top->session, live_source_end_fd(top->live), -1,
			     next_ns < end_ns ? next_ns : end_ns);
		while (session_read_signal(&top->session, top->pid))
			;
		ended = top->ended = has_ended(top);
		uint64_t now_ns = session_now_ns();
		if (!ended && now_ns < next_ns && now_ns < end_ns)
			continue;
		ended |= now_ns >= end_ns;
		done = refresh(top) && (!top->result || print_window(top));
	}
	return done;
}

/*
 * Makes the capture. Its command gets no terminal that shows a screen. Else its output goes to
 * standard error, because standard output has the reports.
 */
static struct sp_error *new_capture(struct top *top)
{
	struct record_options *options = &top->arguments->record.options;
	const struct sp_capture_options all = record_capture_options(options);
	bool screen = !top->arguments->stdio;
	int null = screen ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1, saved[3];
	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (screen)
			dup2(null, fd);
	}
	if (!screen)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	struct sp_error *error = sp_capture_new(top->ctx, &all, &top->capture);
	if (error && top->arguments->all_or_own && options->target.system_wide &&
	    sp_error_code(error) == SP_ERROR_PERMISSION) {
		sp_error_free(error);
		options->target.system_wide = false;
		options->target.by_user = true;
		options->target.uid = getuid();
		error = sp_capture_new(top->ctx, &all, &top->capture);
	}
	for (int fd = 0; fd < 3; fd++) {
		dup2(saved[fd], fd);
		close(saved[fd]);
	}
	if (null >= 0)
		close(null);
	return error;
}

/*
 * Ends the command if it was started and still runs. Returns the exit status: its, or that of the
 * recorder.
 */
static int end_command(struct top *top, bool started)
{
	pid_t pid = sp_capture_pid(top->capture);
	bool ended = false;
	int status = 0;
	sp_error_free(sp_capture_wait(top->capture, false, &ended, &status));
	bool runs = started && pid && !ended;
	if (runs && !kill(pid, SIGTERM))
		diag_print("sent SIGTERM to process %d (%s), which still ran", (int)pid,
			   top->arguments->record.options.target.command[0]);
	top->session.expects_term |= runs;
	if (pid)
		sp_error_free(sp_capture_wait(top->capture, true, &ended, &status));
	session_discard(&top->session);
	session_restore(&top->session);
	if (top->session.failed)
		return EXIT_RECORDER;
	return ended ? child_exit_like(session_status(&top->session, status)) : 0;
}

/* Saves the last window for -o. Returns false after printing an error. */
static bool save_last(struct top *top)
{
	char message[256];
	struct window_times window;
	free_window(top);
	struct sp_error *error = live_source_open(top->live, &top->recordings, &window);
	diag_error(error);
	if (error)
		return false;
	bool done = save_window(top, &top->recordings, message, sizeof(message));
	diag_print("%s", message);
	return done;
}

static int run_capture(struct top *top, const struct live_source_options *options)
{
	static const int ignored[] = {SIGPIPE, SIGXFSZ, 0};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct sp_error *error = NULL;
	if (!session_open(&top->session, signals, ignored))
		return EXIT_RECORDER;
	session_block(&top->session);
	top->pid = sp_capture_pid(top->capture);
	top->live = live_source_start(options, top->capture, &error);
	if (!top->live) {
		if (error)
			diag_error(error);
		else
			diag_print("cannot start the recording: no memory, thread or descriptor");
		sp_error_free(sp_capture_stop(top->capture));
		return end_command(top, false) ?: EXIT_RECORDER;
	}
	top->refreshed_ns = session_now_ns();
	top->cpu_ns = own_cpu_ns(top);
	top->end_ns = top->arguments->record.duration_ns ?
			      top->refreshed_ns + top->arguments->record.duration_ns : UINT64_MAX;
	bool done = top->arguments->stdio ? run_stdio(top) : run_screen(top);
	live_source_stop(top->live);
	(void)has_ended(top);
	session_add_error(&top->session, top->error);
	if (done && top->arguments->file)
		done = save_last(top);
	top->session.failed |= !done && !ferror(stdout);
	return end_command(top, true);
}

static int run_arguments(struct top *top)
{
	struct top_arguments *arguments = top->arguments;
	const struct live_source_options options = {
		.ctx = top->ctx,
		.window_ns = arguments->window_ns,
		.ends_files = arguments->record.options.sampling.off_cpu,
	};
	live_source_set_output(&arguments->record.options.output);
	arguments->record.options.output.cmdline = top->cmdline;
	struct sp_error *error = sp_names_new(&top->names);
	if (!error)
		error = new_capture(top);
	if (error) {
		bool wrong = sp_error_code(error) == SP_ERROR_INVALID;
		diag_error(error);
		return wrong ? EXIT_USAGE : EXIT_RECORDER;
	}
	print_notes(top);
	return run_capture(top, &options);
}

static int top_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct top_arguments arguments;
	struct top top = {.ctx = ctx, .arguments = &arguments, .session.signal_fd = -1};
	top.cmdline = session_cmdline(argc, argv);
	if (!top.cmdline)
		return EXIT_RECORDER;
	int status = top_arguments_parse(&arguments, argc, argv);
	if (status < 0)
		status = run_arguments(&top);
	free_window(&top);
	live_source_free(top.live);
	sp_capture_free(top.capture);
	sp_names_free(top.names);
	session_close(&top.session);
	top_arguments_deinit(&arguments);
	free(top.cmdline);
	return status;
}

const struct command command_top = {
	.name = "top",
	.summary = "show the hot functions of the last seconds, live",
	.run = top_run,
};
