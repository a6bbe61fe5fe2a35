/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/describe.h"

#include <stddef.h>
#include <string.h>

/* By perf_event_open(2). */
static const struct {
	const char *name, *text;
} descriptions[] = {
	{"cycles", "cycles of the processor; its frequency may change"},
	{"instructions", "instructions that were retired"},
	{"cache-references", "accesses of, as a rule, the last level of cache"},
	{"cache-misses", "accesses that, as a rule, went to memory"},
	{"branches", "branches that were retired"},
	{"branch-misses", "branches that were predicted wrongly"},
	{"bus-cycles", "cycles of the bus, which may differ from the processor's"},
	{"stalled-cycles-frontend", "cycles in which no instruction was issued"},
	{"stalled-cycles-backend", "cycles in which none was retired"},
	{"ref-cycles", "cycles at a frequency that does not change"},
	{"cpu-clock", "time of a CPU, in ns, by a high-resolution timer"},
	{"task-clock", "time that a task ran, in ns"},
	{"page-faults", "page faults, minor and major"},
	{"context-switches", "times that a task gave way to another"},
	{"cpu-migrations", "times that a task went to another CPU"},
	{"minor-faults", "page faults that took no reading from disk"},
	{"major-faults", "page faults that waited for the disk"},
	{"alignment-faults", "unaligned accesses that the kernel had to handle (not on x86)"},
	{"emulation-faults", "instructions that the kernel had to emulate"},
	{"dummy", "counts nothing: for side-band records alone"},
	{"bpf-output", "what BPF programs put into the ring"},
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
