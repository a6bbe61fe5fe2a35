/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan of a recording: attributes that this kernel and these permissions accept. Each event is
 * tried with all its attributes, on the own task or on a CPU. If the kernel refuses it, attributes are
 * reduced step by step, with a note for each step.
 */
#pragma once

#include <time.h>
#include "event/kernel_calls.h"
#include "event/parse.h"
#include "event/rights.h"

/* Requested options of samples and metadata records, and the attributes that they set. */

/* Requested options. Zeroed: none. */
struct event_asked {
	uint64_t sample_type;    /* PERF_SAMPLE_*, except bits that need one of the members below */
	bool weight; /* request PERF_SAMPLE_WEIGHT_STRUCT, or PERF_SAMPLE_WEIGHT before Linux
		      * 5.12 */
	uint64_t branch_type;    /* PERF_SAMPLE_BRANCH_*; not 0: record branch stacks */
	uint64_t user_registers; /* registers of user space to record, as bits of perf's register
				    numbers */
	uint64_t interrupt_registers;
	uint64_t read_format;    /* PERF_FORMAT_TOTAL_TIME_* */
	uint32_t wakeup_events;  /* wake the reader after this many samples; 0: by bytes */
	uint32_t wakeup_waits;   /* the same for the event of waits */
	bool no_samples;         /* events only count; only metadata is recorded */
	bool strict_freq;        /* a rate above the kernel's limit is an error, not a note */
	bool inherit_thread;     /* events are inherited by threads, not by child processes */
	bool remove_on_exec;
	bool write_backward;     /* rings overwrite the oldest samples by the newest */
	bool defer_callchain; /* the kernel defers user frames until they can be read, at the return
			       * to user space */
	/* Metadata: */
	bool mmap_data;          /* record mappings that are not executable, too */
	bool context_switch, namespaces, cgroup;
	bool no_bpf_event;
};

/* Sets attributes for all events of the recording. */
void event_attr_set_options(const struct event_asked *asked, const struct event_support *support,
			    struct perf_event_attr *attr);

/* Sets attributes for sampling events. attr->inherit must already have its final value. */
void event_attr_set_sampling(const struct event_asked *asked, struct perf_event_attr *attr);

/*
 * Sets attributes for the event of metadata records (tasks and mappings). `kernel`: kernel mode is
 * sampled, too.
 */
void event_attr_set_sideband(const struct event_asked *asked, const struct event_support *support,
			     bool kernel, struct perf_event_attr *attr);

/*
 * Register x30 of arm64: leaf functions keep their return address there, where no frame pointer
 * leads. It is recorded with frame pointer chains, as perf does. 0 on other architectures.
 */
#if defined(__aarch64__)
#define EVENT_LEAF_REGISTERS (UINT64_C(1) << 30)
#else
#define EVENT_LEAF_REGISTERS UINT64_C(0)
#endif

/* Adds the register of EVENT_LEAF_REGISTERS to an attr with user call chains by frame pointers. */
static inline void event_request_leaf(struct perf_event_attr *attr)
{
	if (!EVENT_LEAF_REGISTERS)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user |= EVENT_LEAF_REGISTERS;
}

/* Bits of sample_type for dummy events. They never sample, but their records need an id. */
#define EVENT_DUMMY_SAMPLE_TYPE                                                          \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |          \
		    PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |          \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD))

/*
 * Returns an option without effect because all events are software events: "-W" needs hardware
 * weights. NULL: none.
 */
const char *event_option_without_effect(const struct event_asked *asked, bool all_software);

enum event_scope {
	EVENT_SCOPE_TASKS,	     /* events are opened for tasks */
	EVENT_SCOPE_CPUS,	     /* events are opened for whole CPUs; a refusal is an error */
	EVENT_SCOPE_CPUS_IF_ALLOWED, /* events are opened for whole CPUs if permitted, else for
				      * tasks without a note */
};

enum event_start {
	EVENT_START_NOW,     /* enabled when opened: disabled = 0 */
	EVENT_START_ON_EXEC, /* enabled by exec: disabled = 1, enable_on_exec = 1; for whole CPUs
			      * like EVENT_START_LATER */
	EVENT_START_LATER,   /* enabled by event_set_switch_event(): disabled = 1 */
};

enum event_role { EVENT_ROLE_SAMPLES, EVENT_ROLE_SIDEBAND };
#define EVENT_ROLE_COUNT 2

enum event_callchain {
	EVENT_CALLCHAIN_NONE,
	EVENT_CALLCHAIN_ALL,	 /* kernel and user frames, by frame pointers */
	EVENT_CALLCHAIN_USER,	 /* user frames only: exclude_callchain_kernel */
	EVENT_CALLCHAIN_KERNEL,	 /* kernel frames only: exclude_callchain_user */
	EVENT_CALLCHAIN_NOTHING, /* neither: the chain has only the sampled address; user frames are
				  * added later */
};

#define EVENT_FREQ_MAX UINT64_MAX
#define EVENT_CLOCK_KERNEL ((clockid_t)-1) /* sched_clock(), the only clock before Linux 4.1 */

/* Requested way to sample. */
struct event_request {
	const struct event_specs *specs;
	enum event_scope scope;
	const char *cpus_for;   /* option that needs CPU-wide events, for messages; NULL: -a */
	enum event_start start;
	enum event_callchain callchain;
	uint32_t cpu;           /* CPU scopes: CPU on which events are tried */
	uint64_t freq_hz; /* requested rate; 0: use `period`; EVENT_FREQ_MAX: the highest permitted
			   * rate */
	uint64_t period;        /* fixed period, if freq_hz is 0 */
	uint64_t clock_period_ns; /* fixed period of clocks instead of freq_hz; 0: none */
	bool dithers;           /* CPU-wide clocks keep freq_hz, which varies */
	bool rate_given; /* the user gave the rate; else some events sample every occurrence */
	bool inherit;           /* sample children and new threads, too; only for tasks */
	bool inherit_stat;      /* write a READ record when a task ends; needs `inherit` */
	bool exclude_idle;      /* do not sample idle CPUs; only for CPU scopes */
	clockid_t clock_id;     /* preferred clock; the default is CLOCK_MONOTONIC */
	/* Bytes in the ring after which the reader is woken; 0: half of the ring. */
	uint32_t sample_watermark_bytes, sideband_watermark_bytes;
	uint64_t extra_sample_type; /* further PERF_SAMPLE_* bits */
	uint64_t user_registers;    /* sample_regs_user; with PERF_SAMPLE_REGS_USER */
	uint32_t user_stack_bytes;  /* sample_stack_user; with PERF_SAMPLE_STACK_USER */
	/*
	 * Registers and stack bytes for events with the term call-graph=dwarf; 0: copies are not
	 * unwound.
	 */
	uint64_t dump_registers;
	uint32_t dump_stack_bytes;
	bool user_callers;          /* with stack copies: the call chain has user frames, too */
	bool uniform;               /* all samples have every field that one of them has */
	uint32_t max_stack;         /* limit of frames in a call chain; 0: the kernel's limit */
	/* For each spec; NULL: no filter. */
	const char *const *filters; /* filters of tracepoints, and address filters */
	const int *cgroups;         /* open directories of control groups; -1: none */
	size_t cgroup_count;
	struct event_asked asked;   /* further options of samples and metadata */
};

/* An event to open. */
struct event_planned {
	const char *name; /* its name, owned by the plan: "cycles:u" if only user mode is left */
	struct perf_event_attr attr; /* complete attr, including its size */
	struct sp_attr_tail tail;    /* fields after the end of struct perf_event_attr */
	size_t leader; /* index of the leader; its own index if it is alone or the leader */
	size_t member_count;         /* leader: number of the group's events; else 0 */
	const char *group_name;      /* leader: the group's name, or NULL */
	bool has_pointer;            /* config1 is a pointer to a name in this process's memory */
	const uint32_t *cpus;        /* CPUs on which it is opened; NULL: all */
	size_t cpu_count;
	const char *filter; /* argument of PERF_EVENT_IOC_SET_FILTER, owned by the plan; or NULL */
	bool in_cgroup;              /* CPU-wide, but only tasks of this control group: */
	int cgroup_fd;               /* from the request */
};

/* Opens an event with a different `attr`. Returns a file descriptor, or -errno. */
int event_open_planned(const struct event_kernel *kernel, const struct event_planned *event,
		       const struct perf_event_attr *attr, const struct event_target *target);

/* Returns whether the event is opened on that CPU. */
bool event_planned_on(const struct event_planned *event, uint32_t cpu);

/*
 * Events to open. Attributes of all events agree in sample_id_all, the clock, and the sample_type
 * bits of the fields before PERIOD: IDENTIFIER | IP | TID | TIME | CPU (| ADDR …). PERIOD is
 * missing where event_omits_period(). The fields after it (READ, CALLCHAIN, RAW, …) may differ,
 * unless the request has `uniform`. Dummies have only EVENT_DUMMY_SAMPLE_TYPE.
 */
struct event_plan {
	struct event_planned *samples;
	size_t sample_count;
	struct event_planned sideband; /* dummy event for metadata: mmap, mmap2, build_id, comm,
					* task, ksymbol, … */
	/* Dummy events that never occur. The ring buffers are mapped from them, one for each role.
	 */
	struct perf_event_attr holders[EVENT_ROLE_COUNT];
	struct event_support support;
	struct rights rights;
	bool cpu_wide;                 /* events are opened for whole CPUs */
	uint64_t freq_hz;              /* the rate used; 0: no event samples by frequency */
	clockid_t clock_id;            /* the clock used; or EVENT_CLOCK_KERNEL */
	struct event_notes notes;
	struct arena arena;
};

/*
 * Makes the plan. Fails with cause and remedy if an event is not available. Fallbacks, each with a
 * note: cpu-clock for cycles without hardware counters; user mode only if kernel mode is not
 * permitted; less precise addresses for modifier `P`; frame pointers if the kernel copies no
 * registers and stacks. All else that was requested must work.
 */
struct sp_error *event_plan_make(const struct event_kernel *kernel, const struct rights *rights,
				 const struct event_request *request,
				 struct event_plan **ret) SP_MUST_CHECK;
void event_plan_free(struct event_plan *plan);

/* Returns whether some events are in a group. */
bool event_plan_has_groups(const struct event_plan *plan);

/* Returns whether some events sample kernel mode, or user mode. */
bool event_plan_samples_kernel(const struct event_plan *plan);
bool event_plan_samples_user(const struct event_plan *plan);
