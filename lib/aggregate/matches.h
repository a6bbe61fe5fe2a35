/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that options name: by filters on stacks (focus, ignore), as root of callers or callees, and
 * as parents. Each function is tested once, after frames have labels.
 */
#ifndef AGGREGATE_MATCHES_H
#define AGGREGATE_MATCHES_H

#include <regex.h>
#include "aggregate/labels.h"
#include "aggregate/options.h"

/*
 * Bits of a function that matches an option; of a frame with such a function; of a stack with such a
 * frame.
 */
#define MATCH_FOCUS 1u
#define MATCH_IGNORE 2u
#define MATCH_ROOT 4u /* the root of callers or callees, where stacks begin or end */
#define MATCH_PARENT 8u

struct name_pattern {
	regex_t regex;
	uint8_t bit;
};

struct matches {
	VEC(struct name_pattern) patterns;
	const char *root;    /* the root's name; NULL: a pattern, or no root */
	uint8_t required;    /* bits that a stack must have to pass */
	uint8_t *functions;  /* bits, by index in labels->nodes */
	uint8_t *frames;     /* bits, by index in labels->frames */
	uint32_t *parents;   /* by frame: the parent, in labels->functions; UINT32_MAX: none */
	uint32_t no_caller;  /* row of stacks that begin at the root, which have no caller */
};

/* Whether the options name functions other than the sampled one. `parent`: SP_KEY_PARENT is a key. */
bool matches_wanted(const struct analysis_options *options, bool parent);

/* Whether filters reject stacks by their functions. */
bool matches_filter(const struct analysis_options *options);

/* Prepares the options' expressions. Fails with SP_ERROR_INVALID if one is not a regular expression. */
struct sp_error *matches_init(struct matches *matches, const struct analysis_options *options,
			      bool parent) SP_MUST_CHECK;

/* Frees everything. A zeroed struct matches is allowed. */
void matches_deinit(struct matches *matches);

/* Tests all functions of `labels`. It must have nodes, and symbols if parents are requested. */
struct sp_error *matches_find(struct matches *matches, const struct labels *labels,
			      const bool *keys) SP_MUST_CHECK;

/* Whether a stack with these bits of all its frames passes. */
static inline bool matches_pass(const struct matches *matches, uint8_t bits)
{
	return (bits & matches->required) == matches->required && !(bits & MATCH_IGNORE);
}

#endif
