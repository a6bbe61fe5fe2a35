/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Address spaces while they are recorded: what machine.h says of a recording that is
 * all there, for one that goes on. One thread adds records, applies them and forgets
 * what is behind the samples; others ask meanwhile where ips lead. User space alone.
 */
#ifndef MACHINE_LIVE_H
#define MACHINE_LIVE_H

#include "machine/machine.h"

struct live;

/* `is_64bit`: what the modules of this machine are. */
struct sp_error *live_new(bool is_64bit, struct live **ret) SP_MUST_CHECK;
void live_free(struct live *live);

/*
 * MMAP, MMAP2, COMM, FORK and EXIT; others are ignored. Copied. Takes effect with
 * live_apply().
 */
struct sp_error *live_add(struct live *live, const struct sp_record *record) SP_MUST_CHECK;

/*
 * Records may come in any order of their times as long as they are newer than what
 * live_forget() was told; older ones count as of then. Those of one time are taken as
 * they came.
 */
struct sp_error *live_apply(struct live *live) SP_MUST_CHECK;

/*
 * The view (see machine.h; numbers are never used again) of a process at that time;
 * 0: nothing is known of it. To be asked by the thread that adds.
 */
uint32_t live_view(struct live *live, uint32_t pid, uint64_t time_ns);

/*
 * The address space that a view is of: a number which the views of a process share until it
 * begins another program (exec), and which no other program has. A fork has its parent's until
 * then. 0: what ran before anything was known. As live_view().
 */
uint64_t live_space(const struct live *live, uint32_t view);

/*
 * Finds the place of an ip of user space; from any thread. After its time has been forgotten, a
 * view maps nothing. Modules live as long as `live`.
 */
struct location live_locate(struct live *live, uint32_t view, uint64_t ip);

/*
 * Nothing before that time will be asked for any more: takes its memory back, now or
 * somewhat later. Times must not go down.
 */
struct sp_error *live_forget(struct live *live, uint64_t before_ns) SP_MUST_CHECK;

/*
 * All processes but these (sorted) have ended by then: after records were lost. As
 * live_add().
 */
struct sp_error *live_retain(struct live *live, const uint32_t *pids, size_t count,
			     uint64_t time_ns) SP_MUST_CHECK;

/* Sizes of the history. */
struct live_counts {
	size_t spaces, views, events, modules;
	uint64_t late; /* records that came after their time had been forgotten */
};
struct live_counts live_counts(const struct live *live);

#endif
