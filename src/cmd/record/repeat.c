/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `sprof record --repeat N [--versus COMMAND]`: runs for `sprof diff`, in a folder:
 *
 *	base.1.data, base.2.data, …	recordings of the command
 *	new.1.data, new.2.data, …	recordings of the other one
 *	runs.json			machine, commands, order, times, exact CPU time and load
 *
 * In each round, the order of the two is random, and so is the size of the environment, which moves
 * the stack. A first round is thrown away: it fills caches. Each run has a recorder of its own, in
 * a child.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>
#include <sprof/diff.h>
#include <sprof/private/command.h>
#include "cmd/common/session.h"
#include "cmd/record/record.h"
#include "command.h"
#include "diag.h"
#include "json.h"
#include "memory.h"
#include "output_file.h"
#include "text.h"

/* Samples a second unless -F or -c is given: a change needs many samples to be found. */
#define FREQUENCY 4999

#define MOST_RUNS 1000

/* Largest number of bytes by which the environment grows. */
#define PADDING 4096

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
static const char *const sides[] = {"base", "new"};

/* A finished run. */
struct repeat_run {
	size_t side, round;
	double seconds, load;
	uint64_t task_clock_ns; /* exact CPU time; 0: unknown */
};

struct repeat {
	struct sp_ctx *ctx;
	struct record_arguments *arguments;
	run_fn *run;
	const char *folder;
	const char *const *commands[2]; /* words of each; the second is NULL without --versus */
	size_t side_count;
	struct repeat_run *runs;
	size_t run_count;
};

/* Signal that ends all runs; 0: none. The recorder at work; 0: none. */
static volatile sig_atomic_t interrupted, recorder;

/* A terminal sends signals to the recorder, too, which takes two soon after another for one. */
static void on_end(int number)
{
	interrupted = number;
	if (recorder)
		kill((pid_t)recorder, number);
}

static uint32_t random_number(uint32_t below)
{
	uint32_t number = 0;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)session_now_ns();
	return number % below;
}

/* Records one run in this process, a child. Returns the exit status. */
static int record_one(const struct repeat *repeat, size_t side, const char *path)
{
	struct record_options *options = &repeat->arguments->options;
	const char *const *words = repeat->commands[side];
	size_t count = 0, program = sp_recorded_program(options->output.cmdline);
	while (words[count])
		count++;
	/* The line that records this run: "sprof record OPTION... --" and the side's command. */
	const char **line = calloc(program + count + 1, sizeof(*line));
	char *padding = calloc(PADDING + 1, 1);
	if (!line || !padding) {
		diag_print("out of memory");
		return EXIT_RECORDER;
	}
	memcpy(line, options->output.cmdline, program * sizeof(*line));
	memcpy(line + program, words, count * sizeof(*line));
	memset(padding, 'x', random_number(PADDING));
	setenv("SPROF_PADDING", padding, 1);
	options->output.cmdline = line;
	options->output.path = path;
	options->target.command = words;
	if (!options->sampling.freq_hz && !options->sampling.period)
		options->sampling.freq_hz = FREQUENCY;
	repeat->arguments->quiet = repeat->arguments->no_summary = true;
	return repeat->run(repeat->ctx, repeat->arguments);
}

/*
 * Opens an exact count of the CPU time of the commands that this process's children execute. The
 * recorder inherits it disabled, and executing the command enables it. Returns -1 if the kernel
 * refuses it.
 */
static int open_task_clock(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	/* Without rights for the kernel, the same clock counts: a clock has no modes. */
	attr.exclude_kernel = attr.exclude_hv = 1;
	return fd >= 0 ? fd
		       : (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Runs one side. Returns its exit status; negative after printing why there is no run. */
static int run_side(struct repeat *repeat, size_t round, size_t side, const char *path)
{
	struct repeat_run *now = &repeat->runs[repeat->run_count];
	int status = 0;
	uint64_t begin_ns = session_now_ns();
	*now = (struct repeat_run){.side = side, .round = round};
	int clock = open_task_clock();
	if (getloadavg(&now->load, 1) != 1)
		now->load = NAN;
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			signal(ends[i], SIG_DFL);
		_exit(record_one(repeat, side, path));
	}
	if (child < 0) {
		diag_print("cannot start the recorder: %s", strerror(errno));
		if (clock >= 0)
			close(clock);
		return -1;
	}
	recorder = child;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	recorder = 0;
	now->seconds = (double)(session_now_ns() - begin_ns) / 1e9;
	if (clock >= 0) {
		if (read(clock, &now->task_clock_ns, sizeof(now->task_clock_ns)) !=
		    sizeof(now->task_clock_ns))
			now->task_clock_ns = 0;
		close(clock);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (interrupted)
		return -1;
	diag_print("%s ended by signal %d (%s)", repeat->commands[side][0], WTERMSIG(status),
		   strsignal(WTERMSIG(status)));
	return -1;
}

/* Prints the times so far, and how much they differ between runs. */
static void print_progress(const struct repeat *repeat, size_t round, size_t rounds)
{
	char text[160] = "";
	for (size_t side = 0; side < repeat->side_count; side++) {
		double sum = 0, squares = 0, count = 0;
		for (size_t i = 0; i < repeat->run_count; i++) {
			if (repeat->runs[i].side != side)
				continue;
			sum += repeat->runs[i].seconds;
			squares += repeat->runs[i].seconds * repeat->runs[i].seconds;
			count++;
		}
		double mean = sum / count;
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s %s%.3f s", side ? "; " : "",
			 sides[side], count > 1 ? "mean " : "", mean);
		used = strlen(text);
		double variance = fmax(0, squares - count * mean * mean);
		if (count > 1)
			snprintf(text + used, sizeof(text) - used, " (standard deviation %.1f%%)",
				 100 * sqrt(variance / (count - 1)) / mean);
	}
	diag_print("round %zu of %zu: %s; load %.1f", round, rounds, text,
		   repeat->runs[repeat->run_count - 1].load);
}

/*
 * Runs each side once, in random order. `round` 0 is thrown away. Returns 0, or the status to end
 * with.
 */
static int run_round(struct repeat *repeat, size_t round)
{
	size_t first = repeat->side_count > 1 ? random_number(2) : 0;
	for (size_t i = 0; i < repeat->side_count; i++) {
		size_t side = i ? 1 - first : first;
		char *path;
		if (asprintf(&path, "%s/%s.%zu.data", repeat->folder, sides[side], round) < 0) {
			diag_print("out of memory");
			return EXIT_RECORDER;
		}
		int status = run_side(repeat, round, side, path);
		if (status || interrupted || !round)
			unlink(path);
		free(path);
		if (interrupted)
			return 0;
		if (status) {
			if (status > 0 && status != EXIT_RECORDER && status != EXIT_USAGE)
				diag_print("%s ended with status %d: only successful runs are "
					   "compared",
					   repeat->commands[side][0], status);
			return status > 0 ? status : EXIT_RECORDER;
		}
		repeat->run_count += round > 0;
	}
	return 0;
}

static void put_words(struct json *json, const char *key, const char *const *words)
{
	json_begin(json, key, '[');
	for (size_t i = 0; words[i]; i++)
		json_string(json, NULL, words[i]);
	json_end(json, ']');
}

/* Puts the first line of a file of /sys; nothing if there is none. */
static void put_line(struct json *json, const char *key, const char *path)
{
	char line[128] = "";
	FILE *file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		json_string(json, key, line);
	}
	if (file)
		fclose(file);
}

/* Writes how the runs came to be. Returns false after printing the error. */
static bool describe(const struct repeat *repeat)
{
	struct output_file file;
	struct utsname machine;
	char *path, name[64];
	if (asprintf(&path, "%s/runs.json", repeat->folder) < 0) {
		diag_print("out of memory");
		return false;
	}
	bool opened = output_file_open(&file, path);
	free(path);
	if (!opened)
		return false;
	struct json json = {.out = file.out};
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	for (size_t side = 0; side < repeat->side_count; side++)
		put_words(&json, sides[side], repeat->commands[side]);
	if (!uname(&machine)) {
		json_string(&json, "host", machine.nodename);
		json_string(&json, "kernel", machine.release);
	}
	json_signed(&json, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	put_line(&json, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	put_line(&json, "turbo_off", "/sys/devices/system/cpu/intel_pstate/no_turbo");
	json_begin_lines(&json, "runs", '[');
	for (size_t i = 0; i < repeat->run_count; i++) {
		json_begin(&json, NULL, '{');
		snprintf(name, sizeof(name), "%s.%zu.data", sides[repeat->runs[i].side],
			 repeat->runs[i].round);
		json_string(&json, "file", name);
		json_string(&json, "side", sides[repeat->runs[i].side]);
		if (repeat->runs[i].task_clock_ns)
			json_unsigned(&json, "task_clock_ns", repeat->runs[i].task_clock_ns);
		json_double(&json, "seconds", repeat->runs[i].seconds);
		json_double(&json, "load", repeat->runs[i].load);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
	return !output_file_close(&file, true);
}

/* Prints the comparison, or how to make one. Returns the exit status. */
static int finish(const struct repeat *repeat)
{
	char name[] = "diff", *folder = strdup(repeat->folder);
	char *argv[] = {name, folder, NULL};
	int status = 0;
	if (repeat->side_count < 2) {
		char *word = text_append_word(xstrdup(""), repeat->folder);
		diag_print("%s has %zu runs: 'sprof report %s/*.data' adds them up, with intervals "
			   "by their spread;", repeat->folder, repeat->run_count, word);
		diag_more("'sprof diff %s OTHER' compares them with another folder", word);
		free(word);
	} else
		status = folder ? command_diff.run(repeat->ctx, 2, argv) : EXIT_RECORDER;
	free(folder);
	return status;
}

/* Makes the folder. Returns false after printing why it cannot be used. */
static bool make_folder(const char *folder)
{
	if (!mkdir(folder, 0777))
		return true;
	int reason = errno;
	diag_print("%s: %s", folder, strerror(reason));
	if (reason == EEXIST)
		diag_more("Runs need a new folder: -o FOLDER names it.");
	return false;
}

/* Prints what an early end leaves. */
static void print_rest(const struct repeat *repeat)
{
	size_t counts[2] = {0, 0};
	for (size_t i = 0; i < repeat->run_count; i++)
		counts[repeat->runs[i].side]++;
	const char *cause = interrupted ? "interrupted: " : "";
	if (!repeat->run_count)
		diag_print("%sno run is complete, and %s is not kept", cause, repeat->folder);
	else
		diag_print("%s%s has %zu complete run%s", cause, repeat->folder, repeat->run_count,
			   repeat->run_count == 1 ? "" : "s");
	if (counts[SP_DIFF_BASE] && counts[SP_DIFF_NEW]) {
		char *command = text_append_word(xstrdup("sprof diff"), repeat->folder);
		diag_more("'%s' compares them.", command);
		free(command);
	}
}

/* Runs all rounds. Returns 0 if there is something to compare, else the status to end with. */
static int run_rounds(struct repeat *repeat)
{
	size_t rounds = (size_t)repeat->arguments->repeat;
	struct sigaction action = {.sa_handler = on_end}, old[sizeof(ends) / sizeof(*ends)];
	int status = 0;
	repeat->runs = calloc((rounds + 1) * 2, sizeof(*repeat->runs));
	if (!repeat->runs) {
		diag_print("out of memory");
		return EXIT_RECORDER;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &action, &old[i]);
	for (size_t round = 0; !status && !interrupted && round <= rounds; round++) {
		status = run_round(repeat, round);
		if (!status && !interrupted && round && !repeat->arguments->quiet)
			print_progress(repeat, round, rounds);
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &old[i], NULL);
	if (repeat->run_count && !describe(repeat))
		status = status ?: EXIT_RECORDER;
	if (!repeat->run_count)
		rmdir(repeat->folder);
	if (status || interrupted)
		print_rest(repeat);
	return status ?: interrupted ? 128 + interrupted : 0;
}

/* Returns false after printing why the options do not fit runs of a command. */
static bool check(const struct record_arguments *arguments)
{
	const struct record_options *options = &arguments->options;
	if (!arguments->repeat) {
		diag_print("--versus needs --repeat N");
		return false;
	}
	if (arguments->repeat > MOST_RUNS) {
		diag_print("--repeat: at most %d runs", MOST_RUNS);
		return false;
	}
	if (!options->target.command || record_command_is_limit(options) ||
	    options->target.cgroups) {
		diag_print(
			"--repeat needs a COMMAND that it starts, without -p, -t, -u, -a, -C and "
			"-G");
		return false;
	}
	const struct sp_capture_output *output = &options->output;
	const struct sp_capture_schedule *schedule = &options->schedule;
	bool switches = output->switch_bytes || output->switch_ns || output->switch_on_demand ||
			output->switch_event || output->timestamp_name;
	bool delays = schedule->delay_ms || schedule->span_count || schedule->start_disabled;
	if (arguments->dry_run || options->buffers.overwrite || output->max_bytes || switches ||
	    delays || options->sampling.samples == SP_OFF || arguments->duration_ns ||
	    arguments->view || arguments->control ||
	    (options->output.path && !strcmp(options->output.path, "-"))) {
		diag_print(
			"--repeat records whole runs to a folder: without --duration, -D, -n, "
			"--control, --overwrite, --max-size, --switch-output, "
			"--timestamp-filename, --dry-run, -o - and reports by -o");
		return false;
	}
	return true;
}

/* Splits the words of --versus. Returns false after printing the error. */
static bool split_command(const char *text, wordexp_t *words)
{
	int status = wordexp(text, words, WRDE_NOCMD);
	if (!status && words->we_wordc)
		return true;
	if (!status)
		wordfree(words);
	diag_print("--versus '%s': %s", text,
		   status == WRDE_NOSPACE
			   ? "out of memory"
			   : "is no command of words and quotes; put it into a script");
	return false;
}

/*
 * Returns the words of --versus, for the caller to free. A single word names a program that runs
 * with the command's arguments.
 */
static const char **versus_command(const wordexp_t *words, const char *const *command, bool quiet)
{
	size_t count = 0;
	while (command[count])
		count++;
	const char **line = xcalloc(count + words->we_wordc + 1, sizeof(*line));
	for (size_t i = 0; i < words->we_wordc; i++)
		line[i] = words->we_wordv[i];
	if (words->we_wordc > 1 || count < 2)
		return line;
	memcpy(line + 1, command + 1, (count - 1) * sizeof(*line));
	if (!quiet)
		diag_print("--versus %s runs with the arguments of %s; --versus 'env %s' runs it "
			   "without", line[0], command[0], line[0]);
	return line;
}

int record_repeat(struct sp_ctx *ctx, struct record_arguments *arguments, run_fn *run)
{
	struct repeat repeat = {
		.ctx = ctx,
		.arguments = arguments,
		.run = run,
		.folder = arguments->options.output.path ?: "sprof.runs",
		.commands = {arguments->options.target.command},
		.side_count = arguments->versus ? 2 : 1,
	};
	wordexp_t words;
	if (!check(arguments) || (arguments->versus && !split_command(arguments->versus, &words)))
		return EXIT_USAGE;
	const char **versus = NULL;
	if (arguments->versus)
		versus = versus_command(&words, repeat.commands[0], arguments->quiet);
	repeat.commands[1] = versus;
	int status = make_folder(repeat.folder) ? run_rounds(&repeat) : EXIT_RECORDER;
	if (!status)
		status = finish(&repeat);
	free(repeat.runs);
	free(versus);
	if (arguments->versus)
		wordfree(&words);
	return status;
}
