/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of hybrid CPUs, and their sums. tests/cli/test_pmus.sh compares what is shown of them. */
#include "reader/pmus.h"

#include <stdio.h>
#include "file/file_format.h"
#include "files.h"
#include "made_ctx.h"
#include "writer/writer.h"

#define MOST_EVENTS 40
#define CORE UINT64_C(4)
#define ATOM UINT64_C(10)

struct made {
	struct sp_event events[MOST_EVENTS];
	uint64_t ids[MOST_EVENTS];
	size_t count;
	struct sp_reader *reader;
};

static struct perf_event_attr *add(struct made *made, const char *name, uint32_t type,
				   uint64_t config)
{
	size_t index = made->count++;
	ck_assert_uint_lt(index, MOST_EVENTS);
	made->ids[index] = 100 + index;
	made->events[index] = (struct sp_event){
		.name = name,
		.attr = {.type = type, .size = sizeof(struct perf_event_attr), .config = config,
			 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID},
		.ids = &made->ids[index],
		.id_count = 1,
	};
	return &made->events[index].attr;
}

static struct perf_event_attr *cycles(struct made *made, const char *name, uint64_t pmu)
{
	return add(made, name, PERF_TYPE_HARDWARE, pmu << 32);
}

/* Writes a recording of a machine with cpu_core and cpu_atom, and opens it. */
static void open_made(struct made *made)
{
	static const struct {
		uint32_t count;
		struct {
			uint32_t size;
			char text[12];
		} texts[4];
	} topology = {2, {{12, "cpu_core"}, {12, "0-3"}, {12, "cpu_atom"}, {12, "4-7"}}};
	const struct writer_pmu pmus[] = {{CORE, "cpu_core"}, {ATOM, "cpu_atom"}};
	const struct writer_feature feature = {FEATURE_HYBRID_TOPOLOGY, {(const void *)&topology,
							       sizeof(topology)}};
	const struct writer_info info = {.arch = "x86_64", .pmus = pmus, .pmu_count = 2,
					 .features = &feature, .feature_count = 1};
	const char *path = files_path("data");
	struct writer *writer;
	remove(path);
	ok_or_fail(writer_open(path, made->events, made->count, &info, &writer));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ok_or_fail(sp_reader_open(made_ctx(), path, &made->reader));
}

static void add_up(struct made *made, const char *const *names, size_t count)
{
	ok_or_fail(sp_reader_add_up_pmus(made->reader, (struct sp_string_list){names, count}));
}

/* Compares the names of the shown events. */
static void events_are(const struct made *made, size_t count, const char *const *names)
{
	ck_assert_uint_eq(sp_reader_event_count(made->reader), count);
	for (size_t i = 0; i < count; i++)
		ck_assert_str_eq(sp_reader_event(made->reader, i)->name, names[i]);
}
#define EVENTS_ARE(made, ...)                                                          \
	events_are((made), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),     \
		   (const char *[]){__VA_ARGS__})

TEST(a_sum_is_in_the_place_of_its_first_event)
{
	struct made made = {0};
	add(&made, "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	cycles(&made, "cpu_atom/cycles/Pu", ATOM);
	add(&made, "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	cycles(&made, "cpu_core/cycles/Pu", CORE)->precise_ip = 3;
	open_made(&made);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cpu-clock", "cycles:Pu (cpu_core + cpu_atom)", "page-faults");
	const size_t sums[] = {0, 1, 2, 1};
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(reader_sum_of(made.reader, i), sums[i]);
	const struct sp_event *sum = sp_reader_event(made.reader, 1);
	ck_assert_uint_eq(sum->id_count, 2);
	ck_assert_uint_eq(sum->ids[0], 103);
	ck_assert_uint_eq(sum->ids[1], 101);
	ck_assert_uint_eq(sum->added_count, 2);
	ck_assert_str_eq(sum->added_names[0], "cpu_core/cycles/Pu");
	ck_assert_str_eq(sum->added_names[1], "cpu_atom/cycles/Pu");
	/* The sum is of all CPUs. */
	ck_assert_uint_eq(sum->attr.config, PERF_COUNT_HW_CPU_CYCLES);
	ck_assert_uint_eq(sp_reader_event(made.reader, 0)->added_count, 0);

	sp_reader_split_pmus(made.reader);
	EVENTS_ARE(&made, "cpu-clock", "cpu_atom/cycles/Pu", "page-faults", "cpu_core/cycles/Pu");
	ck_assert_uint_eq(reader_sum_of(made.reader, 3), 3);
	ck_assert_str_eq(sum->name, "cycles:Pu (cpu_core + cpu_atom)");
	sp_reader_free(made.reader);
}

TEST(recordings_of_other_machines_stay_as_they_are)
{
	struct made made = {0};
	cycles(&made, "cycles:u", 0);
	cycles(&made, "cycles:u", 0);
	add(&made, "cpu/mem-loads/", PERF_TYPE_RAW, 0x1cd);
	open_made(&made);
	const struct sp_event *first = sp_reader_event(made.reader, 0);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cycles:u", "cycles:u", "cpu/mem-loads/");
	ck_assert_ptr_eq(sp_reader_event(made.reader, 0), first);
	sp_reader_free(made.reader);
}

TEST(names_have_perfs_forms)
{
	struct made made = {0};
	/* perf 5.16 and later; the user's own name; no name: perf was killed. */
	cycles(&made, "cpu_core/cycles:ppp/", CORE);
	cycles(&made, "cpu_atom/cycles:ppp/", ATOM);
	cycles(&made, "mine", CORE);
	cycles(&made, "mine", ATOM);
	cycles(&made, "theirs", CORE + 3);
	cycles(&made, "theirs", ATOM);
	add(&made, "cpu_core/L1-dcache-loads/", PERF_TYPE_HW_CACHE, CORE << 32);
	add(&made, "cpu_atom/L1-dcache-loads/", PERF_TYPE_HW_CACHE, ATOM << 32);
	open_made(&made);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cycles:ppp (cpu_core + cpu_atom)", "mine (cpu_core + cpu_atom)",
		   "theirs (type7 + cpu_atom)", "L1-dcache-loads (cpu_core + cpu_atom)");
	sp_reader_free(made.reader);
}

TEST(events_of_a_pmu_are_added_up_by_name_not_by_code)
{
	struct made made = {0};
	add(&made, "cpu_core/mem-loads,ldlat=30/P", CORE, 0x1cd);
	add(&made, "cpu_core/event=0xd0,umask=1/", CORE, 0x1d0);
	add(&made, "uncore_0/reads/", 20, 1);
	add(&made, "cpu_atom/mem-loads,ldlat=30/P", ATOM, 0x5d0);
	add(&made, "cpu_atom/event=0xd0,umask=1/", ATOM, 0x1d0);
	add(&made, "uncore_1/reads/", 21, 1);
	open_made(&made);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "mem-loads,ldlat=30:P (cpu_core + cpu_atom)",
		   "cpu_core/event=0xd0,umask=1/", "uncore_0/reads/",
		   "cpu_atom/event=0xd0,umask=1/", "uncore_1/reads/");
	sp_reader_free(made.reader);
}

TEST(events_with_other_fields_or_periods_stay_apart)
{
	struct made made = {0};
	cycles(&made, "cpu_core/cycles/", CORE);
	cycles(&made, "cpu_atom/cycles/", ATOM)->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	add(&made, "cpu_core/instructions/", PERF_TYPE_HARDWARE, CORE << 32 | 1)->sample_period = 5;
	add(&made, "cpu_atom/instructions/", PERF_TYPE_HARDWARE, ATOM << 32 | 1)->sample_period = 6;
	open_made(&made);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cpu_core/cycles/", "cpu_atom/cycles/", "cpu_core/instructions/",
		   "cpu_atom/instructions/");
	sp_reader_free(made.reader);
}

TEST(a_sum_has_one_event_of_each_pmu)
{
	struct made made = {0};
	cycles(&made, "cpu_core/cycles/", CORE);
	cycles(&made, "cpu_core/cycles/", CORE);
	cycles(&made, "cpu_atom/cycles/", ATOM);
	cycles(&made, "cpu_core/cycles/", CORE);
	cycles(&made, "cpu_atom/cycles/", ATOM);
	open_made(&made);
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cycles (cpu_core + cpu_atom)", "cycles (cpu_core + cpu_atom)",
		   "cpu_core/cycles/");
	ck_assert_uint_eq(reader_sum_of(made.reader, 2), 0);
	ck_assert_uint_eq(reader_sum_of(made.reader, 4), 1);
	sp_reader_free(made.reader);
}

TEST(a_sum_has_a_limit_of_pmus)
{
	struct made made = {0};
	for (uint64_t i = 0; i < MOST_EVENTS; i++)
		cycles(&made, "cycles", 50 + i);
	open_made(&made);
	add_up(&made, NULL, 0);
	ck_assert_uint_eq(sp_reader_event_count(made.reader), MOST_EVENTS - 15);
	ck_assert_uint_eq(sp_reader_event(made.reader, 0)->added_count, 16);
	ck_assert_uint_eq(sp_reader_event(made.reader, 1)->added_count, 0);
	sp_reader_free(made.reader);
}

TEST(sums_are_of_selected_events)
{
	struct made made = {0};
	cycles(&made, "cpu_core/cycles/", CORE);
	cycles(&made, "cpu_atom/cycles/", ATOM);
	add(&made, "cpu_core/instructions/", PERF_TYPE_HARDWARE, CORE << 32 | 1);
	add(&made, "cpu_atom/instructions/", PERF_TYPE_HARDWARE, ATOM << 32 | 1);
	open_made(&made);
	const char *const names[] = {"cpu_core/cycles/", "cpu_atom/instructions/",
				     "cpu_core/instructions/"};
	add_up(&made, names, 3);
	EVENTS_ARE(&made, "cpu_core/cycles/", "cpu_atom/cycles/",
		   "instructions (cpu_core + cpu_atom)");
	add_up(&made, names, 2);
	EVENTS_ARE(&made, "cpu_core/cycles/", "cpu_atom/cycles/", "cpu_core/instructions/",
		   "cpu_atom/instructions/");
	add_up(&made, NULL, 0);
	EVENTS_ARE(&made, "cycles (cpu_core + cpu_atom)", "instructions (cpu_core + cpu_atom)");
	sp_reader_free(made.reader);
}

TEST(patterns_match_names_with_and_without_the_pmu)
{
	static const struct {
		const char *name, *pattern;
		bool matches;
	} cases[] = {
		{"cpu_core/cycles/Pu", "cpu_core/cycles/Pu", true},
		{"cpu_core/cycles/Pu", "*cycles*", true},
		{"cpu_core/cycles/Pu", "cpu_*", true},
		{"cpu_core/cycles/Pu", "cycles:Pu", true},
		{"cpu_core/cycles/Pu", "cycles:Pu (cpu_core + cpu_atom)", true},
		{"cpu_core/cycles/Pu", "cycles", false},
		{"cpu_core/cycles/Pu", "cycles*", true},
		{"cpu_core/cycles/Pu", "cycles:P", false},
		{"cpu_core/cycles/Pu", "cpu_atom*", false},
		{"cpu_core/cycles/", "cycles", true},
		{"cycles", "cycl[ef]s", true},
		{"cycles", "cycle", false},
		{"mem:[x]", "mem:[x]", true},
		{"sched:sched_switch", "sched:*", true},
		{"/", "/", true},
		{"//", "", false},
		{"a//", "a//", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sp_event event = {.name = cases[i].name};
		ck_assert_msg(sp_event_matches(&event, cases[i].pattern) == cases[i].matches,
			      "%s, %s", cases[i].name, cases[i].pattern);
	}
}
