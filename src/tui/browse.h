/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Browser of a report in the terminal. */
#ifndef TUI_BROWSE_H
#define TUI_BROWSE_H

#include <sprof/sprof.h>
#include "cmd/report/report_arguments.h"
#include "cmd/report/report_result.h"
#include "tui/browse_live.h"

/* Recordings to browse. */
struct browse_source {
	struct sp_ctx *ctx;
	const struct report_arguments *arguments; /* from the command line */
	struct recordings *recordings;
	struct sp_names *names; /* names that results share */
	/* Makes report_result_new()'s result for other arguments. */
	struct sp_error *(*make)(const struct report_arguments *arguments, struct sp_ctx *ctx,
				 struct recordings *recordings, struct sp_names *names,
				 struct sp_counts **counts, struct report_result **ret);
	const struct browse_live *live; /* NULL: the recordings are files */
};

/*
 * Shows `first`, which it frees, until the user quits. NULL: makes it, with a progress bar. Returns
 * the exit status, after printing why there is no browser or no result.
 */
int browse_run(const struct browse_source *source, struct report_result *first);

#endif
