/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file that is recorded to: what its header says, and the way to it. */
#include <string.h>
#include "base/cleanup.h"
#include "capture/samples/dump.h"
#include "capture/metadata/host.h"
#include "capture/metadata/host_features.h"
#include "capture/recorder.h"
#include "capture/metadata/tracing.h"
#include "file/format.h"
#include "writer/features_write.h"

static struct sp_error *write_spans(void *arg, struct iovec *spans, int count)
{
	struct sp_capture *capture = arg;
	return writing_write(capture->out.writing, spans, count);
}

/* The events as what is in the file was made by. Their arrays are the set's. */
static struct sp_error *file_events(const struct sp_capture *capture, struct arena *arena,
				    const struct sp_event **events, size_t *count_ret)
{
	struct sp_error *error = event_set_events(capture->control.set, events, count_ret);
	if (error || (!capture->samples.unwinding && !capture->bank.wall.on))
		return error;
	struct sp_event *changed = arena_alloc(arena, *count_ret * sizeof(*changed));
	if (!changed)
		return error_no_memory();
	for (size_t i = 0; i < *count_ret; i++) {
		changed[i] = (*events)[i];
		if (capture->samples.unwinding)
			dump_file_attr(&changed[i].attr, capture->config.kept_registers);
		if (capture->bank.wall.on)
			changed[i].attr.clockid = capture->bank.wall.clock;
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
		       : notes_add(&capture->out.notes, NOTE_TRACEPOINTS_UNREADABLE, NULL, missing);
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
		error = describe_groups(features, capture->config.plan);
	if (!error)
		error = describe_tracepoints(capture, features, events, count);
	host_features_done(features);
	info->features = features->features;
	info->feature_count = features->count;
	return error;
}

/* Of all that the maker keeps, the arena's copies: options and the set's lists do not last. */
static struct sp_error *copy_events(struct file_maker *maker, const struct sp_event *events)
{
	size_t count = maker->event_count;
	maker->events = arena_alloc(&maker->arena, count * sizeof(*events));
	if (!maker->events)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct sp_event *event = &maker->events[i];
		size_t size = events[i].id_count * sizeof(*events[i].ids);
		uint64_t *ids = arena_alloc(&maker->arena, size ?: 1);
		*event = events[i];
		if (event->name && !(event->name = arena_copy_string(&maker->arena, event->name,
								     strlen(event->name))))
			return error_no_memory();
		if (!ids)
			return error_no_memory();
		if (size)
			memcpy(ids, events[i].ids, size);
		event->ids = ids;
	}
	return NULL;
}

static struct sp_error *copy_cmdline(struct file_maker *maker, const char *const *cmdline)
{
	size_t count = 0;
	while (cmdline && cmdline[count])
		count++;
	const char **copy = arena_alloc(&maker->arena, (count + 1) * sizeof(*copy));
	if (!copy)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		if (!(copy[i] = arena_copy_string(&maker->arena, cmdline[i], strlen(cmdline[i]))))
			return error_no_memory();
	maker->info.cmdline = cmdline ? copy : NULL;
	return NULL;
}

static struct sp_error *new_maker(struct sp_capture *capture, const struct capture_options *options)
{
	struct file_maker *maker = calloc(1, sizeof(*maker));
	if (!maker)
		return error_no_memory();
	capture->out.switching.maker = maker;
	pthread_mutex_init(&maker->lock, NULL);
	maker->ctx = capture->ctx;
	maker->keep = options->output.keep_files;
	maker->path = strdup(options->output.path ? options->output.path : "sprof.data");
	return maker->path ? NULL : error_no_memory();
}

static struct sp_error *fill_maker(struct sp_capture *capture, const struct capture_options *options)
{
	struct file_maker *maker = capture->out.switching.maker;
	const struct wall_clock *wall = &capture->bank.wall;
	const struct sp_event *events;
	struct sp_error *error = file_events(capture, &maker->arena, &events, &maker->event_count);
	if (!error)
		error = copy_events(maker, events);
	if (!error)
		error = host_info(capture->ctx, NULL,
				  wall->on ? wall->clock : capture->config.plan->clock_id,
				  &maker->arena, &maker->info);
	if (!error)
		error = copy_cmdline(maker, options->output.cmdline);
	if (!error)
		error = add_features(capture, &maker->features, maker->events, maker->event_count,
				     &maker->info);
	maker->info.compression_level = (int)options->output.compression_level;
	maker->info.durability = options->output.sync ? &maker->durability : NULL;
	return error;
}

/* What there may be of it has to be worth a file. */
static struct sp_error *check_limits(const struct sp_capture *capture, const struct writer *writer)
{
	const struct switching *switching = &capture->out.switching;
	uint64_t least = switching->begin_bytes + switching->maker->closing_bytes;
	uint64_t most = switching->max_bytes ?: switching->switch_bytes;
	if (switching->switch_bytes && switching->switch_bytes < most)
		most = switching->switch_bytes;
	if (switching->dated && writer_is_stream(writer))
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%s is not a regular file: it cannot be renamed",
				  switching->maker->path), "name a file with -o");
	if (!most || most > least)
		return NULL;
	return error_new(SP_ERROR_INVALID, "a file of %llu bytes has no room for samples: header and "
			 "footer need %llu", (unsigned long long)most,
			 (unsigned long long)least);
}

struct sp_error *capture_open_file(struct sp_capture *capture,
				   const struct capture_options *options)
{
	struct switching *switching = &capture->out.switching;
	struct writer *writer = NULL;
	struct sp_error *error = new_maker(capture, options);
	if (!error)
		error = fill_maker(capture, options);
	if (!error)
		error = file_maker_open(switching->maker, &writer);
	capture->out.sink = (struct sink){write_spans, capture};
	if (!error)
		error = batch_init(&capture->out.batch, &capture->out.sink);
	if (!writer)
		return error;
	switching->begin_bytes = writer_size(writer);
	switching->maker->closing_bytes = writer_closing_bytes(writer);
	switching->begun_ns = capture_now_ns();
	if (!error)
		error = check_limits(capture, writer);
	/* From here on it is the thread's, which gives it back. */
	writing_begin(capture->out.writing, writer);
	capture->out.batch.copy_all = capture->samples.unwinding;
	return error;
}
