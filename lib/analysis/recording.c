/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of the calls. Each step needs the results of the steps above it:
 *
 *	pass_one_read(), pass_one_open()   machine, states of threads; symbols, unwinder
 *	work_init(), open_states()         constants of the workers, and what the mode needs
 *	PHASE_COUNT    count_extent()      samples by stack
 *	               timed_leaves_add_rests()  time of threads without samples (times/times.h)
 *	               repair_stacks()     truncated stacks of all workers
 *	PHASE_RESOLVE  chains_resolve()    frames
 *	               timed_leaves_scale()  times of samples
 *	               make_labels()       functions, inlined ones included
 *	PHASE_ROWS     rows_make()         rows and tree nodes by worker
 *	merged_add(), findings_find()      rows of all workers and recordings; limits of the result
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

static void run_deinit(struct run *run)
{
	reader_unmap(run->reader);
	for (size_t i = 0; i < run->worker_count; i++)
		worker_deinit(&run->workers[i]);
	free(run->workers);
	deferred_deinit(&run->deferred);
	labels_deinit(&run->labels);
	matches_deinit(&run->matches);
	dump_unwind_deinit(&run->unwinding);
	times_deinit(&run->times);
	names_deinit(&run->names);
	resolver_free(run->resolver);
	sideband_deinit(&run->sideband);
	machine_free(run->machine);
	free(run->totals);
	free(run->fields);
}

/*
 * Sets the options that a recording has in place of those of all. Returns false when out of memory.
 */
static bool set_own_options(struct run *run, const struct sp_recording *recording)
{
	struct analysis_options *options = &run->options;
	size_t count = options->rows.field_count;
	if (recording->times) {
		options->filter.times = recording->times;
		options->filter.time_count = recording->time_count;
	}
	options->rows.time_origin_ns = recording->time_origin_ns;
	/* Fields name events by their numbers among the events of all recordings. */
	run->fields = calloc(count + 1, sizeof(*run->fields));
	if (!run->fields)
		return false;
	for (size_t i = 0; i < count; i++) {
		run->fields[i] = options->rows.fields[i];
		int32_t event = options->rows.fields[i].event;
		run->fields[i].event = event < 0 ? -1 : SP_EVENT_NONE;
		for (size_t j = 0; event >= 0 && j < run->event_count; j++)
			if (run->number_of[j] == event)
				run->fields[i].event = (int32_t)j;
	}
	options->rows.fields = run->fields;
	return true;
}

static struct label_options label_options(const struct run *run)
{
	return (struct label_options){
		.keys = run->work.keys->rows,
		.tree = run->options.tree.order != SP_TREE_NONE || run->work.matches,
		.expand = run->options.stacks.inlines != SP_OFF,
		.fold_python = run->options.stacks.fold_python,
		.tree_lines = run->options.tree.lines,
		.tree_addresses = run->options.tree.addresses,
		.instructions = run->options.rows.instructions,
		.threads = run->threads,
		.ctx = run->ctx,
	};
}

static bool has_sources(void *arg, const struct module *module, uint32_t pid)
{
	struct run *run = arg;
	return resolver_has_sources(run->resolver, module, pid);
}

static struct sp_error *find_sources(void *arg, const struct source_query *query,
				     struct source_frames *ret)
{
	struct run *run = arg;
	struct sp_error *error = resolver_sources(run->resolver, query, ret);
	ctx_add_done(run->ctx, query->count);
	return error;
}

static struct sp_error *make_labels(struct run *run)
{
	const struct label_options options = label_options(run);
	size_t sourced = 0;
	for (size_t i = 0; i < run->names.frames.count; i++)
		sourced += run->names.frames.items[i].sourced;
	ctx_begin_step(run->ctx, SP_STEP_NAMES, sourced);
	TRY(labels_make(&run->labels, &run->names, &options, &run->analysis->functions,
			&run->analysis->nodes));
	if (run->work.matches)
		TRY(matches_find(&run->matches, &run->labels, run->work.keys->rows));
	return NULL;
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
	for (size_t i = 0; i < ranges->count; i++)
		size += ranges->items[i].end - ranges->items[i].begin;
	return size;
}

static bool has_truncated(const struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++)
		if (run->workers[i].counted.truncated.count)
			return true;
	return false;
}

/* Repairs stacks with the complete stacks of all workers, which the first worker's repair collects. */
static struct sp_error *repair_stacks(struct run *run)
{
	struct repair *all = run->worker_count ? run->workers[0].counted.stacks.repair : NULL;
	if (!all || !has_truncated(run))
		return NULL;
	for (size_t i = 1; i < run->worker_count; i++) {
		struct stacks *stacks = &run->workers[i].counted.stacks;
		/* If memory is exhausted, some stacks stay truncated. */
		(void)repair_merge(all, stacks->repair,
				   &run->workers[i].counted.truncated.repair_offset);
		repair_free(stacks->repair);
		stacks->repair = NULL;
	}
	for (size_t i = 0; i < run->worker_count; i++)
		run->workers[i].counted.truncated.repaired = all;
	return repair_settle(all) ? NULL : error_no_memory();
}

static void free_repairs(struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		repair_free(run->workers[i].counted.stacks.repair);
		run->workers[i].counted.stacks.repair = NULL;
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

static struct sp_error *all_workers(struct run *run, struct file_ranges *ranges,
				    enum phase_kind kind)
{
	CLEANUP_FREE struct sp_error **errors = calloc(run->worker_count, sizeof(*errors));
	NEED(errors);
	struct phase phase = {kind, run->workers, ranges, errors};
	parallel_run((unsigned int)run->worker_count, run_phase, &phase);
	struct sp_error *error = ctx_check(run->ctx);
	for (size_t i = 0; i < run->worker_count; i++)
		error = error_first(error, errors[i]);
	return error;
}

/* Returns whether the number of threads that could run is needed at each time. */
static bool wants_parallelism(const struct run *run, const struct merged *merged)
{
	return merged->weigher->needs_parallelism || run->options.filter.parallelism.count ||
	       merged->keys.rows[SP_KEY_PARALLELISM];
}

/* Returns whether the states of threads over time are needed. They cost memory for each switch. */
static bool wants_states(const struct run *run, const struct merged *merged)
{
	const struct weigher *weigher = merged->weigher;
	return weigher->of_threads || wants_parallelism(run, merged) ||
	       (weigher->wants_states && weigher->wants_states(run->reader));
}

static void work_init(struct run *run, const struct merged *merged)
{
	struct analysis_options *options = &run->options;
	struct work *work = &run->work;
	options->stacks.fold_python &= machine_has_python(run->machine);
	*work = (struct work){
		.ctx = run->ctx,
		.reader = run->reader,
		.layout = reader_layout(run->reader),
		.machine = run->machine,
		.sideband = &run->sideband,
		.unwinding = &run->unwinding,
		.options = options,
		.labels = &run->labels,
		.keys = &merged->keys,
		.times = &run->times,
		.only_leaves = options->samples.branches ||
			       (!options->rows.children && options->tree.order == SP_TREE_NONE),
	};
	if (merged->weigher->of_threads)
		work->only_leaves = false; /* reasons of waits are in the callers */
	if (!options->samples.branches &&
	    matches_wanted(options, work->keys->rows[SP_KEY_PARENT])) {
		work->matches = &run->matches;
		work->only_leaves = false;
	}
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
static struct sp_error *open_states(struct run *run, const struct merged *merged)
{
	struct task_states *states = run->sideband.states;
	bool known = states && task_states_known(states);
	const struct times_source source = {merged->weigher, run->reader, states,
					    &run->sideband.sched, run->machine,
					    run->sideband.command_ns};
	if (known && wants_parallelism(run, merged))
		TRY(task_states_add_latency(states));
	TRY(times_init(&run->times, &source, &run->options, run->work.keys));
	if (!known && !merged->weigher->of_threads && wants_parallelism(run, merged))
		return times_no_switches(run->reader, "parallelism");
	return NULL;
}

struct sp_error *read_recording(struct sp_ctx *ctx, struct merged *merged,
				const struct sp_recording *recording, size_t index)
{
	CLEANUP(run_deinit) struct run run = {
		.ctx = ctx,
		.reader = recording->reader,
		.options = *merged->options,
		.analysis = merged->analysis,
		.label = merged->recording_count > 1 ? sp_reader_info(recording->reader)->path
						     : NULL,
		.number_of = merged->recordings[index].events,
		.event_count = merged->recordings[index].event_count,
		.threads = parallel_threads(merged->options->threads),
	};
	NEED(set_own_options(&run, recording));

	ctx_begin_step(ctx, SP_STEP_MAPPINGS, 0);
	if (has_large_copies(reader_layout(run.reader)))
		reader_map(run.reader);
	const struct pass_one pass = {
		.ctx = ctx,
		.reader = run.reader,
		.files = &run.options.files,
		.threads = run.threads,
		.names = run.options.names,
		.states = wants_states(&run, merged),
	};
	TRY(pass_one_read(&pass, &run.machine, &run.sideband));
	TRY(pass_one_open(&pass, run.machine, &run.sideband, &run.resolver, &run.unwinding));
	work_init(&run, merged);
	TRY(open_states(&run, merged));
	if (run.work.matches)
		TRY(matches_init(&run.matches, &run.options, run.work.keys->rows[SP_KEY_PARENT]));
	/* Debug information is searched only if a key or the tree needs it. */
	const struct label_options labels = label_options(&run);
	const struct source_finder finder = {has_sources, find_sources, &run};
	TRY(names_init(&run.names, run.machine, run.resolver,
		       labels_need_sources(&labels) ? &finder : NULL, &run.options));

	CLEANUP(ranges_deinit) struct file_ranges ranges = {0};
	size_t threads = has_counters(run.work.layout) ? 1 : run.threads;
	TRY(ranges_make(&ranges, &run.sideband, threads));
	if (run.sideband.deferred_count) {
		run.work.deferred = &run.deferred;
		TRY(deferred_read(&run.deferred, run.reader, run.sideband.splits.items,
				  run.sideband.splits.count, run.threads));
	}
	if (threads > ranges.count)
		threads = ranges.count ? ranges.count : 1;
	NEED(run.workers = calloc(threads, sizeof(*run.workers)));
	while (run.worker_count < threads)
		TRY(counted_init(&run.workers[run.worker_count++].counted, &run.work, &run.names,
				 timeline_bin_shift(merged)));
	ctx_begin_step(ctx, SP_STEP_SAMPLES, size_of(&ranges));
	TRY(all_workers(&run, &ranges, PHASE_COUNT));
	reader_unmap(run.reader);
	TRY(timed_leaves_add_rests(&run));
	TRY(repair_stacks(&run));
	TRY(all_workers(&run, &ranges, PHASE_RESOLVE));
	free_repairs(&run);
	TRY(timed_leaves_scale(&run));
	TRY(make_labels(&run));
	ctx_begin_step(ctx, SP_STEP_ROWS, 0);
	TRY(all_workers(&run, &ranges, PHASE_ROWS));

	TRY(merged_add(merged, &run, index));
	/* Symbols for which memory was too short would be shown as addresses. */
	NEED(!resolver_no_memory(run.resolver));
	const struct analysis_view view = {
		.work = &run.work,
		.names = &run.names,
		.workers = run.workers, .worker_count = run.worker_count,
		.totals = run.totals, .label = run.label,
		.span = {run.first_ns, run.last_ns},
		.analysis = run.analysis,
	};
	struct sp_error *error = findings_find(&view);
	merged->recordings[index].finding_count = run.analysis->findings.count;
	if (!error && run.options.samples.timeline && run.times.states &&
	    merged->weigher->of_threads && merged->recording_count == 1)
		run.analysis->states = take_ptr(run.sideband.states);
	return error;
}
