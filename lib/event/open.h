/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From what was asked to attributes that this kernel and these rights accept: the
 * plan of a recording. Each event is tried, with all its attributes, on our own task
 * (or CPU-wide) and steps down where the kernel refuses; each step is a note.
 */
#ifndef EVENT_OPEN_H
#define EVENT_OPEN_H

#include <time.h>
#include "event/attr_options.h"
#include "event/kernel.h"
#include "event/parse.h"
#include "event/rights.h"

enum event_scope {
	EVENT_SCOPE_TASKS,           /* events follow tasks */
	EVENT_SCOPE_CPUS,            /* events of whole CPUs; refused: an error */
	EVENT_SCOPE_CPUS_IF_ALLOWED, /* CPUs, or tasks without a note */
};

enum event_start {
	EVENT_START_NOW,     /* disabled = 0 */
	EVENT_START_ON_EXEC, /* disabled = 1, enable_on_exec = 1; of whole CPUs: as LATER */
	EVENT_START_LATER,   /* disabled = 1: event_set_enable() */
};

enum event_role { EVENT_ROLE_SAMPLES, EVENT_ROLE_SIDEBAND };
#define EVENT_ROLE_COUNT 2

enum event_callchain {
	EVENT_CALLCHAIN_NONE,
	EVENT_CALLCHAIN_ALL,    /* kernel and user, by frame pointers */
	EVENT_CALLCHAIN_USER,   /* exclude_callchain_kernel */
	EVENT_CALLCHAIN_KERNEL, /* exclude_callchain_user */
	EVENT_CALLCHAIN_NOTHING, /* both: the place alone, for what is put there later */
};

#define EVENT_FREQ_MAX UINT64_MAX
#define EVENT_CLOCK_KERNEL ((clockid_t)-1) /* sched_clock(), of kernels before 4.1 */

/* How to sample. */
struct event_request {
	const struct event_specs *specs;
	enum event_scope scope;
	const char *cpus_for;   /* the option that needs CPU-wide events, for messages; NULL: -a */
	enum event_start start;
	enum event_callchain callchain;
	uint32_t cpu;           /* CPU scopes: where to try */
	uint64_t freq_hz;       /* 0: `period`; EVENT_FREQ_MAX: all that is allowed */
	uint64_t period;        /* fixed; used if freq_hz is 0 */
	bool rate_given;        /* somebody asked for that rate; else some kinds sample each time */
	bool inherit;           /* follow children and threads; tasks only */
	bool inherit_stat;      /* a READ record for each task that ends; with inherit */
	bool exclude_idle;      /* CPU scopes */
	clockid_t clock_id;     /* CLOCK_MONOTONIC where nothing else is asked for */
	/* Wake the poller when so much is in the ring; 0: the kernel's half of it. */
	uint32_t sample_watermark_bytes, sideband_watermark_bytes;
	uint64_t extra_sample_type; /* PERF_SAMPLE_* besides those always taken */
	uint64_t user_registers;    /* sample_regs_user; with PERF_SAMPLE_REGS_USER */
	uint32_t user_stack_bytes;  /* sample_stack_user; with PERF_SAMPLE_STACK_USER */
	/* The same for single events that have call-graph=dwarf; 0: there is no unwinding. */
	uint64_t dump_registers;
	uint32_t dump_stack_bytes;
	bool uniform;               /* all samples have all fields that one of them has */
	uint32_t max_stack;         /* frames that the kernel follows; 0: all that it may */
	/* For each of the specs; NULL: none. */
	const char *const *filters; /* tracepoints' and addresses' */
	const int *cgroups;         /* directories of control groups, open; -1: none */
	size_t cgroup_count;
	struct event_asked asked;   /* further options of samples and side-band */
};

/* An event as it will be opened. */
struct event_planned {
	const char *name;            /* the plan's: "cycles:u" if only that is left */
	struct perf_event_attr attr; /* complete, size included */
	struct sp_attr_tail tail;    /* fields after the attr */
	size_t leader;               /* index of its group's leader; its own: alone, or the leader */
	size_t member_count;         /* members of the group that it leads, with itself; else 0 */
	const char *group_name;      /* leaders only, or NULL */
	bool has_pointer;            /* config1 is an address of ours: of a name, for the kernel */
	const uint32_t *cpus;        /* CPUs to open it on; NULL: all */
	size_t cpu_count;
	const char *filter;          /* the plan's: for PERF_EVENT_IOC_SET_FILTER; or NULL */
	bool in_cgroup;              /* CPU-wide, limited to tasks of that group: */
	int cgroup_fd;               /* the request's */
};

/* Opens an event with `attr`, a variant of its own. Returns a file descriptor, or -errno. */
int event_open_planned(const struct event_kernel *kernel, const struct event_planned *event,
		       const struct perf_event_attr *attr, const struct event_target *target);

/* Whether it is opened on that CPU. */
bool event_planned_on(const struct event_planned *event, uint32_t cpu);

/*
 * Events to open. Attributes of all events agree in sample_id_all, the clock, and the sample_type
 * bits of the fields before READ: IDENTIFIER | IP | TID | TIME | CPU | PERIOD (| ADDR …). The
 * fields after these (READ, CALLCHAIN, RAW, …) may differ, unless the request has `uniform`.
 * Dummies have only EVENT_DUMMY_SAMPLE_TYPE.
 */
struct event_plan {
	struct event_planned *samples;
	size_t sample_count;
	struct event_planned sideband; /* a dummy: mmap, mmap2, build_id, comm, task, ksymbol, … */
	/* Dummies that never fire: the rings of each role are mapped from them. */
	struct perf_event_attr holders[EVENT_ROLE_COUNT];
	struct event_support support;
	struct rights rights;
	bool cpu_wide;                 /* the scope that came out */
	uint64_t freq_hz;              /* the resulting rate; 0: no event samples by frequency */
	clockid_t clock_id;            /* or EVENT_CLOCK_KERNEL */
	struct event_notes notes;
	struct arena arena;
};

/*
 * Fails with cause and remedy where an event cannot be had: cycles become cpu-clock where
 * there are no hardware counters, kernel mode is given up where it is not allowed, and precise
 * addresses that `P` asked for where they are not there; where the kernel does not copy registers
 * and stacks, it follows frame pointers instead. All else that was typed must work.
 */
struct sp_error *event_plan_make(const struct event_kernel *kernel, const struct rights *rights,
				 const struct event_request *request,
				 struct event_plan **ret) SP_MUST_CHECK;
void event_plan_free(struct event_plan *plan);

/* Whether some of its events are counted together. */
bool event_plan_has_groups(const struct event_plan *plan);

#endif
