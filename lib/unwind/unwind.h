/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From registers and a copy of the stack to the calls that led there. What was
 * mapped where is the machine's to say; how a frame is left is read from each
 * module's call frame information once, and kept as compact rows.
 *
 * An unwinder is shared by threads; each works through an unwind_thread of its own.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <sprof/ctx.h>
#include <sprof/record.h>
#include "elf/debugfile.h"
#include "elf/image.h"
#include "machine/machine.h"

/* How an unwound stack ended. */
enum unwind_end {
	UNWIND_COMPLETE,  /* reaches the thread's start */
	UNWIND_TRUNCATED, /* the copy does not reach as far as the next frame */
	UNWIND_NO_INFO,   /* code of which nothing says how it is left, and no frame pointer helps */
	UNWIND_BAD_MEMORY, /* impossible values: an ip without code, a stack pointer that decreases */
	UNWIND_DEPTH_LIMIT,
	UNWIND_END_COUNT,
};

/* Finds the module of an ip at the time of the sample. */
struct unwind_locator {
	struct location (*locate)(void *arg, uint32_t view, uint64_t ip);
	void *arg;
};

/*
 * Called by whichever thread needs a file first, never under a lock of the locator, a few
 * times for a module at most. Images become the unwinder's.
 */
struct unwind_files {
	/* The module's file, or NULL in *ret where it is not at hand. */
	struct sp_error *(*open)(void *arg, const struct module *module, uint32_t pid,
				 struct image **ret);
	/*
	 * Sets *ret to a separate debug file of the module that `wanted` accepts, or to NULL. The
	 * function itself may be NULL.
	 */
	struct sp_error *(*debug)(void *arg, const struct module *module,
				  const struct image *image, debugfile_wanted_fn *wanted,
				  struct image **ret);
	void *arg;
};

struct unwind_options {
	const char *engine; /* a name of unwind_engines(); NULL: the first that can */
	const char *arch;   /* architecture in feature ARCH: "x86_64", "aarch64" */
	struct unwind_locator locator;
	struct unwind_files files;
};

struct unwinder;
struct unwind_thread;

/* SP_ERROR_UNSUPPORTED where no engine knows the architecture, or this build lacks the engine. */
struct sp_error *unwinder_new(struct sp_ctx *ctx, const struct unwind_options *options,
			      struct unwinder **ret) SP_MUST_CHECK;
void unwinder_free(struct unwinder *unwinder);

/* NULL when out of memory; to be freed before the unwinder. */
struct unwind_thread *unwind_thread_new(struct unwinder *unwinder);
void unwind_thread_free(struct unwind_thread *thread);

/* User stack as perf_event_open(2) samples it. Borrowed during the call. */
struct unwind_sample {
	uint32_t view;   /* machine_view() */
	struct sp_registers registers; /* by perf's numbers, as PERF_SAMPLE_REGS_USER */
	struct sp_bytes stack;         /* from the stack pointer up; the bytes that are good */
	bool in_kernel; /* sampled in the kernel, perhaps in execve(2) */
};

/* A frame: where code is, and the stack pointer it has there. */
struct unwind_frame {
	uint64_t ip;
	uint64_t sp;
	bool exact; /* ip is where code ran (the first, and behind a signal's frame); else where a
		     * call returns to */
};

struct unwind_result {
	size_t count;        /* frames, the innermost first; COMPLETE with none: execve(2) is at work,
			      * the registers are of a program that is gone with its stack */
	enum unwind_end end;
	uint64_t missing;    /* TRUNCATED: the address that was needed and is not in the copy */
	bool switched;       /* TRUNCATED: that is of another stack, which a signal interrupted: no
			      * copy of this one has it, however large */
	uint32_t expressions;    /* frames that took a DWARF expression */
	uint32_t frame_pointers; /* frames left by frame pointer, for want of anything better */
	uint32_t signals;        /* signal frames; the frame behind each is exact */
	const struct module *blind; /* NO_INFO: the module, if there is one */
};

/* How it ended, as header.misc of a SAMPLE says it. */
enum sp_misc_end unwind_misc_end(const struct unwind_result *result);

/*
 * Unwinds into frames[0..limit). The first frame is always there, unless the registers
 * lack the instruction pointer (count 0, NO_INFO), or are of a program that was replaced.
 * Never fails: what goes wrong is how the stack ends.
 */
struct unwind_result unwind_stack(struct unwind_thread *thread, const struct unwind_sample *sample,
				  struct unwind_frame *frames, size_t limit);

/* Touches the first lines of a stack that will be unwound soon, so that they are in the cache. */
void unwind_prefetch(const struct unwind_sample *sample);

/*
 * For a running recording: unwinder_keeps_much() returns whether too much of modules' files is
 * kept; any thread may call it. unwinder_forget_files() drops it, with rows and the results of
 * unwinder_problem(), and returns the number of files. No thread of the unwinder may work
 * meanwhile. Files are read again on demand.
 */
bool unwinder_keeps_much(const struct unwinder *unwinder);
size_t unwinder_forget_files(struct unwinder *unwinder);

/*
 * Why a module's code cannot be left by call frame information: a sentence that names the
 * file, the unwinder's. NULL where it can, or where it was never needed.
 */
const char *unwinder_problem(struct unwinder *unwinder, const struct module *module);

/* The engines of this build, a NULL at the end; the first is the default. */
const char *const *unwind_engines(void);

/* Work of the unwinder, summed over its threads, which must be at rest. */
struct unwind_stats {
	uint64_t stacks, frames, expressions, frame_pointers, row_misses, rows, distinct_rows;
	uint64_t ends[UNWIND_END_COUNT];
};
struct unwind_stats unwinder_stats(const struct unwinder *unwinder);

#endif
