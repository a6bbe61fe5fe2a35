/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/frame_search.h"

#include "unwind/heuristics.h"

/* Lowest address of code. */
#define CODE_MIN 4096

/* Quality of a record, worst first. */
enum rank { RANK_NONE, RANK_JUMP, RANK_UNKNOWN, RANK_CALL };

/* A place in the code of a file. */
struct file_place {
	const struct module *module;
	struct code_place place;
};

static bool find_place(const struct frame_search *search, uint64_t pc, struct file_place *ret)
{
	if (pc < CODE_MIN || rows_has_key_bits(pc))
		return false;
	const struct location location = rows_locate(search->rows, search->view, pc);
	if (!rows_has_file(&location))
		return false;
	const struct code *code = rows_code(search->rows, &location);
	*ret = (struct file_place){location.module, {.arch = search->arch, .code = code}};
	return code && code_vaddr(code, location.offset, &ret->place.vaddr);
}

/* Finds the code of a call by its return address. */
static bool find_call(const struct frame_search *search, uint64_t ip, struct file_place *ret)
{
	if (!find_place(search, ip - 1, ret))
		return false;
	ret->place.ip = ret->place.vaddr + 1;
	return guess_is_after_call(&ret->place);
}

static bool load(const struct frame_search *search, uint64_t address, uint64_t *ret)
{
	return stack_load_sized(search->stack, address, search->arch->word, ret);
}

/* Returns whether a saved frame pointer is 0 (outermost), or points to a record further up. */
static bool is_chained(const struct frame_search *search, uint64_t at, uint64_t fp)
{
	struct file_place call;
	uint64_t word = search->arch->word, ip;
	if (!fp)
		return true;
	if (fp <= at || fp % word || fp - at > STACK_SPAN)
		return false;
	return !load(search, fp + word, &ip) || find_call(search, ip & search->arch->ip_mask, &call);
}

/* Result of comparing a call's target with the frame's function. */
enum target { TARGET_SAME, TARGET_OTHER, TARGET_UNKNOWN };

static enum target compare_target(const struct frame_search *search, const struct file_place *call,
				  const struct file_place *here)
{
	uint64_t target, plt;
	struct cfi_entry entry;
	bool same_module = here && here->module == call->module;
	if (!guess_call_target(&call->place, &target))
		return TARGET_UNKNOWN;
	if (code_plt_start(call->place.code, target, &plt))
		return same_module ? TARGET_OTHER : TARGET_UNKNOWN;
	if (!same_module)
		return TARGET_OTHER;
	if (code_find_cfi(call->place.code, search->arch, target, &entry))
		return here->place.vaddr >= entry.start && here->place.vaddr - entry.start < entry.size
			       ? TARGET_SAME
			       : TARGET_OTHER;
	return guess_is_call_to(&call->place, here->place.vaddr) ? TARGET_SAME : TARGET_OTHER;
}

static enum rank rank_of(const struct frame_search *search, const struct file_place *here, uint64_t at)
{
	uint64_t fp, ip;
	struct file_place call;
	if (!load(search, at, &fp) || !load(search, at + search->arch->word, &ip) ||
	    !find_call(search, ip & search->arch->ip_mask, &call))
		return RANK_NONE;
	/* The record is of a call to other code, and gives no further evidence. */
	if (search->caller)
		return is_chained(search, at, fp) ? RANK_UNKNOWN : RANK_NONE;
	switch (compare_target(search, &call, here)) {
	case TARGET_SAME:
		return RANK_CALL;
	case TARGET_OTHER:
		return is_chained(search, at, fp) ? RANK_JUMP : RANK_NONE;
	default:
		return RANK_UNKNOWN;
	}
}

/* Finds the record by the size of the frame: pushed registers below the record, then local variables. */
static bool find_by_size(const struct frame_search *search, const struct file_place *here, uint64_t *ret)
{
	/* The engine may use this row: it is found again, and not replaced. */
	const struct row *row =
		rows_find(search->rows, search->arch, search->view, search->ip, search->exact);
	struct cfi_entry entry;
	uint32_t locals;
	int8_t lowest = 0;
	if (row->kind != ROW_SIMPLE || row->cfa_column != search->arch->fp || search->caller ||
	    !code_find_cfi(here->place.code, search->arch, here->place.vaddr, &entry) ||
	    !guess_local_bytes(&here->place, entry.start, &locals))
		return false;
	for (unsigned int slot = 0; slot < search->arch->slot_count; slot++)
		if (row->saved >> slot & 1 && row->at[slot] < lowest)
			lowest = row->at[slot];
	uint64_t cfa = search->sp + locals - (uint64_t)((int64_t)lowest * search->arch->word);
	*ret = cfa - (uint64_t)(int64_t)row->cfa_offset;
	return rank_of(search, here, *ret) != RANK_NONE;
}

bool frame_search_find(const struct frame_search *search, uint64_t *ret, bool *sure_ret)
{
	struct file_place here;
	bool known = find_place(search, search->ip - !search->exact, &here);
	enum rank best = RANK_NONE;
	uint64_t word = search->arch->word;
	uint64_t end = search->stack->low + search->stack->size;
	*sure_ret = known && find_by_size(search, &here, ret);
	if (*sure_ret)
		return true;
	for (uint64_t at = (search->sp + word - 1) & ~(word - 1); at < end && best != RANK_CALL; at += word) {
		enum rank rank = rank_of(search, known ? &here : NULL, at);
		if (rank <= best)
			continue;
		best = rank;
		*ret = at;
	}
	*sure_ret = best == RANK_CALL;
	return best != RANK_NONE;
}
