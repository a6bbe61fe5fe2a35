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
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sprof/record.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/vec.h"

/* Terms of one event that say how it is opened, not which it is: bits of event_terms.given. */
enum event_term {
	EVENT_TERM_PERIOD = 1 << 0,
	EVENT_TERM_FREQ = 1 << 1,
	EVENT_TERM_TIME = 1 << 2,
	EVENT_TERM_CALL_GRAPH = 1 << 3,
	EVENT_TERM_STACK_SIZE = 1 << 4,
	EVENT_TERM_MAX_STACK = 1 << 5,
	EVENT_TERM_MAX_EVENTS = 1 << 6,
	EVENT_TERM_INHERIT = 1 << 7, /* inherit or no-inherit */
	EVENT_TERM_OVERWRITE = 1 << 8, /* overwrite or no-overwrite */
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

/* `cycles/period=1000,call-graph=fp/`: what is not in `given` is 0. */
struct event_terms {
	uint32_t given; /* bits of enum event_term */
	uint64_t period, freq_hz;
	bool time, inherit, overwrite, percore, aux_output;
	enum event_terms_call_graph call_graph;
	uint32_t stack_bytes;     /* copied of the stack; with dwarf */
	uint32_t max_stack;       /* frames */
	uint64_t branch_type;     /* PERF_SAMPLE_BRANCH_* */
	uint32_t aux_action;      /* bits of attr.aux_action: 1 start paused, 2 pause, 4 resume */
	uint32_t aux_sample_bytes;
};

/* Values that `perf stat` has without an event of the kernel. */
enum event_tool {
	EVENT_TOOL_NONE,
	EVENT_TOOL_DURATION_TIME, /* ns from start to end */
	EVENT_TOOL_USER_TIME,     /* ns, as wait4() says */
	EVENT_TOOL_SYSTEM_TIME,
};

/* One event that was asked for. Pointers are of the specs' arena. */
struct event_spec {
	/* Name in perf's form: as typed, modifiers included ("cycles:u"), or the term name=. */
	const char *name;
	/*
	 * type, config*, bp_* (kprobe_func and uprobe_path point into the arena), exclude_*,
	 * precise_ip, pinned, exclusive; all else 0. `pinned` and `exclusive` are of leaders alone.
	 */
	struct perf_event_attr attr;
	struct sp_attr_tail tail; /* config3, config4 */
	bool modes_given; /* u, k or h was typed */
	bool guest_given; /* G or H was typed */
	bool precise_max; /* P: as precise as there is, precise_ip is 3 */
	bool by_bpf;      /* b: counted by BPF (perf stat) */
	/* {a,b}: members follow their leader. */
	size_t leader;          /* index in specs of the group's leader; its own if it is alone */
	const char *group_name; /* "NAME{a,b}": NAME, or NULL; leaders only */
	bool group_read;        /* S: samples of the leader hold all members' counts */
	bool weak;              /* W: where the group is refused, its members are taken apart */
	struct event_terms terms;
	enum event_tool tool;   /* not NONE: attr is a dummy */
	/* PMU events only: */
	const char *pmu;        /* its name in sysfs; NULL for the kernel's generic types */
	const char *unit;       /* unit of `scale` times the count ("Joules"); NULL: none */
	double scale;           /* 1 where there is none */
	bool snapshot, per_package; /* .snapshot, .per-pkg */
	/* CPUs to count on; NULL: all. Uncore events count on one CPU for each socket. */
	const uint32_t *cpus;
	size_t cpu_count;
	bool cpus_only;         /* it cannot follow a task: an uncore PMU's */
};

/* Zeroed: empty. */
struct event_specs {
	VEC(struct event_spec);
	struct arena arena;
	int32_t pid; /* the process that mem:PATH:SYMBOL is of; 0: none runs yet */
};

void event_specs_deinit(struct event_specs *specs);

/*
 * Appends the events of `text`; of globs and of a PMU's name that stands for several, all of
 * them. What a name stands for is read below the ctx root where it is no generic event. Fails
 * with SP_ERROR_INVALID, SP_ERROR_NOT_FOUND or SP_ERROR_PERMISSION (tracefs): the message names
 * the character ("cycles:x: unknown modifier 'x' at character 8"), the remedy says what would be
 * valid; *specs is then unchanged.
 */
struct sp_error *event_specs_parse(struct event_specs *specs, const struct sp_ctx *ctx,
				   const char *text) SP_MUST_CHECK;

/*
 * Appends the events of `text` as libpfm names them (--pfm-events): "NAME[:ATTRIBUTE]…", commas
 * between. SP_ERROR_UNSUPPORTED where libpfm is not there; else as above.
 */
struct sp_error *event_specs_parse_pfm(struct event_specs *specs, const struct sp_ctx *ctx,
				       const char *text) SP_MUST_CHECK;

/* Appends what is sampled when nothing was asked for: cycles, as precisely as there is. */
struct sp_error *event_specs_add_default(struct event_specs *specs,
					 const struct sp_ctx *ctx) SP_MUST_CHECK;

#endif
