/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes of stack copies, by rings, rates and plans. */
#include "capture/config/stack_copies.h"

#include "test.h"

TEST(rings_and_rates_limit_the_size)
{
	ck_assert_uint_eq(stack_copies_largest(4 << 20, 997, 8192), SP_STACK_BYTES_MAX);
	ck_assert_uint_eq(stack_copies_largest(4 << 20, 997, 32768), 0);
	ck_assert_uint_eq(stack_copies_largest(8 << 20, 20000, 8192), 0);
	uint32_t fast = stack_copies_largest(8 << 20, 4999, 8192);
	ck_assert(fast >= 32768 && fast < 49152 && fast % 8 == 0);
	/* Rings of a user without privileges. */
	uint32_t small = stack_copies_largest(128 << 10, 997, 8192);
	ck_assert(small >= 16384 && small <= (128 << 10) / 6);
	ck_assert_uint_eq(stack_copies_largest(64 << 10, 997, 8192), 0);
	ck_assert_uint_eq(stack_copies_largest(0, 0, 8192), 0);
	ck_assert(stack_copies_are_roomy(4 << 20, 997, SP_STACK_BYTES_MAX));
	ck_assert(!stack_copies_are_roomy(2 << 20, 997, SP_STACK_BYTES_MAX));
	ck_assert(!stack_copies_are_roomy(512 << 10, 4999, 16384));
}

/* A plan for tasks: 997 Hz, started by the exec, with copies of 8 KiB that are unwound live. */
struct made {
	struct event_planned event;
	struct event_plan plan;
	struct call_graph graph;
};

static void make(struct made *made)
{
	*made = (struct made){
		.event.attr = {.sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 8192,
			       .enable_on_exec = 1, .freq = 1, .sample_freq = 997},
		.plan = {.samples = &made->event, .sample_count = 1, .freq_hz = 997},
		.graph = {.kind = SP_CALL_GRAPH_DWARF, .live = true, .stack_bytes = 8192},
	};
}

static struct stack_copies choose(const struct made *made, bool is_command, uint64_t ring_kib)
{
	return stack_copies_choose(&made->graph, &made->plan, is_command, ring_kib << 10);
}

TEST(events_of_running_tasks_copy_more)
{
	struct made made;
	make(&made);
	ck_assert_uint_eq(choose(&made, false, 2048).bytes, SP_STACK_BYTES_MAX);
	ck_assert(!choose(&made, false, 2048).alternates_begin);
	/* A sixth of half of the ring is less than twice the request. */
	ck_assert_uint_eq(choose(&made, false, 128).bytes, 0);
}

TEST(alternates_of_a_command_begin_if_there_is_room)
{
	struct made made;
	make(&made);
	ck_assert(choose(&made, true, 4096).alternates_begin);
	ck_assert_uint_eq(choose(&made, true, 4096).bytes, 0);
	ck_assert(!choose(&made, true, 2048).alternates_begin);
	made.event.attr.enable_on_exec = 0;
	ck_assert(!choose(&made, true, 4096).alternates_begin);
}

static bool as_planned(const struct made *made)
{
	const struct stack_copies process = choose(made, false, 4096), command = choose(made, true, 4096);
	return !process.bytes && !command.bytes && !process.alternates_begin && !command.alternates_begin;
}

TEST(other_plans_keep_their_copies)
{
	struct made made;
	make(&made);
	ck_assert(!as_planned(&made));
	made.graph.live = false;
	ck_assert(as_planned(&made));
	make(&made);
	made.graph.fixed_size = true;
	ck_assert(as_planned(&made));
	make(&made);
	made.plan.cpu_wide = true;
	ck_assert(as_planned(&made));
	make(&made);
	made.event.member_count = 2;
	ck_assert(as_planned(&made));
	make(&made);
	made.event.attr.sample_type = 0;
	ck_assert(as_planned(&made));
	/* A counter's period gives no rate; a clock's does. */
	make(&made);
	made.plan.freq_hz = 0;
	made.event.attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE, .sample_type = PERF_SAMPLE_STACK_USER,
		.sample_period = 1000000, .enable_on_exec = 1};
	ck_assert(as_planned(&made));
	made.event.attr.type = PERF_TYPE_SOFTWARE;
	made.event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
	ck_assert(!as_planned(&made));
}
