/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's code with its samples: the model of `sprof annotate`, and its formats. */
#ifndef CMD_ANNOTATE_ANNOTATE_H
#define CMD_ANNOTATE_ANNOTATE_H

#include <stdio.h>
#include <sprof/sprof.h>
#include "cmd/common/recordings.h"
#include "source_files.h"
#include "term.h"

/* A source file of the function. */
struct annotate_source {
	const char *path; /* borrowed from the annotation */
	char *text;	  /* NULL: it cannot be read */
	char **lines;	  /* parts of `text` */
	size_t line_count;
};

struct annotate_sources {
	LIST(struct annotate_source);
	struct source_roots roots;
};

/* All that a format writes. Everything is borrowed. */
struct annotated {
	const struct sp_annotation *annotation;
	const struct sp_profile *profile; /* shares of it are of the function, or of the event */
	const struct sp_event *event;
	const struct sp_row *function; /* the function among all of the event */
	/*
	 * Its row in `sprof report`: without functions that are inlined into it, with its inlined
	 * copies, and in Python's interpreter with what the report folds. NULL: there is none.
	 */
	const struct sp_row *reported;
	const char *recording;
	struct annotate_sources *sources; /* NULL: without source */
	bool is_global;			  /* shares are of the event */
	bool codes;			  /* show the instructions' bytes */
	bool samples;			  /* show numbers of samples */
	bool quiet;
	bool waits;			  /* the recording has waits, which are not in it */
	long *offsets; /* text: sets the begin of each instruction's line; NULL: not wanted */
	struct term term;
};

/* Code to annotate, and its form. */
struct annotate_request {
	const struct selection *selection;
	struct sp_names *names; /* NULL: none */
	const char *dso; /* only functions of it; NULL: those that the selection has */
	bool intel, whole, source;
	bool is_global; /* shares are of the event, not of the function */
};

/* A function's code with all that it points to. */
struct annotate_code {
	struct sp_analysis *analysis;
	struct sp_annotation *annotation; /* NULL: the function has no samples */
	struct annotate_sources sources;
	struct annotated annotated;
};

/* Whether Python functions are shown without the interpreter's frames, as in the report's text. */
enum annotate_folding { ANNOTATE_FOLDED, ANNOTATE_UNFOLDED };

/*
 * Runs an analysis by the keys of `rows`. `symbol`: only those that match; NULL: all. Shares of
 * rows.annotate are of the matching functions, unless the request's are of the event.
 */
struct sp_error *annotate_analyse(const struct annotate_request *request, struct sp_ctx *ctx,
				  const struct recordings *recordings, const char *symbol,
				  const struct sp_analysis_rows *rows,
				  enum annotate_folding folding, struct sp_analysis **ret);

/*
 * Makes the code of a function, which is a row by dso and symbol, with the samples of the event
 * with the profile `index`. `function` must outlive it. Call annotate_code_deinit() in any case.
 */
struct sp_error *annotate_code_make(const struct annotate_request *request, struct sp_ctx *ctx,
				    const struct recordings *recordings,
				    const struct sp_row *function, size_t index,
				    struct annotate_code *ret);
void annotate_code_deinit(struct annotate_code *code);

/*
 * Returns a line of a source file; NULL: it cannot be read, or has no such line. Valid until the
 * sources are freed.
 */
const char *annotate_source_line(struct annotate_sources *sources, const char *path, uint32_t line);

/* Returns a sentence about the event's skid: how far its samples may be from the instruction. */
const char *annotate_skid(const struct sp_event *event);

/* Write a format. */
void annotate_write_text(const struct annotated *annotated, FILE *out);
void annotate_write_json(const struct annotated *annotated, FILE *out);

#endif
