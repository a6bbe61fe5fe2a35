/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmap MODE [SECONDS]: makes code at run time, names it in /tmp/perf-PID.map, and runs it for
 * SECONDS (0.4) of CPU time in each phase:
 *
 *	reuse    alpha, then beta in its place: the same bytes, another name
 *	fork     the parent makes alpha; its child makes beta after it, in the same memory, and
 *		 names that in a map of its own; the child runs both
 *	forked   the parent makes alpha; its child runs it
 *	cut      alpha, in a line without a newline
 *	removed  alpha; the map is removed at the end
 *	late     alpha; the map is written at the end
 *
 * It prints the paths of the maps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"

#if defined __x86_64__
/* push %rbp; mov %rsp,%rbp; dec %rdi; jnz to it; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d,
				     0xc3};
#elif defined __aarch64__
/* subs x0, x0, #1; b.ne to it; ret */
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#else
static const unsigned char code[1];
#define NO_CODE
#endif

#define DISTANCE 4096

static char *place;
static double seconds = 0.4;

static const char *map_path(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	return path;
}

static void name_code(const char *at, const char *line_end, const char *name)
{
	FILE *map = fopen(map_path(), "a");
	if (!map)
		exit(1);
	fprintf(map, "%lx %zx %s%s", (unsigned long)at, sizeof(code), name, line_end);
	fclose(map);
	puts(map_path());
	fflush(stdout);
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void run(const char *at)
{
	void (*work)(unsigned long) = (void (*)(unsigned long))(unsigned long)at;
	for (uint64_t end = cpu_ns() + (uint64_t)(seconds * 1e9); cpu_ns() < end;)
		work(1000000);
}

static void run_child(const char *mode)
{
	if (!strcmp(mode, "fork")) {
		memcpy(place + DISTANCE, code, sizeof(code));
		__builtin___clear_cache(place + DISTANCE, place + DISTANCE + sizeof(code));
		name_code(place + DISTANCE, "\n", "beta");
		run(place + DISTANCE);
	}
	run(place);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (argc > 2)
		seconds = strtod(argv[2], NULL);
#ifdef NO_CODE
	return 1;
#endif
	place = mmap(NULL, 16 * DISTANCE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return 1;
	memcpy(place, code, sizeof(code));
	__builtin___clear_cache(place, place + sizeof(code));
	if (strcmp(mode, "late") != 0)
		name_code(place, strcmp(mode, "cut") ? "\n" : "", "alpha");
	if (!strncmp(mode, "fork", 4)) {
		if (!fork())
			run_child(mode);
		wait(NULL);
		return 0;
	}
	run(place);
	if (!strcmp(mode, "reuse")) {
		name_code(place, "\n", "beta");
		run(place);
	}
	if (!strcmp(mode, "late"))
		name_code(place, "\n", "alpha");
	if (!strcmp(mode, "removed"))
		unlink(map_path());
	return 0;
}
