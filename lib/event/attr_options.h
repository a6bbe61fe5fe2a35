/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requested options of samples and metadata records, and the attributes that they set. */
#ifndef EVENT_ATTR_OPTIONS_H
#define EVENT_ATTR_OPTIONS_H

#include "event/kernel.h"

/* Requested options. Zeroed: none. */
struct event_asked {
	uint64_t sample_type;    /* PERF_SAMPLE_*, except bits that need one of the members below */
	bool weight;             /* request PERF_SAMPLE_WEIGHT_STRUCT, or PERF_SAMPLE_WEIGHT before Linux
				  * 5.12 */
	uint64_t branch_type;    /* PERF_SAMPLE_BRANCH_*; not 0: record branch stacks */
	uint64_t user_registers; /* registers of user space to record, as bits of perf's register numbers */
	uint64_t interrupt_registers;
	uint64_t read_format;    /* PERF_FORMAT_TOTAL_TIME_* */
	uint32_t wakeup_events;  /* wake the reader after this many samples; 0: by bytes */
	uint32_t wakeup_waits;   /* the same for the event of waits */
	bool no_samples;         /* events only count; only metadata is recorded */
	bool strict_freq;        /* a rate above the kernel's limit is an error, not a note */
	bool inherit_thread;     /* events are inherited by threads, not by child processes */
	bool remove_on_exec;
	bool write_backward;     /* rings overwrite the oldest samples by the newest */
	bool defer_callchain;    /* the kernel defers user frames until they can be read, at the return to
				  * user space */
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
static inline void event_ask_leaf(struct perf_event_attr *attr)
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
 * Returns an option without effect because all events are software events: "-W" needs hardware weights.
 * NULL: none.
 */
const char *event_option_without_effect(const struct event_asked *asked, bool all_software);

#endif
