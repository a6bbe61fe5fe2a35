/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For row j of run i, with its weight w and the run's weight T of n samples,
 *
 * y = ln(w + T / 2n)              (by_share: - ln T)
 *
 * Half a sample keeps rows without samples finite. The variance of y is φ / c, where c is the
 * row's mean number of samples in a run: φ is 1 if only sampling varies. The change is that of the
 * mean of w, which readers see: its logarithm has the error of the mean of y.
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

/* Most runs of each side in a forecast. More are as many as none could make. */
#define FORECAST_MOST 1e6

/* Degrees of freedom of the variance between runs. */
static double freedom(const struct run_set *set)
{
	return (double)(set->side_counts[0] + set->side_counts[1]) - 2;
}

/*
 * Returns whether each side has a variance of its own. With as many runs of both, the common one
 * is right even if they differ. Else it would be that of the side with more runs.
 */
static bool is_by_side(const struct run_set *set)
{
	return set->side_counts[0] != set->side_counts[1] &&
	       set->side_counts[0] >= SP_DIFF_LEAST_RUNS &&
	       set->side_counts[1] >= SP_DIFF_LEAST_RUNS;
}

/*
 * Returns the samples per unit of a side's weight, or by_share per run. A side without samples has
 * the rate of the other one. 0: neither has any.
 */
static double sampling_rate(const struct run_set *set, size_t side)
{
	double samples[2] = {0, 0}, sizes[2] = {0, 0};
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t of = run->side == SP_DIFF_NEW;
		samples[of] += run->samples;
		sizes[of] += set->by_share ? run->weight > 0 : run->weight;
	}
	side = sizes[side] > 0 && samples[side] > 0 ? side : !side;
	return sizes[side] > 0 ? samples[side] / sizes[side] : 0;
}

/* Returns the weight of a sample, or its share, for a run without any. */
static double empty_sample(const struct run_set *set, size_t side)
{
	double rate = sampling_rate(set, side);
	return rate > 0 ? 1 / rate : 1;
}

struct measured_row measure(const struct run_set *set, const struct row_sums *sums)
{
	struct measured_row row = {.factors = {1, 1}};
	double logs[2] = {0, 0}, squares[2] = {0, 0};
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t side = run->side == SP_DIFF_NEW;
		double runs = set->side_counts[side];
		double sample =
			run->samples > 0 && run->weight > 0 ? run->weight / run->samples
							    : empty_sample(set, side);
		double scale = set->by_share && run->weight > 0 ? run->weight : 1;
		double value = (sums[i].weight + sample / 2) / scale, y = log(value);
		double lost = 1 + (set->by_share ? run->unknown / scale : 0);
		row.lows[side] += value / lost / runs;
		row.highs[side] += (value + run->unknown / scale) / lost / runs;
		logs[side] += y / runs;
		squares[side] += y * y;
		row.weight[side] += sums[i].weight / scale / runs;
		row.samples[side] += sums[i].samples / runs;
	}
	for (size_t side = 0; side < 2; side++) {
		double runs = set->side_counts[side];
		squares[side] = fmax(0, squares[side] - runs * logs[side] * logs[side]) *
				fmax(row.samples[side], 0.5);
	}
	for (size_t side = 0; side < 2 && freedom(set) > 0; side++)
		row.factors[side] = is_by_side(set)
			? squares[side] / (double)(set->side_counts[side] - 1)
			: (squares[0] + squares[1]) / freedom(set);
	return row;
}

/*
 * Standard errors of the logarithm of a change. `test` uses the samples that each side has at its
 * rate if nothing changed, `interval` each side's own. `one` is that of one run of each side. `df`:
 * degrees of freedom of `test`.
 */
struct change_errors {
	double test, interval, one, df;
};

/* Degrees of freedom of a sum of variances (Welch 1947), if that of side i has dfs[i]. */
static double welch_freedom(const double variances[2], const double dfs[2])
{
	double sum = variances[0] + variances[1], squares = 0;
	for (size_t side = 0; side < 2; side++)
		squares += variances[side] * variances[side] / dfs[side];
	return squares > 0 ? sum * sum / squares : dfs[0] + dfs[1];
}

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
static double found_errors(const struct test_family *family, double df)
{
	return student_errors_found(student_quantile(1 - family->risk / family->tests / 2, df), df);
}

/*
 * Returns the number of runs of each side that find a difference of logarithms in 9 of 10
 * comparisons, if its standard error is `error` for one run of each; INFINITY: over FORECAST_MOST.
 */
static double forecast_runs(const struct test_family *family, double error, double difference)
{
	double low = SP_DIFF_LEAST_RUNS, high = FORECAST_MOST;
	/* The more runs, the fewer errors, because the variance is better known. */
	for (double runs = low; low < high; runs = floor((low + high) / 2)) {
		double errors = found_errors(family, moderated_freedom(family, 2 * runs - 2));
		double needed = ceil(pow(errors * error / difference, 2));
		if (needed > runs) {
			low = runs + 1;
			high = fmax(low, fmin(high, needed));
		} else {
			high = runs;
			low = fmax(low, needed);
		}
	}
	return low < FORECAST_MOST ? low : INFINITY;
}

/* Sets the change of a row. */
static void set_change(const struct run_set *set, const struct measured_row *row,
		       const struct change_errors *errors, const struct test_family *family,
		       struct sp_change *change)
{
	/* All lost samples of one side may be of the row, and none of the other side's. */
	double least = log(row->lows[SP_DIFF_NEW] / row->highs[SP_DIFF_BASE]);
	double most = log(row->highs[SP_DIFF_NEW] / row->lows[SP_DIFF_BASE]);
	double nearest = least > 0 ? least : fmin(most, 0);
	*change = (struct sp_change){
		.base = row->weight[SP_DIFF_BASE],
		.now = row->weight[SP_DIFF_NEW],
		.p = NAN,
	};
	change->ratio = change->now / change->base - 1;
	/* The error of one run is that of sampling, by a normal distribution. */
	double t = errors->df > 0 ? student_quantile(0.975, errors->df) : INTERVAL_Z;
	change->low = expm1(least - t * errors->interval);
	change->high = expm1(most + t * errors->interval);
	if (set->side_counts[0] < SP_DIFF_LEAST_RUNS || set->side_counts[1] < SP_DIFF_LEAST_RUNS)
		return;
	change->p = errors->test > 0 ? student_tail(nearest / errors->test, errors->df)
				     : nearest == 0;
	/* More runs of this kind lose samples of unknown processes, too. */
	if (most > least)
		return;
	change->detectable = expm1(found_errors(family, errors->df) * errors->test);
	/*
	 * A change of half the limit needs most runs. A forecast by the measured change would grow
	 * with the runs where nothing changed.
	 */
	change->runs = forecast_runs(family, errors->one, log1p(SAME_WITHIN) / 2);
}

static void judge(struct sp_change *change, double risk)
{
	if (!(change->base > 0))
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

/*
 * Moderates factors[i] of rows with samples[i] by each other. They have `df` degrees of freedom
 * each. Sets the family's freedom. `scratch` has `count` numbers.
 */
static void moderate(double *factors, const double *samples, double *scratch, size_t count,
		     double df, struct test_family *family)
{
	double trend = variance_trend_fit(factors, samples, count);
	for (size_t i = 0; i < count; i++)
		factors[i] /= 1 + trend * samples[i];
	struct variance_prior prior = variance_prior_fit(factors, scratch, count, df);
	for (size_t i = 0; i < count; i++)
		factors[i] = fmax(1, variance_moderate(&prior, factors[i], df) *
					     (1 + trend * samples[i]));
	/* All rows together know the variance; a trend's end is known with a quarter of them. */
	family->prior_df = prior.df;
	family->most_times = (double)count / (trend > 0 ? 4 : 1);
}

/* Returns the mean number of samples of a row in a run: of all runs, or of one side. */
static double mean_samples(const struct run_set *set, const struct measured_row *row, bool by_side,
			   size_t side)
{
	if (by_side)
		return row->samples[side];
	return (row->samples[0] * (double)set->side_counts[0] +
		row->samples[1] * (double)set->side_counts[1]) /
	       (double)set->count;
}

static struct change_errors errors_of(const struct run_set *set, const struct measured_row *row,
				      const double factors[2], const struct test_family families[2])
{
	const bool by_side = is_by_side(set);
	const double rates[] = {sampling_rate(set, 0), sampling_rate(set, 1)};
	const double mean_rate = (rates[0] * (double)set->side_counts[0] +
				  rates[1] * (double)set->side_counts[1]) /
				 (double)set->count;
	double one[2], test[2], dfs[2], interval = 0;
	for (size_t side = 0; side < 2; side++) {
		double runs = set->side_counts[side];
		double samples = mean_samples(set, row, false, 0) *
				 (mean_rate > 0 ? rates[side] / mean_rate : 1);
		one[side] = factors[side] / fmax(samples, 0.5);
		test[side] = one[side] / runs;
		interval += factors[side] / fmax(row->samples[side], 0.5) / runs;
		dfs[side] = moderated_freedom(&families[side], by_side ? runs - 1 : freedom(set));
	}
	return (struct change_errors){
		.test = sqrt(test[0] + test[1]),
		.interval = sqrt(interval),
		.one = sqrt(one[0] + one[1]),
		.df = by_side ? welch_freedom(test, dfs) : dfs[0],
	};
}

struct sp_error *changes_test(const struct run_set *set, const struct measured_row *measured,
			      size_t count, struct sp_change *changes)
{
	const bool by_side = is_by_side(set);
	CLEANUP_FREE double *factors = calloc(2 * count + 1, sizeof(*factors));
	CLEANUP_FREE double *scratch = calloc(count + 1, sizeof(*scratch));
	CLEANUP_FREE size_t *order = calloc(count + 1, sizeof(*order));
	CLEANUP_FREE double *samples = calloc(count + 1, sizeof(*samples));
	NEED(factors && scratch && order && samples);
	struct test_family families[2];
	for (size_t side = 0; side < 2; side++) {
		double *own = factors + side * count;
		families[side] = (struct test_family){
			.risk = set->risk, .tests = (double)count, .most_times = (double)count};
		for (size_t i = 0; i < count; i++) {
			own[i] = measured[i].factors[side];
			samples[i] = mean_samples(set, &measured[i], by_side, side);
		}
		if (freedom(set) > 0)
			moderate(own, samples, scratch, count,
				 by_side ? (double)set->side_counts[side] - 1 : freedom(set),
				 &families[side]);
	}
	struct test_family family = families[0];
	family.prior_df = fmin(family.prior_df, families[1].prior_df);
	family.most_times = fmin(family.most_times, families[1].most_times);
	for (size_t i = 0; i < count; i++) {
		const double own[] = {factors[i], factors[count + i]};
		const struct change_errors errors = errors_of(set, &measured[i], own, families);
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
	double logs[2] = {0, 0}, squares[2] = {0, 0};
	for (size_t i = 0; i < set->count; i++)
		counted &= set->runs[i].counted > 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t side = run->side == SP_DIFF_NEW;
		double weight = counted ? run->counted : run->weight;
		double runs = set->side_counts[side];
		total.weight[side] += weight / runs;
		total.lows[side] += fmax(weight, 1) / runs;
		total.highs[side] += (fmax(weight, 1) + (counted ? 0 : run->unknown)) / runs;
		logs[side] += log(fmax(weight, 1)) / runs;
	}
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		double weight = counted ? run->counted : run->weight;
		size_t side = run->side == SP_DIFF_NEW;
		squares[side] += pow(log(fmax(weight, 1)) - logs[side], 2);
	}
	const double df = freedom(set);
	double variances[2], means[2], dfs[2];
	for (size_t side = 0; side < 2; side++) {
		double runs = set->side_counts[side];
		variances[side] = is_by_side(set) ? squares[side] / (runs - 1)
				  : df > 0	  ? (squares[0] + squares[1]) / df
						  : INFINITY;
		means[side] = variances[side] / runs;
		dfs[side] = runs - 1;
	}
	const double error = sqrt(means[0] + means[1]);
	const struct change_errors errors = {
		.test = error,
		.interval = error,
		.one = sqrt(variances[0] + variances[1]),
		.df = is_by_side(set) ? welch_freedom(means, dfs) : df,
	};
	const struct test_family family = {.risk = set->risk, .tests = 1, .most_times = 1};
	set_change(set, &total, &errors, &family, change);
	if (set->by_share || !(change->base + change->now > 0))
		change->p = NAN;
	judge(change, set->risk);
}
