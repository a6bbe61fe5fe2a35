/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive/function_code.h"

#include <sprof/private/instruction.h>
#include <stdlib.h>
#include "annotation/code_sweep.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "machine/module.h"
#include "profile/function.h"
#include "symbol/resolver.h"

/* Most instructions of a recording that have functions and lines. */
#define LINES_MAX ((size_t)1 << 16)

struct sampled_function {
	const struct instruction *of; /* one of its sampled instructions */
	uint64_t start, size;	      /* its code in the module */
	uint64_t weight;
};

struct sampled_functions {
	VEC(struct sampled_function);
};

static void extents_deinit(struct code_extents *extents)
{
	vec_deinit(extents);
}

static void sampled_functions_deinit(struct sampled_functions *functions)
{
	vec_deinit(functions);
}

/* Adds a row's function, as if no other row had it. Returns false when out of memory. */
static bool add_row(struct sampled_functions *functions, const struct sp_row *row)
{
	const struct instruction *of = (const struct instruction *)row->instruction;
	if (!of || !of->symbol || of->module->kind != MODULE_FILE)
		return true;
	struct sampled_function *slot = vec_push(functions);
	uint64_t least = of->shown.distance + SP_INSTRUCTION_MAX;
	if (slot)
		*slot = (struct sampled_function){
			.of = of,
			.start = of->shown.offset - of->shown.distance,
			/* The symbol may have no size. */
			.size = of->symbol->size > of->shown.distance ? of->symbol->size : least,
			.weight = row->self.weight,
		};
	return slot;
}

static int compare_places(const void *a, const void *b)
{
	const struct sampled_function *x = a, *y = b;
	return u64_order(x->of->module->index, y->of->module->index) ?:
	       u64_order(x->start, y->start);
}

static int compare_weights(const void *a, const void *b)
{
	const struct sampled_function *x = a, *y = b;
	return u64_order(y->weight, x->weight) ?: compare_places(a, b);
}

/* Makes the rows of one function one item, hottest function first. */
static void join_rows(struct sampled_functions *functions)
{
	struct sampled_function *items = functions->items;
	size_t kept = 0;
	if (!functions->count)
		return;
	qsort(items, functions->count, sizeof(*items), compare_places);
	for (size_t i = 0; i < functions->count; i++) {
		if (!kept || compare_places(&items[kept - 1], &items[i]) != 0) {
			items[kept++] = items[i];
			continue;
		}
		struct sampled_function *joined = &items[kept - 1];
		joined->weight += items[i].weight;
		if (items[i].size > joined->size)
			joined->size = items[i].size;
	}
	functions->count = kept;
	qsort(items, kept, sizeof(*items), compare_weights);
}

/*
 * Finds the functions and lines of instructions, at most `*left` of them, which it lowers. The
 * resolver logs what it finds.
 */
static struct sp_error *log_lines(const struct sampled_function *function, const uint8_t *code,
				  uint16_t machine, size_t *left)
{
	const struct code_sweep sweep = {
		.code = code, .size = function->size, .machine = machine, .near = UINT64_MAX};
	CLEANUP(extents_deinit) struct code_extents extents = {0};
	NEED(code_sweep_run(&sweep, &extents));
	size_t count = extents.count < *left ? extents.count : *left;
	CLEANUP_FREE uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(count + 1, sizeof(*items));
	NEED(offsets && items);
	for (size_t i = 0; i < count; i++)
		offsets[i] = function->start + extents.items[i].offset;
	*left -= count;
	struct source_frames found = {.items = items, .lines = true};
	const struct source_query query = {.module = function->of->module,
					   .pid = function->of->pid,
					   .offsets = offsets,
					   .count = count,
					   .threads = 1};
	return resolver_sources(function->of->resolver, &query, &found);
}

struct sp_error *function_code_log(const struct sp_analysis *analysis)
{
	CLEANUP(sampled_functions_deinit) struct sampled_functions functions = {0};
	CLEANUP_FREE uint8_t *code = malloc(FUNCTION_CODE_MAX);
	uint64_t total = 0;
	size_t lines_left = LINES_MAX;
	NEED(code);
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		for (size_t j = 0; j < profile->row_count; j++)
			NEED(add_row(&functions, sp_profile_row(profile, j)));
	}
	join_rows(&functions);
	vec_each (one, &functions) {
		const struct location location = {
			.module = one->of->module, .offset = one->start, .pid = one->of->pid};
		uint16_t machine;
		if (one->size > FUNCTION_CODE_MAX || one->size > FUNCTION_CODE_TOTAL - total ||
		    !resolver_code_is_public(one->of->resolver, &location))
			continue;
		if (!resolver_read_code(one->of->resolver, &location, 0, one->size, code, &machine))
			continue;
		total += one->size;
		TRY(log_lines(one, code, machine, &lines_left));
	}
	return NULL;
}
