/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content of a report, and functions about its rows that several outputs share. */
#ifndef OUT_REPORT_H
#define OUT_REPORT_H

#include <sprof/private/command.h>
#include <sprof/sprof.h>
#include <stdio.h>
#include "out/format_value.h"
#include "term.h"

/* Event group with its events as columns of one table. */
struct joint_view {
	const struct sp_group *group;
	const struct sp_profile *const *profiles; /* in the group's order: the leader's profile first */
};

/* Table columns other than keys, as -F names them. */
enum report_column {
	REPORT_COLUMN_SELF = SP_KEY_LIMIT,
	REPORT_COLUMN_TOTAL,
	REPORT_COLUMN_SELF_RANGE,
	REPORT_COLUMN_TOTAL_RANGE,
	REPORT_COLUMN_SAMPLES,
	REPORT_COLUMN_PERIOD,
	REPORT_COLUMN_ON, /* time by state, and waits; of total if rows are ordered by that, else of self */
	REPORT_COLUMN_RUNNABLE,
	REPORT_COLUMN_BLOCKED,
	REPORT_COLUMN_WAITS,
	REPORT_COLUMN_LONGEST,
	REPORT_COLUMN_END,
};

/* Intervals that text and pages show. */
enum shown_interval {
	SHOWN_BY_ROW, /* between-run if the share varies, and that is of use; else within-run */
	SHOWN_WITHIN,
	SHOWN_BETWEEN,
};

/* Marks of intervals of shares that vary. */
#define MARK_BETWEEN '~'
#define MARK_WITHIN '*' /* within-run: the between-run one is too wide to be of use */

/* Facts about a window of a live recording. */
struct report_live {
	char title[256];           /* replaces the recordings and the command */
	uint64_t begin_ns, end_ns; /* in the recording's clock */
	uint64_t time_ms;          /* time of its end, since 1970 */
	double own_cpu;            /* CPU time that sprof itself uses, in CPUs */
};

/*
 * Content of a report. All pointers are borrowed. (More than 30 members: each is a fact that some
 * output needs.)
 */
struct report {
	const char *path;
	const struct sp_file_info *info;
	const struct sp_recording *recordings;
	size_t recording_count; /* number of recordings; if several, `path` and `info` are of the first */
	uint64_t duration_ns; /* time from the first sample to the last one */
	const struct timeline *timeline; /* samples over time; NULL: not shown */
	const struct sp_timeline *const *timelines; /* by profile, if the format needs them */
	const struct sp_analysis *analysis; /* for sp_analysis_state_times(); may be NULL in SP_MODE_CPU */
	/* By profile, for --source: rows by dso, function and source line; NULL: not requested. */
	const struct sp_profile *const *lines;
	/* By profile: rows by waker and wakee, if the format and the mode need them; or NULL. */
	const struct sp_profile *const *pairs;
	const char *const *source_directories;
	size_t source_directory_count;
	uint64_t other_samples; /* samples of events that the mode does not show */
	bool damaged;
	const struct report_live *live; /* NULL: the recordings are files */
	const struct sp_profile *const *profiles;
	size_t profile_count;
	const struct joint_view *groups; /* event groups: one table for all events of each */
	size_t group_count;
	const struct sp_finding *const *findings;
	size_t finding_count;
	const enum sp_key *keys; /* keys of rows, in the order that the user gave */
	size_t key_count;
	const char *const *field_names; /* names of SP_KEY_FIELD and the following keys */
	const unsigned int *columns; /* text's columns: values of enum sp_key or enum report_column */
	size_t column_count;     /* 0: default columns */
	bool children;           /* rows have computed totals */
	bool order_by_self;      /* rows are ordered and limited by self, although they have totals */
	bool hide_rows;          /* text shows the tree only */
	bool show_samples;       /* text has a column of sample counts */
	bool keep_keys;          /* text has a column for each key, even if all its values are equal */
	enum sp_tree_order tree;
	bool process_tree;       /* the tree's nodes are processes */
	bool my_code;            /* stacks have only frames of the user's own code */
	bool filtered, relative;
	const char *callers, *callees; /* show only this function's callers or callees; NULL: all functions */
	enum sp_mode mode;
	double row_limit, tree_limit; /* rows and nodes with smaller shares are hidden; 0: none */
	size_t tree_most;        /* most nodes of a tree: report_limit_tree(); 0: no limit */
	double row_coverage;     /* text shows the first rows that have this part of self; 0: no limit */
	size_t row_most;         /* most rows of an event; 0: no limit */
	enum shown_interval interval;
	const struct sp_event *const *events; /* event of each profile; NULL: unknown */
	bool quiet;
	struct term term;
};

/*
 * Returns the sampling period of a profile, in ns for clocks, else in events; 0: unknown, or the kernel
 * varies it to reach a frequency.
 */
uint64_t report_period(const struct report *report, const struct sp_profile *profile);

/* Returns the attr of a profile's event; NULL: unknown. */
const struct perf_event_attr *report_attr(const struct report *report,
					  const struct sp_profile *profile);

/* Writes the words for a clock's weight: "CPU time", and which part of it was in user code. */
#define CPU_TIME_SIZE 128
void report_cpu_time(const struct report *report, const struct sp_profile *profile,
		     char text[CPU_TIME_SIZE]);

/* Returns the index of the profile of an event; the number of profiles: there is none. */
size_t report_find_event(const struct report *report, const char *event);

bool report_has_key(const struct report *report, enum sp_key key);

/* Returns the key's name, or for a tracepoint's field its name in the recording. */
const char *report_key_name(const struct report *report, enum sp_key key);

/* Collects the keys except the event in the stable order of CSV and JSON. Returns their number. */
size_t report_ordered_keys(const struct report *report, enum sp_key ret[SP_KEY_LIMIT]);

/* Returns the row's text for a key with text values; NULL: unknown. */
const char *row_text(const struct sp_row *row, enum sp_key key);

/* Gets the row's number for a numeric key. Returns false if it is unknown. */
bool row_number(const struct sp_row *row, enum sp_key key, int64_t *ret);

/* Returns the weight by which rows and nodes are ordered and limited. */
const struct sp_weight *row_order_weight(const struct report *report, const struct sp_row *row);

/*
 * Returns a share with the interval that text and pages show. *mark_ret: its mark; 0: none, the
 * share does not vary. `between` may be NULL.
 */
struct sp_share report_interval(const struct report *report, const struct sp_share *within,
				const struct sp_between *between, char *mark_ret);

/* Returns that interval of the weight by which rows are ordered. */
struct sp_share row_order_interval(const struct report *report, const struct sp_row *row,
				   char *mark_ret);

/* Formats that interval, with its mark. Returns `buffer`. */
const char *report_range(const struct report *report, const struct sp_weight *weight,
			 const struct sp_between *between, int decimals, char buffer[FORMAT_SIZE]);

/* Returns whether one of the first rows has the mark. */
bool report_shows_mark(const struct report *report, const struct sp_profile *profile,
		       size_t row_count, char mark);

/* Writes the lines of a legend about MARK_BETWEEN and MARK_WITHIN. */
void report_write_marks(const struct report *report, bool between, bool within, FILE *out);

/* Returns whether rows are ordered and limited by total; else they are by self. */
bool report_by_total(const struct report *report);

/* Returns whether text has the rows in order of time: the heaviest are not the first. */
bool report_by_time(const struct report *report);

/* Returns whether all shares are exact, in this run and for it: text has no intervals then. */
bool report_is_exact(const struct report *report);

/* Returns whether text has columns of intervals: a narrow terminal has no room for them. */
bool report_has_intervals(const struct report *report);

/* Returns true if the row reaches the limit for at least one event of the group. */
bool report_shows(const struct report *report, const struct sp_group *group,
		  const struct sp_joint_row *row);

/* Returns whether the profile belongs to the group. */
bool joint_view_has(const struct joint_view *view, const struct sp_profile *profile);

/* Returns whether the profile belongs to a group. Tables of groups have within-run intervals. */
bool report_is_grouped(const struct report *report, const struct sp_profile *profile);

/* Returns how many rows are within `row_limit` and `row_most`: the first ones. */
size_t report_row_count(const struct report *report, const struct sp_profile *profile);

/* Returns how many rows text shows, with all its limits. */
size_t report_text_row_count(const struct report *report, const struct sp_profile *profile);

/*
 * Sets *least_ret to the least share of shown nodes below `root`: `tree_limit`, or more if
 * `tree_most` nodes are fewer. Nodes of equal shares are all shown or all hidden. *hidden_ret:
 * number of nodes that `tree_most` hides.
 */
void report_limit_tree(const struct report *report, const struct sp_tree_node *root,
		       double *least_ret, size_t *hidden_ret);

/* Returns the name of a tree node, which is a function, a symbol, or a command. */
const char *node_name(const struct sp_tree_node *node);

/* Returns the style of a node's name. */
enum term_style node_style(const struct sp_tree_node *node);

/* Returns whether rows have a known total: computed, or equal to self if there are no call chains. */
bool report_has_totals(const struct report *report, const struct sp_profile *profile);

/*
 * Returns the command for the report's recording, as input_command() does. It names all of
 * several recordings, and none of a live one.
 */
char *report_command(const struct report *report, const char *command);

#endif
