/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate [-s SCENARIO] [--seed A[-B]] [--fault N|all|every K] [--kill N|every K] [--hash] [-v]
 * [--keep DIR] [--steady] [--ranges N]
 *
 * Runs the scenarios, all but long ones, or that one (also "random": each seed makes its own), with each
 * seed.
 * --fault: call number N fails of those that may fail; or each of them, one in a run, or each K-th.
 * --kill: the recorder ends at call number N. Prints a line for each run that broke a rule. With
 * --hash prints for each run: SCENARIO SEED HASH BYTES.
 * --ranges: reports of N random ranges of each file's time have the scheduler's times (default: 1).
 * --steady: calls take no time, so that the hashes of two versions of the recorder differ only if their
 * files do, not if one makes a call more. -v prints totals and notes, -v -v events and paths, -v -v -v
 * the kernel's records. Exit status: 0: no rule was broken; 1; 77: this machine or build cannot
 * simulate.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "scenario.h"

#define LIMIT_S 60
#define REAL_LIMIT_S 240 /* for each LIMIT_S of simulated time, on a busy machine */

struct arguments {
	const char *scenario, *keep;
	uint64_t first, last;
	uint64_t fault, fault_step, kill, kill_step;
	bool hash;
};

/* Result of a run, from its process. */
struct outcome {
	uint64_t hash, bytes, calls, fallible;
	unsigned int violations;
	char fault[32];
	int fault_errno;
};

__attribute__((weak)) void __gcov_dump(void);

static const struct sim_scenario *current;
static struct outcome *shared;
static const char *keep_folder;

static void finish(bool killed)
{
	sim.inside = false;
	alarm(REAL_LIMIT_S * (1 + sim.ranges));
	sim_check_files(current, killed);
	if (keep_folder)
		sim_save_files(keep_folder);
	shared->hash = sim_hash_files(&shared->bytes);
	shared->calls = sim.calls;
	shared->fallible = sim.fallible;
	shared->violations = sim.violations;
	if (sim.verbose)
		printf("# %llu bytes allocated, %llu files opened, %llu samples\n",
		       (unsigned long long)sim.allocated, (unsigned long long)sim.opened,
		       (unsigned long long)sim_result.stats.samples);
	snprintf(shared->fault, sizeof(shared->fault), "%s", sim.fault_name ? sim.fault_name : "");
	shared->fault_errno = sim.fault_errno;
	fflush(stdout);
	/* With --coverage: _exit(2) writes no counts. */
	if (__gcov_dump)
		__gcov_dump();
	_exit(0);
}

static void on_kill(void)
{
	finish(true);
}

/* Milliseconds before the recorder begins: tasks run already. */
static void __attribute__((noreturn)) run(const struct sim_scenario *scenario, uint64_t seed,
					  uint64_t fault, uint64_t kill)
{
	struct sim_scenario made;
	sim_seed(seed);
	if (!strcmp(scenario->name, "random")) {
		made = sim_scenario_random();
		scenario = &made;
	}
	current = scenario;
	sim.now_ns = 100000 * SIM_MS;
	unsigned int limit_s = scenario->limit_s ?: LIMIT_S;
	sim.limit_ns = sim.now_ns + limit_s * 1000 * SIM_MS;
	sim.fault_at = fault;
	sim.kill_at = kill;
	sim.on_kill = on_kill;
	sim.stall_ns = scenario->stall_ms * SIM_MS;
	sim.user = scenario->user;
	if (!sim.user.uid)
		sim.user.paranoid = -1;
	sim.pauses = scenario->pauses;
	sim_disk = scenario->disk;
	sim_threads_begin();
	sim_files_begin();
	sim_tasks_begin(scenario->cpus, &scenario->workload);
	sim_images_begin();
	if (scenario->target != SIM_COMMAND)
		sim_workload_begin();
	sim_advance(sim.now_ns + 20 * SIM_MS);
	alarm(limit_s / LIMIT_S * REAL_LIMIT_S);
	sim_session(scenario);
	finish(false);
	abort();
}

/* Returns whether no rule was broken. */
static bool run_apart(const struct arguments *arguments, const struct sim_scenario *scenario,
		      uint64_t seed, uint64_t fault, uint64_t kill)
{
	int status = 0;
	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid_t pid = fork();
	if (!pid)
		run(scenario, seed, fault, kill);
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("simulate");
		exit(2);
	}
	bool good = status == 0 && !shared->violations;
	if (arguments->hash)
		printf("%s %llu %016llx %llu\n", scenario->name, (unsigned long long)seed,
		       (unsigned long long)shared->hash, (unsigned long long)shared->bytes);
	if (good)
		return true;
	printf("not ok - %s --seed %llu", scenario->name, (unsigned long long)seed);
	if (fault)
		printf(" --fault %llu (%s: %s)", (unsigned long long)fault, shared->fault,
		       strerror(shared->fault_errno));
	if (kill)
		printf(" --kill %llu", (unsigned long long)kill);
	if (WIFSIGNALED(status))
		printf(": signal %d", WTERMSIG(status));
	putchar('\n');
	return false;
}

static bool run_seed(const struct arguments *arguments, const struct sim_scenario *scenario,
		     uint64_t seed, uint64_t *runs)
{
	bool good = run_apart(arguments, scenario, seed, arguments->fault, arguments->kill);
	uint64_t fallible = shared->fallible, calls = shared->calls;
	++*runs;
	for (uint64_t i = 1; arguments->fault_step && i <= fallible; i += arguments->fault_step, ++*runs)
		good &= run_apart(arguments, scenario, seed, i, 0);
	for (uint64_t i = 1; arguments->kill_step && i <= calls; i += arguments->kill_step, ++*runs)
		good &= run_apart(arguments, scenario, seed, 0, i);
	return good;
}

/* "N", "all" or "every" with the number after it. Returns how many arguments it used. */
static int parse_step(char **argv, uint64_t *number, uint64_t *step)
{
	if (!strcmp(argv[0], "every") && argv[1]) {
		*step = strtoull(argv[1], NULL, 10);
		return 2;
	}
	if (!strcmp(argv[0], "all"))
		*step = 1;
	else
		*number = strtoull(argv[0], NULL, 10);
	return 1;
}

static bool parse(struct arguments *arguments, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i];
		bool more = i + 1 < argc;
		if (!strcmp(name, "--steady")) {
			sim.steady = true;
		} else if (!strcmp(name, "--hash")) {
			arguments->hash = true;
		} else if (!strcmp(name, "-v")) {
			sim.verbose++;
		} else if (!strcmp(name, "-s") && more) {
			arguments->scenario = argv[++i];
		} else if (!strcmp(name, "--ranges") && more) {
			sim.ranges = (unsigned int)strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(name, "--keep") && more) {
			keep_folder = argv[++i];
		} else if (!strcmp(name, "--seed") && more) {
			char *end;
			arguments->first = arguments->last = strtoull(argv[++i], &end, 10);
			if (*end == '-')
				arguments->last = strtoull(end + 1, NULL, 10);
		} else if (!strcmp(name, "--fault") && more) {
			i += parse_step(argv + i + 1, &arguments->fault, &arguments->fault_step);
		} else if (!strcmp(name, "--kill") && more) {
			i += parse_step(argv + i + 1, &arguments->kill, &arguments->kill_step);
		} else {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.first = 1, .last = 1};
	uint64_t runs = 0, bad = 0;
	sim.ranges = 1;
	if (!parse(&arguments, argc, argv)) {
		fputs("usage: simulate [-s SCENARIO] [--seed A[-B]] [--fault N|all|every K] "
		      "[--kill N|all|every K] [--hash] [-v] [--keep DIR] [--steady] "
		      "[--ranges N]\n", stderr);
		return 2;
	}
#ifndef __x86_64__
	puts("the simulated programs are x86-64's");
	return 77;
#endif
	clearenv();
	setenv("TZ", "UTC0", 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sim_scenario_count; i++) {
		const struct sim_scenario *scenario = &sim_scenarios[i];
		if (arguments.scenario ? strcmp(arguments.scenario, scenario->name) != 0
				       : scenario->limit_s != 0)
			continue;
		for (uint64_t seed = arguments.first; seed <= arguments.last; seed++)
			bad += !run_seed(&arguments, scenario, seed, &runs);
	}
	const struct sim_scenario random = {.name = "random"};
	for (uint64_t seed = arguments.first; seed <= arguments.last; seed++)
		if (arguments.scenario && !strcmp(arguments.scenario, random.name))
			bad += !run_seed(&arguments, &random, seed, &runs);
	if (!arguments.hash)
		printf("# %llu runs, %llu of them broke a rule\n", (unsigned long long)runs,
		       (unsigned long long)bad);
	return bad ? 1 : runs ? 0 : 2;
}
