/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How processors and memory belong together, from /sys/devices/system. */
#ifndef PROC_TOPOLOGY_H
#define PROC_TOPOLOGY_H

#include <sprof/reader.h>
#include "base/arena.h"
#include "base/ctx.h"

/*
 * The places of CPUs 0 to `cpu_count` - 1; those that are offline have -1 for all. Of CPUs
 * that share a core only one is read. Nothing found: all zero. Fails only when out of
 * memory; what *ret points to is the arena's.
 */
struct sp_error *topology_read_cpus(const struct sp_ctx *ctx, uint32_t cpu_count,
				    struct arena *arena, struct sp_cpu_topology *ret) SP_MUST_CHECK;

/* The nodes of memory that are online; count 0 where there are none. As above. */
struct sp_error *topology_read_nodes(const struct sp_ctx *ctx, struct arena *arena,
				     struct sp_numa_node **ret, size_t *count_ret) SP_MUST_CHECK;

/* The highest CPU number that this machine may have, and one; 0: not known. */
uint32_t topology_cpu_limit(const struct sp_ctx *ctx);

#endif
