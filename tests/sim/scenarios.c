/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scenario.h"

#define SIZE(type) .size = sizeof(struct type)

#define FRAME_POINTERS {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_FP}
#define LIVE {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF}
#define LATER {SIZE(sp_capture_chains), .call_graph = SP_CALL_GRAPH_DWARF, .unwind = SP_UNWIND_LATER}
#define RATE(hz) {SIZE(sp_capture_sampling), .events = "cpu-clock", .freq_hz = (hz)}
#define NO_BUFFERS {SIZE(sp_capture_buffers)}
#define RING(bytes) {SIZE(sp_capture_buffers), .ring_bytes = (bytes)}
#define PLAIN {SIZE(sp_capture_output), .path = "/out/sprof.data"}
#define NO_SCHEDULE {SIZE(sp_capture_schedule)}

/* Threads and children come and go. */
#define BUSY                                                                                   \
	.tasks = 1, .burst_us = 800, .sleep_us = 300, .thread = 5, .fork = 4, .exec = 50,      \
	.map = 2, .comm = 2, .end = 6, .most = 40, .kernel = 20
#define STORM                                                                                  \
	.tasks = 4, .burst_us = 60, .sleep_us = 40, .thread = 30, .fork = 40, .exec = 30,      \
	.map = 10, .end = 40, .most = 200, .kernel = 10

#define COMMON                                                                                 \
	.sampling = RATE(997), .buffers = NO_BUFFERS, .output = PLAIN, .schedule = NO_SCHEDULE

const struct sim_scenario sim_scenarios[] = {
	{
		.name = "frame-pointers", .cpus = 4, .workload = {BUSY, .life_ms = 400},
		.scope = SP_CAPTURE_SCOPE_TASK, COMMON, .chains = FRAME_POINTERS,
	},
};

const size_t sim_scenario_count = sizeof(sim_scenarios) / sizeof(*sim_scenarios);
