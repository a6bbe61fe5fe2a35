/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report that an output writes, and the questions that outputs ask about its rows. */
#ifndef OUT_REPORT_H
#define OUT_REPORT_H

#include <sprof/sprof.h>
#include <stdio.h>
#include "term.h"

/* Events side by side. */
struct joint_view {
	const struct sp_group *group;
	const struct sp_profile *const *profiles; /* in the group's order: the leader's first */
};

/* Columns of tables that are no keys: what -F names. */
enum report_column {
	REPORT_COLUMN_SELF = SP_KEY_COUNT,
	REPORT_COLUMN_TOTAL,
	REPORT_COLUMN_SELF_RANGE,
	REPORT_COLUMN_TOTAL_RANGE,
	REPORT_COLUMN_SAMPLES,
	REPORT_COLUMN_PERIOD,
	REPORT_COLUMN_END,
};

/*
 * Content to write. All pointers are borrowed. (More than 30 members: each is a fact that some output
 * prints or decides by.)
 */
struct report {
	const char *path;
	const struct sp_file_info *info;
	const struct sp_recording *recordings;
	size_t recording_count; /* several: `path` and `info` are the first one's */
	uint64_t duration_ns; /* from the first to the last sample */
	const struct timeline *timeline; /* NULL: not shown */
	bool damaged;
	const struct sp_profile *const *profiles;
	size_t profile_count;
	const struct joint_view *groups; /* instead of whose profiles' tables one is shown */
	size_t group_count;
	const struct sp_finding *const *findings;
	size_t finding_count;
	const enum sp_key *keys; /* in the order that the user gave */
	size_t key_count;
	const char *const *field_names; /* names of SP_KEY_FIELD and the following keys */
	const unsigned int *columns; /* text's columns in order: keys and enum report_column … */
	size_t column_count;     /* … or 0: those that are usual */
	bool children;           /* rows have totals of their own */
	bool order_by_self;      /* rows are ordered and limited by self, although they have totals */
	bool hide_rows;          /* text shows the tree only */
	bool show_samples;       /* text has a column of sample counts */
	bool keep_keys;          /* text has a column for each key, even if all its values are equal */
	enum sp_tree_order tree;
	bool filtered, relative;
	const char *callers, *callees; /* only this function's; NULL: all functions */
	double row_limit, tree_limit; /* smaller shares are left out; 0: none are */
	double row_coverage;     /* text ends at the rows that have this share of self; 0: no limit */
	size_t row_most;         /* text has at most this many rows of an event; 0: no limit */
	const uint64_t *periods; /* for each profile: ns of clocks, else events; 0: unknown */
	bool quiet;
	struct term term;
};

bool report_has_key(const struct report *report, enum sp_key key);

/* Returns the key's name; a field has the recording's name for it. */
const char *report_key_name(const struct report *report, enum sp_key key);

/* The keys but the event's, in the order that machines are promised; returns how many. */
size_t report_ordered_keys(const struct report *report, enum sp_key ret[SP_KEY_COUNT]);

/* A text of the row by its key, which is no number; NULL where that is not known. */
const char *row_text(const struct sp_row *row, enum sp_key key);

/* A number of the row by its key; false where it is not known. */
bool row_number(const struct sp_row *row, enum sp_key key, int64_t *ret);

/* Returns the weight by which rows and nodes are ordered and limited. */
const struct sp_weight *row_main(const struct report *report, const struct sp_row *row);

/* Whether rows are ordered and limited by total. */
bool report_by_total(const struct report *report);

/* True if the share of at least one event of the group reaches the limit. */
bool report_shows(const struct report *report, const struct sp_group *group,
		  const struct sp_joint_row *row);

/* Whether a group has the profile. */
bool view_has(const struct joint_view *view, const struct sp_profile *profile);

/* How many of the rows, which are ordered, are not below the limit. */
size_t report_row_count(const struct report *report, const struct sp_profile *profile);

/* The rows that text shows, by all its limits. */
size_t report_text_row_count(const struct report *report, const struct sp_profile *profile);

/* The name of a node, which is a function, a symbol, or a command. */
const char *node_name(const struct sp_tree_node *node);

/* The total of a row is known: computed, or without call chains its self. */
bool report_has_totals(const struct report *report, const struct sp_profile *profile);

#endif
