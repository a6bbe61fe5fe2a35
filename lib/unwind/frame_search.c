/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/frame_search.h"

#include <elf.h>
#include "unwind/heuristics.h"

/* Smaller numbers are no code's address. */
#define CODE_MIN 4096

/* Quality of a record, worst first. */
enum rank { RANK_NONE, RANK_ADDRESS, RANK_JUMP, RANK_CHAIN, RANK_CALL };

/* Code of a file. */
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

/* Finds the code that called, by its return address. */
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

/* Returns whether a saved frame pointer points to a record further up, or beyond the copy. */
static bool is_chained(const struct frame_search *search, uint64_t at, uint64_t fp)
{
	struct file_place call;
	uint64_t word = search->arch->word, ip;
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
	if (guess_starts_threads(&call->place))
		return TARGET_SAME;
	if (!guess_call_target(&call->place, &target) || code_plt(call->place.code, target, &plt))
		return TARGET_UNKNOWN;
	if (!here || here->module != call->module)
		return TARGET_OTHER;
	if (code_find(call->place.code, search->arch, target, &entry))
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
	/* The record is not of a call to this code: nothing more is known of it. */
	if (search->caller)
		return is_chained(search, at, fp) ? RANK_CALL : RANK_ADDRESS;
	switch (compare_target(search, &call, here)) {
	case TARGET_SAME:
		return RANK_CALL;
	case TARGET_OTHER:
		return is_chained(search, at, fp) ? RANK_JUMP : RANK_NONE;
	default:
		return is_chained(search, at, fp) ? RANK_CHAIN : RANK_ADDRESS;
	}
}

bool frame_search_find(const struct frame_search *search, uint64_t *ret)
{
	struct file_place here;
	bool known = find_place(search, search->ip - !search->exact, &here);
	enum rank best = RANK_NONE;
	uint64_t word = search->arch->word;
	uint64_t end = search->stack->low + search->stack->size;
	for (uint64_t at = (search->sp + word - 1) & ~(word - 1); at < end && best != RANK_CALL; at += word) {
		enum rank rank = rank_of(search, known ? &here : NULL, at);
		if (rank <= best)
			continue;
		best = rank;
		*ret = at;
	}
	return best != RANK_NONE;
}
