/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of a recording's samples and side-band, and their attributes. */
#ifndef EVENT_ATTR_OPTIONS_H
#define EVENT_ATTR_OPTIONS_H

#include "event/kernel.h"

/* All zero: nothing. */
struct event_asked {
	uint64_t sample_type;    /* PERF_SAMPLE_*, as far as it needs nothing of the below */
	bool weight;             /* WEIGHT_STRUCT, or WEIGHT of kernels before 5.12 */
	uint64_t branch_type;    /* PERF_SAMPLE_BRANCH_*: with it, branch stacks are recorded */
	uint64_t user_registers; /* bits of perf's numbers: registers of user space, kept as they are */
	uint64_t interrupt_registers;
	uint64_t read_format;    /* PERF_FORMAT_TOTAL_TIME_* */
	uint32_t wakeup_events;  /* wake the reader after so many samples; 0: by a watermark */
	bool no_samples;         /* events count, and the side-band alone is recorded */
	bool strict_freq;        /* more than is allowed is an error, not a note */
	bool inherit_thread;     /* inherited events follow threads only */
	bool remove_on_exec;
	bool write_backward;     /* rings go round: the newest samples overwrite the oldest */
	bool defer_callchain;    /* user frames come later, when they can be read */
	/* Side-band: */
	bool mmap_data;          /* mappings that are not executable, too */
	bool context_switch, namespaces, cgroup;
	bool no_bpf_event;
};

/* Options of all events of the recording. */
void event_ask_all(const struct event_asked *asked, const struct event_support *support,
		   struct perf_event_attr *attr);

/* Options of sampling events; `inherit` must be set already if it is to be. */
void event_ask_sampling(const struct event_asked *asked, struct perf_event_attr *attr);

/* The one that tells of tasks and mappings; `kernel`: samples are of kernel mode, too. */
void event_ask_sideband(const struct event_asked *asked, const struct event_support *support,
			bool kernel, struct perf_event_attr *attr);

/*
 * arm64's functions that call nothing keep their return address in a register (x30), which no
 * frame pointer leads to: it is recorded beside chains of them, as perf does. 0 elsewhere.
 */
#if defined(__aarch64__)
#define EVENT_LEAF_REGISTERS (UINT64_C(1) << 30)
#else
#define EVENT_LEAF_REGISTERS UINT64_C(0)
#endif

/* For an attr with user call chains by frame pointers. */
static inline void event_ask_leaf(struct perf_event_attr *attr)
{
	if (!EVENT_LEAF_REGISTERS)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user |= EVENT_LEAF_REGISTERS;
}

/* The part of sample_type that a dummy needs, which never samples. */
#define EVENT_DUMMY_SAMPLE_TYPE                                                          \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |          \
		    PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |          \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD))

/*
 * The option that has no effect, since all events are software's: "-W" needs the weights of
 * hardware. NULL: none.
 */
const char *event_ask_in_vain(const struct event_asked *asked, bool all_software);

#endif
