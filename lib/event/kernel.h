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
#include "base/error.h"

/*
 * perf_event_attr's newest fields, as far as they are used. The header that the
 * build finds may be older than the kernel.
 */
#ifndef PERF_ATTR_SIZE_VER0
#error "linux/perf_event.h is too old"
#endif
#define EVENT_FORMAT_LOST (1U << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

struct event_kernel {
	/* As perf_event_open(2): a file descriptor, or -errno. attr is only read. */
	int (*open)(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		    int group_fd, unsigned long flags);
	void (*close)(void *arg, int fd);
	void *arg;
};

/* The real one. */
const struct event_kernel *event_kernel_real(void);

/* What attributes a kernel accepts. All false: Linux 3.12. */
struct event_support {
	bool clock_id;      /* 4.1: use_clockid */
	bool comm_exec;     /* 3.16 */
	bool mmap2;         /* 3.16 */
	bool format_lost;   /* 6.0: PERF_FORMAT_LOST */
	bool build_id;      /* 5.12: build-ids in MMAP2 */
	bool ksymbol;       /* 5.1 */
	bool bpf_event;     /* 5.1 */
	bool cgroup;        /* 5.7 */
	bool text_poke;     /* 5.9: may need the right to sample the kernel */
	bool namespaces;    /* 4.12: needs CAP_PERFMON */
	bool write_backward;
	bool remove_on_exec, inherit_thread; /* 5.13 */
};

/*
 * Asks with dummy events of our own task that count nothing. Fails with what the
 * kernel says to the plainest event of all: SP_ERROR_PERMISSION (paranoid 3, seccomp) or
 * SP_ERROR_UNSUPPORTED (a kernel without perf events); rights_explain() gives
 * that error its cause and remedy.
 */
struct sp_error *event_support_probe(const struct event_kernel *kernel,
				     struct event_support *ret) SP_MUST_CHECK;

/* The smallest attr.size that holds all fields of *attr that are not 0. */
uint32_t event_attr_size(const struct perf_event_attr *attr);

#endif
