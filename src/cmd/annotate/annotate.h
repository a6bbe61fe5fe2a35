/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's code with its samples: the model of `sprof annotate`, and its formats. */
#ifndef CMD_ANNOTATE_ANNOTATE_H
#define CMD_ANNOTATE_ANNOTATE_H

#include <stdio.h>
#include <sprof/sprof.h>
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
	const char *recording;
	struct annotate_sources *sources; /* NULL: without source */
	bool is_global;			  /* shares are of the event */
	bool codes;			  /* show the instructions' bytes */
	bool samples;			  /* show numbers of samples */
	bool quiet;
	struct term term;
};

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
