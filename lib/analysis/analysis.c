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
#include "base/vec.h"
#include "file/reader_damage.h"
#include "findings/findings.h"
#include "rows/make_profiles.h"
#include "sideband/pass_one.h"

DEFINE_CLEANUP(struct sp_analysis *, sp_analysis_free)
DEFINE_CLEANUP(struct sp_names *, sp_names_free)

/* Analyses again if samples contained records that pass one did not see. */
static struct sp_error *analyse(struct sp_ctx *ctx, const struct sp_recording *recordings,
				size_t count, const struct analysis_options *options,
				struct sp_analysis **ret)
{
	CLEANUP_FREE bool *exact = calloc(count + 1, sizeof(*exact));
	NEED(exact);
	for (size_t i = 0; i < count; i++)
		exact[i] = reader_is_exact(recordings[i].reader);
	for (bool is_first = true, missed = false;; is_first = missed = false) {
		CLEANUP(cleanup_sp_analysis_free) struct sp_analysis *analysis =
			calloc(1, sizeof(*analysis));
		NEED(analysis);
		CLEANUP(merged_deinit) struct merged merged = {0};
		struct sp_error *error = merged_init(&merged, analysis, options, recordings, count);
		for (size_t i = 0; i < count && !error; i++)
			error = read_recording(ctx, &merged, &recordings[i], i);
		if (!error)
			error = profiles_make(&merged);
		if (!error && !order_rows_by_time(analysis, options))
			error = error_no_memory();
		if (!error) {
			merged_scale_findings(&merged);
			error = findings_order(analysis);
		}
		/* Many steps stop at a cancellation as if memory were exhausted. */
		if (ctx_cancelled(ctx)) {
			sp_error_free(error);
			return ctx_check(ctx);
		}
		if (error)
			return error;
		for (size_t i = 0; i < count && is_first; i++)
			missed |= pass_one_missed_records(recordings[i].reader, exact[i]);
		if (!missed) {
			*ret = take_ptr(analysis);
			return NULL;
		}
		if (options->counts) {
			sp_counts_free(*options->counts);
			*options->counts = NULL;
		}
	}
}

struct sp_error *sp_analysis_sum(struct sp_ctx *ctx, const struct sp_recording *recordings,
				 size_t count, const struct sp_analysis_options *options,
				 struct sp_analysis **ret)
{
	struct analysis_options copy;
	CLEANUP(cleanup_sp_names_free) struct sp_names *names = NULL;
	TRY(analysis_options_copy(&copy, options));
	/* Several recordings of one program share most names. */
	if (!copy.names && count > 1 && !copy.rows.annotate) {
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
	vec_each (file, &analysis->files)
		pass_one_free(*file);
	vec_deinit(&analysis->files);
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

DEFINE_GETTER(sp_analysis_profile, sp_profile, sp_analysis, profiles, profile_count)

const struct sp_event *sp_analysis_event(const struct sp_analysis *analysis, size_t index)
{
	assert(index < analysis->events.count);
	return analysis->events.items[index];
}

size_t sp_analysis_group_count(const struct sp_analysis *analysis)
{
	return analysis->groups.count;
}

DEFINE_GETTER(sp_analysis_group, sp_group, sp_analysis, groups.items, groups.count)

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

const struct sp_time_bins *sp_analysis_time_bins(const struct sp_analysis *analysis, size_t index)
{
	const struct time_bins *bins = analysis->time_bins ? analysis->time_bins[index] : NULL;
	return bins ? &bins->shown : NULL;
}

size_t sp_analysis_finding_count(const struct sp_analysis *analysis)
{
	return analysis->findings.count;
}

DEFINE_GETTER(sp_analysis_finding, sp_finding, sp_analysis, findings.items, findings.count)
