/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output format of a report: one file in out/, one line in output.c. */
#ifndef OUT_OUTPUT_H
#define OUT_OUTPUT_H

#include "out/report.h"

struct output {
	const char *name;      /* value of --format */
	bool paged;            /* text for people, which may be shown by the pager */
	/* Write errors stay in `out`. Returns false after printing that memory is exhausted. */
	bool (*write)(const struct report *report, FILE *out);
};

extern const struct output output_text;
extern const struct output output_json;
extern const struct output output_csv;
extern const struct output output_folded;

/* All output formats; NULL-terminated. */
extern const struct output *const outputs[];

/* Returns the output format of that name, or NULL. */
const struct output *output_find(const char *name);

#endif
