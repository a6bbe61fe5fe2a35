/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of an analysis, with the defaults of groups that were not given. */
#pragma once

#include <sprof/analysis.h>

/* Copied options; the pointers in them still belong to the caller. */
struct analysis_options {
	struct sp_analysis_rows rows;
	struct sp_analysis_tree tree;
	struct sp_analysis_stacks stacks;
	struct sp_analysis_samples samples;
	struct sp_filter filter;
	struct sp_files files;
	unsigned int threads;
	struct sp_names *names;
	struct sp_counts **counts;
};

/*
 * Copies the groups of options, and sets default keys and the default limit of a timeline if none
 * are given. Fails as sized_copy() does, and with SP_ERROR_INVALID for an unknown key, or for a
 * timeline without a tree of callers.
 */
struct sp_error *analysis_options_copy(struct analysis_options *ret,
				       const struct sp_analysis_options *options) SP_MUST_CHECK;
