/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cmd/common/child.h"
#include "cmd/record/record.h"
#include "command.h"
#include "diag.h"
#include "memory.h"
#include "nearest.h"
#include "options.h"
#include "pager.h"
#include "text.h"

/*
 * perf's commands that sprof does not have. `sprof diff` must not record the program diff, and so
 * replace the user's last recording.
 */

/*
 * Words of `perf --list-cmds` (7.2) without help, version and the commands that sprof has, too. If
 * sprof gets a command, remove its line. perf reads sprof's recordings: remedies may be commands of
 * perf.
 */
static const struct {
	const char *name, *remedy;
} perf_commands[] = {
	{"bench", "use perf bench"},
	{"buildid-cache", "'sprof archive' stores names in the recording"},
	{"buildid-list", "'perf buildid-list -i sprof.data' lists the build-ids"},
	{"c2c", "'sprof report -s mem,symbol_daddr' shows sampled memory accesses"},
	{"check", "'sprof list --limits' shows what this machine can do"},
	{"config", "sprof has no configuration file; options and the environment set everything"},
	{"daemon", "'sprof record -a --switch-output=1h --keep 24' records continuously"},
	{"data", "'sprof report -o FILE' and 'sprof script --format json' convert recordings"},
	{"evlist", "'sprof info' shows the events of a recording"},
	{"ftrace", "use perf ftrace"},
	{"inject", "sprof reads JIT dumps and build-ids itself"},
	{"iostat", "use perf iostat"},
	{"kallsyms", "use perf kallsyms"},
	{"kmem", "'sprof record -e kmem:kmalloc -a' samples the kernel's allocations"},
	{"kvm", "use perf kvm"},
	{"kwork", "use perf kwork"},
	{"lock", "'sprof record --off-cpu PROGRAM' records waits for locks"},
	{"mem", "'sprof report -s mem,symbol_daddr' shows sampled memory accesses"},
	{"probe", "'sprof record -e uprobe:PATH:SYMBOL' records without a probe made before"},
	{"sched", "'sprof record --off-cpu PROGRAM' records waits, 'sprof report -T' shows them"},
	{"test", "use perf test"},
	{"timechart", "'sprof report -o report.html' shows the times of each thread"},
	{"trace", "use perf trace or strace"},
};

/* Returns a sentence that says what to use instead; NULL if `name` is no command of perf alone. */
static const char *perf_command_remedy(const char *name)
{
	for (size_t i = 0; i < sizeof(perf_commands) / sizeof(*perf_commands); i++)
		if (!strcmp(name, perf_commands[i].name))
			return perf_commands[i].remedy;
	return NULL;
}

/* Topics of 'sprof help TASK': commands for a question, by a word that users type. */

/* Names of a task are separated by blanks, and the first one is in the list. */
static const struct {
	const char *names, *text;
} tasks[] = {
	{"hot functions cpu slow kernel syscalls libraries",
	 "Find hot functions, or how much the kernel and libraries use:\n"
	 "  sprof record ./program\n"
	 "  sprof report\n"
	 "  sprof report -s dso                by program, library and kernel (system calls)\n"},
	{"lines line source srcline instructions assembly",
	 "Find hot source lines:\n"
	 "  sprof record ./program\n"
	 "  sprof report -s function,srcline\n"
	 "  sprof annotate                     instructions and lines of the hottest function\n"},
	{"callers callees tree callgraph",
	 "Find callers, and read the call tree:\n"
	 "  sprof record ./program\n"
	 "  sprof report --callers FUNCTION\n"
	 "  sprof report -g caller\n"},
	{"compare regression slower versions diff",
	 "Find out whether a version is slower, where, and how sure that is:\n"
	 "  sprof record --repeat 5 --versus ./new ./old\n"
	 "  sprof diff old.*.data -- new.*.data        recordings made otherwise, in turns\n"},
	{"waits wait off-cpu offcpu blocked sleep locks lock io deadlock mutex contention hang "
	 "syscalls",
	 "Find out what threads wait for:\n"
	 "  sprof record --off-cpu ./program\n"
	 "  sprof report                       time on a CPU and in waits, by function\n"
	 "  sprof report --mode off-cpu -g     waits alone, with callers\n"
	 "  sprof report -s waits_for          by reason: disk, futex (a lock), socket, ...\n"
	 "  sprof report -s syscall            by system call\n"
	 "  sprof report -s comm,function,srcline --my-code\n"
	 "                                     lines that wait, such as of a lock\n"},
	{"wakers waker wakeups wake-ups",
	 "Find out which threads end the waits of others. Wake-ups are recorded as root:\n"
	 "  sprof record --wakers ./program\n"
	 "  sprof report --wakers\n"},
	{"threads thread -T",
	 "See each thread's time on a CPU, waiting for a CPU, and blocked:\n"
	 "  sprof record --off-cpu ./program\n"
	 "  sprof report -T\n"},
	{"python python3 cpython",
	 "Find hot Python functions and lines (CPython 3.11 to 3.14; no option is needed):\n"
	 "  sprof record python3 script.py\n"
	 "  sprof report --my-code             your functions, with the time of libraries\n"
	 "  sprof report --my-code -s function,srcline         their lines\n"
	 "  sprof report --children            functions, with the time of their callees\n"
	 "  sprof report -g                    call tree\n"},
	{"java jvm node nodejs dotnet jit",
	 "Find hot functions of Java, Node.js and .NET:\n"
	 "  sprof record --runtime-names java -jar app.jar\n"
	 "  sprof report\n"
	 "Node.js is the same: sprof record --runtime-names node app.js\n"
	 "For a Java process that runs already, after the program has become warm:\n"
	 "  sprof record -p PID --duration 10; jcmd PID Compiler.perfmap; sprof archive\n"},
	{"latency",
	 "See the time until a process ends, where serial parts weigh most. This is not the\n"
	 "latency of requests, which needs times of each request:\n"
	 "  sprof record --off-cpu ./program\n"
	 "  sprof report --latency\n"},
	{"flamegraph flame-graph flame svg html pictures",
	 "Show pictures in a browser: flame graph, times, threads, functions:\n"
	 "  sprof record -o report.html ./program\n"
	 "  sprof report -o report.html --open\n"},
	{"build make compile scripts processes",
	 "Find the slow programs and files of a build, or the slow processes of a script:\n"
	 "  sprof record make -j2\n"
	 "  sprof report -s comm               by program: all its processes are one row\n"
	 "  sprof report -s argument,comm      by file that a program was called with\n"
	 "  sprof report --processes           tree of processes, with their children\n"},
	{"allocation allocations malloc memory heap",
	 "Find where a program allocates memory, as root ('ldd ./program' shows libc's path):\n"
	 "  sprof record -e uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc ./program\n"
	 "  sprof report --callers malloc      functions that call malloc\n"},
	{"changes change phases phase halves",
	 "See what changes within a recording:\n"
	 "  sprof report --explain             functions that are hot in a part of the time only\n"
	 "  sprof diff --time 0%-50% --time 50%-100% sprof.data\n"
	 "  sprof report --time 0%-50%         the first half\n"
	 "  sprof report --no-children -s time,function --time-quantum 1s\n"},
	{"lost losses missing limits quality",
	 "See what is lost, truncated or without a name in a recording, and the remedies:\n"
	 "  sprof report                       its head has the most important ones\n"
	 "  sprof info --findings              all\n"
	 "  sprof list --limits                limits of this machine and user\n"},
	{"machine system",
	 "Profile the whole machine, a process, a container or a service:\n"
	 "  sprof record -a --duration 10\n"
	 "  sprof record -p PID --duration 10\n"
	 "  sprof record -G system.slice --duration 10\n"
	 "  sprof record --unit nginx --duration 10\n"
	 "Then by program, and by function:\n"
	 "  sprof report -s comm\n"
	 "  sprof report -s function\n"},
	{"live watch realtime top now",
	 "Watch the hot functions of the last seconds, live:\n"
	 "  sprof top                          all processes, or own ones without that right\n"
	 "  sprof top -p PID --off-cpu         a process, and what it waits for\n"
	 "  sprof top -a -s comm --stdio       by program, as text\n"},
	{"continuous rotation flight",
	 "Record for a long time, or keep the last 30 seconds in memory:\n"
	 "  sprof record -a -F 99 --switch-output=1h --keep 24\n"
	 "  sprof record -a --overwrite=30\n"},
};

/* Prints the commands for the task. Returns false if there is no task of that name. */
static bool help_task_print(const char *name, FILE *out)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		for (const char *at = tasks[i].names; *at;) {
			size_t size = strcspn(at, " ");
			if (size == length && !strncasecmp(at, name, size)) {
				fputs(tasks[i].text, out);
				return true;
			}
			at += size + (at[size] == ' ');
		}
	}
	return false;
}

/* Commands in the order of the help. A new command needs a file in cmd/ and a line here. */
static const struct command *const commands[] = {
	&command_record,
	&command_report,
	&command_annotate,
	&command_browse,
	&command_top,
	&command_diff,
	&command_stat,
	&command_list,
	&command_info,
	&command_script,
	&command_archive,
	NULL,
};

static void help(FILE *out)
{
	fputs("usage: sprof COMMAND [ARG]...\n"
	      "or:    sprof [--] PROGRAM [ARG]... record a program, then report\n\n", out);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(out, "  %-8s %s\n", (*command)->name, (*command)->summary);
	fputs("\nExample: sprof ./program\n"
	      "'sprof help COMMAND' lists options, 'sprof help TASK' commands. Tasks:\n", out);

	/* Prints the first names of all tasks, in lines of 80 columns. */
	int used = 0;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		int size = (int)strcspn(tasks[i].names, " ");
		bool next_line = used + size + 3 > 80;
		const char *before = !i ? "" : next_line ? ",\n" : ", ";
		used = next_line ? 0 : used;
		used += fprintf(out, "%s%.*s", before, size, tasks[i].names);
	}
	fputc('\n', out);
}

/*
 * Flushes standard output if `status` is 0. Returns the exit status: 1 after a write error, such as a
 * full disk.
 */
static int finish(int status)
{
	struct pager none = {.out = stdout};
	return status ? status : pager_close(&none);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error) {
		diag_error(error);
		return EXIT_RECORDER;
	}
	int status = command->run(ctx, argc, argv);
	sp_ctx_free(ctx);
	return finish(status);
}

static const struct command *find_command(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp(name, (*command)->name))
			return *command;
	return NULL;
}

/* `asks_help`: names of tasks are candidates, too. */
static int reject_command(const char *word, bool asks_help)
{
	struct nearest nearest = {.name = NULL};
	char names[2048] = "", *rest = names;
	const char *remedy = perf_command_remedy(word);
	if (remedy) {
		diag_print("'%s' is a command of perf, not of sprof: %s", word, remedy);
		if (child_is_program(word))
			diag_more("To record the program %s: sprof -- %s", word, word);
		return EXIT_USAGE;
	}
	if (options_reject_recording(word, "sprof report"))
		return EXIT_USAGE;
	for (const struct command *const *command = commands; *command; command++)
		nearest_add(&nearest, word, strlen(word), (*command)->name);
	nearest_add(&nearest, word, strlen(word), "help");
	nearest_add(&nearest, word, strlen(word), "version");
	for (size_t i = 0; asks_help && i < sizeof(tasks) / sizeof(*tasks); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
			 tasks[i].names);
	for (const char *name; asks_help && (name = strsep(&rest, " "));)
		if (*name)
			nearest_add(&nearest, word, strlen(word), name);
	const char *kind = asks_help ? "topic" : "command";
	if (nearest.name)
		diag_print("unknown %s '%s'; did you mean '%s'?", kind, word, nearest.name);
	else
		diag_print("unknown %s '%s'; see 'sprof help'", kind, word);
	return EXIT_USAGE;
}

/* Prints an error for an option before the command's name, such as `sprof -F 99 ./prog`. */
static int reject_option(char **words)
{
	struct nearest nearest = {.name = NULL};
	char *text = xstrdup("sprof record");
	nearest_add(&nearest, *words, strlen(*words), "--help");
	nearest_add(&nearest, *words, strlen(*words), "--version");
	diag_print("unknown option '%s'%s%s%s", *words, nearest.name ? "; did you mean '" : "",
		   nearest.name ?: "", nearest.name ? "'?" : "");
	if (!nearest.name && words[1]) {
		for (char **word = words; *word; word++)
			text = text_append_word(text, *word);
		diag_more("Put options after a command: %s", text);
	} else if (!nearest.name) {
		diag_more("'sprof help' lists the commands.");
	}
	free(text);
	return EXIT_USAGE;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

int main(int argc, char **argv)
{
	char help_option[] = "--help";
	/* Messages and tables use the terminal's character set. */
	setlocale(LC_CTYPE, "");
	memory_at_end(diag_no_memory);
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	bool asks_help = is_one_of(argv[1], "help", "--help", "-h");
	if (asks_help && argc < 3) {
		help(stdout);
		return finish(0);
	}
	if (is_one_of(argv[1], "version", "--version", "-V")) {
		puts("sprof " PACKAGE_VERSION);
#ifdef SP_STATIC
		puts("linked without shared libraries: asks no debuginfod server, and knows only\n"
		     "the users of /etc/passwd");
#endif
		return finish(0);
	}
	if (asks_help && argc > 3) {
		diag_print("'sprof help' takes one word, not '%s %s'", argv[2], argv[3]);
		return EXIT_USAGE;
	}
	if (asks_help && !find_command(argv[2]) && help_task_print(argv[2], stdout))
		return finish(0);
	if (asks_help) {
		argv[1] = argv[2];
		argv[2] = help_option;
		argc = 3;
	}
	/* After "--", any name is a program's. */
	bool is_program = !asks_help && argc > 2 && !strcmp(argv[1], "--") && argv[2][0] != '-';
	if (is_program)
		argv++;
	const struct command *command = is_program ? NULL : find_command(argv[1]);
	if (command)
		return run(command, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return reject_option(argv + 1);
	if (is_program ||
	    (!asks_help && !perf_command_remedy(argv[1]) && child_is_program(argv[1])))
		return finish(program_run(argv + 1));
	return reject_command(argv[1], asks_help);
}
