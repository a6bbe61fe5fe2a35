/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scenario.h"

#define SIZE(type) .size = sizeof(struct type)

#define FRAME_POINTERS {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_FP}
#define LIVE {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF}
#define LATER {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF, .unwind = SP_UNWIND_LATER}
#define OFF_CPU {SIZE(sp_capture_sampling), .events = "cpu-clock", .freq_hz = 997, .off_cpu = true}
#define WAKERS                                                                                 \
	{SIZE(sp_capture_sampling), .events = "cpu-clock", .freq_hz = 997, .off_cpu = true, .wakers = true}
#define RATE(hz) {SIZE(sp_capture_sampling), .events = "cpu-clock", .freq_hz = (hz)}
#define NO_BUFFERS {SIZE(sp_capture_buffers)}
#define RING(bytes) {SIZE(sp_capture_buffers), .ring_bytes = (bytes)}
#define PLAIN {SIZE(sp_capture_output), .path = "/out/sprof.data"}
#define NO_SCHEDULE {SIZE(sp_capture_schedule)}

/* Threads and children come and go. */
#define BUSY                                                                                   \
	.tasks = 1, .burst_us = 800, .sleep_us = 300, .thread = 5, .fork = 4, .exec = 50,      \
	.map = 2, .comm = 2, .end = 6, .most = 40, .kernel = 20
#define PREEMPTED BUSY, .slice_us = 300
#define STORM                                                                                  \
	.tasks = 4, .burst_us = 60, .sleep_us = 40, .thread = 30, .fork = 40, .exec = 30,      \
	.map = 10, .end = 40, .most = 200, .kernel = 10

/* Processes that run already. */
#define ROOTS(count)                                                                           \
	.tasks = (count), .burst_us = 900, .sleep_us = 700, .thread = 4, .fork = 4, .exec = 40,  \
	.map = 2, .comm = 2, .end = 4, .most = 4 * (count), .kernel = 20

/* Few sleeps are long, and fewer last for ever. */
#define SLEEPY .long_sleep = 10, .forever = 1
/* Many short waits. */
#define SWITCHES(count)                                                                        \
	.tasks = (count), .burst_us = 100, .sleep_us = 2000, .thread = 1, .fork = 1, .exec = 40, \
	.end = 1, .most = 4 * (count), .long_sleep = 2, .kernel = 20
#define ORDINARY_USER {.uid = 1000, .paranoid = 2}

#define COMMON                                                                                 \
	.sampling = RATE(997), .buffers = NO_BUFFERS, .output = PLAIN, .schedule = NO_SCHEDULE

#define TASKS .scope = SP_CAPTURE_SCOPE_TASK
#define CPUS .scope = SP_CAPTURE_SCOPE_CPU

const struct sim_scenario sim_scenarios[] = {
	{
		.name = "frame-pointers", .cpus = 4, .workload = {BUSY, .life_ms = 400}, TASKS, COMMON,
		.chains = FRAME_POINTERS,
	}, {
		.name = "live", .cpus = 4, .workload = {BUSY, .life_ms = 400}, TASKS, COMMON,
		.chains = LIVE,
	}, {
		.name = "live-cpus", .cpus = 4, .workload = {BUSY, .life_ms = 400}, CPUS, COMMON,
		.chains = LIVE,
	}, {
		.name = "later", .cpus = 4, .workload = {BUSY, .life_ms = 300}, TASKS, COMMON,
		.chains = LATER,
	}, {
		.name = "attach", .cpus = 4, .workload = {ROOTS(6)}, .target = SIM_ATTACH, TASKS, COMMON,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "attach-cpus", .cpus = 4, .workload = {ROOTS(6)}, .target = SIM_ATTACH, CPUS,
		COMMON, .chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "attach-live", .cpus = 4, .workload = {ROOTS(6)}, .target = SIM_ATTACH, TASKS,
		COMMON, .chains = LIVE, .stop_ms = 300,
	}, {
		.name = "storm", .cpus = 8, .workload = {STORM, .life_ms = 200}, TASKS, COMMON,
		.chains = FRAME_POINTERS,
	}, {
		.name = "system", .cpus = 8, .workload = {ROOTS(20)}, .target = SIM_SYSTEM, CPUS, COMMON,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "hold", .cpus = 4, .workload = {ROOTS(20), .forever = 20},
		.target = SIM_SYSTEM, CPUS, COMMON, .chains = FRAME_POINTERS, .stop_ms = 600,
		.holds_metadata = true,
	}, {
		/* Lost records: /proc is read again, where processes have too many mappings. */
		.name = "hold-lost", .cpus = 4, .workload = {STORM, .life_ms = 3000}, CPUS,
		.target = SIM_SYSTEM, .sampling = RATE(997), .buffers = RING(8192), .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = FRAME_POINTERS, .stop_ms = 3000,
		.hesitation_ms = 1500,
		.holds_metadata = true,
	}, {
		.name = "hold-live", .cpus = 4, .workload = {STORM, .life_ms = 300},
		.target = SIM_SYSTEM, CPUS, COMMON, .chains = LIVE, .stop_ms = 300,
		.holds_metadata = true,
	}, {
		.name = "hold-off-cpu", .cpus = 4, .workload = {SWITCHES(20)}, .target = SIM_SYSTEM,
		CPUS, .sampling = OFF_CPU, .buffers = NO_BUFFERS, .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = LIVE, .stop_ms = 600, .holds_metadata = true,
	}, {
		.name = "in-one-call", .cpus = 4, .workload = {BUSY, .life_ms = 400}, CPUS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .output = PLAIN, .chains = FRAME_POINTERS,
		.schedule = {SIZE(sp_capture_schedule), .duration_ns = 200 * SIM_MS}, .in_one_call = true,
	}, {
		.name = "hotplug", .cpus = 6, .workload = {ROOTS(10), .hotplug_ms = 60},
		.target = SIM_SYSTEM, CPUS, COMMON, .chains = FRAME_POINTERS, .stop_ms = 1500,
	}, {
		.name = "rotation", .cpus = 4, .workload = {BUSY, .life_ms = 700}, CPUS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE, .demand_ms = 150,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_on_demand = true},
		.chains = FRAME_POINTERS,
	}, {
		.name = "rotation-live", .cpus = 4, .workload = {BUSY, .life_ms = 700}, TASKS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE, .demand_ms = 300,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_on_demand = true,
			   .switch_bytes = 300000}, .chains = LIVE,
	}, {
		.name = "overwrite", .cpus = 4, .workload = {BUSY, .life_ms = 700}, CPUS,
		.sampling = RATE(997), .schedule = NO_SCHEDULE, .demand_ms = 200, .output = PLAIN,
		.buffers = {SIZE(sp_capture_buffers), .overwrite = true, .ring_bytes = 65536},
		.chains = FRAME_POINTERS,
	}, {
		/* More than the write queue holds. */
		.name = "overwrite-large", .cpus = 3, .workload = {ROOTS(6)}, .target = SIM_ATTACH, CPUS,
		.sampling = RATE(4000), .schedule = NO_SCHEDULE, .output = PLAIN,
		.disk = {.write_ns = 20 * SIM_MS},
		.buffers = {SIZE(sp_capture_buffers), .overwrite = true, .ring_bytes = 64 << 20},
		.chains = {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF,
			   .unwind = SP_UNWIND_LATER, .stack_bytes = 65000, .fixed_stack_bytes = true},
		.stop_ms = 240,
	}, {
		.name = "full-disk", .cpus = 4, .workload = {BUSY, .life_ms = 400}, CPUS, COMMON,
		.disk = {.capacity = 220000}, .chains = FRAME_POINTERS, .may_fail = true,
	}, {
		.name = "max-size", .cpus = 4, .workload = {BUSY, .life_ms = 800}, CPUS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .max_bytes = 300000},
		.chains = FRAME_POINTERS, .may_drop = true,
	}, {
		.name = "max-size-storm", .cpus = 8, .workload = {STORM, .life_ms = 300}, CPUS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .max_bytes = 600000},
		.chains = FRAME_POINTERS, .may_drop = true,
	}, {
		.name = "lost", .cpus = 4, .workload = {BUSY, .life_ms = 500, .throttle = 5}, CPUS,
		.sampling = RATE(9000), .buffers = RING(16384), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .hesitation_ms = 200,
	}, {
		/* Other users' records push out those of the command's exec. */
		.name = "lost-exec", .cpus = 4,
		.workload = {BUSY, .life_ms = 500, .lost_exec = true},
		CPUS, .sampling = RATE(997), .buffers = RING(65536), .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = FRAME_POINTERS,
	}, {
		/* The same without a ring of the command's own. */
		.name = "lost-exec-shared", .cpus = 4,
		.workload = {BUSY, .life_ms = 500, .lost_exec = true, .refuses_own = true},
		CPUS, .sampling = RATE(997), .buffers = RING(65536), .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = FRAME_POINTERS,
	}, {
		.name = "slow-disk", .cpus = 4, .workload = {BUSY, .life_ms = 500}, CPUS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .sync = true},
		.disk = {.write_ns = 200 * SIM_MS, .sync_ns = 100 * SIM_MS, .stall_ns = 800 * SIM_MS},
		.chains = LIVE,
	}, {
		.name = "stop", .cpus = 4, .workload = {BUSY, .life_ms = 2000}, CPUS, COMMON,
		.chains = LIVE, .stop_ms = 250, .hesitation_ms = 30,
	}, {
		.name = "stalls", .cpus = 4, .workload = {BUSY, .life_ms = 1500}, CPUS, COMMON,
		.chains = LIVE, .stall_ms = 400,
	}, {
		.name = "stalls-tasks", .cpus = 4, .workload = {BUSY, .life_ms = 1500}, TASKS,
		.sampling = RATE(2000), .buffers = RING(32768), .schedule = NO_SCHEDULE, .demand_ms = 300,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_on_demand = true},
		.chains = FRAME_POINTERS, .stall_ms = 300,
	}, {
		.name = "stalls-storm", .cpus = 8, .workload = {STORM, .life_ms = 800}, CPUS,
		.sampling = RATE(997), .buffers = RING(16384), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stall_ms = 500,
	}, {
		.name = "toggle", .cpus = 4, .workload = {BUSY, .life_ms = 500}, TASKS, COMMON,
		.chains = FRAME_POINTERS, .demand_ms = 60, .toggles = true,
	}, {
		.name = "toggle-live", .cpus = 4, .workload = {BUSY, .life_ms = 500}, CPUS, COMMON,
		.chains = LIVE, .demand_ms = 60, .toggles = true,
	}, {
		.name = "compressed", .cpus = 4, .workload = {BUSY, .life_ms = 400}, TASKS,
		.sampling = RATE(997), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .compression_level = 1},
		.chains = FRAME_POINTERS,
	}, {
		.name = "off-cpu", .cpus = 4, .workload = {PREEMPTED, .life_ms = 500}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(262144), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS,
	}, {
		.name = "off-cpu-live", .cpus = 4, .workload = {PREEMPTED, .life_ms = 400}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE,
	}, {
		.name = "off-cpu-attach", .cpus = 4, .workload = {ROOTS(6), .slice_us = 300},
		.target = SIM_ATTACH, TASKS,
		.sampling = OFF_CPU, .buffers = RING(262144), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "off-cpu-system", .cpus = 8, .workload = {ROOTS(20), .slice_us = 300},
		.target = SIM_SYSTEM, CPUS,
		.sampling = OFF_CPU, .buffers = RING(262144), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "off-cpu-lost", .cpus = 4, .workload = {PREEMPTED, .life_ms = 500}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(8192), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .hesitation_ms = 200, .may_drop = true,
	}, {
		.name = "off-cpu-wakers", .cpus = 8, .workload = {ROOTS(20), .slice_us = 300},
		.target = SIM_SYSTEM, CPUS,
		.sampling = WAKERS, .buffers = RING(524288), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "snapshots", .cpus = 4, .workload = {PREEMPTED, SLEEPY, .life_ms = 600}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE, .user = ORDINARY_USER, .pauses = 2,
	}, {
		.name = "snapshots-attach", .cpus = 4,
		.workload = {ROOTS(9), SLEEPY, .slice_us = 300, .sleepers = 4}, .target = SIM_ATTACH, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE, .user = ORDINARY_USER, .pauses = 2, .stop_ms = 600,
	}, {
		/* Only descendants' stacks may be read. */
		.name = "snapshots-yama", .cpus = 4, .workload = {PREEMPTED, SLEEPY, .life_ms = 400}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE, .user = {.uid = 1000, .paranoid = 2, .yama = true},
	}, {
		/* The kernel samples context switches, but some of the threads are root's. */
		.name = "snapshots-denied", .cpus = 8,
		.workload = {ROOTS(20), SLEEPY, .slice_us = 300, .sleepers = 10, .others = true},
		.target = SIM_SYSTEM, CPUS, .sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = LIVE, .user = {.uid = 1000, .paranoid = -1},
		.stop_ms = 400,
	}, {
		.name = "snapshots-asleep", .cpus = 4,
		.workload = {ROOTS(9), SLEEPY, .slice_us = 300, .sleepers = 7}, .target = SIM_ATTACH, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE, .pauses = 2, .stop_ms = 400,
	}, {
		/* More switches than are sampled: snapshots replace samples. */
		.name = "snapshots-storm", .cpus = 8, .workload = {SWITCHES(40), .sleepers = 8},
		.target = SIM_SYSTEM, CPUS, .sampling = OFF_CPU, .buffers = RING(2097152), .output = PLAIN,
		.schedule = NO_SCHEDULE, .chains = LIVE, .pauses = 2, .stop_ms = 400,
	}, {
		.name = "snapshots-lost", .cpus = 4, .workload = {PREEMPTED, SLEEPY, .life_ms = 500}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(131072), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE, .user = ORDINARY_USER, .hesitation_ms = 200, .may_drop = true,
	}, {
		.name = "off-cpu-rotation", .cpus = 4, .workload = {PREEMPTED, SLEEPY, .life_ms = 900}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(262144), .schedule = NO_SCHEDULE, .demand_ms = 200,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_on_demand = true},
		.chains = FRAME_POINTERS,
	}, {
		.name = "off-cpu-rotation-time", .cpus = 4,
		.workload = {ROOTS(9), SLEEPY, .slice_us = 300, .sleepers = 4}, .target = SIM_ATTACH, TASKS,
		.sampling = OFF_CPU, .buffers = RING(262144), .schedule = NO_SCHEDULE, .stop_ms = 900,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data",
			   .switch_ns = 150 * SIM_MS}, .chains = FRAME_POINTERS,
	}, {
		.name = "snapshots-rotation", .cpus = 4,
		.workload = {ROOTS(9), SLEEPY, .slice_us = 300, .sleepers = 4}, .target = SIM_ATTACH, TASKS,
		.sampling = OFF_CPU, .buffers = RING(1048576), .schedule = NO_SCHEDULE, .stop_ms = 900,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_ns = 250 * SIM_MS},
		.chains = LIVE, .user = ORDINARY_USER, .pauses = 2,
	}, {
		.name = "off-cpu-rotation-size", .cpus = 4,
		.workload = {PREEMPTED, SLEEPY, .life_ms = 900}, TASKS,
		.sampling = OFF_CPU, .buffers = RING(262144), .schedule = NO_SCHEDULE,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_bytes = 200000},
		.chains = FRAME_POINTERS,
	}, {
		.name = "wakers-attach", .cpus = 4, .workload = {ROOTS(6), .slice_us = 300},
		.target = SIM_ATTACH, TASKS,
		.sampling = WAKERS, .buffers = RING(524288), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 400,
	}, {
		.name = "wakers-live", .cpus = 4, .workload = {PREEMPTED, .life_ms = 400}, TASKS,
		.sampling = WAKERS, .buffers = RING(1048576), .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = LIVE,
	}, {
		/* User stacks of all wake-ups would exceed the ring buffers of a busy machine. */
		.name = "wakers-storm", .cpus = 4, .workload = {SWITCHES(40), .sleepers = 8},
		.target = SIM_ATTACH, TASKS, .sampling = WAKERS, .buffers = RING(262144),
		.output = PLAIN, .schedule = NO_SCHEDULE, .chains = LIVE, .stop_ms = 400,
		.thins = true,
	}, {
		/* Ten minutes; a new file about every half minute. */
		.name = "churn", .cpus = 4, CPUS, .limit_s = 620,
		.workload = {
			.tasks = 1, .burst_us = 800, .sleep_us = 20000, .thread = 5, .fork = 5, .exec = 50,
			.map = 2, .comm = 2, .end = 7, .most = 60, .kernel = 20, .life_ms = 600000,
		},
		.sampling = RATE(99), .buffers = NO_BUFFERS, .schedule = NO_SCHEDULE, .demand_ms = 60000,
		.output = {SIZE(sp_capture_output), .path = "/out/sprof.data", .switch_on_demand = true},
		.chains = FRAME_POINTERS,
	}, {
		/* For tests/budget: the rates make about 20,000 samples. */
		.name = "many-samples", .cpus = 4, .workload = {ROOTS(12)}, .target = SIM_ATTACH,
		CPUS, .limit_s = 600, .sampling = RATE(9000), .buffers = NO_BUFFERS,
		.schedule = {SIZE(sp_capture_schedule), .duration_ns = 720 * SIM_MS},
		.output = PLAIN, .in_one_call = true, .chains = FRAME_POINTERS,
	}, {
		.name = "many-samples-live", .cpus = 4, .workload = {ROOTS(12)},
		.target = SIM_ATTACH, TASKS, .limit_s = 600, .sampling = RATE(9000),
		.buffers = RING(1 << 20), .output = PLAIN, .in_one_call = true,
		.schedule = {SIZE(sp_capture_schedule), .duration_ns = 600 * SIM_MS},
		.chains = {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF,
			   .stack_bytes = 4096, .fixed_stack_bytes = true},
	}, {
		.name = "cpus-256", .cpus = 256, .workload = {ROOTS(60)}, .target = SIM_SYSTEM, CPUS,
		.sampling = RATE(99), .buffers = NO_BUFFERS, .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 200,
	}, {
		.name = "cpus-1024", .cpus = 1024, .workload = {ROOTS(100)}, .target = SIM_SYSTEM, CPUS,
		.sampling = RATE(49), .buffers = NO_BUFFERS, .output = PLAIN, .schedule = NO_SCHEDULE,
		.chains = FRAME_POINTERS, .stop_ms = 100,
	},
};

static bool one_of(uint64_t count)
{
	return !sim_random(SIM_FAULTS, count);
}

struct sim_scenario sim_scenario_random(void)
{
	static const struct sim_scenario bases[] = {
		{.workload = {BUSY, .life_ms = 500}, .target = SIM_COMMAND, COMMON, .chains = LIVE},
		{.workload = {ROOTS(8)}, .target = SIM_ATTACH, COMMON, .chains = FRAME_POINTERS},
		{.workload = {ROOTS(8)}, .target = SIM_SYSTEM, COMMON, .chains = FRAME_POINTERS},
		{.workload = {STORM, .life_ms = 300}, .target = SIM_COMMAND, COMMON, .chains = LATER},
	};
	struct sim_scenario it = bases[sim_random(SIM_FAULTS, 4)];
	it.name = "random";
	it.cpus = 1 + (unsigned int)sim_random(SIM_FAULTS, 12);
	it.stop_ms = it.target == SIM_COMMAND ? 0 : 500;
	it.scope = it.target == SIM_SYSTEM || one_of(2) ? SP_CAPTURE_SCOPE_CPU : SP_CAPTURE_SCOPE_TASK;
	if (one_of(2))
		it.chains = one_of(2) ? bases[0].chains : bases[1].chains;
	it.sampling.freq_hz = one_of(3) ? 4000 : 99 + sim_random(SIM_FAULTS, 1500);
	it.buffers.ring_bytes = one_of(3) ? 16384u << sim_random(SIM_FAULTS, 4) : 0;
	/* Copies of stacks may be too large for the rings; a process to attach to may have ended. */
	it.may_fail = it.buffers.ring_bytes || it.target == SIM_ATTACH;
	it.output.compression_level = one_of(4) ? 1 : 0;
	it.output.sync = one_of(5);
	it.output.switch_on_demand = one_of(3);
	it.demand_ms = it.output.switch_on_demand ? 200 : 0;
	it.output.switch_bytes = one_of(6) ? 200000 : 0;
	it.hesitation_ms = one_of(3) ? 100 : 0;
	it.stall_ms = one_of(4) ? 200 : 0;
	it.workload.hotplug_ms = one_of(5) && it.scope == SP_CAPTURE_SCOPE_CPU ? 90 : 0;
	/* If records were lost, states at the begin of a later file are assumed. */
	it.sampling.off_cpu = one_of(4) && !it.output.switch_on_demand && !it.output.switch_bytes &&
			      (it.target == SIM_SYSTEM || it.scope == SP_CAPTURE_SCOPE_TASK);
	it.workload.throttle = one_of(4) ? 5 : 0;
	it.disk.write_ns = one_of(4) ? 50 * SIM_MS : 0;
	it.disk.sync_ns = one_of(4) ? 30 * SIM_MS : 0;
	return it;
}

const size_t sim_scenario_count = sizeof(sim_scenarios) / sizeof(*sim_scenarios);
