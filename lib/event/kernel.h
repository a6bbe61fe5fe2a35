/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel as the event folder sees it: system calls, which tests replace, and
 * what this kernel's perf_event_open can do, found out by asking it.
 */
#ifndef EVENT_KERNEL_H
#define EVENT_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sprof/record.h>
#include "base/error.h"

/* PERF_FORMAT_LOST (Linux 6.0); the header that the build finds may be older. */
#define EVENT_FORMAT_LOST (1U << 4)

struct event_kernel {
	/*
	 * Calls perf_event_open(2), whose parameters it has: a file descriptor, or -errno. attr is only
	 * read; if its size is that of newer kernels, it has that many bytes.
	 */
	int (*open)(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		    int group_fd, unsigned long flags);
	void (*close)(void *arg, int fd);
	/* PERF_EVENT_IOC_SET_FILTER: 0, or the errno. NULL: this kernel has no filters. */
	int (*set_filter)(void *arg, int fd, const char *filter);
	void *arg;
};

/* The real one. */
const struct event_kernel *event_kernel_real(void);

/* The arguments of perf_event_open(2) besides the attr. */
struct event_target {
	int32_t pid, cpu;
	int group_fd;
	unsigned long flags;
};

/* Calls kernel->open() with a tail; attr->size does not matter. */
int event_open_attr(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		    const struct sp_attr_tail *tail, const struct event_target *target);

/* 0, or the errno. */
int event_set_filter(const struct event_kernel *kernel, int fd, const char *filter);

/* Attributes that a kernel accepts. All false: Linux 3.12. */
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
 * Asks with dummy events of our own task that count nothing. 0, or the errno with which
 * the kernel refuses the plainest event of all (paranoid 3, seccomp, no perf events):
 * rights_explain() turns it into cause and remedy.
 */
int event_support_probe(const struct event_kernel *kernel, struct event_support *ret);

/* The smallest attr.size that holds all fields of *attr that are not 0. */
uint32_t event_attr_size(const struct perf_event_attr *attr);

#endif
