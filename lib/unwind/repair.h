/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks that the copy was too short for, made whole with others of their thread. Two
 * stacks of one thread that have a frame in common, the same ip at the same stack
 * pointer, most likely have all of its callers in common, and what of those lies beyond
 * the one's copy is known from the other: a shallower sample, or one that was joined
 * itself. So overlapping parts make up a stack of any depth.
 *
 *	repair_add()     for each stack, whole or truncated
 *	repair_settle()  when enough are there, best those after a truncated one, too
 *	repair_outer()   for each truncated one, or repair_frames()
 *	repair_forget()  where there is no end (live)
 *
 * Most likely is not surely: what called a frame may have changed in between. A stack is
 * joined only if all that is known of the frame's callers speaks for one chain of them
 * at that time, see repair.c, and else left as it is.
 *
 * Nothing can be joined where no sample of a thread shows the outer part of its stack. A
 * recorder that copies little should therefore have a few samples that copy more.
 *
 * For one thread of the program at a time.
 */
#ifndef UNWIND_REPAIR_H
#define UNWIND_REPAIR_H

#include "unwind/unwind.h"

struct repair;

/* Creates a repair that uses about `bytes` of memory at most. NULL when out of memory. */
struct repair *repair_new(size_t bytes);
void repair_free(struct repair *repair);

#define REPAIR_NONE UINT32_MAX
#define REPAIR_WHOLE (UINT32_MAX - 1)

/*
 * Remembers an unwound stack. Returns the number of a TRUNCATED one, REPAIR_WHOLE for a COMPLETE
 * one, and REPAIR_NONE if it is not remembered, since it ended otherwise, or there is no more
 * room. Where a thread's stacks are all whole they cost next to nothing. `thread` stands for a
 * thread while its address space is the same (so, say, for tid and view together). Times may come
 * in any order.
 */
uint32_t repair_add(struct repair *repair, uint64_t thread, uint64_t time_ns,
		    const struct unwind_frame *frames, const struct unwind_result *result);

/*
 * Adds the stacks of `from`, which is not settled. The number of each of them increases by *offset_ret.
 * Returns false when out of memory or room: repair_outer() then finds nothing for the missing ones.
 */
bool repair_merge(struct repair *repair, const struct repair *from, uint32_t *offset_ret);

/*
 * Joins all truncated stacks that were added since the last call, where possible. Returns false when
 * out of memory.
 */
bool repair_settle(struct repair *repair);

/*
 * Writes the whole stack, innermost frame first, at most `limit` frames. Returns the number of its
 * frames; 0: there is no such stack.
 */
size_t repair_frames(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		     size_t limit);

/*
 * Writes the frames that were missing, innermost first, at most `limit` of them. Returns their number;
 * 0: the stack stays truncated.
 */
size_t repair_outer(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		    size_t limit);

/* Returns whether complete stacks of its thread contain the outermost frame of a settled stack. */
bool repair_is_known(const struct repair *repair, uint32_t stack);

/*
 * Makes room for new stacks if half of it is used: keeps only the newest stacks. All stacks must be
 * settled; their numbers become invalid. Returns false when out of memory: then all stacks are
 * forgotten.
 */
bool repair_forget(struct repair *repair);

#endif
