/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/unwind_rows.h"

#include <elf.h>
#include <endian.h>
#include <string.h>
#include "unwind/go_row.h"
#include "unwind/heuristics.h"

/* Columns, which are register numbers. */
enum { FP = 29, RA = 30, SP = 31 };

/* Last register that a call need not preserve: saving it does not matter. */
#define SCRATCH_LAST 18

/* Limits of bytes of instructions, before and after a place. */
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
	uint8_t registers[2]; /* STORE, LOAD; SP: none */
	int64_t at; /* offset from sp before the instruction; JUMP: offset from the instruction */
	int64_t moves;        /* change of sp; *_FROM_*: difference to the other register */
};

static int64_t signed_bits(uint32_t word, unsigned int low, unsigned int count)
{
	return (int64_t)((uint64_t)word << (64 - low - count)) >> (64 - count);
}

/* Address mode of an access. */
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

/* Decodes an access to one or two registers of 8 bytes, general or floating, on the stack. */
static bool decode_access(uint32_t word, struct op *ret)
{
	bool general = !(word >> 26 & 1), load = word >> 22 & 1;
	uint32_t form = word & ~(UINT32_C(1) << 26 | UINT32_C(1) << 22);
	if ((word >> 5 & 31) != SP)
		return false;
	/* stp, ldp: x is 0xa8, d is 0x6c. */
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

/* Decodes add and sub of an immediate to or from the stack or frame pointer. */
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
struct register_places {
	int64_t sp;
	uint64_t known; /* bit per column */
	int64_t at[SP];
};

static void note(struct register_places *frame, const struct op *op)
{
	for (int i = 0; i < 2; i++) {
		if (op->registers[i] <= SCRATCH_LAST || op->registers[i] == SP)
			continue;
		frame->at[op->registers[i]] = frame->sp + op->at + 8 * i;
		frame->known |= UINT64_C(1) << op->registers[i];
	}
}

static void make_cfa_row(const struct register_places *frame, uint8_t base, int64_t cfa,
			 int64_t offset, struct cfi_row *ret)
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

/* Returns whether a function begins at `vaddr`, and not a part of one that is elsewhere. */
static bool is_start(const struct code_place *place, uint64_t vaddr)
{
	struct cfi_entry entry;
	struct cfi_row row;
	uint64_t plt;
	if (!code_find_cfi(place->code, place->arch, vaddr, &entry))
		return code_plt_start(place->code, vaddr, &plt);
	if (entry.start != vaddr || !cfi_row_make(place->arch, &entry, vaddr, &row) ||
	    row.cfa.kind != RULE_IS || row.cfa.column != SP || row.cfa.offset != 0)
		return false;
	for (unsigned int column = 0; column < SP; column++)
		if (row.rules[column].kind == RULE_AT)
			return false;
	return true;
}

/*
 * Follows the bytes from a function's start to the place: the stack pointer was the CFA at the
 * start.
 */
static bool is_set_up(const uint8_t *bytes, size_t size, struct cfi_row *ret)
{
	struct register_places frame = {0};
	bool pointed = false;
	for (size_t at = 0; at < size; at += 4) {
		struct op op = decode(bytes + at);
		switch (op.kind) {
		case OP_HARMLESS:
		case OP_MOVE_SP:
			frame.sp += op.moves;
			break;
		case OP_STORE:
			/* The frame pointer is this function's by now. */
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
	make_cfa_row(&frame, SP, -frame.sp, 0, ret);
	return frame.sp <= 0;
}

/*
 * Follows the bytes from the place to the function's end, where the stack pointer is the CFA.
 * *jump_ret: target of a jump there, in place of a return; else 0.
 */
static bool is_taken_down(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t *jump_ret,
			  struct cfi_row *ret)
{
	struct register_places frame = {0};
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
			make_cfa_row(&frame, base, frame.sp, -frame.sp, ret);
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

/*
 * Prologues and epilogues on arm64. Compilers need not describe each of their instructions, since
 * no call returns there: most of clang's tables describe the complete frame from the end of the
 * prologue to the end of the function. The instructions show which part of the frame exists.
 */

/*
 * Finds the row for a place (`ip` is `vaddr`) in the prologue or epilogue of the entry's function.
 * Returns false if the code between the place and the function's start or end branches, or changes
 * registers in an unknown way. Always false on other architectures.
 */
static bool prologue_row(const struct code_place *place, const struct cfi_entry *entry,
			 struct cfi_row *ret)
{
	uint8_t bytes[PROLOGUE_SIZE];
	uint64_t before = place->vaddr - entry->start, behind = entry->size - before, jump;
	if (place->arch->machine != EM_AARCH64 || before >= entry->size || before % 4 != 0)
		return false;
	behind = behind < PROLOGUE_SIZE ? behind : PROLOGUE_SIZE;
	if (code_read(place->code, place->vaddr, behind, bytes) &&
	    is_taken_down(bytes, behind, place->vaddr, &jump, ret) &&
	    (!jump || is_start(place, jump)))
		return true;
	return before && before <= PROLOGUE_SIZE && is_start(place, entry->start) &&
	       code_read(place->code, entry->start, before, bytes) &&
	       is_set_up(bytes, before, ret);
}

#define VSYSCALL 0xffffffffff600000

void rows_deinit(struct rows *rows)
{
	row_cache_deinit(&rows->by_ip);
	row_cache_deinit(&rows->by_module);
	vec_deinit(&rows->full.items);
	vec_deinit(&rows->codes);
	row_store_deinit(&rows->store);
}

const struct code *rows_code(struct rows *rows, const struct location *location)
{
	while (rows->codes.count <= location->module->index) {
		const struct code **slot = vec_push(&rows->codes);
		if (!slot)
			return NULL;
		*slot = NULL;
	}
	const struct code **slot = &rows->codes.items[location->module->index];
	if (!*slot)
		*slot = code_cache_get(rows->shared->code_cache, location->module, location->pid);
	return *slot;
}

struct location rows_locate(const struct rows *rows, uint32_t view, uint64_t ip)
{
	const struct unwind_locator *locator = &rows->shared->locator;
	return locator->locate(locator->arg, view, ip);
}

static void clear_rows(struct rows *rows)
{
	row_store_deinit(&rows->store);
	row_cache_clear(&rows->by_ip);
	row_cache_clear(&rows->by_module);
}

void rows_drop_code(struct rows *rows)
{
	clear_rows(rows);
	memset(rows->calls, 0, sizeof(rows->calls));
	memset(rows->go_calls, 0, sizeof(rows->go_calls));
	rows->full.items.count = 0;
	rows->codes.count = 0;
}

static void set_full(struct rows *rows, const struct unwind_arch *arch,
		     const struct cfi_row *full, struct row *ret)
{
	if (full->rules[full->return_column].kind == RULE_UNDEFINED)
		ret->kind = ROW_OUTERMOST;
	else if (!row_pack(arch, full, ret)) {
		uint32_t index = full_rows_add(&rows->full, full);
		if (index == UINT32_MAX) {
			/* There are too many: drop all. */
			rows->full.items.count = 0;
			clear_rows(rows);
			index = full_rows_add(&rows->full, full);
		}
		ret->kind = index == UINT32_MAX ? ROW_FRAME_POINTER : ROW_FULL;
		ret->full = index;
	}
}

/*
 * Returns true for the return address of a signal handler with an entry that begins at it, not
 * before.
 */
static bool is_trampoline(const struct code_place *place, struct cfi_row *ret)
{
	struct cfi_entry entry;
	return place->ip != place->vaddr &&
	       code_find_cfi(place->code, place->arch, place->ip, &entry) && entry.is_signal &&
	       cfi_row_make(place->arch, &entry, place->ip, ret);
}

/* Work of searching the code before a place. */
#define UNKNOWN_WORK 1024

static void make_unknown(struct rows *rows, const struct code_place *place,
			 struct row *ret)
{
	struct cfi_row full;
	rows->work += UNKNOWN_WORK;
	if (guess_is_start(place) || guess_starts_threads(place))
		ret->kind = ROW_OUTERMOST;
	else if (is_trampoline(place, &full) || guess_sigreturn(place, &full) ||
		 guess_plt(place, &full))
		set_full(rows, place->arch, &full, ret);
	else if (guess_is_put_there(place))
		ret->kind = ROW_OUTERMOST;
	else
		ret->kind = guess_keeps_frame_pointer(place) ? ROW_FRAME_POINTER : ROW_UNKNOWN;
}

/* Makes the row of an entry; in a prologue or epilogue, corrects it by the instructions. */
static bool row_of_entry(const struct code_place *place, const struct cfi_entry *entry, bool exact,
			 struct cfi_row *ret)
{
	struct cfi_row edge;
	if (!cfi_row_make(place->arch, entry, place->vaddr, ret))
		return false;
	if (exact && !ret->is_signal && ret->rules[ret->return_column].kind != RULE_UNDEFINED &&
	    prologue_row(place, entry, &edge))
		*ret = edge;
	return true;
}

/* Returns whether the code is a Go function with a known frame size. */
static bool make_go_row(struct rows *rows, const struct code_place *place, struct row *ret)
{
	struct cfi_row full;
	switch (go_row_make(place, &rows->work, &full)) {
	case GO_ROW_FRAME:
		set_full(rows, place->arch, &full, ret);
		return true;
	case GO_ROW_TOP:
		ret->kind = ROW_OUTERMOST;
		return true;
	case GO_ROW_SWITCH:
		ret->kind = ROW_SWITCH;
		return true;
	default:
		return false;
	}
}

static void make_row(struct rows *rows, const struct code *code,
		     const struct unwind_arch *arch, const struct location *location, bool exact,
		     struct row *ret)
{
	struct code_place place = {.arch = arch, .code = code};
	struct cfi_entry entry;
	struct cfi_row full;
	if (code_is_blind(code)) {
		ret->kind = ROW_FRAME_POINTER;
		return;
	}
	if (!code_vaddr(code, location->offset, &place.vaddr)) {
		ret->kind = ROW_NO_CODE;
		return;
	}
	place.ip = place.vaddr + !exact;
	if (make_go_row(rows, &place, ret))
		return;
	/* The entry of sigreturn in arm64's vdso is right in some kernels only. */
	bool trampoline = location->module->kind == MODULE_VDSO && !arch->calls_push &&
			  guess_sigreturn(&place, &full);
	bool found = !trampoline && code_find_cfi(code, arch, place.vaddr, &entry);
	rows->work += found ? entry.initial.size + entry.program.size : 0;
	/*
	 * The entry of a program's first function may lack the mark of an outermost function, if it
	 * is in C.
	 */
	if (found && entry.start != 0 && entry.start == code_entry(code))
		ret->kind = ROW_OUTERMOST;
	else if (trampoline || (found && row_of_entry(&place, &entry, exact, &full)))
		set_full(rows, arch, &full, ret);
	else
		make_unknown(rows, &place, ret);
}

/* Limit of entries that are searched for one function of generated code. Runtimes write one. */
#define GENERATED_ENTRIES_MAX 64

/* Finds the row of generated code with call frame information; else frame pointers are used. */
static void make_generated(struct rows *rows, const struct unwind_arch *arch,
			   const struct location *location, struct row *ret)
{
	const struct unwind_files *files = &rows->shared->files;
	struct unwind_generated found;
	struct cfi_entry entry;
	struct cfi_row full;
	uint64_t offset = 0;
	ret->kind = ROW_FRAME_POINTER;
	if (!files->generated(files->generated_arg, location->module, location->pid,
			      location->offset, &found) ||
	    (found.machine != EM_NONE && found.machine != arch->machine))
		return;
	const struct cfi_section section = {
		.bytes = {found.eh_frame.bytes, found.eh_frame.size, found.eh_frame_vaddr},
		.word = arch->word,
	};
	for (int i = 0; i < GENERATED_ENTRIES_MAX && cfi_next(&section, &offset, &entry); i++)
		if (found.vaddr >= entry.start && found.vaddr - entry.start < entry.size) {
			rows->work += entry.initial.size + entry.program.size;
			if (cfi_row_make(arch, &entry, found.vaddr, &full))
				set_full(rows, arch, &full, ret);
			return;
		}
}

/* Makes the row of code without a file. */
static enum row_kind kind_without_file(const struct location *location)
{
	if (!location->module)
		return ROW_UNMAPPED;
	switch (location->module->kind) {
	case MODULE_ANONYMOUS:
	case MODULE_JIT:
		return ROW_FRAME_POINTER;
	case MODULE_FILE:
	case MODULE_VDSO:
		return ROW_NONE;
	default:
		return ROW_NO_CODE;
	}
}

bool rows_has_file(const struct location *location)
{
	return kind_without_file(location) == ROW_NONE;
}

/* Stores a row. Returns its index; UINT32_MAX when out of memory. */
static uint32_t store_row(struct rows *rows, const struct row *row)
{
	uint32_t index = row_store_add(&rows->store, row);
	if (index != UINT32_MAX || rows->store.items.count < ROWS_MAX)
		return index;
	clear_rows(rows);
	return row_store_add(&rows->store, row);
}

/* Calls of the page [vsyscall] push nothing. */
static bool is_vsyscall(const struct location *location, uint64_t pc)
{
	return !location->module && (pc & ~(uint64_t)0xfff) == VSYSCALL;
}

/* Finds the row of an address: another process has it, or it is made. */
static struct row content_of(struct rows *rows, const struct rows_address *address)
{
	struct location location = rows_locate(rows, address->view, address->pc);
	struct row content = {.kind = kind_without_file(&location)};
	if (is_vsyscall(&location, address->pc))
		return (struct row){.kind = ROW_SIMPLE, .cfa_column = address->arch->sp,
				    .cfa_offset = 8, .saved = 1, .at = {-1}};
	bool generated = location.module && location.module->kind == MODULE_JIT &&
			 rows->shared->files.generated;
	if (content.kind != ROW_NONE && !generated)
		return content;
	if (rows_has_key_bits(location.offset)) {
		content.kind = ROW_NO_CODE;
		return content;
	}
	const struct code *code = generated ? NULL : rows_code(rows, &location);
	if (!code && !generated) {
		content.kind = ROW_FRAME_POINTER;
		return content;
	}
	uint64_t key = location.offset | address->flags;
	uint32_t index = row_cache_find(&rows->by_module, location.module->index, key);
	if (index != UINT32_MAX)
		return rows->store.items.items[index];
	if (generated)
		make_generated(rows, address->arch, &location, &content);
	else
		make_row(rows, code, address->arch, &location, address->flags & KEY_EXACT,
			 &content);
	index = store_row(rows, &content);
	if (index != UINT32_MAX)
		row_cache_add(&rows->by_module, location.module->index, key, index);
	return content;
}

const struct row *rows_find_slow(struct rows *rows, const struct rows_address *address)
{
	rows->spare = content_of(rows, address);
	/* Its key would be the key of another address. */
	if (rows_has_key_bits(address->pc))
		return &rows->spare;
	uint32_t index = store_row(rows, &rows->spare);
	if (index == UINT32_MAX)
		return &rows->spare;
	row_cache_add(&rows->by_ip, address->view, address->pc | address->flags, index);
	return &rows->store.items.items[index];
}
