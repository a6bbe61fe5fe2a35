/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_commands.h"

#include <stddef.h>
#include <string.h>

/*
 * Words of `perf --list-cmds` (7.2) without help, version and the commands that sprof has, too. If
 * sprof gets a command, remove its line. perf reads sprof's recordings: remedies may be commands of
 * perf.
 */
static const struct {
	const char *name, *remedy;
} commands[] = {
	{"annotate", "'perf annotate -i sprof.data' shows the instructions of functions"},
	{"bench", "use perf bench"},
	{"buildid-cache", "'sprof archive' stores names in the recording"},
	{"buildid-list", "'perf buildid-list -i sprof.data' lists the build-ids"},
	{"c2c", "'sprof report -s mem,symbol_daddr' shows sampled memory accesses"},
	{"check", "'sprof list --limits' shows what this machine can do"},
	{"config", "sprof has no configuration file; options and the environment set everything"},
	{"daemon", "'sprof record -a --switch-output=1h --keep 24' records continuously"},
	{"data", "'sprof report -o FILE' and 'sprof script --format json' convert recordings"},
	{"diff", "'perf diff OLD NEW' compares two recordings of sprof"},
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
	{"top", "use 'sprof record -a --duration 5', then 'sprof report'"},
	{"trace", "use perf trace or strace"},
};

const char *perf_command_remedy(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].remedy;
	return NULL;
}
