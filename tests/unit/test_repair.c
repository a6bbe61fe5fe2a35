/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Truncated stacks made whole: small cases, and programs with known stacks. */
#include "unwind/repair.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

#define BASE UINT64_C(0x7ffffffff000)
#define DEPTH_MAX 2048

/* A stack, the outermost frame first: as a program has it. */
struct program {
	struct unwind_frame frames[DEPTH_MAX]; /* sp: of the frame while it calls */
	size_t depth;
};

static void call(struct program *program, uint64_t ip, uint64_t size)
{
	uint64_t above = program->depth ? program->frames[program->depth - 1].sp : BASE;
	ck_assert_uint_lt(program->depth, DEPTH_MAX);
	program->frames[program->depth++] = (struct unwind_frame){.ip = ip, .sp = above - size};
}

/*
 * Returns the result of unwinding a stack copy of `dump` bytes: the innermost frame, and each
 * caller with its return address, right below its stack pointer, in the copy.
 */
static struct unwind_result see(const struct program *program, uint64_t dump,
				struct unwind_frame *frames)
{
	struct unwind_result result = {.end = UNWIND_COMPLETE};
	uint64_t end = program->frames[program->depth - 1].sp + dump;
	for (size_t i = program->depth; i-- > 0;) {
		frames[result.count] = program->frames[i];
		if (result.count && frames[result.count].sp > end) {
			result.end = UNWIND_TRUNCATED;
			result.missing = frames[result.count].sp - 8;
			return result;
		}
		frames[result.count].exact = !result.count;
		result.count++;
	}
	return result;
}

static uint32_t add(struct repair *repair, uint64_t thread, uint64_t time_ns,
		    const struct program *program, uint64_t dump)
{
	struct unwind_frame frames[DEPTH_MAX];
	struct unwind_result result = see(program, dump, frames);
	return repair_add(repair, thread, time_ns, frames, &result);
}

/* How many frames were joined; each must be the program's. */
static size_t joined(const struct repair *repair, uint32_t stack, const struct program *program,
		     uint64_t dump)
{
	struct unwind_frame own[DEPTH_MAX], outer[DEPTH_MAX];
	struct unwind_result result = see(program, dump, own);
	size_t count = repair_outer(repair, stack, outer, DEPTH_MAX);
	ck_assert(!count || result.count + count == program->depth);
	for (size_t i = 0; i < count; i++) {
		const struct unwind_frame *truth = &program->frames[count - 1 - i];
		ck_assert_uint_eq(outer[i].ip, truth->ip);
		ck_assert_uint_eq(outer[i].sp, truth->sp);
	}
	return count;
}

/* main, `run` and `frames` frames of 64 bytes below. */
static struct program deep(uint64_t run, size_t frames)
{
	struct program program = {0};
	call(&program, 0x1000, 64);
	call(&program, run, 64);
	while (frames--)
		call(&program, 0x3000, 64);
	return program;
}

/* xorshift64* */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static struct repair *new_repair(void)
{
	struct repair *repair = repair_new(1 << 24);
	ck_assert_ptr_nonnull(repair);
	return repair;
}

/* Whole stacks of a thread, before and after what happens at 20 to 80. */
static void add_around(struct repair *repair, uint64_t thread)
{
	struct program program = deep(0x2000, 5);
	add(repair, thread, 10, &program, 4096);
	add(repair, thread, 90, &program, 4096);
}

TEST(a_truncated_stack_takes_the_callers_of_those_around_it)
{
	struct repair *repair = new_repair();
	struct program deeper = deep(0x2000, 9);
	add_around(repair, 1);
	uint32_t cut = add(repair, 1, 20, &deeper, 6 * 64);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deeper, 6 * 64), 4);
	struct unwind_frame frames[20];
	ck_assert_uint_eq(repair_frames(repair, cut, frames, 20), 11);
	ck_assert(frames[0].exact && !frames[1].exact);
	ck_assert_uint_eq(frames[0].sp, deeper.frames[10].sp);
	ck_assert_uint_eq(frames[10].ip, 0x1000);
	repair_free(repair);
}

TEST(parts_that_overlap_make_up_a_deep_stack)
{
	struct repair *repair = new_repair();
	static struct program stacks[5000];
	static uint32_t numbers[5000];
	uint64_t random = 4711;
	for (size_t i = 0; i < 5000; i++) {
		stacks[i] = deep(0x2000, 5 + next_random(&random) % 100);
		numbers[i] = add(repair, 1, i, &stacks[i], 16 * 64);
	}
	ck_assert(repair_complete(repair));
	for (size_t i = 0; i < 5000; i++) {
		size_t depth = stacks[i].depth;
		ck_assert_uint_eq(joined(repair, numbers[i], &stacks[i], 16 * 64),
				  depth > 17 ? depth - 17 : 0);
	}
	repair_free(repair);
}

TEST(one_stack_is_too_little_to_go_by)
{
	struct repair *repair = new_repair();
	struct program shallow = deep(0x2000, 5), deeper = deep(0x2000, 9);
	add(repair, 1, 10, &shallow, 4096);
	uint32_t cut = add(repair, 1, 20, &deeper, 6 * 64);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deeper, 6 * 64), 0);
	repair_free(repair);
}

/* 0x2000 runs at both ends of the time, and what it calls is seen whole; 0x2800, in the middle,
 * goes as deep, and is always cut. */
TEST(stacks_without_evidence_are_not_joined)
{
	struct repair *repair = new_repair();
	static struct program stacks[900];
	uint32_t numbers[900];
	for (size_t i = 0; i < 900; i++) {
		bool middle = i >= 300 && i < 700;
		stacks[i] = deep(middle ? 0x2800 : 0x2000, 20);
		numbers[i] = add(repair, 1, i, &stacks[i], middle || i % 2 ? 10 * 64 : 4096);
	}
	ck_assert(repair_complete(repair));
	size_t whole = 0;
	for (size_t i = 0; i < 900; i++)
		whole += joined(repair, numbers[i], &stacks[i], 10 * 64) > 0;
	ck_assert_uint_gt(whole, 200);
	repair_free(repair);
}

TEST(without_a_common_frame_nothing_is_joined)
{
	struct repair *repair = new_repair();
	struct program deeper = deep(0x2000, 30);
	add_around(repair, 1);
	uint32_t cut = add(repair, 1, 20, &deeper, 6 * 64);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deeper, 6 * 64), 0);
	ck_assert_uint_eq(repair_outer(repair, 7, NULL, 0), 0);
	repair_free(repair);
}

TEST(other_threads_have_other_stacks)
{
	struct repair *repair = new_repair();
	struct program deeper = deep(0x2000, 9);
	add_around(repair, 1);
	uint32_t cut = add(repair, 2, 20, &deeper, 6 * 64);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deeper, 6 * 64), 0);
	repair_free(repair);
}

/*
 * Threads stay separate, whatever their names are, even if a truncated stack of one has the frames
 * of another's whole stacks.
 */
TEST(threads_with_neighbouring_names)
{
	for (uint64_t other = 0; other < 16; other++) {
		struct repair *repair = new_repair();
		struct program shallow = deep(0x2000, 5), deeper = deep(0x2000, 9);
		struct unwind_frame frames[DEPTH_MAX];
		struct unwind_result result = see(&shallow, 4096, frames);
		result.end = UNWIND_TRUNCATED;
		repair_add(repair, other == 7 ? 107 : other, 5, frames, &result);
		for (uint64_t i = 0; i < 20; i++)
			add(repair, 7, 10 + 2 * i, &shallow, 4096);
		uint32_t cut = add(repair, 7, 21, &deeper, 6 * 64);
		ck_assert(repair_complete(repair));
		ck_assert_uint_eq(joined(repair, cut, &deeper, 6 * 64), 4);
		repair_free(repair);
	}
}

TEST(a_sampled_address_is_no_return_address)
{
	struct repair *repair = new_repair();
	struct program big = {0};
	call(&big, 0x1000, 64);
	call(&big, 0x2000, 30000); /* a frame larger than the copy */
	struct program caller = big;
	call(&caller, 0x3000, 64);
	add(repair, 1, 10, &caller, 65000);
	uint32_t cut = add(repair, 1, 20, &big, 8192);
	add(repair, 1, 30, &caller, 65000);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &big, 8192), 0);
	add(repair, 1, 40, &big, 65000);
	cut = add(repair, 1, 50, &big, 8192);
	add(repair, 1, 60, &big, 65000);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &big, 8192), 1);
	repair_free(repair);
}

TEST(callers_that_change_all_the_time_are_not_guessed)
{
	struct repair *repair = new_repair();
	static struct program stacks[400];
	uint32_t numbers[400];
	for (size_t i = 0; i < 400; i++) {
		stacks[i] = deep(i / 2 % 2 ? 0x2000 : 0x2800, 20);
		numbers[i] = add(repair, 1, i, &stacks[i], i % 2 ? 10 * 64 : 4096);
	}
	ck_assert(repair_complete(repair));
	for (size_t i = 1; i < 400; i += 2)
		ck_assert_uint_eq(joined(repair, numbers[i], &stacks[i], 10 * 64), 0);
	repair_free(repair);
}

TEST(changing_callers_are_distinguished_by_time)
{
	struct repair *repair = new_repair();
	static struct program stacks[2000];
	uint32_t numbers[2000];
	size_t whole = 0;
	for (size_t i = 0; i < 2000; i++) {
		stacks[i] = deep(i / 300 % 2 ? 0x2000 : 0x2800, 20);
		numbers[i] = add(repair, 1, i, &stacks[i], i % 2 ? 10 * 64 : 4096);
	}
	ck_assert(repair_complete(repair));
	/* Not those between the last sample of one phase and the first of the next. */
	for (size_t i = 1; i < 2000; i += 2)
		whole += joined(repair, numbers[i], &stacks[i], 10 * 64) > 0;
	ck_assert_uint_eq(whole, 1000 - 6 - 1);
	repair_free(repair);
}

TEST(only_whole_and_truncated_stacks_are_remembered)
{
	struct repair *repair = new_repair();
	struct unwind_frame frame = {.ip = 1, .sp = 2};
	for (enum unwind_end end = 0; end < UNWIND_END_COUNT; end++) {
		struct unwind_result result = {.count = 1, .end = end};
		bool taken = repair_add(repair, 1, 1, &frame, &result) != REPAIR_NONE;
		ck_assert(taken == (end == UNWIND_COMPLETE || end == UNWIND_TRUNCATED));
	}
	struct unwind_result none = {.count = 0, .end = UNWIND_TRUNCATED};
	ck_assert_uint_eq(repair_add(repair, 1, 1, &frame, &none), REPAIR_NONE);
	ck_assert(repair_complete(repair));
	repair_free(repair);
}

/*
 * Calls and returns at random; a function at a depth has one of few sizes, and one of few
 * places to call from. The outer part changes seldom, as in most programs.
 */
static void step(struct program *program, uint64_t *random, size_t *floor)
{
	if (next_random(random) % 2000 == 0)
		*floor = next_random(random) % 100 + 1;
	for (size_t i = 0; i < 40; i++) {
		bool down = next_random(random) % 2 && program->depth < 300;
		if (program->depth < *floor || down) {
			static const uint64_t sizes[] = {48, 112, 80, 208, 64, 336};
			uint64_t kind = next_random(random) % 6;
			call(program, 0x1000 + kind * 16, sizes[kind]);
		} else if (program->depth > 1) {
			program->depth--;
		}
	}
}

struct score {
	size_t truncated, joined, wrong, frames, wrong_frames;
};

static void judge(const struct repair *repair, uint32_t stack, const struct program *program,
		  uint64_t dump, struct score *score)
{
	struct unwind_frame own[DEPTH_MAX], outer[DEPTH_MAX];
	struct unwind_result result = see(program, dump, own);
	if (result.end == UNWIND_COMPLETE) {
		score->frames += result.count;
		return;
	}
	score->truncated++;
	size_t count = repair_outer(repair, stack, outer, DEPTH_MAX), wrong = 0;
	score->frames += result.count + count;
	if (!count)
		return;
	score->joined++;
	for (size_t i = 0; i < count; i++)
		wrong += i >= program->depth || program->depth < count ||
			 outer[i].ip != program->frames[count - 1 - i].ip ||
			 outer[i].sp != program->frames[count - 1 - i].sp;
	score->wrong += wrong > 0;
	score->wrong_frames += wrong;
}

#define STEPS 6000

static struct program chain(const uint64_t *ips, size_t count)
{
	struct program program = {0};
	for (size_t i = 0; i < count; i++)
		call(&program, ips[i], 64);
	return program;
}

#define CHAIN(...) \
	chain((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* Whole stacks, half of them at places with changing callers. */
static void add_unsteady(struct repair *repair, uint64_t *time_ns)
{
	for (uint64_t i = 0; i < 3000; i++) {
		struct program steady = CHAIN(0x1000, 0x2000, 0x2100, 0x2200, 0x2300);
		struct program unsteady = CHAIN(0x1000, 0x9000 + i / 2 % 40 * 16,
						0x9900 + i / 2 % 7 * 16, 0x9a00);
		add(repair, 1, *time_ns += 10, i % 2 ? &steady : &unsteady, 65000);
	}
}

/* Cut stacks that are joined are no proof that the thread came back to what they go through. */
TEST(a_stay_is_one_visit_however_many_stacks_are_of_it)
{
	struct program stay = CHAIN(0x1000, 0x4000, 0x5000, 0x5100);
	struct program in_stay = CHAIN(0x1000, 0x4000, 0x5000, 0x6000, 0x6100, 0x6200);
	struct program elsewhere = CHAIN(0x1000, 0x2000, 0x2100);
	struct program other = CHAIN(0x1000, 0x7700, 0x7800, 0x6000, 0x6100, 0x6300, 0x6400);
	for (size_t cuts = 1; cuts <= 64; cuts *= 2) {
		struct repair *repair = new_repair();
		uint32_t first = 0;
		uint64_t time_ns = 0;
		add_unsteady(repair, &time_ns);
		add(repair, 1, ++time_ns, &stay, 65000);
		for (size_t i = 0; i < cuts; i++) {
			uint32_t cut = add(repair, 1, ++time_ns, &in_stay, 3 * 64 + 8);
			first = i ? first : cut;
		}
		add(repair, 1, ++time_ns, &stay, 65000);
		add(repair, 1, ++time_ns, &elsewhere, 65000);
		uint32_t cut = add(repair, 1, ++time_ns, &other, 3 * 64 + 8);
		add(repair, 1, ++time_ns, &elsewhere, 65000);
		add_unsteady(repair, &time_ns);
		ck_assert(repair_complete(repair));
		for (uint32_t i = 0; i < cuts; i++)
			ck_assert_uint_eq(joined(repair, first + i, &in_stay, 3 * 64 + 8), 2);
		ck_assert_uint_eq(joined(repair, cut, &other, 3 * 64 + 8), 0);
		repair_free(repair);
	}
}

TEST(programs_at_random_are_hardly_ever_joined_wrongly)
{
	static struct program stacks[STEPS];
	static uint32_t numbers[STEPS];
	struct score score = {0};
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct repair *repair = repair_new(1 << 28);
		uint64_t random = seed * 7919;
		size_t floor = 30;
		struct program program = {0};
		call(&program, 0x900, 64);
		for (size_t i = 0; i < STEPS; i++) {
			step(&program, &random, &floor);
			stacks[i] = program;
			numbers[i] = add(repair, 1, i, &program, 6000);
		}
		ck_assert(repair_complete(repair));
		for (size_t i = 0; i < STEPS; i++)
			judge(repair, numbers[i], &stacks[i], 6000, &score);
		repair_free(repair);
	}
	printf("# %zu truncated, %zu joined, %zu of them wrong: %zu of %zu frames\n",
	       score.truncated, score.joined, score.wrong, score.wrong_frames, score.frames);
	fflush(stdout);
	ck_assert_uint_gt(score.joined, score.truncated / 100);
	ck_assert_uint_le(score.wrong_frames * 1000, score.frames);
}

TEST(merged_parts_decide_as_one)
{
	struct repair *one = new_repair(), *parts[2] = {new_repair(), new_repair()};
	static struct program stacks[600];
	uint32_t numbers[600], part_numbers[600], offset;
	uint64_t random = 99;
	for (size_t i = 0; i < 600; i++) {
		stacks[i] = deep(i / 300 ? 0x2000 : 0x2800, next_random(&random) % 30);
		numbers[i] = add(one, i % 2, i, &stacks[i], 20 * 64);
		part_numbers[i] = add(parts[i / 50 % 2], i % 2, i, &stacks[i], 20 * 64);
	}
	ck_assert(repair_merge(parts[0], parts[1], &offset));
	ck_assert(repair_complete(one));
	ck_assert(repair_complete(parts[0]));
	size_t whole = 0;
	for (size_t i = 0; i < 600; i++) {
		uint32_t number = part_numbers[i] + (i / 50 % 2 ? offset : 0);
		ck_assert((part_numbers[i] == REPAIR_WHOLE) == (numbers[i] == REPAIR_WHOLE));
		if (numbers[i] == REPAIR_WHOLE)
			continue;
		size_t count = joined(parts[0], number, &stacks[i], 20 * 64);
		ck_assert_uint_eq(count, joined(one, numbers[i], &stacks[i], 20 * 64));
		whole += count > 0;
	}
	ck_assert_uint_gt(whole, 50);
	for (int i = 0; i < 2; i++)
		repair_free(parts[i]);
	repair_free(one);
}

TEST(a_full_table_accepts_nothing_until_it_is_cleared)
{
	struct repair *repair = repair_new(1 << 16);
	struct program program = deep(0x2000, 30);
	uint64_t time_ns = 0;
	add(repair, 1, 0, &program, 25 * 64);
	while (time_ns < 1000000) {
		program = deep(0x2000 + time_ns * 16, 20);
		if (add(repair, 1, time_ns, &program, 4096) == REPAIR_NONE)
			break;
		time_ns++;
	}
	ck_assert_uint_lt(time_ns, 1000);
	ck_assert_uint_gt(time_ns, 10);
	ck_assert(repair_complete(repair));
	ck_assert(repair_trim(repair));
	/* The newest is still known. */
	struct program newest = deep(0x2000 + (time_ns - 1) * 16, 26);
	uint32_t cut = add(repair, 1, time_ns, &newest, 25 * 64);
	ck_assert_uint_ne(cut, REPAIR_NONE);
	struct program after = deep(0x2000 + (time_ns - 1) * 16, 20);
	ck_assert_uint_ne(add(repair, 1, time_ns + 1, &after, 4096), REPAIR_NONE);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &newest, 25 * 64), 28 - 26);
	repair_free(repair);
}

/* They are not used before the first truncated stack. */
TEST(whole_stacks_before_the_first_cut_one_are_known)
{
	struct repair *repair = repair_new(1 << 16), *other = repair_new(1 << 16);
	struct program shallow = deep(0x2000, 20), deepest = deep(0x2000, 60);
	uint32_t offset;
	for (uint64_t i = 0; i < 200; i++) {
		struct program program = deep(0x2000, i % 20 + 1), elsewhere = deep(0x2800, i % 15);
		ck_assert_uint_eq(add(repair, 1, i, &program, 4096), REPAIR_WHOLE);
		ck_assert_uint_eq(add(other, 1, 202 + i, &program, 4096), REPAIR_WHOLE);
		ck_assert_uint_eq(add(other, 2, i, &elsewhere, 4096), REPAIR_WHOLE);
	}
	uint32_t cut = add(repair, 1, 201, &deepest, 50 * 64);
	ck_assert_uint_lt(cut, REPAIR_WHOLE);
	ck_assert(repair_merge(repair, other, &offset));
	ck_assert_uint_gt(offset, cut);
	add(repair, 1, 403, &shallow, 4096);
	struct program also = deep(0x2800, 40);
	uint32_t second = add(repair, 2, 150, &also, 35 * 64);
	ck_assert_uint_lt(second, REPAIR_WHOLE);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deepest, 50 * 64), 62 - 51);
	ck_assert_uint_eq(joined(repair, second, &also, 35 * 64), 42 - 36);
	repair_free(other);
	repair_free(repair);
}

/*
 * A thread without truncated stacks has room for its newest only, and takes none from other
 * threads.
 */
TEST(unused_stacks_make_room)
{
	struct repair *repair = repair_new(1 << 16);
	for (uint64_t i = 0; i < 100000; i++) {
		struct program program = deep(0x2000 + i * 16, 20);
		ck_assert_uint_eq(add(repair, 1, i, &program, 4096), REPAIR_WHOLE);
	}
	struct program shallow = deep(0x2000, 5), deepest = deep(0x2000, 60);
	uint32_t cut = REPAIR_NONE;
	for (uint64_t i = 0; i < 200; i++) {
		uint32_t last = add(repair, 2, 2 * i, &deepest, 57 * 64);
		cut = last == REPAIR_NONE ? cut : last;
		add(repair, 2, 2 * i + 1, &shallow, 4096);
	}
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deepest, 57 * 64), 62 - 58);
	repair_free(repair);
}

/* Bytes that malloc(3) has given out; 0 where that is not known (sanitizers). */
static size_t bytes_in_use(void)
{
#ifdef __GLIBC__
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
#else
	return 0;
#endif
}

TEST(memory_is_bounded_however_many_threads_there_were)
{
	enum { LIMIT = 4 << 20, THREADS = 100000 };
	size_t before = bytes_in_use(), most = 0;
	struct repair *repair = repair_new(LIMIT);
	static struct program program;
	program.depth = 0;
	for (uint64_t i = 0; i < 20; i++)
		call(&program, 0x400000 + 64 * i, 64);
	for (uint64_t thread = 1; thread <= THREADS; thread++) {
		if (add(repair, thread, thread, &program, 65536) == REPAIR_NONE) {
			ck_assert(repair_complete(repair));
			ck_assert(repair_trim(repair));
			ck_assert_uint_eq(add(repair, thread, thread, &program, 65536), REPAIR_WHOLE);
		}
		most = bytes_in_use() > most ? bytes_in_use() : most;
	}
	ck_assert_uint_le(most - before, LIMIT + LIMIT / 4);
	repair_free(repair);
}

TEST(forgetting_keeps_what_was_joined)
{
	struct repair *repair = repair_new(1 << 16);
	struct program shallow = deep(0x2000, 20), middle = deep(0x2000, 40), deepest = deep(0x2000, 60);
	for (uint64_t i = 0; i < 600; i++) {
		add(repair, 1, i, &shallow, 4096);
		add(repair, 1, i, &middle, 30 * 64);
	}
	ck_assert(repair_complete(repair));
	ck_assert(repair_trim(repair));
	uint32_t cut = add(repair, 1, 600, &deepest, 30 * 64);
	add(repair, 1, 601, &shallow, 4096);
	ck_assert_uint_lt(cut, 1200);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deepest, 30 * 64), 62 - 31);
	repair_free(repair);
}

TEST(the_newest_survive_a_second_trim)
{
	struct repair *repair = repair_new(1 << 16);
	struct program truncated = deep(0x2000, 30), newest = {0};
	uint64_t time_ns = 1;
	add(repair, 1, 0, &truncated, 25 * 64);
	for (; time_ns < 1000; time_ns++) {
		newest = deep(0x2000 + time_ns * 16, 20);
		if (add(repair, 1, time_ns, &newest, 4096) == REPAIR_NONE)
			break;
	}
	const uint64_t survivor = 0x2000 + (time_ns - 1) * 16, after_ns = time_ns;
	ck_assert(repair_complete(repair));
	ck_assert(repair_trim(repair));
	for (uint64_t i = 0; i < 4; i++) {
		newest = deep(0x80000 + i * 16, 20);
		ck_assert_uint_ne(add(repair, 1, ++time_ns, &newest, 4096), REPAIR_NONE);
	}
	/* Fill the room with another thread's truncated stacks. */
	do
		truncated = deep(0x2000, 30 + ++time_ns % 1000);
	while (add(repair, 2, time_ns, &truncated, 25 * 64) != REPAIR_NONE);
	ck_assert(repair_complete(repair));
	ck_assert(repair_trim(repair));
	struct program deeper = deep(survivor, 26), after = deep(survivor, 20);
	uint32_t cut = add(repair, 1, after_ns, &deeper, 25 * 64);
	ck_assert_uint_lt(cut, REPAIR_WHOLE);
	add(repair, 1, after_ns, &after, 4096);
	ck_assert(repair_complete(repair));
	ck_assert_uint_eq(joined(repair, cut, &deeper, 25 * 64), 28 - 26);
	repair_free(repair);
}
