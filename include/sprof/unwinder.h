/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwinding of stacks: from registers and memory to frames. Programs of x86-64 and arm64.
 *
 *	struct sp_unwinder_options options = {.size = sizeof(options), .pid = pid};
 *	error = sp_unwinder_new(ctx, &options, &unwinder);
 *	error = sp_unwinder_add_process(unwinder);
 *	error = sp_unwinder_thread_new(unwinder, &thread);
 *	stack = sp_unwinder_unwind(thread, &registers, &memory, frames, 100);
 *	print frames[0] to frames[stack->count - 1], and sp_unwinder_reason(thread)
 *	sp_unwinder_thread_free(thread);
 *	sp_unwinder_free(unwinder);
 *
 * An unwinder knows the modules of one address space, and reads the unwind information of each file
 * once, when a stack needs it. Threads share an unwinder, and may add modules while others unwind.
 * Each thread has its own sp_unwinder_thread, which caches how code is unwound.
 */
#ifndef SPROF_UNWINDER_H
#define SPROF_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sprof/ctx.h>
#include <sprof/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_unwinder;
struct sp_unwinder_thread;

struct sp_unwinder_options {
	size_t size;      /* sizeof of this struct */
	const char *arch; /* architecture as `uname -m` prints it; NULL: this machine's */
	pid_t pid; /* process that owns the address space; its files are opened. 0: this process */
};

/* Makes an unwinder without modules. SP_ERROR_UNSUPPORTED: the architecture cannot be unwound. */
SP_API struct sp_error *sp_unwinder_new(struct sp_ctx *ctx, const struct sp_unwinder_options *options,
					struct sp_unwinder **ret) SP_MUST_CHECK;

/* After its threads. NULL is allowed. */
SP_API void sp_unwinder_free(struct sp_unwinder *unwinder);

/* Executable mapping of a file. */
struct sp_unwinder_module {
	size_t size;          /* sizeof of this struct */
	const char *path;     /* absolute path of an ELF file, or "[vdso]" of this kernel; copied */
	bool use_fd;          /* the file is `fd`, and `path` is its name in messages */
	int fd;               /* duplicated */
	uint64_t start, end;  /* addresses in memory, [start, end) */
	uint64_t file_offset; /* file offset of `start` */
};

/*
 * Adds a mapping, which replaces those that it overlaps. The file is opened when a stack needs it: a
 * missing file is no error, but stacks end there. SP_ERROR_INVALID: an empty range, or a path that is
 * not absolute.
 */
SP_API struct sp_error *sp_unwinder_add(struct sp_unwinder *unwinder,
					const struct sp_unwinder_module *module) SP_MUST_CHECK;

/*
 * Adds all executable mappings in /proc/PID/maps of sp_unwinder_options.pid. Call it again after the
 * process has mapped more. Fails with SP_ERROR_NOT_FOUND or SP_ERROR_PERMISSION.
 */
SP_API struct sp_error *sp_unwinder_add_process(struct sp_unwinder *unwinder) SP_MUST_CHECK;

/* Makes the state of one thread. */
SP_API struct sp_error *sp_unwinder_thread_new(struct sp_unwinder *unwinder,
					       struct sp_unwinder_thread **ret) SP_MUST_CHECK;

/* NULL is allowed. */
SP_API void sp_unwinder_thread_free(struct sp_unwinder_thread *thread);

/*
 * Memory of the program. Reads `size` bytes, at most SP_UNWINDER_READ_MAX, at `address` to `ret`. Returns
 * false if not all can be read: some of them are then read again with smaller sizes. Called from
 * sp_unwinder_unwind(), a limited number of times for each frame, and with any address, for stacks may
 * be damaged. It need not return the same bytes twice.
 */
struct sp_unwinder_memory {
	bool (*read)(void *arg, uint64_t address, size_t size, void *ret);
	void *arg;
};

#define SP_UNWINDER_READ_MAX 4096

/* How a frame was found. */
enum sp_unwinder_method {
	SP_UNWINDER_BY_REGISTERS,     /* the first frame */
	SP_UNWINDER_BY_CFI,           /* call frame information: .eh_frame or .debug_frame */
	SP_UNWINDER_BY_GO,            /* frame sizes in a Go program's pclntab */
	SP_UNWINDER_BY_SIGNAL,        /* registers that the kernel saved in a signal frame */
	SP_UNWINDER_BY_FRAME_POINTER, /* a guess, of code without unwind information: by frame pointer, or
				       * by a return address that a call precedes */
};

struct sp_unwinder_frame {
	uint64_t ip;
	uint64_t sp; /* stack pointer of the frame, which is the CFA of the frame before it */
	bool exact;  /* `ip` is the instruction that runs next (of the first frame, and of a frame that a
		      * signal interrupted); else a return address: look for its code at ip - 1 */
	enum sp_unwinder_method method;
};

/* How a stack ended. */
enum sp_unwinder_end {
	SP_UNWINDER_COMPLETE,    /* the thread's start */
	SP_UNWINDER_TRUNCATED,   /* memory at `missing` could not be read */
	SP_UNWINDER_NO_INFO,     /* code without unwind information and without a frame pointer */
	SP_UNWINDER_BAD_MEMORY,  /* impossible values: no code at a return address, a stack pointer that
				  * decreases */
	SP_UNWINDER_DEPTH_LIMIT, /* more frames than the caller has room for */
};

struct sp_unwinder_stack {
	size_t count; /* number of frames, innermost first */
	enum sp_unwinder_end end;
	uint64_t missing;
};

/*
 * Unwinds into frames[0..limit). Never fails: errors are ends of the stack. The result belongs to
 * the thread, and is valid until its next call.
 *
 * Registers are those of PERF_SAMPLE_REGS_USER: bit N of `mask` is the register with perf's number N, and
 * `values` has one for each bit, lowest first. Instruction pointer and stack pointer are needed; others
 * that are absent are unknown. `abi` is PERF_SAMPLE_REGS_ABI_64, or _32 for i386 programs on x86-64.
 *
 *	x86-64: ax bx cx dx si di bp sp ip flags cs ss, bits 0 to 11; r8 to r15, bits 16 to 23
 *	arm64:  x0 to x30, bits 0 to 30; sp, bit 31; pc, bit 32
 */
SP_API const struct sp_unwinder_stack *sp_unwinder_unwind(
	struct sp_unwinder_thread *thread, const struct sp_registers *registers,
	const struct sp_unwinder_memory *memory, struct sp_unwinder_frame *frames, size_t limit);

/*
 * Returns why the thread's last stack ended, as a phrase: "memory at 0x7ffd1000 cannot be read". Valid until
 * the thread's next call.
 */
SP_API const char *sp_unwinder_reason(struct sp_unwinder_thread *thread);

/* Returns the path of the module that has the code at `ip`, which the unwinder owns; NULL: none is known. */
SP_API const char *sp_unwinder_path(struct sp_unwinder *unwinder, uint64_t ip);

#ifdef __cplusplus
}
#endif
#endif
