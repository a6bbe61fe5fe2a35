/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/cfi_row.h"

#include <dwarf.h>
#include <endian.h>
#include "base/leb128.h"

/* Limit of nested remember_state; compilers nest 2. */
#define REMEMBERED_MAX 8
/* Limit of instructions; the largest real functions have some thousands. */
#define INSTRUCTIONS_MAX 100000

/* elfutils' dwarf.h may lack it. */
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_AARCH64_NEGATE_RA_STATE 0x2d

struct cfi_program {
	const struct unwind_arch *arch;
	const struct cfi_entry *entry;
	struct cursor code;
	struct cfi_section section; /* section of the instructions, for DW_CFA_set_loc */
	uint64_t location, wanted;
	struct cfi_row *row;
	const struct cfi_row *initial; /* row that DW_CFA_restore restores; NULL in the CIE */
	struct cfi_row remembered[REMEMBERED_MAX];
	size_t remembered_count;
	bool until_framed; /* stops when is_framed() is true */
};

/*
 * Returns whether the function has set up a frame pointer: on x86 the CFA depends on it, on arm64
 * it is saved.
 */
static bool is_framed(const struct cfi_program *program)
{
	const struct cfi_row *row = program->row;
	uint8_t fp = program->arch->fp;
	return program->arch->calls_push ? row->cfa.kind == RULE_IS && row->cfa.column == fp
					 : row->rules[fp].kind == RULE_AT;
}

/* Other columns (vectors, flags) may have any rule: they are not tracked. */
static bool set_rule(struct cfi_program *program, uint64_t column, struct cfi_rule rule)
{
	if (column < program->arch->columns)
		program->row->rules[column] = rule;
	return true;
}

static bool set_offset(struct cfi_program *program, uint64_t column, uint8_t kind, int64_t factored)
{
	int64_t offset;
	if (__builtin_mul_overflow(factored, program->entry->data_align, &offset))
		return false;
	return set_rule(program, column, (struct cfi_rule){.kind = kind, .offset = offset});
}

static bool set_cfa(struct cfi_program *program, uint64_t column, int64_t offset)
{
	if (column >= program->arch->columns)
		return false;
	program->row->cfa = (struct cfi_rule){
		.kind = RULE_IS,
		.column = column,
		.offset = offset,
	};
	return true;
}

static bool read_expression(struct cfi_program *program, uint8_t kind, struct cfi_rule *ret)
{
	uint64_t size;
	const uint8_t *bytes;
	if (!cursor_uleb(&program->code, &size) || size > UINT32_MAX ||
	    !cursor_bytes(&program->code, size, &bytes))
		return false;
	*ret = (struct cfi_rule){.kind = kind, .size = size, .expression = bytes};
	return true;
}

/* Advances the address. Returns false if the wanted row is complete. */
static bool advance(struct cfi_program *program, uint64_t factored)
{
	uint64_t distance;
	if (__builtin_mul_overflow(factored, program->entry->code_align, &distance) ||
	    distance > program->wanted - program->location)
		return false;
	program->location += distance;
	return true;
}

static bool restore(struct cfi_program *program, uint64_t column)
{
	if (!program->initial)
		return false;
	if (column < program->arch->columns)
		program->row->rules[column] = program->initial->rules[column];
	return true;
}

static bool remember(struct cfi_program *program)
{
	if (program->remembered_count == REMEMBERED_MAX)
		return false;
	program->remembered[program->remembered_count++] = *program->row;
	return true;
}

static bool recall(struct cfi_program *program)
{
	if (program->remembered_count == 0)
		return false;
	*program->row = program->remembered[--program->remembered_count];
	return true;
}

/* Executes instructions that advance the address; *done_ret: the wanted row is complete. */
static bool run_advance(struct cfi_program *program, uint8_t op, bool *done_ret)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t target;
	size_t at;
	switch (op) {
	case DW_CFA_advance_loc1:
		if (!cursor_u8(&program->code, &u8))
			return false;
		*done_ret = !advance(program, u8);
		return true;
	case DW_CFA_advance_loc2:
		if (!cursor_u16(&program->code, &u16))
			return false;
		*done_ret = !advance(program, u16);
		return true;
	case DW_CFA_advance_loc4:
		if (!cursor_u32(&program->code, &u32))
			return false;
		*done_ret = !advance(program, u32);
		return true;
	default: /* DW_CFA_set_loc */
		at = program->code.pos - program->code.begin;
		if (!cfi_read_address(&program->section, &at, program->entry->encoding, &target))
			return false;
		program->code.pos = program->code.begin + at;
		*done_ret = target > program->wanted;
		if (!*done_ret)
			program->location = target;
		return true;
	}
}

static bool run_cfa(struct cfi_program *program, uint8_t op)
{
	uint64_t column, offset;
	int64_t factored;
	struct cfi_rule *cfa = &program->row->cfa;
	switch (op) {
	case DW_CFA_def_cfa:
		return cursor_uleb(&program->code, &column) &&
		       cursor_uleb(&program->code, &offset) && set_cfa(program, column, offset);
	case DW_CFA_def_cfa_sf:
		return cursor_uleb(&program->code, &column) &&
		       cursor_sleb(&program->code, &factored) &&
		       !__builtin_mul_overflow(factored, program->entry->data_align, &factored) &&
		       set_cfa(program, column, factored);
	case DW_CFA_def_cfa_register:
		return cfa->kind == RULE_IS && cursor_uleb(&program->code, &column) &&
		       set_cfa(program, column, cfa->offset);
	case DW_CFA_def_cfa_offset:
		return cfa->kind == RULE_IS && cursor_uleb(&program->code, &offset) &&
		       set_cfa(program, cfa->column, offset);
	case DW_CFA_def_cfa_offset_sf:
		return cfa->kind == RULE_IS && cursor_sleb(&program->code, &factored) &&
		       !__builtin_mul_overflow(factored, program->entry->data_align, &factored) &&
		       set_cfa(program, cfa->column, factored);
	default: /* DW_CFA_def_cfa_expression */
		return read_expression(program, RULE_EXPRESSION_IS, cfa);
	}
}

static bool run_column_expression(struct cfi_program *program, uint8_t op)
{
	uint64_t column;
	struct cfi_rule rule;
	return cursor_uleb(&program->code, &column) &&
	       read_expression(program,
			       op == DW_CFA_expression ? RULE_EXPRESSION_AT : RULE_EXPRESSION_IS,
			       &rule) &&
	       set_rule(program, column, rule);
}

static bool run_offset(struct cfi_program *program, uint8_t op)
{
	uint64_t column, offset;
	int64_t factored;
	uint8_t kind = op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf ? RULE_IS : RULE_AT;
	if (!cursor_uleb(&program->code, &column))
		return false;
	if (op == DW_CFA_offset_extended_sf || op == DW_CFA_val_offset_sf)
		return cursor_sleb(&program->code, &factored) &&
		       set_offset(program, column, kind, factored);
	if (!cursor_uleb(&program->code, &offset) || offset > INT64_MAX)
		return false;
	factored = op == DW_CFA_GNU_negative_offset_extended ? -(int64_t)offset : (int64_t)offset;
	return set_offset(program, column, kind, factored);
}

static bool run_register(struct cfi_program *program)
{
	uint64_t column, other;
	if (!cursor_uleb(&program->code, &column) || !cursor_uleb(&program->code, &other))
		return false;
	if (other >= program->arch->columns)
		return set_rule(program, column, (struct cfi_rule){.kind = RULE_UNDEFINED});
	return set_rule(program, column, (struct cfi_rule){.kind = RULE_REGISTER, .column = other});
}

static bool run_simple(struct cfi_program *program, uint8_t op)
{
	uint64_t column;
	if (!cursor_uleb(&program->code, &column))
		return false;
	switch (op) {
	case DW_CFA_restore_extended:
		return restore(program, column);
	case DW_CFA_undefined:
		return set_rule(program, column, (struct cfi_rule){.kind = RULE_UNDEFINED});
	case DW_CFA_same_value:
		return set_rule(program, column, (struct cfi_rule){.kind = RULE_SAME});
	default: /* DW_CFA_GNU_args_size */
		return true;
	}
}

static bool run_low(struct cfi_program *program, uint8_t op, bool *done_ret)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return run_advance(program, op, done_ret);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return run_cfa(program, op);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return run_column_expression(program, op);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return run_offset(program, op);
	case DW_CFA_register:
		return run_register(program);
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_GNU_args_size:
		return run_simple(program, op);
	case DW_CFA_remember_state:
		return remember(program);
	case DW_CFA_restore_state:
		return recall(program);
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return true; /* signatures are always removed */
	default:
		return false;
	}
}

static bool run_one(struct cfi_program *program, bool *done_ret)
{
	uint8_t op;
	uint64_t offset;
	if (!cursor_u8(&program->code, &op))
		return false;
	uint8_t operand = op & 0x3f;
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		*done_ret = !advance(program, operand);
		return true;
	case DW_CFA_offset:
		return cursor_uleb(&program->code, &offset) && offset <= INT64_MAX &&
		       set_offset(program, operand, RULE_AT, offset);
	case DW_CFA_restore:
		return restore(program, operand);
	default:
		return run_low(program, op, done_ret);
	}
}

static bool run(struct cfi_program *program, const struct cfi_bytes *instructions)
{
	bool swap = BYTE_ORDER == BIG_ENDIAN, done = false;
	program->code = cursor_make(instructions->bytes, instructions->size, swap, NULL, 0);
	program->section = (struct cfi_section){
		.bytes = *instructions,
		.word = program->entry->word,
	};
	for (size_t n = 0; !done && cursor_left(&program->code) > 0; n++) {
		if (n == INSTRUCTIONS_MAX || !run_one(program, &done))
			return false;
		if (program->until_framed && is_framed(program))
			break;
	}
	return true;
}

/* Executes the CIE's instructions, then the FDE's. */
static bool run_both(struct cfi_program *program, struct cfi_row *initial)
{
	const struct cfi_entry *entry = program->entry;
	memset(program->row, 0, sizeof(*program->row));
	program->initial = NULL;
	program->remembered_count = 0;
	program->location = entry->start;
	if (!run(program, &entry->initial))
		return false;
	*initial = *program->row;
	program->initial = initial;
	program->location = entry->start;
	return run(program, &entry->program);
}

bool cfi_row_make(const struct unwind_arch *arch, const struct cfi_entry *entry, uint64_t vaddr,
		  struct cfi_row *ret)
{
	/* Not zeroed as a whole: the stack of rows is large. */
	struct cfi_program program;
	struct cfi_row initial;
	program.arch = arch;
	program.entry = entry;
	program.wanted = vaddr;
	program.row = ret;
	program.until_framed = false;
	if (entry->return_column >= arch->columns || !run_both(&program, &initial))
		return false;
	ret->return_column = entry->return_column;
	ret->is_signal = entry->is_signal;

	/*
	 * Corrects the row of the C library's lazy binding on arm64: it ignores the words that the
	 * PLT pushed before, so that the return address is above the described CFA.
	 */
	const struct cfi_rule *from = &ret->rules[ret->return_column];
	if (!arch->ra_is_ip && !ret->is_signal && from->kind == RULE_AT && from->offset >= 0 &&
	    from->offset < 1024 && ret->rules[arch->sp].kind == RULE_NONE)
		ret->rules[arch->sp] = (struct cfi_rule){
			.kind = RULE_IS,
			.offset = (from->offset + 16) & ~(int64_t)15,
		};
	return ret->cfa.kind != RULE_NONE;
}

bool cfi_sets_frame_pointer(const struct unwind_arch *arch, const struct cfi_entry *entry)
{
	struct cfi_program program;
	struct cfi_row row, initial;
	program.arch = arch;
	program.entry = entry;
	program.wanted = UINT64_MAX;
	program.row = &row;
	program.until_framed = true;
	return run_both(&program, &initial) && is_framed(&program);
}
