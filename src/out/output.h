/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of a report: one file in out/ for each, and one line in output.c. */
#ifndef OUT_OUTPUT_H
#define OUT_OUTPUT_H

#include "out/report.h"

struct output_format {
	const char *name;      /* value of --format */
	const char *const *files; /* patterns of file names with this format; NULL-terminated */
	bool paged;            /* text for people, which may be shown by the pager */
	bool binary;           /* not written to a terminal */
	bool stacks;           /* needs the call tree of callers, whatever options select */
	bool comms;            /* the tree begins with commands */
	bool lines;            /* the tree's nodes are by source line */
	bool addresses;        /* the tree's nodes are by sampled address */
	bool intervals;        /* has intervals of rows */
	bool functions;        /* needs rows by dso and function, with totals, ordered by self */
	bool folds_python;     /* leaves out Python's interpreter without --interpreter-frames */
	bool timeline;         /* needs timelines */
	bool pairs;            /* needs rows by waker and wakee in mode wakers */
	bool labels;           /* needs timelines if -s has pid, tid or comm */
	bool source_lines;     /* needs rows by source line */
	bool one_event;        /* has room for one event only */
	/* Returns false after printing why this report cannot be written; NULL: any can. */
	bool (*check)(const struct report *report);
	/* Write errors stay in `out`. Returns false after printing another error. */
	bool (*write)(const struct report *report, FILE *out);
};

/* Names of all formats, for messages. */
#define OUTPUT_NAMES "text, json, csv, folded, pprof, speedscope, firefox, callgrind or html"

extern const struct output_format output_text;
extern const struct output_format output_json;
extern const struct output_format output_csv;
extern const struct output_format output_folded;
extern const struct output_format output_pprof;
extern const struct output_format output_callgrind;
extern const struct output_format output_speedscope;
extern const struct output_format output_firefox;
extern const struct output_format output_html;
extern const struct output_format output_explain, output_explain_json; /* for --explain */

/* All output formats; NULL-terminated. */
extern const struct output_format *const outputs[];

/* Returns the output format of that name, or NULL. */
const struct output_format *output_find(const char *name);

/* Returns the output format for a file's name, or NULL. */
const struct output_format *output_find_file(const char *path);

/* Returns whether the file's name is that of a picture, such as *.svg. */
bool output_is_picture(const char *path);

#endif
