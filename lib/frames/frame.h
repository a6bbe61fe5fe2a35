/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame (names.h), and what follows from it alone. */
#pragma once

#include <linux/perf_event.h>
#include <string.h>
#include "machine/machine.h"
#include "profile/function.h"
#include "symbol/resolver.h"

struct frame {
	const struct module *module; /* NULL: nothing was mapped at the address */
	const struct symbol *symbol; /* NULL: unknown */
	uint64_t address;  /* address to show without a symbol; 0 with a symbol */
	uint64_t offset;   /* if `sourced`, or by address: offset in the module; else 0 */
	uint32_t pid;      /* the process, where `offset` is set; else 0 */
	uint16_t cpumode;
	bool sourced;      /* debug information is needed for this frame, and its module has some */
	/*
	 * The user's own code: not of the kernel, a language runtime, an installed shell, the C
	 * library, or another shared library in the system's folders. If Python runs, no shared
	 * library is: they are packages. Python's own library and installed packages are not the
	 * user's, either.
	 */
	bool own_code;
};

/*
 * Names shown for unknown modules, code of virtual machines, the kernel, and code made at run time.
 */
#define DSO_UNKNOWN "[unknown]"
#define DSO_GUEST "[guest]"
#define DSO_KERNEL "[kernel.kallsyms]"
#define DSO_JIT "[JIT]"

/*
 * Returns whether the code ran in a virtual machine. A recording of the host has no mappings of
 * guests.
 */
static inline bool frame_is_guest(const struct frame *frame)
{
	return !frame->module && (frame->cpumode == PERF_RECORD_MISC_GUEST_USER ||
				  frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL);
}

/* Returns whether a name is that of a function, or of a clone that GCC made of it: "f.isra.0". */
static inline bool name_is_function(const char *name, const char *function)
{
	size_t size = strlen(function);
	return !strncmp(name, function, size) && (!name[size] || name[size] == '.');
}

/* Returns whether a file is CPython's interpreter: "python3.11", "libpython3.11.so.1.0". */
bool module_is_interpreter(const struct module *module);

/* Returns whether a frame is that of CPython's function that runs its garbage collector. */
bool frame_is_collector(const struct frame *frame);

/* The symbol of CPU time in the kernel that has no samples. */
extern const struct symbol frame_kernel_rest;

static inline bool frame_is_kernel_rest(const struct frame *frame)
{
	return frame->symbol == &frame_kernel_rest;
}

/*
 * Returns the dso name to show for a frame. Code made at run time has the same name in all
 * processes, so that processes of one service share rows; perf shows "[JIT] tid PID".
 */
static inline const char *frame_dso(const struct frame *frame)
{
	if (frame->module)
		return frame->module->is_generated ? DSO_JIT : frame->module->name;
	if (frame_is_kernel_rest(frame))
		return DSO_KERNEL;
	return frame_is_guest(frame) ? DSO_GUEST : DSO_UNKNOWN;
}

/* Returns the privilege level of a frame's code. */
enum sp_level frame_level(const struct frame *frame);

/*
 * Returns whether a function is shown by the symbol's name: it has no other name, or begins where
 * the symbol begins. Several names may exist for that address, and the symbol's name is shown
 * without debug information too.
 */
bool frame_prefers_symbol(const struct frame *frame, const struct source_frame *source);
