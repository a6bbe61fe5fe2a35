/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/drain_threads.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "proc/topology.h"

/* Returns a number that the CPUs of one thread have in common. */
typedef uint64_t (*common_fn)(const struct sp_cpu_place *place);

static uint64_t by_core(const struct sp_cpu_place *place)
{
	return hash_pair((uint32_t)place->package, (uint32_t)place->core);
}

static uint64_t by_package(const struct sp_cpu_place *place)
{
	return (uint32_t)place->package;
}

/* Numbers equal keys as they come; *count_ret of them. */
static struct sp_error *number_keys(const uint64_t *keys, size_t count, uint32_t *groups_ret,
				    size_t *count_ret)
{
	struct u64map numbers = {0};
	bool done = true;
	for (size_t i = 0; i < count && done; i++) {
		const uint32_t *number = u64map_put(&numbers, keys[i], numbers.count, NULL);
		done = number != NULL;
		groups_ret[i] = done ? *number : 0;
	}
	*count_ret = numbers.count;
	u64map_deinit(&numbers);
	return done ? NULL : error_no_memory();
}

/* CPUs without a known place get the same key. */
static struct sp_error *topology_keys(const struct sp_ctx *ctx, const struct cpu_list *cpus,
				      common_fn common, uint64_t *keys)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_cpu_topology topology = {0};
	struct sp_error *error =
		topology_read_cpus(ctx, topology_cpu_limit(ctx), &arena, &topology);
	for (size_t i = 0; i < cpus->count && !error; i++)
		keys[i] = cpus->items[i] < topology.place_count
				  ? common(&topology.places[cpus->items[i]])
				  : 0;
	return error;
}

static struct sp_error *node_keys(const struct sp_ctx *ctx, const struct cpu_list *cpus,
				  uint64_t *keys)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_numa_node *nodes = NULL;
	size_t count = 0;
	struct sp_error *error = topology_read_nodes(ctx, &arena, &nodes, &count);
	for (size_t n = 0; n < count && !error; n++) {
		struct cpu_list members = {0};
		error = nodes[n].cpus && *nodes[n].cpus ? cpu_list_parse(&members, nodes[n].cpus) : NULL;
		for (size_t i = 0; i < cpus->count && !error; i++)
			vec_each (member, &members)
				if (*member == cpus->items[i])
					keys[i] = nodes[n].node + 1;
		vec_deinit(&members);
	}
	return error;
}

struct sp_error *drain_groups_make(const struct sp_ctx *ctx, enum sp_capture_threads by, size_t wanted,
				   const struct cpu_list *cpus, uint32_t *groups_ret, size_t *count_ret)
{
	CLEANUP_FREE uint64_t *keys = calloc(cpus->count, sizeof(*keys));
	NEED(keys);
	struct sp_error *error = NULL;
	switch (by) {
	case SP_CAPTURE_THREADS_CORE:
		error = topology_keys(ctx, cpus, by_core, keys);
		break;
	case SP_CAPTURE_THREADS_PACKAGE:
		error = topology_keys(ctx, cpus, by_package, keys);
		break;
	case SP_CAPTURE_THREADS_NUMA:
		error = node_keys(ctx, cpus, keys);
		break;
	default:
		for (size_t i = 0; i < cpus->count; i++)
			keys[i] = i * wanted / cpus->count;
	}
	return error ? error : number_keys(keys, cpus->count, groups_ret, count_ret);
}

size_t drain_groups_wanted(const struct capture_options *options, size_t cpus, uint32_t stack_bytes)
{
	const struct sp_capture_buffers *buffers = &options->buffers;
	/* Ring buffers in overwrite mode are not drained. */
	if (buffers->overwrite)
		return 0;
	switch (buffers->threads) {
	case SP_CAPTURE_THREADS_AUTO:
		/* With a wake-up for N samples, samples are written at once, without a relay. */
		if (buffers->wakeup_samples || options->sampling.samples == SP_OFF)
			return 0;
		return drain_threads_worthwhile(cpus, stack_bytes);
	case SP_CAPTURE_THREADS_NONE:
		return 0;
	case SP_CAPTURE_THREADS_FIXED:
		return buffers->thread_count < cpus ? buffers->thread_count : cpus;
	default:
		return cpus;
	}
}
