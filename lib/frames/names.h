/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of frames, to which addresses are resolved. A frame is a symbol of a module, or an
 * address without symbol. In modules with debug information, each address is a frame of its own,
 * because functions may be inlined there. Each thread resolves an address once and caches the
 * answer; equal frames are shared. Labels of frames are made later, when all frames are known
 * (labels.h).
 */
#pragma once

#include <linux/perf_event.h>
#include <pthread.h>
#include "base/hash.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "profile/function.h"
#include "profile/analysis_options.h"
#include "symbol/address_cache.h"
#include "symbol/line_places.h"

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

struct names {
	struct locked_resolver locked;
	const struct analysis_options *options; /* borrowed */
	pthread_mutex_t lock;          /* protects the members that follow */
	VEC(struct frame) frames;
	struct index_set index_of;
	bool all_code; /* answers ignore the filters by code, which labels compare */
};

/*
 * Initializes `names`. *names must be deinitialised after a failure, too. `machine`, `resolver` and
 * `finder` are as in locked_resolver_init().
 */
struct sp_error *names_init(struct names *names, const struct machine *machine,
			    struct resolver *resolver, const struct source_finder *finder,
			    const struct analysis_options *options) SP_MUST_CHECK;
void names_deinit(struct names *names);

/* Names shown for unknown modules, code of virtual machines, the kernel, and code made at run time. */
#define NAMES_UNKNOWN "[unknown]"
#define NAMES_GUEST "[guest]"
#define NAMES_KERNEL "[kernel.kallsyms]"
#define NAMES_JIT "[JIT]"

/*
 * Writes an address as tools for ELF files take it, and the name of the file, as in
 * "0x45ce80 libx.so.1". Without a file, it is the address in the process. Any thread may call it.
 */
#define NAMES_ADDRESS_SIZE 320
void names_write_address(struct names *names, const struct code_address *at, char *text,
			 size_t size);

/*
 * Returns whether the code ran in a virtual machine. A recording of the host has no mappings of guests.
 */
static inline bool names_is_guest(const struct frame *frame)
{
	return !frame->module && (frame->cpumode == PERF_RECORD_MISC_GUEST_USER ||
				  frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL);
}

/* Returns whether a name is that of a function, or of a clone that GCC made of it: "f.isra.0". */
static inline bool names_is_function(const char *name, const char *function)
{
	size_t size = strlen(function);
	return !strncmp(name, function, size) && (!name[size] || name[size] == '.');
}

/* Returns whether a file is CPython's interpreter: "python3.11", "libpython3.11.so.1.0". */
bool names_is_interpreter(const struct module *module);

/* Returns whether a frame is that of CPython's function that runs its garbage collector. */
bool names_is_collector(const struct frame *frame);

/* Symbol of CPU time in the kernel that has no samples. */
extern const struct symbol names_kernel_rest;

static inline bool names_is_kernel_rest(const struct frame *frame)
{
	return frame->symbol == &names_kernel_rest;
}

/*
 * Returns the dso name to show for a frame. Code made at run time has the same name in all processes, so
 * that processes of one service share rows; perf shows "[JIT] tid PID".
 */
static inline const char *names_dso(const struct frame *frame)
{
	if (frame->module)
		return frame->module->is_generated ? NAMES_JIT : frame->module->name;
	if (names_is_kernel_rest(frame))
		return NAMES_KERNEL;
	return names_is_guest(frame) ? NAMES_GUEST : NAMES_UNKNOWN;
}

/* Returns the privilege level of a frame's code. */
enum sp_level names_level(const struct frame *frame);

/*
 * Returns whether a function is shown by the symbol's name: it has no other name, or begins where the
 * symbol begins. Several names may exist for that address, and the symbol's name is shown without debug
 * information too.
 */
bool names_prefer_symbol(const struct frame *frame, const struct source_frame *source);

/* An answer consists of a frame's index and these flags in the lowest bits. */
#define ANSWER_SHOWN 1u     /* the frame passes the filters by dso and symbol */
#define ANSWER_OUTERMOST 2u /* threads begin in this function, so a chain that ends here is complete */
#define ANSWER_PENDING 4u   /* the frame passes the filter by dso; the filter by symbol also compares
			     * inlined functions, which are found later */
#define ANSWER_UNMAPPED 8u  /* no mapping has the address: the kernel's frame pointer walk read a word that
			     * is no return address */
#define ANSWER_COLLECTOR 16u  /* runs CPython's garbage collector */
#define ANSWER_TRAMPOLINE 32u /* code that CPython makes for a function, to call the interpreter */
/* Kernel code that runs softirqs for the thread that called it; or at an interrupt's end. */
#define ANSWER_THREAD_SOFTIRQ ANSWER_COLLECTOR
#define ANSWER_OTHER_SOFTIRQ ANSWER_TRAMPOLINE
#define ANSWER_HOLDS_UP 64u /* a thread that waits in it is not idle: for a lock or a disk */
#define ANSWER_OWN_CODE 128u /* frame.own_code */
#define ANSWER_SHIFT 8
/* Returns the index of an answer's frame. */
static inline uint32_t answer_frame(uint32_t answer)
{
	return answer >> ANSWER_SHIFT;
}

#define ANSWER_FAILED ADDRESS_CACHE_FAILED /* out of memory */

/* Time without a sample, by cause. */
enum names_rest {
	REST_NO_STACK,    /* "[no stack]" */
	REST_ALL_BLOCKED, /* "[all threads blocked]" */
	REST_KERNEL,      /* "[kernel: not sampled]": the event excludes the kernel */
	REST_UNRECORDED,  /* "[not recorded]": the thread's events had ended */
	REST_COUNT
};

/*
 * Adds the frame of time without a sample. Returns its answer; ANSWER_FAILED when out of memory. Not
 * thread-safe.
 */
uint32_t names_add_rest(struct names *names, enum names_rest rest);

/*
 * Finds the frame at an address, and returns its answer. Callback of address caches; `names` is a
 * struct names. Thread-safe.
 */
uint32_t names_resolve_address(void *names, const struct code_address *address);

/* Returns an empty cache of answers. */
static inline struct address_cache names_cache(struct names *names)
{
	return (struct address_cache){
		.machine = names->locked.machine, .make = names_resolve_address, .arg = names};
}

/* Lists the places of all frames in modules with debug information; false when out of memory. */
bool names_list_sources(const struct names *names, struct line_places *places);
