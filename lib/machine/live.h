/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Address spaces during the recording, like machine.h for a finished one. One thread adds records,
 * applies them and forgets old times; other threads look up addresses at the same time. Only user
 * space.
 */
#pragma once

#include "machine/machine.h"

struct live;

/* Creates an empty history. `is_64bit`: whether this machine's modules are 64-bit. */
struct sp_error *live_new(bool is_64bit, struct live **ret) SP_MUST_CHECK;
void live_free(struct live *live);

/*
 * Adds a copy of a MMAP, MMAP2, COMM, FORK or EXIT record; ignores others. It takes effect with
 * live_apply().
 */
struct sp_error *live_add(struct live *live, const struct sp_record *record) SP_MUST_CHECK;

/*
 * Applies the added records. They may come in any order of time. A record older than the time given to
 * live_expire() counts as of that time. Records of equal time are applied in the order of arrival.
 */
struct sp_error *live_apply(struct live *live) SP_MUST_CHECK;

/*
 * Returns the view of a process at a time (see machine.h); 0 if nothing is known. Numbers are never
 * used again. Only for the thread that adds records.
 */
uint32_t live_view(struct live *live, uint32_t pid, uint64_t time_ns);

/*
 * Returns a number for the address space of a view: its views share it until the process executes
 * another program (exec), and no other program has it. After a fork, the child has the parent's number
 * until its exec. 0: the program began before the recorder knew of it. Only for the thread that adds
 * records.
 */
uint64_t live_space(const struct live *live, uint32_t view);

/*
 * Finds the place of an ip of user space; from any thread. Views older than live_expire() map
 * nothing. Modules are valid until live_drop_modules().
 */
struct location live_locate(struct live *live, uint32_t view, uint64_t ip);

/*
 * Forgets the history before `before_ns`, for which no caller will ask, and frees its memory now or
 * later. Times must not decrease.
 */
struct sp_error *live_expire(struct live *live, uint64_t before_ns) SP_MUST_CHECK;

/*
 * Returns whether modules take much memory; many of them may be mapped nowhere any more. Only for
 * the thread that adds records.
 */
bool live_has_many_modules(const struct live *live);

/*
 * Drops modules that are mapped nowhere, and numbers the others anew. No caller may use a module
 * that live_locate() returned before. Only for the thread that adds records.
 */
struct sp_error *live_drop_modules(struct live *live) SP_MUST_CHECK;

/*
 * Ends all processes except `pids` (sorted) at that time, because their EXIT records may have been
 * lost. Takes effect like live_add().
 */
struct sp_error *live_retain(struct live *live, const uint32_t *pids, size_t count,
			     uint64_t time_ns) SP_MUST_CHECK;

/* Sizes of the history. */
struct live_counts {
	size_t spaces, views, events, modules;
	uint64_t dropped; /* number of views that lost their mappings: all were too many */
	uint64_t late; /* number of records that came after their time was forgotten */
};
struct live_counts live_counts(const struct live *live);
