/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump FOLDER [SECONDS [clock]]: makes code at run time, tells of it in FOLDER/jit-PID.dump,
 * and runs it, SECONDS (0.4) of CPU time in each of five phases:
 *
 *	alpha  at the first place; its lines are alpha.js:10 (the loop) and :11 (the end)
 *	beta   at the second place, which the process has no lines of
 *	gamma  at the first place, over alpha: the same bytes, another name
 *	beta   moved to the third place (CODE_MOVE)
 *	delta  at the first place once more, behind a change of the pages' rights and back
 *
 * A line for each says its name, its address, and its begin and end in ns of CLOCK_MONOTONIC.
 * With "clock", times of the dump are some hours ahead: of no clock that a recording has.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "clock.h"

#if defined __x86_64__
#define MACHINE EM_X86_64
/* dec %rdi; jnz to it; ret */
static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#define END_OFFSET 5
#elif defined __aarch64__
#define MACHINE EM_AARCH64
/* subs x0, x0, #1; b.ne to it; ret */
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#define END_OFFSET 8
#endif

#ifdef MACHINE
#define PAGE 65536
#define AHEAD_NS 12345678900000

struct record {
	uint32_t id, size;
	uint64_t time;
};

struct header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct load {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct line {
	uint64_t address;
	uint32_t line, discriminator;
};

struct told {
	struct record record;
	uint64_t address, count;
};

struct unwinding {
	struct record record;
	uint64_t size, header_size, mapped_size;
	unsigned char bytes[24];
};

static FILE *dump;
static char *place;
static uint64_t ahead_ns, index_of_next;

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC) + ahead_ns;
}

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, dump) != size)
		exit(1);
}

static void begin(const char *folder)
{
	char path[4096];
	const struct header header = {
		.magic = 0x4a695444,
		.version = 1,
		.size = sizeof(header),
		.machine = MACHINE,
		.pid = (uint32_t)getpid(),
		.time = now(),
	};
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(path, "w+");
	if (!dump ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	put(&header, sizeof(header));
	place = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		exit(1);
}

static void tell_lines(const char *at)
{
	static const char file[] = "/src/alpha.js", same[] = "\xff";
	const struct told told = {
		.record = {2,
			   sizeof(told) + 2 * sizeof(struct line) + sizeof(file) + sizeof(same),
			   now()},
		.address = (uintptr_t)at,
		.count = 2,
	};
	const struct line lines[] = {{(uintptr_t)at, 10, 0}, {(uintptr_t)at + END_OFFSET, 11, 0}};
	put(&told, sizeof(told));
	put(&lines[0], sizeof(lines[0]));
	put(file, sizeof(file));
	put(&lines[1], sizeof(lines[1]));
	put(same, sizeof(same));
}

/* Writes V8's record for code without unwind information. */
static void tell_unwinding(void)
{
	const struct unwinding unwinding = {
		.record = {4, sizeof(unwinding), now()},
		.size = 20,
		.header_size = 20,
	};
	put(&unwinding, sizeof(unwinding));
}

static void load(const char *name, char *at)
{
	const struct load load = {
		.record = {0, (uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(code)), now()},
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.vma = (uintptr_t)at,
		.address = (uintptr_t)at,
		.size = sizeof(code),
		.index = index_of_next++,
	};
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, at + sizeof(code));
	put(&load, sizeof(load));
	put(name, strlen(name) + 1);
	put(code, sizeof(code));
}

static void move(uint64_t index, const char *from, char *to)
{
	const struct move move = {
		.record = {1, sizeof(move), now()},
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.vma = (uintptr_t)to,
		.from = (uintptr_t)from,
		.to = (uintptr_t)to,
		.size = sizeof(code),
		.index = index,
	};
	memcpy(to, code, sizeof(code));
	__builtin___clear_cache(to, to + sizeof(code));
	put(&move, sizeof(move));
}

static void run(const char *name, char *at, double seconds)
{
	void (*function)(uint64_t turns) = (void (*)(uint64_t))at;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
	fflush(dump);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		function(500000);
	printf("%s %lx %llu %llu\n", name, (unsigned long)at, (unsigned long long)begin_ns,
	       (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 0.4;
	if (argc < 2)
		return 2;
	if (argc > 3)
		ahead_ns = AHEAD_NS;
	begin(argv[1]);
	tell_lines(place);
	load("alpha", place);
	run("alpha", place, seconds);
	tell_unwinding();
	load("beta", place + PAGE);
	run("beta", place + PAGE, seconds);
	load("gamma", place);
	run("gamma", place, seconds);
	move(1, place + PAGE, place + 2 * PAGE);
	run("beta", place + 2 * PAGE, seconds);
	/* The kernel tells of the whole mapping anew. */
	load("delta", place);
	mprotect(place, 3 * PAGE, PROT_READ | PROT_WRITE);
	mprotect(place, 3 * PAGE, PROT_READ | PROT_EXEC);
	run("delta", place, seconds);
	put(&(struct record){3, sizeof(struct record), now()}, sizeof(struct record));
	return fclose(dump) != 0;
}
#else
int main(void)
{
	return 77; /* no code for this machine */
}
#endif
