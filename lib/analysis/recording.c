/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/recording.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "rows/mode_scale.h"
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

void run_deinit(struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++)
		worker_deinit(&run->workers[i]);
	free(run->workers);
	deferred_deinit(&run->deferred);
	labels_deinit(&run->labels);
	matches_deinit(&run->matches);
	dump_unwind_deinit(&run->unwinding);
	mode_times_deinit(&run->mode_times);
	mode_deinit(&run->mode);
	free(run->frame_reasons);
	names_deinit(&run->names);
	resolver_free(run->resolver);
	sideband_deinit(&run->sideband);
	machine_free(run->machine);
	free(run->totals);
	free(run->fields);
}

static struct label_options label_options(const struct run *run)
{
	return (struct label_options){
		.keys = run->work.keys,
		.tree = run->options.tree.order != SP_TREE_NONE || run->work.matches,
		.expand = run->options.stacks.inlines != SP_OFF,
		.tree_lines = run->options.tree.lines,
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

/* Opens the symbols. Debug information is searched only if a key or the tree needs it. */
static struct sp_error *open_names(struct run *run)
{
	const struct label_options options = label_options(run);
	const struct source_finder finder = {has_sources, find_sources, run};
	bool needed = labels_need_sources(&options);
	return names_init(&run->names, run->machine, run->resolver, needed ? &finder : NULL,
			  &run->options);
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
		TRY(matches_find(&run->matches, &run->labels, run->work.keys));
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
struct ranges {
	VEC(struct reader_extent);
	atomic_size_t next;
	atomic_bool stop; /* a thread failed */
};

static void ranges_deinit(struct ranges *ranges)
{
	vec_deinit(ranges);
}

static struct sp_error *ranges_make(struct ranges *ranges, const struct sideband *sideband,
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

static uint64_t size_of(const struct ranges *ranges)
{
	uint64_t size = 0;
	for (size_t i = 0; i < ranges->count; i++)
		size += ranges->items[i].end - ranges->items[i].begin;
	return size;
}

/* One step of the work, which all workers do in parallel, each with its own part. */
struct step {
	struct sp_error *(*work)(struct worker *worker, struct ranges *ranges);
	struct worker *workers;
	struct ranges *ranges;
	struct sp_error **errors; /* errors of the workers, by worker */
};

/* Counts samples of ranges until none is left. */
static struct sp_error *read_step(struct worker *worker, struct ranges *ranges)
{
	struct sp_error *error = NULL;
	while (!error && !atomic_load(&ranges->stop)) {
		size_t next = atomic_fetch_add(&ranges->next, 1);
		if (next >= ranges->count)
			return NULL;
		const struct reader_extent *range = &ranges->items[next];
		error = count_extent(&worker->counted, *range);
		ctx_add_done(worker->counted.work->ctx, range->end - range->begin);
	}
	atomic_store(&ranges->stop, true);
	return error;
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
		(void)repair_merge(all, stacks->repair, &run->workers[i].counted.repair_offset);
		repair_free(stacks->repair);
		stacks->repair = NULL;
	}
	for (size_t i = 0; i < run->worker_count; i++)
		run->workers[i].counted.repaired = all;
	return repair_settle(all) ? NULL : error_no_memory();
}

static void free_repairs(struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		repair_free(run->workers[i].counted.stacks.repair);
		run->workers[i].counted.stacks.repair = NULL;
	}
}

static struct sp_error *resolve_step(struct worker *worker, struct ranges *ranges)
{
	(void)ranges;
	TRY(count_truncated_samples(&worker->counted));
	return chains_resolve(&worker->counted, &worker->resolved);
}

static struct sp_error *sum_step(struct worker *worker, struct ranges *ranges)
{
	(void)ranges;
	return rows_make(&worker->resolved, &worker->summed);
}

static void do_part(void *arg, unsigned int i)
{
	const struct step *step = arg;
	step->errors[i] = step->work(&step->workers[i], step->ranges);
}

static struct sp_error *all_workers(struct run *run, struct ranges *ranges,
				    struct sp_error *(*work)(struct worker *, struct ranges *))
{
	CLEANUP_FREE struct sp_error **errors = calloc(run->worker_count, sizeof(*errors));
	struct sp_error *error = NULL;
	NEED(errors);
	struct step step = {.work = work, .workers = run->workers, .ranges = ranges,
			    .errors = errors};
	parallel_run((unsigned int)run->worker_count, do_part, &step);
	error = ctx_check(run->ctx);
	for (size_t i = 0; i < run->worker_count; i++)
		error = error_first(error, errors[i]);
	return error;
}

/* Returns whether the number of threads that could run is needed at each time. */
static bool wants_parallelism(const struct run *run, const struct merged *merged)
{
	return run->options.samples.mode == SP_MODE_LATENCY || run->options.filter.parallelism.count ||
	       merged->keys[SP_KEY_PARALLELISM];
}

/* Returns whether the states of threads over time are needed. They cost memory for each switch. */
static bool wants_states(const struct run *run, const struct merged *merged)
{
	return run->options.samples.mode != SP_MODE_CPU || wants_parallelism(run, merged);
}

static void work_init(struct run *run, const struct merged *merged)
{
	const struct analysis_options *options = &run->options;
	struct work *work = &run->work;
	*work = (struct work){
		.ctx = run->ctx,
		.reader = run->reader,
		.layout = reader_layout(run->reader),
		.machine = run->machine,
		.sideband = &run->sideband,
		.unwinding = &run->unwinding,
		.options = options,
		.labels = &run->labels,
		.detail_count = merged->detail_count,
		.only_leaves = options->samples.branches ||
			       (!options->rows.children && options->tree.order == SP_TREE_NONE),
		.replicates = merged->replicates,
		.bin_shift = timeline_bin_shift(merged),
		.sum_tasks = run->sideband.task_counts.count || run->sideband.lifetimes.events.count,
	};
	memcpy(work->keys, merged->keys, sizeof(work->keys));
	memcpy(work->group_keys, merged->keys, sizeof(work->group_keys));
	memcpy(work->detail_keys, merged->detail_keys, sizeof(work->detail_keys));
	for (size_t i = 0; i < work->detail_count; i++)
		work->has_traces |= key_is_trace(work->detail_keys[i]);
	work->group_keys[SP_KEY_COMM] |= options->tree.comms;
	if (run->sideband.states && wants_parallelism(run, merged))
		work->states = run->sideband.states;
	work->mode = options->samples.mode == SP_MODE_CPU ? NULL : &run->mode;
	work->has_wakers = work->mode && (options->samples.mode == SP_MODE_WAKERS ||
					  work->keys[SP_KEY_WAKER] || work->keys[SP_KEY_WAKEE]);
	work->by_state = work->mode && (work->keys[SP_KEY_STATE] || work->keys[SP_KEY_WAITS_FOR]);
	if (work->mode)
		work->only_leaves = false; /* reasons of waits are in the callers */
	if (!options->samples.branches && matches_wanted(options, work->keys[SP_KEY_PARENT])) {
		work->matches = &run->matches;
		work->only_leaves = false;
		work->by_stack = matches_filter(options) || options->rows.parent_only;
	}
}

static struct sp_error *make_workers(struct run *run, size_t threads)
{
	run->workers = calloc(threads, sizeof(*run->workers));
	NEED(run->workers);
	while (run->worker_count < threads) {
		struct worker *worker = &run->workers[run->worker_count++];
		TRY(counted_init(&worker->counted, &run->work, &run->names));
	}
	return NULL;
}

/* Resolves the counted chains. Stacks must be repaired before. */
static struct sp_error *resolve_chains(struct run *run, struct ranges *ranges)
{
	struct sp_error *error = repair_stacks(run);
	if (!error)
		error = all_workers(run, ranges, resolve_step);
	free_repairs(run);
	return error;
}

static struct sp_error *read_ranges(struct run *run, struct ranges *ranges)
{
	ctx_begin_step(run->ctx, SP_STEP_SAMPLES, size_of(ranges));
	struct sp_error *error = all_workers(run, ranges, read_step);
	reader_unmap(run->reader);
	if (error)
		return error;
	if (run->work.mode)
		TRY(mode_add_rests(run));
	TRY(resolve_chains(run, ranges));
	if (run->work.mode)
		TRY(mode_scale(run));
	TRY(make_labels(run));
	ctx_begin_step(run->ctx, SP_STEP_ROWS, 0);
	return all_workers(run, ranges, sum_step);
}

static struct sp_error *read_samples(struct run *run)
{
	size_t threads = has_counters(run->work.layout) ? 1 : run->threads;
	CLEANUP(ranges_deinit) struct ranges ranges = {0};
	TRY(ranges_make(&ranges, &run->sideband, threads));
	if (run->sideband.deferred_count) {
		run->work.deferred = &run->deferred;
		TRY(deferred_read(&run->deferred, run->reader, run->sideband.splits.items,
				  run->sideband.splits.count, run->threads));
	}
	if (threads > ranges.count)
		threads = ranges.count ? ranges.count : 1;
	TRY(make_workers(run, threads));
	return read_ranges(run, &ranges);
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
	const struct mode_source source = {run->reader, states, &run->sideband.sched};
	struct sp_error *error = NULL;
	if (known && wants_parallelism(run, merged))
		error = task_states_add_latency(states);
	if (!error && run->work.mode)
		error = mode_init(&run->mode, &source, &run->options, run->work.keys[SP_KEY_WAKER]);
	if (!error && !known && !run->work.mode && wants_parallelism(run, merged))
		error = mode_no_switches(run->reader, "parallelism");
	return error;
}

struct sp_error *recording_read(struct run *run, const struct merged *merged)
{
	run->threads = parallel_threads(run->options.threads);
	ctx_begin_step(run->ctx, SP_STEP_MAPPINGS, 0);
	if (has_large_copies(reader_layout(run->reader)))
		reader_map(run->reader);
	const struct pass_one pass = {
		.ctx = run->ctx,
		.reader = run->reader,
		.files = &run->options.files,
		.threads = run->threads,
		.names = run->options.names,
		.states = wants_states(run, merged),
	};
	TRY(pass_one_read(&pass, &run->machine, &run->sideband));
	TRY(pass_one_open(&pass, run->machine, &run->sideband, &run->resolver, &run->unwinding));
	work_init(run, merged);
	TRY(open_states(run, merged));
	if (run->work.matches)
		TRY(matches_init(&run->matches, &run->options, run->work.keys[SP_KEY_PARENT]));
	TRY(open_names(run));
	return read_samples(run);
}

