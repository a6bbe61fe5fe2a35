/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interprets features: facts about the recording, such as host, command line and event names. In a
 * file, a table after the data lists their payloads. In a stream, and at the start of sprof's own data,
 * each payload is a HEADER_FEATURE record.
 */
#include "reader/event_name.h"
#include "base/vec.h"
#include "reader/header.h"

#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include <sprof/private/words.h>
#include "reader/feature_payloads.h"
#include "record/attr.h"
#include "record/types.h"

/* Smallest size of a node: its number, two memory sizes, and the size of a text. */
#define NODE_SIZE_MIN 24

static void *reader_alloc(struct sp_reader *reader, size_t count, size_t size)
{
	void *memory = arena_alloc(&reader->arena, count * size);
	reader->no_memory |= !memory;
	return memory;
}

/*
 * Reads a list of texts. Allocates no more than the file has bytes for. False, here and below: the
 * feature is cut short. Exhausted memory is noted in reader->no_memory.
 */
static bool read_list(struct sp_reader *reader, struct cursor *cursor, const char *const **ret)
{
	uint32_t count;
	if (!cursor_u32(cursor, &count) || count > cursor_left(cursor) / 4)
		return false;
	const char **list = reader_alloc(reader, (size_t)count + 1, sizeof(*list));
	if (!list)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (!feature_text(reader, cursor, &list[i]))
			return false;
	list[count] = NULL;
	*ret = list;
	return true;
}

/*
 * Reads the rest of CPU_TOPOLOGY after its two lists of texts (packages, cores): {u32 core, u32
 * package} for each available CPU. Since Linux 5.3 a list of dies and a u32 die for each CPU
 * follow. The second part, or both, may be missing.
 */
static bool read_places(struct sp_reader *reader, struct cursor *cursor,
			struct sp_cpu_topology *topology)
{
	uint32_t count = reader->info.cpus_available, core, package;
	if (!count || count > cursor_left(cursor) / 8)
		return !count;
	struct sp_cpu_place *places = reader_alloc(reader, count, sizeof(*places));
	if (!places)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		if (!cursor_u32(cursor, &core) || !cursor_u32(cursor, &package))
			return false;
		places[i] = (struct sp_cpu_place){(int32_t)core, (int32_t)package, -1};
	}
	topology->places = places;
	topology->place_count = count;
	/* Recordings before Linux 5.3 end here. */
	if (!cursor_left(cursor))
		return true;
	if (!read_list(reader, cursor, &topology->dies) || count > cursor_left(cursor) / 4)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t die;
		if (!cursor_u32(cursor, &die))
			return false;
		places[i].die = die;
	}
	return true;
}

static bool read_nodes(struct sp_reader *reader, struct cursor *cursor)
{
	struct sp_file_info *info = &reader->info;
	uint32_t count;
	if (!cursor_u32(cursor, &count) || count > cursor_left(cursor) / NODE_SIZE_MIN)
		return false;
	struct sp_numa_node *nodes = reader_alloc(reader, count, sizeof(*nodes));
	if (!nodes)
		return true;
	info->numa_nodes = nodes;
	for (; info->numa_node_count < count; info->numa_node_count++) {
		struct sp_numa_node *node = &nodes[info->numa_node_count];
		if (!cursor_u32(cursor, &node->node) || !cursor_u64(cursor, &node->total_kb) ||
		    !cursor_u64(cursor, &node->free_kb) ||
		    !feature_text(reader, cursor, &node->cpus))
			return false;
	}
	return true;
}

static bool read_cmdline(struct sp_reader *reader, struct cursor *cursor)
{
	uint32_t count;
	if (!cursor_u32(cursor, &count) || count > cursor_left(cursor) / 4)
		return false;
	const char **words = reader_alloc(reader, (size_t)count + 1, sizeof(*words));
	reader->info.cmdline = words;
	for (uint32_t i = 0; words && i < count; i++)
		if (!feature_text(reader, cursor, &words[i]))
			return false;
	return true;
}

static bool read_cpus(struct sp_reader *reader, struct cursor *cursor)
{
	return cursor_u32(cursor, &reader->info.cpus_available) &&
	       cursor_u32(cursor, &reader->info.cpus_online);
}

static bool read_memory(struct sp_reader *reader, struct cursor *cursor)
{
	return cursor_u64(cursor, &reader->info.total_memory_kb);
}

static bool read_sample_times(struct sp_reader *reader, struct cursor *cursor)
{
	struct sp_file_info *info = &reader->info;
	if (!cursor_u64(cursor, &info->first_sample_ns) ||
	    !cursor_u64(cursor, &info->last_sample_ns))
		return false;
	/* The last sample has no time of its own. Then only the samples state their times. */
	if (info->last_sample_ns >= RECORD_SUMMED_NS)
		info->first_sample_ns = info->last_sample_ns = 0;
	return true;
}

static bool read_clock(struct sp_reader *reader, struct cursor *cursor)
{
	struct sp_file_info *info = &reader->info;
	uint32_t version;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &info->clock_id) ||
	    !cursor_u64(cursor, &info->clock_wall_ns) || !cursor_u64(cursor, &info->clock_ns))
		return false;
	info->has_clock = version == 1;
	return true;
}

static bool read_topology(struct sp_reader *reader, struct cursor *cursor)
{
	struct sp_cpu_topology *topology = &reader->info.topology;
	return read_list(reader, cursor, &topology->packages) &&
	       read_list(reader, cursor, &topology->cores) &&
	       (!cursor_left(cursor) || read_places(reader, cursor, topology));
}

/* Size of an entry without the file's name: record header, pid, build-id with its size. */
#define BUILD_ID_HEADER_SIZE 36

/*
 * Reads one entry of feature BUILD_ID: a record header with the size of the entry, pid, build-id,
 * file name.
 */
static bool read_build_id(struct sp_reader *reader, struct cursor *cursor, struct sp_build_id *ret)
{
	struct cursor at = *cursor;
	struct sp_build_id build_id = {0};
	uint16_t misc, size;
	uint8_t id_size;
	const uint8_t *bytes, *name;
	if (!cursor_skip(&at, 4) || !cursor_u16(&at, &misc) || !cursor_u16(&at, &size) ||
	    size < BUILD_ID_HEADER_SIZE || !cursor_u32(&at, &build_id.pid) ||
	    !cursor_bytes(&at, sizeof(build_id.build_id), &bytes) || !cursor_u8(&at, &id_size) ||
	    !cursor_skip(&at, 3) || !cursor_bytes(&at, size - BUILD_ID_HEADER_SIZE, &name))
		return false;
	if (!(misc & RECORD_MISC_BUILD_ID_SIZE) || id_size > sizeof(build_id.build_id))
		id_size = sizeof(build_id.build_id);
	memcpy(build_id.build_id, bytes, id_size);
	build_id.build_id_size = id_size;
	build_id.cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	size_t room = (size_t)size - BUILD_ID_HEADER_SIZE;
	build_id.filename = reader_copy_text(reader, name, strnlen((const char *)name, room)) ?: "";
	*ret = build_id;
	*cursor = at;
	return true;
}

static bool read_build_ids(struct sp_reader *reader, struct cursor *cursor)
{
	struct sp_file_info *info = &reader->info;
	size_t room = cursor_left(cursor) / BUILD_ID_HEADER_SIZE;
	struct sp_build_id *ids = room ? reader_alloc(reader, room, sizeof(*ids)) : NULL;
	info->build_ids = ids;
	for (; ids && cursor_left(cursor) && info->build_id_count < room; info->build_id_count++)
		if (!read_build_id(reader, cursor, &ids[info->build_id_count]))
			return false;
	return true;
}

/* Reads one event of EVENT_DESC: attr, number of ids, name, ids. */
static struct sp_error *read_event_desc(struct sp_reader *reader, struct cursor *cursor,
					uint32_t attr_size, struct sp_event *ret)
{
	struct cursor attr_at = *cursor;
	struct sp_event event = {0};
	uint32_t id_count;
	TRY(attr_decode(&attr_at, attr_size, &event.attr, &event.tail));
	if (!cursor_skip(cursor, attr_size) || !cursor_u32(cursor, &id_count) ||
	    !feature_text(reader, cursor, &event.name) || id_count > cursor_left(cursor) / 8)
		return cursor_error(cursor, "an event of feature EVENT_DESC is cut short");
	uint64_t *ids = arena_alloc(&reader->arena, id_count * sizeof(*ids));
	NEED(ids);
	for (uint32_t i = 0; i < id_count; i++)
		if (!cursor_u64(cursor, &ids[i]))
			return cursor_error(cursor, "the ids of feature EVENT_DESC are truncated");
	event.ids = ids;
	event.id_count = id_count;
	*ret = event;
	return NULL;
}

/*
 * Sets the events' names from feature EVENT_DESC, by position. If the header's events could not be
 * read, adds the events, too.
 */
static struct sp_error *interpret_event_desc(struct sp_reader *reader)
{
	struct cursor cursor = feature_cursor(reader, FEATURE_EVENT_DESC);
	uint32_t count, attr_size;
	if (!feature_is_present(reader, FEATURE_EVENT_DESC))
		return NULL;
	if (!cursor_u32(&cursor, &count) || !cursor_u32(&cursor, &attr_size)) {
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature EVENT_DESC is cut short");
		return NULL;
	}
	bool adopt = !reader->events.count;
	for (uint32_t i = 0; i < count && i < EVENTS_MAX; i++) {
		struct sp_event event;
		struct sp_error *error = read_event_desc(reader, &cursor, attr_size, &event);
		if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
			reader_add_file_damage(reader, cursor_offset(&cursor), error);
			return NULL;
		}
		if (!error && adopt) {
			struct sp_event unnamed = event;
			unnamed.name = NULL;
			error = events_add(reader, &unnamed);
		}
		if (error)
			return error;
		if (i < reader->events.count && *event.name)
			reader->events.items[i].name = event.name;
	}
	return NULL;
}

/* Lists damage if a feature is cut short. */
static void check(struct sp_reader *reader, enum file_feature bit, const struct cursor *cursor,
		  bool is_whole)
{
	if (!is_whole)
		reader_add_damage_text(reader, cursor_offset(cursor), "feature %s is cut short",
				       sp_feature_name(bit));
}

struct sp_error *features_interpret(struct sp_reader *reader)
{
	struct sp_file_info *info = &reader->info;
	const struct {
		enum file_feature bit;
		const char **ret;
	} texts[] = {
		{FEATURE_HOSTNAME, &info->hostname}, {FEATURE_OSRELEASE, &info->osrelease},
		{FEATURE_VERSION, &info->version},   {FEATURE_ARCH, &info->arch},
		{FEATURE_CPUDESC, &info->cpudesc},   {FEATURE_CPUID, &info->cpuid},
	};
	static const struct {
		enum file_feature bit;
		bool (*read)(struct sp_reader *reader, struct cursor *cursor);
	} others[] = {
		{FEATURE_CMDLINE, read_cmdline},
		{FEATURE_NRCPUS, read_cpus}, /* CPU_TOPOLOGY needs the number of CPUs */
		{FEATURE_TOTAL_MEM, read_memory},
		{FEATURE_SAMPLE_TIME, read_sample_times},
		{FEATURE_CLOCK_DATA, read_clock},
		{FEATURE_CPU_TOPOLOGY, read_topology},
		{FEATURE_NUMA_TOPOLOGY, read_nodes},
		{FEATURE_BUILD_ID, read_build_ids},
	};
	for (size_t i = 0; i < count_of(texts); i++) {
		struct cursor cursor = feature_cursor(reader, texts[i].bit);
		if (feature_is_present(reader, texts[i].bit))
			check(reader, texts[i].bit, &cursor,
			      feature_text(reader, &cursor, texts[i].ret));
	}
	for (size_t i = 0; i < count_of(others); i++) {
		struct cursor cursor = feature_cursor(reader, others[i].bit);
		if (feature_is_present(reader, others[i].bit))
			check(reader, others[i].bit, &cursor, others[i].read(reader, &cursor));
	}
	TRY(interpret_event_desc(reader));
	TRY(events_name(reader));
	return reader->no_memory ? error_no_memory() : NULL;
}

DEFINE_GETTER(sp_file_numa_node, sp_numa_node, sp_file_info, numa_nodes, numa_node_count)
DEFINE_GETTER(sp_file_build_id, sp_build_id, sp_file_info, build_ids, build_id_count)
