/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "count/stat_file.h"

#include <string.h>
#include <time.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "capture/metadata/host.h"
#include "file/format.h"
#include "record/put.h"
#include "writer/writer.h"

/* Longer lists of CPUs do not fit a record; then any CPU is said, and STAT records tell. */
#define CPUS_MAX 4096
#define THREADS_MAX 2048
#define COMM_SIZE 16

/* EVENT_UPDATE's kinds. */
enum { UPDATE_UNIT, UPDATE_SCALE };

static void buffer_deinit(struct record_buffer *buffer)
{
	vec_deinit(buffer);
}

/* Writes the header of a record; end_record() sets its size. */
static size_t begin_record(struct put *put, uint32_t type)
{
	size_t start = put->buffer->count;
	const struct perf_event_header header = {.type = type};
	put_bytes(put, &header, sizeof(header));
	return start;
}

static void end_record(struct put *put, size_t start)
{
	put_align(put, start);
	if (put->no_memory)
		return;
	uint16_t size = (uint16_t)(put->buffer->count - start);
	memcpy(put->buffer->items + start + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void put_threads(const struct sp_stat *stat, struct put *put)
{
	char comm[COMM_SIZE];
	bool by_thread = stat->options.aggregate == SP_STAT_THREAD;
	size_t count = by_thread ? stat->places.count : 1;
	size_t start = begin_record(put, SP_RECORD_THREAD_MAP);
	count = count < THREADS_MAX ? count : THREADS_MAX;
	put_u64(put, count);
	for (size_t i = 0; i < count; i++) {
		const struct sp_stat_place *place = &stat->places.items[i];
		int32_t tid = by_thread ? place->tid : stat->cpu_wide ? -1 : stat->targets.items[0].tid;
		memset(comm, 0, sizeof(comm));
		if (by_thread)
			strncpy(comm, place->comm, sizeof(comm) - 1);
		put_u64(put, (uint64_t)(int64_t)tid);
		put_bytes(put, comm, sizeof(comm));
	}
	end_record(put, start);
}

static void put_cpus(const struct sp_stat *stat, struct put *put)
{
	bool some = stat->cpu_wide && stat->cpus.count <= CPUS_MAX;
	size_t start = begin_record(put, SP_RECORD_CPU_MAP);
	put_u16(put, 0);
	put_u16(put, some ? (uint16_t)stat->cpus.count : 1);
	for (size_t i = 0; some && i < stat->cpus.count; i++)
		put_u16(put, (uint16_t)stat->cpus.items[i]);
	if (!some)
		put_u16(put, UINT16_MAX);
	end_record(put, start);
}

static uint64_t aggregate_of(enum sp_stat_aggregate aggregate)
{
	switch (aggregate) {
	case SP_STAT_GLOBAL:
	case SP_STAT_THREAD:
		return STAT_FILE_GLOBAL;
	case SP_STAT_SOCKET:
		return STAT_FILE_SOCKET;
	case SP_STAT_DIE:
		return STAT_FILE_DIE;
	default:
		return STAT_FILE_NONE;
	}
}

static void put_config(const struct sp_stat *stat, uint64_t interval_ms, struct put *put)
{
	const uint64_t pairs[][2] = {
		{STAT_CONFIG_AGGREGATE, aggregate_of(stat->options.aggregate)},
		{STAT_CONFIG_INTERVAL, interval_ms},
		{STAT_CONFIG_SCALE, stat->options.events.scale != SP_OFF},
	};
	size_t start = begin_record(put, SP_RECORD_STAT_CONFIG);
	put_u64(put, sizeof(pairs) / sizeof(*pairs));
	put_bytes(put, pairs, sizeof(pairs));
	end_record(put, start);
}

/* Attributes of an event that its attr lacks; ids are those of event_of(). */
static void put_updates(const struct sp_stat *stat, struct put *put)
{
	for (size_t i = 0; i < stat->counter_count; i++) {
		const struct sp_stat_event *event = &stat->events[i];
		if (!*event->unit || event->type == PERF_TYPE_SOFTWARE)
			continue;
		size_t start = begin_record(put, SP_RECORD_EVENT_UPDATE);
		put_u64(put, UPDATE_UNIT);
		put_u64(put, i + 1);
		put_bytes(put, event->unit, strlen(event->unit) + 1);
		end_record(put, start);
		start = begin_record(put, SP_RECORD_EVENT_UPDATE);
		put_u64(put, UPDATE_SCALE);
		put_u64(put, i + 1);
		put_bytes(put, &event->scale, sizeof(event->scale));
		end_record(put, start);
	}
}

static struct sp_error *write_buffer(struct sp_stat *stat, const struct put *put)
{
	struct iovec span = {put->buffer->items, put->buffer->count};
	if (put->no_memory)
		return error_no_memory();
	TRY(writer_write(stat->writer, &span, 1));
	return writer_commit(stat->writer);
}

static struct sp_error *open_writer(struct sp_stat *stat, const char *path, const char *const *cmdline)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	CLEANUP_FREE struct sp_event *events = calloc(stat->counter_count + 1, sizeof(*events));
	CLEANUP_FREE uint64_t *ids = calloc(stat->counter_count + 1, sizeof(*ids));
	/* The bit says it all, but the empty payload's address is asked for. */
	const struct writer_feature feature = {FEATURE_STAT, {(const uint8_t *)"", 0}};
	struct writer_info info;
	NEED(events && ids);
	TRY(host_info(stat->ctx, cmdline, CLOCK_MONOTONIC, &arena, &info));
	info.features = &feature;
	info.feature_count = 1;
	for (size_t i = 0; i < stat->counter_count; i++) {
		ids[i] = i + 1;
		events[i] = (struct sp_event){.name = stat->events[i].name, .ids = &ids[i], .id_count = 1,
					      .attr = stat->counters[i].attr,
					      .tail = stat->counters[i].spec->tail};
		/* Readers find STAT records' events by their ids, which only these bits make known. */
		events[i].attr.sample_type = PERF_SAMPLE_IDENTIFIER;
		events[i].attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	}
	return writer_open(path, events, stat->counter_count, &info, &stat->writer);
}

struct sp_error *sp_stat_record(struct sp_stat *stat, const char *path, uint64_t interval_ms,
				const char *const *cmdline)
{
	CLEANUP(buffer_deinit) struct record_buffer buffer = {0};
	struct put put = {.buffer = &buffer};
	TRY(open_writer(stat, path, cmdline));
	put_threads(stat, &put);
	put_cpus(stat, &put);
	put_config(stat, interval_ms, &put);
	put_updates(stat, &put);
	return write_buffer(stat, &put);
}

/* The unit's counts; which CPU and thread they are of. */
static void put_unit(const struct sp_stat *stat, size_t index, size_t unit_index, struct put *put)
{
	const struct unit *unit = &stat->counters[index].units[unit_index];
	bool by_thread = stat->options.aggregate == SP_STAT_THREAD;
	size_t start = begin_record(put, SP_RECORD_STAT);
	put_u64(put, index + 1);
	put_u32(put, (uint32_t)unit->cpu);
	put_u32(put, by_thread ? unit->place : 0);
	put_u64(put, unit->now.value);
	put_u64(put, unit->now.enabled_ns);
	put_u64(put, unit->now.running_ns);
	end_record(put, start);
}

struct sp_error *sp_stat_record_round(struct sp_stat *stat, bool last)
{
	CLEANUP(buffer_deinit) struct record_buffer buffer = {0};
	struct put put = {.buffer = &buffer};
	for (size_t i = 0; i < stat->counter_count; i++)
		for (size_t u = 0; u < stat->counters[i].unit_count; u++)
			if (stat->counters[i].units[u].present)
				put_unit(stat, i, u, &put);
	size_t start = begin_record(&put, SP_RECORD_STAT_ROUND);
	put_u64(&put, last ? STAT_ROUND_FINAL : STAT_ROUND_INTERVAL);
	put_u64(&put, sp_stat_read_ns(stat));
	end_record(&put, start);
	struct sp_error *error = write_buffer(stat, &put);
	if (!last)
		return error;
	const struct writer_end end = {0};
	return error_first(error, writer_close(take_ptr(stat->writer), &end));
}
