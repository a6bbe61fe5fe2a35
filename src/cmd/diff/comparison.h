/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `sprof diff`: what the command line asks for, the runs that were read, and their output.
 */
#ifndef CMD_DIFF_COMPARISON_H
#define CMD_DIFF_COMPARISON_H

#include <stdio.h>
#include <sprof/sprof.h>
#include "cmd/common/input_options.h"
#include "cmd/common/time_ranges.h"
#include "term.h"

enum { DIFF_KEYS = 4 };

/* Compared quantity. The recordings decide it unless --by is given. */
enum diff_by { DIFF_BY_DEFAULT, DIFF_BY_TIME, DIFF_BY_SHARE };

struct comparison;

struct diff_arguments {
	struct selection selection;
	struct option_strings paths[2]; /* recordings of each side, by enum sp_diff_side */
	struct time_ranges times[2]; /* --time of each side */
	const char *time_texts[2];   /* the same as given; NULL: all of the time */
	enum sp_key keys[DIFF_KEYS];
	size_t key_count;
	enum diff_by by;
	int mode; /* enum sp_mode */
	void (*write)(const struct comparison *comparison, FILE *out);
	const char *output; /* -o; NULL: standard output */
	double fail_on;	    /* --fail-on as a part of 1; negative: not given */
	double least_share; /* --percent-limit as a part of 1 */
	bool all;	    /* rows without a verdict, too */
};

/* A recording, as far as the comparison depends on it. */
struct diff_run {
	char *path, *cpu, *event, *command; /* NULL: unknown */
	char *again, *options; /* command, and sprof's options before it, quoted for a shell; NULL:
				* unknown */
	enum sp_diff_side side;
	uint64_t started_ns; /* time of day; 0: unknown */
	uint64_t frequency;  /* samples a second, or 0 */
	uint64_t period;     /* events a sample, or 0 */
	uint64_t samples;
	uint64_t counted_ns; /* exact CPU time; 0: unknown */
	double lost;	     /* part of the samples */
	uint64_t lost_unknown; /* lost samples of the target or of other processes */
	bool is_part;	     /* not a whole run of one command */
	bool is_cut;	     /* damaged or not finished */
};

struct comparison {
	const struct diff_arguments *arguments;
	struct sp_diff *diff;
	struct diff_run *runs;
	size_t run_count;
	bool by_share, is_time;
	bool is_counted; /* the total is of exact CPU times */
	char *notes[8];	 /* sentences on what limits the comparison */
	size_t note_count;
	struct term term;
};

/* Returns -1 to continue, or the exit status. */
int diff_arguments_parse(struct diff_arguments *arguments, int argc, char **argv);
void diff_arguments_deinit(struct diff_arguments *arguments);

/* Reads all recordings into the comparison. Returns false after printing the error. */
bool diff_runs_read(struct comparison *comparison, struct sp_ctx *ctx);

/*
 * Decides what is compared, and adds a note for each difference between the runs that is not the
 * program's. Returns false after printing why the runs cannot be compared.
 */
bool diff_runs_check(struct comparison *comparison);
void comparison_deinit(struct comparison *comparison);

/* Adds a sentence without its full stop. It is left out if there are too many. */
void comparison_note(struct comparison *comparison, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns whether each side has enough runs for verdicts. */
bool comparison_is_tested(const struct comparison *comparison);
size_t comparison_runs(const struct comparison *comparison, enum sp_diff_side side);

/* Returns the nodes of the call tree from below the root to a node, for the caller to free. */
const struct sp_diff_node **comparison_path(const struct comparison *comparison, size_t node,
					    size_t *depth);

/* Returns one word for all: "slower", "faster", "changed", "same", "inconclusive" or "untested". */
const char *comparison_verdict(const struct comparison *comparison);

/* Write the formats. Write errors stay in `out`. */
void diff_write_text(const struct comparison *comparison, FILE *out);
void diff_write_markdown(const struct comparison *comparison, FILE *out);
void diff_write_json(const struct comparison *comparison, FILE *out);
/* Writes "stack COUNT COUNT" for difffolded.pl and flamegraph.pl: base and new. */
void diff_write_folded(const struct comparison *comparison, FILE *out);
void diff_write_csv(const struct comparison *comparison, FILE *out);
void diff_write_html(const struct comparison *comparison, FILE *out);

#endif
