/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a recording is asked to record, and the plan of its events. */
#ifndef CAPTURE_CONFIG_CONFIG_H
#define CAPTURE_CONFIG_CONFIG_H

#include "base/vec.h"
#include "capture/config/graph.h"
#include "capture/config/options.h"
#include "event/open.h"
#include "event/rights.h"
#include "proc/sysfs.h"

/* Whose samples are wanted. */
enum capture_target {
	CAPTURE_COMMAND,
	CAPTURE_PROCESSES,
	CAPTURE_THREADS,
	CAPTURE_EVERYONE,
};

/* What is sampled by, and of what. */
struct capture_events {
	struct event_specs specs;
	struct { VEC(const char *); } filters; /* of each of the specs; NULL: none. Borrowed */
	struct { VEC(int); } cgroups;          /* the same; -1: none */
};

struct capture_config {
	enum capture_target target;
	bool inherit, threads_only;
	uint32_t realtime;
	char *command_name;
	char *unit_path;                 /* the control group of options.target.unit */
	bool tail_synthesize;
	uint64_t duration_ns;            /* limit of sp_capture_run(); 0: none */
	struct call_graph graph;
	struct rights rights;
	struct capture_events events;
	struct event_plan *plan;
	struct cpu_list cpus, online;   /* recorded; of the machine at the start */
	struct ring_pages ring_pages;   /* of each CPU, as far as is known to be allowed */
	uint64_t kept_registers;        /* user_registers that somebody asked for */
};

#endif
