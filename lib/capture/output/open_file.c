/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first file: its header, and the description of the machine that all files share. */
#include "capture/output/recording_files.h"

#include <string.h>
#include "base/clock.h"
#include "capture/metadata/host.h"
#include "capture/metadata/host_features.h"
#include "capture/metadata/tracepoint_formats.h"
#include "file/file_format.h"
#include "writer/features_write.h"

/* Adds TRACING_DATA; notes tracepoints without a readable format. */
static struct sp_error *describe_tracepoints(struct file_maker *maker, struct notes *notes)
{
	struct host_features *features = &maker->features;
	size_t missing;
	struct put put = host_feature_begin(features, FEATURE_TRACING_DATA);
	size_t begin = features->bytes.count;
	struct sp_error *error = tracepoint_formats_describe(maker->ctx, maker->events, maker->event_count,
							     &features->bytes, &missing);
	if (error || features->bytes.count == begin)
		host_feature_drop(features);
	else
		error = host_feature_end(features, &put);
	if (error || !missing)
		return error;
	return notes_add(notes, NOTE_TRACEPOINTS_UNREADABLE, NULL, missing);
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
		put_u32(&put, i);
		put_u32(&put, event->member_count);
	}
	return host_feature_end(features, &put);
}

static struct sp_error *add_flag(struct host_features *features, enum file_feature feature)
{
	struct put put = host_feature_begin(features, feature);
	return host_feature_end(features, &put);
}

/* Adds all features that are prepared as payloads. */
static struct sp_error *add_features(struct file_maker *maker, const struct event_plan *plan,
				     struct notes *notes)
{
	struct host_features *features = &maker->features;
	bool branches = false;
	for (size_t i = 0; i < maker->event_count; i++)
		branches |= (maker->events[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0;
	struct sp_error *error = host_features_machine(features, maker->ctx, &maker->info);
	if (!error)
		error = host_features_bpf(features, maker->ctx);
	if (!error && branches)
		error = add_flag(features, FEATURE_BRANCH_STACK);
	if (!error)
		error = describe_groups(features, plan);
	if (!error)
		error = describe_tracepoints(maker, notes);
	host_features_done(features);
	maker->info.features = features->features;
	maker->info.feature_count = features->count;
	return error;
}

/* The maker outlives the caller's events and options: it keeps copies in its arena. */
static struct sp_error *copy_events(struct file_maker *maker, const struct sp_event *events)
{
	size_t count = maker->event_count;
	maker->events = arena_alloc(&maker->arena, count * sizeof(*events));
	NEED(maker->events);
	for (size_t i = 0; i < count; i++) {
		struct sp_event *event = &maker->events[i];
		size_t size = events[i].id_count * sizeof(*events[i].ids);
		uint64_t *ids = arena_alloc(&maker->arena, size ?: 1);
		*event = events[i];
		if (event->name && !(event->name = arena_strdup(&maker->arena, event->name)))
			return error_no_memory();
		NEED(ids);
		if (size)
			memcpy(ids, events[i].ids, size);
		event->ids = ids;
	}
	return NULL;
}

static struct sp_error *new_maker(struct recording *recording, const struct recording_options *options)
{
	const struct sp_capture_output *output = &options->options->output;
	struct file_maker *maker = calloc(1, sizeof(*maker));
	NEED(maker);
	maker->file = maker->current = -1;
	recording->rotation.maker = maker;
	pthread_mutex_init(&maker->lock, NULL);
	maker->ctx = options->ctx;
	maker->keep = output->keep_files;
	maker->path = strdup(output->path ? output->path : "sprof.data");
	return maker->path ? NULL : error_no_memory();
}

static struct sp_error *fill_maker(struct recording *recording, const struct recording_options *options)
{
	const struct sp_capture_output *output = &options->options->output;
	struct file_maker *maker = recording->rotation.maker;
	maker->event_count = options->event_count;
	struct sp_error *error = copy_events(maker, options->events);
	if (!error)
		error = host_info(options->ctx, output->cmdline, options->clock, &maker->arena,
				  &maker->info);
	if (!error)
		error = add_features(maker, options->plan, &recording->notes);
	maker->info.compression_level = output->compression_level;
	maker->info.in_memory = output->in_memory;
	maker->info.durability = output->sync ? &maker->durability : NULL;
	return error;
}

/* A limit must leave room for samples. */
static struct sp_error *check_limits(const struct rotation *rotation, const struct writer *writer)
{
	uint64_t least = rotation->begin_bytes + rotation->maker->closing_bytes;
	uint64_t most = rotation->max_bytes ?: rotation->switch_bytes;
	if (rotation->switch_bytes && rotation->switch_bytes < most)
		most = rotation->switch_bytes;
	if (rotation->dated && writer_is_stream(writer))
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%s is not a regular file: it cannot be renamed",
				  rotation->maker->path), "name a file with -o");
	if (!most || most > least)
		return NULL;
	return error_new(SP_ERROR_INVALID, "a file of %llu bytes has no room for samples: header and "
			 "footer need %llu", (unsigned long long)most,
			 (unsigned long long)least);
}

static struct sp_error *write_spans(void *arg, struct iovec *spans, int count)
{
	return write_queue_write(arg, spans, count);
}

struct sp_error *recording_open(struct recording *recording, const struct recording_options *options)
{
	struct rotation *rotation = &recording->rotation;
	struct writer *writer = NULL;
	struct sp_error *error = new_maker(recording, options);
	if (!error)
		error = fill_maker(recording, options);
	if (!error)
		error = file_maker_open(rotation->maker, &writer);
	recording->sink = (struct sink){write_spans, recording->write_queue};
	if (!error)
		error = batch_init(&recording->batch, &recording->sink);
	if (!writer)
		return error;
	rotation->begin_bytes = writer_size(writer);
	rotation->maker->closing_bytes = writer_closing_bytes(writer);
	rotation->begun_ns = clock_ns(CLOCK_MONOTONIC);
	if (!error)
		error = check_limits(rotation, writer);
	/* The writer now belongs to the thread, until the recording is closed. */
	write_queue_begin(recording->write_queue, writer);
	recording->batch.copy_all = options->copies_records;
	return error;
}
