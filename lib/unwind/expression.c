/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/expression.h"

#include <dwarf.h>
#include "base/leb128.h"

#define DEPTH 64
/* Limit of operations. */
#define STEPS 1000

struct expression_state {
	const struct unwind_arch *arch;
	const struct frame_registers *registers;
	const struct stack_copy *stack;
	struct cursor code;
	uint64_t items[DEPTH];
	size_t count;
	uint64_t missing;
	uint64_t mask; /* bits of a word */
};

static enum expression_end push(struct expression_state *state, uint64_t value)
{
	if (state->count == DEPTH)
		return EXPRESSION_BAD;
	state->items[state->count++] = value & state->mask;
	return EXPRESSION_OK;
}

static bool pop(struct expression_state *state, uint64_t *ret)
{
	if (state->count == 0)
		return false;
	*ret = state->items[--state->count];
	return true;
}

static int64_t as_signed(const struct expression_state *state, uint64_t value)
{
	return state->arch->word == 4 ? (int32_t)value : (int64_t)value;
}

/* Pushes a constant of `size` bytes that follows the opcode. */
static enum expression_end push_constant(struct expression_state *state, size_t size,
					 bool is_signed)
{
	const uint8_t *bytes;
	if (!cursor_bytes(&state->code, size, &bytes))
		return EXPRESSION_BAD;
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	unsigned int unused = 64 - 8 * (unsigned int)size;
	if (is_signed)
		value = (int64_t)(value << unused) >> unused;
	return push(state, value);
}

static enum expression_end dereference(struct expression_state *state, size_t size)
{
	uint64_t address, value;
	if (size == 0 || size > state->arch->word || !pop(state, &address))
		return EXPRESSION_BAD;
	if (!stack_load_sized(state->stack, address, size, &value)) {
		state->missing = address;
		return EXPRESSION_MISSING;
	}
	return push(state, value);
}

static enum expression_end pick(struct expression_state *state, size_t index)
{
	if (index >= state->count)
		return EXPRESSION_BAD;
	return push(state, state->items[state->count - 1 - index]);
}

static enum expression_end arrange(struct expression_state *state, uint8_t op)
{
	size_t n = state->count;
	uint64_t *items = state->items;
	uint8_t index;
	switch (op) {
	case DW_OP_dup:
		return pick(state, 0);
	case DW_OP_over:
		return pick(state, 1);
	case DW_OP_pick:
		return cursor_u8(&state->code, &index) ? pick(state, index) : EXPRESSION_BAD;
	case DW_OP_drop:
		if (n < 1)
			return EXPRESSION_BAD;
		state->count--;
		return EXPRESSION_OK;
	case DW_OP_swap:
		if (n < 2)
			return EXPRESSION_BAD;
		uint64_t top = items[n - 1];
		items[n - 1] = items[n - 2];
		items[n - 2] = top;
		return EXPRESSION_OK;
	default: /* DW_OP_rot: the top moves below the next two */
		if (n < 3)
			return EXPRESSION_BAD;
		uint64_t first = items[n - 1];
		items[n - 1] = items[n - 2];
		items[n - 2] = items[n - 3];
		items[n - 3] = first;
		return EXPRESSION_OK;
	}
}

static bool compare(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case DW_OP_eq:
		return a == b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	default: /* DW_OP_ne */
		return a != b;
	}
}

/* b is the top. Division is signed, the remainder is not (DWARF 5, 2.5.1.4). */
static bool calculate(const struct expression_state *state, uint8_t op, uint64_t a, uint64_t b,
		      uint64_t *ret)
{
	uint64_t bits = 8 * state->arch->word;
	int64_t a_signed = as_signed(state, a), b_signed = as_signed(state, b);
	switch (op) {
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_div:
		if (b == 0)
			return false;
		/* This quotient overflows, and traps. */
		*ret = b_signed == -1 ? 0 - a : (uint64_t)(a_signed / b_signed);
		return true;
	case DW_OP_mod:
		if (b == 0)
			return false;
		*ret = a % b;
		return true;
	case DW_OP_shl:
		*ret = b < bits ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < bits ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*ret = a_signed >> (b < bits ? b : bits - 1);
		return true;
	default:
		*ret = compare(op, a_signed, b_signed);
		return true;
	}
}

static enum expression_end binary(struct expression_state *state, uint8_t op)
{
	uint64_t a, b, value;
	if (!pop(state, &b) || !pop(state, &a) || !calculate(state, op, a, b, &value))
		return EXPRESSION_BAD;
	return push(state, value);
}

static enum expression_end unary(struct expression_state *state, uint8_t op)
{
	uint64_t value, addend = 0;
	if (op == DW_OP_plus_uconst && !cursor_uleb(&state->code, &addend))
		return EXPRESSION_BAD;
	if (!pop(state, &value))
		return EXPRESSION_BAD;
	switch (op) {
	case DW_OP_abs:
		return push(state, as_signed(state, value) < 0 ? 0 - value : value);
	case DW_OP_neg:
		return push(state, 0 - value);
	case DW_OP_not:
		return push(state, ~value);
	default:
		return push(state, value + addend);
	}
}

static enum expression_end jump(struct expression_state *state, bool conditional)
{
	uint16_t raw;
	uint64_t value = 1;
	if (!cursor_u16(&state->code, &raw) || (conditional && !pop(state, &value)))
		return EXPRESSION_BAD;
	raw = le16toh(raw);
	if (value == 0)
		return EXPRESSION_OK;
	struct cursor *code = &state->code;
	/* Compilers make no loops; without them, an expression costs no more than its bytes. */
	if ((int16_t)raw < 0 || raw > cursor_left(code))
		return EXPRESSION_BAD;
	code->pos += raw;
	return EXPRESSION_OK;
}

static enum expression_end constant(struct expression_state *state, uint8_t op)
{
	uint64_t value;
	int64_t value_signed;
	switch (op) {
	case DW_OP_addr:
		return push_constant(state, state->arch->word, false);
	case DW_OP_const1u:
	case DW_OP_const1s:
		return push_constant(state, 1, op == DW_OP_const1s);
	case DW_OP_const2u:
	case DW_OP_const2s:
		return push_constant(state, 2, op == DW_OP_const2s);
	case DW_OP_const4u:
	case DW_OP_const4s:
		return push_constant(state, 4, op == DW_OP_const4s);
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_constant(state, 8, false);
	case DW_OP_constu:
		return cursor_uleb(&state->code, &value) ? push(state, value) : EXPRESSION_BAD;
	default: /* DW_OP_consts */
		return cursor_sleb(&state->code, &value_signed) ? push(state, value_signed)
								: EXPRESSION_BAD;
	}
}

static enum expression_end registers(struct expression_state *state, uint8_t op)
{
	uint64_t column = op - DW_OP_breg0;
	int64_t offset;
	if (op == DW_OP_bregx && !cursor_uleb(&state->code, &column))
		return EXPRESSION_BAD;
	if (!cursor_sleb(&state->code, &offset))
		return EXPRESSION_BAD;
	if (column >= state->arch->columns)
		return EXPRESSION_BAD;
	if (!register_known(state->registers, column))
		return EXPRESSION_UNKNOWN;
	return push(state, state->registers->values[column] + (uint64_t)offset);
}

static enum expression_end step(struct expression_state *state, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(state, op - DW_OP_lit0);
	if ((op >= DW_OP_breg0 && op <= DW_OP_breg31) || op == DW_OP_bregx)
		return registers(state, op);
	if (op == DW_OP_addr || (op >= DW_OP_const1u && op <= DW_OP_consts))
		return constant(state, op);
	if (op >= DW_OP_dup && op <= DW_OP_rot)
		return arrange(state, op);
	uint8_t size;
	switch (op) {
	case DW_OP_deref:
		return dereference(state, state->arch->word);
	case DW_OP_deref_size:
		return cursor_u8(&state->code, &size) ? dereference(state, size) : EXPRESSION_BAD;
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return unary(state, op);
	case DW_OP_and:
	case DW_OP_div:
	case DW_OP_minus:
	case DW_OP_mod:
	case DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_xor:
	case DW_OP_eq:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_ne:
		return binary(state, op);
	case DW_OP_skip:
	case DW_OP_bra:
		return jump(state, op == DW_OP_bra);
	case DW_OP_nop:
		return EXPRESSION_OK;
	default:
		return EXPRESSION_BAD;
	}
}

enum expression_end expression_evaluate(const struct unwind_arch *arch, const uint8_t *bytes,
					size_t size, const struct frame_registers *known,
					const struct stack_copy *stack, const uint64_t *initial,
					uint64_t *ret, uint64_t *address_ret)
{
	struct expression_state state = {
		.arch = arch,
		.registers = known,
		.stack = stack,
		.code = cursor_make(bytes, size, false, NULL, 0),
		.mask = arch->word == 4 ? UINT32_MAX : UINT64_MAX,
	};
	if (initial)
		push(&state, *initial);
	enum expression_end end = EXPRESSION_OK;
	uint8_t op;
	for (size_t i = 0; end == EXPRESSION_OK && cursor_u8(&state.code, &op); i++)
		end = i < STEPS ? step(&state, op) : EXPRESSION_BAD;
	if (end == EXPRESSION_OK && !pop(&state, ret))
		end = EXPRESSION_BAD;
	if (end == EXPRESSION_MISSING)
		*address_ret = state.missing;
	return end;
}
