/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/runtime_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "diag.h"

/*
 * Ruby, PHP and LuaJIT read no variable for this. Java before 17 has no perf maps: it ignores the options
 * that it does not know, but frame pointers help there, too.
 */
static const struct variable {
	const char *name, *value;
	bool has_options; /* the value is a list of options, which follow the user's */
} variables[] = {
	{"NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", true},
	{"JAVA_TOOL_OPTIONS",
	 "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit", true},
	{"PYTHONPERFSUPPORT", "1", false},
	{"DOTNET_PerfMapEnabled", "1", false},
};

#define COUNT (sizeof(variables) / sizeof(*variables))

static bool set(const struct variable *variable, bool verbose)
{
	const char *known = variable->has_options ? getenv(variable->name) : NULL;
	char *value = NULL;
	if (asprintf(&value, "%s%s%s", known ?: "", known && *known ? " " : "", variable->value) < 0) {
		diag_say("out of memory");
		return false;
	}
	bool done = setenv(variable->name, value, true) == 0;
	if (!done)
		diag_say("cannot set %s: %s", variable->name, strerror(errno));
	else if (verbose)
		diag_say("set %s=%s", variable->name, value);
	free(value);
	return done;
}

/*
 * Returns whether other users' links are followed in /tmp, where runtimes write files with names
 * that can be guessed. They would make root overwrite any file. No runtime has another directory.
 */
static bool follows_links(void)
{
	static const char *const settings[] = {"symlinks", "hardlinks"};
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/sys/fs/protected_%s", settings[i]);
		FILE *file = fopen(path, "r");
		bool follows = file && fgetc(file) == '0';
		if (file)
			fclose(file);
		if (follows)
			return true;
	}
	return false;
}

bool runtime_names_set(bool quiet, bool verbose)
{
	if (!geteuid() && follows_links()) {
		diag_say("--runtime-names: other users' links in /tmp could make runtimes of root "
			 "overwrite any file");
		diag_more("sudo sysctl fs.protected_symlinks=1 fs.protected_hardlinks=1");
		return false;
	}
	char names[256] = "";
	for (size_t i = 0; i < COUNT; i++) {
		if (!set(&variables[i], verbose))
			return false;
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", variables[i].name);
	}
	if (!quiet && !verbose)
		diag_say("set %s", names);
	return true;
}
