/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errands DIRECTORY COUNT: a storm of short programs. Copies of this one in DIRECTORY, called ant,
 * bee, cow and dog, are run in a random order, COUNT times in all, each time forked and executed
 * anew. They burn 0.05, 0.1, 0.2 and 0.4 ms of CPU time, each in a function of its own (ant_work()
 * ...), separate from the time of starting and ending them.
 *
 * At the end prints "NAME RUNS LEAST_NS MOST_NS" of each: its CPU time, as wait4 says, less what
 * was used before main() or before execve(2), somewhere within which the name changes; a line of
 * the same form for its own with what is left of its children's; and "total COUNT CPU_NS CPU_NS".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"

typedef uint64_t work(uint64_t end_ns);

#define WORK(NAME)                                                                   \
	work NAME##_work;                                                            \
	__attribute__((noinline)) uint64_t NAME##_work(uint64_t end_ns)              \
	{                                                                            \
		KEEP_FRAME();                                                        \
		uint64_t value = end_ns;                                             \
		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)                  \
			value = spin(value, 10000);                                  \
		return value;                                                        \
	}
WORK(ant)
WORK(bee)
WORK(cow)
WORK(dog)

static const struct errand {
	const char *name;
	work *work;
	uint64_t cpu_ns;
} errands[] = {
	{"ant", ant_work, 50000},
	{"bee", bee_work, 100000},
	{"cow", cow_work, 200000},
	{"dog", dog_work, 400000},
};
#define ERRANDS (sizeof(errands) / sizeof(*errands))

static struct { uint64_t runs, least_ns, most_ns; } used[ERRANDS];

/* A program's first words: what it has used until then. Inherited by each. */
#define TOLD_FD 9

static uint64_t usage_ns(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static int wait_for(pid_t pid, uint64_t *cpu_ns_ret)
{
	struct rusage usage;
	int status;
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	*cpu_ns_ret = usage_ns(&usage);
	return status;
}

static int run(const char *directory, size_t index, int told)
{
	uint64_t before_ns, main_ns, all_ns;
	pid_t pid = fork();
	if (!pid) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", directory, errands[index].name);
		before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (write(TOLD_FD, &before_ns, sizeof(before_ns)) == sizeof(before_ns))
			execl(path, errands[index].name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait_for(pid, &all_ns) ||
	    read(told, &before_ns, sizeof(before_ns)) != sizeof(before_ns) ||
	    read(told, &main_ns, sizeof(main_ns)) != sizeof(main_ns)) {
		fprintf(stderr, "errands: cannot run %s/%s\n", directory, errands[index].name);
		return -1;
	}
	used[index].runs++;
	used[index].least_ns += all_ns > main_ns ? all_ns - main_ns : 0;
	used[index].most_ns += all_ns > before_ns ? all_ns - before_ns : 0;
	return 0;
}

static void print(const char *name, uint64_t runs, uint64_t least_ns, uint64_t most_ns)
{
	printf("%s %llu %llu %llu\n", name, (unsigned long long)runs, (unsigned long long)least_ns,
	       (unsigned long long)most_ns);
}

static int run_all(const char *directory, unsigned int count)
{
	struct rusage own, children;
	uint64_t seed = 1, least_ns = 0, most_ns = 0;
	int told[2];
	if (pipe(told) || dup2(told[1], TOLD_FD) != TOLD_FD)
		return 1;
	for (unsigned int i = 0; i < count; i++) {
		seed = spin(seed, 1);
		if (run(directory, (seed >> 60) % ERRANDS, told[0]))
			return 1;
	}
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	uint64_t all_ns = usage_ns(&own) + usage_ns(&children);
	for (size_t i = 0; i < ERRANDS; i++) {
		print(errands[i].name, used[i].runs, used[i].least_ns, used[i].most_ns);
		least_ns += used[i].least_ns;
		most_ns += used[i].most_ns;
	}
	print("errands", 1, all_ns - most_ns, all_ns - least_ns);
	print("total", count, all_ns, all_ns);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t now_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	for (size_t i = 0; i < ERRANDS; i++)
		if (!strcmp(name, errands[i].name))
			return write(TOLD_FD, &now_ns, sizeof(now_ns)) != sizeof(now_ns) ||
			       errands[i].work(now_ns + errands[i].cpu_ns) == 42;
	if (argc < 3) {
		fprintf(stderr, "usage: errands DIRECTORY COUNT\n");
		return 2;
	}
	return run_all(argv[1], (unsigned int)atoi(argv[2]));
}
