/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "count/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "proc/sysfs.h"
#include "proc/topology.h"

#define CPU_PATH "/sys/devices/system/cpu"

/* Above the number of cache levels of any CPU. */
#define CACHES_MAX 16

struct sp_stat_place place_nowhere(void)
{
	return (struct sp_stat_place){-1, -1, -1, -1, -1, -1, -1, -1, -1, NULL};
}

/* Returns the first CPU of a list of CPUs in sysfs that share something; -1: it cannot be read. */
static int32_t first_of_list(const struct sp_ctx *ctx, const char *path)
{
	CLEANUP_FREE char *text = NULL;
	struct cpu_list list = {0};
	struct sp_error *error =
		sysfs_read(ctx, path, &text, NULL) ? NULL : cpu_list_parse(&list, text);
	int32_t first = !error && list.count ? (int32_t)list.items[0] : -1;
	sp_error_free(error);
	vec_deinit(&list);
	return first;
}

/* Finds the CPU's data cache of `level` (0: the last). */
static void find_cache(const struct sp_ctx *ctx, uint32_t cpu, uint32_t level,
		       struct sp_stat_place *place)
{
	for (unsigned int i = 0; i < CACHES_MAX; i++) {
		char file[64], path[128];
		snprintf(file, sizeof(file), "cache/index%u/level", i);
		int32_t found = topology_cpu_number(ctx, cpu, file, -1);
		if (found < 0)
			return;
		if (level ? (uint32_t)found != level : found <= place->cache_level)
			continue;
		place->cache_level = found;
		/* Numbers caches by their first CPU, as perf does. */
		snprintf(path, sizeof(path), CPU_PATH "/cpu%u/cache/index%u/shared_cpu_list", cpu, i);
		place->cache = first_of_list(ctx, path);
		if (level)
			return;
	}
}

/* Sets the node with the CPU; 0 if none lists it. Fails only when out of memory. */
static struct sp_error *find_node(const struct sp_numa_node *nodes, size_t count, uint32_t cpu,
				  struct sp_stat_place *place)
{
	place->node = 0;
	for (size_t i = 0; i < count; i++) {
		struct cpu_list list = {0};
		struct sp_error *error = cpu_list_parse(&list, nodes[i].cpus);
		bool lost = error && sp_error_code(error) == SP_ERROR_NO_MEMORY;
		for (size_t j = 0; !error && j < list.count; j++)
			if (list.items[j] == cpu)
				place->node = nodes[i].node;
		vec_deinit(&list);
		if (lost)
			return error;
		sp_error_free(error); /* a node without CPUs */
	}
	return NULL;
}

/* Sets those numbers of the CPU that the aggregation distinguishes; the others stay -1. */
static struct sp_error *place_of_cpu(const struct sp_ctx *ctx, enum sp_stat_aggregate aggregate,
				     uint32_t cache_level, uint32_t cpu,
				     const struct sp_numa_node *nodes, size_t node_count,
				     struct sp_stat_place *ret)
{
	struct sp_stat_place place = place_nowhere();
	bool in_core = aggregate == SP_STAT_CORE;
	bool in_die = in_core || aggregate == SP_STAT_DIE || aggregate == SP_STAT_CLUSTER ||
		      aggregate == SP_STAT_CACHE;
	struct sp_error *error = NULL;
	if (in_die || aggregate == SP_STAT_SOCKET)
		place.socket = topology_cpu_number(ctx, cpu, "topology/physical_package_id", 0);
	if (in_die)
		place.die = topology_cpu_number(ctx, cpu, "topology/die_id", 0);
	if (in_core)
		place.core = topology_cpu_number(ctx, cpu, "topology/core_id", cpu);
	if (aggregate == SP_STAT_CLUSTER)
		place.cluster = topology_cpu_number(ctx, cpu, "topology/cluster_id", 0);
	if (aggregate == SP_STAT_CACHE)
		find_cache(ctx, cpu, cache_level, &place);
	if (aggregate == SP_STAT_CPU)
		place.cpu = cpu;
	if (aggregate == SP_STAT_NODE)
		error = find_node(nodes, node_count, cpu, &place);
	*ret = place;
	return error;
}

static int order_i32(int32_t a, int32_t b)
{
	return (a > b) - (a < b);
}

static int place_compare(const void *a, const void *b)
{
	const struct sp_stat_place *x = a, *y = b;
	int order = order_i32(x->node, y->node);
	order = order ? order : order_i32(x->socket, y->socket);
	order = order ? order : order_i32(x->die, y->die);
	order = order ? order : order_i32(x->cluster, y->cluster);
	order = order ? order : order_i32(x->cache_level, y->cache_level);
	order = order ? order : order_i32(x->cache, y->cache);
	order = order ? order : order_i32(x->core, y->core);
	return order ? order : order_i32(x->cpu, y->cpu);
}

struct sp_error *stat_places_of_cpus(struct stat_places *places, const struct sp_ctx *ctx,
				enum sp_stat_aggregate aggregate, uint32_t cache_level,
				const uint32_t *cpus, size_t cpu_count, uint32_t *place_of)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_numa_node *nodes = NULL;
	size_t node_count = 0;
	struct sp_error *error = NULL;
	CLEANUP_FREE struct sp_stat_place *cpu_places =
		calloc(cpu_count + 1, sizeof(*cpu_places));
	NEED(cpu_places && vec_reserve(places, cpu_count + 1));
	if (aggregate == SP_STAT_NODE)
		error = topology_read_nodes(ctx, &arena, &nodes, &node_count);
	for (size_t i = 0; i < cpu_count && !error; i++) {
		error = place_of_cpu(ctx, aggregate, cache_level, cpus[i], nodes, node_count,
				     &cpu_places[i]);
		*vec_push(places) = cpu_places[i];
	}
	if (error)
		return error;

	/* Sorts places, and removes duplicates. */
	size_t kept = 0;
	vec_sort(places, place_compare);
	vec_each (place, places)
		if (!kept || place_compare(&places->items[kept - 1], place))
			places->items[kept++] = *place;
	places->count = kept;

	for (size_t i = 0; i < cpu_count; i++) {
		const struct sp_stat_place *found =
			bsearch(&cpu_places[i], places->items, places->count,
				sizeof(*places->items), place_compare);
		place_of[i] = found - places->items;
	}
	return NULL;
}
