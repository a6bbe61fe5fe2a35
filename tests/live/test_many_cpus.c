/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated machine of 256 CPUs: each CPU that sprof knows is one of those that there are. Events
 * and rings are real, so that what many threads on many CPUs take is counted and not believed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "event/fd_budget.h"
#include "event/set.h"
#include "proc/sysfs.h"
#include "ring/ring.h"
#include "tap.h"

#define CPUS 256
#define TASKS 8
#define RING_SIZE ((size_t)4 << 10)

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

/*
 * A machine with any number of CPUs: CPU n is real CPU n modulo the real number. Counts open
 * events.
 */
struct simulated {
	struct cpu_list online;
	int open_now, opened; /* atomic */
};

static int open_simulated(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
			  int group_fd, unsigned long flags)
{
	struct simulated *simulated = arg;
	const struct event_kernel *real = event_kernel_real();
	if (cpu >= 0)
		cpu = (int32_t)simulated->online.items[(size_t)cpu % simulated->online.count];
	int fd = real->open(real->arg, attr, pid, cpu, group_fd, flags);
	if (fd < 0)
		return fd;
	__atomic_fetch_add(&simulated->open_now, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&simulated->opened, 1, __ATOMIC_RELAXED);
	return fd;
}

static void close_simulated(void *arg, int fd)
{
	struct simulated *simulated = arg;
	event_kernel_real()->close(event_kernel_real()->arg, fd);
	__atomic_fetch_sub(&simulated->open_now, 1, __ATOMIC_RELAXED);
}

/* Threads to be attached to. They never run. */
struct sleepers {
	pthread_t threads[TASKS];
	int32_t tids[TASKS];
	pthread_barrier_t there, end;
};

struct sleeper {
	struct sleepers *all;
	size_t index;
};

static void *sleep_until_the_end(void *arg)
{
	struct sleeper *sleeper = arg;
	sleeper->all->tids[sleeper->index] = (int32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&sleeper->all->there);
	pthread_barrier_wait(&sleeper->all->end);
	return NULL;
}

static void make_plan(const struct event_kernel *kernel, struct rights *rights,
		      struct event_plan **ret)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	CLEANUP(event_specs_deinit) struct event_specs specs = {0};
	tap_need(sp_ctx_new(&ctx));
	tap_need(rights_read(ctx, rights));
	tap_need(event_specs_parse(&specs, ctx, "cpu-clock:u"));
	const struct event_request request = {
		.specs = &specs, .scope = EVENT_SCOPE_TASKS, .start = EVENT_START_LATER,
		.freq_hz = 997, .inherit = true, .clock_id = CLOCK_MONOTONIC,
	};
	tap_need(event_plan_make(kernel, rights, &request, ret));
}

static void open_role(struct event_set *set, enum event_role role, const struct sleepers *sleepers)
{
	static struct event_place places[TASKS * CPUS];
	size_t open = 0;
	for (uint32_t i = 0; i < TASKS * CPUS; i++)
		places[i] = (struct event_place){.tid = sleepers->tids[i / CPUS], .cpu_index = i % CPUS,
						 .last_cpu = -1};
	tap_need(event_set_open(set, role, places, TASKS * CPUS));
	for (uint32_t i = 0; i < TASKS * CPUS; i++)
		open += places[i].status == EVENT_PLACE_OPEN;
	tap_result(open == TASKS * CPUS, "%d threads on %d CPUs: %zu places are open", TASKS, CPUS, open);
}

/* False where so much may not be locked. */
static bool map_rings(const struct event_set *set, struct ring *rings)
{
	for (size_t i = 0; i < CPUS; i++)
		for (enum event_role role = 0; role < EVENT_ROLE_COUNT; role++) {
			struct ring *ring = &rings[i * EVENT_ROLE_COUNT + role];
			CLEANUP(cleanup_sp_error_free) struct sp_error *error =
				ring_map(ring, event_set_ring_fd(set, i, role), RING_SIZE);
			if (error)
				return false;
		}
	return true;
}

static void attach(const struct event_kernel *kernel, struct simulated *simulated,
		   const struct sleepers *sleepers)
{
	struct rights rights;
	struct event_plan *plan;
	struct event_set *set;
	uint32_t cpus[CPUS];
	uint64_t soft;
	static struct ring rings[CPUS * EVENT_ROLE_COUNT];
	const struct sp_event *events;
	size_t count;
	for (uint32_t i = 0; i < CPUS; i++)
		cpus[i] = i;
	make_plan(kernel, &rights, &plan);
	const struct event_demand demand = {TASKS, CPUS, plan->sample_count + 1};
	const struct event_demand many = {2000, CPUS, plan->sample_count + 1};
	tap_result(event_set_fds_needed(plan, CPUS, 2000 * CPUS) == demand_files(&many),
		   "2,000 threads are reckoned alike");
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		rights_raise_files(&rights, demand_files(&demand), &soft);
	if (error) {
		tap_skip("256 CPUs", sp_error_message(error));
		event_plan_free(plan);
		return;
	}
	simulated->opened = simulated->open_now = 0;
	tap_need(event_set_new(kernel, plan, cpus, CPUS, &set));
	if (map_rings(set, rings)) {
		open_role(set, EVENT_ROLE_SIDEBAND, sleepers);
		open_role(set, EVENT_ROLE_SAMPLES, sleepers);
		tap_result((uint64_t)simulated->open_now == demand_files(&demand),
			   "%d descriptors, as reckoned", simulated->open_now);
		tap_result(simulated->opened == simulated->open_now, "and none was opened in vain");
		tap_need(event_set_events(set, &events, &count));
		tap_result(count == 2 && events[0].id_count == TASKS * CPUS &&
			   events[1].id_count == TASKS * CPUS, "each with its id");
	} else {
		tap_skip("256 CPUs", "rings may not be locked");
	}
	for (size_t i = 0; i < CPUS * EVENT_ROLE_COUNT; i++)
		ring_deinit(&rings[i]);
	event_set_free(set);
	tap_result(!simulated->open_now, "all are closed");
	event_plan_free(plan);
}

int main(void)
{
	struct event_support support;
	struct simulated simulated = {0};
	struct sleepers sleepers;
	struct sleeper each[TASKS];
	const struct event_kernel kernel = {.open = open_simulated, .close = close_simulated,
					    .arg = &simulated};
	int errnum = event_support_probe(event_kernel_real(), &support);
	if (errnum)
		return tap_skip_all("perf_event_open is refused", errnum);
	setvbuf(stdout, NULL, _IOLBF, 0);
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	tap_need(sp_ctx_new(&ctx));
	tap_need(sysfs_cpus_online(ctx, &simulated.online));
	pthread_barrier_init(&sleepers.there, NULL, TASKS + 1);
	pthread_barrier_init(&sleepers.end, NULL, TASKS + 1);
	for (size_t i = 0; i < TASKS; i++) {
		each[i] = (struct sleeper){&sleepers, i};
		pthread_create(&sleepers.threads[i], NULL, sleep_until_the_end, &each[i]);
	}
	pthread_barrier_wait(&sleepers.there);
	attach(&kernel, &simulated, &sleepers);
	pthread_barrier_wait(&sleepers.end);
	for (size_t i = 0; i < TASKS; i++)
		pthread_join(sleepers.threads[i], NULL);
	vec_deinit(&simulated.online);
	return tap_end();
}
