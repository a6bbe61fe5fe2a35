/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sprof/stat.h>

#include "test.h"

#define HARDWARE(name_, config_) {.name = (name_), .type = PERF_TYPE_HARDWARE, \
	.config = PERF_COUNT_HW_##config_, .supported = true, .scale = 1, .unit = ""}
#define SOFTWARE(name_, config_) {.name = (name_), .type = PERF_TYPE_SOFTWARE, \
	.config = PERF_COUNT_SW_##config_, .supported = true, .scale = 1, .unit = ""}
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct sp_stat_row row(double value)
{
	return (struct sp_stat_row){.counted = true, .value = value};
}

/* Calls sp_stat_derive() for arrays of events and rows. */
static size_t derive_one(const struct sp_stat_event *events, const struct sp_stat_row *rows,
			 size_t count, size_t index, double elapsed_ns,
			 struct sp_stat_derived ret[2])
{
	const struct sp_stat_event *event_of[8];
	const struct sp_stat_row *row_of[8];
	for (size_t i = 0; i < count; i++) {
		event_of[i] = &events[i];
		row_of[i] = &rows[i];
	}
	return sp_stat_derive(event_of, row_of, count, index, elapsed_ns, ret);
}

TEST(figures_are_of_the_parts_that_are_there)
{
	const struct sp_stat_event events[] = {
		SOFTWARE("task-clock", TASK_CLOCK), HARDWARE("cycles", CPU_CYCLES),
		HARDWARE("instructions", INSTRUCTIONS), HARDWARE("branches", BRANCH_INSTRUCTIONS),
		HARDWARE("branch-misses", BRANCH_MISSES), SOFTWARE("faults", PAGE_FAULTS),
		HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	};
	const struct sp_stat_row rows[] = {row(2e9), row(6e9), row(3e9), row(1000),
					row(25), row(500), row(1.5e9)};
	struct sp_stat_derived ret[2];
#define derive(index) derive_one(events, rows, COUNT(events), index, 4e9, ret)
	ck_assert_uint_eq(derive(0), 1);
	ck_assert(ret[0].kind == SP_STAT_CPUS_UTILIZED && ret[0].known && ret[0].value == 0.5);
	ck_assert_uint_eq(derive(1), 1);
	ck_assert(ret[0].kind == SP_STAT_GHZ && ret[0].value == 3);
	ck_assert_uint_eq(derive(2), 2);
	ck_assert(ret[0].kind == SP_STAT_INSN_PER_CYCLE && ret[0].value == 0.5);
	ck_assert(ret[1].kind == SP_STAT_STALLED_PER_INSN && ret[1].value == 0.5);
	ck_assert_uint_eq(derive(4), 1);
	ck_assert(ret[0].kind == SP_STAT_BRANCH_MISSES && ret[0].value == 2.5);
	ck_assert_uint_eq(derive(5), 1);
	ck_assert(ret[0].kind == SP_STAT_RATE && ret[0].value == 250);
	ck_assert_uint_eq(derive(6), 1);
	ck_assert(ret[0].kind == SP_STAT_FRONTEND_IDLE && ret[0].value == 25);
#undef derive
}

TEST(figures_need_their_other_part)
{
	const struct sp_stat_event events[] = {HARDWARE("instructions", INSTRUCTIONS),
					       HARDWARE("cycles", CPU_CYCLES)};
	struct sp_stat_row rows[] = {row(10), {0}};
	struct sp_stat_derived ret[2];
	ck_assert_uint_eq(derive_one(events, rows, 2, 0, 1e9, ret), 1);
	ck_assert(!ret[0].known);
	/* Events that were not counted have no metric. */
	ck_assert_uint_eq(derive_one(events, rows, 2, 1, 1e9, ret), 0);
}

TEST(parts_above_the_whole_are_unknown)
{
	const struct sp_stat_event events[] = {
		HARDWARE("cache-misses", CACHE_MISSES),
		HARDWARE("cache-references", CACHE_REFERENCES),
		HARDWARE("instructions", INSTRUCTIONS), HARDWARE("cycles", CPU_CYCLES),
	};
	const struct sp_stat_row more[] = {row(1001), row(1000), row(400), row(100)};
	const struct sp_stat_row all[] = {row(1000), row(1000), row(400), row(100)};
	struct sp_stat_derived ret[2];
	ck_assert_uint_eq(derive_one(events, more, COUNT(events), 0, 1e9, ret), 1);
	ck_assert(!ret[0].known);
	ck_assert_uint_eq(derive_one(events, all, COUNT(events), 0, 1e9, ret), 1);
	ck_assert(ret[0].known && ret[0].value == 100);
	/* Instructions are no part of cycles. */
	ck_assert_uint_eq(derive_one(events, more, COUNT(events), 2, 1e9, ret), 1);
	ck_assert(ret[0].known && ret[0].value == 4);
}

TEST(figures_are_of_one_mode_and_group)
{
	struct sp_stat_event events[] = {HARDWARE("instructions:u", INSTRUCTIONS),
					 HARDWARE("cycles", CPU_CYCLES),
					 HARDWARE("cycles:u", CPU_CYCLES),
					 HARDWARE("cycles:u", CPU_CYCLES)};
	const struct sp_stat_row rows[] = {row(100), row(400), row(300), row(200)};
	struct sp_stat_derived ret[2];
	events[0].modes = events[2].modes = events[3].modes = SP_STAT_NO_KERNEL;
	events[0].cgroup = events[3].cgroup = "/a";
	ck_assert_uint_eq(derive_one(events, rows, 4, 0, 1e9, ret), 1);
	ck_assert(ret[0].known && ret[0].value == 0.5);
}

TEST(figures_are_of_one_kind_of_cpu)
{
	struct sp_stat_event events[] = {HARDWARE("cpu_core/cycles/", CPU_CYCLES),
					 HARDWARE("cpu_atom/cycles/", CPU_CYCLES),
					 HARDWARE("cpu_core/instructions/", INSTRUCTIONS),
					 HARDWARE("cpu_atom/instructions/", INSTRUCTIONS),
					 SOFTWARE("task-clock", TASK_CLOCK)};
	const struct sp_stat_row rows[] = {row(400), row(100), row(800), row(50), row(200)};
	struct sp_stat_derived ret[2];
	for (size_t i = 0; i < 4; i++)
		events[i].config |= (i & 1 ? UINT64_C(10) : UINT64_C(4)) << 32;
	ck_assert_uint_eq(derive_one(events, rows, 5, 0, 1e9, ret), 1);
	ck_assert(ret[0].kind == SP_STAT_GHZ && ret[0].value == 2);
	for (size_t i = 2; i < 4; i++) {
		ck_assert_uint_eq(derive_one(events, rows, 5, i, 1e9, ret), 1);
		ck_assert(ret[0].kind == SP_STAT_INSN_PER_CYCLE && ret[0].known);
		ck_assert(ret[0].value == (i == 2 ? 2 : 0.5));
	}
}
