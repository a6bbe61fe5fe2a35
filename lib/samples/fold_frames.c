/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/fold_frames.h"

#include <string.h>
#include "record/python_record.h"

#define NO_WORD SIZE_MAX

/* The words of a chain, with the sampled address as word 0. */
struct folding {
	struct counted *counted;
	uint32_t view;
	const struct callers *callers;
	uint8_t *kept;    /* by word: enum kept; marks are kept with the addresses after them */
	bool has_inner;   /* a Python frame is among the words before `begin` */
	size_t begin;     /* first word after the last Python frame */
	size_t native;    /* last address of user code among the words since; NO_WORD: none */
};

enum kept { DROPPED, KEPT, KEPT_KERNEL };

static uint64_t word_at(const struct folding *folding, size_t i)
{
	return i ? folding->callers->ips[i - 1] : folding->callers->leaf_ip;
}

/* Returns the answer for a return address; ANSWER_FAILED when out of memory. */
static uint32_t answer_at(const struct folding *folding, size_t i)
{
	return address_cache_find(&folding->counted->answers, (struct code_address){
		word_at(folding, i), folding->view, PERF_RECORD_MISC_USER, true});
}

static const struct module *module_at(const struct folding *folding, size_t i)
{
	return machine_locate(folding->counted->work->read->machine, folding->view,
			      PERF_RECORD_MISC_USER, word_at(folding, i) - (i > 0))
		.module;
}

/*
 * Folds the frames before word `end`, since the last Python frame or the sampled address.
 * `interpreter`: file of the evaluation that called them; NULL: no evaluation did. Returns false
 * when out of memory.
 */
static bool fold_calls(struct folding *folding, size_t end, const struct module *interpreter)
{
	bool between = folding->has_inner && interpreter, collects = false;
	for (size_t i = folding->begin + !folding->begin; i < end; i++) {
		bool kept = folding->kept[i] == KEPT;
		const struct module *module = kept ? module_at(folding, i) : NULL;
		if (!module || (module != interpreter && !module_is_interpreter(module) &&
				!(between && module->is_generated)))
			continue;
		uint32_t answer = answer_at(folding, i);
		if (answer == ANSWER_FAILED)
			return false;
		if (answer & ANSWER_COLLECTOR && !collects) {
			/* Its callees in user code */
			for (size_t j = folding->begin; j < i; j++)
				if (folding->kept[j] == KEPT)
					folding->kept[j] = DROPPED;
			collects = true;
		} else if (between && (module == interpreter || answer & ANSWER_TRAMPOLINE)) {
			folding->kept[i] = DROPPED;
		}
	}
	return true;
}

/* Folds the calls of the evaluation that the last address of user code belongs to. */
static bool fold_evaluation(struct folding *folding)
{
	size_t evaluation = folding->native;
	if (evaluation == NO_WORD)
		return true;
	folding->kept[evaluation] = DROPPED;
	return fold_calls(folding, evaluation, module_at(folding, evaluation));
}

/*
 * Drops the frames between the outermost one, which shows that the stack is complete, and the first
 * Python frame: those of the interpreter, and those of the C library if the program is the
 * interpreter. Frames of a program that embeds the interpreter remain. Returns false when out of
 * memory.
 */
static bool fold_start(struct folding *folding)
{
	size_t last = folding->callers->count;
	if (folding->begin >= last)
		return true;
	const struct module *outermost = module_at(folding, last);
	bool own = outermost && module_is_interpreter(outermost);
	for (size_t i = folding->begin; i < last; i++) {
		const struct module *module =
			folding->kept[i] == KEPT ? module_at(folding, i) : NULL;
		bool interpreter = module && module_is_interpreter(module);
		if (!module || (!own && !interpreter))
			continue;
		uint32_t answer = interpreter ? answer_at(folding, i) : 0;
		if (answer == ANSWER_FAILED)
			return false;
		if (!(answer & ANSWER_COLLECTOR))
			folding->kept[i] = DROPPED;
	}
	return true;
}

/* Decides which words are kept. Returns false when out of memory. */
static bool choose(struct folding *folding)
{
	const struct callers *callers = folding->callers;
	uint16_t cpumode = callers->leaf_cpumode;
	for (size_t i = 0; i <= callers->count; i++) {
		uint64_t word = word_at(folding, i);
		if (i == 1)
			cpumode = callers->cpumode;
		if (i && chain_is_mark(word)) {
			cpumode = chain_mark_cpumode(word);
			continue;
		}
		folding->kept[i] = cpumode == PERF_RECORD_MISC_USER ? KEPT : KEPT_KERNEL;
		if (folding->kept[i] == KEPT_KERNEL)
			continue;
		if (!python_has_address(word)) {
			folding->native = i;
			continue;
		}
		if (!fold_evaluation(folding))
			return false;
		folding->has_inner = true;
		folding->begin = i + 1;
		folding->native = NO_WORD;
		/* Only the sampled address is needed. */
		if (folding->counted->work->only_leaves) {
			memset(folding->kept + i, KEPT, callers->count + 1 - i);
			return true;
		}
	}
	return folding->has_inner ? fold_start(folding)
				  : fold_calls(folding, callers->count + 1, NULL);
}

/*
 * Copies the kept words to `ips`. Parts without words are left out. The first address of a part
 * with the same mode as the part before is an executed instruction, and all others are return
 * addresses, which are 1 more: the address of another kind is moved by 1.
 */
static void copy_kept(const struct folding *folding, struct callers *to, uint64_t *ips)
{
	const struct callers *from = folding->callers;
	uint16_t cpumode = from->cpumode, last_cpumode = cpumode;
	bool is_return = !from->exact, as_return = is_return;
	uint64_t mark = 0; /* begins a part without words so far; 0: none */
	bool gap = false;  /* calls are missing before that part */
	to->ips = ips;
	to->count = 0;
	for (size_t i = 1; i <= from->count; i++) {
		uint64_t word = word_at(folding, i);
		if (chain_is_mark(word)) {
			is_return = i > 1 && chain_is_mark(word_at(folding, i - 1));
			gap |= is_return;
			cpumode = chain_mark_cpumode(word);
			mark = word;
			continue;
		}
		bool kept = folding->kept[i] != DROPPED;
		/* A return address needs no mark in the mode of the part before. */
		if (kept && mark && (gap || !is_return || cpumode != last_cpumode)) {
			if (gap)
				ips[to->count++] = mark;
			ips[to->count++] = mark;
			as_return = gap;
		}
		if (kept) {
			last_cpumode = cpumode;
			gap = false;
			mark = 0;
			if (!python_has_address(word))
				word += (uint64_t)as_return - (uint64_t)is_return;
			ips[to->count++] = word;
			as_return = true;
		}
		is_return = true;
	}
}

/*
 * Removes the innermost caller and returns its answer; ANSWER_FAILED when out of memory. There is a
 * caller.
 */
static uint32_t take_caller(struct counted *counted, uint32_t view, struct callers *callers)
{
	struct code_address at = {0, view, callers->cpumode, !callers->exact};
	bool marks = false;
	for (; chain_is_mark(*callers->ips); callers->ips++, callers->count--) {
		at.caller = marks;
		marks = true;
		at.cpumode = chain_mark_cpumode(*callers->ips);
	}
	at.ip = *callers->ips++;
	callers->count--;
	callers->cpumode = at.cpumode;
	callers->exact = false;
	return address_cache_find(&counted->answers, at);
}

/* Starts with all words dropped. Returns false when out of memory. */
static bool folding_init(struct folding *folding, struct counted *counted, uint32_t view,
			 const struct callers *callers)
{
	*folding = (struct folding){.counted = counted, .view = view, .callers = callers,
				    .native = NO_WORD};
	/* A mark may be written twice before its only address. */
	if (!vec_reserve(&counted->folded, callers->count * 2 + 1) ||
	    !vec_reserve(&counted->kept, callers->count + 1))
		return false;
	folding->kept = counted->kept.items;
	memset(folding->kept, DROPPED, callers->count + 1);
	return true;
}

/* Replaces the callers by the kept ones. Returns false when out of memory. */
static bool folding_finish(struct folding *folding, struct callers *callers, uint32_t *leaf_ret)
{
	struct callers folded = *callers;
	copy_kept(folding, &folded, folding->counted->folded.items);
	*leaf_ret = ANSWER_FAILED;
	if (folding->kept[0] == DROPPED && folded.count) {
		*leaf_ret = take_caller(folding->counted, folding->view, &folded);
		if (*leaf_ret == ANSWER_FAILED)
			return false;
	}
	*callers = folded;
	return true;
}

bool fold_python(struct counted *counted, uint32_t view, struct callers *callers,
		 uint32_t *leaf_ret)
{
	struct folding folding;
	return folding_init(&folding, counted, view, callers) && choose(&folding) &&
	       folding_finish(&folding, callers, leaf_ret);
}

bool fold_other_code(struct counted *counted, uint32_t view, struct callers *callers,
		     uint32_t *leaf_ret)
{
	struct folding folding;
	if (!folding_init(&folding, counted, view, callers))
		return false;
	struct code_address at = {0, view, callers->cpumode, !callers->exact};
	bool is_own = !(callers->misc & CALLERS_OF_OTHERS);
	size_t outermost = 0;
	folding.kept[0] = is_own ? KEPT : DROPPED;
	uint32_t answer = 0;
	for (size_t i = 1; i <= callers->count; i++) {
		at.ip = word_at(&folding, i);
		if (chain_is_mark(at.ip)) {
			at.caller = i > 1 && chain_is_mark(word_at(&folding, i - 1));
			at.cpumode = chain_mark_cpumode(at.ip);
			continue;
		}
		answer = address_cache_find(&counted->answers, at);
		if (answer == ANSWER_FAILED)
			return false;
		at.caller = true;
		outermost = i;
		folding.kept[i] = answer & ANSWER_OWN_CODE ? KEPT : DROPPED;
		is_own |= folding.kept[i] == KEPT;
	}
	if (outermost && (!is_own || answer & ANSWER_OUTERMOST))
		folding.kept[outermost] = KEPT;
	return folding_finish(&folding, callers, leaf_ret);
}
