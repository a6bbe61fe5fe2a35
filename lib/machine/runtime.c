/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/runtime.h"

#include <stdlib.h>
#include <string.h>

#define NODE_SYMBOLS                                                                               \
	"record with --runtime-names, or start node with --perf-basic-prof "                       \
	"--interpreted-frames-native-stack"
#define NODE_STACKS "start node with --interpreted-frames-native-stack"
#define PYTHON_SYMBOLS                                                                             \
	"record with --runtime-names, or set PYTHONPERFSUPPORT=1 in the program's environment"
#define PHP_SYMBOLS "start php with -d opcache.jit_debug=0x10"
/* This option writes a perf map, and keeps frame pointers. */
#define RUBY_BOTH "start ruby with --yjit --yjit-perf (Ruby 3.3 or later)"
#define PHP_STACKS "start php with -d opcache.jit=disable: its JIT keeps no frame pointers"
#define LUA_STACKS "profile it with luajit -jp: its code keeps no frame pointers"
#define PYTHON_STACKS "start python3 with -X perf_jit, and record with --unwind later"
#define LUA_SYMBOLS                                                                                \
	"profile it with luajit -jp, or build LuaJIT with XCFLAGS=-DLUAJIT_USE_PERFTOOLS"

/* The first row that fits decides. */
static const struct runtime runtimes[] = {
	{"libjvm.so", "Java",
	 "record with --runtime-names, or run jcmd PID Compiler.perfmap before it ends (JDK 17 or later)",
	 "record with --runtime-names, or start Java with -XX:+PreserveFramePointer"},
	{"node", "Node.js", NODE_SYMBOLS, NODE_STACKS},
	{"libnode.so", "Node.js", NODE_SYMBOLS, NODE_STACKS},
	{"libcoreclr.so", ".NET",
	 "record with --runtime-names, or set DOTNET_PerfMapEnabled=1 in the program's environment", NULL},
	{"luajit", "Lua", LUA_SYMBOLS, LUA_STACKS},
	{"libluajit-", "Lua", LUA_SYMBOLS, LUA_STACKS},
	{"php", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"php-fpm", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"libphp", "PHP", PHP_SYMBOLS, PHP_STACKS},
	{"ruby", "Ruby", RUBY_BOTH, RUBY_BOTH},
	{"libruby-", "Ruby", RUBY_BOTH, RUBY_BOTH},
	{"beam.smp", "Erlang", "start erl with +JPperf true", NULL},
	{"libpython3.", "Python", PYTHON_SYMBOLS, PYTHON_STACKS, 13},
	{"python3.", "Python", PYTHON_SYMBOLS, PYTHON_STACKS, 13},
	{"libpython3.", "Python", PYTHON_SYMBOLS, NULL, 12},
	{"python3.", "Python", PYTHON_SYMBOLS, NULL, 12},
	{"libpython3.", "Python", NULL, NULL, 1},
	{"python3.", "Python", NULL, NULL, 1},
	{"python3", "Python", PYTHON_SYMBOLS " (Python 3.12 or later)",
	 PYTHON_STACKS " (Python 3.13 or later)"},
};

uint8_t runtime_number(const char *name)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
		size_t size = strlen(runtimes[i].dso);
		/* A version may follow, but no longer name. */
		if (!strncmp(name, runtimes[i].dso, size) &&
		    (!runtimes[i].minor || strtoul(name + size, NULL, 10) >= runtimes[i].minor) &&
		    (!name[size] || !strchr("abcdefghijklmnopqrstuvwxyz_-", name[size])))
			return (uint8_t)(i + 1);
	}
	return 0;
}

const struct runtime *runtime_get(uint32_t number)
{
	return number ? &runtimes[number - 1] : NULL;
}
