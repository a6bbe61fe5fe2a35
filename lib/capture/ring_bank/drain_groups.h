/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides how many threads drain the sample rings, and which thread drains which CPU's ring. */
#ifndef CAPTURE_RING_BANK_DRAIN_GROUPS_H
#define CAPTURE_RING_BANK_DRAIN_GROUPS_H

#include "base/ctx.h"
#include "capture/config/options.h"
#include "capture/ring_bank/drain_threads.h"
#include "proc/sysfs.h"

/*
 * Returns the number of drain threads for `cpus` CPUs: from the options, else from the number of
 * CPUs and the bytes of stack copies in each sample, which determine how fast rings fill. 0: the
 * round drains itself.
 */
size_t drain_groups_wanted(const struct capture_options *options, size_t cpus, uint32_t stack_bytes);

/*
 * Gives each CPU the number of its thread, from 0 on: by core, package or NUMA node (as sysfs has
 * them), else in `wanted` equal parts. *count_ret is the number of threads. Fails only when out of
 * memory, or if sysfs cannot be parsed.
 */
struct sp_error *drain_groups_make(const struct sp_ctx *ctx, enum sp_capture_threads by, size_t wanted,
				   const struct cpu_list *cpus, uint32_t *groups_ret,
				   size_t *count_ret) SP_MUST_CHECK;

#endif
