/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Most threads have no truncated stack, and what their whole ones are is never asked. So
 * a stack costs no more than being held to the one before.
 */
#include <string.h>
#include "unwind/repair_internal.h"

static bool is_same(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->exact == b->exact;
}

bool log_add(struct log *log, uint64_t time_ns, const struct unwind_frame *frames, size_t count)
{
	size_t shared = 0;
	while (shared < count && shared < log->last.count &&
	       is_same(&frames[count - 1 - shared], &log->last.items[shared]))
		shared++;
	size_t others = count - shared;
	if (!vec_reserve(&log->words, log->words.count + 2 + 2 * others) ||
	    !vec_reserve(&log->last, count))
		return false;
	uint64_t *word = log->words.items + log->words.count;
	*word++ = time_ns;
	*word++ = (uint64_t)shared << 32 | others;
	for (size_t i = shared; i < count; i++) {
		const struct unwind_frame *frame = &frames[count - 1 - i];
		*word++ = frame->ip;
		*word++ = packed_sp(frame);
		log->last.items[i] = *frame;
	}
	log->last.count = count;
	log->words.count += 2 + 2 * others;
	return true;
}

bool log_merge(struct log *log, const struct log *from)
{
	size_t count = from->words.count;
	if (!count)
		return true;
	if (!vec_reserve(&log->words, log->words.count + count) ||
	    !vec_reserve(&log->last, from->last.count))
		return false;
	/* The first one shares nothing with any before it. */
	memcpy(log->words.items + log->words.count, from->words.items, count * sizeof(uint64_t));
	memcpy(log->last.items, from->last.items, from->last.count * sizeof(*from->last.items));
	log->words.count += count;
	log->last.count = from->last.count;
	return true;
}

void log_deinit(struct log *log)
{
	vec_deinit(&log->words);
	vec_deinit(&log->last);
}
