/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof stat` counts events as its command line specifies. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "cmd/common/control.h"
#include "cmd/common/session.h"
#include "cmd/common/child.h"
#include "cmd/stat/stat_arguments.h"
#include "command.h"
#include "diag.h"
#include "output_file.h"

/* State of sprof stat's runs, and their output. */

/* State of one call of `sprof stat`, with all its runs. */
struct counting {
	struct sp_ctx *ctx;
	const struct stat_arguments *arguments;
	struct stat_style style;
	struct output_file file; /* style.out's file; zeroed: it is a standard stream or --log-fd */
	struct control control;
	const char *what;          /* target as the header names it: 'COMMAND ARG' */
	struct session session;    /* its member expects_term applies to the current run */
	struct sp_stat_mean elapsed;
	double *runs_ns;
	/* Means over several runs, one item for each row. */
	struct sp_stat_mean *values, *enabled, *running;
	size_t value_count;
	int status;                /* wait status of the last command */
};

/* State of one run. */
struct stat_run {
	struct counting *counting;
	struct sp_stat *stat;
	uint64_t next_print_ns, next_read_ns, enable_ns,
		end_ns;		   /* times of the next actions; 0: never */
	uint64_t printed_ns;       /* elapsed time at the last printed interval */
	uint64_t intervals;
	bool has_metrics;          /* at least one row has a metric that --metric-only can print */
	/* Arrays of fill_table(). */
	const struct sp_stat_event **events;
	const struct sp_stat_place **places;
	const struct sp_stat_row **rows;
};

/* Output of sprof stat: intervals, the counts of a run, and the means of several runs. */

/* Number of intervals between two lines of column titles. */
#define INTERVALS_A_HEADING 25

/* Opens style.out. Returns false after printing the error. */
static bool counting_open_output(struct counting *counting)
{
	const struct stat_arguments *arguments = counting->arguments;
	uint64_t number;
	counting->style.out = stderr;
	if (arguments->log_fd) {
		int fd = option_text_number(arguments->log_fd, 0, INT32_MAX, &number)
				 ? fcntl((int)number, F_DUPFD_CLOEXEC, 3) : -1;
		counting->style.out = fd >= 0 ? fdopen(fd, "a") : NULL;
		if (!counting->style.out)
			diag_print("--log-fd: '%s' is not an open file descriptor",
				   arguments->log_fd);
	} else if (arguments->output && strcmp(arguments->output, "-") != 0) {
		output_file_open_in_place(&counting->file, arguments->output, arguments->append);
		counting->style.out = counting->file.out;
	} else if (arguments->output) {
		counting->style.out = stdout;
	}
	if (counting->style.out && arguments->output) {
		time_t now = time(NULL);
		struct tm parts;
		char text[64] = "";
		if (localtime_r(&now, &parts))
			strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts);
		fprintf(counting->style.out, "# started on %s\n\n", text);
	}
	return counting->style.out;
}

/* Flushes and closes style.out. Returns false after printing that a write failed. */
static bool counting_close_output(struct counting *counting)
{
	FILE *out = counting->style.out;
	if (counting->file.out)
		return !output_file_close(&counting->file, true);
	int error = stream_finish(out);
	if (out != stderr && out != stdout && fclose(out) && !error)
		error = errno;
	if (error)
		diag_print("cannot write the counts: %s", strerror(error));
	return !error;
}

/* Sets the table's arrays, which belong to the run. The table is empty after a failure. */
static void fill_table(struct stat_run *run, enum sp_stat_span span, struct stat_table *table)
{
	size_t events = sp_stat_event_count(run->stat), places = sp_stat_place_count(run->stat);
	struct sp_error *error = sp_stat_sum(run->stat, span);
	*table = (struct stat_table){0};
	session_add_error(&run->counting->session, error);
	if (!run->rows) {
		run->events = calloc(events + 1, sizeof(*run->events));
		run->places = calloc(places + 1, sizeof(*run->places));
		run->rows = calloc(events * places + 1, sizeof(*run->rows));
	}
	if (error || !run->events || !run->places || !run->rows)
		return;
	for (size_t i = 0; i < events; i++)
		run->events[i] = sp_stat_event(run->stat, i);
	for (size_t i = 0; i < places; i++)
		run->places[i] = sp_stat_place(run->stat, i);
	for (size_t i = 0; i < events * places; i++)
		run->rows[i] = sp_stat_row(run->stat, i / events, i % events);
	*table = (struct stat_table){
		.events = run->events, .event_count = events,
		.places = run->places, .place_count = places, .rows = run->rows,
	};
}

/* Reads the counters and prints their counts since the last interval. */
static void stat_run_print_interval(struct stat_run *run)
{
	struct counting *counting = run->counting;
	const struct stat_style *style = &counting->style;
	struct stat_table table;
	session_add_error(&counting->session, sp_stat_read(run->stat));
	uint64_t elapsed_ns = sp_stat_read_ns(run->stat);
	fill_table(run, SP_STAT_SINCE_MARK, &table);
	table.has_time = true;
	table.time_ns = (double)elapsed_ns;
	table.elapsed_ns = (double)(elapsed_ns - run->printed_ns);
	run->printed_ns = elapsed_ns;
	bool clear = counting->arguments->interval_clear;
	if (clear)
		fputs("\033[H\033[2J", style->out);
	bool first = clear || run->intervals % INTERVALS_A_HEADING == 0;
	if (style->kind == STAT_TEXT ? first : style->metric_only && !run->intervals)
		stat_put_columns(style, &table);
	stat_put_table(style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	fflush(style->out);
	sp_stat_mark(run->stat);
	run->intervals++;
	if (counting->arguments->interval_count &&
	    run->intervals >= counting->arguments->interval_count)
		run->next_print_ns = 0;
}

static bool make_means(struct counting *counting, size_t count)
{
	if (counting->values)
		return counting->value_count == count;
	counting->value_count = count;
	counting->values = calloc(count + 1, sizeof(*counting->values));
	counting->enabled = calloc(count + 1, sizeof(*counting->enabled));
	counting->running = calloc(count + 1, sizeof(*counting->running));
	return counting->values && counting->enabled && counting->running;
}

/*
 * Adds the counts of a run to the means. Leaves out events that were not counted, because their
 * value is unknown.
 */
static void add_to_means(struct counting *counting, const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	if (!make_means(counting, count)) {
		diag_print("cannot compare the runs: CPUs went online or offline");
		counting->session.failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!table->rows[i]->counted)
			continue;
		sp_stat_mean_add(&counting->values[i], table->rows[i]->value);
		sp_stat_mean_add(&counting->enabled[i], (double)table->rows[i]->enabled_ns);
		sp_stat_mean_add(&counting->running[i], (double)table->rows[i]->running_ns);
	}
}

/* Returns a copy of the last run's rows with the means as values; the caller frees it. */
static struct sp_stat_row *mean_rows(const struct counting *counting,
				     const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	struct sp_stat_row *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		rows[i] = *table->rows[i];
		rows[i].counted = counting->values[i].count > 0;
		rows[i].value = counting->values[i].mean;
		rows[i].enabled_ns = (uint64_t)counting->enabled[i].mean;
		rows[i].running_ns = (uint64_t)counting->running[i].mean;
	}
	return rows;
}

/* Prints the total counts: of one run, or the means of all runs. */
static void print_whole(struct stat_run *run)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	struct stat_table table;
	struct sp_stat_row *means = NULL;
	fill_table(run, SP_STAT_SINCE_START, &table);
	if (arguments->repeated && counting->values)
		means = mean_rows(counting, &table);
	for (size_t i = 0; means && i < table.event_count * table.place_count; i++)
		run->rows[i] = &means[i];
	table.means = means ? counting->values : NULL;
	table.elapsed_ns = counting->elapsed.mean;
	table.summary = arguments->interval_ms && !arguments->no_csv_summary;
	if (counting->style.kind == STAT_TEXT)
		stat_put_header(&counting->style, counting->what, counting->elapsed.count);
	if (counting->style.metric_only && !table.summary)
		stat_put_columns(&counting->style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	if (!arguments->repeated || means)
		stat_put_table(&counting->style, &table);
	free(means);
	if (counting->style.kind != STAT_TEXT)
		return;
	struct stat_times times = {.elapsed = &counting->elapsed,
				   .null_run = arguments->options.events.time_only,
				   .runs_ns = arguments->table ? counting->runs_ns : NULL};
	/*
	 * CPU times are printed only if the command itself is counted, not with -a, -C, -p or -t.
	 */
	const struct sp_stat_target *target = &arguments->options.target;
	bool own =
		!target->system_wide && !target->cpus && !target->pids.count && !target->tids.count;
	times.has_usage = own && sp_stat_times(run->stat, &times.user_ns, &times.system_ns);
	stat_put_footer(&counting->style, &times);
}

/* Prints notes and explanations of missing counts. */
static void notes_print(const struct stat_run *run)
{
	const struct stat_arguments *arguments = run->counting->arguments;
	size_t count = sp_stat_event_count(run->stat);
	fflush(run->counting->style.out);
	for (size_t i = 0; i < sp_stat_note_count(run->stat) && !arguments->quiet; i++)
		diag_print("%s", sp_stat_note(run->stat, i));
	if (arguments->metric_only && !run->has_metrics && !arguments->quiet)
		diag_print("--metric-only: no metrics for these events; try -e "
			   "cycles,instructions,branches,branch-misses");
	/*
	 * Explains missing counts of events that the user named. For default events, "<not
	 * supported>" in the row is enough.
	 */
	bool explain = arguments->verbose || (arguments->events.count && !arguments->quiet &&
					      run->counting->style.kind == STAT_TEXT);
	for (size_t i = 0; i < count && explain; i++) {
		const struct sp_stat_event *event = sp_stat_event(run->stat, i);
		if (event->why)
			diag_print("%s: %s", event->name, event->why);
	}
}

static bool add_run_time(struct counting *counting, double elapsed_ns)
{
	sp_stat_mean_add(&counting->elapsed, elapsed_ns);
	size_t runs = counting->elapsed.count;
	double *grown = counting->arguments->table
				? realloc(counting->runs_ns, runs * sizeof(*grown))
				: NULL;
	if (grown) {
		counting->runs_ns = grown;
		grown[runs - 1] = elapsed_ns;
	}
	return grown || !counting->arguments->table;
}

/*
 * Adds a finished run to the means, and prints counts and notes if they are complete. `last`: no
 * run follows.
 */
static void stat_run_finish(struct stat_run *run, bool last)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	struct stat_table table;
	if (!add_run_time(counting, (double)sp_stat_elapsed_ns(run->stat))) {
		diag_print("out of memory");
		counting->session.failed = true;
	}
	if (arguments->repeated) {
		fill_table(run, SP_STAT_SINCE_START, &table);
		add_to_means(counting, &table);
	}
	if (arguments->interval_ms && !arguments->summary) {
		if (last)
			notes_print(run);
		return;
	}
	if (last || !arguments->runs) {
		print_whole(run);
		notes_print(run);
	}
	fflush(counting->style.out);
	/* With -r 0, each run is printed on its own, so the mean begins again. */
	if (!arguments->runs)
		counting->elapsed = (struct sp_stat_mean){0};
}

/*
 * Interval in ms between checks whether the targets have ended, for targets without a descriptor to
 * poll.
 */
#define LOOK_MS 100

static void obey(struct stat_run *run, enum control_command command)
{
	struct counting *counting = run->counting;
	bool print = counting->arguments->interval_ms && run->next_print_ns;
	switch (command) {
	case CONTROL_ENABLE:
		session_add_error(&counting->session, sp_stat_enable(run->stat));
		break;
	case CONTROL_DISABLE:
		/* Prints the counts before the disable command as an interval, as in perf. */
		if (print)
			stat_run_print_interval(run);
		session_add_error(&counting->session, sp_stat_disable(run->stat));
		break;
	case CONTROL_STOP:
		counting->session.stopped = true;
		break;
	case CONTROL_SNAPSHOT:
		diag_print("--control: snapshot ignored: stat has none");
		break;
	default:
		return;
	}
}

static void read_control(struct stat_run *run)
{
	struct control *control = &run->counting->control;
	enum control_command command;
	while ((command = control_next(control)) != CONTROL_NONE && command != CONTROL_END) {
		obey(run, command);
		if (command != CONTROL_UNKNOWN)
			control_ack(control);
	}
}

/* Returns the earlier of two times; 0 stands for never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Waits for the command's end, a signal, a --control command, or the next due action. */
static void wait_for_work(struct stat_run *run)
{
	struct counting *counting = run->counting;
	bool has_command = counting->arguments->options.target.command;
	uint64_t due = earlier(earlier(run->next_print_ns, run->next_read_ns),
			       earlier(run->enable_ns, run->end_ns));
	if (!has_command || sp_stat_fd(run->stat) < 0)
		due = earlier(due, session_now_ns() +
					   (has_command ? LOOK_MS / 10 : LOOK_MS) * NS_PER_MS);
	unsigned int ready =
		session_wait(&counting->session, sp_stat_fd(run->stat), counting->control.in, due);
	while (ready & SESSION_SIGNAL &&
	       session_read_signal(&counting->session, sp_stat_pid(run->stat)))
		;
	if (ready & SESSION_CONTROL)
		read_control(run);
}

static bool is_due(uint64_t *at_ns, uint64_t now, uint64_t period_ns)
{
	if (!*at_ns || now < *at_ns)
		return false;
	/* The next time is a whole number of periods after the start, unless a period was missed. */
	*at_ns = period_ns ? (*at_ns + period_ns > now ? *at_ns + period_ns : now + period_ns) : 0;
	return true;
}

static void do_what_is_due(struct stat_run *run)
{
	struct counting *counting = run->counting;
	uint64_t now = session_now_ns();
	if (is_due(&run->enable_ns, now, 0))
		session_add_error(&counting->session, sp_stat_enable(run->stat));
	if (is_due(&run->next_read_ns, now, sp_stat_period_ms(run->stat) * NS_PER_MS))
		session_add_error(&counting->session, sp_stat_read(run->stat));
	if (is_due(&run->next_print_ns, now, counting->arguments->interval_ms * NS_PER_MS))
		stat_run_print_interval(run);
	if (is_due(&run->end_ns, now, 0))
		counting->session.expects_term = true;
}

/* Returns whether the run has ended. */
static bool has_ended(struct stat_run *run)
{
	struct counting *counting = run->counting;
	bool ended = false;
	if (counting->session.stopped || counting->session.expects_term)
		return true;
	if (counting->arguments->options.target.command) {
		session_add_error(&counting->session,
				  sp_stat_wait(run->stat, false, &ended, &counting->status));
		return ended || counting->session.failed;
	}
	/* Without a command, --interval-count ends the run. */
	if (counting->arguments->interval_count && !run->next_print_ns)
		return true;
	return sp_stat_targets_gone(run->stat);
}

/* Ends the command by SIGTERM if the run ended first, then waits for it. */
static void end_command(struct stat_run *run)
{
	struct counting *counting = run->counting;
	bool ended = false;
	if (!counting->arguments->options.target.command)
		return;
	pid_t pid = sp_stat_pid(run->stat);
	if (pid && (counting->session.expects_term || counting->session.stopped)) {
		if (!kill(pid, SIGTERM) && counting->session.stopped)
			diag_print("sent SIGTERM to process %d (%s), which still ran", (int)pid,
				   counting->arguments->options.target.command[0]);
		counting->session.expects_term = true;
	}
	session_add_error(&counting->session,
			  sp_stat_wait(run->stat, true, &ended, &counting->status));
	counting->status = session_status(&counting->session, counting->status);
}

static bool counting_run_hook(struct counting *counting, const char *what, const char *command)
{
	int status = command ? system(command) : 0;
	if (!status)
		return true;
	diag_print("%s: the command ended with status %d", what,
		   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	counting->session.failed = true;
	return false;
}

static void count(struct stat_run *run)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	uint64_t period_ms = sp_stat_period_ms(run->stat);
	uint64_t begin_ns = session_now_ns() - sp_stat_elapsed_ns(run->stat);
	if (arguments->interval_ms)
		run->next_print_ns = begin_ns + arguments->interval_ms * NS_PER_MS;
	if (period_ms)
		run->next_read_ns = begin_ns + period_ms * NS_PER_MS;
	if (arguments->delay_ms > 0)
		run->enable_ns = begin_ns + (uint64_t)arguments->delay_ms * NS_PER_MS;
	if (arguments->timeout_ms)
		run->end_ns = begin_ns + arguments->timeout_ms * NS_PER_MS;

	while (!has_ended(run)) {
		wait_for_work(run);
		do_what_is_due(run);
	}
	/* If an interval is incomplete at the end, its counts are printed too. */
	bool rest = arguments->interval_ms && run->next_print_ns;
	if (counting->session.expects_term || counting->session.stopped)
		session_add_error(&counting->session, sp_stat_stop(run->stat));
	end_command(run);
	session_add_error(&counting->session, sp_stat_stop(run->stat));
	if (rest)
		stat_run_print_interval(run);
}

/*
 * Prints why a run could not begin, and sets the exit status. If exec failed, the command's status is
 * used.
 */
static void fail_run(struct stat_run *run, struct sp_error *error)
{
	struct counting *counting = run->counting;
	bool ended = false;
	counting->session.failed = true;
	if (run->stat && sp_stat_pid(run->stat))
		sp_error_free(sp_stat_wait(run->stat, true, &ended, &counting->status));
	if (sp_error_code(error) == SP_ERROR_INVALID)
		counting->status = EXIT_USAGE << 8;
	else if (!ended)
		counting->status = EXIT_RECORDER << 8;
	diag_error(error);
}

static struct sp_error *start(struct stat_run *run)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	struct sp_stat_options options = arguments->options.all;
	options.target = &arguments->options.target;
	options.events = &arguments->options.events;
	session_catch_early();
	struct sp_error *error = sp_stat_new(counting->ctx, &options, &run->stat);
	if (error) {
		/* The error may be a call that the signal interrupted. */
		if (session_early_signal())
			session_raise(session_early_signal());
		return error;
	}
	/* Blocks signals only now: the command has inherited the previous mask. */
	session_block(&counting->session);
	if (session_early_signal()) {
		sp_stat_free(run->stat);
		session_raise(session_early_signal());
	}
	if (sp_stat_pid(run->stat) && !counting->session.probe)
		session_probe_start(&counting->session);
	return sp_stat_start(run->stat);
}

/* Returns whether a signal ends the runs. If the command got it, too, the run itself goes on. */
static bool is_last(const struct counting *counting)
{
	return counting->session.stopped || counting->session.reached;
}

static void counting_run_once(struct counting *counting, uint64_t index)
{
	const struct stat_arguments *arguments = counting->arguments;
	struct stat_run run = {.counting = counting};
	counting->session.expects_term = false;
	if (arguments->sync)
		sync();
	if (!counting_run_hook(counting, "--pre", arguments->before))
		return;
	struct sp_error *error = start(&run);
	if (error) {
		fail_run(&run, error);
	} else {
		count(&run);
		bool last = index + 1 == arguments->runs || is_last(counting);
		if (!counting->session.failed)
			stat_run_finish(&run, last);
		if (counting->session.failed)
			counting->status = EXIT_RECORDER << 8;
	}
	session_restore(&counting->session);
	sp_stat_free(run.stat);
	free(run.events);
	free(run.places);
	free(run.rows);
	if (!counting->session.failed && !counting_run_hook(counting, "--post", arguments->after))
		counting->status = EXIT_RECORDER << 8;
}

/* Names the target as perf does: 'COMMAND ARG' or "process id '7'". The caller frees the text. */
static char *describe(const struct stat_arguments *arguments)
{
	const struct stat_request *options = &arguments->options;
	const struct option_numbers *numbers =
		arguments->pids.count ? &arguments->pids : &arguments->tids;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (options->target.system_wide)
		fputs("'system wide", out);
	else if (numbers->count) {
		fputs(arguments->pids.count ? "process id '" : "thread id '", out);
		for (size_t i = 0; i < numbers->count; i++)
			fprintf(out, "%s%d", i ? "," : "", numbers->items[i]);
	} else if (options->target.cpus)
		fprintf(out, "'CPU(s) %s", options->target.cpus);
	else if (!options->target.command)
		fputs("'system wide", out);
	else
		for (const char *const *word = options->target.command; *word; word++)
			fprintf(out, "%s%s", word == options->target.command ? "'" : " ", *word);
	fputc('\'', out);
	fclose(out);
	return text;
}

static int counting_run_all(struct counting *counting)
{
	const struct stat_arguments *arguments = counting->arguments;
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, 0};
	if (!session_open(&counting->session, signals, NULL))
		return EXIT_RECORDER;
	for (uint64_t i = 0; !counting->session.failed && !is_last(counting); i++) {
		if (arguments->runs && i == arguments->runs)
			break;
		counting_run_once(counting, i);
	}
	session_close(&counting->session);
	control_close(&counting->control);
	if (!counting_close_output(counting))
		return EXIT_RECORDER;
	return child_exit_like(counting->status);
}

static struct stat_style style_of(const struct stat_arguments *arguments)
{
	const struct stat_request *options = &arguments->options;
	struct stat_style style = {
		.kind = arguments->json	       ? STAT_JSON
			: arguments->separator ? STAT_CSV
					       : STAT_TEXT,
		.separator = arguments->separator,
		.big_numbers = arguments->big_numbers != 0,
		.aggregate = options->all.aggregate,
		.repeated = arguments->repeated,
		.metric_only = arguments->metric_only,
		.skip_zero = options->all.aggregate == SP_STAT_THREAD &&
			     !options->target.pids.count && !options->target.tids.count,
	};
	return style;
}

static int run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct stat_arguments arguments = {0};
	if (argc > 1 && (!strcmp(argv[1], "record") || !strcmp(argv[1], "report"))) {
		diag_print("sprof stat has no files of counts: use -j -o FILE or -x, -o FILE, "
			   "or 'perf stat %s'", argv[1]);
		diag_more("'sprof stat -- %s' counts a command of this name.", argv[1]);
		return EXIT_USAGE;
	}
	int operands = argc;
	int status = stat_arguments_parse(&arguments, argc, argv, &operands);
	struct counting counting = {.ctx = ctx, .arguments = &arguments, .session.signal_fd = -1,
				    .style = style_of(&arguments)};
	control_init(&counting.control);
	if (status < 0) {
		char *what = describe(&arguments);
		counting.what = what ? what : "";
		setlocale(LC_NUMERIC, counting.style.kind == STAT_TEXT ? "" : "C");
		if (arguments.verbose)
			sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
		bool good =
			!arguments.control || control_open(&counting.control, arguments.control);
		status = good && counting_open_output(&counting) ? counting_run_all(&counting)
								 : EXIT_USAGE;
		control_close(&counting.control);
		free(what);
	}
	free(counting.runs_ns);
	free(counting.values);
	free(counting.enabled);
	free(counting.running);
	stat_arguments_deinit(&arguments);
	return status;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count events of a command, processes or all CPUs",
	.run = run,
};
