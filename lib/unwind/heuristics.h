/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of code without call frame information, guessed from its place and its instructions. */
#pragma once

#include "unwind/code.h"
#include "unwind/row.h"

/* Code at `vaddr`. `ip` is the executed instruction or the return address there, as a vaddr. */
struct code_place {
	const struct unwind_arch *arch;
	const struct code *code;
	uint64_t vaddr, ip;
};

/* Returns whether the place is in the start code of the program or of ld.so, which nothing called. */
bool guess_is_start(const struct code_place *place);

/*
 * Returns whether the code calls main() or a thread's function: it passes the result to exit() or
 * pthread_exit(). Threads of C libraries without call frame information (musl) begin with such code.
 */
bool guess_starts_threads(const struct code_place *place);

/*
 * Returns whether the result of a call is the argument of the next call, like main()'s result for
 * exit(). `bytes` begin at the return address of the first call; *distance_ret is from there to the
 * target of the second.
 */
#define GUESS_PASSES_ON_BYTES 8
bool guess_passes_on(uint16_t machine, const uint8_t *bytes, int64_t *distance_ret);

/*
 * Returns whether the return address was put on the stack without a call: it is a function's first
 * instruction, with no call before. makecontext(3) puts __start_context there.
 */
bool guess_is_put_there(const struct code_place *place);

/*
 * Returns whether the code looks like sigreturn of the C library or the kernel. If so, *ret is its row.
 */
bool guess_sigreturn(const struct code_place *place, struct cfi_row *ret);

/* Returns whether the place is an entry of a PLT. If so, *ret is its row. */
bool guess_plt(const struct code_place *place, struct cfi_row *ret);

/*
 * Returns whether a function that begins shortly before sets up a frame pointer. True also if the
 * instructions cannot be read.
 */
bool guess_keeps_frame_pointer(const struct code_place *place);

/* Gets the target of the direct call that returns to the place. Returns false if there is none. */
bool guess_call_target(const struct code_place *caller, uint64_t *ret);

/*
 * Gets the number of bytes by which the code from the function's `start` to the place lowers the stack
 * pointer for local variables, after it has pushed registers. Returns false if it uses alloca(3), if the
 * instructions cannot be read, and for code other than x86-64's.
 */
bool guess_local_bytes(const struct code_place *place, uint64_t start, uint32_t *ret);

/* Returns whether the instruction before the place's `ip` is seen to be no call. */
bool guess_follows_no_call(const struct code_place *caller);

/* Returns whether the instruction before the place's `ip` is a call: direct, by register or memory. */
bool guess_is_after_call(const struct code_place *caller);

/*
 * Returns whether that call goes to `vaddr` of the same module, or to shortly before it: the function
 * there has no frame of its own.
 */
bool guess_is_call_to(const struct code_place *caller, uint64_t vaddr);

/*
 * Returns whether nothing is pushed, called or allocated between the start of a named function and the
 * place, so that the top of the stack is the return address. Only for x86-64 code with symbols; false
 * if it cannot be determined.
 */
bool guess_has_no_frame(const struct code_place *place);

/*
 * Returns whether the call goes to another module: through the PLT, or through an address that the
 * dynamic linker filled in.
 */
bool guess_calls_out(const struct code_place *caller);

/* Returns whether the call goes to an address in a register. False for code other than x86-64's. */
bool guess_calls_register(const struct code_place *caller);
