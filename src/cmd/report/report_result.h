/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report with all data that it points to. */
#ifndef CMD_REPORT_REPORT_RESULT_H
#define CMD_REPORT_REPORT_RESULT_H

#include "cmd/report/report_arguments.h"
#include "out/report.h"

struct report_result;

/*
 * Analyses the recordings. `arguments` must outlive the result, and is resolved for these
 * recordings (report_arguments_resolve()). `names` and `counts` (as in sp_analysis_options) may be
 * NULL. *ret is NULL after an error.
 */
struct sp_error *report_result_new(const struct report_arguments *arguments, struct sp_ctx *ctx,
				   struct recordings *recordings, struct sp_names *names,
				   struct sp_counts **counts, struct report_result **ret);

/* NULL is allowed. */
void report_result_free(struct report_result *result);

/* Returns the report. The browser changes its limits, order and width. */
struct report *report_result_report(struct report_result *result);

#endif
