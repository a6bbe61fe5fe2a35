/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions by name: those of the filters by stack (focus, ignore), the one whose callers or
 * callees are wanted, and parents. Each function is tested once, when frames have labels.
 */
#ifndef AGGREGATE_MATCHES_H
#define AGGREGATE_MATCHES_H

#include <regex.h>
#include "aggregate/labels.h"
#include "aggregate/options.h"

/* Matched by a function, by a frame if one of its functions is, by a stack likewise. */
#define MATCH_FOCUS 1u
#define MATCH_IGNORE 2u
#define MATCH_ROOT 4u /* root of callees or callers: stacks begin or end there */
#define MATCH_PARENT 8u

struct name_pattern {
	regex_t regex;
	uint8_t bit;
};

struct matches {
	VEC(struct name_pattern) patterns;
	const char *root;    /* the name that MATCH_ROOT has; NULL: a pattern, or none */
	uint8_t required;    /* bits of a stack that passes */
	uint8_t *functions;  /* bits, by index in labels->nodes */
	uint8_t *frames;     /* bits, by index in labels->frames */
	uint32_t *parents;   /* by frame: the parent, in labels->functions; UINT32_MAX: none */
	uint32_t no_caller;  /* the row of stacks that begin with the root, with callers */
};

/* Whether the options name functions other than the sampled one; `parent`: SP_KEY_PARENT. */
bool matches_wanted(const struct analysis_options *options, bool parent);

/* Whether stacks are filtered by it. */
bool matches_filter(const struct analysis_options *options);

/* SP_ERROR_INVALID where one of the options' expressions is none. */
struct sp_error *matches_init(struct matches *matches, const struct analysis_options *options,
			      bool parent) SP_MUST_CHECK;

/* A zeroed struct matches may be released, too. */
void matches_deinit(struct matches *matches);

/* Tests all functions of labels, which must have nodes, and symbols where parents are wanted. */
struct sp_error *matches_find(struct matches *matches, const struct labels *labels,
			      const bool *keys) SP_MUST_CHECK;

/* Whether a stack passes whose frames have these bits. */
static inline bool matches_pass(const struct matches *matches, uint8_t bits)
{
	return (bits & matches->required) == matches->required && !(bits & MATCH_IGNORE);
}

#endif
