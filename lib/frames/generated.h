/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of functions in code that a program made at run time (JIT). A JIT compiles a method again and
 * again, at other addresses and with names that state the optimization level: these are one function.
 * Code without a name is one function for each runtime, because its addresses have no meaning later.
 */
#pragma once

#include "frames/names.h"

static inline bool generated_has(const struct frame *frame)
{
	return frame->module && frame->module->is_generated;
}

/*
 * Returns the function's name for a symbol of a perf map or jitdump, without V8's and .NET's
 * optimization levels. malloc'ed; NULL when out of memory.
 */
char *generated_function(const char *symbol);

/*
 * Returns whether a symbol of a perf map or jitdump is code into which V8's optimizing compiler or
 * Java's compilers may have inlined calls.
 */
bool generated_may_inline(const char *symbol);

/*
 * Returns the name of a module's code without symbols: "[Java JIT]", or "[JIT]" if the runtime is
 * unknown. malloc'ed; NULL when out of memory.
 */
char *generated_unnamed(const struct machine *machine, const struct module *module);

/*
 * Returns the function's name for a frame in generated code, by its symbol if it has one. malloc'ed;
 * NULL when out of memory.
 */
static inline char *generated_name(const struct machine *machine, const struct frame *frame)
{
	return frame->symbol ? generated_function(frame->symbol->name) :
			       generated_unnamed(machine, frame->module);
}
