/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stat that is not counted but read: its units come up with the STAT records that name them, and
 * their places are those that the file says of their CPUs.
 */
#include "count/stat_file.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "record/types.h"

#define COMM_SIZE 16

/* EVENT_UPDATE's kinds. */
enum { UPDATE_UNIT, UPDATE_SCALE };

DEFINE_CLEANUP(struct sp_stat *, sp_stat_free)

static struct cursor body_of(const struct sp_stat *stat, const struct sp_record *record)
{
	const struct sp_file_info *info = sp_reader_info(stat->loaded->reader);
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct cursor cursor = cursor_make(record->bytes, record->size, info->big_endian != host_big,
					   info->path, record->file_offset);
	cursor_skip(&cursor, sizeof(struct perf_event_header));
	return cursor;
}

/* The event of that id; SIZE_MAX: none. A single event needs no ids. */
static size_t event_of(const struct sp_stat *stat, uint64_t id)
{
	const uint32_t *index = u64map_find(&stat->loaded->ids, id);
	return index ? *index : stat->counter_count == 1 ? 0 : SIZE_MAX;
}

static struct sp_error *take_threads(struct sp_stat *stat, struct cursor cursor)
{
	struct loaded *loaded = stat->loaded;
	uint64_t count, tid;
	const uint8_t *comm;
	if (!cursor_u64(&cursor, &count) || count > cursor_left(&cursor) / (sizeof(tid) + COMM_SIZE))
		return cursor_error(&cursor, "THREAD_MAP: more threads than there is room for");
	loaded->threads = arena_alloc(&stat->arena, (count + 1) * sizeof(*loaded->threads));
	NEED(loaded->threads);
	for (uint64_t i = 0; i < count; i++) {
		if (!cursor_u64(&cursor, &tid) || !cursor_bytes(&cursor, COMM_SIZE, &comm))
			return cursor_error(&cursor, "THREAD_MAP");
		loaded->threads[i] = place_nowhere();
		loaded->threads[i].tid = (int32_t)tid;
		loaded->threads[i].comm = arena_copy_string(
			&stat->arena, (const char *)comm, strnlen((const char *)comm, COMM_SIZE));
		NEED(loaded->threads[i].comm);
	}
	loaded->thread_count = count;
	return NULL;
}

static struct sp_error *take_config(struct sp_stat *stat, struct cursor cursor)
{
	uint64_t count, tag, value;
	if (!cursor_u64(&cursor, &count))
		return cursor_error(&cursor, "STAT_CONFIG");
	while (count-- && cursor_u64(&cursor, &tag) && cursor_u64(&cursor, &value)) {
		if (tag == STAT_CONFIG_AGGREGATE)
			stat->loaded->aggregate = value;
		else if (tag == STAT_CONFIG_INTERVAL)
			stat->loaded->interval_ms = value;
		else if (tag == STAT_CONFIG_SCALE)
			stat->options.events.scale = value ? SP_ON : SP_OFF;
	}
	return NULL;
}

static struct sp_error *take_update(struct sp_stat *stat, const struct sp_event_update *update)
{
	size_t index = event_of(stat, update->id);
	if (index == SIZE_MAX)
		return NULL;
	struct sp_stat_event *event = &stat->events[index];
	const char *text = (const char *)update->data.bytes;
	if (update->kind == UPDATE_UNIT) {
		event->unit = arena_copy_string(&stat->arena, text, strnlen(text, update->data.size));
		return event->unit ? NULL : error_no_memory();
	}
	if (update->kind == UPDATE_SCALE && update->data.size >= sizeof(event->scale)) {
		const struct sp_file_info *info = sp_reader_info(stat->loaded->reader);
		struct cursor cursor = cursor_make(
			text, update->data.size,
			info->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), info->path, 0);
		uint64_t bits;
		if (cursor_u64(&cursor, &bits))
			memcpy(&event->scale, &bits, sizeof(bits));
	}
	return NULL;
}

static uint64_t pair(int32_t a, int32_t b)
{
	return hash_pair((uint32_t)a, (uint32_t)b);
}

static uint64_t place_key(const struct sp_stat_place *place)
{
	return hash_pair(hash_pair(pair(place->cpu, place->core), pair(place->die, place->socket)),
			 pair(place->node, place->tid));
}

static int32_t node_of(const struct sp_file_info *info, int32_t cpu)
{
	for (size_t i = 0; i < info->numa_node_count; i++) {
		struct cpu_list list = {0};
		struct sp_error *error = cpu_list_parse(&list, info->numa_nodes[i].cpus);
		bool found = false;
		for (size_t j = 0; !error && j < list.count; j++)
			found |= list.items[j] == (uint32_t)cpu;
		sp_error_free(error);
		vec_deinit(&list);
		if (found)
			return (int32_t)info->numa_nodes[i].node;
	}
	return 0;
}

/* The unit's place, according to the file's topology. */
static struct sp_stat_place place_of(const struct sp_stat *stat, int32_t cpu, uint32_t thread)
{
	const struct loaded *loaded = stat->loaded;
	const struct sp_file_info *info = sp_reader_info(loaded->reader);
	struct sp_stat_place place = place_nowhere();
	struct sp_cpu_place at = {cpu, 0, 0};
	enum sp_stat_aggregate aggregate = stat->options.aggregate;
	if (cpu >= 0 && (size_t)cpu < info->topology.place_count)
		at = info->topology.places[cpu];
	if (aggregate == SP_STAT_THREAD && thread < loaded->thread_count)
		return loaded->threads[thread];
	if (aggregate == SP_STAT_CPU)
		place.cpu = cpu;
	if (aggregate == SP_STAT_CORE)
		place.core = at.core;
	if (aggregate == SP_STAT_CORE || aggregate == SP_STAT_DIE)
		place.die = at.die < 0 ? 0 : at.die;
	if (aggregate == SP_STAT_CORE || aggregate == SP_STAT_DIE || aggregate == SP_STAT_SOCKET)
		place.socket = at.package;
	if (aggregate == SP_STAT_NODE)
		place.node = node_of(info, cpu);
	return place;
}

static struct sp_error *find_place(struct sp_stat *stat, int32_t cpu, uint32_t thread,
				   uint32_t *ret)
{
	struct sp_stat_place place = place_of(stat, cpu, thread);
	bool added;
	uint32_t *index = u64map_put(&stat->loaded->places, place_key(&place),
				     (uint32_t)stat->places.count, &added);
	NEED(index);
	*ret = *index;
	if (!added)
		return NULL;
	struct sp_stat_place *slot = vec_push(&stat->places);
	NEED(slot);
	*slot = place;
	/* Rows were made for fewer. */
	free(stat->rows);
	stat->rows = NULL;
	return NULL;
}

static struct sp_error *find_unit(struct sp_stat *stat, size_t event, int32_t cpu, uint32_t thread,
				  struct unit **ret)
{
	struct counter *counter = &stat->counters[event];
	uint64_t key = (uint64_t)(uint32_t)cpu << 32 | thread;
	bool added;
	uint32_t *index = u64map_put(&stat->loaded->units[event], key, (uint32_t)counter->unit_count,
				     &added);
	NEED(index);
	if (added) {
		uint32_t place = 0;
		TRY(find_place(stat, cpu, thread, &place));
		/* 2^n: a realloc for each would be slow. */
		size_t count = counter->unit_count;
		struct unit *units = count & (count - 1) ? counter->units
				     : realloc(counter->units, (count ? 2 * count : 1) * sizeof(*units));
		NEED(units);
		counter->units = units;
		units[counter->unit_count++] = (struct unit){
			.fd = -1, .present = true, .cpu = cpu, .thread = thread, .place = place};
	}
	*ret = &counter->units[*index];
	return NULL;
}

/* Once: who reads it knows then what the file is worth. */
static struct sp_error *note_receding(struct sp_stat *stat, size_t event)
{
	if (stat->loaded->recedes)
		return NULL;
	stat->loaded->recedes = true;
	return event_notes_add(&stat->notes, stat->events[event].name, "such counts are left out",
			       "a count is less than the one before it", NULL);
}

static struct sp_error *take_stat(struct sp_stat *stat, struct cursor cursor)
{
	uint64_t id;
	uint32_t cpu, thread;
	struct reading now;
	struct unit *unit = NULL;
	if (!cursor_u64(&cursor, &id) || !cursor_u32(&cursor, &cpu) || !cursor_u32(&cursor, &thread) ||
	    !cursor_u64(&cursor, &now.value) || !cursor_u64(&cursor, &now.enabled_ns) ||
	    !cursor_u64(&cursor, &now.running_ns))
		return cursor_error(&cursor, "STAT");
	size_t index = event_of(stat, id);
	if (index == SIZE_MAX)
		return NULL;
	TRY(find_unit(stat, index, (int32_t)cpu, thread, &unit));
	/* Only supported events have counts. */
	stat->events[index].supported = true;
	/* Counters only grow. */
	if (now.value < unit->now.value || now.enabled_ns < unit->now.enabled_ns ||
	    now.running_ns < unit->now.running_ns)
		return note_receding(stat, index);
	stat_observe(stat, unit, now);
	return NULL;
}

/* All but STAT_ROUND. */
static struct sp_error *take(struct sp_stat *stat, const struct sp_record *record)
{
	switch (record->type) {
	case SP_RECORD_THREAD_MAP:
		return take_threads(stat, body_of(stat, record));
	case SP_RECORD_STAT_CONFIG:
		stat->loaded->has_counts = true;
		return take_config(stat, body_of(stat, record));
	case SP_RECORD_EVENT_UPDATE:
		return take_update(stat, &record->event_update);
	case SP_RECORD_STAT:
		return take_stat(stat, body_of(stat, record));
	default:
		return NULL;
	}
}

/* The reader reports damage: reading continues after it. */
static struct sp_error *next_record(const struct sp_stat *stat, const struct sp_record **ret)
{
	for (;;) {
		struct sp_error *error = sp_reader_next(stat->loaded->reader, ret);
		if (!error || sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		sp_error_free(error);
	}
}

struct sp_error *sp_stat_next_round(struct sp_stat *stat, enum sp_stat_step *ret)
{
	const struct sp_record *record;
	uint64_t type, time_ns;
	for (;;) {
		TRY(next_record(stat, &record));
		*ret = SP_STAT_STEP_NONE;
		if (!record)
			return NULL;
		if (record->type != SP_RECORD_STAT_ROUND) {
			TRY(take(stat, record));
			continue;
		}
		struct cursor cursor = body_of(stat, record);
		if (!cursor_u64(&cursor, &type) || !cursor_u64(&cursor, &time_ns))
			return cursor_error(&cursor, "STAT_ROUND");
		stat->end_ns = stat->start_ns + time_ns;
		stat->read_ns = stat->end_ns;
		stat->readings++;
		*ret = type == STAT_ROUND_FINAL ? SP_STAT_STEP_LAST : SP_STAT_STEP_INTERVAL;
		return NULL;
	}
}

static struct sp_error *make_events(struct sp_stat *stat)
{
	struct sp_reader *reader = stat->loaded->reader;
	size_t count = sp_reader_event_count(reader);
	stat->counters = calloc(count + 1, sizeof(*stat->counters));
	stat->events = calloc(count + 1, sizeof(*stat->events));
	stat->loaded->units = calloc(count + 1, sizeof(*stat->loaded->units));
	NEED(stat->counters && stat->events && stat->loaded->units);
	stat->counter_count = stat->loaded->unit_maps = count;
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		bool clock = record_is_clock(event->attr.type, event->attr.config);
		stat->counters[i] = (struct counter){.spec = &stat->loaded->spec, .attr = event->attr,
						     .leader = i, .cgroup_fd = -1};
		stat->events[i] = (struct sp_stat_event){
			.name = event->name, .unit = clock ? "msec" : "", .scale = clock ? 1e-6 : 1,
			.leader = i, .type = event->attr.type, .config = event->attr.config,
			.modes = stat_modes_of(&event->attr)};
		for (size_t j = 0; j < event->id_count; j++)
			NEED(u64map_put(&stat->loaded->ids, event->ids[j], (uint32_t)i, NULL));
	}
	return NULL;
}

/* Records before the first counts: how the counts are read. */
static struct sp_error *read_start(struct sp_stat *stat)
{
	const struct sp_record *record;
	for (;;) {
		TRY(next_record(stat, &record));
		if (!record || record->type == SP_RECORD_STAT || record->type == SP_RECORD_STAT_ROUND)
			break;
		TRY(take(stat, record));
	}
	sp_reader_rewind(stat->loaded->reader);
	if (stat->loaded->has_counts)
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_INVALID, "%s has no counts",
					  sp_reader_info(stat->loaded->reader)->path),
				"it was not made by sprof stat record; use sprof report for samples");
}

static struct sp_error *choose(struct sp_stat *stat, const enum sp_stat_aggregate *aggregate)
{
	static const enum sp_stat_aggregate known[] = {
		[STAT_FILE_NONE] = SP_STAT_CPU, [STAT_FILE_GLOBAL] = SP_STAT_GLOBAL,
		[STAT_FILE_SOCKET] = SP_STAT_SOCKET, [STAT_FILE_DIE] = SP_STAT_DIE};
	uint64_t said = stat->loaded->aggregate;
	stat->options.aggregate = aggregate ? *aggregate
				  : said <= STAT_FILE_DIE ? known[said] : SP_STAT_GLOBAL;
	if (stat->options.aggregate == SP_STAT_CLUSTER || stat->options.aggregate == SP_STAT_CACHE)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "the recording has no cluster or cache "
						  "topology"),
					"use --per-core, --per-die, --per-socket or --per-node");
	return NULL;
}

struct sp_error *sp_stat_load(struct sp_ctx *ctx, struct sp_reader *reader,
			      const enum sp_stat_aggregate *aggregate, struct sp_stat **ret)
{
	CLEANUP(cleanup_sp_stat_free) struct sp_stat *stat = calloc(1, sizeof(*stat));
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	if (!stat || !loaded) {
		free(loaded);
		return error_no_memory();
	}
	workload_init(&stat->workload);
	stat->ctx = ctx;
	stat->loaded = loaded;
	stat->start_ns = 1; /* it has begun */
	loaded->reader = reader;
	struct sp_error *error = make_events(stat);
	error = error ? error : read_start(stat);
	error = error ? error : choose(stat, aggregate);
	if (error)
		return error;
	*ret = take_ptr(stat);
	return NULL;
}

enum sp_stat_aggregate sp_stat_aggregate(const struct sp_stat *stat)
{
	return stat->options.aggregate;
}

uint64_t sp_stat_interval_ms(const struct sp_stat *stat)
{
	return stat->loaded ? stat->loaded->interval_ms : 0;
}
