/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sprof record: from the command line to a file, and what the user is told of it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "diag.h"
#include "options.h"

#define NS_PER_SECOND 1000000000.0

/* Longer than anybody waits for. */
#define SECONDS_MAX (365 * 24 * 3600)

struct arguments {
	struct sp_capture_options options;
	struct option_numbers pids, tids;
	char *events; /* all -e, with commas between */
	uint64_t duration_ns; /* 0: until it ends */
	bool quiet, verbose;
};

/* A recording that is under way. */
struct session {
	const struct arguments *arguments;
	struct sp_capture *capture;
	int signal_fd;
	sigset_t signals, old_signals;
	bool stopped;      /* by a signal or by the duration, before the command's end */
	bool as_asked;     /* the command was ended, as was asked, and is no failure by that */
	bool told_to_wait; /* an interrupt that the command has got too */
	bool failed;
	size_t notes_said;
};

static bool parse_events(const struct option *option, const char *text)
{
	char **events = option->value, *joined;
	if (asprintf(&joined, "%s%s%s", *events ? *events : "", *events ? "," : "", text) < 0) {
		diag_say("out of memory");
		return false;
	}
	free(*events);
	*events = joined;
	return true;
}

static bool parse_frequency(const struct option *option, const char *text)
{
	uint64_t *hz = option->value;
	if (!strcmp(text, "max")) {
		*hz = SP_CAPTURE_FREQ_MAX;
		return true;
	}
	return option_text_number(text, 1, SP_CAPTURE_FREQ_MAX - 1, hz) ||
	       option_reject(option, text, "a number of samples a second, or max");
}

static bool parse_count(const struct option *option, const char *text)
{
	return option_text_number(text, 1, UINT64_MAX, option->value) ||
	       option_reject(option, text, "a number of events");
}

/* "SIZE" or "SIZE,fixed" */
static bool parse_stack_size(const char *text, bool fixed, uint64_t *size)
{
	char number[8];
	size_t length = strlen(text) - (fixed ? strlen(",fixed") : 0);
	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[length] = 0;
	return option_text_number(number, 8, SP_STACK_BYTES_MAX, size);
}

static bool parse_call_graph(const struct option *option, const char *text)
{
	struct sp_capture_options *options = option->value;
	const char *fixed = strstr(text, ",fixed");
	uint64_t size = 0;
	if (!strcmp(text, "fp"))
		options->call_graph = SP_CALL_GRAPH_FP;
	else if (!strcmp(text, "none"))
		options->call_graph = SP_CALL_GRAPH_NONE;
	else if (!strncmp(text, "dwarf", 5) && (!text[5] || text[5] == ','))
		options->call_graph = SP_CALL_GRAPH_DWARF;
	else
		return option_reject(option, text, "fp, dwarf, dwarf,SIZE, dwarf,SIZE,fixed or none");
	options->fixed_stack_bytes = fixed && !fixed[6];
	if (options->call_graph == SP_CALL_GRAPH_DWARF && text[5] &&
	    (!parse_stack_size(text + 6, options->fixed_stack_bytes, &size) || size % 8))
		return option_reject(option, text, "dwarf,SIZE with a size in bytes, a multiple of 8 up to "
						   "65528");
	options->stack_bytes = (uint32_t)size;
	return true;
}

/* -g, as if nothing had been said, takes no argument. */
static bool parse_graph(const struct option *option, const char *text)
{
	(void)text;
	*(enum sp_call_graph *)option->value = SP_CALL_GRAPH_AUTO;
	return true;
}

static bool parse_unwind(const struct option *option, const char *text)
{
	bool later = !strcmp(text, "later");
	*(enum sp_unwind *)option->value = later ? SP_UNWIND_LATER : SP_UNWIND_LIVE;
	return later || !strcmp(text, "live") || option_reject(option, text, "live or later");
}

static bool parse_max_stack(const struct option *option, const char *text)
{
	uint64_t frames;
	if (!option_text_number(text, 1, UINT16_MAX, &frames))
		return option_reject(option, text, "a number of frames, 1 to 65535");
	*(uint32_t *)option->value = (uint32_t)frames;
	return true;
}

static bool parse_realtime(const struct option *option, const char *text)
{
	uint64_t priority;
	if (!option_text_number(text, 1, 99, &priority))
		return option_reject(option, text, "a priority, 1 to 99");
	*(uint32_t *)option->value = (uint32_t)priority;
	return true;
}

/* perf's: -z is level 1. */
static bool parse_compression(const struct option *option, const char *text)
{
	uint64_t level = 1;
	if (text && !option_text_number(text, 1, 22, &level))
		return option_reject(option, text, "a level, 1 to 22");
	*(uint32_t *)option->value = (uint32_t)level;
	return true;
}

static bool parse_scope(const struct option *option, const char *text)
{
	static const char *const names[] = {"auto", "cpu", "task"};
	for (unsigned int i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*(enum sp_capture_scope *)option->value = (enum sp_capture_scope)i;
			return true;
		}
	return option_reject(option, text, "auto, cpu or task");
}

/* "128" pages, or "512K", "4M", "1G". */
static bool parse_ring_size(const struct option *option, const char *text)
{
	static const char units[] = "BKMG";
	uint64_t *bytes = option->value, number;
	size_t size = strlen(text);
	const char *unit = size ? strchr(units, text[size - 1] & ~0x20) : NULL;
	uint64_t scale = unit ? UINT64_C(1) << 10 * (unit - units)
			      : (uint64_t)sysconf(_SC_PAGESIZE);
	char *digits = strndup(text, unit ? size - 1 : size);
	bool fine = digits && option_text_number(digits, 1, UINT64_MAX / scale, &number);
	free(digits);
	if (fine)
		*bytes = number * scale;
	return fine || option_reject(option, text, "a number of pages, or a size such as 512K or 4M");
}

static bool parse_delay(const struct option *option, const char *text)
{
	return option_text_number(text, 0, (uint64_t)SECONDS_MAX * 1000, option->value) ||
	       option_reject(option, text, "a number of milliseconds");
}

static bool parse_duration(const struct option *option, const char *text)
{
	char *end;
	double seconds = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
	if (!(seconds > 0) || *end || seconds > SECONDS_MAX)
		return option_reject(option, text, "a number of seconds above 0");
	*(uint64_t *)option->value = (uint64_t)(seconds * NS_PER_SECOND);
	return true;
}

static int parse_arguments(struct arguments *arguments, int argc, char **argv, int *operands)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option table[] = {
		OPTION_GROUP("What is recorded:"),
		OPTION_NUMBERS('p', "pid", "PID,...", &arguments->pids,
			       "processes that run already, with their threads"),
		OPTION_NUMBERS('t', "tid", "TID,...", &arguments->tids,
			       "threads that run already"),
		OPTION_FLAG('a', "all-cpus", &options->system_wide,
			    "everything that runs"),
		OPTION_STRING('C', "cpu", "LIST", &options->cpus,
			      "these CPUs alone, as 0-3,5; without -p and -t: everything\non them"),
		OPTION_FLAG('i', "no-inherit", &options->no_inherit,
			    "leave out threads and children made later"),
		OPTION_CALL(0, "scope", "WHERE", &options->scope, parse_scope,
			    "how events are opened: cpu, on whole CPUs, where others'\n"
			    "samples are left out; task, on each task and what it\n"
			    "makes; auto (the default): cpu where that is allowed\n"
			    "and at most 5,000 samples a second are asked for"),
		OPTION_GROUP("How samples are taken:"),
		OPTION_CALL('e', "event", "EVENT,...", &arguments->events, parse_events,
			    "what to sample by (default: cycles, or cpu-clock where\n"
			    "there are no hardware counters)"),
		OPTION_CALL('F', "freq", "HZ|max", &options->freq_hz, parse_frequency,
			    "samples a second on each CPU (default: 997)"),
		OPTION_CALL('c', "count", "N", &options->period, parse_count,
			    "a sample each N events, instead of -F"),
		OPTION_CALL('g', NULL, NULL, &options->call_graph, parse_graph,
			    "record call chains, by frame pointers where the binaries\n"
			    "keep them, else by DWARF (the default)"),
		OPTION_CALL(0, "call-graph", "HOW", options, parse_call_graph,
			    "by fp (frame pointers), by dwarf[,SIZE[,fixed]] (of SIZE\n"
			    "bytes of each stack, or more while that is too little;\n"
			    "default: 8192), or none"),
		OPTION_CALL(0, "unwind", "WHEN", &options->unwind, parse_unwind,
			    "with dwarf: live (the default) writes call chains; later\n"
			    "keeps the stacks in the file, for the report to unwind"),
		OPTION_CALL(0, "max-stack", "N", &options->max_stack, parse_max_stack,
			    "keep up to N frames of a call chain"),
		OPTION_FLAG(0, "all-user", &options->user_only, "leave out the kernel"),
		OPTION_FLAG(0, "all-kernel", &options->kernel_only, "leave out user space"),
		OPTION_CALL('D', "delay", "MS", &options->delay_ms, parse_delay,
			    "begin after so many milliseconds"),
		OPTION_CALL(0, "duration", "SECONDS", &arguments->duration_ns, parse_duration,
			    "end after so long (a COMMAND is ended with it)"),
		OPTION_CALL('r', "realtime", "PRIORITY", &options->realtime, parse_realtime,
			    "drain with real-time priority 1 to 99 (SCHED_FIFO)"),
		OPTION_CALL('m', "mmap-pages", "SIZE", &options->ring_bytes, parse_ring_size,
			    "buffer of each CPU: a number of pages, or a size such as\n"
			    "4M (default: 512K; with stacks 2M to 8M, by -F)"),
		OPTION_GROUP("Output:"),
		OPTION_STRING('o', "output", "FILE", &options->path,
			      "the recording (default: sprof.data; the old one is kept\n"
			      "as FILE.old; -: standard output)"),
		OPTION_CALL_ATTACHED('z', "compression-level", "LEVEL",
				     &options->compression_level, parse_compression,
				     "compress the recording with zstd (LEVEL: 1, the\n"
				     "default, to 22), by the thread that writes"),
		OPTION_FLAG('q', "quiet", &arguments->quiet, "say nothing but errors"),
		OPTION_FLAG('v', "verbose", &arguments->verbose, "say what is done"),
		OPTION_END,
	};
	const char *const synopses[] = {
		"sprof record [OPTION]... [--] COMMAND [ARG]...",
		"sprof record [OPTION]... -p PID[,PID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -t TID[,TID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -a | -C CPUS [[--] COMMAND [ARG]...]",
		NULL,
	};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Samples a command, running processes or whole CPUs into a perf.data file.\n"
			 "A COMMAND beside -p, -t, -a or -C only says how long.",
		.options = table,
		.footer = "The command's exit status is passed on, as is the signal that ended it. 125: the\n"
			  "recorder itself failed; 126, 127: the command could not be run, was not found.",
		.stop_at_operand = true,
	};
	return options_parse(&usage, argc, argv, operands);
}

/* What goes wrong with options taken together. Returns false after saying it. */
static bool check_arguments(const struct arguments *arguments)
{
	const struct sp_capture_options *options = &arguments->options;
	bool tasks = options->pids.count || options->tids.count;
	const char *what = NULL;
	if (options->pids.count && options->tids.count)
		what = "-p and -t exclude each other";
	else if (tasks && options->system_wide)
		what = "-a does not go with -p or -t";
	else if (!tasks && !options->command && !options->system_wide && !options->cpus)
		what = "what shall be recorded? A command, -p PID, -t TID, -a or -C CPUS";
	else if (options->user_only && options->kernel_only)
		what = "--all-user and --all-kernel exclude each other";
	else if (options->freq_hz && options->period)
		what = "-F and -c exclude each other";
	else if (options->scope == SP_CAPTURE_SCOPE_TASK &&
		 (options->system_wide || (options->cpus && !tasks)))
		what = "--scope task does not go with -a, nor with -C alone";
	if (!what)
		return true;
	diag_say("%s", what);
	fputs("       'sprof record --help' lists the options.\n", stderr);
	return false;
}

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
		if (!session->arguments->quiet)
			diag_say("%s", sp_capture_note(session->capture, session->notes_said));
}

/*
 * What ends a recording, and what a file or pipe that takes no more would end:
 * from here on they are read, or seen as an errno. Only now, since the command
 * was to have the signals as they were.
 */
static bool take_signals(struct session *session)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
	sigset_t wanted;
	sigemptyset(&session->signals);
	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
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

static void read_signals(struct session *session)
{
	struct signalfd_siginfo info;
	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
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

/* Waits for work, a signal or the deadline (0: none). */
static void wait_for_work(struct session *session, int64_t deadline_ns)
{
	struct pollfd fds[] = {
		{.fd = sp_capture_fd(session->capture), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
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
	ppoll(fds, 2, limit, NULL);
	if (fds[1].revents)
		read_signals(session);
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
	}
	return error;
}

static void format_size(char *text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
	double number = (double)bytes;
	unsigned int unit = 0;
	for (; number >= 1000 && unit < 4; unit++)
		number /= 1000;
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", number, units[unit]);
}

/* Seconds of CPU time that this process has used, in user space and kernel. */
static double own_seconds(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void say_losses(const struct sp_capture_stats *stats)
{
	if (stats->lost_own)
		diag_say("%llu samples (%.1f %%) were lost for want of room: larger buffers (-m %lluK) "
			 "or fewer samples (a lower -F) would keep them",
			 (unsigned long long)stats->lost_own,
			 100.0 * (double)stats->lost_own / (double)(stats->lost_own + stats->samples),
			 (unsigned long long)stats->ring_bytes / 1024 * 4);
	if (stats->lost_sideband)
		diag_say("%llu records of mappings and tasks were lost",
			 (unsigned long long)stats->lost_sideband);
	if (stats->throttled)
		diag_say("the kernel paused sampling %llu times: it took too long (a lower -F)",
			 (unsigned long long)stats->throttled);
}

/* A command beside what runs already. */
static bool only_says_how_long(const struct sp_capture_options *options)
{
	return options->command && (options->pids.count || options->tids.count ||
				    options->system_wide || options->cpus);
}

static void say_emptiness(const struct session *session, const struct sp_capture_stats *stats)
{
	const char *who = only_says_how_long(&session->arguments->options) ||
					  !session->arguments->options.command
				  ? "what was recorded" : "the command";
	double seconds = (double)stats->duration_ns / NS_PER_SECOND;
	if (seconds < 0.1)
		diag_say("no sample: %s ran for %.1f ms only (a higher -F samples more often)", who,
			 1000 * seconds);
	else
		diag_say("no sample: %s used no CPU time, or too little for a sample", who);
}

static void add_part(char *text, size_t size, uint64_t count, const char *name)
{
	size_t used = strlen(text);
	if (count)
		snprintf(text + used, size - used, ", %llu %s", (unsigned long long)count, name);
}

/* How the stacks ended that were unwound meanwhile. */
static void say_stacks(const struct sp_capture_stacks *stacks)
{
	char rest[256] = "";
	uint64_t all = stacks->complete + stacks->repaired + stacks->truncated + stacks->no_unwind_info +
		       stacks->bad_memory + stacks->depth_limit + stacks->skipped;
	add_part(rest, sizeof(rest), stacks->repaired, "repaired");
	add_part(rest, sizeof(rest), stacks->truncated, "truncated");
	add_part(rest, sizeof(rest), stacks->no_unwind_info, "without unwind information");
	add_part(rest, sizeof(rest), stacks->bad_memory, "at bad memory");
	add_part(rest, sizeof(rest), stacks->depth_limit, "too deep");
	add_part(rest, sizeof(rest), stacks->skipped, "not unwound");
	if (all)
		diag_say("%llu stacks unwound: %.2f %% complete%s", (unsigned long long)all,
			 100 * (double)stacks->complete / (double)all, rest);
}

static void say_summary(const struct session *session)
{
	const struct arguments *arguments = session->arguments;
	struct sp_capture_stats stats = sp_capture_stats(session->capture);
	const char *path = arguments->options.path ? arguments->options.path : "sprof.data";
	double seconds = (double)stats.duration_ns / NS_PER_SECOND, own = own_seconds();
	char size[32];
	format_size(size, sizeof(size), stats.file_bytes);
	if (!stats.samples && !session->failed)
		say_emptiness(session, &stats);
	if (arguments->quiet)
		return;
	if (stats.unwritten)
		diag_say("%llu samples more had been taken and could not be written",
			 (unsigned long long)stats.unwritten);
	say_losses(&stats);
	say_stacks(&stats.stacks);
	diag_say("%llu samples, %llu lost, %s in %s; %.3f s, of which recording took %.1f ms of CPU time "
		 "(%.2f %%)",
		 (unsigned long long)stats.samples,
		 (unsigned long long)(stats.lost_own + stats.shed), size,
		 strcmp(path, "-") ? path : "standard output", seconds, 1000 * own,
		 seconds > 0 ? 100 * own / seconds : 0.0);
}

/* Ends as the command did: by its status or by its signal. */
static int pass_on(const struct session *session, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int signal_number = WTERMSIG(status);
	if (session->as_asked && signal_number == SIGTERM)
		return 0; /* as was asked */
	/* The command's core is not to be replaced by ours. */
	const struct rlimit none = {0};
	setrlimit(RLIMIT_CORE, &none);
	signal(signal_number, SIG_DFL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	fflush(NULL);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signal_number; /* a signal that does not end a process */
}

/* What was recorded is safe; now the command's end is waited for. */
static int end_command(struct session *session)
{
	bool ended = false;
	int status = 0;
	pid_t pid = sp_capture_pid(session->capture);
	/* What was followed has ended: there is nothing to wait for. */
	bool needless = only_says_how_long(&session->arguments->options);
	if (pid && needless && !session->stopped)
		session->as_asked = true;
	if (pid && (session->stopped || needless))
		kill(pid, SIGTERM);
	struct sp_error *error = sp_capture_wait(session->capture, true, &ended, &status);
	if (error) {
		diag_error(error);
		return EXIT_RECORDER;
	}
	return session->failed ? EXIT_RECORDER : ended ? pass_on(session, status) : 0;
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
	struct sp_error *error = sp_capture_start(session->capture);
	if (error) {
		/* The status says that the command never was. */
		diag_error(error);
		sp_error_free(sp_capture_stop(session->capture));
		return end_command(session);
	}
	error = record(session);
	struct sp_error *stop_error = sp_capture_stop(session->capture);
	/* What stopped the recording, a full disk say, may stop its end too. */
	if (error && stop_error &&
	    !strcmp(sp_error_message(error), sp_error_message(stop_error))) {
		sp_error_free(stop_error);
		stop_error = NULL;
	}
	see_error(session, error);
	see_error(session, stop_error);
	say_notes(session);
	say_summary(session);
	if (session->arguments->options.command)
		return end_command(session);
	return session->failed ? EXIT_RECORDER : 0;
}

static int run_arguments(struct sp_ctx *ctx, const struct arguments *arguments)
{
	struct session session = {.arguments = arguments, .signal_fd = -1};
	if (arguments->verbose)
		sp_ctx_set_log(ctx, log_line, NULL, SP_LOG_DEBUG);
	struct sp_error *error = sp_capture_new(ctx, &arguments->options, &session.capture);
	if (error) {
		bool wrong = sp_error_code(error) == SP_ERROR_INVALID;
		diag_error(error);
		return wrong ? EXIT_USAGE : EXIT_RECORDER;
	}
	int status = run_session(&session);
	sp_capture_free(session.capture);
	if (session.signal_fd >= 0)
		close(session.signal_fd);
	return status;
}

static int run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct arguments arguments = {.options.call_graph = SP_CALL_GRAPH_AUTO};
	int operands = argc, status;
	/* As it was typed, for the file: options_parse() moves words about. */
	const char **cmdline = calloc((size_t)argc + 2, sizeof(*cmdline));
	if (!cmdline) {
		diag_say("out of memory");
		return EXIT_RECORDER;
	}
	cmdline[0] = "sprof";
	memcpy(cmdline + 1, argv, (size_t)argc * sizeof(*argv));
	status = parse_arguments(&arguments, argc, argv, &operands);
	arguments.options.cmdline = cmdline;
	arguments.options.events = arguments.events;
	arguments.options.pids = option_numbers_list(&arguments.pids);
	arguments.options.tids = option_numbers_list(&arguments.tids);
	if (operands < argc)
		arguments.options.command = (const char *const *)&argv[operands];
	if (status < 0)
		status = check_arguments(&arguments) ? run_arguments(ctx, &arguments) : EXIT_USAGE;
	option_numbers_deinit(&arguments.pids);
	option_numbers_deinit(&arguments.tids);
	free(arguments.events);
	free(cmdline);
	return status;
}

const struct command command_record = {
	.name = "record",
	.summary = "sample a command or running processes into a file",
	.run = run,
};
