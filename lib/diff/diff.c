/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From profiles to changes. For row j of run i, with its weight w and the run's weight T of n
 * samples,
 *
 *	y = ln(w + T / 2n)		(by_share: - ln T)
 *
 * Half a sample keeps rows without samples finite. The variance of y is φ / c, where c is the row's
 * mean number of samples in a run: φ is 1 if only sampling varies.
 */
#include <sprof/diff.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/sized.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "diff/matched_names.h"
#include "diff/statistics.h"
#include "profile/interval.h"

/* Largest change in the interval of a row that counts as the same. */
#define SAME_WITHIN 0.1

/* Samples of a row below which it is not tested, if both sides have fewer in all runs. */
#define LEAST_SAMPLES 10

/*
 * Standard errors by which a change exceeds 0 if it is found in 9 of 10 comparisons, among the
 * number of rows that programs have.
 */
#define FOUND_ERRORS 4.2

/* The same for one test alone. */
#define FOUND_ERRORS_OF_ONE 3.24

/* Longest name of a thread. */
#define COMM_MOST 15

/* Name of the code of a file that has no names. */
static const char unnamed[] = "[without a name]";

/* Keys of a row. Strings are interned: equal keys have equal pointers. NULL: not requested. */
struct matched_key {
	const char *comm, *dso, *function, *srcline;
	const char *build_id; /* `function` is an address in this build; NULL: it is a name */
};

/* A file. Addresses stand for functions without a name as long as all runs have one build of it. */
struct compared_object {
	const char *name;
	double weight[2];     /* in the runs of each side */
	const char *build_id; /* first build with such functions; NULL: none */
	bool build_differs;   /* a run had another one */
};

/* Weight and number of samples of a row, in one run. */
struct row_sums {
	double weight, samples;
};

struct weighed_key {
	uint32_t key;
	struct row_sums sums;
};

struct compared_run {
	enum sp_diff_side side;
	double weight, samples;
	VEC(struct weighed_key) rows; /* a key may have several */
};

struct sp_diff {
	struct strtab names;
	VEC(struct matched_key) keys;
	struct index_set index; /* finds keys */
	VEC(struct compared_object) objects;
	struct u64map object_of; /* pointer of a file's name -> index of the object */
	VEC(struct compared_run) runs;
	bool is_time, unit_differs;
	size_t run_count[2];
	const char *renamed[2]; /* by side; NULL: none */
	VEC(struct sp_diff_row) rows;
	struct sp_change total;
};

struct sp_error *sp_diff_new(struct sp_diff **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : error_no_memory();
}

void sp_diff_free(struct sp_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->runs.count; i++)
		vec_deinit(&diff->runs.items[i].rows);
	vec_deinit(&diff->runs);
	vec_deinit(&diff->rows);
	vec_deinit(&diff->keys);
	vec_deinit(&diff->objects);
	u64map_deinit(&diff->object_of);
	index_set_deinit(&diff->index);
	strtab_deinit(&diff->names);
	free(diff);
}

const char *sp_diff_verdict_name(enum sp_diff_verdict verdict)
{
	static const char *const names[] = {
		[SP_DIFF_UNTESTED] = "untested", [SP_DIFF_INCONCLUSIVE] = "inconclusive",
		[SP_DIFF_SAME] = "same",	 [SP_DIFF_SLOWER] = "slower",
		[SP_DIFF_FASTER] = "faster",	 [SP_DIFF_APPEARED] = "new",
		[SP_DIFF_GONE] = "gone",
	};
	return verdict < sizeof(names) / sizeof(*names) ? names[verdict] : "untested";
}

/* -- Runs ------------------------------------------------------------------ */

/* Returns the number of a key, which is added if it is new; UINT32_MAX when out of memory. */
static uint32_t key_number(struct sp_diff *diff, const struct matched_key *key)
{
	const char *const texts[] = {key->comm, key->dso, key->function, key->srcline,
				     key->build_id};
	uint64_t hash = 0;
	uint32_t number;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		hash = hash_pair(hash, (uintptr_t)texts[i]);
	if (!index_set_reserve(&diff->index))
		return UINT32_MAX;
	struct index_probe probe = index_set_probe(&diff->index, hash);
	while (index_set_next(&diff->index, &probe, &number))
		if (!memcmp(&diff->keys.items[number], key, sizeof(*key)))
			return number;
	struct matched_key *added = vec_push(&diff->keys);
	if (!added)
		return UINT32_MAX;
	*added = *key;
	number = (uint32_t)(diff->keys.count - 1);
	index_set_add(&diff->index, &probe, number);
	return number;
}

/* Interns the first `size` bytes of a text. NULL stays NULL. Sets *failed when out of memory. */
static const char *intern(struct sp_diff *diff, const char *text, size_t size, bool *failed)
{
	const char *name = text ? strtab_add_sized(&diff->names, text, size) : NULL;
	*failed |= text && !name;
	return name;
}

/* Adds a row's weight to its file, and notes its build. Returns false when out of memory. */
static bool add_to_object(struct sp_diff *diff, const struct matched_key *key,
			  enum sp_diff_side side, double weight)
{
	struct compared_object *object =
		u64map_item(&diff->object_of, (uintptr_t)key->dso, &diff->objects);
	if (!object)
		return false;
	object->name = key->dso;
	object->weight[side == SP_DIFF_NEW] += weight;
	if (!object->build_id)
		object->build_id = key->build_id;
	object->build_differs |= key->build_id && object->build_id != key->build_id;
	return true;
}

/*
 * Code without a name is one row of its file: its addresses differ between builds. Functions that
 * call frame information delimits keep their addresses as long as all runs have the same build.
 */
static struct matched_key key_of_row(struct sp_diff *diff, const struct sp_row *row, bool *failed)
{
	const char *function = row->function ? row->function : row->symbol;
	const char *line = row->srcline ? row->srcline : row->srcfile;
	const char *build_id = row->from_cfi && !row->symbol_known ? row->build_id : NULL;
	if (function && !row->symbol_known && !build_id)
		function = unnamed;
	return (struct matched_key){
		.comm = intern(diff, row->comm, row->comm ? strlen(row->comm) : 0, failed),
		.dso = intern(diff, row->dso, row->dso ? object_name_size(row->dso) : 0, failed),
		.function =
			intern(diff, function, function ? function_name_size(function) : 0, failed),
		.srcline = intern(diff, line, line ? strlen(line) : 0, failed),
		.build_id = intern(diff, build_id, build_id ? strlen(build_id) : 0, failed),
	};
}

struct sp_error *sp_diff_add(struct sp_diff *diff, enum sp_diff_side side,
			     const struct sp_profile *profile)
{
	struct compared_run *run = vec_push(&diff->runs);
	bool failed = false;
	/* Lost samples are of the same code as the others, as far as is known. */
	double scale =
		profile->samples ? 1 + (double)profile->lost_own / (double)profile->samples : 1;
	NEED(run);
	*run = (struct compared_run){
		.side = side,
		.weight = (double)profile->shown_weight * scale,
		.samples = (double)profile->shown_samples,
	};
	diff->unit_differs |= diff->runs.count > 1 && diff->is_time != profile->weight_is_time;
	diff->is_time = profile->weight_is_time;
	diff->run_count[side == SP_DIFF_NEW]++;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *from = sp_profile_row(profile, i);
		struct matched_key key = key_of_row(diff, from, &failed);
		uint32_t number = failed ? UINT32_MAX : key_number(diff, &key);
		struct weighed_key *row = vec_push(&run->rows);
		double weight = (double)from->self.weight * scale;
		NEED(row && number != UINT32_MAX && add_to_object(diff, &key, side, weight));
		*row = (struct weighed_key){number, {weight, (double)from->self.samples}};
	}
	return NULL;
}

/* -- Programs with other names ---------------------------------------------- */

/* Finds the heaviest program of each side that the other side does not have. */
static void find_renamed(struct sp_diff *diff)
{
	const struct compared_object *heaviest[2] = {NULL, NULL};
	for (size_t i = 0; i < diff->objects.count; i++) {
		const struct compared_object *object = &diff->objects.items[i];
		size_t side = object->weight[SP_DIFF_NEW] > 0;
		bool alone = !object->weight[SP_DIFF_BASE] != !object->weight[SP_DIFF_NEW];
		if (!alone || !object->name || !object_is_program(object->name))
			continue;
		if (!heaviest[side] || object->weight[side] > heaviest[side]->weight[side])
			heaviest[side] = object;
	}
	for (size_t side = 0; side < 2; side++)
		diff->renamed[side] = heaviest[0] && heaviest[1] ? heaviest[side]->name : NULL;
}

/* -- Changes --------------------------------------------------------------- */

/* A row's values, the mean over the runs of each side. */
struct measured_row {
	double logs[2];
	double weight[2]; /* or share */
	double samples[2];
	double factor; /* φ: variance between runs, as a multiple of that of sampling */
};

/* Degrees of freedom of the variance between runs. */
static double freedom(const struct sp_diff *diff)
{
	return (double)(diff->run_count[0] + diff->run_count[1]) - 2;
}

/* Returns the sum of 1 / (number of runs) of both sides. */
static double inverse_runs(const struct sp_diff *diff)
{
	return 1 / (double)diff->run_count[SP_DIFF_BASE] + 1 / (double)diff->run_count[SP_DIFF_NEW];
}

/* Measures a row that has sums[i] in run i. */
static struct measured_row measure(const struct sp_diff *diff, const struct row_sums *sums,
				   bool by_share)
{
	struct measured_row row = {.factor = 1};
	double squares[2] = {0, 0}, within = 0;
	for (size_t i = 0; i < diff->runs.count; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		size_t side = run->side == SP_DIFF_NEW;
		double runs = (double)diff->run_count[side];
		double sample =
			run->samples > 0 && run->weight > 0 ? run->weight / run->samples : 1;
		double scale = by_share && run->weight > 0 ? run->weight : 1;
		double y = log((sums[i].weight + sample / 2) / scale);
		row.logs[side] += y / runs;
		squares[side] += y * y;
		row.weight[side] += sums[i].weight / scale / runs;
		row.samples[side] += sums[i].samples / runs;
	}
	for (size_t side = 0; side < 2; side++)
		within += fmax(0, squares[side] - (double)diff->run_count[side] * row.logs[side] *
							  row.logs[side]) *
			  fmax(row.samples[side], 0.5);
	if (freedom(diff) > 0)
		row.factor = within / freedom(diff);
	return row;
}

/*
 * Standard errors of the logarithm of a change. If nothing changed, both sides have the same number
 * of samples: `test` uses their mean. `interval` uses each side's own. `found` is the number of
 * errors by which a change exceeds 0 if it is found in 9 of 10 comparisons.
 */
struct change_errors {
	double test, interval, found, df;
};

/* Sets the change of a row. */
static void set_change(const struct sp_diff *diff, const struct measured_row *row,
		       const struct change_errors *errors, struct sp_change *change)
{
	double difference = row->logs[SP_DIFF_NEW] - row->logs[SP_DIFF_BASE];
	*change = (struct sp_change){
		.base = row->weight[SP_DIFF_BASE],
		.now = row->weight[SP_DIFF_NEW],
		.ratio = expm1(difference),
		.p = NAN,
	};
	/* The error of one run is that of sampling, by a normal distribution. */
	double t = errors->df > 0 ? student_quantile(0.975, errors->df) : INTERVAL_Z;
	change->low = expm1(difference - t * errors->interval);
	change->high = expm1(difference + t * errors->interval);
	if (diff->run_count[0] < SP_DIFF_LEAST_RUNS || diff->run_count[1] < SP_DIFF_LEAST_RUNS)
		return;
	double runs = 2 / inverse_runs(diff);
	change->p = errors->test > 0 ? student_tail(difference / errors->test, errors->df)
				     : difference == 0;
	change->detectable = expm1(errors->found * errors->test);
	if (difference != 0)
		change->runs = ceil(runs * pow(errors->found * errors->test / difference, 2));
}

static void judge(struct sp_change *change, double discoveries)
{
	if (!(change->base > 0) && change->now > 0)
		change->ratio = change->high = INFINITY;
	else if (!(change->now > 0))
		change->ratio = change->low = -1;
	if (isnan(change->p))
		change->verdict = SP_DIFF_UNTESTED;
	else if (change->p <= discoveries && !(change->base > 0))
		change->verdict = SP_DIFF_APPEARED;
	else if (change->p <= discoveries && !(change->now > 0))
		change->verdict = SP_DIFF_GONE;
	else if (change->p <= discoveries)
		change->verdict = change->ratio > 0 ? SP_DIFF_SLOWER : SP_DIFF_FASTER;
	else if (change->low >= -SAME_WITHIN && change->high <= SAME_WITHIN)
		change->verdict = SP_DIFF_SAME;
	else
		change->verdict = SP_DIFF_INCONCLUSIVE;
}

/* Tests the rows; measured[i] is that of rows.items[i]. Adjusts p for their number. */
static struct sp_error *test_rows(struct sp_diff *diff, const struct measured_row *measured,
				  double discoveries)
{
	size_t count = diff->rows.count;
	double df = freedom(diff);
	CLEANUP_FREE double *factors = calloc(count + 1, sizeof(*factors));
	CLEANUP_FREE double *scratch = calloc(count + 1, sizeof(*scratch));
	CLEANUP_FREE size_t *order = calloc(count + 1, sizeof(*order));
	NEED(factors && scratch && order);
	for (size_t i = 0; i < count; i++)
		factors[i] = measured[i].factor;
	struct variance_prior prior = {.scale = 1};
	if (df > 0)
		prior = variance_prior_fit(factors, scratch, count, df);
	for (size_t i = 0; i < count; i++) {
		double factor = df > 0 ? fmax(1, variance_moderate(&prior, factors[i], df)) : 1;
		double samples = 0, parts = 0;
		for (size_t side = 0; side < 2; side++) {
			double number = (double)diff->run_count[side];
			samples += measured[i].samples[side] * number / (double)diff->runs.count;
			parts += 1 / (number * fmax(measured[i].samples[side], 0.5));
		}
		const struct change_errors errors = {
			.test = sqrt(factor / fmax(samples, 0.5) * inverse_runs(diff)),
			.interval = sqrt(factor * parts),
			.found = FOUND_ERRORS,
			.df = fmin(df + prior.df, df * (double)count),
		};
		set_change(diff, &measured[i], &errors, &diff->rows.items[i].change);
		scratch[i] = diff->rows.items[i].change.p;
	}
	bool tested = count && !isnan(scratch[0]);
	if (tested)
		adjust_discoveries(scratch, order, count);
	for (size_t i = 0; i < count; i++) {
		diff->rows.items[i].change.p = tested ? scratch[i] : NAN;
		judge(&diff->rows.items[i].change, discoveries);
	}
	return NULL;
}

/* Tests the weight of whole runs. Sampling adds next to nothing to its variance. */
static void test_total(struct sp_diff *diff, bool by_share, double discoveries)
{
	struct measured_row total = {0};
	double squares = 0;
	for (size_t i = 0; i < diff->runs.count; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		size_t side = run->side == SP_DIFF_NEW;
		total.weight[side] += run->weight / (double)diff->run_count[side];
		total.logs[side] += log(fmax(run->weight, 1)) / (double)diff->run_count[side];
	}
	for (size_t i = 0; i < diff->runs.count; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		squares += pow(log(fmax(run->weight, 1)) - total.logs[run->side == SP_DIFF_NEW], 2);
	}
	double df = freedom(diff);
	double error = df > 0 ? sqrt(squares / df * inverse_runs(diff)) : INFINITY;
	const struct change_errors errors = {error, error, FOUND_ERRORS_OF_ONE, df};
	set_change(diff, &total, &errors, &diff->total);
	if (by_share)
		diff->total.p = NAN;
	judge(&diff->total, discoveries);
}

static bool is_found(const struct sp_change *change)
{
	return change->verdict >= SP_DIFF_SLOWER;
}

static int by_importance(const void *a, const void *b)
{
	const struct sp_change *x = &((const struct sp_diff_row *)a)->change;
	const struct sp_change *y = &((const struct sp_diff_row *)b)->change;
	bool first_x = is_found(x), first_y = is_found(y),
	     untested = x->verdict == SP_DIFF_UNTESTED;
	double of_x = first_x || untested ? fabs(x->now - x->base) : fmax(x->now, x->base);
	double of_y = first_y || untested ? fabs(y->now - y->base) : fmax(y->now, y->base);
	if (first_x != first_y)
		return first_x ? -1 : 1;
	return (of_x < of_y) - (of_x > of_y);
}

static bool build_differs(const struct sp_diff *diff, const char *dso)
{
	return diff->objects.items[*u64map_find(&diff->object_of, (uintptr_t)dso)].build_differs;
}

/*
 * Makes targets[i] the key that key i counts for: that with the new name of a renamed program, and
 * without addresses if builds differ.
 */
static struct sp_error *find_targets(struct sp_diff *diff, size_t count, uint32_t *targets)
{
	bool failed = false;
	const char *now = diff->renamed[SP_DIFF_NEW];
	/* A thread's first name is that of its program, cut. */
	const char *renamed_comm = intern(diff, now, now ? strnlen(now, COMM_MOST) : 0, &failed);
	for (size_t i = 0; i < count; i++) {
		struct matched_key key = diff->keys.items[i];
		bool renamed = key.dso && key.dso == diff->renamed[SP_DIFF_BASE];
		if (key.build_id && (renamed || key.dso == now || build_differs(diff, key.dso))) {
			key.function = intern(diff, unnamed, strlen(unnamed), &failed);
			key.build_id = NULL;
		}
		if (renamed)
			key.dso = now;
		if (key.comm && renamed_comm &&
		    !strncmp(key.comm, diff->renamed[SP_DIFF_BASE], COMM_MOST) &&
		    strlen(key.comm) <= COMM_MOST)
			key.comm = renamed_comm;
		targets[i] = failed ? UINT32_MAX : key_number(diff, &key);
		NEED(targets[i] != UINT32_MAX);
	}
	return NULL;
}

/* Returns whether a row has the least share of one side, and enough samples to be tested. */
static bool is_heavy(const struct sp_diff *diff, const struct row_sums *sums, double least_share)
{
	double shares[2] = {0, 0}, samples = 0;
	for (size_t i = 0; i < diff->runs.count; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		size_t side = run->side == SP_DIFF_NEW;
		double share = run->weight > 0 ? sums[i].weight / run->weight : 0;
		shares[side] += share / (double)diff->run_count[side];
		samples += sums[i].samples;
	}
	return fmax(shares[0], shares[1]) >= least_share && samples >= LEAST_SAMPLES;
}

/* Adds a row; `key` NULL: the rest. */
static struct sp_error *add_row(struct sp_diff *diff, const struct matched_key *key,
				struct measured_row measured, struct measured_row *all_measured)
{
	struct sp_diff_row *row = vec_push(&diff->rows);
	NEED(row);
	*row = (struct sp_diff_row){
		.base_samples = measured.samples[SP_DIFF_BASE],
		.now_samples = measured.samples[SP_DIFF_NEW],
	};
	if (key) {
		row->comm = key->comm;
		row->dso = key->dso;
		row->function = key->function;
		row->srcline = key->srcline;
	}
	row->is_rest = !key;
	all_measured[diff->rows.count - 1] = measured;
	return NULL;
}

static void add_sums(struct row_sums *to, const struct row_sums *from)
{
	to->weight += from->weight;
	to->samples += from->samples;
}

/* Makes a row of each heavy key, and one of the rest. */
static struct sp_error *make_rows(struct sp_diff *diff, struct row_sums *sums,
				  const uint32_t *targets, const struct sp_diff_options *options,
				  double discoveries)
{
	size_t runs = diff->runs.count;
	CLEANUP_FREE struct row_sums *rest = calloc(runs, sizeof(*rest));
	CLEANUP_FREE struct measured_row *measured =
		calloc(diff->keys.count + 1, sizeof(*measured));
	NEED(rest && measured);
	for (size_t i = 0; i < runs; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		for (size_t j = 0; j < run->rows.count; j++) {
			const struct weighed_key *row = &run->rows.items[j];
			add_sums(&sums[targets[row->key] * runs + i], &row->sums);
		}
	}
	for (size_t i = 0; i < diff->keys.count; i++) {
		struct row_sums *row = sums + i * runs;
		if (is_heavy(diff, row, options->least_share > 0 ? options->least_share : 0.005))
			TRY(add_row(diff, &diff->keys.items[i],
				    measure(diff, row, options->by_share), measured));
		else
			for (size_t j = 0; j < runs; j++)
				add_sums(&rest[j], &row[j]);
	}
	struct measured_row last = measure(diff, rest, options->by_share);
	if (last.weight[0] > 0 || last.weight[1] > 0)
		TRY(add_row(diff, NULL, last, measured));
	TRY(test_rows(diff, measured, discoveries));
	if (diff->rows.count)
		qsort(diff->rows.items, diff->rows.count, sizeof(*diff->rows.items), by_importance);
	return NULL;
}

struct sp_error *sp_diff_run(struct sp_diff *diff, const struct sp_diff_options *options)
{
	struct sp_diff_options values;
	size_t count = diff->keys.count;
	TRY(sized_copy(&values, sizeof(values), options));
	if (!diff->run_count[SP_DIFF_BASE] || !diff->run_count[SP_DIFF_NEW])
		return error_new(SP_ERROR_INVALID, "a comparison needs a run of each side");
	if (diff->unit_differs)
		return error_new(SP_ERROR_INVALID, "some runs have weights in ns, others do not");
	double discoveries = values.discoveries > 0 ? values.discoveries : 0.05;
	diff->rows.count = 0;
	find_renamed(diff);
	CLEANUP_FREE uint32_t *targets = calloc(count + 1, sizeof(*targets));
	NEED(targets);
	TRY(find_targets(diff, count, targets));
	CLEANUP_FREE struct row_sums *sums =
		calloc(diff->keys.count + 1, diff->runs.count * sizeof(*sums));
	NEED(sums);
	test_total(diff, values.by_share, discoveries);
	return make_rows(diff, sums, targets, &values, discoveries);
}

size_t sp_diff_row_count(const struct sp_diff *diff)
{
	return diff->rows.count;
}

const struct sp_diff_row *sp_diff_row(const struct sp_diff *diff, size_t index)
{
	return &diff->rows.items[index];
}

const struct sp_change *sp_diff_total(const struct sp_diff *diff)
{
	return &diff->total;
}

const char *sp_diff_renamed(const struct sp_diff *diff, enum sp_diff_side side)
{
	return diff->renamed[side == SP_DIFF_NEW];
}
