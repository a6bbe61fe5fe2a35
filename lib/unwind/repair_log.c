/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Most threads have no truncated stack, so their whole stacks are never read. A log makes adding a
 * stack cost no more than a comparison with the previous one.
 */
#include <stdlib.h>
#include <string.h>
#include "unwind/repair_internal.h"

static bool is_same(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->exact == b->exact;
}

/* Blocks grow with the log, because there may be thousands of threads. */
#define BLOCK_MIN ((size_t)64)
#define BLOCK_MAX ((size_t)1 << 16)

/* Returns room for `count` adjacent words; NULL when out of memory. */
static uint64_t *make_room(struct log *log, size_t count)
{
	struct log_block *block = log->newest;
	if (block && block->capacity - block->count >= count)
		return block->words + block->count;
	size_t capacity = block ? 2 * block->capacity : BLOCK_MIN;
	if (capacity > BLOCK_MAX)
		capacity = BLOCK_MAX;
	if (capacity < count)
		capacity = count;
	struct log_block *added = malloc(sizeof(*added) + capacity * sizeof(*added->words));
	if (!added)
		return NULL;
	*added = (struct log_block){.capacity = capacity};
	log->block_bytes += sizeof(*added) + capacity * sizeof(*added->words);
	*(block ? &block->next : &log->first) = added;
	log->newest = added;
	return added->words;
}

bool log_add(struct log *log, uint64_t time_ns, const struct unwind_frame *frames, size_t count)
{
	size_t shared = 0;
	while (shared < count && shared < log->last.count &&
	       is_same(&frames[count - 1 - shared], &log->last.items[shared]))
		shared++;
	size_t others = count - shared;
	uint64_t *word = vec_reserve(&log->last, count) ? make_room(log, 2 + 2 * others) : NULL;
	if (!word)
		return false;
	*word++ = time_ns;
	*word++ = (uint64_t)shared << 32 | others;
	for (size_t i = shared; i < count; i++) {
		const struct unwind_frame *frame = &frames[count - 1 - i];
		*word++ = frame->ip;
		*word++ = packed_sp(frame);
		log->last.items[i] = *frame;
	}
	log->last.count = count;
	log->newest->count += 2 + 2 * others;
	log->word_count += 2 + 2 * others;
	return true;
}

bool log_merge(struct log *log, const struct log *from)
{
	if (!from->word_count)
		return true;
	/* No stack is divided between blocks, so that all blocks can be joined. */
	uint64_t *word = vec_reserve(&log->last, from->last.count) ?
				 make_room(log, from->word_count) : NULL;
	if (!word)
		return false;
	/* The first stack of `from` shares no frame with the last stack here. */
	for (const struct log_block *block = from->first; block; block = block->next) {
		memcpy(word, block->words, block->count * sizeof(*word));
		word += block->count;
	}
	memcpy(log->last.items, from->last.items, from->last.count * sizeof(*from->last.items));
	log->newest->count += from->word_count;
	log->word_count += from->word_count;
	log->last.count = from->last.count;
	return true;
}

void log_deinit(struct log *log)
{
	for (struct log_block *block = log->first, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	log->first = log->newest = NULL;
	log->word_count = log->block_bytes = 0;
	vec_deinit(&log->last);
}

size_t log_bytes(const struct log *log)
{
	return log->block_bytes + log->last.capacity * sizeof(*log->last.items);
}
