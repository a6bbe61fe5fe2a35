/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two passes for each recording. The first reads the side-band and builds the machine, after which
 * any (pid, time, ip) has its meaning, in any order; the second takes the samples,
 * in ranges of the file, by as many threads as there are processors.
 */
#include <sprof/analysis.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "aggregate/make_profiles.h"
#include "aggregate/run.h"
#include "aggregate/sample_counter.h"
#include "aggregate/sample_reader.h"
#include "analysis/time_order.h"
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "file/reader_damage.h"
#include "findings/findings.h"
#include "sideband/pass_one.h"

/* Ranges are large enough to read well, and so many that threads end together. */
#define RANGE_MAX ((uint64_t)16 << 20)
#define RANGES_PER_THREAD 8

/* Larger stack copies are mapped: most of their bytes are not looked at. */
#define LARGE_COPY 4096

static const enum sp_key default_keys[] = {SP_KEY_COMM, SP_KEY_DSO, SP_KEY_FUNCTION};

DEFINE_CLEANUP(struct sp_analysis *, sp_analysis_free)

static void run_deinit(struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++)
		worker_deinit(&run->workers[i]);
	free(run->workers);
	deferred_deinit(&run->deferred);
	labels_deinit(&run->labels);
	matches_deinit(&run->matches);
	dump_unwind_deinit(&run->unwinding);
	names_deinit(&run->names);
	sideband_deinit(&run->sideband);
	resolver_free(run->resolver);
	machine_free(run->machine);
	free(run->totals);
	free(run->fields);
}

static struct label_options label_options(const struct run *run)
{
	return (struct label_options){
		.keys = run->work.keys,
		.tree = run->options.tree != SP_TREE_NONE || run->work.matches,
		.expand = run->options.inlines != SP_OFF,
		.tree_lines = run->options.tree_lines,
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

/* Debug information is searched only if a key or the tree needs it. */
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
	struct sp_error *error = labels_make(&run->labels, &run->names, &options,
					     &run->analysis->functions, &run->analysis->nodes);
	if (!error && run->work.matches)
		error = matches_find(&run->matches, &run->labels, run->work.keys);
	return error;
}

/* Counters' values are differences from one sample to the next: they need one reader. */
static bool has_counters(const struct record_layout *layout)
{
	for (size_t i = 0; i < layout->event_count; i++)
		if (layout->events[i].attr.sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

/* Ranges of the file, given out one by one. */
struct ranges {
	VEC(struct reader_extent);
	atomic_size_t next;
	atomic_bool stop; /* somebody failed */
};

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
		if (!range)
			return error_no_memory();
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

/* A step of the work, which all workers do at the same time, each its part. */
struct step {
	struct sp_error *(*work)(struct worker *worker, struct ranges *ranges);
	struct worker *workers;
	struct ranges *ranges;
	struct sp_error **errors; /* by worker */
};

/* Takes ranges until there are none left. */
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

/* Stacks are repaired with those that all workers saw; the first one's repair has them. */
static struct sp_error *repair_stacks(struct run *run)
{
	struct repair *all = run->worker_count ? run->workers[0].counted.stacks.repair : NULL;
	if (!all || !has_truncated(run))
		return NULL;
	for (size_t i = 1; i < run->worker_count; i++) {
		struct stacks *stacks = &run->workers[i].counted.stacks;
		/* If memory is short, some stacks stay truncated. */
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
	struct sp_error *error = count_truncated_samples(&worker->counted);
	return error ? error : chains_resolve(&worker->counted, &worker->resolved);
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
	if (!errors)
		return error_no_memory();
	struct step step = {.work = work, .workers = run->workers, .ranges = ranges,
			    .errors = errors};
	parallel_run((unsigned int)run->worker_count, do_part, &step);
	error = ctx_check(run->ctx);
	for (size_t i = 0; i < run->worker_count; i++)
		error = error_first(error, errors[i]);
	return error;
}

static void work_init(struct run *run, const struct merged *merged)
{
	const struct sp_analysis_options *options = &run->options;
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
		.only_leaves = options->branches ||
			       (!options->children && options->tree == SP_TREE_NONE),
		.replicates = merged->replicates,
		.sum_tasks = run->sideband.task_counts.count || run->sideband.lifetimes.events.count,
	};
	memcpy(work->keys, merged->keys, sizeof(work->keys));
	memcpy(work->group_keys, merged->keys, sizeof(work->group_keys));
	memcpy(work->detail_keys, merged->detail_keys, sizeof(work->detail_keys));
	for (size_t i = 0; i < work->detail_count; i++)
		work->has_texts |= key_is_text(work->detail_keys[i]);
	work->group_keys[SP_KEY_COMM] |= options->tree_comms;
	if (!options->branches && matches_wanted(options, work->keys[SP_KEY_PARENT])) {
		work->matches = &run->matches;
		work->only_leaves = false;
		work->by_stack = matches_filter(options) || options->parent_only;
	}
}

static struct sp_error *read_samples(struct run *run)
{
	size_t threads = has_counters(run->work.layout) ? 1 : run->threads;
	struct ranges ranges = {0};
	struct sp_error *error = ranges_make(&ranges, &run->sideband, threads);
	if (threads > ranges.count)
		threads = ranges.count ? ranges.count : 1;
	run->workers = calloc(threads, sizeof(*run->workers));
	if (!error && !run->workers)
		error = error_no_memory();
	if (!error && run->sideband.deferred_count) {
		run->work.deferred = &run->deferred;
		error = deferred_read(&run->deferred, run->reader, &run->sideband.splits,
				      run->threads);
	}
	while (!error && run->worker_count < threads)
		error = counted_init(&run->workers[run->worker_count++].counted, &run->work,
				     &run->names);
	ctx_begin_step(run->ctx, SP_STEP_SAMPLES, size_of(&ranges));
	if (!error)
		error = all_workers(run, &ranges, read_step);
	reader_unmap(run->reader);
	if (!error)
		error = repair_stacks(run);
	if (!error)
		error = all_workers(run, &ranges, resolve_step);
	free_repairs(run);
	if (!error)
		error = make_labels(run);
	ctx_begin_step(run->ctx, SP_STEP_ROWS, 0);
	if (!error)
		error = all_workers(run, &ranges, sum_step);
	vec_deinit(&ranges);
	return error;
}

static bool has_large_copies(const struct record_layout *layout)
{
	for (size_t i = 0; i < layout->event_count; i++)
		if (dump_unwind_has_dump(&layout->events[i].attr) &&
		    layout->events[i].attr.sample_stack_user >= LARGE_COPY)
			return true;
	return false;
}

/* The analysis of one recording, until its samples are rows of workers. */
static struct sp_error *read_recording(struct run *run, const struct merged *merged)
{
	run->threads = pass_one_threads(run->options.threads);
	ctx_begin_step(run->ctx, SP_STEP_MAPPINGS, 0);
	if (has_large_copies(reader_layout(run->reader)))
		reader_map(run->reader);
	const struct pass_one pass = {run->ctx, run->reader, &run->options.files, run->threads};
	struct sp_error *error = pass_one_read(&pass, &run->machine, &run->sideband);
	if (error)
		return error;
	error = pass_one_open(&pass, run->machine, &run->resolver, &run->unwinding);
	if (error)
		return error;
	work_init(run, merged);
	if (run->work.matches) {
		error = matches_init(&run->matches, &run->options, run->work.keys[SP_KEY_PARENT]);
		if (error)
			return error;
	}
	error = open_names(run);
	return error ? error : read_samples(run);
}

/* Sets what a recording has in place of the options of all. False when out of memory. */
static bool set_own_options(struct run *run, const struct sp_recording *recording)
{
	struct sp_analysis_options *options = &run->options;
	size_t count = options->field_count;
	if (recording->times) {
		options->filter.times = recording->times;
		options->filter.time_count = recording->time_count;
	}
	options->time_origin_ns = recording->time_origin_ns;
	/* Fields name events by their numbers among all recordings' events. */
	run->fields = calloc(count + 1, sizeof(*run->fields));
	if (!run->fields)
		return false;
	for (size_t i = 0; i < count; i++) {
		run->fields[i] = options->fields[i];
		int32_t event = options->fields[i].event;
		run->fields[i].event = event < 0 ? -1 : SP_EVENT_NONE;
		for (size_t j = 0; event >= 0 && j < run->event_count; j++)
			if (run->number_of[j] == event)
				run->fields[i].event = (int32_t)j;
	}
	options->fields = run->fields;
	return true;
}

static struct sp_error *run_all(struct run *run, struct merged *merged, size_t index)
{
	struct sp_error *error = read_recording(run, merged);
	if (error)
		return error;
	error = merged_add(merged, run, index);
	if (error)
		return error;
	/* Symbols that memory was too short for would be shown as addresses. */
	if (resolver_no_memory(run->resolver))
		return error_no_memory();
	error = findings_find(run);
	merged->recordings[index].finding_count = run->analysis->findings.count;
	return error;
}

static struct sp_error *add_recording(struct sp_ctx *ctx, struct merged *merged,
				      const struct sp_recording *recording, size_t index)
{
	struct run run = {
		.ctx = ctx,
		.reader = recording->reader,
		.options = *merged->options,
		.analysis = merged->analysis,
		.label = merged->recording_count > 1 ? sp_reader_info(recording->reader)->path : NULL,
		.number_of = merged->recordings[index].events,
		.event_count = merged->recordings[index].event_count,
	};
	struct sp_error *error = set_own_options(&run, recording) ?
					 run_all(&run, merged, index) : error_no_memory();
	reader_unmap(run.reader);
	run_deinit(&run);
	return error;
}

static struct sp_error *analyse_all(struct sp_ctx *ctx, const struct sp_recording *recordings,
				    size_t count, struct merged *merged)
{
	for (size_t i = 0; i < count; i++) {
		struct sp_error *error = add_recording(ctx, merged, &recordings[i], i);
		if (error)
			return error;
	}
	struct sp_error *error = profiles_make(merged);
	if (error)
		return error;
	if (!order_rows_by_time(merged->analysis, merged->options))
		return error_no_memory();
	merged_weigh_findings(merged);
	return findings_order(merged->analysis);
}

static struct sp_error *analyse_once(struct sp_ctx *ctx, const struct sp_recording *recordings,
				     size_t count, const struct sp_analysis_options *options,
				     struct sp_analysis **ret)
{
	CLEANUP(cleanup_sp_analysis_free) struct sp_analysis *analysis =
		calloc(1, sizeof(*analysis));
	if (!analysis)
		return error_no_memory();
	struct sp_analysis_options all = *options;
	if (!options->key_count) {
		all.keys = default_keys;
		all.key_count = sizeof(default_keys) / sizeof(*default_keys);
	}
	struct merged merged = {0};
	struct sp_error *error = merged_init(&merged, analysis, &all, recordings, count);
	if (!error)
		error = analyse_all(ctx, recordings, count, &merged);
	merged_deinit(&merged);
	/* Many steps report a cancellation as any other end of theirs, out of memory. */
	if (ctx_cancelled(ctx)) {
		sp_error_free(error);
		return ctx_check(ctx);
	}
	if (!error)
		*ret = take_ptr(analysis);
	return error;
}

/* Analyses again if samples had swallowed records that were not seen as such. */
static struct sp_error *analyse(struct sp_ctx *ctx, const struct sp_recording *recordings,
				size_t count, const struct sp_analysis_options *options,
				struct sp_analysis **ret)
{
	CLEANUP_FREE bool *exact = calloc(count + 1, sizeof(*exact));
	bool missed = false;
	if (!exact)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		exact[i] = reader_is_exact(recordings[i].reader);
	struct sp_error *error = analyse_once(ctx, recordings, count, options, ret);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		missed |= pass_one_missed_records(recordings[i].reader, exact[i]);
	if (!missed)
		return NULL;
	sp_analysis_free(take_ptr(*ret));
	return analyse_once(ctx, recordings, count, options, ret);
}

struct sp_error *sp_analysis_sum(struct sp_ctx *ctx, const struct sp_recording *recordings,
				 size_t count, const struct sp_analysis_options *options,
				 struct sp_analysis **ret)
{
	struct sp_analysis_options copy;
	struct sp_error *error = sized_copy(&copy, sizeof(copy), options);
	return error ? error : analyse(ctx, recordings, count, &copy, ret);
}

struct sp_error *sp_analysis_run(struct sp_ctx *ctx, struct sp_reader *reader,
				 const struct sp_analysis_options *options,
				 struct sp_analysis **ret)
{
	struct sp_analysis_options copy;
	struct sp_error *error = sized_copy(&copy, sizeof(copy), options);
	if (error)
		return error;
	const struct sp_recording recording = {.reader = reader,
					       .time_origin_ns = copy.time_origin_ns};
	return analyse(ctx, &recording, 1, &copy, ret);
}

void sp_analysis_free(struct sp_analysis *analysis)
{
	if (!analysis)
		return;
	functions_deinit(&analysis->functions);
	functions_deinit(&analysis->nodes);
	srcfiles_deinit(&analysis->row_files);
	srcfiles_deinit(&analysis->node_files);
	strtab_deinit(&analysis->strings);
	arena_deinit(&analysis->arena);
	time_bins_free(analysis->time_bins, analysis->profile_count);
	free(analysis->profiles);
	event_groups_deinit(&analysis->groups);
	vec_deinit(&analysis->events);
	vec_deinit(&analysis->findings);
	vec_deinit(&analysis->notes);
	free(analysis);
}

size_t sp_analysis_profile_count(const struct sp_analysis *analysis)
{
	return analysis->profile_count;
}

const struct sp_profile *sp_analysis_profile(const struct sp_analysis *analysis, size_t index)
{
	assert(index < analysis->profile_count);
	return &analysis->profiles[index];
}

const struct sp_event *sp_analysis_event(const struct sp_analysis *analysis, size_t index)
{
	assert(index < analysis->events.count);
	return analysis->events.items[index];
}

size_t sp_analysis_group_count(const struct sp_analysis *analysis)
{
	return analysis->groups.count;
}

const struct sp_group *sp_analysis_group(const struct sp_analysis *analysis, size_t index)
{
	assert(index < analysis->groups.count);
	return &analysis->groups.items[index];
}

uint64_t sp_analysis_first_ns(const struct sp_analysis *analysis)
{
	return analysis->first_ns;
}

uint64_t sp_analysis_last_ns(const struct sp_analysis *analysis)
{
	return analysis->last_ns;
}

uint64_t sp_analysis_duration_ns(const struct sp_analysis *analysis)
{
	return analysis->duration_ns;
}

struct sp_time_bins sp_analysis_time_bins(const struct sp_analysis *analysis, size_t index)
{
	const struct time_bins *bins = analysis->time_bins ? analysis->time_bins[index] : NULL;
	if (!bins)
		return (struct sp_time_bins){0};
	return (struct sp_time_bins){
		.begin_ns = bins->lowest << bins->shift,
		.width_ns = UINT64_C(1) << bins->shift,
		.samples = bins->counts + (bins->lowest - bins->first),
		.count = (size_t)(bins->highest - bins->lowest + 1),
	};
}

size_t sp_analysis_finding_count(const struct sp_analysis *analysis)
{
	return analysis->findings.count;
}

const struct sp_finding *sp_analysis_finding(const struct sp_analysis *analysis, size_t index)
{
	assert(index < analysis->findings.count);
	return &analysis->findings.items[index];
}
