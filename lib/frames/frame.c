/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/frame.h"

#include "base/vec.h"

const struct symbol frame_kernel_rest = {
	.name = "[kernel: not sampled]",
	.raw_name = "[kernel: not sampled]",
};

bool module_is_interpreter(const struct module *module)
{
	/* Few modules are runtimes. */
	return module->runtime &&
	       (!strncmp(module->name, "python3", 7) || !strncmp(module->name, "libpython3.", 11));
}

bool frame_is_collector(const struct frame *frame)
{
	/* Names in 3.11 to 3.13, and in 3.14 */
	static const char *const functions[] = {"gc_collect_main", "_PyGC_Collect"};
	if (!frame->module || !module_is_interpreter(frame->module) ||
	    !symbol_is_named(frame->symbol))
		return false;
	const char *name = frame->symbol->raw_name ?: frame->symbol->name;
	for (size_t i = 0; i < count_of(functions); i++)
		if (name_is_function(name, functions[i]))
			return true;
	return false;
}

enum sp_level frame_level(const struct frame *frame)
{
	switch (frame->cpumode) {
	case PERF_RECORD_MISC_USER:
		return SP_LEVEL_USER;
	case PERF_RECORD_MISC_KERNEL:
		return SP_LEVEL_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return SP_LEVEL_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return SP_LEVEL_GUEST_KERNEL;
	default:
		return SP_LEVEL_HYPERVISOR;
	}
}

/*
 * Returns whether the symbol is a clone of the function, such as "f.constprop.0" of f. The
 * function's name is shown then.
 */
static bool is_clone(const struct symbol *symbol, const struct source_frame *source)
{
	size_t size = source->raw_name ? strlen(source->raw_name) : 0;
	const char *name = symbol->raw_name ?: symbol->name;
	return size && !strncmp(name, source->raw_name, size) && name[size] == '.';
}

bool frame_prefers_symbol(const struct frame *frame, const struct source_frame *source)
{
	if (!symbol_is_named(frame->symbol) || source->caller)
		return !source->name;
	return !source->name ||
	       (source->start == frame->symbol->start && !is_clone(frame->symbol, source));
}
