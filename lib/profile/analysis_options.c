/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/analysis_options.h"

#include "base/error.h"
#include "base/sized.h"
#include "base/vec.h"

/* Default limit of a timeline's cells: 32 MB. */
#define TIMELINE_CELLS 1000000

static const enum sp_key default_keys[] = {SP_KEY_COMM, SP_KEY_DSO, SP_KEY_FUNCTION};

struct sp_error *analysis_options_copy(struct analysis_options *ret,
				       const struct sp_analysis_options *options)
{
	struct sp_analysis_options given;
	TRY(sized_copy(&given, sizeof(given), options));
	const struct sized_group groups[] = {
		{&ret->rows, sizeof(ret->rows), given.rows, "rows"},
		{&ret->tree, sizeof(ret->tree), given.tree, "tree"},
		{&ret->stacks, sizeof(ret->stacks), given.stacks, "stacks"},
		{&ret->samples, sizeof(ret->samples), given.samples, "samples"},
		{&ret->filter, sizeof(ret->filter), given.filter, "filter"},
		{&ret->files, sizeof(ret->files), given.files, "files"},
	};
	TRY(sized_copy_groups(groups, count_of(groups)));
	ret->threads = given.threads;
	ret->names = given.names;
	ret->counts = given.counts;
	if (ret->samples.timeline && ret->tree.order != SP_TREE_CALLER)
		return error_new(SP_ERROR_INVALID, "a timeline needs a tree of callers");
	if (!ret->samples.timeline_cells)
		ret->samples.timeline_cells = TIMELINE_CELLS;
	if (!ret->rows.key_count) {
		ret->rows.keys = default_keys;
		ret->rows.key_count = count_of(default_keys);
	}
	for (size_t i = 0; i < ret->rows.key_count; i++)
		if (!sp_key_name(ret->rows.keys[i]))
			return error_new(SP_ERROR_INVALID, "there is no key %d", ret->rows.keys[i]);
	return NULL;
}
