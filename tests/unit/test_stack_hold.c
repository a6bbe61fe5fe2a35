/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/stack_hold.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test.h"

/* Nothing is kept but the chain. */
static const struct stack_dump_layout plain;

/* A sample with a head of a header and zeros, and an empty stack copy. */
static struct dump *dump_new(uint16_t head_size)
{
	struct dump *dump = calloc(1, sizeof(*dump) + head_size);
	ck_assert_ptr_nonnull(dump);
	*dump = (struct dump){.size = (uint32_t)sizeof(*dump) + head_size, .head_size = head_size};
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = head_size};
	memcpy(dump->words, &header, 8);
	return dump;
}

/* A leaf that runs a Python function, and the address of the latter. */
#define EVAL 0x500009
#define PYTHON 0x900000

/* Frames of one place in the program, `from` to `until` calls deep, the innermost first. */
static bool add(struct stack_hold *stack_hold, uint64_t time_ns, size_t from, size_t until, uint64_t leaf)
{
	struct unwind_frame frames[64];
	struct unwind_result result = {.end = from ? UNWIND_TRUNCATED : UNWIND_COMPLETE,
				       .missing = 0x10000};
	frames[result.count++] = (struct unwind_frame){leaf, 0x10000 - 0x100 * until, true};
	for (size_t depth = until; depth-- > from;)
		frames[result.count++] =
			(struct unwind_frame){0x400000 + depth, 0x10000 - 0x100 * depth, false};
	struct dump *dump = dump_new(8);
	uint64_t ips[65];
	size_t count = 0;
	for (size_t i = 0; i < result.count; i++) {
		ips[count++] = frames[i].ip;
		if (frames[i].ip == EVAL)
			ips[count++] = PYTHON;
	}
	const struct stack_hold_stack stack = {
		.dump = dump, .frames = frames, .result = &result, .thread = 7, .time_ns = time_ns,
		.ips = ips, .ip_count = count,
		.misc = (uint16_t)((from ? SP_MISC_END_TRUNCATED : SP_MISC_END_COMPLETE)
				   << SP_MISC_END_SHIFT),
	};
	bool held;
	ok_or_fail(stack_hold_add(stack_hold, &stack, &held));
	free(dump);
	return held;
}

TEST(truncated_stacks_are_joined_with_whole_ones)
{
	struct stack_hold *stack_hold = stack_hold_new(&plain, SIZE_MAX);
	struct record_buffer output = {0};
	struct stack_hold_counts counts = {0};
	uint64_t oldest_ns = 500;
	ck_assert_ptr_nonnull(stack_hold);
	ck_assert_uint_eq(stack_hold_oldest_ns(stack_hold), UINT64_MAX);
	ck_assert(add(stack_hold, 100, 3, 12, 0x500001));
	ck_assert_uint_eq(stack_hold_oldest_ns(stack_hold), 100);
	/* Before, between and behind, whole ones say the same. */
	for (uint64_t i = 0; i < 5; i++)
		ck_assert(!add(stack_hold, 90 + 10 * i + i % 2, 0, 6 + i % 4, 0x500002));
	ck_assert(add(stack_hold, 120, 4, 11, 0x500003));
	/* It is not due yet. */
	ok_or_fail(stack_hold_flush(stack_hold, false, &output, &oldest_ns, &counts));
	ck_assert_uint_eq(output.count, 0);
	ok_or_fail(stack_hold_flush(stack_hold, true, &output, &oldest_ns, &counts));
	ck_assert_uint_eq(oldest_ns, 100);
	ck_assert_uint_eq(stack_hold_oldest_ns(stack_hold), UINT64_MAX);
	ck_assert_uint_eq(counts.repaired, 2);
	ck_assert_uint_eq(counts.truncated, 0);
	struct perf_event_header header;
	uint64_t words[16];
	memcpy(&header, output.items, sizeof(header));
	ck_assert_uint_eq(header.size, 8 + 8 + 8 * 14);
	ck_assert_uint_eq(header.misc, SP_MISC_REPAIRED | SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT);
	memcpy(words, output.items + 8, 8 * 15);
	ck_assert_uint_eq(words[0], 14);
	ck_assert_uint_eq(words[1], (uint64_t)PERF_CONTEXT_USER);
	ck_assert_uint_eq(words[2], 0x500001);
	for (size_t i = 0; i < 12; i++)
		ck_assert_uint_eq(words[3 + i], 0x400000 + 11 - i);
	vec_deinit(&output);
	stack_hold_free(stack_hold);
}

/* Outer frames are added to those of the sample, also after a second hold. */
TEST(held_stacks_keep_python_frames)
{
	for (size_t completed = 0; completed < 3; completed++) {
		struct stack_hold *stack_hold = stack_hold_new(&plain, SIZE_MAX);
		struct record_buffer output = {0};
		struct stack_hold_counts counts = {0};
		uint64_t oldest_ns = UINT64_MAX, words[16], time_ns = 1000000000;
		ck_assert(add(stack_hold, time_ns, 3, 12, EVAL));
		if (completed == 2) {
			usleep(210000);
			ok_or_fail(stack_hold_flush(stack_hold, false, &output, &oldest_ns,
						    &counts));
			ck_assert_uint_eq(output.count, 0);
		}
		for (uint64_t i = 0; completed && i < 5; i++)
			ck_assert(!add(stack_hold, time_ns - 10 + 10 * i + i % 2, 0, 6 + i % 4,
				       0x500002));
		ok_or_fail(stack_hold_flush(stack_hold, true, &output, &oldest_ns, &counts));
		ck_assert_uint_eq(counts.repaired, completed > 0);
		memcpy(words, output.items + 8, output.count - 8);
		ck_assert_uint_eq(words[0], completed ? 15 : 12);
		ck_assert_uint_eq(output.count, 8 * (2 + words[0]));
		ck_assert_uint_eq(words[2], EVAL);
		ck_assert_uint_eq(words[3], PYTHON);
		for (size_t i = 4; i < words[0] + 1; i++)
			ck_assert_uint_eq(words[i], 0x400000 + 15 - i);
		vec_deinit(&output);
		stack_hold_free(stack_hold);
	}
}

TEST(unknown_stacks_stay_truncated)
{
	struct stack_hold *stack_hold = stack_hold_new(&plain, SIZE_MAX);
	struct record_buffer output = {0};
	struct stack_hold_counts counts = {0};
	uint64_t oldest_ns = UINT64_MAX;
	/* No stack was truncated: no sample is stored or held. */
	ck_assert(!add(stack_hold, 50, 0, 2, 0x500002));
	ck_assert(add(stack_hold, 100, 3, 12, 0x500001));
	ok_or_fail(stack_hold_flush(stack_hold, true, &output, &oldest_ns, &counts));
	ck_assert_uint_eq(counts.repaired, 0);
	ck_assert_uint_eq(counts.truncated, 1);
	struct perf_event_header header;
	memcpy(&header, output.items, sizeof(header));
	ck_assert_uint_eq(header.misc, SP_MISC_END_TRUNCATED << SP_MISC_END_SHIFT);
	ck_assert_uint_eq(header.size, output.count);
	vec_deinit(&output);
	stack_hold_free(stack_hold); /* with something held */
}

/* It waits for those that come after it, but only once. */
TEST(recent_stacks_are_looked_up_again)
{
	struct stack_hold *stack_hold = stack_hold_new(&plain, SIZE_MAX);
	struct record_buffer output = {0};
	struct stack_hold_counts counts = {0};
	uint64_t oldest_ns = UINT64_MAX, time_ns = 1000000000;
	ck_assert(add(stack_hold, time_ns - 200000000, 3, 12, 0x500001));
	ck_assert(add(stack_hold, time_ns, 3, 12, 0x500001));
	usleep(210000);
	ok_or_fail(stack_hold_flush(stack_hold, false, &output, &oldest_ns, &counts));
	ck_assert_uint_eq(counts.truncated, 1);
	ck_assert_uint_eq(stack_hold_oldest_ns(stack_hold), time_ns);
	ck_assert(!add(stack_hold, time_ns - 10, 0, 8, 0x500002));
	ck_assert(!add(stack_hold, time_ns + 10, 0, 8, 0x500002));
	ok_or_fail(stack_hold_flush(stack_hold, true, &output, &oldest_ns, &counts));
	ck_assert_uint_eq(counts.truncated, 1);
	ck_assert_uint_eq(counts.repaired, 1);
	ck_assert_uint_eq(stack_hold_oldest_ns(stack_hold), UINT64_MAX);
	vec_deinit(&output);
	stack_hold_free(stack_hold);
}

/* Samples are written before their time where they take too much memory. */
TEST(held_samples_are_bounded)
{
	struct stack_hold *stack_hold = stack_hold_new(&plain, SIZE_MAX);
	struct record_buffer output = {0};
	struct stack_hold_counts counts = {0};
	struct unwind_frame frame = {0x500001, 0x1000, true};
	const struct unwind_result result = {.count = 1, .end = UNWIND_TRUNCATED, .missing = 0x10000};
	struct dump *dump = dump_new(40000);
	struct stack_hold_stack stack = {.dump = dump, .frames = &frame, .result = &result, .thread = 7};
	uint64_t oldest_ns = UINT64_MAX;
	for (int i = 0; i < 110; i++) {
		bool held;
		stack.time_ns += 10000000;
		ok_or_fail(stack_hold_add(stack_hold, &stack, &held));
		ck_assert(held);
	}
	ok_or_fail(stack_hold_flush(stack_hold, false, &output, &oldest_ns, &counts));
	ck_assert_uint_ge(counts.truncated, 90);
	free(dump);
	vec_deinit(&output);
	stack_hold_free(stack_hold);
}
