/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording's configuration: its target, CPUs, stacks, rings, and plan of events. It is made from
 * the options by these functions, in this order:
 *
 *	config_find_unit()      the control group of a unit
 *	config_choose_target()  tasks and CPUs to sample
 *	config_list_events()    events, CPUs, permissions
 *	config_choose_stacks()  call graph and size of the rings, before events are planned
 *	config_request()        the request for events; the session adds its AUX areas to it
 *	config_plan()           the plan of events
 *
 * From then on it is const. The single exception is config_shrink_rings(), while rings are mapped
 * and no event of the plan is open: it changes `ring_pages`, `copies`, and the plan's stack copies.
 *
 * A zeroed struct is empty. All that it has is freed by config_deinit(). Strings of the options are
 * borrowed until then. Notes are added to the caller's, in this order, and are complete after
 * config_plan().
 */
#pragma once

#include "base/vec.h"
#include "capture/config/call_graph.h"
#include "capture/config/off_cpu.h"
#include "capture/config/capture_options.h"
#include "capture/config/stack_copies.h"
#include "capture/notes/notes.h"
#include "event/open.h"
#include "event/rights.h"
#include "proc/sysfs.h"

/* The target of samples. */
enum capture_target {
	CAPTURE_COMMAND,
	CAPTURE_PROCESSES,
	CAPTURE_THREADS,
	CAPTURE_SYSTEM_WIDE,
};

/* Requested events, with their filters and control groups. */
struct capture_events {
	struct event_specs specs;
	struct { VEC(const char *); } filters; /* one for each spec; NULL: none. Borrowed */
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
	struct stack_copies copies;
	struct rights rights;
	struct capture_events events;
	const struct event_plan *plan;
	struct event_plan *own_plan;    /* the same; only for config.c */
	struct cpu_list cpus, online;   /* recorded; of the machine at the start */
	struct ring_pages ring_pages;   /* for each CPU */
	uint64_t kept_registers;        /* user_registers that were requested */
	struct off_cpu off_cpu;
	bool switches; /* the last event has SWITCH records, see events_add_switches() */
	double dither;                  /* variation of the rates of clocks: plan_dither_spread() */
	bool switches_limited;          /* they are recorded only while they are few */
};

/*
 * Returns the index of the event of SWITCH records, if it has no alternates and may be disabled
 * alone; SIZE_MAX: there is none, as with --off-cpu.
 */
static inline size_t config_switch_event(const struct capture_config *config,
					 const struct event_plan *plan)
{
	size_t last = plan->sample_count - 1;
	bool is_last = plan->sample_count && plan->samples[last].attr.context_switch;
	return is_last && !config->off_cpu.on ? last : SIZE_MAX;
}

/* Replaces options->target.unit by its control group, a string of `config`. */
struct sp_error *config_find_unit(const struct sp_ctx *ctx, struct capture_options *options,
				  struct capture_config *config) SP_MUST_CHECK;

/* Fails with SP_ERROR_INVALID where options exclude each other, or there is no target. */
struct sp_error *config_choose_target(const struct capture_options *options,
				      struct capture_config *config) SP_MUST_CHECK;

/*
 * Parses events, opens their control groups, and reads CPUs and permissions. A term call-graph= of
 * all events moves to options->chains. Fails as event_specs_parse() and cgroup_open(), or with
 * SP_ERROR_INVALID if a CPU is not online.
 */
struct sp_error *config_list_events(const struct sp_ctx *ctx, struct capture_options *options,
				    struct capture_config *config) SP_MUST_CHECK;

/* Surveys the target's binaries, and decides as call_graph_choose(). `memory_bytes`: the machine's. */
struct sp_error *config_choose_stacks(const struct sp_ctx *ctx, const struct capture_options *options,
				      uint64_t memory_bytes, struct notes *notes,
				      struct capture_config *config) SP_MUST_CHECK;

/* Makes the request; it refers to `config` and the options. Fails only when out of memory. */
struct sp_error *config_request(const struct capture_config *config,
				const struct capture_options *options, enum event_start start,
				struct notes *notes, struct event_request *ret) SP_MUST_CHECK;

/*
 * Returns the size of an event's stack copies as requested; the plan may have more. `event`: its
 * index.
 */
uint32_t config_stack_bytes(const struct capture_config *config, size_t event);

/* Plans the events. Fails as event_plan_make() and event_filters_check(). */
struct sp_error *config_plan(const struct event_kernel *kernel, const struct sp_ctx *ctx,
			     const struct event_request *request,
			     const struct capture_options *options, struct notes *notes,
			     struct capture_config *config) SP_MUST_CHECK;

/*
 * Checks that rings have room for stack copies. Fails with SP_ERROR_LIMIT if they do not: in
 * contrast to config_choose_stacks(), the call graph is not changed any more.
 */
struct sp_error *config_check_rings(const struct capture_config *config) SP_MUST_CHECK;

/*
 * Chooses the next smaller rings, because others of the same user have locked memory, too. Stack
 * copies shrink with them. Fails as rights_shrink_rings().
 */
struct sp_error *config_shrink_rings(struct capture_config *config) SP_MUST_CHECK;

void config_deinit(struct capture_config *config);
