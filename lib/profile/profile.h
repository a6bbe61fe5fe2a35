/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the rows and the call tree of a struct sp_profile from tallies and paths. */
#pragma once

#include <math.h>
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

/* Keys of a detail's words, and their conversion to values. */
struct profile_values {
	const enum sp_key *keys; /* key of each word */
	size_t count;
	/*
	 * Converts a word to the value of a row with `samples`; `key` is set by the caller. False when
	 * out of memory.
	 */
	bool (*describe)(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
			 struct sp_value *ret);
	void *arg;
};

/*
 * Largest weight of tasks of one comm before their first sample and after their last. A task
 * counts for each comm that it had, so that all programs together may have less than their sum.
 */
struct unsampled_weight {
	const char *comm; /* interned as those of groups; NULL: of all programs */
	uint64_t missing; /* neither in the rows nor in the whole weight */
	uint64_t more, less; /* in the whole: a row's part may be so much larger, or smaller */
};

/* One event's samples, and options of its profile. */
struct profile_source {
	const struct tallies *tallies;     /* for rows */
	const struct paths *paths;         /* for the tree */
	const struct group *groups;        /* referenced by tallies */
	const struct details *details;     /* referenced by groups */
	struct profile_values values;      /* meaning of `details` */
	const struct functions *functions; /* referenced by tallies and paths */
	const struct srcfiles *files;      /* referenced by functions */
	const char *const *texts;          /* words of paths that are not functions */
	const char *event;
	bool children;
	bool order_by_self; /* order rows by self even if they have totals */
	bool by_symbol;    /* tree nodes are symbols, not functions */
	const struct replicate_sums *replicates; /* by tally; NULL: not requested */
	double tree_least; /* tree branches with smaller shares are omitted */
	struct weight_sums whole; /* sums over all samples; its weight is a share of 1 */
	bool is_exact; /* sp_profile.is_estimate is false */
	const struct unsampled_weight *unsampled;
	size_t unsampled_count;
	struct unsampled_weight unsampled_all;
	/* Part of all weight in stacks with a Python function that could not be read; 0 to 1. */
	double unresolved;
	uint64_t missing; /* lost and throttled weight, which any row may lack */
	struct interval_batches batches; /* whole of the batches in `tallies`; total is 0: rows
					  * have no between-run intervals */
	bool by_run;                     /* batches are runs */
	const struct state_whole *states; /* whole time by state; NULL: rows and nodes have no times */
};

/* Returns n_eff of all samples (interval.h); infinite if shares are exact. */
static inline double profile_n_eff(const struct profile_source *source)
{
	return source->is_exact ? INFINITY : weight_sums_effective(&source->whole);
}

/*
 * Makes the rows, heaviest first; rows of equal weight by name. Rows belong to the arena, their strings
 * to the functions and groups. False when out of memory.
 */
bool profile_rows(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile);

/*
 * Makes rows with the values of several events for group->rows, and the ratios of the kinds in
 * `group`. All `sources` must have the same keys, share one function table and have replicates.
 * Ownership and errors as for profile_rows().
 */
bool profile_join(const struct profile_source *sources, size_t count, struct arena *arena,
		  struct sp_group *group);

/*
 * Parts of a row: whether a tally has samples, or time without a sample; its weights, its names,
 * and the order. `comm` is the row's, NULL if rows have no comm.
 */
bool profile_has_row(const struct profile_source *source, const struct tally *tally);
void profile_weigh(const struct profile_source *source, const char *comm,
		   const struct tally *tally, struct sp_weight *self, struct sp_weight *total);
bool profile_name_row(const struct profile_source *source, const struct tally *tally,
		      struct arena *arena, struct sp_row *row);
int profile_compare_weights(const struct sp_weight *a, const struct sp_weight *b);
int profile_compare_names(const struct sp_row *a, const struct sp_row *b);

/*
 * Makes the call tree. Ownership and errors as for profile_rows(). Sets last_ret, which has room for
 * each node of the paths, to the tree's node where that node ends; NULL: the tree leaves it out.
 */
bool profile_tree(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile, const struct sp_tree_node **last_ret);
