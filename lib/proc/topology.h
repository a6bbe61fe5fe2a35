/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU and NUMA topology from /sys/devices/system. */
#pragma once

#include <sprof/reader.h>
#include "base/arena.h"
#include "base/ctx.h"

/*
 * Reads core, die and package of CPUs 0 to `cpu_count` - 1; -1 for offline CPUs. Reads the files of
 * one CPU for each core. Without topology files, *ret is all zero. Fails only when out of memory; the
 * arena owns the memory of *ret.
 */
struct sp_error *topology_read_cpus(const struct sp_ctx *ctx, uint32_t cpu_count,
				    struct arena *arena, struct sp_cpu_topology *ret) SP_MUST_CHECK;

/* Reads the online NUMA nodes; *count_ret is 0 if there are none. Fails only when out of memory. */
struct sp_error *topology_read_nodes(const struct sp_ctx *ctx, struct arena *arena,
				     struct sp_numa_node **ret, size_t *count_ret) SP_MUST_CHECK;

/* Returns the number in a file of the CPU in sysfs ("topology/core_id"); `none`: there is none. */
int32_t topology_cpu_number(const struct sp_ctx *ctx, uint32_t cpu, const char *file, int32_t none);

/* Returns the highest number of a present CPU, offline or not, plus 1; 0: not known. */
uint32_t topology_cpu_limit(const struct sp_ctx *ctx);
