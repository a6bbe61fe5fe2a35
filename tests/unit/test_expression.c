/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF expressions of call frame information, operation by operation. */
#include "test.h"

#include <dwarf.h>
#include <linux/perf_event.h>
#include <string.h>
#include "unwind/expression.h"

#define STACK_AT 0x7fff0000

/* Memory of 8 words: 0x1111111111111111 × (index + 1). */
static const uint64_t words[8] = {
	0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0x4444444444444444,
	0x5555555555555555, 0x6666666666666666, 0x7777777777777777, 0x8888888888888888,
};

struct outcome {
	enum expression_end end;
	uint64_t value, address;
};

static struct outcome run_on(const char *arch, uint64_t abi, const uint8_t *code, size_t size,
			     const uint64_t *initial)
{
	struct frame_registers registers = {.known = 1 << 3 | 1 << 7};
	registers.values[3] = 1000;
	registers.values[7] = STACK_AT;
	struct stack_copy stack = {(const uint8_t *)words, STACK_AT, sizeof(words)};
	struct outcome outcome = {.value = 0xdead};
	outcome.end = expression_evaluate(arch_find(arch, abi), code, size, &registers, &stack,
					  initial, &outcome.value, &outcome.address);
	return outcome;
}

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define run(...) run_on("x86_64", PERF_SAMPLE_REGS_ABI_64, CODE(__VA_ARGS__), NULL)

#define gives(expected, ...)                                                                       \
	do {                                                                                       \
		struct outcome outcome_ = run(__VA_ARGS__);                                        \
		ck_assert_int_eq(outcome_.end, EXPRESSION_OK);                                     \
		ck_assert_uint_eq(outcome_.value, (uint64_t)(expected));                           \
	} while (0)
#define ends(how, ...)                                                                             \
	do {                                                                                       \
		struct outcome outcome_ = run(__VA_ARGS__);                                        \
		ck_assert_int_eq(outcome_.end, (how));                                             \
		ck_assert_uint_eq(outcome_.value, 0xdead);                                         \
	} while (0)

TEST(expression_constants)
{
	gives(0, DW_OP_lit0);
	gives(31, DW_OP_lit31);
	gives(0xff, DW_OP_const1u, 0xff);
	gives(-1, DW_OP_const1s, 0xff);
	gives(0xfffe, DW_OP_const2u, 0xfe, 0xff);
	gives(-2, DW_OP_const2s, 0xfe, 0xff);
	gives(0x80000001, DW_OP_const4u, 1, 0, 0, 0x80);
	gives((int32_t)0x80000001, DW_OP_const4s, 1, 0, 0, 0x80);
	gives(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
	gives(0x8807060504030201, DW_OP_const8s, 1, 2, 3, 4, 5, 6, 7, 0x88);
	gives(0x8877665544332211, DW_OP_addr, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88);
	gives(300, DW_OP_constu, 0xac, 2);
	gives(-2, DW_OP_consts, 0x7e);
}

TEST(expression_stack_operations)
{
	gives(5, DW_OP_lit5, DW_OP_dup, DW_OP_drop);
	gives(10, DW_OP_lit5, DW_OP_dup, DW_OP_plus);
	gives(4, DW_OP_lit4, DW_OP_lit5, DW_OP_over);
	gives(3, DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_pick, 2);
	gives(4, DW_OP_lit4, DW_OP_lit5, DW_OP_swap);
	/* 1 2 3 becomes 3 1 2 */
	gives(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot);
	gives(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop);
	gives(3, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop, DW_OP_drop);
}

TEST(expression_arithmetic)
{
	gives(1, DW_OP_lit5, DW_OP_lit3, DW_OP_and);
	gives(7, DW_OP_lit5, DW_OP_lit3, DW_OP_or);
	gives(6, DW_OP_lit5, DW_OP_lit3, DW_OP_xor);
	gives(8, DW_OP_lit5, DW_OP_lit3, DW_OP_plus);
	gives(-2, DW_OP_lit3, DW_OP_lit5, DW_OP_minus);
	gives(15, DW_OP_lit3, DW_OP_lit5, DW_OP_mul);
	gives(-2, DW_OP_const1s, 0xf9, DW_OP_lit3, DW_OP_div); /* -7 / 3 */
	gives(2, DW_OP_lit17, DW_OP_lit3, DW_OP_mod);
	gives(40, DW_OP_lit5, DW_OP_lit3, DW_OP_shl);
	gives(0, DW_OP_lit5, DW_OP_const1u, 64, DW_OP_shl);
	gives(2, DW_OP_lit17, DW_OP_lit3, DW_OP_shr);
	gives(UINT64_MAX >> 1, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_shr);
	gives(-1, DW_OP_const1s, 0xfe, DW_OP_lit1, DW_OP_shra);
	gives(-1, DW_OP_const1s, 0xfe, DW_OP_const1u, 200, DW_OP_shra);
	gives(7, DW_OP_const1s, 0xf9, DW_OP_abs);
	gives(-7, DW_OP_lit7, DW_OP_neg);
	gives(~7ull, DW_OP_lit7, DW_OP_not);
	gives(307, DW_OP_lit7, DW_OP_plus_uconst, 0xac, 2);
	/* The one quotient that does not fit. */
	gives(1ull << 63, DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, DW_OP_const1s, 0xff,
	      DW_OP_div);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
}

TEST(expression_comparisons_are_signed)
{
	gives(1, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_lt);
	gives(0, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_gt);
	gives(1, DW_OP_lit2, DW_OP_lit2, DW_OP_eq);
	gives(0, DW_OP_lit2, DW_OP_lit2, DW_OP_ne);
	gives(1, DW_OP_lit2, DW_OP_lit2, DW_OP_ge);
	gives(1, DW_OP_lit2, DW_OP_lit2, DW_OP_le);
}

TEST(expression_jumps)
{
	gives(2, DW_OP_lit2, DW_OP_skip, 1, 0, DW_OP_lit3);
	gives(2, DW_OP_lit2, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit3);
	gives(3, DW_OP_lit2, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit3);
	/* Loops */
	ends(EXPRESSION_BAD, DW_OP_lit5, DW_OP_lit1, DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xfa, 0xff);
	ends(EXPRESSION_BAD, DW_OP_lit2, DW_OP_skip, 2, 0, DW_OP_lit3);
	ends(EXPRESSION_BAD, DW_OP_lit2, DW_OP_skip, 0xfb, 0xff);
	ends(EXPRESSION_BAD, DW_OP_skip, 0xfd, 0xff);
}

TEST(expression_registers_and_memory)
{
	gives(1008, DW_OP_breg3, 8);
	gives(992, DW_OP_bregx, 3, 0x78);
	gives(words[2], DW_OP_breg7, 16, DW_OP_deref);
	gives(0x44, DW_OP_breg7, 31, DW_OP_deref_size, 1);
	gives(0x55554444, DW_OP_breg7, 30, DW_OP_deref_size, 4);
	ends(EXPRESSION_UNKNOWN, DW_OP_breg6, 0);
	ends(EXPRESSION_BAD, DW_OP_breg17, 0);
	ends(EXPRESSION_BAD, DW_OP_breg7, 0, DW_OP_deref_size, 9);
	ends(EXPRESSION_BAD, DW_OP_breg7, 0, DW_OP_deref_size, 0);
	struct outcome outcome = run(DW_OP_breg7, 57, DW_OP_deref);
	ck_assert_int_eq(outcome.end, EXPRESSION_MISSING);
	ck_assert_uint_eq(outcome.address, STACK_AT + 57);
	outcome = run(DW_OP_breg7, 0x7f, DW_OP_deref);
	ck_assert_int_eq(outcome.end, EXPRESSION_MISSING);
	ck_assert_uint_eq(outcome.address, STACK_AT - 1);
}

/* Expression of every PLT: from the 11th byte of an entry on, the slot's number is pushed. */
TEST(expression_begins_with_what_is_given)
{
	uint64_t initial = 77;
	struct outcome outcome = run_on("x86_64", PERF_SAMPLE_REGS_ABI_64,
					CODE(DW_OP_lit1, DW_OP_plus), &initial);
	ck_assert_int_eq(outcome.end, EXPRESSION_OK);
	ck_assert_uint_eq(outcome.value, 78);
}

TEST(expression_words_are_the_architectures)
{
	struct outcome outcome =
		run_on("x86_64", PERF_SAMPLE_REGS_ABI_32,
		       CODE(DW_OP_const4u, 0xff, 0xff, 0xff, 0xff, DW_OP_lit1, DW_OP_plus), NULL);
	ck_assert_int_eq(outcome.end, EXPRESSION_OK);
	ck_assert_uint_eq(outcome.value, 0);
	outcome = run_on("x86_64", PERF_SAMPLE_REGS_ABI_32,
			 CODE(DW_OP_const1s, 0xf8, DW_OP_lit4, DW_OP_div), NULL);
	ck_assert_uint_eq(outcome.value, 0xfffffffe);
}

TEST(expression_damage)
{
	ends(EXPRESSION_BAD, DW_OP_const4u, 1, 2);
	ends(EXPRESSION_BAD, DW_OP_plus);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_plus);
	ends(EXPRESSION_BAD, DW_OP_drop);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_swap);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_lit2, DW_OP_rot);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_pick, 1);
	ends(EXPRESSION_BAD, DW_OP_lit1, DW_OP_drop);
	ends(EXPRESSION_BAD, DW_OP_constu, 0x80);
	ends(EXPRESSION_BAD, DW_OP_reg3);
	ends(EXPRESSION_BAD, DW_OP_call_frame_cfa);
	/* Deeper than any. */
	uint8_t deep[65];
	memset(deep, DW_OP_lit1, sizeof(deep));
	ck_assert_int_eq(run_on("x86_64", PERF_SAMPLE_REGS_ABI_64, deep, sizeof(deep), NULL).end,
			 EXPRESSION_BAD);
	ck_assert_int_eq(run_on("x86_64", PERF_SAMPLE_REGS_ABI_64, NULL, 0, NULL).end,
			 EXPRESSION_BAD);
}
