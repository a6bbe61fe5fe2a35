/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sprof stat: from the command line to counts. */
#include "cmd/stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cmd/common/child.h"
#include "cmd/common/control.h"
#include "command.h"
#include "diag.h"

#define NS_PER_MS 1000000ull

/* How often it is looked whether what is counted has ended, where nothing tells. */
#define LOOK_MS 100

/* The columns' names stand above so many intervals. */
#define INTERVALS_A_HEADING 25

/* All runs together. */
struct session {
	struct sp_ctx *ctx;
	const struct stat_arguments *arguments;
	struct stat_style style;
	struct control control;
	const char *what;          /* 'COMMAND ARG', for the header */
	int signal_fd;
	sigset_t signals, old_signals;
	bool stopped;              /* by a signal, or as --control said */
	bool told_to_wait;         /* an interrupt that the command has got too */
	struct sp_stat_mean elapsed;
	double *runs_ns;
	/* Of rows, in their order: of several runs the means. */
	struct sp_stat_mean *values, *enabled, *running;
	size_t value_count;
	int status;                /* the last command's, as waitpid(2) */
	bool failed;
};

/* One run. */
struct run {
	struct session *session;
	struct sp_stat *stat;
	uint64_t next_print_ns, next_read_ns, enable_ns, end_ns; /* 0: never */
	uint64_t printed_ns;       /* elapsed when the last interval was printed */
	uint64_t intervals;
	bool has_metrics;          /* of those that --metric-only shows, some */
	bool stopping;             /* it was ended here: the command's signal is no failure */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool open_output(struct session *session)
{
	const struct stat_arguments *arguments = session->arguments;
	uint64_t number;
	session->style.out = stderr;
	if (arguments->log_fd) {
		int fd = option_text_number(arguments->log_fd, 0, INT32_MAX, &number)
				 ? fcntl((int)number, F_DUPFD_CLOEXEC, 3) : -1;
		session->style.out = fd >= 0 ? fdopen(fd, "a") : NULL;
		if (!session->style.out)
			diag_say("--log-fd: '%s' is not an open file descriptor", arguments->log_fd);
	} else if (arguments->output && strcmp(arguments->output, "-") != 0) {
		session->style.out = fopen(arguments->output, arguments->append ? "ae" : "we");
		if (!session->style.out)
			diag_say("%s: %s", arguments->output, strerror(errno));
	} else if (arguments->output) {
		session->style.out = stdout;
	}
	if (session->style.out && arguments->output) {
		time_t now = time(NULL);
		struct tm parts;
		char text[64] = "";
		if (localtime_r(&now, &parts))
			strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts);
		fprintf(session->style.out, "# started on %s\n\n", text);
	}
	return session->style.out;
}

/* Returns false after saying that something could not be written. */
static bool close_output(struct session *session)
{
	FILE *out = session->style.out;
	bool good = !fflush(out) && !ferror(out);
	if (out != stderr && out != stdout)
		good = !fclose(out) && good;
	if (!good)
		diag_say("cannot write the counts: %s", strerror(errno));
	return good;
}

static bool take_signals(struct session *session)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP};
	sigemptyset(&session->signals);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&session->signals, taken[i]);
	session->signal_fd = signalfd(-1, &session->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd >= 0)
		return true;
	diag_say("signalfd: %s", strerror(errno));
	return false;
}

static void read_signals(struct run *run)
{
	struct session *session = run->session;
	struct signalfd_siginfo info;
	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/* The terminal's ^C went to the command too: it comes to its end by itself. */
		bool from_terminal = info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL;
		if (from_terminal && sp_stat_pid(run->stat) && !session->told_to_wait)
			session->told_to_wait = true;
		else
			session->stopped = true;
	}
}

static void see_error(struct session *session, struct sp_error *error)
{
	session->failed |= error != NULL;
	diag_error(error);
}

static void fill_table(const struct run *run, enum sp_stat_span span, struct stat_table *table)
{
	const struct sp_stat_row *rows = NULL;
	see_error(run->session, sp_stat_rows(run->stat, span, &rows));
	*table = (struct stat_table){.rows = rows};
	table->events = sp_stat_events(run->stat, &table->event_count);
	table->places = sp_stat_places(run->stat, &table->place_count);
	if (!rows)
		table->event_count = 0;
}

static void print_interval(struct run *run)
{
	struct session *session = run->session;
	const struct stat_style *style = &session->style;
	struct stat_table table;
	see_error(session, sp_stat_read(run->stat));
	uint64_t elapsed_ns = sp_stat_read_ns(run->stat);
	fill_table(run, SP_STAT_SINCE_MARK, &table);
	table.has_time = true;
	table.time_ns = (double)elapsed_ns;
	table.elapsed_ns = (double)(elapsed_ns - run->printed_ns);
	run->printed_ns = elapsed_ns;
	bool clear = session->arguments->interval_clear;
	if (clear)
		fputs("\033[H\033[2J", style->out);
	bool first = clear || run->intervals % INTERVALS_A_HEADING == 0;
	if (style->kind == STAT_TEXT ? first : style->metric_only && !run->intervals)
		stat_put_columns(style, &table);
	stat_put_table(style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	fflush(style->out);
	if (session->arguments->record)
		see_error(session, sp_stat_record_round(run->stat, false));
	sp_stat_mark(run->stat);
	run->intervals++;
	if (session->arguments->interval_count && run->intervals >= session->arguments->interval_count)
		run->next_print_ns = 0;
}

static void obey(struct run *run, enum control_command command)
{
	struct session *session = run->session;
	bool print = session->arguments->interval_ms && run->next_print_ns;
	switch (command) {
	case CONTROL_ENABLE:
		see_error(session, sp_stat_enable(run->stat));
		break;
	case CONTROL_DISABLE:
		/* What was counted up to here is an interval of its own, as with perf. */
		if (print)
			print_interval(run);
		see_error(session, sp_stat_disable(run->stat));
		break;
	case CONTROL_STOP:
		session->stopped = true;
		break;
	case CONTROL_SNAPSHOT:
		diag_say("--control: snapshot ignored: stat has none");
		break;
	default:
		return;
	}
}

static void read_control(struct run *run)
{
	struct control *control = &run->session->control;
	enum control_command command;
	while ((command = control_next(control)) != CONTROL_NONE && command != CONTROL_END) {
		obey(run, command);
		if (command != CONTROL_UNKNOWN)
			control_ack(control);
	}
}

/* The earlier one; 0 is never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Waits for the command's end, a signal, a command, or the next moment that something is due. */
static void wait_for_work(struct run *run)
{
	struct session *session = run->session;
	bool has_command = session->arguments->options.command;
	uint64_t due = earlier(earlier(run->next_print_ns, run->next_read_ns),
			       earlier(run->enable_ns, run->end_ns));
	if (!has_command || sp_stat_fd(run->stat) < 0)
		due = earlier(due, now_ns() + (has_command ? LOOK_MS / 10 : LOOK_MS) * NS_PER_MS);
	struct pollfd fds[] = {
		{.fd = sp_stat_fd(run->stat), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->control.in, .events = POLLIN},
	};
	uint64_t now = now_ns();
	uint64_t left = due > now ? due - now : 0;
	struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
	ppoll(fds, 3, due ? &timeout : NULL, NULL);
	if (fds[1].revents)
		read_signals(run);
	if (fds[2].revents)
		read_control(run);
}

static bool is_due(uint64_t *at_ns, uint64_t now, uint64_t period_ns)
{
	if (!*at_ns || now < *at_ns)
		return false;
	/* Times are those of the beginning and so many periods, unless one was missed. */
	*at_ns = period_ns ? (*at_ns + period_ns > now ? *at_ns + period_ns : now + period_ns) : 0;
	return true;
}

static void do_what_is_due(struct run *run)
{
	struct session *session = run->session;
	uint64_t now = now_ns();
	if (is_due(&run->enable_ns, now, 0))
		see_error(session, sp_stat_enable(run->stat));
	if (is_due(&run->next_read_ns, now, sp_stat_period_ms(run->stat) * NS_PER_MS))
		see_error(session, sp_stat_read(run->stat));
	if (is_due(&run->next_print_ns, now, session->arguments->interval_ms * NS_PER_MS))
		print_interval(run);
	if (is_due(&run->end_ns, now, 0))
		run->stopping = true;
}

static void set_times(struct run *run)
{
	const struct stat_arguments *arguments = run->session->arguments;
	uint64_t period_ms = sp_stat_period_ms(run->stat);
	uint64_t begin_ns = now_ns() - sp_stat_elapsed_ns(run->stat);
	if (arguments->interval_ms)
		run->next_print_ns = begin_ns + arguments->interval_ms * NS_PER_MS;
	if (period_ms)
		run->next_read_ns = begin_ns + period_ms * NS_PER_MS;
	if (arguments->delay_ms > 0)
		run->enable_ns = begin_ns + (uint64_t)arguments->delay_ms * NS_PER_MS;
	if (arguments->timeout_ms)
		run->end_ns = begin_ns + arguments->timeout_ms * NS_PER_MS;
}

/* Whether it has come to its end. */
static bool has_ended(struct run *run)
{
	struct session *session = run->session;
	bool ended = false;
	if (session->stopped || run->stopping)
		return true;
	if (session->arguments->options.command) {
		see_error(session, sp_stat_wait(run->stat, false, &ended, &session->status));
		return ended || session->failed;
	}
	/* All intervals that were asked for are there, and nothing says how long. */
	if (session->arguments->interval_count && !run->next_print_ns)
		return true;
	return sp_stat_targets_gone(run->stat);
}

/* The command is ended where it was not waited for. */
static void end_command(struct run *run)
{
	struct session *session = run->session;
	bool ended = false;
	if (!session->arguments->options.command)
		return;
	pid_t pid = sp_stat_pid(run->stat);
	if (pid && (run->stopping || session->stopped)) {
		kill(pid, SIGTERM);
		run->stopping = true;
	}
	see_error(session, sp_stat_wait(run->stat, true, &ended, &session->status));
	if (run->stopping && WIFSIGNALED(session->status) && WTERMSIG(session->status) == SIGTERM)
		session->status = 0; /* as was asked */
}

static bool run_shell(struct session *session, const char *what, const char *command)
{
	int status = command ? system(command) : 0;
	if (!status)
		return true;
	diag_say("%s: the command ended with status %d", what,
		 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	session->failed = true;
	return false;
}

static bool make_means(struct session *session, size_t count)
{
	if (session->values)
		return session->value_count == count;
	session->value_count = count;
	session->values = calloc(count + 1, sizeof(*session->values));
	session->enabled = calloc(count + 1, sizeof(*session->enabled));
	session->running = calloc(count + 1, sizeof(*session->running));
	return session->values && session->enabled && session->running;
}

/* Of what was not counted in a run nothing is known: it takes no part. */
static void add_to_means(struct session *session, const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	if (!make_means(session, count)) {
		diag_say("cannot compare the runs: CPUs went online or offline");
		session->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!table->rows[i].counted)
			continue;
		sp_stat_mean_add(&session->values[i], table->rows[i].value);
		sp_stat_mean_add(&session->enabled[i], (double)table->rows[i].enabled_ns);
		sp_stat_mean_add(&session->running[i], (double)table->rows[i].running_ns);
	}
}

/* Puts the means in the place of the last run's rows. */
static struct sp_stat_row *mean_rows(const struct session *session, const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	struct sp_stat_row *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		rows[i] = table->rows[i];
		rows[i].counted = session->values[i].count > 0;
		rows[i].value = session->values[i].mean;
		rows[i].enabled_ns = (uint64_t)session->enabled[i].mean;
		rows[i].running_ns = (uint64_t)session->running[i].mean;
	}
	return rows;
}

/* The whole, of the run or of all runs. */
static void print_whole(struct run *run)
{
	struct session *session = run->session;
	const struct stat_arguments *arguments = session->arguments;
	struct stat_table table;
	struct sp_stat_row *means = NULL;
	fill_table(run, SP_STAT_SINCE_START, &table);
	if (arguments->repeated && session->values)
		table.rows = means = mean_rows(session, &table);
	table.means = means ? session->values : NULL;
	table.elapsed_ns = session->elapsed.mean;
	table.summary = arguments->interval_ms && !arguments->no_csv_summary;
	if (session->style.kind == STAT_TEXT)
		stat_put_header(&session->style, session->what, session->elapsed.count);
	if (session->style.metric_only && !table.summary)
		stat_put_columns(&session->style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	if (!arguments->repeated || means)
		stat_put_table(&session->style, &table);
	free(means);
	if (session->style.kind != STAT_TEXT)
		return;
	struct stat_times times = {.elapsed = &session->elapsed, .null_run = arguments->options.no_events,
				   .runs_ns = arguments->table ? session->runs_ns : NULL};
	/* Of a command beside something else, nobody wants to know. */
	const struct sp_stat_options *options = &arguments->options;
	bool own = !options->system_wide && !options->cpus && !options->pids.count && !options->tids.count;
	times.has_usage = own && sp_stat_times(run->stat, &times.user_ns, &times.system_ns);
	stat_put_footer(&session->style, &times);
}

/* Notes beside the rows. */
static void say_notes(const struct run *run)
{
	const struct stat_arguments *arguments = run->session->arguments;
	size_t count;
	const struct sp_stat_event *events = sp_stat_events(run->stat, &count);
	fflush(run->session->style.out);
	for (size_t i = 0; i < sp_stat_note_count(run->stat) && !arguments->quiet; i++)
		diag_say("%s", sp_stat_note(run->stat, i));
	if (arguments->metric_only && !run->has_metrics && !arguments->quiet)
		diag_say("--metric-only: no metrics for these events; try -e "
			 "cycles,instructions,branches,branch-misses");
	/* What was typed is missed; of the default events, rows say enough. */
	bool explain = arguments->verbose || (arguments->events.count && !arguments->quiet &&
					      run->session->style.kind == STAT_TEXT);
	for (size_t i = 0; i < count && explain; i++)
		if (events[i].why)
			diag_say("%s: %s", events[i].name, events[i].why);
}

static void count(struct run *run)
{
	set_times(run);
	while (!has_ended(run)) {
		wait_for_work(run);
		do_what_is_due(run);
	}
	/* Intervals are complete: the last one ends with what is counted. */
	bool rest = run->session->arguments->interval_ms && run->next_print_ns;
	if (run->stopping || run->session->stopped)
		see_error(run->session, sp_stat_stop(run->stat));
	end_command(run);
	see_error(run->session, sp_stat_stop(run->stat));
	if (rest)
		print_interval(run);
}

static bool keep_time(struct session *session, double elapsed_ns)
{
	sp_stat_mean_add(&session->elapsed, elapsed_ns);
	size_t runs = session->elapsed.count;
	double *grown = session->arguments->table ? realloc(session->runs_ns, runs * sizeof(*grown)) : NULL;
	if (grown) {
		session->runs_ns = grown;
		grown[runs - 1] = elapsed_ns;
	}
	return grown || !session->arguments->table;
}

/* After the run: what it adds to the means, and, at the last, the whole. */
static void finish_run(struct run *run, bool last)
{
	struct session *session = run->session;
	const struct stat_arguments *arguments = session->arguments;
	struct stat_table table;
	if (!keep_time(session, (double)sp_stat_elapsed_ns(run->stat))) {
		diag_say("out of memory");
		session->failed = true;
	}
	if (arguments->repeated) {
		fill_table(run, SP_STAT_SINCE_START, &table);
		add_to_means(session, &table);
	}
	if (arguments->interval_ms && !arguments->summary) {
		if (last)
			say_notes(run);
		return;
	}
	if (last || !arguments->runs) {
		print_whole(run);
		say_notes(run);
	}
	fflush(session->style.out);
	/* Each of endless runs stands for itself. */
	if (!arguments->runs)
		session->elapsed = (struct sp_stat_mean){0};
}

static void run_once(struct session *session, uint64_t index)
{
	const struct stat_arguments *arguments = session->arguments;
	struct run run = {.session = session};
	if (arguments->sync)
		sync();
	if (!run_shell(session, "--pre", arguments->before))
		return;
	struct sp_error *error = sp_stat_new(session->ctx, &arguments->options, &run.stat);
	if (!error && arguments->record)
		error = sp_stat_record(run.stat, arguments->path, arguments->interval_ms,
				       arguments->cmdline);
	if (!error) {
		/* Not before: the command was to have the signals as they were. */
		sigprocmask(SIG_BLOCK, &session->signals, &session->old_signals);
		error = sp_stat_start(run.stat);
	}
	if (error) {
		bool ended = false;
		session->failed = true;
		/* The status says that the command never was. */
		if (run.stat && sp_stat_pid(run.stat))
			sp_error_free(sp_stat_wait(run.stat, true, &ended, &session->status));
		if (sp_error_code(error) == SP_ERROR_INVALID)
			session->status = EXIT_USAGE << 8;
		else if (!ended)
			session->status = EXIT_RECORDER << 8;
		diag_error(error);
	} else {
		count(&run);
		if (arguments->record)
			see_error(session, sp_stat_record_round(run.stat, true));
		bool last = index + 1 == arguments->runs || session->stopped;
		if (!session->failed)
			finish_run(&run, last);
		if (session->failed)
			session->status = EXIT_RECORDER << 8;
	}
	sigprocmask(SIG_SETMASK, &session->old_signals, NULL);
	sp_stat_free(run.stat);
	if (!session->failed && !run_shell(session, "--post", arguments->after))
		session->status = EXIT_RECORDER << 8;
}

/* 'COMMAND ARG', "process id '7'", as perf has it; the caller's to free. */
static char *describe(const struct stat_arguments *arguments)
{
	const struct sp_stat_options *options = &arguments->options;
	const struct option_numbers *numbers = arguments->pids.count ? &arguments->pids : &arguments->tids;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (options->system_wide)
		fputs("'system wide", out);
	else if (numbers->count) {
		fputs(arguments->pids.count ? "process id '" : "thread id '", out);
		for (size_t i = 0; i < numbers->count; i++)
			fprintf(out, "%s%d", i ? "," : "", numbers->items[i]);
	} else if (options->cpus)
		fprintf(out, "'CPU(s) %s", options->cpus);
	else if (!options->command)
		fputs("'system wide", out);
	else
		for (const char *const *word = options->command; *word; word++)
			fprintf(out, "%s%s", word == options->command ? "'" : " ", *word);
	fputc('\'', out);
	fclose(out);
	return text;
}

static int run_session(struct session *session)
{
	const struct stat_arguments *arguments = session->arguments;
	if (!take_signals(session))
		return EXIT_RECORDER;
	for (uint64_t i = 0; !session->failed && !session->stopped; i++) {
		if (arguments->runs && i == arguments->runs)
			break;
		run_once(session, i);
	}
	close(session->signal_fd);
	control_close(&session->control);
	if (!close_output(session))
		return EXIT_RECORDER;
	return child_pass_on(session->status);
}

static struct stat_style style_of(const struct stat_arguments *arguments)
{
	const struct sp_stat_options *options = &arguments->options;
	struct stat_style style = {
		.kind = arguments->json ? STAT_JSON : arguments->separator ? STAT_CSV : STAT_TEXT,
		.separator = arguments->separator,
		.big_numbers = arguments->big_numbers != 0,
		.aggregate = options->aggregate,
		.repeated = arguments->repeated,
		.metric_only = arguments->metric_only,
		.skip_zero = options->aggregate == SP_STAT_THREAD && !options->pids.count &&
			     !options->tids.count,
	};
	return style;
}

static void log_line(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	diag_say("%s", line);
}

/* As it was typed, for the file; NULL-terminated, the caller's to free. */
static const char **whole_cmdline(int argc, char **argv)
{
	const char **words = calloc((size_t)argc + 2, sizeof(*words));
	if (words) {
		words[0] = "sprof";
		memcpy(words + 1, argv, (size_t)argc * sizeof(*argv));
	}
	return words;
}

static int run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct stat_arguments arguments = {0};
	if (argc > 1 && !strcmp(argv[1], "report"))
		return stat_report(ctx, argc - 1, argv + 1);
	const char **cmdline = whole_cmdline(argc, argv);
	arguments.cmdline = cmdline;
	if (argc > 1 && !strcmp(argv[1], "record")) {
		arguments.record = true;
		argc--;
		argv++;
	}
	int operands = argc;
	int status = stat_arguments_parse(&arguments, argc, argv, &operands);
	struct session session = {.ctx = ctx, .arguments = &arguments, .signal_fd = -1,
				  .style = style_of(&arguments)};
	control_init(&session.control);
	if (status < 0) {
		char *what = describe(&arguments);
		session.what = what ? what : "";
		setlocale(LC_NUMERIC, session.style.kind == STAT_TEXT ? "" : "C");
		if (arguments.verbose)
			sp_ctx_set_log(ctx, log_line, NULL, SP_LOG_DEBUG);
		bool good = !arguments.control || control_open(&session.control, arguments.control);
		status = good && open_output(&session) ? run_session(&session) : EXIT_USAGE;
		control_close(&session.control);
		free(what);
	}
	free(session.runs_ns);
	free(session.values);
	free(session.enabled);
	free(session.running);
	stat_arguments_deinit(&arguments);
	free(cmdline);
	return status;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count events of a command, processes or all CPUs",
	.run = run,
};
