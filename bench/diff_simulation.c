/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates comparisons: bench/diff_simulation [COMPARISONS [SLOWER|forecast]]. SLOWER is one of
 * 0, 5, 10, 20 and 45 percent; without it, all are simulated.
 *
 * A program has 40 functions, with shares from 25 % down. The time of each function varies
 * between runs by a part that is drawn for it, and all functions of a run by a common part. The
 * second function, with a share of 19 %, becomes slower. Counts comparisons with a false
 * verdict, verdicts on the slower function, and intervals that have its true change, and those
 * of all tested functions that did not change.
 *
 * "forecast": compares the program with itself, and then twice anew, as the forecasts of its
 * second function say: that function slower by the smallest change that would be found, and as
 * many runs as would decide. Counts such changes found, and decisions. 9 of 10 are right.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/sprof.h>

enum { FUNCTIONS = 40, TARGET = 1, PERIOD = 200000, MOST_RUNS = 200 };

struct scenario {
	const char *name;
	double spread;	/* a function's, between runs: the median of the functions */
	double unequal; /* standard deviation of ln(spread) between functions */
	double common;	/* all functions' together */
	int tails;	/* degrees of freedom of Student's t; 0: normal */
	double new_times; /* spread of the new side as a multiple of the base's; 0: 1 */
	int base_runs;	  /* number of base runs; 0: as many as new ones */
};

static const struct scenario scenarios[] = {
	{"sampling only", 0, 0, 0, 0},	    {"alike, 2 %", 0.02, 0, 0.02, 0},
	{"alike, 10 %", 0.1, 0, 0.05, 0},   {"unequal, 2 %", 0.02, 1, 0.02, 0},
	{"unequal, 5 %", 0.05, 1, 0.05, 0}, {"heavy tails, 3 %", 0.03, 0.7, 0.02, 3},
	{"new 4 times", 0.04, 0, 0.02, 0, 4},
	{"new 4 times, 20", 0.04, 0, 0.02, 0, 4, 20},
};

/* Sums of all comparisons of one line. */
struct counts {
	int false_verdicts, found, covered;
	long rows, rows_covered;
};

static double uniform(void)
{
	return (double)random() / ((double)RAND_MAX + 1);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static double noise(int tails)
{
	double squares = 0, value = normal();
	for (int i = 0; i < tails; i++) {
		double part = normal();
		squares += part * part;
	}
	return tails ? value / sqrt(squares / tails) : value;
}

/* Returns a number of Poisson's distribution. */
static uint64_t poisson(double mean)
{
	uint64_t number = 0;
	if (mean > 50)
		return (uint64_t)fmax(0, floor(mean + sqrt(mean) * normal() + 0.5));
	for (double product = uniform(), least = exp(-mean); product > least; number++)
		product *= uniform();
	return number;
}

static void check(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", sp_error_message(error));
	exit(1);
}

/* Adds a run of `samples` samples, in which the target takes `slower` more time. */
static void add_run(struct sp_diff *diff, enum sp_diff_side side, const struct scenario *scenario,
		    const double *spreads, double samples, double slower)
{
	static char names[FUNCTIONS][8];
	struct sp_row rows[FUNCTIONS];
	struct sp_profile profile = {.weight_is_time = true, .rows = rows};
	double times = side == SP_DIFF_NEW && scenario->new_times > 0 ? scenario->new_times : 1;
	double common = exp(scenario->common * times * normal());
	memset(rows, 0, sizeof(rows));
	for (int i = 0; i < FUNCTIONS; i++) {
		double share = 0.25 * pow(0.75, i) * (i == TARGET ? 1 + slower : 1);
		double factor = common * exp(spreads[i] * times * noise(scenario->tails));
		uint64_t count = poisson(share * samples * factor);
		struct sp_row *row = &rows[profile.row_count];
		if (!count)
			continue;
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		row->dso = "app";
		row->function = names[i];
		row->symbol_known = true;
		row->self = (struct sp_weight){.samples = count, .weight = count * PERIOD};
		profile.row_count++;
		profile.samples += count;
	}
	profile.shown_samples = profile.samples;
	profile.weight = profile.shown_weight = profile.samples * PERIOD;
	check(sp_diff_add(diff, side, &profile));
}

static void count_verdicts(const struct sp_diff *diff, double slower, struct counts *counts)
{
	bool is_false = false;
	for (size_t i = 0; i < sp_diff_row_count(diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(diff, i);
		const struct sp_change *change = &row->change;
		bool found = change->verdict >= SP_DIFF_SLOWER;
		if (!row->is_rest && !strcmp(row->function, "f1")) {
			counts->found += found && change->verdict == SP_DIFF_SLOWER;
			counts->covered += change->low <= slower && slower <= change->high;
			is_false |= found && slower == 0;
		} else if (!row->is_rest) {
			counts->rows++;
			counts->rows_covered += change->low <= 0 && 0 <= change->high;
			is_false |= found;
		}
	}
	counts->false_verdicts += is_false;
}

static void draw_spreads(const struct scenario *scenario, double spreads[FUNCTIONS])
{
	for (int i = 0; i < FUNCTIONS; i++)
		spreads[i] = scenario->spread * exp(scenario->unequal * normal());
}

static struct sp_diff *compare(const struct scenario *scenario, const double *spreads,
			       int base_runs, int runs, double samples, double slower)
{
	const struct sp_diff_options options = {.size = sizeof(options)};
	struct sp_diff *diff;
	check(sp_diff_new(&diff));
	for (int i = 0; i < base_runs; i++)
		add_run(diff, SP_DIFF_BASE, scenario, spreads, samples, 0);
	for (int i = 0; i < runs; i++)
		add_run(diff, SP_DIFF_NEW, scenario, spreads, samples, slower);
	check(sp_diff_run(diff, &options));
	return diff;
}

static void simulate(const struct scenario *scenario, int runs, double samples, double slower,
		     int comparisons)
{
	struct counts counts = {0};
	for (int i = 0; i < comparisons; i++) {
		double spreads[FUNCTIONS];
		draw_spreads(scenario, spreads);
		int base_runs = scenario->base_runs ? scenario->base_runs : runs;
		struct sp_diff *diff =
			compare(scenario, spreads, base_runs, runs, samples, slower);
		count_verdicts(diff, slower, &counts);
		sp_diff_free(diff);
	}
	double percent = 100.0 / comparisons;
	printf("%-17s %4d %7.0f %6.0f%%  %5.1f%%  %5.1f%%  %5.1f%%  %5.1f%%\n", scenario->name,
	       runs, samples, 100 * slower, percent * counts.false_verdicts, percent * counts.found,
	       percent * counts.covered,
	       100.0 * (double)counts.rows_covered / (double)(counts.rows ? counts.rows : 1));
	fflush(stdout);
}

/* Returns a copy of the target's change, and frees the comparison. */
static struct sp_change take_target(struct sp_diff *diff)
{
	struct sp_change change = {0};
	for (size_t i = 0; i < sp_diff_row_count(diff); i++)
		if (!sp_diff_row(diff, i)->is_rest && !strcmp(sp_diff_row(diff, i)->function, "f1"))
			change = sp_diff_row(diff, i)->change;
	sp_diff_free(diff);
	return change;
}

static void simulate_forecast(const struct scenario *scenario, int runs, double samples,
			      int comparisons)
{
	/* Most changes are undecided if the interval excludes half of them. */
	static const double changes[] = {0, 0.05, 0.1};
	int found = 0, decided = 0, tried = 0;
	double detectable = 0, needed = 0;
	for (int i = 0; i < comparisons; i++) {
		double spreads[FUNCTIONS];
		draw_spreads(scenario, spreads);
		int base_runs = scenario->base_runs ? scenario->base_runs : runs;
		struct sp_change forecast =
			take_target(compare(scenario, spreads, base_runs, runs, samples, 0));
		struct sp_change change = take_target(compare(
			scenario, spreads, base_runs, runs, samples, forecast.detectable));
		found += change.verdict == SP_DIFF_SLOWER;
		detectable += forecast.detectable;
		needed += fmin(forecast.runs, 10 * MOST_RUNS);
		if (forecast.runs > MOST_RUNS)
			continue;
		int enough = (int)fmax(3, forecast.runs);
		change = take_target(
			compare(scenario, spreads, enough, enough, samples, changes[i % 3]));
		decided += change.verdict > SP_DIFF_INCONCLUSIVE;
		tried++;
	}
	printf("%-17s %4d %7.0f %9.1f%% %5.1f%% %8.0f %6.1f%%\n", scenario->name, runs, samples,
	       100 * detectable / comparisons, 100.0 * found / comparisons, needed / comparisons,
	       100.0 * decided / (tried ? tried : 1));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const int runs[] = {3, 5, 10};
	static const double samples[] = {1000, 10000}, slower[] = {0, 0.05, 0.1, 0.2, 0.45};
	int comparisons = argc > 1 ? atoi(argv[1]) : 1000;
	bool forecast = argc > 2 && !strcmp(argv[2], "forecast");
	double only = argc > 2 ? atof(argv[2]) / 100 : -1;
	srandom(1);
	printf("%d comparisons a line\n"
	       "differences        runs samples %s\n",
	       comparisons,
	       forecast ? "detectable  found   needed  decided"
			: "slower   false   found  covered  others covered");
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		for (size_t j = 0; j < sizeof(runs) / sizeof(*runs); j++)
			for (size_t k = 0; k < sizeof(samples) / sizeof(*samples); k++) {
				if (forecast) {
					simulate_forecast(&scenarios[i], runs[j], samples[k],
							  comparisons);
					continue;
				}
				for (size_t l = 0; l < sizeof(slower) / sizeof(*slower); l++)
					if (only < 0 || only == slower[l])
						simulate(&scenarios[i], runs[j], samples[k],
							 slower[l], comparisons);
			}
	return 0;
}
