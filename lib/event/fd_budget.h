/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources needed to attach to tasks one by one: an event of each kind for each task and CPU,
 * because inherited events share a ring only on their own CPU. 2,000 threads on 256 CPUs need a
 * million descriptors and 1.7 GB of kernel memory; CPU-wide events need a thousand descriptors. The
 * need is computed before the first event is opened.
 */
#ifndef EVENT_FD_BUDGET_H
#define EVENT_FD_BUDGET_H

#include "event/rights.h"

struct event_demand {
	uint64_t tasks, cpus;
	uint64_t events; /* for each task and CPU, that of the side-band included */
};

/* Descriptors: events, and the two of each CPU that have its rings. */
uint64_t demand_files(const struct event_demand *demand);

/*
 * Kernel memory besides the rings. Measured with Linux 6.18 on x86-64: 1,670 bytes an event,
 * including 1,352 of the event, 192 of its file, and its link to the task.
 */
uint64_t demand_kernel_bytes(const struct event_demand *demand);

/* Available resources. */
struct demand_limits {
	uint64_t files;           /* descriptors, with the soft limit raised as far as allowed */
	uint64_t nr_open;         /* fs.nr_open: what even root can raise it to; 0: not known */
	uint64_t available_bytes; /* memory; 0: not known */
};

/* fs.nr_open and MemAvailable are read below the ctx root. */
struct demand_limits demand_limits_read(const struct sp_ctx *ctx, const struct rights *rights);

/* SP_ERROR_LIMIT, with the numbers and what helps, where there is too little. Pure. */
struct sp_error *demand_check(const struct event_demand *demand, const struct demand_limits *limits,
			      const struct rights *rights) SP_MUST_CHECK;

#endif
