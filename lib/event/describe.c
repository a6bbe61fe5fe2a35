/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/describe.h"

#include <stddef.h>
#include <string.h>

/* Descriptions after perf_event_open(2). */
static const struct {
	const char *name, *text;
} descriptions[] = {
	{"cycles", "CPU cycles; affected by frequency changes"},
	{"instructions", "retired instructions"},
	{"cache-references", "cache accesses, usually of the last level"},
	{"cache-misses", "cache misses, usually of the last level"},
	{"branches", "retired branches"},
	{"branch-misses", "mispredicted branches"},
	{"bus-cycles", "bus cycles; may differ from CPU cycles"},
	{"stalled-cycles-frontend", "cycles without an issued instruction"},
	{"stalled-cycles-backend", "cycles without a retired instruction"},
	{"ref-cycles", "cycles at constant frequency"},
	{"cpu-clock", "CPU time in ns, by a high-resolution timer"},
	{"task-clock", "time that a task ran in ns"},
	{"page-faults", "page faults, minor and major"},
	{"context-switches", "context switches"},
	{"cpu-migrations", "migrations of a task to another CPU"},
	{"minor-faults", "page faults without disk access"},
	{"major-faults", "page faults with disk access"},
	{"alignment-faults", "unaligned accesses handled by the kernel (not on x86)"},
	{"emulation-faults", "instructions emulated by the kernel"},
	{"dummy", "counts nothing; for side-band records"},
	{"bpf-output", "output of BPF programs"},
	{"cgroup-switches", "context switches to a task of another control group"},
	{"duration_time", "wall clock time, in ns"},
	{"user_time", "time in user mode of the command, in ns"},
	{"system_time", "time in the kernel of the command, in ns"},
};

const char *event_description(const char *name)
{
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(*descriptions); i++)
		if (!strcmp(descriptions[i].name, name))
			return descriptions[i].text;
	return NULL;
}
