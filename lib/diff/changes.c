/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For row j of run i, with its weight w and the run's weight T of n samples,
 *
 * y = ln(w + T / 2n)              (by_share: - ln T)
 *
 * Half a sample keeps rows without samples finite. The variance of y is φ / c, where c is the
 * row's mean number of samples in a run: φ is 1 if only sampling varies.
 */
#include "diff/changes.h"

#include <math.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "diff/statistics.h"
#include "profile/interval.h"

/* Largest change in the interval of a row that counts as the same. */
#define SAME_WITHIN 0.1

/* Most runs of each side in a forecast. */
#define FORECAST_MOST 1e6

/* Degrees of freedom of the variance between runs. */
static double freedom(const struct run_set *set)
{
	return (double)(set->side_counts[0] + set->side_counts[1]) - 2;
}

/* Returns the sum of 1 / (number of runs) of both sides. */
static double inverse_runs(const struct run_set *set)
{
	return 1 / (double)set->side_counts[SP_DIFF_BASE] +
	       1 / (double)set->side_counts[SP_DIFF_NEW];
}

struct measured_row measure(const struct run_set *set, const struct row_sums *sums)
{
	struct measured_row row = {.factor = 1};
	double squares[2] = {0, 0}, within = 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t side = run->side == SP_DIFF_NEW;
		double runs = set->side_counts[side];
		double sample =
			run->samples > 0 && run->weight > 0 ? run->weight / run->samples : 1;
		double scale = set->by_share && run->weight > 0 ? run->weight : 1;
		double y = log((sums[i].weight + sample / 2) / scale);
		row.logs[side] += y / runs;
		squares[side] += y * y;
		row.weight[side] += sums[i].weight / scale / runs;
		row.samples[side] += sums[i].samples / runs;
	}
	for (size_t side = 0; side < 2; side++)
		within += fmax(0, squares[side] - (double)set->side_counts[side] * row.logs[side] *
							  row.logs[side]) *
			  fmax(row.samples[side], 0.5);
	if (freedom(set) > 0)
		row.factor = within / freedom(set);
	return row;
}

/*
 * Standard errors of the logarithm of a change. If nothing changed, both sides have the same number
 * of samples: `test` uses their mean. `interval` uses each side's own.
 */
struct change_errors {
	double test, interval;
};

/* Tests that share the accepted risk. What is known of one row's variance helps the others. */
struct test_family {
	double risk;
	double tests;	   /* number of rows */
	double prior_df;   /* degrees of freedom of the variances' prior distribution */
	double most_times; /* and of a variance, at most, as a multiple of one row's */
};

/* Degrees of freedom of a moderated variance, if one row alone has `own`. */
static double moderated_freedom(const struct test_family *family, double own)
{
	return fmin(own + family->prior_df, own * family->most_times);
}

/*
 * Returns the standard errors by which a change exceeds 0 if it is found in 9 of 10 comparisons,
 * although no other row changed.
 */
static double found_errors(const struct test_family *family, double own_df)
{
	double df = moderated_freedom(family, own_df);
	return student_errors_found(student_quantile(1 - family->risk / family->tests / 2, df), df);
}

/*
 * Returns the number of runs of each side that find a difference of logarithms in 9 of 10
 * comparisons, if its standard error is `error` for one run of each.
 */
static double forecast_runs(const struct test_family *family, double error, double difference)
{
	double low = SP_DIFF_LEAST_RUNS, high = FORECAST_MOST;
	/* The more runs, the fewer errors, because the variance is better known. */
	for (double runs = low; low < high; runs = floor((low + high) / 2)) {
		double errors = found_errors(family, 2 * runs - 2);
		double needed = ceil(pow(errors * error / difference, 2));
		if (needed > runs) {
			low = runs + 1;
			high = fmax(low, fmin(high, needed));
		} else {
			high = runs;
			low = fmax(low, needed);
		}
	}
	return low;
}

/* Sets the change of a row. */
static void set_change(const struct run_set *set, const struct measured_row *row,
		       const struct change_errors *errors, const struct test_family *family,
		       struct sp_change *change)
{
	double difference = row->logs[SP_DIFF_NEW] - row->logs[SP_DIFF_BASE];
	double df = moderated_freedom(family, freedom(set));
	*change = (struct sp_change){
		.base = row->weight[SP_DIFF_BASE],
		.now = row->weight[SP_DIFF_NEW],
		.ratio = expm1(difference),
		.p = NAN,
	};
	/* The error of one run is that of sampling, by a normal distribution. */
	double t = df > 0 ? student_quantile(0.975, df) : INTERVAL_Z;
	change->low = expm1(difference - t * errors->interval);
	change->high = expm1(difference + t * errors->interval);
	if (set->side_counts[0] < SP_DIFF_LEAST_RUNS || set->side_counts[1] < SP_DIFF_LEAST_RUNS)
		return;
	change->p = errors->test > 0 ? student_tail(difference / errors->test, df)
				     : difference == 0;
	change->detectable = expm1(found_errors(family, freedom(set)) * errors->test);
	/*
	 * A change of half the limit needs most runs. A forecast by the measured change would grow
	 * with the runs where nothing changed.
	 */
	change->runs = forecast_runs(family, errors->test * sqrt(2 / inverse_runs(set)),
				     log1p(SAME_WITHIN) / 2);
}

static void judge(struct sp_change *change, double risk)
{
	if (!(change->base > 0) && change->now > 0)
		change->ratio = change->high = INFINITY;
	else if (!(change->now > 0))
		change->ratio = change->low = -1;
	if (isnan(change->p))
		change->verdict = SP_DIFF_UNTESTED;
	else if (change->p <= risk && !(change->base > 0))
		change->verdict = SP_DIFF_APPEARED;
	else if (change->p <= risk && !(change->now > 0))
		change->verdict = SP_DIFF_GONE;
	else if (change->p <= risk)
		change->verdict = change->ratio > 0 ? SP_DIFF_SLOWER : SP_DIFF_FASTER;
	else if (change->low >= -SAME_WITHIN && change->high <= SAME_WITHIN)
		change->verdict = SP_DIFF_SAME;
	else
		change->verdict = SP_DIFF_INCONCLUSIVE;
}

struct sp_error *changes_test(const struct run_set *set, const struct measured_row *measured,
			      size_t count, struct sp_change *changes)
{
	double df = freedom(set);
	CLEANUP_FREE double *factors = calloc(count + 1, sizeof(*factors));
	CLEANUP_FREE double *scratch = calloc(count + 1, sizeof(*scratch));
	CLEANUP_FREE size_t *order = calloc(count + 1, sizeof(*order));
	CLEANUP_FREE double *samples = calloc(count + 1, sizeof(*samples));
	NEED(factors && scratch && order && samples);
	for (size_t i = 0; i < count; i++) {
		factors[i] = measured[i].factor;
		for (size_t side = 0; side < 2; side++)
			samples[i] += measured[i].samples[side] * (double)set->side_counts[side] /
				      (double)set->count;
	}
	struct variance_prior prior = {.scale = 1};
	double trend = df > 0 ? variance_trend_fit(factors, samples, count) : 0;
	for (size_t i = 0; i < count; i++)
		factors[i] /= 1 + trend * samples[i];
	if (df > 0)
		prior = variance_prior_fit(factors, scratch, count, df);
	/* All rows together know the variance; a trend's end is known with a quarter of them. */
	const struct test_family family = {
		.risk = set->risk,
		.tests = (double)count,
		.prior_df = prior.df,
		.most_times = (double)count / (trend > 0 ? 4 : 1),
	};
	for (size_t i = 0; i < count; i++) {
		double factor = 1, parts = 0;
		if (df > 0)
			factor = fmax(1, variance_moderate(&prior, factors[i], df) *
						 (1 + trend * samples[i]));
		for (size_t side = 0; side < 2; side++)
			parts += 1 / ((double)set->side_counts[side] *
				      fmax(measured[i].samples[side], 0.5));
		const struct change_errors errors = {
			.test = sqrt(factor / fmax(samples[i], 0.5) * inverse_runs(set)),
			.interval = sqrt(factor * parts),
		};
		set_change(set, &measured[i], &errors, &family, &changes[i]);
		scratch[i] = changes[i].p;
	}
	bool tested = count && !isnan(scratch[0]);
	if (tested)
		adjust_family(scratch, order, count);
	for (size_t i = 0; i < count; i++) {
		changes[i].p = tested ? scratch[i] : NAN;
		judge(&changes[i], set->risk);
	}
	return NULL;
}

bool change_is_found(const struct sp_change *change)
{
	return change->verdict >= SP_DIFF_SLOWER;
}

/* Sampling adds next to nothing to the variance of whole runs. */
void total_test(const struct run_set *set, struct sp_change *change)
{
	struct measured_row total = {0};
	bool counted = true;
	double squares = 0;
	for (size_t i = 0; i < set->count; i++)
		counted &= set->runs[i].counted > 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t side = run->side == SP_DIFF_NEW;
		double weight = counted ? run->counted : run->weight;
		total.weight[side] += weight / (double)set->side_counts[side];
		total.logs[side] += log(fmax(weight, 1)) / (double)set->side_counts[side];
	}
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		double weight = counted ? run->counted : run->weight;
		squares += pow(log(fmax(weight, 1)) - total.logs[run->side == SP_DIFF_NEW], 2);
	}
	double df = freedom(set);
	double error = df > 0 ? sqrt(squares / df * inverse_runs(set)) : INFINITY;
	const struct change_errors errors = {error, error};
	const struct test_family family = {.risk = set->risk, .tests = 1, .most_times = 1};
	set_change(set, &total, &errors, &family, change);
	if (set->by_share)
		change->p = NAN;
	judge(change, set->risk);
}
