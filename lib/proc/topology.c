/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/topology.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "proc/sysfs.h"

#define CPU_PATH "/sys/devices/system/cpu"
#define NODE_PATH "/sys/devices/system/node"

/* Limit of NUMA nodes: more than any kernel supports. */
#define NODES_MAX 1024

/* Distinct CPU lists ("0-3,8"), in the kernel's notation. */
struct cpu_lists {
	VEC(const char *);
};

struct topology {
	const struct sp_ctx *ctx;
	struct arena *arena;
	uint32_t cpu_count;
	struct sp_cpu_place *places;
	struct cpu_lists packages, cores, dies;
};

static void topology_deinit(struct topology *topology)
{
	vec_deinit(&topology->packages);
	vec_deinit(&topology->cores);
	vec_deinit(&topology->dies);
}

static char *read_of_cpu(const struct topology *topology, uint32_t cpu, const char *file)
{
	char path[128];
	snprintf(path, sizeof(path), CPU_PATH "/cpu%u/topology/%s", cpu, file);
	return sysfs_line(topology->ctx, path);
}

int32_t topology_cpu_number(const struct sp_ctx *ctx, uint32_t cpu, const char *file, int32_t none)
{
	char path[128];
	int64_t number = none;
	snprintf(path, sizeof(path), CPU_PATH "/cpu%u/%s", cpu, file);
	struct sp_error *error = sysfs_read_i64(ctx, path, &number);
	bool good = !error && number >= 0 && number <= INT32_MAX;
	sp_error_free(error);
	return good ? (int32_t)number : none;
}

/* Adds a CPU list unless it is NULL or there already; false when out of memory. */
static bool add_list(struct topology *topology, struct cpu_lists *lists, const char *text)
{
	if (!text)
		return true;
	vec_each (list, lists)
		if (!strcmp(*list, text))
			return true;
	const char **slot = vec_push(lists);
	if (slot)
		*slot = arena_strdup(topology->arena, text);
	return slot && *slot;
}

/* Sets the place of all CPUs in the list `text`; false when out of memory. */
static bool place_cpus(struct topology *topology, const char *text, struct sp_cpu_place place)
{
	struct cpu_list list = {0};
	struct sp_error *error = cpu_list_parse(&list, text);
	bool good = !error || sp_error_code(error) != SP_ERROR_NO_MEMORY;
	for (size_t i = 0; !error && i < list.count; i++)
		if (list.items[i] < topology->cpu_count)
			topology->places[list.items[i]] = place;
	sp_error_free(error);
	vec_deinit(&list);
	return good;
}

/*
 * Reads the topology of a new core from the files of one of its CPUs, and that of the package and
 * die if it is their first core. Old kernels have other names of files. False when out of memory.
 */
static bool read_core(struct topology *topology, uint32_t cpu)
{
	CLEANUP_FREE char *core = read_of_cpu(topology, cpu, "core_cpus_list")
					  ?: read_of_cpu(topology, cpu, "thread_siblings_list");
	const struct sp_ctx *ctx = topology->ctx;
	const struct sp_cpu_place place = {
		.core = topology_cpu_number(ctx, cpu, "topology/core_id", -1),
		.package = topology_cpu_number(ctx, cpu, "topology/physical_package_id", -1),
		.die = topology_cpu_number(ctx, cpu, "topology/die_id", -1),
	};
	bool is_new_package = true;
	for (uint32_t i = 0; i < topology->cpu_count && is_new_package; i++)
		is_new_package = topology->places[i].core < 0 ||
				 topology->places[i].package != place.package ||
				 topology->places[i].die != place.die;
	if (is_new_package) {
		CLEANUP_FREE char *package =
			read_of_cpu(topology, cpu, "package_cpus_list")
				?: read_of_cpu(topology, cpu, "core_siblings_list");
		CLEANUP_FREE char *die = read_of_cpu(topology, cpu, "die_cpus_list");
		if (!add_list(topology, &topology->packages, package) ||
		    !add_list(topology, &topology->dies, die))
			return false;
	}
	topology->places[cpu] = place;
	return add_list(topology, &topology->cores, core) &&
	       (!core || place_cpus(topology, core, place));
}

/* Copies the lists to a NULL-terminated array; leaves *ret as it is if there are none. */
static bool hand_over(struct topology *topology, const struct cpu_lists *lists,
		      const char *const **ret)
{
	if (!lists->count)
		return true;
	const char **copy = arena_alloc(topology->arena, (lists->count + 1) * sizeof(*copy));
	if (!copy)
		return false;
	memcpy(copy, lists->items, lists->count * sizeof(*copy));
	copy[lists->count] = NULL;
	*ret = copy;
	return true;
}

struct sp_error *topology_read_cpus(const struct sp_ctx *ctx, uint32_t cpu_count,
				    struct arena *arena, struct sp_cpu_topology *ret)
{
	CLEANUP(topology_deinit) struct topology topology = {
		.ctx = ctx, .arena = arena, .cpu_count = cpu_count,
		.places = arena_alloc(arena, (cpu_count + 1) * sizeof(struct sp_cpu_place)),
	};
	struct sp_cpu_topology made = {.places = topology.places, .place_count = cpu_count};
	NEED(topology.places);
	for (uint32_t i = 0; i < cpu_count; i++)
		topology.places[i] = (struct sp_cpu_place){-1, -1, -1};
	for (uint32_t i = 0; i < cpu_count; i++)
		if (topology.places[i].core < 0 && !read_core(&topology, i))
			return error_no_memory();
	NEED(hand_over(&topology, &topology.packages, &made.packages) &&
	     hand_over(&topology, &topology.cores, &made.cores) &&
	     hand_over(&topology, &topology.dies, &made.dies));
	*ret = made.packages && made.cores ? made : (struct sp_cpu_topology){0};
	return NULL;
}

/* Reads a number from a line such as "Node 0 MemTotal:        8143240 kB". */
static uint64_t memory_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static struct sp_error *read_node(const struct sp_ctx *ctx, struct arena *arena, uint32_t number,
				  struct sp_numa_node *ret)
{
	char path[128];
	snprintf(path, sizeof(path), NODE_PATH "/node%u/cpulist", number);
	CLEANUP_FREE char *cpus = sysfs_line(ctx, path); /* NULL: a node without CPUs */
	CLEANUP_FREE char *memory = NULL;
	snprintf(path, sizeof(path), NODE_PATH "/node%u/meminfo", number);
	if (sysfs_read(ctx, path, &memory, NULL))
		memory = NULL;
	*ret = (struct sp_numa_node){
		.node = number,
		.total_kb = memory ? memory_of(memory, "MemTotal:") : 0,
		.free_kb = memory ? memory_of(memory, "MemFree:") : 0,
		.cpus = arena_copy_string(arena, cpus ? cpus : "", cpus ? strlen(cpus) : 0),
	};
	return ret->cpus ? NULL : error_no_memory();
}

struct sp_error *topology_read_nodes(const struct sp_ctx *ctx, struct arena *arena,
				     struct sp_numa_node **ret, size_t *count_ret)
{
	CLEANUP_FREE char *online = sysfs_line(ctx, NODE_PATH "/online");
	struct cpu_list numbers = {0};
	*ret = NULL;
	*count_ret = 0;
	/* Node lists have the syntax of CPU lists. */
	struct sp_error *error = online ? cpu_list_parse(&numbers, online) : NULL;
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY)
		sp_error_free(take_ptr(error));
	size_t count = error || numbers.count > NODES_MAX ? 0 : numbers.count;
	struct sp_numa_node *nodes = count ? arena_alloc(arena, count * sizeof(*nodes)) : NULL;
	if (count && !nodes)
		error = error_no_memory();
	for (size_t i = 0; i < count && !error; i++)
		error = read_node(ctx, arena, numbers.items[i], &nodes[i]);
	vec_deinit(&numbers);
	if (error)
		return error;
	*ret = nodes;
	*count_ret = count;
	return NULL;
}

uint32_t topology_cpu_limit(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *present = sysfs_line(ctx, CPU_PATH "/present");
	struct cpu_list list = {0};
	struct sp_error *error = present ? cpu_list_parse(&list, present) : NULL;
	uint32_t limit = !error && list.count ? *vec_last(&list) + 1 : 0;
	sp_error_free(error);
	vec_deinit(&list);
	return limit;
}
