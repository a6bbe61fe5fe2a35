/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include "cmd/annotate/annotate.h"

struct sp_error *annotate_analyse(const struct annotate_request *request, struct sp_ctx *ctx,
				  const struct recordings *recordings, const char *symbol,
				  const struct sp_analysis_rows *rows,
				  enum annotate_folding folding, struct sp_analysis **ret)
{
	bool inlines = rows->keys[rows->key_count - 1] == SP_KEY_FUNCTION;
	const struct sp_analysis_stacks stacks = {.size = sizeof(stacks),
						  .inlines = inlines ? SP_ON : SP_OFF,
						  .fold_python = folding == ANNOTATE_FOLDED};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples), .relative = rows->annotate && !request->is_global};
	const struct sp_files files = input_options_files(request->selection);
	struct sp_filter filter = input_options_filter(request->selection, NULL);
	if (symbol)
		filter.symbols = (struct sp_string_list){&symbol, 1};
	if (request->dso)
		filter.dsos = (struct sp_string_list){&request->dso, 1};
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = rows,
		.stacks = &stacks,
		.samples = &samples,
		.filter = &filter,
		.files = &files,
		.threads = (unsigned int)request->selection->jobs,
		.names = request->names,
	};
	return sp_analysis_sum(ctx, recordings->items, recordings->count, &options, ret);
}

/* Returns the hottest row of the function in a profile by instruction; NULL: there is none. */
static const struct sp_row *hottest_instruction(const struct sp_profile *profile,
						const struct sp_row *function)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!strcmp(row->symbol, function->symbol) && !strcmp(row->dso, function->dso) &&
		    row->level == function->level)
			return row;
	}
	return NULL;
}

struct sp_error *annotate_code_make(const struct annotate_request *request, struct sp_ctx *ctx,
				    const struct recordings *recordings,
				    const struct sp_row *function, size_t index,
				    struct annotate_code *ret)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	static const char *const root[] = {"/"};
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = keys, .key_count = 2, .annotate = true};
	const struct sp_file_info *info = sp_reader_info(recordings->items[0].reader);
	/* Shares are not of functions that have its name in other files. */
	struct annotate_request of_dso = *request;
	of_dso.dso = function->dso;
	*ret = (struct annotate_code){0};
	struct sp_error *error = annotate_analyse(&of_dso, ctx, recordings, function->symbol, &rows,
						  ANNOTATE_UNFOLDED, &ret->analysis);
	const struct sp_profile *profile =
		error ? NULL : sp_analysis_profile(ret->analysis, index);
	const struct sp_row *row = profile ? hottest_instruction(profile, function) : NULL;
	const struct sp_annotation_options options = {
		.size = sizeof(options),
		.big_endian = info->big_endian,
		.intel = request->intel,
		.whole = request->whole,
		.lines = request->source ? SP_ON : SP_OFF,
	};
	if (row)
		error = sp_annotation_new(profile, row, &options, &ret->annotation);
	if (!ret->annotation)
		return error;
	bool has_sources = request->source && source_roots_open(&ret->sources.roots, root, 1);
	ret->annotated = (struct annotated){
		.annotation = ret->annotation,
		.profile = profile,
		.event = sp_analysis_event(ret->analysis, index),
		.function = function,
		.recording = info->path,
		.sources = has_sources ? &ret->sources : NULL,
		.is_global = request->is_global,
	};
	return error;
}

void annotate_code_deinit(struct annotate_code *code)
{
	for (size_t i = 0; i < code->sources.count; i++) {
		free(code->sources.items[i].lines);
		free(code->sources.items[i].text);
	}
	free(code->sources.items);
	source_roots_deinit(&code->sources.roots);
	sp_annotation_free(code->annotation);
	sp_analysis_free(code->analysis);
	*code = (struct annotate_code){0};
}
