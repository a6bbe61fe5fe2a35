/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unwinder's own engine. A frame with a row in the cache (unwind_rows.h) costs that look-up and
 * the loads of the registers saved in the frame.
 */
#include "unwind/engine.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "unwind/frame_search.h"
#include "unwind/heuristics.h"
#include "unwind/unwind_rows.h"

/* Limit of frames of unknown code that are followed to reach known code. */
#define CHAIN_MAX 64

/* Limit of `rows->work` for a stack: about 3 ms. A file can make each frame cost a millisecond. */
#define WORK_MAX ((uint64_t)1 << 20)

/* Limit of searches in a stack: after the first one, frames restore the frame pointer. */
#define SEARCHES_MAX 4

/* State of unwinding a stack. */
struct cfi_walk {
	struct rows *rows; /* the thread's */
	const struct unwind_arch *arch;
	uint32_t view;
	struct stack_copy stack;
	struct frame_registers registers;
	uint64_t ip, sp;
	bool exact;   /* same as in struct unwind_frame */
	enum unwind_method method; /* how the frame was found */
	bool is_whole; /* the outermost frame has an outermost function */
	bool switched; /* a signal interrupted code on another stack, which was not copied */
	unsigned int searches; /* remaining searches for an unknown frame pointer */
	struct unwind_result *result;
};

/* Result of an attempt to unwind a frame. */
enum step {
	STEP_DONE,
	STEP_TRUNCATED,
	STEP_NO_INFO,
	STEP_BAD,
};

static struct location locate(const struct cfi_walk *walk, uint64_t ip)
{
	return rows_locate(walk->rows, walk->view, ip);
}

static inline const struct row *row_of(struct cfi_walk *walk, uint64_t ip, bool exact)
{
	return rows_find(walk->rows, walk->arch, walk->view, ip, exact);
}

/* Result of a failed load from the stack. */
static enum step missing(struct cfi_walk *walk, uint64_t address)
{
	if (!walk->switched && !stack_could_hold(&walk->stack, address))
		return STEP_BAD;
	walk->result->missing = address;
	walk->result->switched = walk->switched;
	return STEP_TRUNCATED;
}

/* Continues at a frame. Returns STEP_BAD if the stack pointer does not advance. */
static enum step arrive(struct cfi_walk *walk, uint64_t ip, uint64_t sp, bool pushed,
			enum unwind_method method)
{
	ip &= walk->arch->ip_mask;
	/* On arm64, a leaf function need not move the stack pointer. */
	bool still = walk->exact && !pushed && sp == walk->sp && ip != walk->ip;
	if (sp <= walk->sp && !still)
		return STEP_BAD;
	walk->ip = ip;
	walk->sp = sp;
	walk->exact = false;
	walk->method = method;
	return STEP_DONE;
}

/*
 * Returns whether a register is saved below the stack pointer: it is restored already. Compilers do
 * not describe the end of a function.
 */
static inline bool is_taken_back(const struct cfi_walk *walk, uint64_t address)
{
	return walk->exact && address < walk->sp;
}

/* Searches the frame pointer of this frame, or of its caller if this frame has no record. */
static bool search_frame_pointer(struct cfi_walk *walk, bool caller)
{
	const struct frame_search search = {
		.rows = walk->rows, .arch = walk->arch, .view = walk->view, .stack = &walk->stack,
		.ip = walk->ip, .sp = walk->sp, .exact = walk->exact, .caller = caller,
	};
	unsigned int column = walk->arch->fp;
	if (walk->searches == 0 || register_known(&walk->registers, column))
		return false;
	bool sure;
	walk->searches--;
	if (!frame_search_find(&search, &walk->registers.values[column], &sure))
		return false;
	walk->registers.known |= (uint64_t)1 << column;
	walk->result->searches++;
	walk->result->frame_pointers += !sure;
	return true;
}

/* Returns whether a register is known; a frame pointer may be searched. */
static inline bool find_register(struct cfi_walk *walk, unsigned int column)
{
	return __builtin_expect(register_known(&walk->registers, column), 1) ||
	       (column == walk->arch->fp && search_frame_pointer(walk, false));
}

static inline __attribute__((always_inline)) enum step step_simple(struct cfi_walk *walk,
								  const struct row *row)
{
	const struct unwind_arch *arch = walk->arch;
	struct frame_registers *registers = &walk->registers;
	if (!find_register(walk, row->cfa_column))
		return STEP_NO_INFO;
	uint64_t cfa = registers->values[row->cfa_column] + (uint64_t)(int64_t)row->cfa_offset;
	unsigned int saved = row->saved;
	uint64_t known = registers->known & arch->preserved;
	while (saved) {
		unsigned int slot = __builtin_ctz(saved);
		unsigned int column = arch->slots[slot];
		saved &= saved - 1;
		uint64_t address = cfa + 8 * (uint64_t)(int64_t)row->at[slot];
		if (__builtin_expect(stack_load(&walk->stack, address, &registers->values[column]),
				     1)) {
			known |= (uint64_t)1 << column;
			continue;
		}
		if (slot == 0)
			return missing(walk, address);
		if (!is_taken_back(walk, address))
			known &= ~((uint64_t)1 << column);
	}
	/* On arm64, the return address may still be in its register. */
	if (!(known >> arch->ra & 1))
		return STEP_NO_INFO;
	registers->values[arch->sp] = cfa;
	registers->known = known | (uint64_t)1 << arch->sp;
	return arrive(walk, registers->values[arch->ra], cfa, arch->calls_push,
		      row->kind == ROW_GO ? UNWIND_BY_GO : UNWIND_BY_CFI);
}

/* Computes a rule's value; STEP_NO_INFO also if the rule is "undefined". */
static enum step rule_value(struct cfi_walk *walk, const struct cfi_rule *rule, unsigned int column,
			    uint64_t cfa, uint64_t *ret)
{
	const struct frame_registers *registers = &walk->registers;
	size_t word = walk->arch->word;
	uint64_t address;
	enum expression_end end;
	switch (rule->kind) {
	case RULE_AT:
		address = cfa + (uint64_t)rule->offset;
		return stack_load_sized(&walk->stack, address, word, ret)
			       ? STEP_DONE
			       : missing(walk, address);
	case RULE_IS:
		*ret = cfa + (uint64_t)rule->offset;
		return STEP_DONE;
	case RULE_SAME:
	case RULE_REGISTER:
		column = rule->kind == RULE_SAME ? column : rule->column;
		if (!register_known(registers, column))
			return STEP_NO_INFO;
		*ret = registers->values[column];
		return STEP_DONE;
	case RULE_EXPRESSION_AT:
	case RULE_EXPRESSION_IS:
		end = expression_evaluate(walk->arch, rule->expression, rule->size, registers,
					  &walk->stack, &cfa, ret, &address);
		if (end == EXPRESSION_OK && rule->kind == RULE_EXPRESSION_AT) {
			address = *ret;
			end = stack_load_sized(&walk->stack, address, word, ret)
				      ? EXPRESSION_OK
				      : EXPRESSION_MISSING;
		}
		return end == EXPRESSION_OK	   ? STEP_DONE
		       : end == EXPRESSION_MISSING ? missing(walk, address)
						   : STEP_NO_INFO;
	default:
		return STEP_NO_INFO;
	}
}

static enum step full_cfa(struct cfi_walk *walk, const struct cfi_rule *rule, uint64_t *ret)
{
	const struct frame_registers *registers = &walk->registers;
	uint64_t address;
	if (rule->kind == RULE_IS) {
		if (!find_register(walk, rule->column))
			return STEP_NO_INFO;
		*ret = registers->values[rule->column] + (uint64_t)rule->offset;
		return STEP_DONE;
	}
	find_register(walk, walk->arch->fp);
	switch (expression_evaluate(walk->arch, rule->expression, rule->size, registers,
				    &walk->stack, NULL, ret, &address)) {
	case EXPRESSION_OK:
		return STEP_DONE;
	case EXPRESSION_MISSING:
		return missing(walk, address);
	default:
		return STEP_NO_INFO;
	}
}

/* Computes the caller's registers by a full row, except ip and sp. */
static void full_registers(struct cfi_walk *walk, const struct cfi_row *row, uint64_t cfa,
			   struct frame_registers *ret)
{
	const struct unwind_arch *arch = walk->arch;
	ret->known = 0;
	for (unsigned int column = 0; column < arch->columns; column++) {
		struct cfi_rule rule = row->rules[column];
		bool kept = row->is_signal || (arch->preserved >> column & 1);
		if (rule.kind == RULE_NONE)
			rule.kind = kept ? RULE_SAME : RULE_UNDEFINED;
		if (rule.kind == RULE_AT && is_taken_back(walk, cfa + (uint64_t)rule.offset))
			rule.kind = RULE_SAME;
		if (column != arch->sp && column != row->return_column &&
		    rule_value(walk, &rule, column, cfa, &ret->values[column]) == STEP_DONE)
			ret->known |= (uint64_t)1 << column;
	}
}

static enum step step_full(struct cfi_walk *walk, const struct cfi_row *row)
{
	const struct unwind_arch *arch = walk->arch;
	struct frame_registers next;
	uint64_t cfa, sp, ip;
	walk->rows->work += row->cfa.size;
	for (size_t i = 0; i < ARCH_COLUMNS; i++)
		walk->rows->work += row->rules[i].size; /* expressions alone */
	walk->result->signals += row->is_signal;
	enum step step = full_cfa(walk, &row->cfa, &cfa);
	if (step != STEP_DONE)
		return step;
	full_registers(walk, row, cfa, &next);
	struct cfi_rule rule = row->rules[row->return_column];
	/* Without a rule, the return address is still in its register, if there is one. */
	if (rule.kind == RULE_NONE && !arch->ra_is_ip)
		rule.kind = RULE_SAME;
	if (rule.kind == RULE_SAME && arch->ra_is_ip)
		return STEP_NO_INFO;
	step = rule_value(walk, &rule, row->return_column, cfa, &ip);
	if (step != STEP_DONE)
		return step;
	sp = cfa;
	if (row->rules[arch->sp].kind != RULE_NONE)
		step = rule_value(walk, &row->rules[arch->sp], arch->sp, cfa, &sp);
	if (step != STEP_DONE)
		return step;
	next.values[arch->sp] = sp;
	next.values[row->return_column] = ip;
	next.known |= (uint64_t)1 << arch->sp | (uint64_t)1 << row->return_column;
	walk->registers = next;
	if (!row->is_signal)
		return arrive(walk, ip, sp, arch->calls_push && rule.kind != RULE_REGISTER,
			      row->is_go ? UNWIND_BY_GO : UNWIND_BY_CFI);
	/* A signal handler may run on a stack of its own. */
	walk->switched = stack_is_another(&walk->stack, sp);
	walk->ip = ip & arch->ip_mask;
	walk->sp = sp;
	walk->exact = true;
	walk->method = UNWIND_BY_SIGNAL;
	return STEP_DONE;
}

/* A frame record, to which a frame pointer points; `sp`: the address after it. */
struct record {
	uint64_t fp, ip, sp;
};

/* Loads the frame record at `fp`. Returns STEP_NO_INFO if it cannot be one. */
static enum step read_record(struct cfi_walk *walk, uint64_t fp, uint64_t sp, struct record *ret)
{
	uint64_t word = walk->arch->word;
	if (fp < sp || fp % word != 0)
		return STEP_NO_INFO;
	if (!stack_load_sized(&walk->stack, fp, word, &ret->fp) ||
	    !stack_load_sized(&walk->stack, fp + word, word, &ret->ip)) {
		/* Far above the copy, it is no frame pointer, but another value in the register. */
		bool near = fp - walk->stack.low < walk->stack.size + ((uint64_t)1 << 20);
		return near ? missing(walk, fp) : STEP_NO_INFO;
	}
	ret->ip &= walk->arch->ip_mask;
	ret->sp = fp + 2 * word;
	return STEP_DONE;
}

/* Returns whether frame pointers lead from unknown code to known code. */
static bool leads_to_code(struct cfi_walk *walk)
{
	if (!find_register(walk, walk->arch->fp))
		return false;
	uint64_t fp = walk->registers.values[walk->arch->fp], sp = walk->sp;
	for (size_t i = 0; i < CHAIN_MAX; i++) {
		struct record record;
		if (read_record(walk, fp, sp, &record) != STEP_DONE)
			return false;
		enum row_kind kind = row_of(walk, record.ip, false)->kind;
		if (kind != ROW_UNMAPPED)
			return kind != ROW_NO_CODE;
		fp = record.fp;
		sp = record.sp;
	}
	return false;
}

/* Finds the return address of a function that has not made a frame, if the code proves that. */
static bool leaf_return(struct cfi_walk *walk, uint64_t *ret)
{
	const struct unwind_arch *arch = walk->arch;
	if (arch->calls_push) {
		if (!stack_load_sized(&walk->stack, walk->sp, arch->word, ret))
			return false;
	} else if (register_known(&walk->registers, arch->ra)) {
		*ret = walk->registers.values[arch->ra] & arch->ip_mask;
	} else {
		return false;
	}
	struct location here = locate(walk, walk->ip), caller = locate(walk, *ret - 1);
	if (!rows_has_file(&here) || !rows_has_file(&caller))
		return false;
	const struct code *code = rows_code(walk->rows, &here);
	const struct code *caller_code = rows_code(walk->rows, &caller);
	struct code_place place = {.arch = arch, .code = code};
	struct code_place call = {.arch = arch, .code = caller_code};
	if (!code || !caller_code || !code_vaddr(code, here.offset, &place.vaddr) ||
	    !code_vaddr(caller_code, caller.offset, &call.vaddr))
		return false;
	place.ip = place.vaddr;
	call.ip = call.vaddr + 1;
	if (here.module != caller.module)
		return guess_calls_out(&call) && guess_has_no_frame(&place);
	return guess_is_call_to(&call, place.vaddr);
}

/* On arm64, even a function without calls may have a frame record. */
static bool has_own_record(struct cfi_walk *walk, uint64_t returned)
{
	const struct unwind_arch *arch = walk->arch;
	struct record record;
	return !arch->calls_push && register_known(&walk->registers, arch->fp) &&
	       read_record(walk, walk->registers.values[arch->fp], walk->sp, &record) ==
		       STEP_DONE &&
	       record.ip == returned;
}

/*
 * Returns whether the caller at the frame pointer has evidently called another function than this
 * code, which has no call frame information. Then the frame pointer is that function's, and this
 * code keeps none.
 */
static bool is_anothers(struct cfi_walk *walk, uint64_t returned)
{
	struct location here = locate(walk, walk->ip - !walk->exact);
	struct location caller = locate(walk, returned - 1);
	if (!caller.module || caller.module->kind != MODULE_FILE)
		return false;
	const struct code *code = rows_code(walk->rows, &caller);
	struct code_place place = {.arch = walk->arch, .code = code};
	uint64_t vaddr = 0, target, plt;
	struct cfi_entry entry;
	if (!code || !code_vaddr(code, caller.offset, &place.vaddr))
		return false;
	place.ip = place.vaddr + 1;
	if (!guess_call_target(&place, &target) || code_plt_start(code, target, &plt))
		return false;
	bool same = here.module == caller.module && code_vaddr(code, here.offset, &vaddr);
	if (code_find_cfi(code, walk->arch, target, &entry))
		return !same || vaddr < entry.start || vaddr - entry.start >= entry.size;
	return same && target > vaddr;
}

/* Returns whether the frame pointer leads to a return address in a file, or in generated code. */
static bool has_record(struct cfi_walk *walk)
{
	struct record record;
	if (!register_known(&walk->registers, walk->arch->fp) ||
	    read_record(walk, walk->registers.values[walk->arch->fp], walk->sp, &record) != STEP_DONE)
		return false;
	enum row_kind kind = row_of(walk, record.ip, false)->kind;
	return kind != ROW_UNMAPPED && kind != ROW_NO_CODE;
}

/*
 * Finds the return address of a trampoline in generated code, which has moved the stack pointer by one
 * word to call a function: CPython (PYTHONPERFSUPPORT) makes one for each function of Python. The word
 * must be the return address of a call by a register in a file, and no frame pointer leads on.
 */
static bool trampoline_return(struct cfi_walk *walk, uint64_t *ret)
{
	const struct unwind_arch *arch = walk->arch;
	struct location here = locate(walk, walk->ip - 1);
	if (walk->exact || !here.module || rows_has_file(&here) ||
	    !stack_load_sized(&walk->stack, walk->sp + arch->word, arch->word, ret) || has_record(walk))
		return false;
	struct location caller = locate(walk, *ret - 1);
	const struct code *code = rows_has_file(&caller) ? rows_code(walk->rows, &caller) : NULL;
	struct code_place call = {.arch = arch, .code = code};
	if (!code || !code_vaddr(code, caller.offset, &call.vaddr))
		return false;
	call.ip = call.vaddr + 1;
	return guess_calls_register(&call);
}

/* Leaves a trampoline, which changes no register that its caller expects to be preserved. */
static enum step step_trampoline(struct cfi_walk *walk, uint64_t ip)
{
	struct frame_registers *registers = &walk->registers;
	uint64_t sp = walk->sp + 2 * (uint64_t)walk->arch->word;
	registers->values[walk->arch->sp] = sp;
	walk->result->frame_pointers++;
	return arrive(walk, ip, sp, true, UNWIND_BY_FRAME_POINTER);
}

/* Continues in the caller that a record has. */
static enum step step_to_record(struct cfi_walk *walk, const struct record *record)
{
	const struct unwind_arch *arch = walk->arch;
	struct frame_registers *registers = &walk->registers;
	enum step step = arrive(walk, record->ip, record->sp, true, UNWIND_BY_FRAME_POINTER);
	if (step != STEP_DONE)
		return step == STEP_BAD ? STEP_NO_INFO : step;
	registers->values[arch->fp] = record->fp;
	registers->values[arch->sp] = record->sp;
	registers->values[arch->ra] = record->ip;
	registers->known = (uint64_t)1 << arch->fp | (uint64_t)1 << arch->ra;
	/* On arm64, a function's record may be anywhere in its frame. */
	if (arch->calls_push)
		registers->known |= (uint64_t)1 << arch->sp;
	walk->result->frame_pointers++;
	return STEP_DONE;
}

/*
 * Leaves a function of arm64 with its return address in a register that a stack snapshot lacks. Its
 * caller's frame record leads to the caller's caller; the caller is missing.
 */
static enum step step_over_caller(struct cfi_walk *walk)
{
	struct record record;
	if (walk->arch->calls_push || !walk->exact || !search_frame_pointer(walk, true) ||
	    read_record(walk, walk->registers.values[walk->arch->fp], walk->sp, &record) != STEP_DONE)
		return STEP_NO_INFO;
	return step_to_record(walk, &record);
}

/* Unwinds by frame pointer. `pointed`: the code probably keeps one. */
static enum step step_by_frame_pointer(struct cfi_walk *walk, bool pointed)
{
	const struct unwind_arch *arch = walk->arch;
	struct frame_registers *registers = &walk->registers;
	struct record record;
	uint64_t ip;
	if (walk->exact && leaf_return(walk, &ip) && !has_own_record(walk, ip)) {
		registers->values[arch->sp] = walk->sp + (arch->calls_push ? arch->word : 0);
		walk->result->frame_pointers++;
		return arrive(walk, ip, registers->values[arch->sp], arch->calls_push,
			      UNWIND_BY_FRAME_POINTER);
	}
	if (!pointed || !find_register(walk, arch->fp))
		return STEP_NO_INFO;
	uint64_t fp = registers->values[arch->fp];
	if (fp == 0) {
		/* A frame pointer of 0 is the ABI's mark of the outermost frame. */
		walk->ip = 0;
		walk->is_whole = true;
		walk->result->frame_pointers++;
		return STEP_DONE;
	}
	enum step step = read_record(walk, fp, walk->sp, &record);
	if (step == STEP_DONE && is_anothers(walk, record.ip))
		return STEP_NO_INFO;
	return step == STEP_DONE ? step_to_record(walk, &record) : step;
}

static bool place_of(const struct cfi_walk *walk, uint64_t pc, struct code_place *ret)
{
	struct location location = locate(walk, pc);
	*ret = (struct code_place){.arch = walk->arch};
	if (rows_has_file(&location))
		ret->code = rows_code(walk->rows, &location);
	return ret->code && code_vaddr(ret->code, location.offset, &ret->vaddr);
}

/* Returns the kernel's page for probes of tracers (uprobes) if the ip is in it; else NULL. */
static const struct module *probes_page(const struct cfi_walk *walk)
{
	const struct module *module = locate(walk, walk->ip).module;
	return module && !strcmp(module->path, "[uprobes]") ? module : NULL;
}

/* Returns whether the code at a return address fits the stack: its caller called its function. */
static bool could_return_to(const struct cfi_walk *walk, uint64_t ip)
{
	struct unwind_result result = {0};
	struct cfi_walk next = *walk;
	struct code_place here, call;
	struct cfi_entry entry;
	uint64_t target;
	next.ip = ip;
	next.searches = 0;
	next.result = &result;
	const struct row *row = row_of(&next, ip, false);
	if (row->kind != ROW_SIMPLE || !place_of(&next, ip - 1, &here) ||
	    !code_find_cfi(here.code, walk->arch, here.vaddr, &entry) ||
	    step_simple(&next, row) != STEP_DONE)
		return false;
	if (next.ip == 0 || probes_page(&next))
		return true;
	if (!place_of(&next, next.ip - 1, &call))
		return false;
	call.ip = call.vaddr + 1;
	if (guess_call_target(&call, &target) && call.code == here.code)
		return target == entry.start;
	return guess_is_after_call(&call);
}

/*
 * Finds the return address that a return probe replaced, and the kernel keeps. Of the calls to the
 * function in its file, those that fit the stack must have one caller. `callee` is the last frame.
 */
static bool leave_return_probe(struct cfi_walk *walk, const struct unwind_frame *callee)
{
	uint64_t calls[CODE_CALLS_MAX], found = 0, start = 0;
	struct code_place place;
	struct cfi_entry entry;
	if (walk->exact || !probes_page(walk) ||
	    !place_of(walk, callee->ip - !callee->exact, &place) ||
	    !code_find_cfi(place.code, walk->arch, place.vaddr, &entry))
		return false;
	uint64_t bias = callee->ip - !callee->exact - place.vaddr;
	size_t count = code_calls(place.code, entry.start, calls);
	for (size_t i = 0; i < count; i++) {
		if (!could_return_to(walk, calls[i] + bias) ||
		    !code_find_cfi(place.code, walk->arch, calls[i] - 1, &entry))
			continue;
		if (found && entry.start != start)
			return false;
		found = found ?: calls[i] + bias;
		start = entry.start;
	}
	if (found)
		walk->ip = found;
	return found;
}

/*
 * Replaces a copy of a probed instruction by the start of its function, which has pushed nothing
 * yet: the stack's top is the return address of a call to it.
 */
static bool leave_entry_probe(struct cfi_walk *walk)
{
	struct code_place call;
	uint64_t ip, target;
	if (!walk->exact || !walk->arch->calls_push || !probes_page(walk) ||
	    !stack_load_sized(&walk->stack, walk->sp, walk->arch->word, &ip) ||
	    !place_of(walk, ip - 1, &call))
		return false;
	call.ip = call.vaddr + 1;
	if (!guess_call_target(&call, &target))
		return false;
	target += ip - 1 - call.vaddr;
	if (target == walk->ip)
		return false;
	walk->ip = target;
	walk->result->count--;
	return true;
}

static enum step step(struct cfi_walk *walk, const struct row *row)
{
	enum step step;
	uint64_t ip;
	const enum row_kind kind = row->kind; /* `row` may move when another is looked up */
	switch (kind) {
	case ROW_SIMPLE:
	case ROW_GO:
		step = step_simple(walk, row);
		break;
	case ROW_FULL:
		step = step_full(walk, &walk->rows->full.items.items[row->full]);
		break;
	case ROW_OUTERMOST:
		walk->ip = 0;
		walk->is_whole = true;
		return STEP_DONE;
	case ROW_SWITCH:
		walk->ip = 0;
		walk->is_whole = true;
		walk->result->system_stack = true;
		return STEP_DONE;
	default:
		if (kind == ROW_FRAME_POINTER && leave_entry_probe(walk))
			return STEP_DONE;
		if (kind == ROW_FRAME_POINTER && trampoline_return(walk, &ip))
			return step_trampoline(walk, ip);
		return step_by_frame_pointer(walk, kind != ROW_UNKNOWN);
	}
	/* After a frame that was unwound by frame pointer, arm64's stack pointer is unknown. */
	if (step == STEP_NO_INFO && !register_known(&walk->registers, walk->arch->sp))
		return step_by_frame_pointer(walk, true);
	return step == STEP_NO_INFO && walk->searches ? step_over_caller(walk) : step;
}

/* Number of outermost frames that may follow a fiber's first one. */
#define FIBER_FRAMES 4

/* Returns whether CFI loaded a return address that follows no call, and is no signal's. */
static bool is_put_there(struct cfi_walk *walk, const struct unwind_frame *frame)
{
	struct code_place place;
	if (frame->method != UNWIND_BY_CFI || frame->sp <= frame[-1].sp)
		return false;
	uint64_t hash = hash_pair(walk->view, frame->ip) | 1;
	uint64_t *known = &walk->rows->calls[hash / 2 % ROWS_CALLS];
	if ((*known | 1) == hash)
		return *known != hash;
	if (!place_of(walk, frame->ip - 1, &place))
		return false;
	const struct row *row = row_of(walk, frame->ip, false);
	place.ip = place.vaddr + 1;
	bool is_signal =
		row->kind == ROW_FULL && walk->rows->full.items.items[row->full].is_signal;
	bool put = !is_signal && row->kind != ROW_GO && guess_follows_no_call(&place);
	*known = hash - put;
	return put;
}

/*
 * Ends a stack at a fiber's first function: its return address was not put there by a call, so the
 * frames above it are no callers.
 */
static bool end_at_fiber(struct cfi_walk *walk, const struct unwind_frame *frames, size_t most)
{
	size_t count = walk->result->count;
	for (size_t i = 1; i < count && i <= most && !frames[count - i].exact; i++)
		if (is_put_there(walk, &frames[count - i]))
			walk->result->count = count - i;
	return walk->result->count < count;
}

/*
 * Returns the index in the kernel's chain of the caller of the last frame; 0: unknown. The chain
 * has the frame's return address, or began with what was found to be the frame's frame pointer.
 */
static size_t chain_index(const struct cfi_walk *walk, const struct unwind_start *start,
			  const struct unwind_frame *last)
{
	uint8_t fp = walk->arch->fp;
	if (!start->caller_count || start->callers[0] != start->ip)
		return 0;
	for (size_t i = start->caller_count; i-- > 1 && !last->exact;)
		if (start->callers[i] == last->ip)
			return i + 1;
	return register_known(&walk->registers, fp) && register_known(&start->registers, fp) &&
	       walk->registers.values[fp] == start->registers.values[fp];
}

/* Adds the callers on a goroutine's stack. */
static void add_goroutine(const struct cfi_walk *walk, const struct unwind_start *start,
			  struct unwind_frame *frames, size_t limit)
{
	const struct unwind_frame *last = &frames[walk->result->count - 1];
	size_t first = chain_index(walk, start, last);
	uint64_t ip = last->ip - !last->exact;
	struct code_place place;
	if (!place_of(walk, ip, &place))
		return;
	const struct go_callers callers = {
		.arch = walk->arch, .code = place.code, .bias = ip - place.vaddr,
		.chain = first ? start->callers + first : NULL,
		.chain_count = first ? start->caller_count - first : 0,
		.stack = &walk->stack, .registers = &walk->registers,
		.calls = walk->rows->go_calls,
	};
	go_callers_add(&callers, frames, limit, walk->result);
}

static struct unwind_result walk_stack(void *arg, const struct unwind_start *start,
				       struct unwind_frame *frames, size_t limit)
{
	struct unwind_result result = {.end = UNWIND_COMPLETE};
	struct cfi_walk walk = {
		.rows = arg,
		.arch = start->arch,
		.view = start->view,
		.stack = start->stack,
		.registers = start->registers,
		.ip = start->ip,
		.sp = start->sp,
		.exact = true,
		.searches = start->ip_and_sp_only ? SEARCHES_MAX : 0,
		.result = &result,
	};
	enum step left = STEP_DONE;
	const uint64_t work_end = walk.rows->work + WORK_MAX;
	/* The first frame exists even after a call of NULL. */
	while (left == STEP_DONE && (walk.ip != 0 || result.count == 0)) {
		const struct row *row = row_of(&walk, walk.ip, walk.exact);
		bool unmapped = row->kind == ROW_UNMAPPED, no_code = row->kind == ROW_NO_CODE;
		/* The row may move from here on, if there is no module. */
		if (unmapped && result.count > 0 &&
		    leave_return_probe(&walk, &frames[result.count - 1]))
			continue;
		bool unknown = no_code || (unmapped && !leads_to_code(&walk));
		if (unknown && result.count > 0) {
			result.blind = probes_page(&walk);
			left = walk.method == UNWIND_BY_FRAME_POINTER || result.blind ? STEP_NO_INFO
										      : STEP_BAD;
			break;
		}
		if (result.count == limit) {
			result.end = UNWIND_DEPTH_LIMIT;
			return result;
		}
		frames[result.count++] = (struct unwind_frame){
			.ip = walk.ip, .sp = walk.sp, .exact = walk.exact, .method = walk.method};
		left = unknown	  ? STEP_NO_INFO
		       : unmapped ? step_by_frame_pointer(&walk, true)
				  : step(&walk, row);
		if (left == STEP_DONE && walk.ip && walk.rows->work > work_end)
			left = STEP_NO_INFO;
	}
	if (result.system_stack)
		add_goroutine(&walk, start, frames, limit);
	if (!walk.is_whole &&
	    end_at_fiber(&walk, frames, left == STEP_DONE ? 1 : FIBER_FRAMES))
		left = STEP_DONE;
	if (left != STEP_DONE)
		result.end = left == STEP_TRUNCATED ? UNWIND_TRUNCATED
			     : left == STEP_BAD	    ? UNWIND_BAD_MEMORY
						    : UNWIND_NO_INFO;
	const struct unwind_frame *last = &frames[result.count - 1];
	if (left == STEP_NO_INFO && !result.blind)
		result.blind = locate(&walk, last->ip - !last->exact).module;
	return result;
}

static void *thread_new(const struct unwind_shared *shared)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	if (rows)
		rows->shared = shared;
	return rows;
}

static void thread_free(void *arg)
{
	struct rows *rows = arg;
	if (rows)
		rows_deinit(rows);
	free(rows);
}

static void drop_code(void *arg)
{
	rows_drop_code(arg);
}

static const char *refuse(const char *arch)
{
	return arch_find(arch, PERF_SAMPLE_REGS_ABI_64) || arch_find(arch, PERF_SAMPLE_REGS_ABI_32)
		       ? NULL
		       : "unsupported architecture";
}

const struct unwind_engine engine_cfi = {
	.name = "cfi",
	.refuse = refuse,
	.thread_new = thread_new,
	.thread_free = thread_free,
	.drop_code = drop_code,
	.walk = walk_stack,
};
