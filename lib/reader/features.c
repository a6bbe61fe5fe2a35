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

static void interpret_text(struct sp_reader *reader, enum file_feature bit, const char *name,
			   const char **ret)
{
	struct cursor cursor = feature_cursor(reader, bit);
	if (feature_is_present(reader, bit) && !feature_text(reader, &cursor, ret))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature %s is cut short", name);
}

static void interpret_cmdline(struct sp_reader *reader)
{
	struct cursor cursor = feature_cursor(reader, FEATURE_CMDLINE);
	uint32_t count;
	if (!feature_is_present(reader, FEATURE_CMDLINE))
		return;
	if (!cursor_u32(&cursor, &count) || count > cursor_left(&cursor) / 4) {
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature CMDLINE is cut short");
		return;
	}
	const char **words = arena_alloc(&reader->arena, (count + 1) * sizeof(*words));
	if (!words) {
		reader->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!feature_text(reader, &cursor, &words[i])) {
			reader_add_damage_text(reader, cursor_offset(&cursor),
					       "feature CMDLINE is cut short");
			break;
		}
	reader->info.cmdline = words;
}

static void interpret_numbers(struct sp_reader *reader)
{
	struct sp_file_info *info = &reader->info;
	struct cursor cursor = feature_cursor(reader, FEATURE_NRCPUS);
	if (feature_is_present(reader, FEATURE_NRCPUS) &&
	    (!cursor_u32(&cursor, &info->cpus_available) ||
	     !cursor_u32(&cursor, &info->cpus_online)))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature NRCPUS is cut short");
	cursor = feature_cursor(reader, FEATURE_TOTAL_MEM);
	if (feature_is_present(reader, FEATURE_TOTAL_MEM) &&
	    !cursor_u64(&cursor, &info->total_memory_kb))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature TOTAL_MEM is cut short");
	cursor = feature_cursor(reader, FEATURE_SAMPLE_TIME);
	if (feature_is_present(reader, FEATURE_SAMPLE_TIME) &&
	    (!cursor_u64(&cursor, &info->first_sample_ns) ||
	     !cursor_u64(&cursor, &info->last_sample_ns)))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature SAMPLE_TIME is cut short");
}

static void interpret_clock(struct sp_reader *reader)
{
	struct sp_file_info *info = &reader->info;
	struct cursor cursor = feature_cursor(reader, FEATURE_CLOCK_DATA);
	uint32_t version;
	if (!feature_is_present(reader, FEATURE_CLOCK_DATA))
		return;
	if (!cursor_u32(&cursor, &version) || !cursor_u32(&cursor, &info->clock_id) ||
	    !cursor_u64(&cursor, &info->clock_wall_ns) || !cursor_u64(&cursor, &info->clock_ns)) {
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature CLOCK_DATA is cut short");
		return;
	}
	info->has_clock = version == 1;
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

static struct sp_error *interpret_build_ids(struct sp_reader *reader)
{
	struct cursor cursor = feature_cursor(reader, FEATURE_BUILD_ID);
	size_t room = cursor_left(&cursor) / BUILD_ID_HEADER_SIZE, count = 0;
	if (!feature_is_present(reader, FEATURE_BUILD_ID) || !room)
		return NULL;
	struct sp_build_id *build_ids = arena_alloc(&reader->arena, room * sizeof(*build_ids));
	NEED(build_ids);
	while (cursor_left(&cursor) && count < room) {
		if (!read_build_id(reader, &cursor, &build_ids[count])) {
			reader_add_damage_text(reader, cursor_offset(&cursor),
					       "feature BUILD_ID is cut short");
			break;
		}
		count++;
	}
	reader->info.build_ids = build_ids;
	reader->info.build_id_count = count;
	return NULL;
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

struct sp_error *features_interpret(struct sp_reader *reader)
{
	struct sp_file_info *info = &reader->info;
	interpret_text(reader, FEATURE_HOSTNAME, "HOSTNAME", &info->hostname);
	interpret_text(reader, FEATURE_OSRELEASE, "OSRELEASE", &info->osrelease);
	interpret_text(reader, FEATURE_VERSION, "VERSION", &info->version);
	interpret_text(reader, FEATURE_ARCH, "ARCH", &info->arch);
	interpret_text(reader, FEATURE_CPUDESC, "CPUDESC", &info->cpudesc);
	interpret_text(reader, FEATURE_CPUID, "CPUID", &info->cpuid);
	interpret_cmdline(reader);
	interpret_numbers(reader);
	interpret_clock(reader);
	/* Sets info.topology and info.numa_nodes. Feature NRCPUS must have been read before. */
	struct sp_cpu_topology *topology = &reader->info.topology;
	struct cursor cursor = feature_cursor(reader, FEATURE_CPU_TOPOLOGY);
	if (feature_is_present(reader, FEATURE_CPU_TOPOLOGY) &&
	    (!read_list(reader, &cursor, &topology->packages) ||
	     !read_list(reader, &cursor, &topology->cores) ||
	     (cursor_left(&cursor) && !read_places(reader, &cursor, topology))))
		reader_add_damage_text(reader, cursor_offset(&cursor),
				       "feature CPU_TOPOLOGY is cut short");
	cursor = feature_cursor(reader, FEATURE_NUMA_TOPOLOGY);
	if (feature_is_present(reader, FEATURE_NUMA_TOPOLOGY) && !read_nodes(reader, &cursor))
		reader_add_damage_text(reader, cursor_offset(&cursor),
				       "feature NUMA_TOPOLOGY is cut short");
	TRY(interpret_build_ids(reader));
	TRY(interpret_event_desc(reader));
	TRY(events_name(reader));
	return reader->no_memory ? error_no_memory() : NULL;
}

DEFINE_GETTER(sp_file_numa_node, sp_numa_node, sp_file_info, numa_nodes, numa_node_count)
DEFINE_GETTER(sp_file_build_id, sp_build_id, sp_file_info, build_ids, build_id_count)
