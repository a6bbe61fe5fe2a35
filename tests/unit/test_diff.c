/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wanted numbers are those of R 4.2 and its package limma 3.54. */
#include "diff/statistics.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sprof/diff.h>
#include "diff/matched_names.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void near(double value, double wanted)
{
	double most = 1e-9 * fmax(fabs(wanted), 1e-12);
	ck_assert_msg(fabs(value - wanted) <= most, "%.14g instead of %.14g", value, wanted);
}

TEST(gammas_are_those_of_r)
{
	static const struct {
		double x, digamma, trigamma;
	} wanted[] = {
		{0.01, -100.56088545786868, 1.0001621213528e+04},
		{0.3, -3.50252422220013, 1.2245364546108e+01},
		{0.5, -1.96351002602142, 4.9348022005447},
		{1, -0.57721566490153, 1.6449340668482},
		{2, 0.42278433509847, 6.4493406684823e-01},
		{3.7, 1.16715353936151, 3.1003785767004e-01},
		{11.9, 2.43393353688254, 8.7663201190004e-02},
		{50, 3.90198967342789, 2.0201333226697e-02},
		{10000, 9.21029037114285, 1.0000500016667e-04},
	};
	for (size_t i = 0; i < COUNT(wanted); i++) {
		near(digamma(wanted[i].x), wanted[i].digamma);
		near(trigamma(wanted[i].x), wanted[i].trigamma);
		near(trigamma_inverse(wanted[i].trigamma), wanted[i].x);
	}
	near(trigamma_inverse(trigamma(1e-5)), 1e-5);
	near(trigamma_inverse(1e-8), 1e8);
}

TEST(student_is_that_of_r)
{
	static const double df[] = {1, 2, 4, 8.5, 18, 200}, t[] = {0.1, 1, 2.5, 8, 40};
	static const double tails[COUNT(t)][COUNT(df)] = {
		{0.9365489651, 0.9294654384, 0.9251558409, 0.9226629509, 0.9214496882,
		 0.9204444925},
		{0.5, 0.4226497308, 0.3739009663, 0.3449251406, 0.3305649313, 0.3185188479},
		{0.2422378832, 0.1296117202, 0.06676654481, 0.03530320754, 0.02230802023,
		 0.01322317264},
		{0.07916684832, 0.01526807217, 0.001323896909, 3.088875622e-05, 2.450720532e-07,
		 9.879200909e-14},
		{0.01591217982, 0.0006244146722, 2.334016323e-06, 5.599614985e-11, 4.865261692e-19,
		 2.248739654e-97},
	};
	static const double quantiles[] = {12.70620474, 4.30265273, 2.776445105,
					   2.282604893, 2.10092204, 1.971896224};
	for (size_t i = 0; i < COUNT(t); i++)
		for (size_t j = 0; j < COUNT(df); j++) {
			near(student_tail(t[i], df[j]), tails[i][j]);
			near(student_tail(-t[i], df[j]), tails[i][j]);
		}
	for (size_t j = 0; j < COUNT(df); j++)
		near(student_quantile(0.975, df[j]), quantiles[j]);
}

/*
 * uniroot(function(n) pt(critical, df, n, lower.tail = FALSE) - 0.9, c(0, 37)), as
 * power.t.test()
 */
TEST(changes_found_in_9_of_10_comparisons_are_those_of_r)
{
	static const struct {
		double df, critical, wanted;
	} cases[] = {
		{2, 4.302653, 6.795614},  {4, 2.776445, 4.395862},  {4, 8.121637, 11.53252},
		{8, 3.832519, 5.489111},  {18, 2.100922, 3.429447}, {40, 3.473183, 4.826372},
		{200, 1.971896, 3.257207},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		double errors = student_errors_found(cases[i].critical, cases[i].df);
		ck_assert_double_eq_tol(errors / cases[i].wanted, 1, 0.002);
	}
}

/* p.adjust(p, "holm") */
TEST(adjusted_probabilities_are_those_of_r)
{
	double p[] = {0.01, 0.02, 0.03, 0.04, 0.9, 0.001, 0.5};
	static const double wanted[] = {0.06, 0.1, 0.12, 0.12, 1, 0.007, 1};
	size_t order[COUNT(p)];
	adjust_family(p, order, COUNT(p));
	for (size_t i = 0; i < COUNT(p); i++)
		near(p[i], wanted[i]);
}

/* squeezeVar(v, 4) */
TEST(variances_are_moderated_as_by_limma)
{
	static const double v[] = {0.9, 1.4, 3.2, 0.7, 12, 1.1, 2.2, 0.5, 5, 0.01};
	static const double wanted[] = {0.81774954157456, 1.19114732089219, 2.53537932643564,
					0.66839042984751, 9.10718024242586, 0.96710865330161,
					1.78858376780039, 0.51903131812046, 3.87961133197910,
					0.15310149438919};
	double scratch[COUNT(v)];
	struct variance_prior prior = variance_prior_fit(v, scratch, COUNT(v), 4);
	near(prior.scale, 0.57516186532071);
	near(prior.df, 1.3562182497575);
	for (size_t i = 0; i < COUNT(v); i++)
		near(variance_moderate(&prior, v[i], 4), wanted[i]);
	static const double alike[] = {1, 1.01, 0.99, 1};
	prior = variance_prior_fit(alike, scratch, COUNT(alike), 4);
	ck_assert(isinf(prior.df));
	near(variance_moderate(&prior, 7, 4), 1);
}

/* Rows that differ between runs by 5 % vary as that and sampling together. */
TEST(the_trend_of_variances_is_found)
{
	static const double samples[] = {5, 20, 60, 150, 400, 1000, 3000, 8000, 20000};
	double factors[COUNT(samples)];
	for (size_t i = 0; i < COUNT(samples); i++)
		factors[i] = 0.8 * (1 + samples[i] * 0.05 * 0.05);
	double spread = sqrt(variance_trend_fit(factors, samples, COUNT(samples)));
	ck_assert_msg(spread > 0.05 / 1.06 && spread < 0.05 * 1.06, "%g", spread);
	ck_assert(variance_trend_fit(factors, samples, 7) == 0);
	for (size_t i = 0; i < COUNT(samples); i++)
		factors[i] = 0.8;
	ck_assert(variance_trend_fit(factors, samples, COUNT(samples)) == 0);
}

TEST(names_are_spelled_alike_in_all_builds)
{
	static const struct {
		const char *name, *wanted;
	} objects[] =
		{
			{"libz.so.1.2.13", "libz.so"},
			{"libc.so.6", "libc.so"},
			{"app", "app"},
			{"a.so.d", "a.so.d"},
			{"x.so.plugin.so.2", "x.so.plugin.so"},
			{"", ""},
		},
	  functions[] = {
		  {"f.constprop.0", "f"},
		  {"f.isra.0.part.1", "f"},
		  {"f.cold", "f"},
		  {"f.cold.1", "f"},
		  {"main.coldStart", "main.coldStart"},
		  {"main.part.Add", "main.part.Add"},
		  {"f.part.0", "f"},
		  {"f.llvm.123", "f"},
		  {"f(int) [clone .isra.0]", "f(int)"},
		  {"a.b", "a.b"},
		  {"main.(*T).m", "main.(*T).m"},
		  {"f", "f"},
	  };
	for (size_t i = 0; i < COUNT(objects); i++)
		ck_assert_uint_eq(object_name_size(objects[i].name), strlen(objects[i].wanted));
	for (size_t i = 0; i < COUNT(functions); i++)
		ck_assert_uint_eq(function_name_size(functions[i].name),
				  strlen(functions[i].wanted));
	ck_assert(object_is_program("app"));
	ck_assert(!object_is_program("libz.so.1") && !object_is_program("[vdso]"));
	ck_assert(!object_is_program("libz.so") && !object_is_program("ext4.ko.xz"));
}

/* -- Comparisons ------------------------------------------------------------ */

enum { ROWS = 6, RUNS = 3, PERIOD = 1000 };

/* Samples of rows in runs: three of the base, three new. */
static const uint64_t samples[ROWS][2 * RUNS] = {
	{812, 795, 840, 930, 951, 902}, {400, 420, 390, 405, 398, 417},
	{150, 171, 139, 160, 142, 155}, {60, 55, 71, 40, 33, 38},
	{300, 250, 340, 280, 330, 290}, {0, 0, 0, 25, 31, 22},
};

static const char *const functions[ROWS] = {"a", "b", "c", "d", "e", "f"};

/* Adds runs `from` to `to`, where the program is `program` and function names get a suffix. */
static void add_runs(struct sp_diff *diff, size_t from, size_t to, const char *program,
		     const char *suffix)
{
	char names[ROWS][32];
	for (size_t run = from; run < to; run++) {
		struct sp_row rows[ROWS] = {{{0}}};
		struct sp_profile profile = {.weight_is_time = true, .rows = rows};
		for (size_t i = 0; i < ROWS; i++) {
			if (!samples[i][run])
				continue;
			struct sp_row *row = &rows[profile.row_count++];
			snprintf(names[i], sizeof(names[i]), "%s%s", functions[i], suffix);
			row->self.samples = samples[i][run];
			row->self.weight = PERIOD * samples[i][run];
			row->dso = i == ROWS - 2 ? "libe.so.1" : program;
			row->function = names[i];
			row->symbol_known = true;
			profile.samples += samples[i][run];
		}
		profile.shown_samples = profile.samples;
		profile.weight = profile.shown_weight = PERIOD * profile.samples;
		enum sp_diff_side side = run < RUNS ? SP_DIFF_BASE : SP_DIFF_NEW;
		ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
	}
}

static void run(struct sp_diff *diff, bool by_share)
{
	const struct sp_diff_options options = {.size = sizeof(options), .by_share = by_share};
	ck_assert_ptr_null(sp_diff_run(diff, &options));
}

static const struct sp_diff_row *find_row(const struct sp_diff *diff, const char *function)
{
	for (size_t i = 0; i < sp_diff_row_count(diff); i++)
		if (!strcmp(sp_diff_row(diff, i)->function, function))
			return sp_diff_row(diff, i);
	ck_abort_msg("no row of %s", function);
}

/*
 * mean(new) / mean(base) - 1; the interval of the means' logarithms with the moderated variance,
 * and p.adjust() of its p; t.test(var.equal) of the total.
 */
TEST(changes_are_those_of_r)
{
	static const struct {
		const char *function;
		double change, low, high, p;
		enum sp_diff_verdict verdict;
	} wanted[] = {
		{"a", 0.1373109930527177, 0.071604182844956, 0.206868154056311,
		 1.8745919418087e-03, SP_DIFF_SLOWER},
		{"b", 0.0082644628099175, -0.075771879733842, 0.099919565973635, 1,
		 SP_DIFF_SAME},
		{"c", -0.0065217391304347, -0.139514384615819, 0.147074577392260, 1,
		 SP_DIFF_INCONCLUSIVE},
		{"d", -0.4032258064516129, -0.536088736066084, -0.223989525610480,
		 2.4097024479749e-03, SP_DIFF_FASTER},
		{"e", 0.0112359550561798, -0.125026121558735, 0.168674799597691, 1,
		 SP_DIFF_INCONCLUSIVE},
		{"f", INFINITY, 8.046440979136664, INFINITY, 3.7970784348302e-10,
		 SP_DIFF_APPEARED},
	};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	add_runs(diff, 0, RUNS, "old", ".constprop.0");
	const char *const command[] = {"taskset", "/x/old", NULL};
	ck_assert_ptr_null(sp_diff_add_command(diff, command));
	add_runs(diff, RUNS, 2 * RUNS, "new-2.1", "");
	/* Two programs are not one only because each is on one side. */
	ck_assert_ptr_null(sp_diff_add_command(diff, NULL));
	run(diff, false);
	ck_assert_ptr_null(sp_diff_renamed(diff, SP_DIFF_NEW));
	ck_assert_ptr_null(sp_diff_add_command(diff, (const char *const[]){"./new", NULL}));
	run(diff, false);
	ck_assert_uint_eq(sp_diff_row_count(diff), ROWS);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct sp_change *change = &find_row(diff, wanted[i].function)->change;
		ck_assert_int_eq(change->verdict, wanted[i].verdict);
		ck_assert(isinf(wanted[i].change) ? isinf(change->ratio) && isinf(change->high)
						  : fabs(change->ratio - wanted[i].change) < 1e-9);
		if (isfinite(wanted[i].high))
			ck_assert_double_eq_tol(change->high, wanted[i].high, 1e-9);
		if (isfinite(wanted[i].change))
			ck_assert_double_eq_tol(change->low, wanted[i].low, 1e-9);
		ck_assert_double_eq_tol(change->p, wanted[i].p, 1e-9);
	}
	const struct sp_change *total = sp_diff_total(diff);
	near(total->p, 0.020952193433137);
	near(total->low, 0.016600962411093);
	near(total->high, 0.123161706213141);
	ck_assert_str_eq(sp_diff_renamed(diff, SP_DIFF_BASE), "old");
	ck_assert_str_eq(sp_diff_renamed(diff, SP_DIFF_NEW), "new-2.1");
	ck_assert_str_eq(find_row(diff, "a")->dso, "new-2.1");
	ck_assert_str_eq(find_row(diff, "e")->dso, "libe.so");
	/* Found rows are first, the largest difference before others. */
	ck_assert_str_eq(sp_diff_row(diff, 0)->function, "a");
	sp_diff_free(diff);
}

TEST(rows_add_up_to_the_total)
{
	for (int by_share = 0; by_share < 2; by_share++) {
		struct sp_diff *diff;
		double base = 0, now = 0;
		const struct sp_diff_options options = {
			.size = sizeof(options), .by_share = by_share, .least_share = 0.1};
		ck_assert_ptr_null(sp_diff_new(&diff));
		add_runs(diff, 0, 2 * RUNS, "app", "");
		ck_assert_ptr_null(sp_diff_run(diff, &options));
		ck_assert_uint_eq(sp_diff_row_count(diff), 4);
		size_t rests = 0;
		for (size_t i = 0; i < sp_diff_row_count(diff); i++) {
			base += sp_diff_row(diff, i)->change.base;
			now += sp_diff_row(diff, i)->change.now;
			rests += sp_diff_row(diff, i)->is_rest;
		}
		ck_assert_uint_eq(rests, 1);
		near(base, by_share ? 1 : sp_diff_total(diff)->base);
		near(now, by_share ? 1 : sp_diff_total(diff)->now);
		ck_assert_int_eq(isnan(sp_diff_total(diff)->p), by_share);
		ck_assert_ptr_null(sp_diff_renamed(diff, SP_DIFF_NEW));
		sp_diff_free(diff);
	}
}

/* Adds runs of these numbers of samples. Each lost `unknown` times as many, of any program. */
static void add_sized(struct sp_diff *diff, enum sp_diff_side side, const uint64_t *sizes,
		      size_t count, double unknown)
{
	for (size_t i = 0; i < count; i++) {
		const struct sp_weight sum = {.samples = sizes[i], .weight = PERIOD * sizes[i]};
		struct sp_row row = {
			.dso = "app", .function = "a", .symbol_known = true, .self = sum};
		struct sp_profile profile = {
			.rows = &row, .row_count = 1, .weight_is_time = true,
			.samples = sizes[i], .weight = sum.weight, .shown_samples = sizes[i],
			.shown_weight = sum.weight,
			.lost_unknown = (uint64_t)(unknown * (double)sizes[i])};
		ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
	}
}

/*
 * t.test(log(n), log(b)) with log(mean(n) / mean(b)) for the difference, where three new runs
 * differ much more than eight of the base: a common variance finds false changes.
 * power.t.test(sd = sqrt((var(log(b)) + var(log(n))) / 2), delta = log(1.1) / 2, power = 0.9)
 */
TEST(each_side_has_its_variance_if_their_numbers_differ)
{
	static const uint64_t base[] = {1000, 1010, 990, 1005, 995, 1000, 1002, 998};
	static const uint64_t now[] = {1000, 1300, 800};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	add_sized(diff, SP_DIFF_BASE, base, COUNT(base), 0);
	add_sized(diff, SP_DIFF_NEW, now, COUNT(now), 0);
	run(diff, false);
	const struct sp_change *total = sp_diff_total(diff);
	near(total->p, 0.8369687827481);
	near(total->low, -0.4348702010376);
	near(total->high, 0.8894381073839);
	near(total->runs, 275);
	/* A row has the variance of its samples, too. */
	const struct sp_change *row = &sp_diff_row(diff, 0)->change;
	ck_assert(row->low < -0.4 && row->high > 0.8 && row->runs >= 275);
	sp_diff_free(diff);
}

/* The geometric mean of 1000, 1000, 1000, 9000 is 1732. */
TEST(the_change_is_that_of_the_means_shown)
{
	static const uint64_t base[] = {1000, 1100, 900, 1000}, now[] = {1000, 1000, 1000, 9000};
	for (int by_share = 0; by_share < 2; by_share++) {
		struct sp_diff *diff;
		ck_assert_ptr_null(sp_diff_new(&diff));
		add_sized(diff, SP_DIFF_BASE, base, COUNT(base), 0);
		add_sized(diff, SP_DIFF_NEW, now, COUNT(now), 0);
		run(diff, by_share);
		const struct sp_change *changes[] = {&sp_diff_row(diff, 0)->change,
						     sp_diff_total(diff)};
		for (size_t i = 0; i < COUNT(changes); i++) {
			near(changes[i]->ratio, changes[i]->now / changes[i]->base - 1);
			near(changes[i]->ratio, by_share && !i ? 0 : 2);
			ck_assert(changes[i]->low <= changes[i]->ratio &&
				  changes[i]->ratio <= changes[i]->high);
		}
		sp_diff_free(diff);
	}
}

/* An interrupted recording on whole CPUs may lose samples of any program. */
TEST(lost_samples_of_unknown_programs_widen_intervals_and_scale_nothing)
{
	static const uint64_t base[] = {1000, 1010, 990}, now[] = {1800, 1810, 1790};
	static const struct {
		double base, now;
		bool found;
	} cases[] = {{0, 0, true}, {0.1, 0, true}, {0, 264, true}, {264, 0, false}, {1, 1, false}};
	double exact_low = 0, exact_high = 0;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_diff *diff;
		ck_assert_ptr_null(sp_diff_new(&diff));
		add_sized(diff, SP_DIFF_BASE, base, COUNT(base), cases[i].base);
		add_sized(diff, SP_DIFF_NEW, now, COUNT(now), cases[i].now);
		run(diff, false);
		const struct sp_change *changes[] = {&sp_diff_row(diff, 0)->change,
						     sp_diff_total(diff)};
		for (size_t j = 0; j < COUNT(changes); j++) {
			const struct sp_change *change = changes[j];
			near(change->ratio, 0.8);
			ck_assert_int_eq(change->verdict, cases[i].found ? SP_DIFF_SLOWER
									 : SP_DIFF_INCONCLUSIVE);
			/* More runs would lose as much. */
			ck_assert((change->runs > 0) == (i == 0));
			if (j)
				continue;
			exact_low = i ? exact_low : 1 + change->low;
			exact_high = i ? exact_high : 1 + change->high;
			ck_assert_double_eq_tol((1 + change->low) * (1 + cases[i].base), exact_low,
						0.002);
			ck_assert_double_eq_tol((1 + change->high) / (1 + cases[i].now), exact_high,
						0.002);
		}
		sp_diff_free(diff);
	}
}

TEST(one_run_of_a_side_has_no_verdict)
{
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	add_runs(diff, 0, 1, "app", "");
	const struct sp_diff_options options = {.size = sizeof(options)};
	struct sp_error *error = sp_diff_run(diff, &options);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_INVALID);
	sp_error_free(error);
	add_runs(diff, RUNS, RUNS + 1, "app", "");
	run(diff, false);
	const struct sp_change *change = &find_row(diff, "a")->change;
	/* Sampling alone: the variance of a logarithm is 1 / (number of samples). */
	double half = 1.959963984540054 * sqrt(1 / 812.0 + 1 / 930.0);
	near(change->ratio, 930.0 / 812 - 1);
	near(change->low, 930.5 / 812.5 * exp(-half) - 1);
	for (size_t i = 0; i < sp_diff_row_count(diff); i++)
		ck_assert_int_eq(sp_diff_row(diff, i)->change.verdict, SP_DIFF_UNTESTED);
	sp_diff_free(diff);
}

/*
 * 10 base samples have the time of 1,000 new ones. If nothing changed, 755 a run are 14.95 and
 * 1495.05: few base samples are no certainty.
 */
TEST(sides_may_have_other_sampling_rates)
{
	static const uint64_t sizes[2][RUNS] = {{10, 11, 9}, {1500, 1510, 1490}};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (size_t i = 0; i < 2 * RUNS; i++) {
		uint64_t count = sizes[i % 2][i / 2];
		struct sp_row row = {.dso = "app", .function = "a", .symbol_known = true};
		row.self.samples = count;
		row.self.weight = count * (i % 2 ? PERIOD : 100 * PERIOD);
		struct sp_profile profile = {.rows = &row, .row_count = 1, .weight_is_time = true,
					     .samples = count, .shown_samples = count,
					     .weight = row.self.weight,
					     .shown_weight = row.self.weight};
		ck_assert_ptr_null(sp_diff_add(diff, i % 2 ? SP_DIFF_NEW : SP_DIFF_BASE, &profile));
	}
	run(diff, false);
	const struct sp_change *change = &sp_diff_row(diff, 0)->change;
	double error = sqrt((1.01 / 15.1 + 1.01 / 1510) / RUNS);
	near(change->p, student_tail(log(1500.5 / 1050) / error, 4));
	ck_assert_int_eq(change->verdict, SP_DIFF_INCONCLUSIVE);
	sp_diff_free(diff);
}

/* A filter may leave nothing of a run: its shares are less than a sample, not a half. */
TEST(a_run_without_samples_has_half_a_sample)
{
	for (int by_share = 0; by_share < 2; by_share++) {
		static const uint64_t base[] = {40, 40, 0}, now[] = {40, 40, 40};
		struct sp_diff *diff;
		ck_assert_ptr_null(sp_diff_new(&diff));
		add_sized(diff, SP_DIFF_BASE, base, COUNT(base), 0);
		add_sized(diff, SP_DIFF_NEW, now, COUNT(now), 0);
		run(diff, by_share);
		const struct sp_change *change = &sp_diff_row(diff, 0)->change;
		/* Geometric middle of the interval: the change with half a sample in each run. */
		double middle = sqrt((1 + change->low) * (1 + change->high));
		near(middle, 3 * 40.5 / (2 * 40.5 + 0.5));
		sp_diff_free(diff);
	}
}

/* A filter may leave nothing at all: that neither changed nor stayed the same. */
TEST(nothing_has_no_verdict)
{
	static const uint64_t none[RUNS] = {0};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	add_sized(diff, SP_DIFF_BASE, none, RUNS, 0);
	add_sized(diff, SP_DIFF_NEW, none, RUNS, 0);
	run(diff, false);
	ck_assert_uint_eq(sp_diff_row_count(diff), 0);
	const struct sp_change *total = sp_diff_total(diff);
	ck_assert(isnan(total->p) && isinf(total->ratio) && isinf(total->high));
	ck_assert_int_eq(total->verdict, SP_DIFF_UNTESTED);
	sp_diff_free(diff);
}

TEST(runs_compared_with_themselves_are_the_same)
{
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	add_runs(diff, 0, RUNS, "app", "");
	for (size_t i = 0; i < RUNS; i++) {
		struct sp_row row = {.dso = "app", .function = "a", .symbol_known = true};
		row.self.samples = samples[0][i];
		row.self.weight = PERIOD * samples[0][i];
		struct sp_profile profile = {.rows = &row, .row_count = 1, .weight_is_time = true};
		profile.samples = profile.shown_samples = samples[0][i] + 1000;
		profile.shown_weight = PERIOD * profile.samples;
		ck_assert_ptr_null(sp_diff_add(diff, SP_DIFF_NEW, &profile));
	}
	run(diff, false);
	const struct sp_change *change = &find_row(diff, "a")->change;
	ck_assert(change->ratio == 0 && change->p > 0.99 && change->low < 0 && change->high > 0);
	ck_assert_int_eq(find_row(diff, "e")->change.verdict, SP_DIFF_GONE);
	sp_diff_free(diff);
}

/*
 * Returns the total's change, with forecasts, for exact times of runs that differ by some
 * percent.
 */
static struct sp_change forecast(double change, double spread)
{
	static const double sizes[] = {-1, 0, 1};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (size_t i = 0; i < 6; i++) {
		struct sp_row row = {.dso = "app", .function = "a", .symbol_known = true};
		row.self.samples = 1000;
		row.self.weight = PERIOD * 1000;
		struct sp_profile profile = {.rows = &row, .row_count = 1, .weight_is_time = true,
					     .samples = 1000, .shown_samples = 1000,
					     .shown_weight = PERIOD * 1000};
		ck_assert_ptr_null(sp_diff_add(diff, i % 2 ? SP_DIFF_NEW : SP_DIFF_BASE, &profile));
		sp_diff_set_count(diff, 1e9 * (i % 2 ? change : 1) * exp(sizes[i / 2] * spread));
	}
	run(diff, false);
	struct sp_change total = *sp_diff_total(diff);
	sp_diff_free(diff);
	return total;
}

/*
 * sd: 0.1, three runs a side. power.t.test(sd = sd, delta = log(1.1) / 2, power = 0.9) for runs;
 * power.t.test(n = 3, sd = sd, power = 0.9) for the change that they find.
 */
TEST(forecasts_are_those_of_r)
{
	static const struct {
		double spread, runs, detectable;
	} cases[] = {
		{0.1, 94, 0.35890779}, {0.2, 372, 0.71781558}, {0.01, 3, 0.035890779}};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_change small = forecast(1.001, cases[i].spread);
		near(small.runs, cases[i].runs);
		/* It does not depend on the measured change. */
		near(forecast(1.2, cases[i].spread).runs, cases[i].runs);
		ck_assert_double_eq_tol(log1p(small.detectable) / cases[i].detectable, 1, 0.002);
	}
}

/* Adds a run of one row, with 100 samples. */
static void add_row(struct sp_diff *diff, enum sp_diff_side side, struct sp_row row)
{
	struct sp_profile profile = {.rows = &row, .row_count = 1, .weight_is_time = true};
	row.self.samples = profile.samples = profile.shown_samples = 100;
	row.self.weight = profile.shown_weight = 100 * PERIOD;
	ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
}

/* Addresses of functions stand for them in one build, and for nothing in another one. */
TEST(functions_without_names_match_in_one_build)
{
	static const struct {
		const char *build_id, *wanted;
	} cases[] = {{"aa", "fn@0x10"}, {"bb", "[without a name]"}};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_diff *diff;
		struct sp_row row = {
			.dso = "app", .function = "fn@0x10", .build_id = "aa", .from_cfi = true};
		ck_assert_ptr_null(sp_diff_new(&diff));
		add_row(diff, SP_DIFF_BASE, row);
		row.build_id = cases[i].build_id;
		add_row(diff, SP_DIFF_NEW, row);
		run(diff, false);
		ck_assert_uint_eq(sp_diff_row_count(diff), 1);
		ck_assert_str_eq(sp_diff_row(diff, 0)->function, cases[i].wanted);
		ck_assert(sp_diff_row(diff, 0)->change.ratio == 0);
		sp_diff_free(diff);
	}
}

/* A file is one row, whichever of its code a run saw first. */
TEST(rows_without_functions_have_no_addresses)
{
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (size_t i = 0; i < 2; i++) {
		struct sp_row row = {.dso = "app", .build_id = i ? "aa" : "bb",
				     .from_cfi = i, .symbol_known = !i};
		add_row(diff, (enum sp_diff_side)i, row);
	}
	run(diff, false);
	ck_assert_uint_eq(sp_diff_row_count(diff), 1);
	ck_assert_ptr_null(sp_diff_row(diff, 0)->function);
	sp_diff_free(diff);
}

/* Rows without the key dso have the file in names that several files have. */
TEST(functions_without_files_match_by_name)
{
	static const char *const names[] = {"operator new[](long) [old]",
					    "operator new[](long) [[new]]"};
	static const struct sp_identity identity = {.name_is_shared = true};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (size_t i = 0; i < COUNT(names); i++) {
		struct sp_row row = {
			.function = names[i], .symbol_known = true, .identity = &identity};
		add_row(diff, (enum sp_diff_side)i, row);
	}
	run(diff, false);
	ck_assert_uint_eq(sp_diff_row_count(diff), 1);
	ck_assert_str_eq(sp_diff_row(diff, 0)->function, "operator new[](long)");
	sp_diff_free(diff);
}

/* -- Call trees -------------------------------------------------------------- */

/* A call tree of three calls: main > run > (a function and parse), and parse > divide. */
struct calls {
	struct sp_tree_node root, main, run, below[3], divide;
};

static struct sp_tree_node call(const char *function, uint64_t self_samples)
{
	struct sp_tree_node node = {.function = function, .dso = "app", .symbol_known = true};
	node.self = (struct sp_weight){.samples = self_samples, .weight = PERIOD * self_samples};
	node.total = node.self;
	return node;
}

static void add_callees(struct sp_tree_node *node, const struct sp_tree_node *children,
			size_t count)
{
	node->children = children;
	node->child_count = count;
	for (size_t i = 0; i < count; i++) {
		node->total.samples += children[i].total.samples;
		node->total.weight += children[i].total.weight;
	}
}

/* Adds a run with these samples by function. `lookup` is the last function's name. */
static void add_calls(struct sp_diff *diff, enum sp_diff_side side, const uint64_t counts[4],
		      const char *lookup)
{
	struct calls calls = {
		.root = call(NULL, 0),
		.main = call("main", 0),
		.run = call("run", 0),
		.below = {call("parse", counts[0]), call("add", counts[2]),
			  call(lookup, counts[3])},
		.divide = call("divide", counts[1]),
	};
	struct sp_row rows[4] = {{{0}}};
	struct sp_profile profile = {
		.weight_is_time = true, .rows = rows, .row_count = 4, .tree = &calls.root};
	add_callees(&calls.below[0], &calls.divide, 1);
	add_callees(&calls.run, calls.below, 3);
	add_callees(&calls.main, &calls.run, 1);
	add_callees(&calls.root, &calls.main, 1);
	calls.root.dso = NULL;
	const struct sp_tree_node *const nodes[] = {&calls.below[0], &calls.divide, &calls.below[1],
						    &calls.below[2]};
	for (size_t i = 0; i < COUNT(nodes); i++)
		rows[i] = (struct sp_row){.self = nodes[i]->self,
					  .dso = "app",
					  .function = nodes[i]->function,
					  .symbol_known = true};
	profile.samples = profile.shown_samples = calls.root.total.samples;
	profile.shown_weight = calls.root.total.weight;
	ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
}

/* Compares three runs a side; the samples of each differ a little. */
static struct sp_diff *compare_calls(const uint64_t base[4], const char *base_lookup,
				     const uint64_t now[4], const char *now_lookup)
{
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (uint64_t i = 0; i < RUNS; i++) {
		const uint64_t old_counts[] = {base[0] + i, base[1] + i, base[2] + 2 * i,
					       base[3] + i};
		const uint64_t new_counts[] = {now[0] + i, now[1] + i, now[2] + i, now[3] + 2 * i};
		add_calls(diff, SP_DIFF_BASE, old_counts, base_lookup);
		add_calls(diff, SP_DIFF_NEW, new_counts, now_lookup);
	}
	run(diff, false);
	return diff;
}

/* Returns the names of the deepest changed nodes, in the tree's order. */
static const char *deepest(const struct sp_diff *diff, char text[100])
{
	*text = 0;
	for (size_t i = 0; i < sp_diff_node_count(diff); i++)
		if (sp_diff_node(diff, i)->is_deepest)
			strcat(strcat(text, sp_diff_node(diff, i)->function), " ");
	return text;
}

TEST(the_deepest_node_with_a_change_is_found)
{
	static const struct {
		uint64_t base[4], now[4];
		const char *wanted;
	} cases[] = {
		/* Only divide changed, not its callers. */
		{{2000, 2000, 2000, 500}, {2000, 2600, 2000, 500}, "divide "},
		/* The function itself changed, not what it calls. */
		{{2000, 2000, 2000, 500}, {2600, 2000, 2000, 500}, "parse "},
		/* Most of parse's change is its own. */
		{{2000, 2000, 2000, 500}, {4000, 2600, 2000, 500}, "parse divide "},
		/* Two changes in different directions do not explain each other. */
		{{2000, 2000, 2000, 500}, {2000, 2600, 1400, 500}, "add divide "},
		{{2000, 2000, 2000, 500}, {2000, 2000, 2000, 500}, ""},
	};
	char text[100];
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_diff *diff = compare_calls(cases[i].base, "find", cases[i].now, "find");
		ck_assert_str_eq(deepest(diff, text), cases[i].wanted);
		const struct sp_diff_node *root = sp_diff_node(diff, 0);
		near(root->base, sp_diff_total(diff)->base);
		near(root->now, sp_diff_total(diff)->now);
		double self = 0;
		for (size_t j = 0; j < sp_diff_node_count(diff); j++) {
			self += sp_diff_node(diff, j)->now_self;
			ck_assert(!j || sp_diff_node(diff, j)->parent < j);
		}
		near(self, root->now);
		sp_diff_free(diff);
	}
}

/* Adds a run of main > (`frames`, innermost first) > work > (left and right). */
static void add_passing(struct sp_diff *diff, enum sp_diff_side side, const char *const *frames,
			uint64_t left)
{
	struct sp_tree_node below[2] = {call("left", left), call("right", 700)};
	struct sp_tree_node chain[4] = {call("work", 100)}, top[2], main = call("main", 0);
	struct sp_tree_node root = call(NULL, 0);
	size_t depth = 0;
	add_callees(&chain[0], below, 2);
	for (; frames[depth]; depth++) {
		chain[depth + 1] = call(frames[depth], 5);
		add_callees(&chain[depth + 1], &chain[depth], 1);
	}
	top[0] = chain[depth];
	top[1] = call("light", 1000);
	add_callees(&main, top, 2);
	add_callees(&root, &main, 1);
	root.dso = NULL;
	struct sp_row row = {.self = root.total, .dso = "app", .function = "work",
			     .symbol_known = true};
	struct sp_profile profile = {
		.weight_is_time = true, .rows = &row, .row_count = 1, .tree = &root};
	profile.samples = profile.shown_samples = root.total.samples;
	profile.shown_weight = root.total.weight;
	ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
}

/* Calls match below frames that one side lacks: the callers there have their time, too. */
TEST(calls_pass_frames_of_one_side)
{
	static const char *const none[] = {NULL}, *const wrap[] = {"wrap", NULL},
				 *const three[] = {"inner", "middle", "wrap", NULL};
	const char *const *const cases[][2] = {
		{wrap, none}, {none, wrap}, {three, none}, {three, wrap}, {wrap, wrap}};
	char text[100];
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_diff *diff;
		double self[2] = {0, 0};
		size_t frames = 0;
		ck_assert_ptr_null(sp_diff_new(&diff));
		for (uint64_t j = 0; j < RUNS; j++) {
			add_passing(diff, SP_DIFF_BASE, cases[i][0], 1000 + j);
			add_passing(diff, SP_DIFF_NEW, cases[i][1], 2000 + j);
		}
		run(diff, false);
		ck_assert_str_eq(deepest(diff, text), "left ");
		for (size_t j = 0; j < sp_diff_node_count(diff); j++) {
			const struct sp_diff_node *node = sp_diff_node(diff, j);
			const struct sp_diff_node *parent = sp_diff_node(diff, node->parent);
			self[0] += node->base_self;
			self[1] += node->now_self;
			ck_assert(!j || node->parent < j);
			ck_assert(node->base <= parent->base && node->now <= parent->now);
			frames += j && !strcmp(node->function, "wrap");
			if (j && !strcmp(node->function, "left"))
				ck_assert(node->base == 1001 * PERIOD &&
					  node->now == 2001 * PERIOD);
		}
		ck_assert_uint_eq(frames, 1);
		near(self[0], sp_diff_node(diff, 0)->base);
		near(self[1], sp_diff_node(diff, 0)->now);
		sp_diff_free(diff);
	}
}

/* Adds a run of main > (hash > mix, and light). */
static void add_inlined(struct sp_diff *diff, enum sp_diff_side side, uint64_t hash, uint64_t mix,
			bool inlined)
{
	struct sp_tree_node below = call("mix", mix);
	struct sp_tree_node top[] = {call("hash", hash), call("light", 3000)};
	struct sp_tree_node root = call(NULL, 0);
	struct sp_row rows[3] = {{{0}}};
	struct sp_profile profile = {.weight_is_time = true, .rows = rows, .tree = &root};
	const struct sp_tree_node *const nodes[] = {&top[0], &top[1], &below};
	below.inlined = inlined;
	if (mix)
		add_callees(&top[0], &below, 1);
	add_callees(&root, top, 2);
	root.dso = NULL;
	profile.row_count = mix ? 3 : 2;
	for (size_t i = 0; i < profile.row_count; i++)
		rows[i] = (struct sp_row){.self = nodes[i]->self,
					  .dso = "app",
					  .function = nodes[i]->function,
					  .symbol_known = true};
	profile.samples = profile.shown_samples = root.total.samples;
	profile.shown_weight = root.total.weight;
	ck_assert_ptr_null(sp_diff_add(diff, side, &profile));
}

/* Time that moved between a function and one inlined into it, or gone, made nothing slower. */
TEST(moved_time_is_no_change)
{
	static const struct {
		uint64_t base[2], now[2];
		bool inlined;
		enum sp_diff_verdict hash, mix;
	} cases[] = {
		{{100, 2400}, {500, 2080}, true, SP_DIFF_MOVED, SP_DIFF_MOVED},
		{{100, 2400}, {500, 2080}, false, SP_DIFF_SLOWER, SP_DIFF_FASTER},
		/* Too little of its change moved. */
		{{100, 2400}, {500, 2380}, true, SP_DIFF_SLOWER, SP_DIFF_SAME},
		{{100, 2400}, {2500, 0}, false, SP_DIFF_MOVED, SP_DIFF_MOVED},
		{{100, 2400}, {5000, 0}, false, SP_DIFF_SLOWER, SP_DIFF_MOVED},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sp_diff *diff;
		ck_assert_ptr_null(sp_diff_new(&diff));
		for (uint64_t j = 0; j < RUNS; j++) {
			add_inlined(diff, SP_DIFF_BASE, cases[i].base[0] + j, cases[i].base[1] + j,
				    cases[i].inlined);
			add_inlined(diff, SP_DIFF_NEW, cases[i].now[0] + j,
				    cases[i].now[1] ? cases[i].now[1] + j : 0, cases[i].inlined);
		}
		run(diff, false);
		const struct sp_diff_row *hash = find_row(diff, "hash");
		const struct sp_diff_row *mix = find_row(diff, "mix");
		ck_assert_int_eq(hash->change.verdict, cases[i].hash);
		ck_assert_int_eq(mix->change.verdict, cases[i].mix);
		ck_assert_int_eq(hash->moved_with != NULL, cases[i].hash == SP_DIFF_MOVED);
		if (hash->moved_with) {
			ck_assert_str_eq(hash->moved_with, "mix");
			near(hash->together_base, hash->change.base + mix->change.base);
			near(hash->together_now, hash->change.now + mix->change.now);
		}
		sp_diff_free(diff);
	}
}

/* Runs without stacks have no callers: that is no change. */
TEST(calls_need_stacks_of_both_sides)
{
	static const uint64_t counts[] = {2000, 2000, 2000, 500};
	struct sp_diff *diff;
	ck_assert_ptr_null(sp_diff_new(&diff));
	for (uint64_t i = 0; i < RUNS; i++) {
		struct sp_tree_node leaf = call("divide", 9000 + i), root = call(NULL, 0);
		add_callees(&root, &leaf, 1);
		root.dso = NULL;
		struct sp_row row = {.self = leaf.self, .dso = "app", .function = "divide",
				     .symbol_known = true};
		struct sp_profile profile = {
			.weight_is_time = true, .rows = &row, .row_count = 1, .tree = &root,
			.samples = 9000 + i, .shown_samples = 9000 + i,
			.shown_weight = leaf.self.weight};
		add_calls(diff, SP_DIFF_BASE, counts, "find");
		ck_assert_ptr_null(sp_diff_add(diff, SP_DIFF_NEW, &profile));
	}
	run(diff, false);
	char text[100];
	ck_assert_int_eq(find_row(diff, "divide")->change.verdict, SP_DIFF_SLOWER);
	ck_assert_str_eq(deepest(diff, text), "");
	sp_diff_free(diff);
}

/* Renames are suggested where names, callers and time are alike, and rows stay two. */
TEST(renames_are_suggested)
{
	static const struct {
		const char *base, *now;
		uint64_t samples;
		bool wanted;
	} cases[] = {
		{"hash_find", "hash_lookup", 500, true},
		{"ns::A::hash_find(int)", "ns::B::hash_lookup(long)", 500, true},
		{"hash_find", "hash_lookup", 1500, false}, /* too much time */
		{"(anonymous namespace)::hash_find<std::pair<A, B> >(C::D) const",
		 "T<U>::hash_lookup()", 500, true},
		{"main.(*Table).Find", "main.(*Table).Sort", 500, false},
		{"std::vector<int>::at(int)", "std::vector<int>::push_back(int)", 500, false},
		{"<T as Hash>::find", "<T as Hash>::sort", 500, false},
		{"hash_find", "quicksort", 500, false},	   /* a leaf with another name */
		{"ns::find(int)", "ns::sort(int)", 500, false},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const uint64_t base[] = {2000, 2000, 2000, 500};
		const uint64_t now[] = {2000, 2000, 2000, cases[i].samples};
		struct sp_diff *diff = compare_calls(base, cases[i].base, now, cases[i].now);
		const struct sp_diff_row *gone = find_row(diff, cases[i].base);
		const struct sp_diff_row *added = find_row(diff, cases[i].now);
		ck_assert_int_eq(gone->change.verdict, SP_DIFF_GONE);
		ck_assert_int_eq(added->change.verdict, SP_DIFF_APPEARED);
		ck_assert_int_eq(gone->other_name != NULL, cases[i].wanted);
		ck_assert_int_eq(added->other_name != NULL, cases[i].wanted);
		if (cases[i].wanted)
			ck_assert_str_eq(added->other_name, cases[i].base);
		sp_diff_free(diff);
	}
}

/* Counts replace the samples' weight in the total only, and only if each run has one. */
TEST(counts_are_the_total)
{
	static const double counts[2 * RUNS] = {1000e3, 1001e3, 999e3, 1010e3, 1011e3, 1009e3};
	for (size_t known = 2 * RUNS - 1; known <= 2 * RUNS; known++) {
		struct sp_diff *diff;
		ck_assert_ptr_null(sp_diff_new(&diff));
		for (size_t i = 0; i < 2 * RUNS; i++) {
			add_runs(diff, i, i + 1, "app", "");
			sp_diff_set_count(diff, i < known ? counts[i] : 0);
		}
		run(diff, false);
		const struct sp_change *total = sp_diff_total(diff);
		if (known == 2 * RUNS) {
			near(total->base, 1000e3);
			/* t.test(log(new), log(base), var.equal = TRUE) */
			ck_assert_double_eq_tol(total->ratio, 0.01, 1e-6);
			ck_assert_double_eq_tol(total->p, 2.5e-4, 2e-5);
			ck_assert_int_eq(total->verdict, SP_DIFF_SLOWER);
		} else {
			near(total->p, 0.020952193433137);
		}
		near(find_row(diff, "a")->change.base, PERIOD * (812 + 795 + 840) / 3.0);
		sp_diff_free(diff);
	}
}
