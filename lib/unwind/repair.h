/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Completes truncated stacks by others of their thread. Two stacks of one thread that have a frame
 * in common (the same ip at the same stack pointer) most likely have all of its callers in common.
 * If the copy of one stack ends there, its callers are those of the other stack: a shallower
 * sample, or one that was completed itself. Thus overlapping parts make a stack of any depth.
 *
 *	repair_add()       for each stack, complete or truncated
 *	repair_complete()  when enough were added, best also some after a truncated one
 *	repair_outer()     for each truncated one, or repair_frames()
 *	repair_trim()      if there is no end (live)
 *
 * The callers of a frame may have changed in between. Therefore a stack is completed only if all
 * that is known of the frame's callers at that time supports one chain of them, see
 * repair_complete.c; else it stays truncated.
 *
 * Nothing can be completed if no sample of a thread shows the outer part of its stack. A recorder
 * that copies little should therefore take a few samples that copy more.
 *
 * One repair is for one thread of the program at a time.
 */
#pragma once

#include "unwind/unwind.h"

/* Creates a repair that uses about `bytes` of memory at most. NULL when out of memory. */
struct repair *repair_new(size_t bytes);
void repair_free(struct repair *repair);

#define REPAIR_NONE UINT32_MAX
#define REPAIR_WHOLE (UINT32_MAX - 1)

/*
 * Stores an unwound stack. Returns the number of a TRUNCATED one, REPAIR_WHOLE for a COMPLETE one,
 * and REPAIR_NONE if it is not stored, because it ended otherwise or there is no more room. If all
 * stacks of a thread are complete, they cost almost nothing. `thread_id` identifies a thread while
 * its address space is the same (for example tid and view together). Times may come in any order.
 */
uint32_t repair_add(struct repair *repair, uint64_t thread_id, uint64_t time_ns,
		    const struct unwind_frame *frames, const struct unwind_result *result);

/*
 * Adds the stacks of `from`, which is not completed yet. The number of each of them increases by
 * *offset_ret. Returns false when out of memory or room: repair_outer() then finds nothing for the
 * missing ones.
 */
bool repair_merge(struct repair *repair, const struct repair *from, uint32_t *offset_ret);

/*
 * Completes the truncated stacks that were added since the last call, as far as possible. Returns
 * false when out of memory.
 */
bool repair_complete(struct repair *repair);

/*
 * Writes the whole stack, innermost frame first, at most `limit` frames. Returns the number of its
 * frames, also of those beyond `limit`; 0: there is no such stack.
 */
size_t repair_frames(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		     size_t limit);

/*
 * Writes the frames that were missing, innermost first, at most `limit` of them. Returns the number
 * of all that were missing; 0: the stack stays truncated.
 */
size_t repair_outer(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		    size_t limit);

/*
 * Returns whether complete stacks of its thread contain the outermost frame of a stack that was
 * tried.
 */
bool repair_is_known(const struct repair *repair, uint32_t stack);

/*
 * Makes room for new stacks if half of it is used: keeps only the newest stacks. Call
 * repair_complete() before it; numbers of stacks become invalid. Returns false when out of memory:
 * then all stacks are dropped.
 */
bool repair_trim(struct repair *repair);
