/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of Go code: the table states how far the stack pointer has moved since the function began.
 *
 *	x86: | … locals … | saved %rbp | return address | caller's frame	CFA = %rsp + moved + 8
 *	arm64: x29 | x30 | … locals … | caller's frame				CFA = sp + moved
 *	           ^ sp, if moved > 0; else the return address is in x30
 */
#include "unwind/go_row.h"

#include "go/frame_sizes.h"

/* Alignment of arm64's stack pointer, and the space that the runtime takes for x30. */
#define ARM64_ALIGN 16

static void set_x86(const struct code_place *place, int64_t moved, struct cfi_row *row)
{
	const struct unwind_arch *arch = place->arch;
	int64_t word = arch->word;
	row->cfa.offset = moved + word;
	row->rules[arch->ra] = rule_at(-word);
	/* Before a call, each function with a frame has saved it. */
	if (moved >= word && place->ip != place->vaddr)
		row->rules[arch->fp] = rule_at(-2 * word);
}

static void set_arm64(const struct code_place *place, int64_t moved, bool injected,
		      struct cfi_row *row)
{
	const struct unwind_arch *arch = place->arch;
	row->cfa.offset = moved;
	if (moved == 0)
		return;
	row->rules[arch->ra] = rule_at(-moved);
	row->rules[arch->fp] = rule_at(-moved - arch->word);
	if (!injected)
		return;
	/* The runtime pushed x30 of the interrupted code; the function itself saved its address. */
	row->cfa.offset += ARM64_ALIGN;
	row->return_column = 32;
	row->rules[32] = rule_at(-moved - ARM64_ALIGN);
	row->rules[arch->ra] = rule_at(-ARM64_ALIGN);
	row->rules[arch->fp] = rule_at(-ARM64_ALIGN - arch->word);
}

enum go_row go_row_make(const struct code_place *place, uint64_t *work, struct cfi_row *ret)
{
	const struct frame_sizes *sizes = code_go_frames(place->code);
	const struct frame_sizes_function *function =
		sizes ? frame_sizes_find(sizes, place->vaddr) : NULL;
	if (!function)
		return GO_ROW_NONE;
	/* The runtime's sigreturn begins at the return address of a signal handler. */
	if (place->ip == function[1].start && guess_sigreturn(place, ret))
		return GO_ROW_FRAME;
	if (function->flags & GO_TOP_FRAME)
		return GO_ROW_TOP;
	if (function->flags & GO_SP_WRITE)
		return GO_ROW_SWITCH;
	const struct unwind_arch *arch = place->arch;
	int32_t moved;
	/* The table has few bytes for each instruction. */
	*work += (place->vaddr - function->start) / 8;
	if (sizes->word != arch->word || !frame_sizes_at(sizes, function, place->vaddr, &moved) ||
	    moved < 0)
		return GO_ROW_NONE;
	struct cfi_row row = {
		.cfa = {.kind = RULE_IS, .column = arch->sp},
		.return_column = arch->ra,
		/*
		 * The return address does not follow a call: it may be the function's first
		 * instruction.
		 */
		.is_signal = function->flags & (GO_INJECTED | GO_RESUMED),
		.is_go = true,
	};
	if (arch->calls_push)
		set_x86(place, moved, &row);
	else
		set_arm64(place, moved, function->flags & GO_INJECTED, &row);
	*ret = row;
	return GO_ROW_FRAME;
}
