/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of frames, to which addresses are resolved. A frame is a symbol of a module, or an
 * address without symbol. In modules with debug information, each address is a frame of its own,
 * because functions may be inlined there. Each thread resolves an address once and caches the
 * answer; equal frames are shared. Labels of frames are made later, when all frames are known
 * (labels.h).
 */
#pragma once

#include <pthread.h>
#include "base/hash.h"
#include "base/vec.h"
#include "frames/frame.h"
#include "profile/analysis_options.h"
#include "symbol/address_cache.h"
#include "symbol/line_places.h"

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

/*
 * Writes an address as tools for ELF files take it, and the name of the file, as in
 * "0x45ce80 libx.so.1". Without a file, it is the address in the process. Any thread may call it.
 */
#define NAMES_ADDRESS_SIZE 320
void names_write_address(struct names *names, const struct code_address *at, char *text,
			 size_t size);

/* An answer consists of a frame's index and these flags in the lowest bits. */
#define ANSWER_SHOWN 1u     /* the frame passes the filters by dso and symbol */
#define ANSWER_OUTERMOST 2u /* threads begin in this function: a chain that ends here is complete */
#define ANSWER_PENDING 4u   /* the frame passes the filter by dso; the filter by symbol also
			     * compares inlined functions, which are found later */
#define ANSWER_UNMAPPED 8u  /* no mapping has the address: the kernel's frame pointer walk read a
			     * word that is no return address */
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
 * Adds the frame of time without a sample. Returns its answer; ANSWER_FAILED when out of memory.
 * Not thread-safe.
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
