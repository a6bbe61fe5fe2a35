/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions are parents: those on a stack by whose name its samples are told apart. */
#ifndef ANALYSIS_PARENTS_H
#define ANALYSIS_PARENTS_H

#include <regex.h>
#include <stdbool.h>
#include "analysis/labels.h"

struct parents {
	regex_t regex;
	bool compiled;
	bool *is; /* by frame */
};

/* `pattern` is an extended regular expression, NULL: perf's. SP_ERROR_INVALID where it is none. */
struct sp_error *parents_init(struct parents *parents, const char *pattern) SP_MUST_CHECK;

/* A zeroed struct parents may be released, too. */
void parents_deinit(struct parents *parents);

/* Asks of all frames, whose labels have symbols (SP_KEY_PARENT). */
struct sp_error *parents_find(struct parents *parents, const struct labels *labels) SP_MUST_CHECK;

#endif
