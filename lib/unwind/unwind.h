/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwinds stacks: from registers and a stack copy to the chain of calls. The machine knows which
 * modules are mapped. Each module's call frame information is read once, and stored as compact rows.
 *
 * Threads share an unwinder; each uses its own unwind_thread.
 */
#pragma once

#include <sprof/ctx.h>
#include <sprof/record.h>
#include "elf/debugfile.h"
#include "elf/image.h"
#include "machine/machine.h"

/* How an unwound stack ended. */
enum unwind_end {
	UNWIND_COMPLETE,  /* reaches the thread's start */
	UNWIND_TRUNCATED, /* the next frame is beyond the end of the copy */
	UNWIND_NO_INFO,   /* no call frame information for the code, and no usable frame pointer */
	UNWIND_BAD_MEMORY, /* impossible values: an ip without code, a stack pointer that decreases */
	UNWIND_DEPTH_LIMIT,
	UNWIND_END_COUNT,
};

/* Callback that finds the module of an ip at the time of the sample. */
struct unwind_locator {
	struct location (*locate)(void *arg, uint32_t view, uint64_t ip);
	void *arg;
};

struct unwind_generated;

/*
 * Callbacks that open files. The first thread that needs a file calls them, never under a lock of the
 * locator, a few times for a module at most. The unwinder owns the images.
 */
struct unwind_files {
	/* Opens the module's file; *ret is NULL if there is none. */
	struct sp_error *(*open)(void *arg, const struct module *module, uint32_t pid,
				 struct image **ret);
	/*
	 * Opens a separate debug file of the module that `wanted` accepts; *ret is NULL if there is
	 * none. This member may be NULL.
	 */
	struct sp_error *(*debug)(void *arg, const struct module *module,
				  const struct image *image, debugfile_wanted_fn *wanted,
				  struct image **ret);
	/*
	 * Finds call frame information of generated code (MODULE_JIT), by the code's offset in the
	 * module. Returns false if there is none. This member may be NULL.
	 */
	bool (*generated)(void *arg, const struct module *module, uint32_t pid, uint64_t offset,
			  struct unwind_generated *ret);
	void *generated_arg;
	void *arg;
	size_t bytes_max; /* limit of the content of all files until they are dropped; 0: none */
};

/* Call frame information of one function of generated code. */
struct unwind_generated {
	struct sp_bytes eh_frame; /* valid until the unwinder is freed */
	uint64_t vaddr;           /* address of the code's byte that was looked up ... */
	uint64_t eh_frame_vaddr;  /* and of .eh_frame, in one address space of any start */
	uint16_t machine;         /* EM_*; EM_NONE: not stated (CPython) */
};

struct unwind_options {
	const char *engine; /* "cfi" or "libunwind"; NULL: cfi if it supports the architecture */
	const char *arch;   /* architecture, as in feature ARCH: "x86_64", "aarch64" */
	struct unwind_locator locator;
	struct unwind_files files;
};

struct unwinder;

/*
 * Fails with SP_ERROR_UNSUPPORTED if no engine supports the architecture, or if this build lacks the
 * engine.
 */
struct sp_error *unwinder_new(struct sp_ctx *ctx, const struct unwind_options *options,
			      struct unwinder **ret) SP_MUST_CHECK;
void unwinder_free(struct unwinder *unwinder);

/* NULL when out of memory. Free it before the unwinder. */
struct unwind_thread *unwind_thread_new(struct unwinder *unwinder);
void unwind_thread_free(struct unwind_thread *thread);

/* User stack as perf_event_open(2) samples it. Borrowed during the call. */
struct unwind_sample {
	uint32_t view;   /* value of machine_view() */
	struct sp_registers registers; /* registers by perf's numbers, as in PERF_SAMPLE_REGS_USER */
	struct sp_bytes stack;         /* stack copy, from the stack pointer upwards; only valid bytes */
	/*
	 * The kernel's call chain of user code at that moment, by frame pointers, from the sampled
	 * address on; 0: none. It reaches from a Go thread's own stack to the goroutine's.
	 */
	const uint64_t *callers;
	size_t caller_count;
	const struct memory_source *source; /* reads what `stack` lacks; NULL: none */
	bool ip_and_sp_only; /* other registers are unknown, whatever they contain (SP_MISC_SNAPSHOT): a frame
			      * pointer is searched on the stack if one is needed */
	bool in_kernel; /* the sample was taken in the kernel, perhaps during execve(2) */
};

/* How a frame was found. */
enum unwind_method {
	UNWIND_BY_REGISTERS, /* the first frame */
	UNWIND_BY_CFI,
	UNWIND_BY_GO,        /* frame sizes in a Go program's pclntab */
	UNWIND_BY_SIGNAL,    /* registers that a signal frame contains */
	UNWIND_BY_FRAME_POINTER, /* or by a return address, of code without unwind information */
};

/* A frame: the address of code, and the stack pointer there. */
struct unwind_frame {
	uint64_t ip;
	uint64_t sp;
	bool exact; /* ip is an executed instruction (of the first frame, and of a frame that a signal
		     * interrupted), else a return address */
	uint8_t method; /* enum unwind_method */
};

struct unwind_result {
	/*
	 * Number of frames, innermost first. COMPLETE without a frame: during execve(2), the
	 * registers belong to the old program, and its stack is unmapped.
	 */
	size_t count;
	enum unwind_end end;
	uint64_t missing;    /* TRUNCATED: the address that was needed, which the copy lacks */
	bool switched;       /* TRUNCATED: that address is on another stack, which a signal interrupted; no
			      * copy of this stack has it, however large */
	bool system_stack;   /* COMPLETE: Go's runtime changed to this stack, which is a thread's (its g0);
			      * the callers, if there are any, are on a goroutine's */
	/* Number of frames unwound by frame pointer, without unwind information. */
	uint32_t frame_pointers;
	uint32_t searches;       /* number of frame pointers that were not recorded, and found in the stack */
	uint32_t signals;        /* number of signal frames; the frame after each is exact */
	const struct module *blind; /* NO_INFO: the module, if there is one */
};

/* Returns how the stack ended and was unwound, as header.misc of a SAMPLE states it: SP_MISC_STACK. */
uint16_t unwind_misc(const struct unwind_result *result);

/*
 * Unwinds into frames[0..limit). The first frame always exists, unless the registers lack the
 * instruction pointer (count 0, NO_INFO), or belong to a program that was replaced. Never fails: errors
 * are ends of the stack.
 */
struct unwind_result unwind_stack(struct unwind_thread *thread, const struct unwind_sample *sample,
				  struct unwind_frame *frames, size_t limit);

/* Prefetches the first lines of a stack that will be unwound soon into the CPU's cache. */
void unwind_prefetch(const struct unwind_sample *sample);

/*
 * For a running recording: unwinder_keeps_much() returns whether too much of modules' files is
 * kept; any thread may call it. unwinder_drop_files() drops it, with rows and the results of
 * unwinder_problem(), and returns the number of files. No thread of the unwinder may work
 * meanwhile. Files are read again on demand. `all`: also those in use, and modules may be numbered
 * anew.
 */
bool unwinder_keeps_much(const struct unwinder *unwinder);
/* Returns whether files.bytes_max is reached: no further file is read. */
bool unwinder_is_full(const struct unwinder *unwinder);
size_t unwinder_drop_files(struct unwinder *unwinder, bool all);

/*
 * Returns why a module's code cannot be unwound by call frame information, as a sentence that names the
 * file; the unwinder owns it. NULL: it can, or it was never needed.
 */
const char *unwinder_problem(struct unwinder *unwinder, const struct module *module);
