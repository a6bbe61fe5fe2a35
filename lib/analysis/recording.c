/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of the calls. Each step needs the results of the steps above it:
 *
 *	pass_one_read()                    machine, states of threads; symbols, unwinder
 *	work_init(), open_states()         constants of the workers, and what the mode needs
 *	PHASE_COUNT    count_extent()      samples by stack
 *	               timed_leaves_compute()  times of strata; leaves for time without samples
 *	               repair_stacks()     truncated stacks of all workers
 *	PHASE_RESOLVE  count_truncated_samples()  the samples with these stacks
 *	               chains_resolve()    frames
 *	               timed_leaves_scale()  times of samples
 *	               make_labels()       functions, inlined ones included
 *	PHASE_ROWS     rows_make()         rows by worker
 *	merged_add(), findings_find()      rows and trees of all workers and recordings; limits
 */
#include "analysis/recording.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "findings/findings.h"
#include "rows/timed_leaves.h"
#include "rows/timeline.h"
#include "samples/sample_counter.h"
#include "samples/sample_reader.h"
#include "sideband/pass_one.h"

/*
 * Limits of a range's size: large enough to read fast, small enough for all threads to end at about
 * the same time.
 */
#define RANGE_MAX ((uint64_t)16 << 20)
#define RANGES_PER_THREAD 8

/* Larger stack copies are mapped instead of read, because most of their bytes are not used. */
#define LARGE_COPY 4096

/* Members of a worker that rows_make() changes. */
struct kept_worker {
	struct leaf *leaves;
	struct event_sums *events;
};

/* State of the analysis of one recording. Other analyses can use it again. */
struct sp_counts {
	struct sp_ctx *ctx;
	struct analysis_options options; /* with the fields and times of this recording */
	struct sp_field *fields;         /* fields of `options` */
	struct pass_one_result *read; /* owned, unless the analysis keeps it */
	struct names names;
	struct labels labels;
	struct matches matches; /* set if matches_wanted() */
	struct times times;
	struct work work; /* constants of the workers: all of the above */
	struct workers workers;
	struct kept_worker *kept; /* by worker; NULL: the counts are not kept */
};

void sp_counts_free(struct sp_counts *run)
{
	if (!run)
		return;
	if (run->read)
		reader_unmap(run->read->reader);
	for (size_t i = 0; run->kept && i < run->workers.count; i++) {
		free(run->kept[i].leaves);
		free(run->kept[i].events);
	}
	free(run->kept);
	workers_deinit(&run->workers);
	labels_deinit(&run->labels);
	matches_deinit(&run->matches);
	times_deinit(&run->times);
	names_deinit(&run->names);
	pass_one_free(run->read);
	free(run->fields);
	free(run);
}

DEFINE_CLEANUP(struct sp_counts *, sp_counts_free)

/*
 * Sets the options that a recording has in place of those of all. Returns false when out of memory.
 */
static bool set_own_options(struct sp_counts *run, const struct sp_recording *recording,
			    const struct merged_recording *of)
{
	struct analysis_options *options = &run->options;
	size_t count = options->rows.field_count;
	if (recording->times) {
		options->filter.times = recording->times;
		options->filter.time_count = recording->time_count;
	}
	options->threads = parallel_threads(options->threads);
	options->rows.time_origin_ns = recording->time_origin_ns;
	/* Fields name events by their numbers among the events of all recordings. */
	free(run->fields);
	run->fields = calloc(count + 1, sizeof(*run->fields));
	if (!run->fields)
		return false;
	for (size_t i = 0; i < count; i++) {
		run->fields[i] = options->rows.fields[i];
		int32_t event = options->rows.fields[i].event;
		run->fields[i].event = event < 0 ? -1 : SP_EVENT_NONE;
		for (size_t j = 0; event >= 0 && j < of->event_count; j++)
			if (of->events[j] == event)
				run->fields[i].event = j;
	}
	options->rows.fields = run->fields;
	return true;
}

static struct label_options label_options(const struct work *work)
{
	const struct analysis_options *options = work->options;
	return (struct label_options){
		.keys = work->keys->rows,
		.tree = options->tree.order != SP_TREE_NONE || work->matches,
		.expand = options->stacks.inlines != SP_OFF,
		.fold_python = options->stacks.fold_python,
		.tree_lines = options->tree.lines,
		.tree_addresses = options->tree.addresses,
		.instructions = options->rows.instructions,
		.annotate = options->rows.annotate,
		.threads = options->threads,
		.ctx = work->ctx,
	};
}

/*
 * Returns whether samples have counter values. Their increases need all samples in order, so one thread
 * reads them.
 */
static bool has_counters(const struct record_layout *layout)
{
	for (size_t i = 0; i < layout->event_count; i++)
		if (layout->events[i].attr.sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

/* Ranges of the file, which threads take one by one. */
struct file_ranges {
	VEC(struct reader_extent);
	atomic_size_t next;
	atomic_bool stop; /* a thread failed */
};

static void ranges_deinit(struct file_ranges *ranges)
{
	vec_deinit(ranges);
}

static struct sp_error *ranges_make(struct file_ranges *ranges, const struct sideband *sideband,
				    size_t threads)
{
	const uint64_t *splits = sideband->splits.items;
	size_t count = sideband->splits.count;
	uint64_t size = (splits[count - 1] - splits[0]) / (threads * RANGES_PER_THREAD);
	if (size > RANGE_MAX)
		size = RANGE_MAX;
	for (size_t i = 0, begin = 0; i + 1 < count; i++) {
		if (splits[i + 1] - splits[begin] < size && i + 2 < count)
			continue;
		struct reader_extent *range = vec_push(ranges);
		NEED(range);
		*range = (struct reader_extent){splits[begin], splits[i + 1]};
		begin = i + 1;
	}
	return NULL;
}

static uint64_t size_of(const struct file_ranges *ranges)
{
	uint64_t size = 0;
	vec_each (range, ranges)
		size += range->end - range->begin;
	return size;
}

static bool has_truncated(const struct workers *workers)
{
	vec_each (worker, workers)
		if (worker->counted.truncated.count)
			return true;
	return false;
}

/* Repairs stacks with the complete stacks of all workers, which the first worker's repair collects. */
static struct sp_error *repair_stacks(struct workers *workers)
{
	struct repair *all = workers->count ? workers->items[0].counted.stacks.repair : NULL;
	if (!all || !has_truncated(workers))
		return NULL;
	for (size_t i = 1; i < workers->count; i++) {
		struct stacks *stacks = &workers->items[i].counted.stacks;
		/* If memory is exhausted, some stacks stay truncated. */
		(void)repair_merge(all, stacks->repair,
				   &workers->items[i].counted.truncated.repair_offset);
		repair_free(stacks->repair);
		stacks->repair = NULL;
	}
	vec_each (worker, workers)
		worker->counted.truncated.repaired = all;
	return repair_complete(all) ? NULL : error_no_memory();
}

static void free_repairs(struct workers *workers)
{
	vec_each (worker, workers) {
		repair_free(worker->counted.stacks.repair);
		worker->counted.stacks.repair = NULL;
	}
}

enum phase_kind { PHASE_COUNT, PHASE_RESOLVE, PHASE_ROWS };

/* One phase of the work, which all workers do in parallel, each with its own part. */
struct phase {
	enum phase_kind kind;
	struct worker *workers;
	struct file_ranges *ranges;
	struct sp_error **errors; /* errors of the workers, by worker */
};

static void run_phase(void *arg, unsigned int i)
{
	const struct phase *phase = arg;
	struct worker *worker = &phase->workers[i];
	struct file_ranges *ranges = phase->ranges;
	struct sp_error *error = NULL;
	switch (phase->kind) {
	case PHASE_COUNT:
		while (!error && !atomic_load(&ranges->stop)) {
			size_t next = atomic_fetch_add(&ranges->next, 1);
			if (next >= ranges->count)
				return;
			const struct reader_extent *range = &ranges->items[next];
			error = count_extent(&worker->counted, *range);
			ctx_add_done(worker->counted.work->ctx, range->end - range->begin);
		}
		atomic_store(&ranges->stop, true);
		break;
	case PHASE_RESOLVE:
		error = count_truncated_samples(&worker->counted);
		if (!error)
			error = chains_resolve(&worker->counted, &worker->resolved);
		break;
	case PHASE_ROWS:
		error = rows_make(&worker->resolved, &worker->summed);
		break;
	}
	phase->errors[i] = error;
}

static struct sp_error *all_workers(struct workers *workers, struct file_ranges *ranges,
				    enum phase_kind kind)
{
	CLEANUP_FREE struct sp_error **errors = calloc(workers->count, sizeof(*errors));
	NEED(errors);
	struct phase phase = {kind, workers->items, ranges, errors};
	parallel_run(workers->count, run_phase, &phase);
	struct sp_error *error = ctx_check(workers->work->ctx);
	for (size_t i = 0; i < workers->count; i++)
		error = error_first(error, errors[i]);
	return error;
}

/* Returns whether the number of threads that could run is needed at each time. */
static bool wants_parallelism(const struct merged *merged)
{
	return merged->weigher->needs_parallelism || merged->options->filter.parallelism.count ||
	       merged->keys.rows[SP_KEY_PARALLELISM];
}

/* Returns whether the states of threads over time are needed. They cost memory for each switch. */
static bool wants_states(const struct merged *merged, const struct sp_reader *reader)
{
	const struct weigher *weigher = merged->weigher;
	return weigher->of_threads || wants_parallelism(merged) ||
	       (weigher->wants_states && weigher->wants_states(reader));
}

static void work_init(struct sp_counts *run, const struct merged *merged)
{
	struct analysis_options *options = &run->options;
	struct work *work = &run->work;
	options->stacks.fold_python &= machine_has_python(run->read->machine);
	*work = (struct work){
		.ctx = run->ctx,
		.read = run->read,
		.options = options,
		.keys = &merged->keys,
		.names = &run->names,
		.labels = &run->labels,
		.times = &run->times,
		.keeps = options->counts && !merged->weigher->of_threads &&
			 !options->samples.branches && merged->recording_count == 1 &&
			 !options->rows.annotate,
	};
	work->only_leaves = !work->keeps &&
			    (options->samples.branches ||
			     (!options->rows.children && options->tree.order == SP_TREE_NONE));
	const struct sp_file_info *info = sp_reader_info(run->read->reader);
	/* A later analysis may need between-run intervals, too. */
	bool parts = merged->batch_count ? !merged_by_run(merged)
					 : work->keeps && !options->filter.time_count;
	if (parts && info->first_sample_ns < info->last_sample_ns) {
		work->parts_begin_ns = info->first_sample_ns;
		work->part_ns = (info->last_sample_ns - info->first_sample_ns) / INTERVAL_PARTS + 1;
	}
	if (merged->weigher->of_threads)
		work->only_leaves = false; /* reasons of waits are in the callers */
	if (!options->samples.branches &&
	    (work->keys->rows[SP_KEY_SYSCALL] ||
	     matches_wanted(options, work->keys->rows[SP_KEY_PARENT])))
		work->only_leaves = false;
	run->workers.work = work;
}

/* Prepares the comparisons with the functions that options name. */
static struct sp_error *set_matches(struct sp_counts *run, const struct merged *merged)
{
	const struct analysis_options *options = &run->options;
	bool parent = merged->keys.rows[SP_KEY_PARENT];
	if (options->samples.branches || !matches_wanted(options, parent))
		return NULL;
	run->work.matches = &run->matches;
	return matches_init(&run->matches, options, parent);
}

static bool has_large_copies(const struct record_layout *layout)
{
	for (size_t i = 0; i < layout->event_count; i++)
		if (dump_unwind_has_dump(&layout->events[i].attr) &&
		    layout->events[i].attr.sample_stack_user >= LARGE_COPY)
			return true;
	return false;
}

/* Prepares the states of threads, and checks that they suffice for the mode. */
static struct sp_error *open_states(struct sp_counts *run, const struct merged *merged)
{
	const struct pass_one_result *read = run->read;
	struct task_states *states = read->sideband.states;
	bool known = states && task_states_known(states);
	const struct times_source source = {merged->weigher, read->reader, states,
					    &read->sideband.sched, read->machine,
					    read->sideband.command_ns};
	TRY(times_init(&run->times, &source, &run->options, &merged->keys));
	if (!known && !merged->weigher->of_threads && wants_parallelism(merged))
		return times_no_switches(read->reader, "parallelism");
	return NULL;
}

/* Reads pass one, then prepares what the workers share. */
static struct sp_error *read_pass_one_and_prepare(struct sp_counts *run,
						  const struct merged *merged,
						  struct sp_reader *reader)
{
	if (has_large_copies(reader_layout(reader)))
		reader_map(reader);
	const struct pass_one pass = {
		.ctx = run->ctx,
		.reader = reader,
		.files = &run->options.files,
		.threads = run->options.threads,
		.names = run->options.names,
		.states = wants_states(merged, reader),
		.chains = true,
	};
	TRY(pass_one_read(&pass, run->read));
	work_init(run, merged);
	TRY(open_states(run, merged));
	TRY(set_matches(run, merged));
	/* Debug information is searched only if a key or the tree needs it. */
	struct label_options labels = label_options(&run->work);
	labels.tree |= run->work.keeps;
	const struct source_finder finder = source_finder_of(run->read->resolver, run->ctx);
	TRY(names_init(&run->names, run->read->machine, run->read->resolver,
		       labels_need_sources(&labels) ? &finder : NULL, &run->options));
	run->names.all_code = run->work.keeps;
	return NULL;
}

/* Makes labels of all frames, and finds the functions that options name. */
static struct sp_error *make_labels(struct sp_counts *run, struct sp_analysis *analysis)
{
	const struct label_options options = label_options(&run->work);
	size_t sourced = 0;
	vec_each (frame, &run->names.frames)
		sourced += frame->sourced;
	ctx_begin_step(run->ctx, SP_STEP_NAMES, sourced);
	TRY(labels_make(&run->labels, &run->names, &options, &analysis->functions,
			&analysis->nodes));
	if (run->work.matches)
		TRY(matches_find(&run->matches, &run->labels, options.keys));
	return NULL;
}

/* Returns the times of the first and last sample of all workers. */
static struct sp_time_span span_of(const struct workers *workers)
{
	struct sp_time_span span = {0};
	vec_each (worker, workers) {
		const struct counted *counted = &worker->counted;
		if (!counted->last_ns)
			continue;
		if (!span.end_ns || counted->first_ns < span.begin_ns)
			span.begin_ns = counted->first_ns;
		if (counted->last_ns > span.end_ns)
			span.end_ns = counted->last_ns;
	}
	return span;
}

static size_t event_count(const struct sp_counts *run)
{
	return reader_layout(run->read->reader)->event_count;
}

static void copy_items(void *to, const void *from, size_t count, size_t size)
{
	if (count)
		memcpy(to, from, count * size);
}

/*
 * Moves the weights by part of each leaf next to each other: all analyses read them. Returns false
 * when out of memory.
 */
static bool join_parts(struct counted *counted)
{
	struct part_weights *parts = &counted->parts;
	struct part_weight *joined = calloc(parts->count + 1, sizeof(*joined));
	uint32_t count = 0;
	if (!joined)
		return false;
	vec_each (leaf, &counted->leaves) {
		uint32_t earlier = 0;
		for (uint32_t at = leaf->last_part; at; at = parts->items[at - 1].earlier) {
			joined[count] = parts->items[at - 1];
			joined[count++].earlier = earlier;
			earlier = count;
		}
		leaf->last_part = earlier;
	}
	copy_items(parts->items, joined, count, sizeof(*joined));
	free(joined);
	return true;
}

/* Copies what rows_make() changes. */
static struct sp_error *copy_counts(struct sp_counts *run)
{
	NEED(run->kept = calloc(run->workers.count, sizeof(*run->kept)));
	for (size_t i = 0; i < run->workers.count; i++) {
		struct counted *counted = &run->workers.items[i].counted;
		struct kept_worker *kept = &run->kept[i];
		size_t leaves = counted->leaves.count;
		kept->leaves = calloc(leaves + 1, sizeof(*kept->leaves));
		kept->events = calloc(event_count(run) + 1, sizeof(*kept->events));
		NEED(kept->leaves && kept->events && join_parts(counted));
		copy_items(kept->leaves, counted->leaves.items, leaves, sizeof(*kept->leaves));
		copy_items(kept->events, counted->events, event_count(run), sizeof(*kept->events));
	}
	return NULL;
}

/* Returns whether kept counts suffice for an analysis. */
static bool counts_suffice(const struct sp_counts *run, const struct merged *merged)
{
	const struct sp_analysis_samples *samples = &merged->options->samples;
	return merged->recording_count == 1 &&
	       (!samples->timeline || run->options.samples.timeline);
}

/* Restores kept counts, for the rows of another analysis. */
static struct sp_error *restore_counts(struct sp_counts *run, const struct merged *merged,
				       const struct sp_recording *recording)
{
	bool timeline = run->options.samples.timeline;
	run->options = *merged->options;
	/* The next analysis may need the cells again. */
	run->options.samples.timeline = timeline;
	run->options.stacks.fold_python &= machine_has_python(run->read->machine);
	NEED(set_own_options(run, recording, merged->recordings));
	run->work.keys = &merged->keys;
	for (size_t i = 0; i < run->workers.count; i++) {
		struct worker *worker = &run->workers.items[i];
		struct counted *counted = &worker->counted;
		const struct kept_worker *kept = &run->kept[i];
		copy_items(counted->leaves.items, kept->leaves, counted->leaves.count,
			   sizeof(*kept->leaves));
		copy_items(counted->events, kept->events, event_count(run), sizeof(*kept->events));
		summed_deinit(&worker->summed);
		worker->summed = (struct summed){0};
	}
	labels_deinit(&run->labels);
	matches_deinit(&run->matches);
	run->matches = (struct matches){0};
	run->work.matches = NULL;
	return set_matches(run, merged);
}

/* Reads a recording, and counts its samples. */
static struct sp_error *count_recording(struct sp_counts *run, const struct merged *merged,
					const struct sp_recording *recording, size_t index)
{
	struct workers *workers = &run->workers;
	struct sp_reader *reader = recording->reader;
	NEED(run->read = calloc(1, sizeof(*run->read)));
	run->read->reader = reader;
	run->options = *merged->options;
	NEED(set_own_options(run, recording, &merged->recordings[index]));

	ctx_begin_step(run->ctx, SP_STEP_MAPPINGS, 0);
	TRY(read_pass_one_and_prepare(run, merged, reader));
	CLEANUP(ranges_deinit) struct file_ranges ranges = {0};
	size_t threads = has_counters(reader_layout(reader)) ? 1 : run->options.threads;
	TRY(ranges_make(&ranges, &run->read->sideband, threads));
	if (threads > ranges.count)
		threads = ranges.count ? ranges.count : 1;
	NEED(workers->items = calloc(threads, sizeof(*workers->items)));
	while (workers->count < threads)
		TRY(counted_init(&workers->items[workers->count++].counted, &run->work,
				 timeline_bin_shift(merged)));

	ctx_begin_step(run->ctx, SP_STEP_SAMPLES, size_of(&ranges));
	TRY(all_workers(workers, &ranges, PHASE_COUNT));
	reader_unmap(reader);
	TRY(timed_leaves_compute(workers, &run->times));
	TRY(repair_stacks(workers));
	TRY(all_workers(workers, &ranges, PHASE_RESOLVE));
	free_repairs(workers);
	TRY(timed_leaves_scale(workers, &run->times));
	NEED(lifetimes_finish(&run->read->sideband.lifetimes, span_of(workers).end_ns));
	return run->work.keeps ? copy_counts(run) : NULL;
}

struct sp_error *read_recording(struct sp_ctx *ctx, struct merged *merged,
				const struct sp_recording *recording, size_t index)
{
	struct merged_recording *of = &merged->recordings[index];
	struct sp_reader *reader = recording->reader;
	struct sp_counts **counts = merged->options->counts;
	if (merged->recording_count > 1)
		of->label = sp_reader_info(reader)->path;
	if (counts && *counts && !counts_suffice(*counts, merged)) {
		sp_counts_free(*counts);
		*counts = NULL;
	}
	CLEANUP(cleanup_sp_counts_free) struct sp_counts *made = NULL;
	struct sp_counts *run = counts ? *counts : NULL;
	if (run) {
		TRY(restore_counts(run, merged, recording));
	} else {
		NEED(made = calloc(1, sizeof(*made)));
		run = made;
		run->ctx = ctx;
		TRY(count_recording(run, merged, recording, index));
	}
	struct workers *workers = &run->workers;
	TRY(make_labels(run, merged->analysis));
	ctx_begin_step(ctx, SP_STEP_ROWS, 0);
	TRY(all_workers(workers, NULL, PHASE_ROWS));

	of->span = span_of(workers);
	TRY(merged_add(merged, of, workers));
	/* Symbols for which memory was too short would be shown as addresses. */
	NEED(!resolver_no_memory(run->read->resolver));
	const struct analysis_view view = {
		.read = run->read,
		.layout = reader_layout(reader),
		.work = &run->work,
		.names = &run->names,
		.workers = workers,
		.recording = of,
		.analysis = merged->analysis,
	};
	TRY(findings_find(&view));
	of->finding_count = merged->analysis->findings.count;
	if (run->options.samples.timeline && run->times.states && merged->weigher->of_threads &&
	    merged->recording_count == 1)
		merged->analysis->states = take_ptr(run->read->sideband.states);
	if (run->options.rows.annotate) {
		struct pass_one_result **kept = vec_push(&merged->analysis->files);
		NEED(kept);
		*kept = take_ptr(run->read);
	}
	if (run->kept && made)
		*counts = take_ptr(made);
	return NULL;
}
