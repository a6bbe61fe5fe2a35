/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares two programs, or two versions of one, by the profiles of several runs of each: which
 * functions became slower, and how sure that is.
 *
 * A run's CPU time in a function is compared as a logarithm. The variance between runs is estimated
 * for each function, moderated by that of all functions (Smyth 2004), and never below that of
 * sampling alone. The probability of a verdict on any function that did not change is bounded (Holm
 * 1979), however many others did.
 */
#ifndef SPROF_DIFF_H
#define SPROF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <sprof/error.h>
#include <sprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fewest runs a side from which a change can be found. */
#define SP_DIFF_LEAST_RUNS 3

enum sp_diff_side { SP_DIFF_BASE, SP_DIFF_NEW };

enum sp_diff_verdict {
	SP_DIFF_UNTESTED,     /* fewer runs a side, or too light to be tested */
	SP_DIFF_INCONCLUSIVE, /* neither a change nor sameness was found */
	SP_DIFF_SAME,	      /* the interval of the change is within 10 % of none */
	SP_DIFF_SLOWER,	      /* found: takes more in the new runs */
	SP_DIFF_FASTER,
	SP_DIFF_APPEARED, /* found: in no run of the base */
	SP_DIFF_GONE,	  /* found: in no new run */
	SP_DIFF_MOVED,	  /* rows by dso and function: such a change that opposite ones make up
			   * for, of functions inlined into the same one, a caller or a callee */
};

/* Returns "slower", "inconclusive", …; never NULL. */
SP_API const char *sp_diff_verdict_name(enum sp_diff_verdict verdict);

/*
 * A quantity's mean over each side's runs, and how it changed. The unit is the profile's weight: ns
 * for clocks. With sp_diff_options.by_share it is a share, 0 to 1.
 */
struct sp_change {
	double base, now;
	double ratio, low, high; /* now / base - 1, with its 95 % interval; INFINITY: there is no
				  * base, or the bound is not known */
	double p; /* probability of such a change by chance; rows: adjusted for their number;
		   * NAN if untested */
	enum sp_diff_verdict verdict;
	/*
	 * Ratio of the smallest change that these runs would find in 9 of 10 comparisons; 0:
	 * unknown. `runs` is the number of runs a side that would decide so often, whatever the
	 * change is: they find one, or the verdict is SP_DIFF_SAME, if the runs of each side differ
	 * as these do. 0: unknown; INFINITY: over a million.
	 */
	double detectable;
	double runs;
};

/* One function. Strings belong to the comparison; those of keys without values are NULL. */
struct sp_diff_row {
	const char *comm, *dso, *srcline;
	const char *function; /* without the suffix of a clone, such as ".constprop.0" */
	bool is_rest;	      /* all rows together that are too light to be tested */
	struct sp_change change;
	double base_samples, now_samples; /* mean number in a run */
	/*
	 * Rows that are new or gone: function of the other side that may be the same one under
	 * another name, because its callers, callees and time are alike. NULL: none, or `function`
	 * is no key.
	 */
	const char *other_name;
	/*
	 * SP_DIFF_MOVED: function with the largest opposite change (else NULL), number of other
	 * rows with one, and the weight of the row and all these rows.
	 */
	const char *moved_with;
	size_t moved_others;
	double together_base, together_now;
};

/*
 * A node of both sides' call tree, without the runs that have no call tree. Its function is
 * identified as a row's.
 */
struct sp_diff_node {
	const char *dso, *function; /* NULL of the root; a mark of missing callers has no dso */
	enum sp_level level;
	bool own_code; /* same as in struct sp_row */
	size_t parent; /* index of the caller, which is less than its own; 0: the root */
	double base, now, base_self, now_self; /* mean weight in a run, or share; with callees, and
						* its own */
	/*
	 * Change of its weight with callees; tested from the least share if the total or a row has
	 * changed. is_deepest: the change is found, and found changes below explain less than half.
	 */
	struct sp_change change;
	bool is_deepest;
};

struct sp_diff_options {
	size_t size; /* sizeof of this struct */
	/*
	 * Compare shares of a run's weight, for runs that did not do the same work, such as
	 * recordings of a whole machine. A row's share changes, too, if only others became slower.
	 */
	bool by_share;
	double least_share; /* rows are tested from this share of either side; 0: 0.005 */
	double risk; /* accepted probability of any verdict on a row that did not change; 0: 0.05 */
};

struct sp_diff;

/* sp_diff_free() frees *ret; it allows NULL. */
SP_API struct sp_error *sp_diff_new(struct sp_diff **ret) SP_MUST_CHECK;
SP_API void sp_diff_free(struct sp_diff *diff);

/*
 * Adds the profile of one run. Its rows are copied; rows of equal keys are added up. Lost samples
 * count as if the others stood for them; those of the target or of others (lost_unknown) widen all
 * intervals instead. Keys may be comm, dso, one of symbol and function, and one
 * of srcfile and srcline; other keys are ignored.
 */
SP_API struct sp_error *sp_diff_add(struct sp_diff *diff, enum sp_diff_side side,
				    const struct sp_profile *profile) SP_MUST_CHECK;

/*
 * Sets the exact weight of the run added last, such as its CPU time by a counting event. If all
 * runs have one, the total is of these, without the variance of sampling.
 */
SP_API void sp_diff_set_count(struct sp_diff *diff, double weight);

/*
 * Adds the command line (NULL-terminated; NULL: unknown) of the run added last. A program of each
 * side that a word names, and that the other side lacks, counts as one under two names. Not for two
 * parts of one recording: its programs differ.
 */
SP_API struct sp_error *sp_diff_add_command(struct sp_diff *diff,
					    const char *const *words) SP_MUST_CHECK;

/*
 * Compares the runs added so far; may be called again after more. Fails with SP_ERROR_INVALID if a
 * side has no run, or runs have other units.
 */
SP_API struct sp_error *sp_diff_run(struct sp_diff *diff,
				    const struct sp_diff_options *options) SP_MUST_CHECK;

/*
 * Rows: found changes first, the largest difference first; then the others, the heaviest first.
 * They add up to the total, unless that is counted. Valid until the next sp_diff_run().
 */
SP_API size_t sp_diff_row_count(const struct sp_diff *diff);
SP_API const struct sp_diff_row *sp_diff_row(const struct sp_diff *diff, size_t index);

/*
 * The merged call tree: the first node is the root, and parents precede their callees. No node: no
 * profile has a tree (sp_analysis_options.tree). Valid until the next sp_diff_run().
 */
SP_API size_t sp_diff_node_count(const struct sp_diff *diff);
SP_API const struct sp_diff_node *sp_diff_node(const struct sp_diff *diff, size_t index);

/* Returns the change of a run's whole weight; untested with by_share. */
SP_API const struct sp_change *sp_diff_total(const struct sp_diff *diff);

/*
 * Returns the file of one side that has another name on the other side, such as a program in a new
 * version; rows have the new name. NULL: there is none.
 */
SP_API const char *sp_diff_renamed(const struct sp_diff *diff, enum sp_diff_side side);

#ifdef __cplusplus
}
#endif
#endif
