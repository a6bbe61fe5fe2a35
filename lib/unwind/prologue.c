/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/prologue.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

/* Columns, which are register numbers. */
enum { FP = 29, RA = 30, SP = 31 };

/* The last that a call does not give back: what is put there is of no consequence. */
#define SCRATCH_LAST 18

/* In bytes: of instructions before, and behind a place. */
#define PROLOGUE_SIZE 128

enum op_kind {
	OP_OTHER,
	OP_HARMLESS,
	OP_STORE, /* stores `registers` on the stack */
	OP_LOAD,
	OP_MOVE_SP,
	OP_SP_FROM_FP,
	OP_FP_FROM_SP,
	OP_RETURN,
	OP_JUMP,
};

struct op {
	enum op_kind kind;
	uint8_t registers[2]; /* STORE, LOAD; SP: none that matters */
	int64_t at;           /* offset from sp before the instruction; JUMP: offset from the instruction */
	int64_t moves;        /* change of sp; *_FROM_*: difference to the other register */
};

static int64_t signed_bits(uint32_t word, unsigned int low, unsigned int count)
{
	return (int64_t)((uint64_t)word << (64 - low - count)) >> (64 - count);
}

/* How the address of an access is made. */
enum index { INDEX_POST, INDEX_OFFSET, INDEX_PRE };

static struct op access_of(bool load, enum index index, int64_t offset)
{
	return (struct op){
		.kind = load ? OP_LOAD : OP_STORE,
		.registers = {SP, SP},
		.at = index == INDEX_POST ? 0 : offset,
		.moves = index == INDEX_OFFSET ? 0 : offset,
	};
}

/* One or two registers of 8 bytes, general or floating, on the stack. */
static bool decode_access(uint32_t word, struct op *ret)
{
	bool general = !(word >> 26 & 1), load = word >> 22 & 1;
	uint32_t form = word & ~(UINT32_C(1) << 26 | UINT32_C(1) << 22);
	if ((word >> 5 & 31) != SP)
		return false;
	/* stp, ldp: x as 0xa8, d as 0x6c. */
	uint32_t pair = general ? 0xa8000000 : 0x68000000;
	if ((form & 0xfe000000) == pair && (form >> 23 & 3) != 0) {
		enum index index = (form >> 23 & 3) == 1   ? INDEX_POST
				   : (form >> 23 & 3) == 2 ? INDEX_OFFSET
							   : INDEX_PRE;
		*ret = access_of(load, index, 8 * signed_bits(word, 15, 7));
		if (general) {
			ret->registers[0] = word & 31;
			ret->registers[1] = word >> 10 & 31;
		}
		return true;
	}
	if ((form & 0xffc00000) == 0xf9000000)
		*ret = access_of(load, INDEX_OFFSET, 8 * (int64_t)(word >> 10 & 0xfff));
	else if ((form & 0xffe00400) == 0xf8000400)
		*ret = access_of(load, word >> 11 & 1 ? INDEX_PRE : INDEX_POST,
				 signed_bits(word, 12, 9));
	else
		return false;
	if (general)
		ret->registers[0] = word & 31;
	return true;
}

/* add and sub of an immediate to or from the stack or frame pointer. */
static bool decode_move(uint32_t word, struct op *ret)
{
	uint32_t to = word & 31, from = word >> 5 & 31;
	int64_t moves = (int64_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
	if ((word & 0xbf800000) != 0x91000000)
		return false;
	if (to == SP && from == SP)
		ret->kind = OP_MOVE_SP;
	else if (to == SP && from == FP)
		ret->kind = OP_SP_FROM_FP;
	else if (to == FP && from == SP)
		ret->kind = OP_FP_FROM_SP;
	else
		return false;
	ret->moves = word >> 30 & 1 ? -moves : moves;
	return true;
}

static struct op decode(const uint8_t *bytes)
{
	struct op op = {.kind = OP_OTHER};
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	word = le32toh(word);
	if (decode_access(word, &op) || decode_move(word, &op))
		return op;
	bool hint = (word & 0xfffff01f) == 0xd503201f; /* paciasp, autiasp, bti */
	/* ret of x30, retaa, retab */
	bool returns = word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff;
	bool computes = (word >> 26 & 7) == 4 || (word >> 25 & 5) == 5;
	if (hint || (computes && (word & 31) <= SCRATCH_LAST))
		op.kind = OP_HARMLESS;
	else if (returns)
		op.kind = OP_RETURN;
	else if (word >> 26 == 5)
		op = (struct op){.kind = OP_JUMP, .at = 4 * signed_bits(word, 0, 26)};
	return op;
}

/* Places of registers, relative to the initial stack pointer. */
struct frame {
	int64_t sp;
	uint64_t known; /* bit per column */
	int64_t at[SP];
};

static void note(struct frame *frame, const struct op *op)
{
	for (int i = 0; i < 2; i++) {
		if (op->registers[i] <= SCRATCH_LAST || op->registers[i] == SP)
			continue;
		frame->at[op->registers[i]] = frame->sp + op->at + 8 * i;
		frame->known |= UINT64_C(1) << op->registers[i];
	}
}

static void make_row(const struct frame *frame, uint8_t base, int64_t cfa, int64_t offset,
		     struct cfi_row *ret)
{
	*ret = (struct cfi_row){
		.cfa = {.kind = RULE_IS, .column = base, .offset = cfa},
		.return_column = RA,
	};
	for (unsigned int column = 0; column < SP; column++)
		if (frame->known >> column & 1)
			ret->rules[column] = (struct cfi_rule){
				.kind = RULE_AT, .offset = frame->at[column] + offset};
}

/* Whether it is where a function begins, and no part of one that lies elsewhere. */
static bool is_start(const struct code_place *place, uint64_t vaddr)
{
	struct cfi_entry entry;
	struct cfi_row row;
	uint64_t plt;
	if (!code_find(place->code, place->arch, vaddr, &entry))
		return code_plt(place->code, vaddr, &plt);
	if (entry.start != vaddr || !cfi_row_make(place->arch, &entry, vaddr, &row) ||
	    row.cfa.kind != RULE_IS || row.cfa.column != SP || row.cfa.offset != 0)
		return false;
	for (unsigned int column = 0; column < SP; column++)
		if (row.rules[column].kind == RULE_AT)
			return false;
	return true;
}

/* The bytes lead from a function's start to the place: the stack pointer was the CFA at first. */
static bool is_set_up(const uint8_t *bytes, size_t size, struct cfi_row *ret)
{
	struct frame frame = {0};
	bool pointed = false;
	for (size_t at = 0; at < size; at += 4) {
		struct op op = decode(bytes + at);
		switch (op.kind) {
		case OP_HARMLESS:
		case OP_MOVE_SP:
			frame.sp += op.moves;
			break;
		case OP_STORE:
			/* It is this function's own by now. */
			if (pointed && (op.registers[0] == FP || op.registers[1] == FP))
				return false;
			note(&frame, &op);
			frame.sp += op.moves;
			break;
		case OP_FP_FROM_SP:
			if (!(frame.known >> FP & 1))
				return false;
			pointed = true;
			break;
		default:
			return false;
		}
	}
	make_row(&frame, SP, -frame.sp, 0, ret);
	return frame.sp <= 0;
}

/*
 * The bytes begin at the place, and lead out of the function, where the stack pointer is the
 * CFA. *jump_ret: to there, in place of a return; else 0.
 */
static bool is_taken_down(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t *jump_ret,
			  struct cfi_row *ret)
{
	struct frame frame = {0};
	uint8_t base = SP;
	*jump_ret = 0;
	for (size_t at = 0; at + 4 <= size; at += 4) {
		struct op op = decode(bytes + at);
		if (op.kind == OP_SP_FROM_FP) {
			if (frame.known)
				return false;
			base = FP;
			frame.sp = op.moves;
		} else if (op.kind == OP_RETURN || op.kind == OP_JUMP) {
			if (op.kind == OP_JUMP)
				*jump_ret = vaddr + at + (uint64_t)op.at;
			make_row(&frame, base, frame.sp, -frame.sp, ret);
			return true;
		} else if (op.kind == OP_LOAD) {
			note(&frame, &op);
		} else if (op.kind != OP_HARMLESS && op.kind != OP_MOVE_SP) {
			return false;
		}
		if (op.kind != OP_SP_FROM_FP)
			frame.sp += op.moves;
	}
	return false;
}

bool prologue_row(const struct code_place *place, const struct cfi_entry *entry, struct cfi_row *ret)
{
	uint8_t bytes[PROLOGUE_SIZE];
	uint64_t before = place->vaddr - entry->start, behind = entry->size - before, jump;
	if (place->arch->machine != EM_AARCH64 || before >= entry->size || before % 4 != 0)
		return false;
	behind = behind < PROLOGUE_SIZE ? behind : PROLOGUE_SIZE;
	if (code_text(place->code, place->vaddr, behind, bytes) &&
	    is_taken_down(bytes, behind, place->vaddr, &jump, ret) &&
	    (!jump || is_start(place, jump)))
		return true;
	return before && before <= PROLOGUE_SIZE && is_start(place, entry->start) &&
	       code_text(place->code, entry->start, before, bytes) &&
	       is_set_up(bytes, before, ret);
}
