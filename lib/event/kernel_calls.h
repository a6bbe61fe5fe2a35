/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's interface for lib/event: system calls, which tests replace, and the features of this
 * kernel's perf_event_open(2), found by trying them.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sprof/record.h>
#include "base/error.h"

/* PERF_FORMAT_LOST of Linux 6.0; the headers of this build may be older. */
#define EVENT_FORMAT_LOST (1U << 4)

struct event_kernel {
	/*
	 * Calls perf_event_open(2) with its parameters. Returns a file descriptor, or -errno. *attr is
	 * only read, and must have attr->size bytes, which may be more than this build's struct.
	 */
	int (*open)(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		    int group_fd, unsigned long flags);
	void (*close)(void *arg, int fd);
	/*
	 * Calls PERF_EVENT_IOC_SET_FILTER. Returns 0, or the errno. NULL: this kernel has no filters.
	 */
	int (*set_filter)(void *arg, int fd, const char *filter);
	/*
	 * Writes a variable of its own that a breakpoint watches. Returns what the breakpoint
	 * counted, or -errno. NULL: breakpoints count.
	 */
	int64_t (*try_breakpoint)(void *arg);
	void *arg;
};

/* Returns the functions of the running kernel. */
const struct event_kernel *event_kernel_real(void);

/* The arguments of perf_event_open(2) besides the attr. */
struct event_target {
	int32_t pid, cpu;
	int group_fd;
	unsigned long flags;
};

/* Calls kernel->open() for an attr followed by `tail`. attr->size is ignored. */
int event_open_attr(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		    const struct sp_attr_tail *tail, const struct event_target *target);

/* Sets an event's filter. Returns 0, or the errno. */
int event_set_filter(const struct event_kernel *kernel, int fd, const char *filter);

/*
 * Returns whether breakpoints can be opened but never trigger: a hypervisor may leave the debug
 * registers of its guests without effect.
 */
bool event_breakpoints_fail(const struct event_kernel *kernel);

/* Attributes that the kernel accepts. All false is Linux 3.12. */
struct event_support {
	bool comm_exec;   /* 3.16 */
	bool mmap2;       /* 3.16 */
	bool clock_id;    /* 4.1: use_clockid */
	bool ksymbol;     /* 5.1 */
	bool bpf_event;   /* 5.1 */
	bool build_id;    /* 5.12: build-ids in MMAP2 */
	bool format_lost; /* 6.0: PERF_FORMAT_LOST */
	bool text_poke;   /* 5.8 */
	bool weight_struct; /* 5.12: PERF_SAMPLE_WEIGHT_STRUCT */
};

/*
 * Tries attributes with dummy events on the own task, which count nothing. Returns 0, or the errno of
 * the simplest event (paranoid 3, seccomp, no perf events); rights_explain() makes it an error.
 */
int event_support_probe(const struct event_kernel *kernel, struct event_support *ret);

/* Returns the smallest attr.size that contains all fields of *attr that are not 0. */
uint32_t event_attr_size(const struct perf_event_attr *attr);
