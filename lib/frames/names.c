/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An address is located, and its frame is found with the module's lock, then interned with the
 * table's. The answer's flags follow from names of functions and files, which are listed here:
 * where stacks begin, which code is the user's own, and which functions wait, collect or run
 * softirqs.
 */
#include "frames/names.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "frames/entry_points.h"
#include "frames/frame_filter.h"
#include "frames/generated.h"
#include "times/times.h"

struct sp_error *names_init(struct names *names, const struct machine *machine,
			    struct resolver *resolver, const struct source_finder *finder,
			    const struct analysis_options *options)
{
	*names = (struct names){.options = options};
	pthread_mutex_init(&names->lock, NULL);
	return locked_resolver_init(&names->locked, machine, resolver, finder);
}

void names_deinit(struct names *names)
{
	if (!names->options)
		return;
	locked_resolver_deinit(&names->locked);
	vec_deinit(&names->frames);
	index_set_deinit(&names->index_of);
	pthread_mutex_destroy(&names->lock);
}

/*
 * Returns the address to show if no function is known: the vaddr in the ELF file. If that file is
 * missing, it is the file offset, as in perf; in kernel modules it is relative to the module's
 * start. The caller holds the module's lock.
 */
static uint64_t shown_address(struct names *names, const struct location *location)
{
	const struct module *module = location->module;
	uint64_t vaddr;
	if (resolver_vaddr(names->locked.resolver, location, &vaddr))
		return vaddr;
	bool relative = module->kind == MODULE_KERNEL_MODULE || module->kind == MODULE_KERNEL_CODE;
	return relative ? location->offset - module->start : location->offset;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (**names == *name && strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool is_c_library(const char *name)
{
	static const char *const libraries[] = {"libc.so", "libc-2.", "libpthread", "ld-musl-",
						"ld-linux", "ld-2.", "libc.musl-", "libuClibc"};
	for (size_t i = 0; i < count_of(libraries); i++)
		if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

/*
 * Returns whether a stack that ends in this frame is complete, because threads begin here. Kernel
 * stacks always are: the kernel's unwinder finds their end.
 */
static bool is_outermost(const struct frame *frame)
{
	static const char *const functions[] = {
		"_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone",
		"clone3", "__clone", "__clone3", "thread_start", "_start_c", "_dl_start_user",
		"__start_context", "libc_start_main_stage2",
		"runtime.goexit.abi0", "runtime.goexit", "runtime.rt0_go.abi0", "runtime.rt0_go",
		"runtime.mstart.abi0", "runtime.mstart",
		/* Go's runtime changes stacks in these, and frame pointers do not go on. */
		"runtime.morestack.abi0", "runtime.morestack", "runtime.mcall",
		NULL,
	};
	return frame->cpumode == PERF_RECORD_MISC_KERNEL ||
	       (frame->symbol &&
		is_one_of(frame->symbol->raw_name ?: frame->symbol->name, functions));
}

static bool is_in_system_folder(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/",
					      "/bin/", "/nix/", "/gnu/", "/snap/"};
	for (size_t i = 0; i < count_of(folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return *path != '/';
}

/*
 * Returns whether the file is an installed shell or interpreter without a JIT compiler, which runs
 * the user's scripts. Others are runtimes (machine/module.h).
 */
static bool is_script_runner(const struct module *module)
{
	static const char *const programs[] = {
		"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh",
		"busybox", "perl", "tclsh", "awk", "gawk", "mawk", "java", "guile",
	};
	/* A version may follow. */
	size_t size = strcspn(module->name, "0123456789.-");
	bool is = false;
	for (size_t i = 0; i < count_of(programs) && !is; i++)
		is = *programs[i] == *module->name && strlen(programs[i]) == size &&
		     !strncmp(programs[i], module->name, size);
	return is && is_in_system_folder(module->path);
}

/* Returns whether a Python function is of the standard library or a package, in lib/python3.11. */
static bool is_installed(const struct module *module, const struct symbol *symbol)
{
	const char *file = symbol ? module_python_file(module, symbol->start) : "";
	return strstr(file, "/lib/python3") || !strncmp(file, "<frozen ", 8);
}

static bool is_own_code(const struct names *names, const struct frame *frame)
{
	const struct module *module = frame->module;
	if (!module || frame->cpumode != PERF_RECORD_MISC_USER)
		return false;
	if (module->functions)
		return !is_installed(module, frame->symbol);
	if (module->is_generated)
		return true;
	bool shared = !strncmp(module->name, "[vdso", 5);
	for (const char *at = module->name; (at = strstr(at, ".so")); at += 3)
		shared |= !at[3] || at[3] == '.';
	return !module->runtime && !is_script_runner(module) &&
	       !(shared && (machine_has_python(names->locked.machine) ||
			    is_c_library(module->name) || is_in_system_folder(module->path)));
}

/* Returns the answer's flags of the kernel's functions that run softirqs. */
static uint32_t softirq_flags(const struct frame *frame)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} functions[] = {
		{"do_softirq", ANSWER_THREAD_SOFTIRQ},
		{"__local_bh_enable_ip", ANSWER_THREAD_SOFTIRQ},
		{"irq_exit", ANSWER_OTHER_SOFTIRQ},
		{"irq_exit_rcu", ANSWER_OTHER_SOFTIRQ},
		{"__irq_exit_rcu", ANSWER_OTHER_SOFTIRQ},
		{"run_ksoftirqd", ANSWER_OTHER_SOFTIRQ},
	};
	const char *name = symbol_is_named(frame->symbol) ? frame->symbol->name : "";
	for (size_t i = 0; i < count_of(functions); i++)
		if (name_is_function(name, functions[i].name))
			return functions[i].flag;
	return 0;
}

/* Returns the answer's flag of functions that hold up threads, if idle threads are left out. */
static uint32_t holds_up_flag(const struct names *names, const struct frame *frame)
{
	const struct sp_analysis_samples *samples = &names->options->samples;
	if (!weigher_of(samples)->leaves_out_idle || samples->all_threads ||
	    !symbol_is_named(frame->symbol))
		return 0;
	const char *name = frame->symbol->name;
	bool holds = frame->cpumode == PERF_RECORD_MISC_KERNEL
			     ? wait_reason_holds_up(wait_reason_of_function(name))
			     : wait_function_holds_up(name);
	return holds ? ANSWER_HOLDS_UP : 0;
}

/* Returns the answer's flags of frames in stacks of Python code. */
static uint32_t python_flags(const struct frame *frame)
{
	if (frame_is_collector(frame))
		return ANSWER_COLLECTOR;
	return generated_has(frame) && frame->symbol && !strncmp(frame->symbol->name, "py::", 4) ?
	       ANSWER_TRAMPOLINE : 0;
}

/*
 * Finds the frame of an address, without labels. *outermost_ret: a stack that ends here is
 * complete.
 */
static struct frame find_frame(struct names *names, const struct code_address *at,
			       bool *outermost_ret)
{
	struct locked_resolver *locked = &names->locked;
	struct location location = resolver_locate(locked->resolver, locked->machine, at);
	/* Most callers are located by their call's last byte, but shown by their return address. */
	uint64_t after_call = at->ip - location.ip;
	struct frame frame = {.module = location.module, .cpumode = at->cpumode};
	uint64_t address = location.offset;
	*outermost_ret = false;
	if (location.module) {
		pthread_mutex_t *lock = locked_resolver_lock(locked, location.module);
		frame.symbol = locked_resolver_symbol(locked, &location, after_call != 0);
		frame.sourced = locked_resolver_has_sources(locked, location.module, location.pid);
		/* In a stripped C library, the caller of main() has no name. */
		*outermost_ret = at->caller && !symbol_is_named(frame.symbol) &&
				 is_c_library(location.module->name) &&
				 is_entry_point_call(locked->resolver, &location);
		if (!frame.symbol) {
			address = shown_address(names, &location);
			frame.symbol = resolver_find_gap(locked->resolver, &location);
		}
		pthread_mutex_unlock(lock);
	}
	*outermost_ret |= is_outermost(&frame);
	if (frame.sourced || (location.module && (names->options->tree.addresses ||
						  names->options->rows.annotate))) {
		frame.offset = location.offset;
		frame.pid = location.pid;
	}
	if (!frame.symbol)
		frame.address = address + after_call;
	return frame;
}

void names_write_address(struct names *names, const struct code_address *at, char *text,
			 size_t size)
{
	struct locked_resolver *locked = &names->locked;
	struct location location = resolver_locate(locked->resolver, locked->machine, at);
	struct frame frame = {.module = location.module, .cpumode = at->cpumode};
	uint64_t address = at->ip;
	if (location.module) {
		pthread_mutex_t *lock = locked_resolver_lock(locked, location.module);
		address = shown_address(names, &location);
		pthread_mutex_unlock(lock);
	}
	snprintf(text, size, "0x%llx %s", (unsigned long long)address, frame_dso(&frame));
}

static uint64_t identity(const struct frame *frame)
{
	uint64_t hash = hash_pair((uintptr_t)frame->module, (uintptr_t)frame->symbol);
	return hash_pair(hash, frame->address + frame->offset) ^ frame->cpumode;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->module == b->module && a->symbol == b->symbol && a->address == b->address &&
	       a->offset == b->offset && a->cpumode == b->cpumode;
}

/*
 * Returns the index of a frame; UINT32_MAX when out of memory. A new frame is added, and then
 * marked if it is of the user's own code: many addresses have one frame.
 */
static uint32_t intern(struct names *names, const struct frame *frame)
{
	if (!index_set_reserve(&names->index_of))
		return UINT32_MAX;
	struct index_probe probe = index_set_probe(&names->index_of, identity(frame));
	for (uint32_t i; index_set_next(&names->index_of, &probe, &i);)
		if (same_frame(&names->frames.items[i], frame))
			return i;
	struct frame *copy = vec_push(&names->frames);
	if (!copy)
		return UINT32_MAX;
	*copy = *frame;
	copy->own_code = is_own_code(names, frame);
	uint32_t index = (uint32_t)names->frames.count - 1;
	index_set_add(&names->index_of, &probe, index);
	return index;
}

uint32_t names_add_rest(struct names *names, enum names_rest rest)
{
	static const struct symbol no_stack = {.name = "[no stack]", .raw_name = "[no stack]"};
	static const struct symbol blocked = {
		.name = "[all threads blocked]", .raw_name = "[all threads blocked]",
	};
	static const struct symbol unrecorded = {.name = "[not recorded]",
						 .raw_name = "[not recorded]"};
	static const struct frame frames[REST_COUNT] = {
		[REST_NO_STACK] = {.symbol = &no_stack, .cpumode = PERF_RECORD_MISC_USER},
		[REST_ALL_BLOCKED] = {.symbol = &blocked, .cpumode = PERF_RECORD_MISC_USER},
		[REST_UNRECORDED] = {.symbol = &unrecorded, .cpumode = PERF_RECORD_MISC_KERNEL},
		[REST_KERNEL] = {.symbol = &frame_kernel_rest, .cpumode = PERF_RECORD_MISC_KERNEL},
	};
	uint32_t index = intern(names, &frames[rest]);
	return index >= UINT32_MAX >> ANSWER_SHIFT ? ANSWER_FAILED
						   : index << ANSWER_SHIFT | ANSWER_SHOWN;
}

uint32_t names_resolve_address(void *arg, const struct code_address *address)
{
	struct names *names = arg;
	bool outermost;
	struct frame frame = find_frame(names, address, &outermost);
	pthread_mutex_lock(&names->lock);
	uint32_t index = intern(names, &frame);
	bool own_code = index != UINT32_MAX && names->frames.items[index].own_code;
	pthread_mutex_unlock(&names->lock);
	if (index >= UINT32_MAX >> ANSWER_SHIFT)
		return ANSWER_FAILED;
	uint32_t answer = index << ANSWER_SHIFT;
	if (frame.cpumode == PERF_RECORD_MISC_KERNEL)
		answer |= softirq_flags(&frame);
	else if (names->options->stacks.fold_python)
		answer |= python_flags(&frame);
	if (outermost)
		answer |= ANSWER_OUTERMOST;
	answer |= holds_up_flag(names, &frame);
	if (own_code)
		answer |= ANSWER_OWN_CODE;
	if (!frame.module && address->cpumode == PERF_RECORD_MISC_USER)
		answer |= ANSWER_UNMAPPED;
	if (names->all_code)
		return answer | ANSWER_SHOWN;
	if (!frame_passes_dso(names, &frame))
		return answer;
	if (frame.sourced && names->options->filter.symbols.count)
		return answer | ANSWER_PENDING;
	return frame_passes_symbol(names, &frame) ? answer | ANSWER_SHOWN : answer;
}

bool names_list_sources(const struct names *names, struct line_places *places)
{
	for (uint32_t i = 0; i < names->frames.count; i++) {
		const struct frame *frame = &names->frames.items[i];
		struct line_place *place = frame->sourced ? vec_push(places) : NULL;
		if (frame->sourced && !place)
			return false;
		if (place)
			*place = (struct line_place){frame->module, frame->offset, frame->pid, i,
						     NULL};
	}
	return true;
}
