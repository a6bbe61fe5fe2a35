/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * V8 writes KIND:LEVEL NAME SOURCE, for example "JS:*fib /app/fib.js:1:13": LEVEL is ~ (interpreter),
 * ^ (Sparkplug), + (Maglev) or * (TurboFan). .NET writes "void [app] Program::Main()[Tier0]".
 */
#include "frames/generated.h"

#include <string.h>
#include "base/format.h"

#define ANONYMOUS "(anonymous)"

/* V8's kinds of code. `is_function`: the kind has no meaning for a reader of the name. */
static const struct v8_kind {
	const char *prefix;
	bool is_function;
	bool has_level; /* the prefix is V8's only if a level follows, because others may write it, too */
} v8_kinds[] = {
	{"JS:", true, false},
	{"LazyCompile:", true, false},
	{"InterpretedFunction:", true, false},
	{"Function:", true, true},
	{"Script:", false, true},
	{"Eval:", false, true},
};

/* Starts of .NET's levels, in brackets at the end of a name. */
static const char *const net_levels[] = {
	"[Tier", "[OptimizedTier", "[Optimized]", "[QuickJitted]", "[MinOptJitted]", "[PreJIT]",
	"[ReadyToRun", "[Instrumented", "[Unknown]",
};

static char *v8_function(const char *symbol, const struct v8_kind *kind)
{
	const char *name = symbol + strlen(kind->prefix);
	bool has_level = *name && strchr("~^+*", *name);
	name += has_level;
	if (*name == ':' || *name == '\0' || (kind->has_level && !has_level))
		return strdup(symbol);
	return format_text("%s%s%s", kind->is_function ? "" : kind->prefix,
			   *name == ' ' ? ANONYMOUS : "", name);
}

/* Returns the length of a name without .NET's level. */
static size_t length_without_level(const char *symbol)
{
	size_t size = strlen(symbol);
	const char *bracket = strrchr(symbol, '[');
	if (!bracket || bracket == symbol || symbol[size - 1] != ']')
		return size;
	for (size_t i = 0; i < count_of(net_levels); i++)
		if (!strncmp(bracket, net_levels[i], strlen(net_levels[i])))
			return bracket - symbol;
	return size;
}

char *generated_function(const char *symbol)
{
	for (size_t i = 0; i < count_of(v8_kinds); i++)
		if (!strncmp(symbol, v8_kinds[i].prefix, strlen(v8_kinds[i].prefix)))
			return v8_function(symbol, &v8_kinds[i]);
	return strndup(symbol, length_without_level(symbol));
}

bool generated_may_inline(const char *symbol)
{
	for (size_t i = 0; i < count_of(v8_kinds); i++) {
		size_t size = strlen(v8_kinds[i].prefix);
		if (!strncmp(symbol, v8_kinds[i].prefix, size))
			return symbol[size] == '*';
	}
	/* A method with its parameters; other kinds of V8 begin with a word and a colon. */
	size_t size = strcspn(symbol, "(:");
	return size && symbol[size] == '(' && symbol[size - 1] != ' ';
}

char *generated_unnamed(const struct machine *machine, const struct module *module)
{
	const struct runtime *runtime = machine_runtime(machine, module->pid);
	return runtime ? format_text("[%s JIT]", runtime->name) : strdup(DSO_JIT);
}
