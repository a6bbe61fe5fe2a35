/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the functions that options name: by filters on stacks (--focus, --ignore), by --callers and
 * --callees, and by --parent. Each function is tested once, after frames have labels.
 */
#pragma once

#include <regex.h>
#include "frames/labels.h"
#include "profile/analysis_options.h"

/* Bits of options that a function matches. A frame or a stack has the bits of all its functions. */
#define MATCH_FOCUS 1u
#define MATCH_IGNORE 2u
#define MATCH_ROOT 4u /* --callers or --callees names it: stacks end or begin there */
#define MATCH_PARENT 8u

struct name_pattern {
	regex_t regex;
	const char *text;    /* borrowed from the options; NULL: it is not compared */
	bool whole;          /* also matches names with parameters and source file */
	uint8_t bit;
};

struct matches {
	VEC(struct name_pattern) patterns;
	const char *root;    /* name of the function of --callers or --callees; NULL: it is a pattern, or
			      * there is none */
	bool by_stack;	     /* some filter needs all functions of a stack */
	uint8_t required;    /* bits that a stack must have to pass the filters */
	uint8_t *functions;  /* bits, by index in labels->nodes */
	uint8_t *frames;     /* bits, by index in labels->frames */
	uint32_t *parents;   /* by frame: the parent, in labels->functions; UINT32_MAX: none */
	uint32_t no_caller;  /* row for stacks that begin at the function of --callers, so that it has no
			      * caller */
};

/*
 * Returns whether options name functions other than the sampled one. `parent`: SP_KEY_PARENT is a key
 * of rows.
 */
bool matches_wanted(const struct analysis_options *options, bool parent);

/* Compiles the regular expressions of the options. Fails with SP_ERROR_INVALID if one is not valid. */
struct sp_error *matches_init(struct matches *matches, const struct analysis_options *options,
			      bool parent) SP_MUST_CHECK;

/* Frees everything. A zeroed struct matches is allowed. */
void matches_deinit(struct matches *matches);

/* Tests all functions of `labels`. `labels` must have tree nodes, and for --parent also symbols. */
struct sp_error *matches_find(struct matches *matches, const struct labels *labels,
			      const bool *keys) SP_MUST_CHECK;

/* Returns whether some filter needs all functions of a stack; NULL: options name no functions. */
static inline bool matches_by_stack(const struct matches *matches)
{
	return matches && matches->by_stack;
}

/* Returns whether a stack passes the filters; `bits` are those of all its frames. */
static inline bool matches_pass(const struct matches *matches, uint8_t bits)
{
	return (bits & matches->required) == matches->required && !(bits & MATCH_IGNORE);
}
