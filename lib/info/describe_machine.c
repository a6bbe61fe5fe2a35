/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "info/describe_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/cleanup.h"
#include "base/format.h"

bool describe_cpus(struct cursor *cursor, struct sp_description *to)
{
	uint32_t available, online;
	if (!cursor_u32(cursor, &available) || !cursor_u32(cursor, &online))
		return false;
	description_add(to, "available", "%u", available);
	description_add(to, "online", "%u", online);
	return true;
}

bool describe_memory(struct cursor *cursor, struct sp_description *to)
{
	uint64_t kilobytes;
	if (!cursor_u64(cursor, &kilobytes))
		return false;
	description_add(to, "", "%" PRIu64 " kB", kilobytes);
	return true;
}

bool describe_topology(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_cpu_topology *topology = &sp_reader_info(reader)->topology;
	for (size_t i = 0; topology->packages && topology->packages[i]; i++)
		description_add(to, "sibling sockets", "%s", topology->packages[i]);
	for (size_t i = 0; topology->dies && topology->dies[i]; i++)
		description_add(to, "sibling dies", "%s", topology->dies[i]);
	for (size_t i = 0; topology->cores && topology->cores[i]; i++)
		description_add(to, "sibling threads", "%s", topology->cores[i]);
	for (size_t i = 0; i < topology->place_count; i++) {
		const struct sp_cpu_place *place = &topology->places[i];
		char name[32];
		snprintf(name, sizeof(name), "CPU %zu", i);
		description_add(to, name, "core %d, die %d, socket %d", place->core, place->die,
				place->package);
	}
	return true;
}

bool describe_numa_nodes(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	for (size_t i = 0; i < info->numa_node_count; i++) {
		const struct sp_numa_node *node = sp_file_numa_node(info, i);
		char name[24];
		snprintf(name, sizeof(name), "node %u", node->node);
		description_add(to, name, "total %" PRIu64 " kB, free %" PRIu64 " kB, CPUs %s",
				node->total_kb, node->free_kb, node->cpus);
	}
	return true;
}

bool describe_pmus(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count, type;
	const char *name;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!cursor_u32(cursor, &type) || !description_read_string(cursor, &name))
			return false;
		description_add(to, name, "%u", type);
	}
	return true;
}

bool describe_caches(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, count, level, line, sets, ways;
	const char *type, *size, *map;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		char name[64];
		if (!cursor_u32(cursor, &level) || !cursor_u32(cursor, &line) ||
		    !cursor_u32(cursor, &sets) || !cursor_u32(cursor, &ways) ||
		    !description_read_string(cursor, &type) || !description_read_string(cursor, &size) ||
		    !description_read_string(cursor, &map))
			return false;
		snprintf(name, sizeof(name), "L%u %s", level, type);
		description_add(to, name, "%s [%s], %u sets of %u lines of %u bytes", size, map,
				sets, ways, line);
	}
	return true;
}

bool describe_memory_topology(struct cursor *cursor, struct sp_description *to)
{
	uint64_t version, block, count, node, size, bits, word;
	if (!cursor_u64(cursor, &version) || !cursor_u64(cursor, &block) ||
	    !cursor_u64(cursor, &count))
		return false;
	description_add(to, "block size", "%#" PRIx64, block);
	for (uint64_t i = 0; i < count; i++) {
		char name[32];
		uint64_t blocks = 0;
		if (!cursor_u64(cursor, &node) || !cursor_u64(cursor, &size) ||
		    !cursor_u64(cursor, &bits))
			return false;
		for (uint64_t at = 0; at < bits; at += 64) {
			if (!cursor_u64(cursor, &word))
				return false;
			blocks += (uint64_t)__builtin_popcountll(word);
		}
		snprintf(name, sizeof(name), "node %" PRIu64, node);
		description_add(to, name, "%" PRIu64 " blocks, %" PRIu64 " MB", blocks,
				(blocks * block) >> 20);
	}
	return true;
}

/* Describes a PMU's capabilities: u32 count, then pairs of name and value. */
bool describe_caps(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count;
	const char *name, *value;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!description_read_string(cursor, &name) || !description_read_string(cursor, &value))
			return false;
		description_add(to, name, "%s", value);
	}
	return true;
}

bool describe_pmu_caps(struct cursor *cursor, struct sp_description *to)
{
	uint32_t pmus;
	const char *pmu;
	if (!cursor_u32(cursor, &pmus))
		return false;
	for (uint32_t i = 0; i < pmus; i++) {
		size_t begin = to->rows.count;
		if (!describe_caps(cursor, to) || !description_read_string(cursor, &pmu))
			return false;
		for (size_t j = begin; j < to->rows.count; j++) {
			CLEANUP_FREE char *name = format_text("%s/%s", pmu, to->rows.items[j].name);
			const char *kept = arena_strdup(&to->arena, name);
			to->no_memory |= !kept;
			if (kept)
				to->rows.items[j].name = kept;
		}
	}
	return true;
}

bool describe_hybrid(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count;
	const char *pmu, *cpus;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!description_read_string(cursor, &pmu) || !description_read_string(cursor, &cpus))
			return false;
		description_add(to, pmu, "CPUs %s", cpus);
	}
	return true;
}

/* Describes the scheduling domains of each CPU, which perf of Linux 7.0 and later records. */
bool describe_domains(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, most, cpu, count, domain;
	const char *name = "", *mask, *list;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &most))
		return false;
	description_add(to, "schedstat version", "%u", version);
	description_add(to, "most domains", "%u", most);
	while (cursor_left(cursor) >= 8) {
		char key[24];
		if (!cursor_u32(cursor, &cpu) || !cursor_u32(cursor, &count))
			return false;
		snprintf(key, sizeof(key), "CPU %u", cpu);
		for (uint32_t i = 0; i < count; i++) {
			if (!cursor_u32(cursor, &domain) ||
			    (version >= 17 && !description_read_string(cursor, &name)) ||
			    !description_read_string(cursor, &mask) ||
			    !description_read_string(cursor, &list))
				return false;
			description_add(to, key, "domain %u %s: CPUs %s", domain, name, list);
		}
	}
	return true;
}

bool describe_machine(struct cursor *cursor, struct sp_description *to)
{
	uint32_t machine, flags;
	if (!cursor_u32(cursor, &machine) || !cursor_u32(cursor, &flags))
		return false;
	description_add(to, "e_machine", "%u", machine);
	description_add(to, "e_flags", "%u", flags);
	return true;
}

bool describe_cache_line(struct cursor *cursor, struct sp_description *to)
{
	uint32_t size;
	if (!cursor_u32(cursor, &size))
		return false;
	description_add(to, "cacheline size", "%u", size);
	return true;
}
