/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records a command into sprof.data, and prints its ten hottest functions.
 *
 *	cc -o example-record example-record.c $(pkg-config --cflags --libs libsprof)
 *	./example-record COMMAND [ARG]...
 */
#include <stdio.h>
#include <sprof/sprof.h>

int main(int argc, char **argv)
{
	const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	const struct sp_analysis_options report = {.size = sizeof(report), .rows = &rows};
	const struct sp_capture_target target = {.size = sizeof(target),
						 .command = (const char *const *)(argv + 1)};
	const struct sp_capture_options record = {.size = sizeof(record), .target = &target};
	struct sp_ctx *ctx = NULL;
	struct sp_capture *capture = NULL;
	struct sp_reader *reader = NULL;
	struct sp_analysis *analysis = NULL;
	struct sp_error *error = argc > 1 ? sp_ctx_new(&ctx) : NULL;
	if (argc < 2 || error || (error = sp_capture_new(ctx, &record, &capture)) ||
	    (error = sp_capture_run(capture, -1)) ||
	    (error = sp_reader_open(ctx, "sprof.data", &reader)) ||
	    (error = sp_analysis_run(ctx, reader, &report, &analysis))) {
		fprintf(stderr, "%s\n", error ? sp_error_message(error) : "COMMAND is missing");
		return 1;
	}
	const struct sp_profile *profile = sp_analysis_profile(analysis, 0);
	for (size_t i = 0; i < profile->row_count && i < 10; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		printf("%5.1f%% %s in %s\n", row->self.share.value * 100, row->symbol, row->dso);
	}
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_capture_free(capture);
	sp_ctx_free(ctx);
}
