/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares recordings: the first half of the files with the second half. Prints what became slower.
 *
 *	cc -o example-diff example-diff.c $(pkg-config --cflags --libs libsprof)
 *	./example-diff old.1 old.2 old.3 new.1 new.2 new.3
 */
#include <stdio.h>
#include <sprof/sprof.h>

int main(int argc, char **argv)
{
	const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_FUNCTION};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	const struct sp_analysis_options report = {.size = sizeof(report), .rows = &rows};
	const struct sp_diff_options options = {.size = sizeof(options)};
	struct sp_ctx *ctx = NULL;
	struct sp_diff *diff = NULL;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (!error)
		error = sp_diff_new(&diff);
	for (int i = 1; i < argc && !error; i++) {
		struct sp_reader *reader = NULL;
		struct sp_analysis *analysis = NULL;
		if (!(error = sp_reader_open(ctx, argv[i], &reader)) &&
		    !(error = sp_analysis_run(ctx, reader, &report, &analysis)))
			error = sp_diff_add(diff, i > argc / 2 ? SP_DIFF_NEW : SP_DIFF_BASE,
					    sp_analysis_profile(analysis, 0));
		if (!error)
			error = sp_diff_add_command(diff, sp_reader_info(reader)->cmdline);
		sp_analysis_free(analysis);
		sp_reader_free(reader);
	}
	if (error || (error = sp_diff_run(diff, &options))) {
		fprintf(stderr, "%s\n", sp_error_message(error));
		return 1;
	}
	for (size_t i = 0; i < sp_diff_row_count(diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(diff, i);
		printf("%-12s %+6.1f%%  %s\n", sp_diff_verdict_name(row->change.verdict),
		       100 * row->change.ratio, row->is_rest ? "(rest)" : row->function);
	}
	sp_diff_free(diff);
	sp_ctx_free(ctx);
	return 0;
}
