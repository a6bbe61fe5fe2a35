/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "findings/runtimes.h"

#include <string.h>

static const struct runtime runtimes[] = {
	{"libjvm.so", "Java",
	 "start Java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	 "start Java with -XX:+PreserveFramePointer"},
	{"node", "Node.js", "start node with --perf-basic-prof --interpreted-frames-native-stack",
	 "start node with --interpreted-frames-native-stack"},
	{"libnode.so", "Node.js", "start node with --perf-basic-prof --interpreted-frames-native-stack",
	 "start node with --interpreted-frames-native-stack"},
	{"libcoreclr.so", ".NET", "set DOTNET_PerfMapEnabled=1 in the environment of the program", NULL},
	{"libpython3.", "Python", "set PYTHONPERFSUPPORT=1 in the environment of the program", NULL},
	{"python3", "Python", "set PYTHONPERFSUPPORT=1 in the environment of the program", NULL},
};

const struct runtime *runtime_find(const struct run *run)
{
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		const char *name = machine_module(run->machine, i)->name;
		for (size_t j = 0; j < sizeof(runtimes) / sizeof(*runtimes); j++) {
			size_t size = strlen(runtimes[j].dso);
			if (!strncmp(name, runtimes[j].dso, size) && !strchr("abcdefghijklmnopqrstuvwxyz_-",
									     name[size] ?: '.'))
				return &runtimes[j];
		}
	}
	return NULL;
}

bool runtime_is_go(const struct run *run)
{
	static const char outermost[] = "runtime.goexit";
	for (size_t i = 0; i < run->names.frames.count; i++) {
		const struct symbol *symbol = run->names.frames.items[i].symbol;
		if (symbol && !strncmp(symbol->raw_name ?: symbol->name, outermost, strlen(outermost)))
			return true;
	}
	return false;
}

bool runtime_may_own(const struct module *module)
{
	return module->kind == MODULE_ANONYMOUS ||
	       (module->kind == MODULE_FILE && !strncmp(module->path, "/memfd:", strlen("/memfd:")));
}
