/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which CPUs' rings are drained by which thread: as the option says, else by how fast they fill
 * and how many there are.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "capture/recorder.h"
#include "proc/topology.h"

/* So much waits for the round before it is woken for it. */
#define NOTIFY_STACKS (UINT64_C(256) << 10)
#define NOTIFY_SMALL (UINT64_C(512) << 10)

/* What CPUs of one thread have in common; a number that others do not have. */
typedef uint64_t (*common_fn)(const struct sp_cpu_place *place);

static uint64_t by_core(const struct sp_cpu_place *place)
{
	return hash_pair((uint32_t)place->package, (uint32_t)place->core);
}

static uint64_t by_package(const struct sp_cpu_place *place)
{
	return (uint32_t)place->package;
}

/* Groups are numbered as they come; *count_ret of them. */
static struct sp_error *group_by(struct drain_place *places, size_t count, const uint64_t *keys,
				 size_t *count_ret)
{
	struct u64map groups = {0};
	bool done = true;
	for (size_t i = 0; i < count && done; i++) {
		const uint32_t *group = u64map_put(&groups, keys[i], (uint32_t)groups.count, NULL);
		done = group != NULL;
		places[i].group = done ? *group : 0;
	}
	*count_ret = groups.count;
	u64map_deinit(&groups);
	return done ? NULL : error_no_memory();
}

/* Where nothing is known of a CPU, it goes with the others of which nothing is. */
static struct sp_error *topology_keys(const struct sp_capture *capture, common_fn common,
				      uint64_t *keys)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_cpu_topology topology = {0};
	uint32_t limit = topology_cpu_limit(capture->ctx);
	struct sp_error *error = topology_read_cpus(capture->ctx, limit, &arena, &topology);
	for (size_t i = 0; i < capture->config.cpus.count && !error; i++)
		keys[i] = capture->config.cpus.items[i] < topology.place_count
				  ? common(&topology.places[capture->config.cpus.items[i]])
				  : 0;
	return error;
}

static struct sp_error *node_keys(const struct sp_capture *capture, uint64_t *keys)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_numa_node *nodes = NULL;
	size_t count = 0;
	struct sp_error *error = topology_read_nodes(capture->ctx, &arena, &nodes, &count);
	for (size_t n = 0; n < count && !error; n++) {
		struct cpu_list cpus = {0};
		error = nodes[n].cpus && *nodes[n].cpus ? cpu_list_parse(&cpus, nodes[n].cpus) : NULL;
		for (size_t i = 0; i < capture->config.cpus.count && !error; i++)
			for (size_t j = 0; j < cpus.count; j++)
				if (cpus.items[j] == capture->config.cpus.items[i])
					keys[i] = nodes[n].node + 1;
		vec_deinit(&cpus);
	}
	return error;
}

static struct sp_error *group_places(const struct sp_capture *capture, enum sp_capture_threads by,
				     size_t wanted, struct drain_place *places, size_t *count_ret)
{
	size_t count = capture->config.cpus.count;
	CLEANUP_FREE uint64_t *keys = calloc(count, sizeof(*keys));
	if (!keys)
		return error_no_memory();
	struct sp_error *error = NULL;
	switch (by) {
	case SP_CAPTURE_THREADS_CORE:
		error = topology_keys(capture, by_core, keys);
		break;
	case SP_CAPTURE_THREADS_PACKAGE:
		error = topology_keys(capture, by_package, keys);
		break;
	case SP_CAPTURE_THREADS_NUMA:
		error = node_keys(capture, keys);
		break;
	default:
		for (size_t i = 0; i < count; i++)
			keys[i] = i * wanted / count;
	}
	return error ? error : group_by(places, count, keys, count_ret);
}

/* 0: none. */
static size_t threads_wanted(const struct sp_capture *capture,
			     const struct capture_options *options)
{
	size_t cpus = capture->config.cpus.count;
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	bool dumps = attr->sample_type & PERF_SAMPLE_STACK_USER;
	/* Rings that go round are not drained. */
	if (options->buffers.overwrite)
		return 0;
	switch (options->buffers.threads) {
	case SP_CAPTURE_THREADS_AUTO:
		/* Who wants to be woken for each sample has it written at once. */
		if (options->buffers.wakeup_samples || options->sampling.samples == SP_OFF)
			return 0;
		return drains_worthwhile(cpus, dumps ? attr->sample_stack_user : 0);
	case SP_CAPTURE_THREADS_NONE:
		return 0;
	case SP_CAPTURE_THREADS_COUNT:
		return options->buffers.thread_count < cpus ? options->buffers.thread_count : cpus;
	default:
		return cpus;
	}
}

/* One for each ring, to be freed; NULL: no memory. */
static struct drain_place *make_places(const struct sp_capture *capture)
{
	struct drain_place *places = calloc(capture->config.cpus.count, sizeof(*places));
	for (size_t i = 0; places && i < capture->config.cpus.count; i++)
		places[i] = (struct drain_place){
			.ring = &sample_rings(capture)[i],
			.fd = event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SAMPLES),
			.cpu = capture->config.cpus.items[i],
		};
	return places;
}

struct sp_error *capture_retouches(struct sp_capture *capture)
{
	size_t count = capture->config.cpus.count;
	uint64_t ring_bytes = sample_rings(capture)[0].size;
	if (capture->bank.drains || capture->flight.on || !retouch_is_needed(&capture->bank.retouch))
		return NULL;
	CLEANUP_FREE struct drain_place *places = make_places(capture);
	if (!places)
		return error_no_memory();
	const struct drains_options drains = {
		.places = places, .count = count, .threads = 1, .by_reader = true,
		.relay_bytes = drains_relay_bytes(ring_bytes, count, 0),
		.record_max = CAPTURE_RECORD_MAX,
	};
	return drains_new(&drains, &capture->bank.drains);
}

static void *new_probe(void *arg)
{
	return unwinding_probe_new(arg);
}

static void on_arrival(void *arg, void *state, const struct ring *ring, uint64_t end)
{
	unwinding_on_arrival(arg, state, ring, end);
}

struct sp_error *capture_start_drains(struct sp_capture *capture,
				      const struct capture_options *options)
{
	size_t count = capture->config.cpus.count, threads = threads_wanted(capture, options);
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	bool dumps = attr->sample_type & PERF_SAMPLE_STACK_USER;
	if (!threads)
		return capture_retouches(capture);
	CLEANUP_FREE struct drain_place *places = make_places(capture);
	if (!places)
		return error_no_memory();
	struct sp_error *error = group_places(capture, options->buffers.threads, threads, places, &threads);
	if (error)
		return error;
	const struct drains_options drains = {
		.places = places, .count = count, .threads = threads,
		.relay_bytes = drains_relay_bytes(sample_rings(capture)[0].size, count,
						  dumps ? attr->sample_stack_user : 0),
		.notify_bytes = options->buffers.wakeup_samples ? 1 : dumps ? NOTIFY_STACKS : NOTIFY_SMALL,
		.record_max = CAPTURE_RECORD_MAX,
		.realtime = capture->config.realtime,
		.on_arrival = capture->samples.unwinding ? on_arrival : NULL,
		.new_state = new_probe, .arg = capture->samples.unwinding,
	};
	return drains_new(&drains, &capture->bank.drains);
}
