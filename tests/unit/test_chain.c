/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks/chain.h"
#include <stdlib.h>
#include <string.h>
#include "test.h"

#define USER ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define IN_USER CHAIN_MODE(PERF_RECORD_MISC_USER)
#define IN_KERNEL CHAIN_MODE(PERF_RECORD_MISC_KERNEL)

/* A sample of that mode and ip; the chain ends with 99. */
static struct sp_record sample(uint16_t cpumode, uint64_t ip, const uint64_t *ips)
{
	size_t count = 0;
	while (ips[count] != 99)
		count++;
	return (struct sp_record){
		.type = PERF_RECORD_SAMPLE,
		.misc = cpumode,
		.sample = {.present = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .ip = ip, .ips = ips,
			   .ip_count = count},
	};
}

#define CHAIN(...) ((const uint64_t[]){__VA_ARGS__, 99})

static size_t words_of(const struct radix *radix, uint32_t node, uint64_t *words)
{
	const struct radix_node *at = &radix->items[node];
	if (at->parent == RADIX_NONE)
		return 0;
	size_t count = words_of(radix, at->parent, words);
	memcpy(words + count, radix->words.items + at->run, at->length * sizeof(*words));
	return count + at->length;
}

static struct callers recorded(const struct sp_record *record)
{
	struct sampled sampled = sampled_of(record);
	return callers_of(&sampled, record->misc, record->sample.ips, record->sample.ip_count);
}

/* Expects the interned chain, the outermost call first. */
static void becomes(const struct sp_record *record, uint64_t leaf, uint16_t leaf_cpumode,
		    const uint64_t *wanted)
{
	struct chains chains = {0};
	uint64_t words[100];
	struct callers callers = recorded(record);
	ck_assert_uint_eq(callers.leaf_ip, leaf);
	ck_assert_uint_eq(callers.leaf_cpumode, leaf_cpumode);
	uint32_t root = radix_root(&chains.radix, 1), node = root;
	if (callers.count || callers_end(&callers) != SP_MISC_END_UNKNOWN) {
		node = chains_intern(&chains, root, &callers);
		ck_assert_uint_ne(node, RADIX_NONE);
	}
	size_t count = words_of(&chains.radix, node, words);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(words[i] == wanted[i], "word %zu: %llx", i, (unsigned long long)words[i]);
	ck_assert_uint_eq(wanted[count], 99);
	chains_deinit(&chains);
}

TEST(the_first_call_is_the_sampled_place)
{
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, 20, 30));
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(IN_USER, 30, 20));
	/* The hardware's exact address replaces the chain's first. */
	record.sample.ip = 11;
	becomes(&record, 11, PERF_RECORD_MISC_USER, CHAIN(IN_USER, 30, 20));
}

TEST(the_kernel_was_called_from_where_the_user_was)
{
	struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 1,
					 CHAIN(KERNEL, 1, 2, 3, USER, 10, 20));
	/* 10 is where the user's code stood; 20, 3 and 2 are where calls return to. */
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL,
		CHAIN(IN_USER, 20, CHAIN_EXACT, 10, IN_KERNEL, 3, 2));
}

TEST(a_chain_without_the_samples_mode_called_it)
{
	struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(USER, 10, 20));
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL, CHAIN(IN_USER, 20, CHAIN_EXACT, 10));
}

/* Marks are no frames, and none is left at the end. */
TEST(no_more_frames_are_kept_than_are_wanted)
{
	struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 1,
					 CHAIN(KERNEL, 1, 2, 3, USER, 10, 20));
	const size_t kept[] = {[1] = 0, [2] = 1, [3] = 2, [4] = 4, [5] = 5, [6] = 5};
	for (size_t limit = 1; limit <= 6; limit++) {
		struct callers callers = recorded(&record);
		bool cut = callers_limit(&callers, limit);
		ck_assert_int_eq(cut, limit < 5);
		ck_assert_uint_eq(callers.count, kept[limit]);
		ck_assert_int_eq(callers_end(&callers), cut ? SP_MISC_END_DEPTH_LIMIT
							    : SP_MISC_END_UNKNOWN);
	}
	record.misc |= SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT;
	struct callers callers = recorded(&record);
	ck_assert(callers_limit(&callers, 4));
	ck_assert_int_eq(callers_end(&callers), SP_MISC_END_DEPTH_LIMIT);
}

TEST(odd_chains_are_read_as_far_as_they_go)
{
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER));
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(99));
	record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(99));
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(99));
	/* Markers that nothing follows, and no marker at all. */
	record = sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(KERNEL, 1, 2, USER));
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL, CHAIN(IN_KERNEL, 2));
	record = sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(1, 2));
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL, CHAIN(IN_KERNEL, 2));
	/* Frame pointers end in 0. */
	record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, 20, 0, 0));
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(IN_USER, 20));
	/* The user's part was to follow, under a number. */
	record = sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(KERNEL, 1, 2, (uint64_t)-640, 4711));
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL, CHAIN(CHAIN_END(END_DEFERRED), IN_KERNEL, 2));
	/* An unknown marker. */
	record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, 20, (uint64_t)-77, 30));
	becomes(&record, 10, PERF_RECORD_MISC_USER,
		CHAIN(CHAIN_MODE(0), CHAIN_EXACT, 30, IN_USER, 20));
}

TEST(how_a_stack_ended_is_part_of_its_chain)
{
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, 20));
	record.misc |= SP_MISC_END_TRUNCATED << SP_MISC_END_SHIFT | SP_MISC_GUESSED;
	becomes(&record, 10, PERF_RECORD_MISC_USER,
		CHAIN(CHAIN_END(SP_MISC_END_TRUNCATED), IN_USER, 20));
	record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10));
	record.misc |= SP_MISC_END_SKIPPED << SP_MISC_END_SHIFT;
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(CHAIN_END(SP_MISC_END_SKIPPED)));
	for (int end = SP_MISC_END_UNKNOWN; end <= (int)END_DEFERRED; end++)
		ck_assert(chain_is_mark(CHAIN_END(end)) &&
			  chain_is_end(CHAIN_END(end)) == (end != SP_MISC_END_UNKNOWN));
	ck_assert(!chain_is_end(CHAIN_GAP) && !chain_is_end(CHAIN_EXACT) && !chain_is_end(IN_USER));
}

TEST(positions_of_missing_frames_are_kept)
{
	struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 1,
					 CHAIN(KERNEL, 1, 2, USER, 10, 20, USER, USER, 30, 40));
	/* Without the bit, marks are marks. */
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL,
		CHAIN(IN_USER, 40, CHAIN_EXACT, 30, IN_USER, 20, CHAIN_EXACT, 10, IN_KERNEL, 2));
	record.misc |= SP_MISC_SHORTENED;
	becomes(&record, 1, PERF_RECORD_MISC_KERNEL,
		CHAIN(IN_USER, 40, 30, CHAIN_GAP, IN_USER, 20, CHAIN_EXACT, 10, IN_KERNEL, 2));
	/* One mark by itself stays what it is: code was interrupted there. */
	record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, USER, 20, 30, USER, USER, 40));
	record.misc |= SP_MISC_SHORTENED;
	becomes(&record, 10, PERF_RECORD_MISC_USER,
		CHAIN(IN_USER, 40, CHAIN_GAP, IN_USER, 30, CHAIN_EXACT, 20));
}

TEST(a_part_of_the_same_mode_begins_where_code_ran)
{
	/* 10 is in a signal's handler, 20 its way back, and 30 what it interrupted. */
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10,
					 CHAIN(USER, 10, 20, USER, 30, 40));
	becomes(&record, 10, PERF_RECORD_MISC_USER,
		CHAIN(IN_USER, 40, CHAIN_EXACT, 30, IN_USER, 20));
}

TEST(without_an_ip_the_chain_has_it)
{
	struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 0, CHAIN(USER, 10, 20));
	record.sample.present = PERF_SAMPLE_CALLCHAIN;
	becomes(&record, 10, PERF_RECORD_MISC_USER, CHAIN(IN_USER, 20));
}

TEST(the_outermost_call_can_be_had_alone)
{
	const struct {
		const uint64_t *ips;
		uint64_t ip;
		uint16_t cpumode;
		bool exact;
	} cases[] = {
		{CHAIN(USER, 10, 20, 30), 30, PERF_RECORD_MISC_USER, false},
		{CHAIN(USER, 10, 20, 30, USER), 30, PERF_RECORD_MISC_USER, false},
		{CHAIN(KERNEL, 10, 2, USER, 30), 30, PERF_RECORD_MISC_USER, true},
		{CHAIN(KERNEL, 10, 2, USER, 30, 40), 40, PERF_RECORD_MISC_USER, false},
		{CHAIN(KERNEL, 10, 2), 2, PERF_RECORD_MISC_KERNEL, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, cases[i].ips);
		struct callers callers = recorded(&record);
		uint64_t ip;
		uint16_t cpumode;
		bool exact;
		ck_assert(callers_outermost(&callers, &ip, &cpumode, &exact));
		ck_assert_uint_eq(ip, cases[i].ip);
		ck_assert_uint_eq(cpumode, cases[i].cpumode);
		ck_assert(exact == cases[i].exact);
	}
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10));
	struct callers callers = recorded(&record);
	uint64_t ip;
	uint16_t cpumode;
	bool exact;
	ck_assert(!callers_outermost(&callers, &ip, &cpumode, &exact));
	ck_assert_uint_eq(callers_depth(&callers), 1);
}

/* Two chains share a node only if they are the same, however many there are. */
TEST(equal_chains_share_a_node_and_others_do_not)
{
	enum { CHAINS = 3000, DEPTH = 12 };
	static uint64_t all[CHAINS][DEPTH];
	static uint32_t nodes[CHAINS];
	static size_t counts[CHAINS];
	struct chains chains = {0};
	uint32_t roots[2] = {radix_root(&chains.radix, 1), radix_root(&chains.radix, 2)};
	srand(7);
	for (int i = 0; i < CHAINS; i++) {
		counts[i] = 2 + (size_t)rand() % (DEPTH - 2);
		for (size_t j = 0; j < counts[i]; j++)
			all[i][j] = rand() % 6 ? (uint64_t)rand() % 3 + 100 : rand() % 2 ? USER : KERNEL;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < CHAINS; i++) {
			struct callers callers = {.ips = all[i], .count = counts[i],
						  .cpumode = PERF_RECORD_MISC_USER, .exact = i % 2};
			uint32_t root = roots[i / 2 % 2];
			struct chain *chain = chains_find(&chains, root, &callers);
			uint32_t node = chains_intern(&chains, root, &callers);
			ck_assert(round == 0 || node == nodes[i]);
			ck_assert(!chain->known || chain->node == node);
			chain->known = true;
			chain->node = nodes[i] = node;
		}
	}
	for (int i = 0; i < CHAINS; i++) {
		uint64_t words[3 * DEPTH], others[3 * DEPTH];
		size_t count = words_of(&chains.radix, nodes[i], words);
		for (int j = i % 4; j < i; j += 4) {
			bool same = words_of(&chains.radix, nodes[j], others) == count &&
				    memcmp(words, others, count * sizeof(*words)) == 0;
			if (same != (nodes[i] == nodes[j]))
				ck_abort_msg("chains %d and %d", i, j);
		}
	}
	chains_deinit(&chains);
}

/* The roots are the only difference between recursions of equal depth. */
TEST(deep_recursions_of_two_roots_are_two)
{
	enum { DEPTH = 2000, ROOTS = 64 };
	static uint64_t ips[DEPTH];
	struct chains chains = {0};
	for (int i = 0; i < DEPTH; i++)
		ips[i] = 0x55d0c1f3a1c4;
	for (size_t depth = 1; depth <= DEPTH; depth += 1 + depth / 4) {
		const struct callers callers = {.ips = ips, .count = depth,
						.cpumode = PERF_RECORD_MISC_USER};
		for (uint32_t root = 0; root < ROOTS; root++) {
			struct chain *chain = chains_find(&chains, root << 12, &callers);
			ck_assert_msg(!chain->known, "depth %zu, root %u", depth, root);
			chain->known = true;
		}
	}
	chains_deinit(&chains);
}

TEST(the_kernel_part_of_a_wait_is_removed)
{
	const struct sp_record record = sample(PERF_RECORD_MISC_KERNEL, 1,
					       CHAIN(KERNEL, 1, 2, 3, USER, 10, 20, 30));
	struct callers callers = recorded(&record), kernel;
	ck_assert(callers_drop_kernel(&callers, &kernel));
	ck_assert_uint_eq(callers.leaf_ip, 10);
	ck_assert_uint_eq(callers.leaf_cpumode, PERF_RECORD_MISC_USER);
	ck_assert_uint_eq(callers.cpumode, PERF_RECORD_MISC_USER);
	ck_assert(!callers.exact);
	ck_assert_uint_eq(callers.count, 2);
	ck_assert_uint_eq(callers.ips[0], 20);
	ck_assert_uint_eq(kernel.count, 3);
	ck_assert_uint_eq(kernel.ips[0], 1);
	ck_assert(kernel.exact);
	ck_assert_uint_eq(kernel.cpumode, PERF_RECORD_MISC_KERNEL);
}

TEST(a_chain_without_a_user_part_keeps_its_kernel_part)
{
	const struct sp_record records[] = {
		sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(KERNEL, 1, 2, 3)),
		sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(KERNEL, 1, 2, 3, USER)),
		sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(KERNEL, 1)),
		sample(PERF_RECORD_MISC_GUEST_KERNEL, 1,
		       CHAIN((uint64_t)PERF_CONTEXT_GUEST_KERNEL, 1, 2, USER, 3)),
	};
	const size_t kernels[] = {3, 3, 1, 0};
	for (size_t i = 0; i < 4; i++) {
		const struct callers before = recorded(&records[i]);
		struct callers callers = before, kernel;
		ck_assert(!callers_drop_kernel(&callers, &kernel));
		ck_assert_uint_eq(callers.leaf_ip, 1);
		ck_assert_uint_eq(callers.count, before.count);
		ck_assert_uint_eq(kernel.count, kernels[i]);
	}
}

TEST(a_user_chain_has_no_kernel_part)
{
	struct sp_record record = sample(PERF_RECORD_MISC_USER, 10, CHAIN(USER, 10, 20));
	struct callers callers = recorded(&record), kernel;
	ck_assert(!callers_drop_kernel(&callers, &kernel));
	ck_assert_uint_eq(callers.leaf_ip, 10);
	ck_assert_uint_eq(kernel.count, 0);
	/* Kernel addresses were excluded from the chain: the sampled one is not in it. */
	record = sample(PERF_RECORD_MISC_KERNEL, 1, CHAIN(USER, 10, 20));
	callers = recorded(&record);
	ck_assert(callers_drop_kernel(&callers, &kernel));
	ck_assert_uint_eq(callers.leaf_ip, 10);
	ck_assert_uint_eq(callers.count, 1);
	ck_assert_uint_eq(kernel.count, 1);
	ck_assert_uint_eq(kernel.ips[0], 1);
}
