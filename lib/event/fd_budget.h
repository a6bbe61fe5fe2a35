/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources needed to attach to tasks one by one: an event of each kind for each task and CPU,
 * because inherited events share a ring only on their own CPU. 2,000 threads on 256 CPUs need a
 * million descriptors and 1.7 GB of kernel memory; CPU-wide events need a thousand descriptors. The
 * need is computed before the first event is opened.
 */
#pragma once

#include "event/rights.h"

struct event_demand {
	uint64_t tasks, cpus;
	uint64_t events; /* events for each task and CPU, including the metadata event */
};

/* Number of file descriptors: the events, and two for each CPU that hold its rings. */
uint64_t demand_files(const struct event_demand *demand);

/*
 * Returns the bytes of kernel memory, without the rings. Linux 6.18 on x86-64 uses 1,670 bytes for
 * each event: 1,352 for the event, 192 for its file.
 */
uint64_t demand_kernel_bytes(const struct event_demand *demand);

/* Available resources. */
struct demand_limits {
	uint64_t files;           /* file descriptors, with the soft limit raised to the hard limit if
				   * permitted */
	uint64_t nr_open;         /* fs.nr_open, the limit even for root; 0: unknown */
	uint64_t available_bytes; /* available memory; 0: unknown */
};

/* Reads the limits. fs.nr_open and MemAvailable are read below the ctx root. */
struct demand_limits demand_limits_read(const struct sp_ctx *ctx, const struct rights *rights);

/*
 * Fails with SP_ERROR_LIMIT if resources do not suffice; the error has the numbers and a remedy. A pure
 * function.
 */
struct sp_error *demand_check(const struct event_demand *demand, const struct demand_limits *limits,
			      const struct rights *rights) SP_MUST_CHECK;
