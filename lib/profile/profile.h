/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From sums and interned call chains to the rows and the tree of a struct sp_profile. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <sprof/analysis.h>
#include "base/arena.h"
#include "profile/detail.h"
#include "profile/function.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/paths.h"
#include "profile/ratio.h"
#include "profile/srcfile.h"
#include "profile/tally.h"

/* Meaning of the words of details. */
struct profile_values {
	const enum sp_key *keys; /* keys of the words, in their order */
	size_t count;
	/* Fills in all but the key; `samples` are the row's. False when out of memory. */
	bool (*describe)(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
			 struct sp_value *ret);
	void *arg;
};

/*
 * Largest weight of tasks that ended before their first sample: rows may lack it. A task counts for
 * each program name that it had, so the sum of `weight` may exceed `total`.
 */
struct unsampled_weight {
	const char *comm; /* interned as those of groups */
	uint64_t weight;
};

/* One event's samples, and what is wanted of them. */
struct profile_source {
	const struct tallies *tallies;     /* for rows */
	const struct paths *paths;         /* for the tree */
	const struct group *groups;        /* the tallies' */
	const struct details *details;     /* the groups' */
	struct profile_values values;      /* the details' */
	const struct functions *functions; /* the tallies' and the tree's */
	const struct srcfiles *files;      /* the functions' */
	const char *const *texts;          /* the tree's words that are no functions */
	const char *event;
	bool children;
	bool order_by_self; /* rows, although they have totals */
	bool by_symbol;    /* tree nodes are symbols, not functions */
	const struct replicate_sums *replicates; /* the tallies'; NULL: none were requested */
	double tree_least; /* share of the lightest branch that is kept */
	struct weight_sums whole; /* the total of all shares */
	const struct unsampled_weight *unsampled;
	size_t unsampled_count;
	uint64_t unsampled_total;
	uint64_t missing; /* lost and throttled weight, which any row may lack */
};

/*
 * The rows, heaviest first; of those of one weight, by name. They belong to the
 * arena, their strings to the functions and groups. False when out of memory.
 */
bool profile_rows(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile);

/*
 * The rows of several events side by side, for which all of `sources` must be by the same, with
 * names of one table, and have replicates. Fills in group->rows from what it says of ratios. As
 * the rows.
 */
bool profile_join(const struct profile_source *sources, size_t count, struct arena *arena,
		  struct sp_group *group);

/*
 * Inputs of rows: a tally's weights, its names, and their order. `comm` is the row's, NULL if rows
 * are not by comm.
 */
void profile_weigh(const struct profile_source *source, const char *comm,
		   const struct tally *tally, struct sp_weight *self, struct sp_weight *total);
bool profile_name_row(const struct profile_source *source, const struct tally *tally,
		      struct arena *arena, struct sp_row *row);
int profile_compare_weights(const struct sp_weight *a, const struct sp_weight *b);
int profile_compare_names(const struct sp_row *a, const struct sp_row *b);

/* The tree; as the rows. */
bool profile_tree(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile);

#endif
