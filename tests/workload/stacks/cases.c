/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers of the code without unwind tables (bare.c) and of the assembler cases (cases_x86_64.S).
 */
#include <stdlib.h>
#include "stacks.h"

uint64_t pointed_outer(uint64_t value);
uint64_t bare_outer(uint64_t value);

static OWN void run_pointed(void)
{
	while (!is_over())
		pointed_outer(1);
}

static OWN void run_bare(void)
{
	while (!is_over())
		bare_outer(1);
}

const struct scenario bare_scenarios[] = {
	{.name = "pointed",
	 .run = run_pointed,
	 .truth = "main run_pointed pointed_outer! pointed_mid! pointed_leaf!"},
	{.name = "bare",
	 .run = run_bare,
	 .honest = true,
	 .truth = "main run_bare bare_outer! bare_mid! bare_leaf!"},
	{0},
};

#ifdef __x86_64__
/* Each runs `turns` turns, or calls asm_leaf with them. */
typedef void assembler(uint64_t turns);
assembler asm_rbx, asm_expression, asm_remember, asm_push_pop, asm_pushed_arguments,
	asm_in_register, asm_value_offset, asm_value_expression, asm_ends_in_call, asm_jumps,
	asm_hand_written, asm_hand_pointed, asm_saved_by_expression;
void asm_switch(uint64_t turns, void *stack_top);
uint64_t asm_call_through(assembler *which, uint64_t turns);

/* Everything callee-saved is in use, so that a wrong register shows further out. */
OWN uint64_t asm_call_through(assembler *which, uint64_t turns)
{
	uint64_t a = turns + 1, b = turns + 2, c = turns + 3, d = turns + 4, e = turns + 5;
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	which(turns);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	return a + b + c + d + e;
}

#define CASE(name)                                                                                 \
	static OWN void run_##name(void)                                                           \
	{                                                                                          \
		while (!is_over())                                                                 \
			asm_call_through(asm_##name, 200000);                                      \
	}
CASE(rbx)
CASE(expression)
CASE(saved_by_expression)
CASE(remember)
CASE(push_pop)
CASE(pushed_arguments)
CASE(in_register)
CASE(value_offset)
CASE(value_expression)
CASE(ends_in_call)
CASE(jumps)
CASE(hand_written)
CASE(hand_pointed)

static OWN void run_switched(void)
{
	size_t size = 64 * 1024;
	char *stack = malloc(size);
	if (!stack)
		exit(1);
	while (!is_over())
		asm_switch(200000, stack + size);
	free(stack);
}

#define THROUGH(name) "main run_" #name " asm_call_through "
const struct scenario assembler_scenarios[] = {
	{.name = "rbx", .run = run_rbx, .truth = THROUGH(rbx) "asm_rbx! asm_leaf!"},
	{.name = "expression",
	 .run = run_expression,
	 .truth = THROUGH(expression) "asm_expression! asm_leaf!"},
	{.name = "saved_by_expression",
	 .run = run_saved_by_expression,
	 .truth = THROUGH(saved_by_expression) "asm_saved_by_expression! asm_leaf!"},
	{.name = "remember", .run = run_remember, .truth = THROUGH(remember) "asm_remember!"},
	{.name = "push_pop", .run = run_push_pop, .truth = THROUGH(push_pop) "asm_push_pop!"},
	{.name = "pushed_arguments",
	 .run = run_pushed_arguments,
	 .truth = THROUGH(pushed_arguments) "asm_pushed_arguments! asm_leaf!"},
	{.name = "in_register",
	 .run = run_in_register,
	 .truth = THROUGH(in_register) "asm_in_register! asm_leaf_rdx!"},
	{.name = "value_offset",
	 .run = run_value_offset,
	 .truth = THROUGH(value_offset) "asm_value_offset! asm_told!"},
	{.name = "value_expression",
	 .run = run_value_expression,
	 .truth = THROUGH(value_expression) "asm_value_expression! asm_told_by_expression!"},
	{.name = "ends_in_call",
	 .run = run_ends_in_call,
	 .truth = THROUGH(ends_in_call) "asm_ends_in_call! asm_drops_caller!"},
	{.name = "jumps",
	 .run = run_jumps,
	 .truth = THROUGH(jumps) "asm_jumps!\n" THROUGH(jumps) "asm_jumped_to! asm_leaf!"},
	{.name = "hand_pointed",
	 .run = run_hand_pointed,
	 .truth = THROUGH(hand_pointed) "asm_hand_pointed! asm_hand_pointed_leaf!"},
	{.name = "hand_written",
	 .run = run_hand_written,
	 .honest = true,
	 .truth = THROUGH(hand_written) "asm_hand_written!"},
	{.name = "switched",
	 .run = run_switched,
	 .honest = true,
	 .truth = "main run_switched asm_switch! asm_leaf!"},
	{0},
};
#else
const struct scenario assembler_scenarios[] = {{0}};
#endif
