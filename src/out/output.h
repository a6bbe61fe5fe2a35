/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A form in which a report can be written: one file in out/, one line in output.c. */
#ifndef OUT_OUTPUT_H
#define OUT_OUTPUT_H

#include "out/report.h"

struct output {
	const char *name;      /* value of --format */
	bool paged;            /* for people: worth a pager */
	/* Write errors stay in `out`. False, after having said why: out of memory. */
	bool (*write)(const struct report *report, FILE *out);
};

extern const struct output output_text;
extern const struct output output_json;
extern const struct output output_csv;
extern const struct output output_folded;

/* NULL-terminated. */
extern const struct output *const outputs[];

/* NULL if there is none of that name. */
const struct output *output_find(const char *name);

#endif
