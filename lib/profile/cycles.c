/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removes repeated rounds word by word. The kept words never contain a repetition, so a new word can
 * only complete a round that repeats the words right before it. Without that round, the kept words
 * again contain no repetition.
 */
#include "profile/cycles.h"

#include <string.h>

/* Returns the length of a round at the end that equals the words before it; 0: none. */
static size_t last_round(const uint64_t *words, size_t count)
{
	size_t most = count / 2 < CYCLE_CALLS_MAX ? count / 2 : CYCLE_CALLS_MAX;
	uint64_t last = words[count - 1];
	for (size_t calls = 1; calls <= most; calls++)
		if (words[count - 1 - calls] == last &&
		    !memcmp(words + count - calls, words + count - 2 * calls,
			    calls * sizeof(*words)))
			return calls;
	return 0;
}

/* Removes the last round. Cycles found within it are merged into the round before. */
static void take_round(struct cycle *before, const struct cycle *last, uint32_t calls)
{
	bool known = before->last_calls == calls;
	struct cycle round = {calls, known ? before->last_rounds + 1 : 2, 0, 0};
	for (uint32_t i = 0; i < calls; i++) {
		if (cycle_is_more(&last[i], &before[i]))
			before[i] = last[i];
		before[i].last_calls = last[i].last_calls;
		before[i].last_rounds = last[i].last_rounds;
	}
	if (cycle_is_more(&round, before))
		*before = round;
	before->last_calls = round.calls;
	before->last_rounds = round.rounds;
}

/* A set that may have words, by their hashes. */
struct word_filter {
	uint64_t bits[16];
};

/* Returns false if the word was not added before. */
static bool filter_add(struct word_filter *filter, uint64_t word)
{
	uint64_t hash = word * 0x9e3779b97f4a7c15 >> 54, bit = (uint64_t)1 << hash % 64;
	bool had = filter->bits[hash / 64] & bit;
	filter->bits[hash / 64] |= bit;
	return had;
}

size_t cycles_collapse(uint64_t *words, size_t count, struct cycle *cycles)
{
	struct word_filter filter = {0};
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		words[kept] = words[i];
		cycles[kept++] = (struct cycle){0};
		size_t calls = filter_add(&filter, words[i]) ? last_round(words, kept) : 0;
		kept -= calls;
		if (calls)
			take_round(&cycles[kept - calls], &cycles[kept], (uint32_t)calls);
	}
	return kept;
}
