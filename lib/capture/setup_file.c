/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file that is recorded to: what its header says, and the way to it. */
#include "base/cleanup.h"
#include "capture/dump.h"
#include "capture/host.h"
#include "capture/host_features.h"
#include "capture/recorder.h"
#include "capture/tracing.h"
#include "file/features_write.h"
#include "file/format.h"

static struct sp_error *write_spans(void *arg, struct iovec *spans, int count)
{
	struct sp_capture *capture = arg;
	return writing_write(capture->writing, spans, count);
}

/* The events as what is in the file was made by. Their arrays are the set's. */
static struct sp_error *file_events(const struct sp_capture *capture, struct arena *arena,
				    const struct sp_event **events, size_t *count_ret)
{
	struct sp_error *error = event_set_events(capture->set, events, count_ret);
	if (error || !capture->unwinding)
		return error;
	struct sp_event *changed = arena_alloc(arena, *count_ret * sizeof(*changed));
	if (!changed)
		return error_no_memory();
	for (size_t i = 0; i < *count_ret; i++) {
		changed[i] = (*events)[i];
		dump_file_attr(&changed[i].attr, capture->kept_registers);
	}
	*events = changed;
	return NULL;
}

/* TRACING_DATA; says so where there should be more of it. */
static struct sp_error *describe_tracepoints(struct sp_capture *capture,
					     struct host_features *features,
					     const struct sp_event *events, size_t count)
{
	size_t missing;
	struct put put = host_feature_begin(features, FEATURE_TRACING_DATA);
	size_t begin = features->bytes.count;
	struct sp_error *error = tracing_describe(capture->ctx, events, count, &features->bytes,
						  &missing);
	if (error || features->bytes.count == begin)
		host_feature_drop(features);
	else
		error = host_feature_end(features, &put);
	return error || !missing
		       ? error
		       : capture_note(capture, "%zu tracepoint%s not described in the file, as tracefs "
				      "cannot be read: their fields are bytes only",
				      missing, missing == 1 ? " is" : "s are");
}

/* GROUP_DESC: u32 n, {text name, u32 index of the leader, u32 members}. */
static struct sp_error *describe_groups(struct host_features *features,
					const struct event_plan *plan)
{
	uint32_t groups = 0;
	for (size_t i = 0; i < plan->sample_count; i++)
		groups += plan->samples[i].member_count > 1;
	if (!groups)
		return NULL;
	struct put put = host_feature_begin(features, FEATURE_GROUP_DESC);
	put_u32(&put, groups);
	for (size_t i = 0; i < plan->sample_count; i++) {
		const struct event_planned *event = &plan->samples[i];
		if (event->member_count <= 1)
			continue;
		feature_put_string(&put, event->group_name ? event->group_name : "{anon_group}");
		put_u32(&put, (uint32_t)i);
		put_u32(&put, (uint32_t)event->member_count);
	}
	return host_feature_end(features, &put);
}

static struct sp_error *add_flag(struct host_features *features, enum file_feature feature)
{
	struct put put = host_feature_begin(features, feature);
	return host_feature_end(features, &put);
}

/* What is a payload from here on. */
static struct sp_error *add_features(struct sp_capture *capture, struct host_features *features,
				     const struct sp_event *events, size_t count,
				     struct writer_info *info)
{
	bool branches = false;
	for (size_t i = 0; i < count; i++)
		branches |= (events[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0;
	struct sp_error *error = host_features_machine(features, capture->ctx, info);
	if (!error)
		error = host_features_bpf(features, capture->ctx);
	if (!error && branches)
		error = add_flag(features, FEATURE_BRANCH_STACK);
	if (!error)
		error = describe_groups(features, capture->plan);
	if (!error)
		error = describe_tracepoints(capture, features, events, count);
	host_features_done(features);
	info->features = features->features;
	info->feature_count = features->count;
	return error;
}

struct sp_error *capture_open_file(struct sp_capture *capture,
				   const struct sp_capture_options *options)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	CLEANUP(host_features_deinit) struct host_features features = {0};
	struct writer_info info;
	const struct sp_event *events;
	size_t count;
	struct sp_error *error = file_events(capture, &arena, &events, &count);
	if (!error)
		error = host_info(capture->ctx, options->cmdline, capture->plan->clock_id, &arena,
				  &info);
	if (!error)
		error = add_features(capture, &features, events, count, &info);
	if (!error) {
		info.compression_level = (int)options->compression_level;
		error = writer_open(capture->ctx, options->path ? options->path : "sprof.data", events,
				    count, &info, &capture->writer);
	}
	capture->sink = (struct sink){write_spans, capture};
	if (!error)
		error = batch_init(&capture->batch, &capture->sink);
	if (!error)
		writing_begin(capture->writing, capture->writer);
	capture->batch.copy_all = capture->unwinding;
	return error;
}
