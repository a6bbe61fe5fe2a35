/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "calls.h"

struct sim sim;

void sim_violation(const char *format, ...)
{
	va_list arguments;
	if (++sim.violations > 10)
		return;
	va_start(arguments, format);
	fputs("# ", stdout);
	vprintf(format, arguments);
	va_end(arguments);
	printf(" (call %llu, %llu.%06llu ms)\n", (unsigned long long)sim.calls,
	       (unsigned long long)(sim.now_ns / SIM_MS), (unsigned long long)(sim.now_ns % SIM_MS));
}

void sim_fatal(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("# ", stdout);
	vprintf(format, arguments);
	va_end(arguments);
	printf(" (call %llu, %llu ms)\n", (unsigned long long)sim.calls,
	       (unsigned long long)(sim.now_ns / SIM_MS));
	fflush(stdout);
	_exit(3);
}

int sim_enter(const char *name, const int *errnos)
{
	sim.calls++;
	sim_note_progress();
	if (!sim.steady) {
		sim_advance(sim.now_ns + 100 + sim_random(SIM_SCHEDULE, 1500));
		sim_yield();
	}
	/* Now and then a thread is not run for long, whatever it holds. */
	if (sim.stall_ns && !sim.steady && !sim_random(SIM_SCHEDULE, 3000))
		sim_sleep(sim_random(SIM_SCHEDULE, sim.stall_ns));
	if (sim.kill_at && sim.calls >= sim.kill_at) {
		sim.inside = false;
		sim.on_kill();
	}
	if (!errnos || ++sim.fallible != sim.fault_at)
		return 0;
	unsigned int count = 0;
	while (errnos[count])
		count++;
	sim.fault_name = name;
	sim.fault_errno = errnos[sim_random(SIM_FAULTS, count)];
	if (sim.verbose > 1)
		printf("# %.3f ms: %s fails\n", (double)sim.now_ns / (double)SIM_MS, name);
	return sim.fault_errno;
}

/* The simulation's own malloc() is __real_malloc() (local.mk). */
void *__wrap_malloc(size_t size)
{
	sim.allocated += sim.inside ? size : 0;
	return malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	sim.allocated += sim.inside ? count * size : 0;
	return calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	sim.allocated += sim.inside ? size : 0;
	return realloc(block, size);
}
