/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads features CPU_TOPOLOGY and NUMA_TOPOLOGY. CPU_TOPOLOGY has two lists of texts (packages, cores),
 * then {u32 core, u32 package} for each available CPU. Since Linux 5.3 a list of dies and a u32 die for
 * each CPU follow. Parts after the texts may be missing.
 */
#include "reader/topology.h"

#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "reader/feature_payloads.h"

/* Smallest size of a node: its number, two memory sizes, and the size of a text. */
#define NODE_SIZE_MIN 24

static void *reader_alloc(struct sp_reader *reader, size_t count, size_t size)
{
	void *memory = arena_alloc(&reader->arena, count * size);
	reader->no_memory |= !memory;
	return memory;
}

/* Reads a list of texts. Allocates no more than the file has bytes for. */
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
			return reader->no_memory;
	list[count] = NULL;
	*ret = list;
	return true;
}

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
		places[i].die = (int32_t)die;
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
			return reader->no_memory;
	}
	return true;
}

void topology_interpret(struct sp_reader *reader)
{
	struct sp_cpu_topology *topology = &reader->info.topology;
	struct cursor cursor = feature_cursor(reader, FEATURE_CPU_TOPOLOGY);
	if (feature_is_present(reader, FEATURE_CPU_TOPOLOGY) &&
	    (!read_list(reader, &cursor, &topology->packages) ||
	     !read_list(reader, &cursor, &topology->cores) ||
	     (cursor_left(&cursor) && !read_places(reader, &cursor, topology))))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature CPU_TOPOLOGY is cut short");
	cursor = feature_cursor(reader, FEATURE_NUMA_TOPOLOGY);
	if (feature_is_present(reader, FEATURE_NUMA_TOPOLOGY) && !read_nodes(reader, &cursor))
		reader_add_damage_text(reader, cursor_offset(&cursor), "feature NUMA_TOPOLOGY is cut short");
}
