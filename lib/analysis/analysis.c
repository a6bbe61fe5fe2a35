/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Analyses recordings: reads each one, adds it to the merged result, and releases it. */
#include <sprof/analysis.h>

#include <assert.h>
#include <stdlib.h>
#include "analysis/recording.h"
#include "analysis/time_order.h"
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "file/reader_damage.h"
#include "findings/findings.h"
#include "rows/make_profiles.h"
#include "sideband/pass_one.h"

DEFINE_CLEANUP(struct sp_analysis *, sp_analysis_free)
DEFINE_CLEANUP(struct sp_names *, sp_names_free)

/* Sets the options that a recording has in place of those of all. Returns false when out of memory. */
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

static struct sp_error *run_all(struct run *run, struct merged *merged, size_t index)
{
	TRY(recording_read(run, merged));
	TRY(merged_add(merged, run, index));
	/* Symbols for which memory was too short would be shown as addresses. */
	if (resolver_no_memory(run->resolver))
		return error_no_memory();
	struct sp_error *error = findings_find(run);
	merged->recordings[index].finding_count = run->analysis->findings.count;
	if (!error && run->options.samples.timeline && run->mode.states && merged->recording_count == 1)
		run->analysis->states = take_ptr(run->sideband.states);
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
	for (size_t i = 0; i < count; i++)
		TRY(add_recording(ctx, merged, &recordings[i], i));
	TRY(profiles_make(merged));
	NEED(order_rows_by_time(merged->analysis, merged->options));
	merged_scale_findings(merged);
	return findings_order(merged->analysis);
}

static struct sp_error *analyse_once(struct sp_ctx *ctx, const struct sp_recording *recordings,
				     size_t count, const struct analysis_options *options,
				     struct sp_analysis **ret)
{
	CLEANUP(cleanup_sp_analysis_free) struct sp_analysis *analysis =
		calloc(1, sizeof(*analysis));
	NEED(analysis);
	struct merged merged = {0};
	struct sp_error *error = merged_init(&merged, analysis, options, recordings, count);
	if (!error)
		error = analyse_all(ctx, recordings, count, &merged);
	merged_deinit(&merged);
	/* Many steps stop at a cancellation as if memory were exhausted. */
	if (ctx_cancelled(ctx)) {
		sp_error_free(error);
		return ctx_check(ctx);
	}
	if (!error)
		*ret = take_ptr(analysis);
	return error;
}

/* Analyses again if samples contained records that pass one did not see. */
static struct sp_error *analyse(struct sp_ctx *ctx, const struct sp_recording *recordings,
				size_t count, const struct analysis_options *options,
				struct sp_analysis **ret)
{
	CLEANUP_FREE bool *exact = calloc(count + 1, sizeof(*exact));
	bool missed = false;
	NEED(exact);
	for (size_t i = 0; i < count; i++)
		exact[i] = reader_is_exact(recordings[i].reader);
	TRY(analyse_once(ctx, recordings, count, options, ret));
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
	struct analysis_options copy;
	CLEANUP(cleanup_sp_names_free) struct sp_names *names = NULL;
	TRY(analysis_options_copy(&copy, options));
	/* Several recordings of one program share most names. */
	if (!copy.names && count > 1) {
		TRY(sp_names_new(&names));
		copy.names = names;
	}
	return analyse(ctx, recordings, count, &copy, ret);
}

struct sp_error *sp_analysis_run(struct sp_ctx *ctx, struct sp_reader *reader,
				 const struct sp_analysis_options *options,
				 struct sp_analysis **ret)
{
	struct analysis_options copy;
	TRY(analysis_options_copy(&copy, options));
	const struct sp_recording recording = {.reader = reader,
					       .time_origin_ns = copy.rows.time_origin_ns};
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
	for (size_t i = 0; analysis->timelines && i < analysis->profile_count; i++)
		event_timeline_deinit(&analysis->timelines[i]);
	free(analysis->timelines);
	vec_deinit(&analysis->threads);
	task_states_free(analysis->states);
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
