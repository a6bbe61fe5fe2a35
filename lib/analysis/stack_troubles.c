/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stood in the way of unwinding the stacks of a recording. */
#include <string.h>
#include "analysis/findings.h"
#include "base/cleanup.h"

/* So many modules without unwind information are named. */
#define BLIND_TOLD 3

/* Where fewer stacks than that end for it, a module is not named. */
#define BLIND_SHARE 0.001

/* So large a part of the stacks should be whole. */
#define WHOLE_ENOUGH 0.995

static uint64_t samples_of(const struct run *run)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < run->analysis->profile_count; i++)
		samples += run->analysis->profiles[i].samples;
	return samples;
}

static bool find_refusal(struct run *run)
{
	const struct sp_error *refusal = run->unwinding.refusal;
	return !refusal ||
	       finding_add(run, SP_FINDING_TRUNCATED_STACKS, samples_of(run), 1,
			   sp_error_remedy(refusal), "the recorded copies of stacks are of no use here: %s",
			   sp_error_message(refusal));
}

/* All workers' sums, by module. */
static bool sum_blinds(const struct run *run, struct stacks *sums)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct stacks *stacks = &run->workers[i].stacks;
		for (size_t j = 0; j < stacks->blinds.count; j++)
			if (!stacks_add_blind(sums, stacks->blinds.items[j].module,
					      stacks->blinds.items[j].stacks))
				return false;
	}
	return true;
}

static int compare_blinds(const void *a, const void *b)
{
	const struct blind *x = a, *y = b;
	if (x->stacks != y->stacks)
		return x->stacks > y->stacks ? -1 : 1;
	if (!x->module || !y->module)
		return (x->module == NULL) - (y->module == NULL);
	return (x->module->index > y->module->index) - (x->module->index < y->module->index);
}

/* Remedy and reason if the module's file is missing or not the recorded one; else NULL. */
static const char *absent_remedy(const struct run *run, const struct module *module,
				 const char **why_ret)
{
	const char *text, *remedy;
	enum resolver_problem problem = resolver_problem(run->resolver, module, &text, &remedy);
	if (problem != RESOLVER_MISSING_FILE && problem != RESOLVER_WRONG_FILE)
		return NULL;
	*why_ret = text;
	return remedy;
}

const char *no_unwind_info_remedy(const struct run *run)
{
	struct stacks sums = {0};
	const struct blind *most = NULL;
	const char *remedy = NULL, *why;
	if (sum_blinds(run, &sums))
		for (size_t i = 0; i < sums.blinds.count; i++)
			if (!most || sums.blinds.items[i].stacks > most->stacks)
				most = &sums.blinds.items[i];
	if (most && most->module)
		remedy = absent_remedy(run, most->module, &why);
	stacks_deinit(&sums);
	return remedy ?: "compile it with -fasynchronous-unwind-tables; -g caller names it";
}

static bool tell_blind(struct run *run, const struct blind *blind, uint64_t samples)
{
	char share[FINDING_TEXT];
	double part = (double)blind->stacks / (double)samples;
	share_text(part, share);
	if (!blind->module)
		return finding_add(run, SP_FINDING_TRUNCATED_STACKS, blind->stacks, part, NULL,
				   "%s of the stacks end where nothing is known to be mapped", share);
	const char *why = unwinder_problem(run->unwinding.unwinder, blind->module);
	const char *remedy = absent_remedy(run, blind->module, &why);
	return finding_add(run, SP_FINDING_TRUNCATED_STACKS, blind->stacks, part,
			   remedy ?: "compile it with -fasynchronous-unwind-tables, or with frame "
				     "pointers",
			   "%s of the stacks end in %s, which has no unwind information%s%s",
			   share, blind->module->name, why ? ": " : "", why ?: "");
}

static bool find_blinds(struct run *run)
{
	struct stacks sums = {0};
	uint64_t samples = samples_of(run);
	bool done = sum_blinds(run, &sums);
	if (sums.blinds.count)
		qsort(sums.blinds.items, sums.blinds.count, sizeof(*sums.blinds.items),
		      compare_blinds);
	for (size_t i = 0; done && i < sums.blinds.count && i < BLIND_TOLD; i++)
		if ((double)sums.blinds.items[i].stacks >= BLIND_SHARE * (double)samples)
			done = tell_blind(run, &sums.blinds.items[i], samples);
	stacks_deinit(&sums);
	return done;
}

bool find_stack_troubles(struct run *run)
{
	return find_refusal(run) && find_blinds(run);
}

uint32_t stack_size_enough(const struct run *run, uint64_t truncated)
{
	uint64_t whole = 0, below = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		for (size_t j = 0; j < REACH_CLASSES; j++)
			whole += run->workers[i].stacks.reaches[j];
	double enough = WHOLE_ENOUGH * (double)(whole + truncated);
	for (size_t j = 0; j < REACH_CLASSES; j++) {
		for (size_t i = 0; i < run->worker_count; i++)
			below += run->workers[i].stacks.reaches[j];
		if ((double)below >= enough)
			return (uint32_t)(j + 1) << 10;
	}
	return 0;
}
