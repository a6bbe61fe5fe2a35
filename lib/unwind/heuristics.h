/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of code without call frame information, by its place and its instructions. */
#ifndef UNWIND_HEURISTICS_H
#define UNWIND_HEURISTICS_H

#include "unwind/code.h"
#include "unwind/row.h"

/* Code at `vaddr`; `ip` is where it runs, or where it is returned to, as vaddr. */
struct code_place {
	const struct unwind_arch *arch;
	const struct code *code;
	uint64_t vaddr, ip;
};

/* It is the start of the program or of ld.so, behind which there is nothing. */
bool guess_is_start(const struct code_place *place);

/*
 * It is a call of main() or of a thread's function, whose result is what exit() or pthread_exit()
 * is called with next. C libraries without call frame information (musl) begin with nothing else.
 */
bool guess_starts_threads(const struct code_place *place);

/*
 * True if the result of a call is the argument of another call, like main()'s result for exit().
 * `bytes` begin at the first call's return address; *distance_ret is from there to the second
 * call's target.
 */
#define GUESS_PASSES_ON_BYTES 8
bool guess_passes_on(uint16_t machine, const uint8_t *bytes, int64_t *distance_ret);

/*
 * Nobody called from there: the return address is a function's first instruction, behind
 * no call. makecontext(3) puts such on a stack that it makes: __start_context.
 */
bool guess_is_put_there(const struct code_place *place);

/*
 * Just before the call the stack pointer was loaded: behind it is another stack, whatever is said of
 * the frame. Go's runtime.systemstack and runtime.mcall do so.
 */
bool guess_switches_stack(const struct code_place *place);

/* It is what the C library's or the kernel's sigreturn looks like; then *ret leaves it. */
bool guess_sigreturn(const struct code_place *place, struct cfi_row *ret);

/* It is an entry of a PLT; then *ret leaves it. */
bool guess_plt(const struct code_place *place, struct cfi_row *ret);

/*
 * Whether a function that begins shortly before sets up a frame pointer. True also where
 * the instructions are not at hand.
 */
bool guess_keeps_frame_pointer(const struct code_place *place);

/* Returns the target of the direct call that returns to the place. */
bool guess_call_target(const struct code_place *caller, uint64_t *ret);

/*
 * True if that call goes to `vaddr` of the same module, or to shortly before it: a function without
 * a frame of its own.
 */
bool guess_is_call_to(const struct code_place *caller, uint64_t vaddr);

/*
 * Between the start of a named function and the place nothing is pushed, called, or made room for:
 * what is on top of the stack is where it returns to. Only of x86-64 and where there are symbols;
 * no where that cannot be seen.
 */
bool guess_has_no_frame(const struct code_place *place);

/* The call goes to another module: through the PLT, or a word that the linker filled in. */
bool guess_calls_out(const struct code_place *caller);

#endif
