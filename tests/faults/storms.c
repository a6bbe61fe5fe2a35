/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storms STORM [NUMBER]...: a program of an ordinary user that costs a recorder of all CPUs
 * time, memory or files. It runs in a directory that the user may write, for 60 seconds or until it
 * is killed.
 *
 *	names        maps a file as code, under a new name of 200 bytes each time
 *	memfd        maps a new memfd as code, with a new name each time
 *	comm         changes its own name
 *	anonymous    makes parts of executable anonymous memory unreadable
 *	mappings N   sleeps with 60,000 mappings of code, in N processes
 *	threads      starts threads, which end at once
 *	forks        starts processes, which end at once
 *	maps MB N    runs generated code in N processes; their perf maps are links to one of MB
 *	             megabytes
 *	jitdump      runs generated code, and appends to its jitdump
 *	busy         runs a loop
 *	python       the same; under the name python3.11, it has the symbols of CPython 3.11, and
 *	             random pointers in place of an interpreter
 *
 * storms watch SECONDS COMMAND [ARG]...: runs the command. Prints a line "recorder KIB FILES
 * THREADS MS CPU_MS STATUS" for it, and a line "child ..." for each process of the same program
 * that it leaves behind: most anonymous memory, most open files that are no events, most threads,
 * time of life, CPU time, wait status. A process that lives longer than SECONDS is killed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/workload/clock.h"

#define SECONDS 60
#define MAPPINGS 60000
#define WATCHED_MAX 64
#define POLL_NS 10000000

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "storms: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void *map(size_t size, int protection, int fd)
{
	void *memory =
		mmap(NULL, size, protection, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

/* -- Storms --------------------------------------------------------------------------- */

static void make_name(char *name, unsigned long number, size_t length)
{
	memset(name, 'a', length);
	name[length] = 0;
	name[snprintf(name, length, "%lx-%d", number, getpid())] = '-';
}

static void names(void)
{
	char old[256], new[256];
	make_name(old, 0, 200);
	int fd = open(old, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || ftruncate(fd, 8192))
		fail(old);
	for (unsigned long i = 1;; i++) {
		make_name(new, i, 200);
		if (rename(old, new))
			fail(new);
		memcpy(old, new, sizeof(old));
		munmap(map(8192, PROT_READ | PROT_EXEC, fd), 8192);
	}
}

static void memfd(void)
{
	char name[256];
	for (unsigned long i = 0;; i++) {
		make_name(name, i, 200);
		int fd = memfd_create(name, MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, 4096))
			fail("memfd_create");
		munmap(map(4096, PROT_READ | PROT_EXEC, fd), 4096);
		close(fd);
	}
}

static void comm(void)
{
	char name[16];
	for (unsigned long i = 0;; i++) {
		snprintf(name, sizeof(name), "%lx", i);
		prctl(PR_SET_NAME, name);
	}
}

static void anonymous(void)
{
	for (;;) {
		char *memory[2000];
		for (size_t i = 0; i < 2000; i++) {
			memory[i] = map(8192, PROT_READ | PROT_EXEC, -1);
			mprotect(memory[i], 4096, PROT_READ);
		}
		for (size_t i = 0; i < 2000; i++)
			munmap(memory[i], 8192);
	}
}

static void mappings(int processes)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	/* Neighbours with other offsets are not merged. */
	for (int i = 0; i < MAPPINGS; i++)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (i & 1) * 4096) ==
		    MAP_FAILED)
			break;
	for (int i = 0; i < processes; i++)
		if (!fork())
			pause();
	puts("ready");
	fflush(stdout);
	pause();
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void threads(void)
{
	for (pthread_t thread;;)
		if (!pthread_create(&thread, NULL, end_at_once, NULL))
			pthread_join(thread, NULL);
}

static void forks(void)
{
	for (;;) {
		pid_t pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* Returns generated code: a function that counts to 2^28 on x86-64, and returns elsewhere. */
static void (*generated(void))(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = {0x48, 0x31, 0xc0, 0x48, 0xff, 0xc0, 0x48, 0x3d,
					     0,	   0,	 0,    0x10, 0x75, 0xf5, 0xc3};
#else
	static const unsigned char code[] = {0};
#endif
	void *memory = map(1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, -1);
	void (*function)(void);
	memcpy(memory, code, sizeof(code));
	memcpy(&function, &memory, sizeof(function));
	return function;
}

static void maps(unsigned long megabytes, int processes)
{
	void (*function)(void) = generated();
	FILE *file = fopen("one.map", "w");
	if (!file)
		fail("one.map");
	uintptr_t start = (uintptr_t)function;
	for (unsigned long i = 0; i < megabytes * 1000000 / 34; i++)
		fprintf(file, "%lx %lx f%015lu\n", (unsigned long)(start + i % 4096),
			0x1000 + i % 97, i);
	fclose(file);
	for (int i = 0; i < processes; i++) {
		char path[64];
		if (fork())
			continue;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		if (link("one.map", path))
			fail(path);
		for (;;)
			function();
	}
	puts("ready");
	fflush(stdout);
	pause();
}

static void jitdump(void)
{
	struct {
		uint32_t magic, version, total, machine, pad, pid;
		uint64_t time, flags;
	} header = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), clock_ns(CLOCK_MONOTONIC), 0};
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, address, code_size, index;
		char name[16], code[16];
	} load = {.id = 0,
		  .size = sizeof(load),
		  .pid = header.pid,
		  .tid = header.pid,
		  .code_size = 16};
	char path[64];
	void (*function)(void) = generated();
	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	FILE *file = fopen(path, "w+");
	if (!file || fwrite(&header, sizeof(header), 1, file) != 1 || fflush(file))
		fail(path);
	map(4096, PROT_READ | PROT_EXEC, fileno(file));
	/* A record of code names the function of a byte; 60 MB are less than what a reader permits.
	 */
	for (uint64_t i = 0;; i++) {
		load.vma = load.address = (uintptr_t)function + i % 4096;
		load.time = clock_ns(CLOCK_MONOTONIC);
		load.index = i;
		snprintf(load.name, sizeof(load.name), "f%lu", (unsigned long)i);
		if (i < 60000000 / sizeof(load))
			fwrite(&load, sizeof(load), 1, file);
		if (i % 100000 == 0)
			function();
	}
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void busy(void)
{
	for (volatile uint64_t count = 0;; count++)
		;
}

/* Symbols by which a profiler finds an interpreter. */
uint64_t _PyRuntime[65536], PyCode_Type[64];
unsigned long Py_Version = 0x030b07f0;
unsigned long _PyEval_EvalFrameDefault(void);

unsigned long __attribute__((noinline)) _PyEval_EvalFrameDefault(void)
{
	busy();
	return Py_Version;
}

static void python(void)
{
	static uint64_t heap[65536];
	for (size_t i = 0; i < 65536; i++) {
		_PyRuntime[i] = (uintptr_t)&heap[random_number() % 65000];
		heap[i] = (uintptr_t)&heap[random_number() % 65000];
	}
	_PyEval_EvalFrameDefault();
}

/* -- Watch ---------------------------------------------------------------------------- */

struct watched {
	pid_t pid;
	uint64_t begin_ns;
	long kib, files, threads;
};

static long status_value(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	return line ? atol(line + strlen(key)) : 0;
}

static long count_files(pid_t pid)
{
	char path[64], target[64];
	long count = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *directory = opendir(path);
	if (!directory)
		return 0;
	for (struct dirent *entry; (entry = readdir(directory));) {
		ssize_t size =
			readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = 0;
		count += size > 0 && !strstr(target, "[perf_event]");
	}
	closedir(directory);
	return count;
}

static void look(struct watched *of)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/status", of->pid);
	FILE *file = fopen(path, "r");
	if (!file)
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	long kib = status_value(text, "RssAnon:"), count = status_value(text, "Threads:");
	long files = count_files(of->pid);
	of->kib = kib > of->kib ? kib : of->kib;
	of->threads = count > of->threads ? count : of->threads;
	of->files = files > of->files ? files : of->files;
}

/* Adds the children of a process that run the same program as the first one, which is the recorder.
 */
static void add_children(pid_t parent, const char *program, struct watched *all, size_t *count)
{
	char path[64], target[4096];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	FILE *file = fopen(path, "r");
	if (!file)
		return;
	for (int pid; fscanf(file, "%d", &pid) == 1;) {
		bool known = false;
		snprintf(path, sizeof(path), "/proc/%d/exe", pid);
		ssize_t size = readlink(path, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = 0;
		for (size_t i = 0; i < *count; i++)
			known |= all[i].pid == pid;
		if (!known && !strcmp(target, program) && *count < WATCHED_MAX)
			all[(*count)++] = (struct watched){
				.pid = pid, .begin_ns = clock_ns(CLOCK_MONOTONIC)};
	}
	fclose(file);
}

static unsigned long milliseconds(const struct timeval *time)
{
	return (unsigned long)time->tv_sec * 1000 + (unsigned long)time->tv_usec / 1000;
}

static int watch(unsigned long seconds, char **command)
{
	struct watched all[WATCHED_MAX] = {0};
	char program[4096] = "";
	size_t count = 1;
	int result = 0, status;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	all[0] = (struct watched){.pid = fork(), .begin_ns = clock_ns(CLOCK_MONOTONIC)};
	if (!all[0].pid) {
		execvp(command[0], command);
		fail(command[0]);
	}
	for (;;) {
		const struct timespec pause = {.tv_nsec = POLL_NS};
		char path[64];
		snprintf(path, sizeof(path), "/proc/%d/exe", all[0].pid);
		ssize_t size = readlink(path, program, sizeof(program) - 1);
		if (size > 0)
			program[size] = 0;
		for (size_t i = 0; i < count; i++) {
			look(&all[i]);
			uint64_t lived_ns = clock_ns(CLOCK_MONOTONIC) - all[i].begin_ns;
			if (all[i].pid > 0 && lived_ns > seconds * 1000000000)
				kill(all[i].pid, SIGKILL);
		}
		add_children(all[0].pid, program, all, &count);
		struct rusage usage;
		pid_t pid = wait4(-1, &status, WNOHANG, &usage);
		if (pid < 0)
			return result;
		for (size_t i = 0; i < count && pid > 0; i++) {
			if (all[i].pid != pid)
				continue;
			printf("%s %ld %ld %ld %lu %lu %d\n", i ? "child" : "recorder", all[i].kib,
			       all[i].files, all[i].threads,
			       (unsigned long)(clock_ns(CLOCK_MONOTONIC) - all[i].begin_ns) /
				       1000000,
			       milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime),
			       status);
			fflush(stdout);
			all[i].pid = -1;
			result = i		     ? result
				 : WIFEXITED(status) ? WEXITSTATUS(status)
						     : 128 + WTERMSIG(status);
		}
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(void);
	} storms[] = {
		{"names", names},	  {"memfd", memfd},	{"comm", comm},
		{"anonymous", anonymous}, {"threads", threads}, {"forks", forks},
		{"jitdump", jitdump},	  {"busy", busy},	{"python", python},
	};
	const char *name = argc > 1 ? argv[1] : "";
	if (!strcmp(name, "watch") && argc > 3)
		return watch(strtoul(argv[2], NULL, 10), argv + 3);
	setpgid(0, 0);
	alarm(SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(name, "mappings") && argc > 2)
		mappings(atoi(argv[2]));
	if (!strcmp(name, "maps") && argc > 3)
		maps(strtoul(argv[2], NULL, 10), atoi(argv[3]));
	for (size_t i = 0; i < sizeof(storms) / sizeof(*storms); i++)
		if (!strcmp(name, storms[i].name))
			storms[i].run();
	fprintf(stderr, "storms: unknown storm: %s\n", name);
	return 99;
}
