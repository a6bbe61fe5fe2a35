/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how rows differ between the runs of two sides, and tests their changes. */
#pragma once

#include <sprof/diff.h>

/* Weight and number of samples of a row, in one run. */
struct row_sums {
	double weight, samples;
};

struct run_size {
	enum sp_diff_side side;
	double weight, samples;
	double unknown; /* weight of lost samples, of any row or of other processes */
	double counted; /* weight by an exact count; 0: unknown */
};

/* Runs to compare, and how. */
struct run_set {
	const struct run_size *runs;
	size_t count;
	size_t side_counts[2];
	bool by_share;
	double risk; /* accepted probability of any false verdict */
};

/* A row's values, the mean over the runs of each side. */
struct measured_row {
	double lows[2], highs[2]; /* weight or share with half a sample, without and with all lost
				   * samples of unknown rows */
	double weight[2]; /* or share */
	double samples[2];
	double factors[2]; /* φ of each side: variance between runs, as a multiple of that of
			    * sampling; a common one if both have as many runs */
};

/* Measures a row that has sums[i] in run i. */
struct measured_row measure(const struct run_set *set, const struct row_sums *sums);

/*
 * Sets changes[i], that of measured[i]. The variances of all rows moderate each other, and p is
 * adjusted for their number.
 */
struct sp_error *changes_test(const struct run_set *set, const struct measured_row *measured,
			      size_t count, struct sp_change *changes) SP_MUST_CHECK;

/*
 * Sets the change of whole runs: of their counts if each run has one, else of the samples' weight.
 */
void total_test(const struct run_set *set, struct sp_change *change);

bool change_is_found(const struct sp_change *change);
