/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject [-c] [-f] [-a AFTER] [-s SEED] WHAT FIRST LAST STEP COMMAND [ARG]...: runs COMMAND again
 * and again; each time one thing fails in it, number FIRST, FIRST + STEP, … LAST (0: as far as
 * there are any). WHAT is
 *
 *	memory:LIBRARY	an allocation (by LIBRARY, tests/faults/no_memory.c, which is preloaded)
 *	calls		a system call, with an errno that it may have (by ptrace, x86-64; SEED
 *			chooses), or for writes: it is cut short
 *
 * With -f, all that follow fail as well (memory). COMMAND must not die by a signal, take 20
 * seconds, leave a process behind, or fail without a word; where it succeeds, its output must be
 * the one without a fault, unless it or a report's findings say something (with -c it is not
 * compared). AFTER is a shell
 * command that must succeed after each run, for which $STATUS is the exit status.
 *
 * Prints what went wrong, and one line that sums up. Exit status 0: nothing did; 77: this machine
 * cannot do that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "inject.h"

#define TIME_LIMIT_S 20
#define OUTPUT_MAX (1 << 20)
#define SHOWN 40

struct options {
	bool compared, following;
	const char *after, *library;
	unsigned long seed, first, last, step;
	char **argv;
};

struct outcome {
	int status;             /* exit status as a shell has it */
	bool timed_out;
	int left;               /* processes */
	unsigned long happened; /* number of calls that could have failed */
	char what[128];         /* failed */
};

struct text {
	char *bytes;
	size_t size;
};

static void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct text read_back(int fd)
{
	struct text text = {malloc(OUTPUT_MAX + 1), 0};
	ssize_t got = text.bytes ? pread(fd, text.bytes, OUTPUT_MAX, 0) : -1;
	if (got < 0)
		die("cannot read output");
	text.size = (size_t)got;
	text.bytes[got] = 0;
	return text;
}

static int scratch(void)
{
	char path[] = "/tmp/sprof-inject.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		die(path);
	unlink(path);
	return fd;
}

/* -- Processes ------------------------------------------------------------- */

static pid_t any_child(void)
{
	char path[64];
	int child = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *file = fopen(path, "re");
	if (file && fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

/* Kills the processes that outlive their parent, after a moment for those that are ending. */
static int kill_rest(void)
{
	int left = 0, status;
	for (int wait = 0; wait < 100 && any_child(); wait++) {
		while (waitpid(-1, &status, WNOHANG) > 0)
			;
		usleep(5000);
	}
	for (pid_t child; (child = any_child()) > 0; left++) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return left;
}

static void start(const struct options *options, unsigned long number, int out, int err)
{
	char text[32];
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (options->library) {
		snprintf(text, sizeof(text), "%lu", number);
		setenv("FAULT_N", text, 1);
		setenv("LD_PRELOAD", options->library, 1);
		if (options->following)
			setenv("FAULT_ON", "1", 1);
	}
	execv(options->argv[0], options->argv);
	perror(options->argv[0]);
	_exit(99);
}

/* Waits for a child that is not traced. */
static void wait_for(pid_t pid, struct outcome *outcome)
{
	int status = 0;
	for (int ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms += 2) {
		if (ms > TIME_LIMIT_S * 1000) {
			outcome->timed_out = true;
			kill(pid, SIGKILL);
		}
		usleep(2000);
	}
	outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static unsigned long read_count(const char *path)
{
	unsigned long count = 0;
	FILE *file = fopen(path, "re");
	if (file && fscanf(file, "%lu", &count) != 1)
		count = 0;
	if (file)
		fclose(file);
	return count;
}

static void run(const struct options *options, unsigned long number, int out, int err,
		struct outcome *ret)
{
	static const char count_path[] = "/tmp/sprof-inject.count";
	struct outcome outcome = {0};
	if (ftruncate(out, 0) || ftruncate(err, 0) || lseek(out, 0, SEEK_SET) < 0 ||
	    lseek(err, 0, SEEK_SET) < 0)
		die("cannot empty a file");
	char path[128];
	snprintf(path, sizeof(path), "%s.%d", count_path, (int)getpid());
	if (options->library)
		setenv("FAULT_COUNT", path, 1);
	pid_t pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		if (!options->library)
			inject_begin();
		start(options, number, out, err);
	}
	if (options->library) {
		wait_for(pid, &outcome);
		outcome.happened = read_count(path);
		unlink(path);
		snprintf(outcome.what, sizeof(outcome.what), "an allocation");
	} else {
		struct inject_result result = inject_trace(pid, number, options->seed, TIME_LIMIT_S);
		outcome.status = result.status;
		outcome.timed_out = result.timed_out;
		outcome.happened = result.calls;
		snprintf(outcome.what, sizeof(outcome.what), "%s: %s", result.name,
			 result.how);
	}
	outcome.left = kill_rest();
	*ret = outcome;
}

/* -- Judging --------------------------------------------------------------- */

/* How many warnings are among a report's findings. */
static unsigned int warnings(const struct text *text)
{
	unsigned int count = 0;
	for (const char *at = text->bytes; (at = strstr(at, "\n  ! ")); at++)
		count++;
	return count;
}

static const char *judge(const struct options *options, const struct outcome *outcome,
			 const struct text *wanted, const struct text *out, const struct text *err)
{
	if (outcome->timed_out)
		return "hangs";
	if (outcome->status > 128 && outcome->status != 129)
		return "dies";
	if (outcome->left)
		return "leaves a process behind";
	if (outcome->status && !err->size)
		return "fails without a word";
	bool same = out->size == wanted->size && !memcmp(out->bytes, wanted->bytes, out->size);
	bool said = err->size || warnings(out) > warnings(wanted);
	if (!outcome->status && options->compared && !same && !said)
		return "has another result, and status 0";
	return NULL;
}

static bool after_fails(const struct options *options, int status)
{
	char text[16];
	snprintf(text, sizeof(text), "%d", status);
	setenv("STATUS", text, 1);
	return options->after && system(options->after);
}

static void show(const struct outcome *outcome, unsigned long number, const char *wrong,
		 const struct text *err)
{
	printf("%lu, %s: %s (status %d): %.*s\n", number, outcome->what, wrong, outcome->status,
	       (int)(err->size < 300 ? err->size : 300), err->bytes);
	fflush(stdout);
}

struct totals {
	unsigned long runs, good, failed, wrong;
};

static bool try(const struct options *options, unsigned long number, const struct text *wanted,
		int out_fd, int err_fd, struct totals *totals)
{
	struct outcome outcome;
	run(options, number, out_fd, err_fd, &outcome);
	struct text out = read_back(out_fd), err = read_back(err_fd);
	bool over = number > outcome.happened && !outcome.status;
	const char *wrong = judge(options, &outcome, wanted, &out, &err);
	if (!wrong && after_fails(options, outcome.status))
		wrong = "leaves what AFTER does not like";
	if (getenv("INJECT_SHOW"))
		show(&outcome, number, "ran", &err);
	if (wrong && totals->wrong++ < SHOWN)
		show(&outcome, number, wrong, &err);
	totals->runs++;
	totals->good += !outcome.status;
	totals->failed += outcome.status != 0;
	free(out.bytes);
	free(err.bytes);
	return !over;
}

static void parse(int argc, char **argv, struct options *ret)
{
	struct options options = {.compared = true};
	for (int option; (option = getopt(argc, argv, "+cfa:s:")) != -1;) {
		switch (option) {
		case 'c': options.compared = false; break;
		case 'f': options.following = true; break;
		case 'a': options.after = optarg; break;
		case 's': options.seed = strtoul(optarg, NULL, 10); break;
		default: exit(2);
		}
	}
	if (argc - optind < 5)
		exit(2);
	if (!strncmp(argv[optind], "memory:", 7))
		options.library = argv[optind] + 7;
	options.first = strtoul(argv[optind + 1], NULL, 10);
	options.last = strtoul(argv[optind + 2], NULL, 10);
	options.step = strtoul(argv[optind + 3], NULL, 10);
	options.argv = argv + optind + 4;
	*ret = options;
}

int main(int argc, char **argv)
{
	struct options options;
	struct outcome outcome;
	struct totals totals = {0};
	parse(argc, argv, &options);
	if (!options.library && !inject_possible()) {
		printf("system calls can be made to fail on x86-64 alone\n");
		return 77;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	int out = scratch(), err = scratch();
	run(&options, 0, out, err, &outcome);
	struct text wanted = read_back(out);
	if (outcome.status || outcome.timed_out || !outcome.happened) {
		struct text said = read_back(err);
		printf("without a fault, status %d: %s\n", outcome.status, said.bytes);
		return 2;
	}
	unsigned long there = outcome.happened;
	for (unsigned long i = options.first; !options.last || i <= options.last; i += options.step)
		if (!try(&options, i, &wanted, out, err, &totals))
			break;
	printf("%s: %lu of %lu: %lu succeed, %lu fail, %lu wrong\n", options.argv[1], totals.runs,
	       there, totals.good, totals.failed, totals.wrong);
	free(wanted.bytes);
	return totals.wrong != 0;
}
