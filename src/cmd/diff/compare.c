/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof diff` compares the runs of two programs, or of two versions of one. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "command.h"
#include "diag.h"
#include "pager.h"
#include "progress.h"

/* Exit statuses with --fail-on. Failures are EXIT_RECORDER, so that scripts can tell them apart. */
enum { STATUS_NOTHING, STATUS_FOUND, STATUS_INCONCLUSIVE };

/*
 * Returns whether the change is certainly above the limit of --fail-on. A new function has no
 * change in percent: the total has its time.
 */
static bool is_beyond(const struct sp_change *change, double limit)
{
	return change->verdict == SP_DIFF_SLOWER && change->low > limit;
}

static int exit_status(const struct comparison *comparison)
{
	double limit = comparison->arguments->fail_on;
	const struct sp_change *total = sp_diff_total(comparison->diff);
	if (limit < 0)
		return STATUS_NOTHING;
	if (is_beyond(total, limit))
		return STATUS_FOUND;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++)
		if (!sp_diff_row(comparison->diff, i)->is_rest &&
		    is_beyond(&sp_diff_row(comparison->diff, i)->change, limit))
			return STATUS_FOUND;
	if (!comparison_is_tested(comparison) || !sp_diff_row_count(comparison->diff) ||
	    (!comparison->by_share && total->high > limit))
		return STATUS_INCONCLUSIVE;
	return STATUS_NOTHING;
}

static int write_output(const struct comparison *comparison)
{
	const struct diff_arguments *arguments = comparison->arguments;
	struct pager pager = pager_open(arguments->output, false);
	struct progress progress;
	if (!pager.out)
		return 1;
	progress_begin_writing(&progress, arguments->output && !arguments->selection.quiet);
	arguments->write(comparison, pager.out);
	progress_end(&progress);
	/* main() would end with 1 after a failure, which here is the status of a found change. */
	return pager_close(&pager);
}

static int compare(struct sp_ctx *ctx, const struct diff_arguments *arguments)
{
	struct comparison comparison = {.arguments = arguments};
	int status = EXIT_RECORDER;
	if (diff_runs_read(&comparison, ctx) && diff_runs_check(&comparison)) {
		const struct sp_diff_options options = {
			.size = sizeof(options),
			.by_share = comparison.by_share,
			/* 0 would be the library's default. */
			.least_share = fmax(arguments->least_share, DBL_MIN),
		};
		struct sp_error *error = sp_diff_run(comparison.diff, &options);
		if (!error && sp_diff_renamed(comparison.diff, SP_DIFF_NEW))
			comparison_note(&comparison, "%s of the base is compared with %s",
					sp_diff_renamed(comparison.diff, SP_DIFF_BASE),
					sp_diff_renamed(comparison.diff, SP_DIFF_NEW));
		if (!error && !sp_diff_row_count(comparison.diff))
			comparison_note(&comparison, "no samples pass the filters");
		if (error)
			diag_error(error);
		else if (!write_output(&comparison))
			status = exit_status(&comparison);
	}
	comparison_deinit(&comparison);
	return status;
}

static int diff_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct diff_arguments arguments;
	int status = diff_arguments_parse(&arguments, argc, argv);
	if (status < 0) {
		input_options_apply(&arguments.selection, ctx);
		status = compare(ctx, &arguments);
	}
	diff_arguments_deinit(&arguments);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare runs of two programs: what became slower, and how sure it is",
	.run = diff_run,
};
