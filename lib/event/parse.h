/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event strings, as `-e` takes them and perf spells them:
 *
 *	list      = item { ',' item }
 *	item      = event | [ NAME ] '{' event { ',' event } '}' [ ':' modifiers ]
 *	event     = what [ '/' terms '/' [ modifiers ] ] [ ':' modifiers ]
 *	what      = NAME (hardware, software, cache; of a PMU; of libpfm) | 'r' HEX
 *	          | PMU '/' terms '/'
 *	          | SYSTEM ':' TRACEPOINT (globs)
 *	          | 'mem:' ADDRESS [ '/' LENGTH ] [ ':' rwx ]
 *	          | 'kprobe:' FUNCTION [ '+' OFFSET ] | 'uprobe:' PATH ':' SYMBOL [ '+' OFFSET ]
 *	          | 'kretprobe:' … | 'uretprobe:' …
 *	terms     = NAME [ '=' VALUE ] { ',' NAME [ '=' VALUE ] }
 *	modifiers = u k h (count user, kernel, hypervisor only), I (not when idle),
 *	            G H (guest, host only), p pp ppp P (precise instruction addresses),
 *	            D (pinned), e (exclusive), S (read together), W (weak group), b (by BPF)
 *
 * doc/sprof-events.7 explains them.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sprof/record.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/vec.h"

/* Terms that affect how one event is opened: bits of event_terms.given. */
enum event_term {
	EVENT_TERM_PERIOD = 1 << 0,
	EVENT_TERM_FREQ = 1 << 1,
	EVENT_TERM_TIME = 1 << 2,
	EVENT_TERM_CALL_GRAPH = 1 << 3,
	EVENT_TERM_STACK_SIZE = 1 << 4,
	EVENT_TERM_MAX_STACK = 1 << 5,
	EVENT_TERM_MAX_EVENTS = 1 << 6,
	EVENT_TERM_INHERIT = 1 << 7, /* the term inherit or no-inherit */
	EVENT_TERM_OVERWRITE = 1 << 8, /* the term overwrite or no-overwrite */
	EVENT_TERM_BRANCH_TYPE = 1 << 9,
	EVENT_TERM_NAME = 1 << 10,
	EVENT_TERM_PERCORE = 1 << 12,
	EVENT_TERM_AUX_OUTPUT = 1 << 13,
	EVENT_TERM_AUX_ACTION = 1 << 14,
	EVENT_TERM_AUX_SAMPLE_SIZE = 1 << 15,
	EVENT_TERM_CPU = 1 << 16,
};

enum event_terms_call_graph {
	EVENT_TERMS_CALL_GRAPH_NO,
	EVENT_TERMS_CALL_GRAPH_FP,
	EVENT_TERMS_CALL_GRAPH_DWARF,
	EVENT_TERMS_CALL_GRAPH_LBR,
};

/* Terms as in `cycles/period=1000,call-graph=fp/`. Members not in `given` are 0. */
struct event_terms {
	uint32_t given; /* bits of enum event_term */
	uint64_t period, freq_hz;
	bool time, inherit, overwrite, percore, aux_output;
	enum event_terms_call_graph call_graph;
	uint32_t stack_bytes;     /* size of stack copies, with call-graph=dwarf */
	uint32_t max_stack;       /* limit of frames */
	uint64_t branch_type;     /* PERF_SAMPLE_BRANCH_* */
	uint32_t aux_action;      /* attr.aux_action: bit 1 start paused, 2 pause, 4 resume */
	uint32_t aux_sample_bytes;
};

/* Values of `perf stat` that need no kernel event. */
enum event_tool {
	EVENT_TOOL_NONE,
	EVENT_TOOL_DURATION_TIME, /* time from start to end, in ns */
	EVENT_TOOL_USER_TIME,     /* user time by wait4(), in ns */
	EVENT_TOOL_SYSTEM_TIME,
};

/* Purpose of an event. */
enum event_use {
	EVENT_USE_SAMPLES,
	/*
	 * Context switches with stacks. If the kernel refuses them, a dummy event takes their place: its
	 * samples come from the recorder.
	 */
	EVENT_USE_WAITS,
	EVENT_USE_SWITCHES, /* dummy event: SWITCH records in the ring buffer of the samples */
};

/* A requested event. Pointers belong to the specs' arena. */
struct event_spec {
	/*
	 * Name in perf's form: as typed, with modifiers ("cycles:u"), or the value of the term name=.
	 */
	const char *name;
	/*
	 * type, config*, bp_* (kprobe_func and uprobe_path point into the arena), exclude_*,
	 * precise_ip; for leaders also pinned and exclusive. All else is 0. A recording with an AUX
	 * area adds aux_watermark, and `size`: the least size of the planned attr.
	 */
	struct perf_event_attr attr;
	struct sp_attr_tail tail; /* config3, config4 */
	bool modes_given; /* a modifier u, k or h was given */
	bool guest_given; /* a modifier G or H was given */
	bool precise_max; /* modifier P, the highest available precision: precise_ip is 3 */
	bool by_bpf;      /* modifier b: counted by BPF (perf stat) */
	/* {a,b}: members follow their leader. */
	size_t leader;          /* index in specs of the group's leader; its own if it is alone */
	const char *group_name; /* "NAME{a,b}": NAME, or NULL; leaders only */
	bool group_read;        /* modifier S: the leader's samples have all members' counts */
	bool weak;              /* modifier W: if the kernel refuses the group, members are opened
				 * alone, unless group_read */
	struct event_terms terms;
	enum event_use use;
	enum event_tool tool;   /* not NONE: a value without kernel event; attr is a dummy */
	/* Only for PMU events: */
	const char *pmu;        /* its name in sysfs; NULL for the kernel's generic types */
	const char *unit;       /* unit of the count times `scale`, as "Joules"; NULL: none */
	double scale;           /* 1 if the PMU states none */
	bool snapshot, per_package; /* the event's files .snapshot and .per-pkg exist */
	/*
	 * CPUs on which it is counted; NULL: all. Uncore events are counted on one CPU of each socket.
	 */
	const uint32_t *cpus;
	size_t cpu_count;
	bool cpus_only;         /* it cannot be opened for a task, as events of uncore PMUs */
};

/* List of requested events. Zeroed: empty. */
struct event_specs {
	VEC(struct event_spec);
	struct arena arena;
	int32_t pid; /* process that has the memory of mem:PATH:SYMBOL; 0: none runs yet */
};

void event_specs_deinit(struct event_specs *specs);

/*
 * Appends the events of `text`; for globs and for a PMU's name that stands for several, all of
 * them. Files for names that are no generic event are read below the ctx root. Fails with
 * SP_ERROR_INVALID, SP_ERROR_NOT_FOUND or SP_ERROR_PERMISSION (tracefs): the message names the
 * character ("cycles:x: unknown modifier 'x' at character 8"), the remedy lists valid names. *specs
 * is then unchanged.
 */
struct sp_error *event_specs_parse(struct event_specs *specs, const struct sp_ctx *ctx,
				   const char *text) SP_MUST_CHECK;

/*
 * Appends events by libpfm's names (--pfm-events): "NAME[:ATTRIBUTE]…", separated by commas. Fails with
 * SP_ERROR_UNSUPPORTED without libpfm, else like event_specs_parse().
 */
struct sp_error *event_specs_parse_pfm(struct event_specs *specs, const struct sp_ctx *ctx,
				       const char *text) SP_MUST_CHECK;

/* Appends the default event: cycles, with the highest available precision. */
struct sp_error *event_specs_add_default(struct event_specs *specs,
					 const struct sp_ctx *ctx) SP_MUST_CHECK;
