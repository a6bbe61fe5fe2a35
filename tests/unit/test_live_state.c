/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that begins with a roster is to tell of each later moment what was: the reporter's own
 * machine is asked, and compared with the plainest account of it, page by page.
 */
#include "capture/tasks/live_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "machine/machine.h"
#include "record/decode.h"
#include "test.h"

enum { SAMPLE_TYPE = RECORD_FIELDS_NEEDED, STEPS = 3000, PIDS = 24, PAGES = 16 };

static const struct sp_event event = {.attr = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1}};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void put(struct record_buffer *buffer, uint64_t time_ns, struct sp_record record)
{
	record.id = (struct sp_sample_id){.pid = 1, .tid = 1, .time_ns = time_ns, .id = 5};
	if (record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT)
		record.task.time_ns = time_ns;
	ok_or_fail(record_encode(buffer, &record, &event.attr));
}

static void put_mapping(struct record_buffer *buffer, uint64_t time_ns, uint32_t pid, uint64_t page,
			uint64_t pages, const char *name)
{
	put(buffer, time_ns, (struct sp_record){
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.mmap = {.pid = pid, .tid = pid, .start = page << 12, .size = pages << 12,
			 .filename = name, .prot = PROT_READ | PROT_EXEC, .ino = 7}});
}

/* Live tasks and mappings, so that the history is a possible one. */
struct world {
	bool alive[PIDS], thread[PIDS]; /* by number; the one further thread of each is + 1000 */
	uint8_t file[PIDS][PAGES];      /* "/fN" is N + 1 */
};

static void step(struct world *world, struct record_buffer *buffer, uint64_t time_ns, uint64_t *seed)
{
	char name[32];
	uint32_t pid = 1 + draw(seed, PIDS - 1), other = 1 + draw(seed, PIDS - 1);
	uint32_t file = draw(seed, 40), page = draw(seed, PAGES - 3), pages = 1 + draw(seed, 3);
	snprintf(name, sizeof(name), "/f%u", file);
	if (!world->alive[pid])
		return;
	switch (draw(seed, 12)) {
	case 0:
		put(buffer, time_ns, (struct sp_record){
			.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
			.comm = {.pid = pid, .tid = pid, .comm = name + 1}});
		world->thread[pid] = false;
		memset(world->file[pid], 0, PAGES);
		break;
	case 1: case 2: case 3:
		if (world->alive[other])
			break;
		put(buffer, time_ns, (struct sp_record){
			.type = PERF_RECORD_FORK,
			.task = {.pid = other, .ppid = pid, .tid = other, .ptid = pid}});
		world->alive[other] = true;
		memcpy(world->file[other], world->file[pid], PAGES);
		break;
	case 4:
		if (world->thread[pid])
			break;
		put(buffer, time_ns, (struct sp_record){
			.type = PERF_RECORD_FORK,
			.task = {.pid = pid, .ppid = pid, .tid = pid + 1000, .ptid = pid}});
		world->thread[pid] = true;
		break;
	case 5:
		put(buffer, time_ns, (struct sp_record){
			.type = PERF_RECORD_COMM,
			.comm = {.pid = pid, .tid = world->thread[pid] ? pid + 1000 : pid,
				 .comm = name}});
		break;
	case 6: case 7:
		if (pid < 3)
			break;
		if (world->thread[pid])
			put(buffer, time_ns, (struct sp_record){
				.type = PERF_RECORD_EXIT,
				.task = {.pid = pid, .ppid = 1, .tid = pid + 1000, .ptid = 1}});
		put(buffer, time_ns, (struct sp_record){
			.type = PERF_RECORD_EXIT,
			.task = {.pid = pid, .ppid = 1, .tid = pid, .ptid = 1}});
		world->alive[pid] = world->thread[pid] = false;
		break;
	default:
		put_mapping(buffer, time_ns, pid, page, pages, name);
		memset(world->file[pid] + page, (int)file + 1, pages);
		break;
	}
}

static void add_all(struct machine *machine, const uint8_t *bytes, size_t size)
{
	const struct record_layout layout = {.events = &event, .event_count = 1, .path = "roster"};
	struct decoder *decoder;
	ok_or_fail(decoder_new(&layout, &decoder));
	for (size_t at = 0; at < size;) {
		struct perf_event_header header;
		struct sp_record record;
		memcpy(&header, bytes + at, sizeof(header));
		ck_assert_uint_ge(header.size, sizeof(header));
		ck_assert_uint_le(at + header.size, size);
		struct raw_record raw = {.type = header.type, .misc = header.misc,
					 .size = header.size, .bytes = bytes + at};
		ok_or_fail(decoder_decode(decoder, &raw, &record));
		ok_or_fail(machine_add(machine, &record));
		at += header.size;
	}
	decoder_free(decoder);
}

/* Compares each mapped page, and names. */
static void check(const struct machine *machine, const struct machine *whole, uint64_t time_ns,
		  const struct world *world)
{
	for (uint32_t pid = 1; pid < PIDS; pid++) {
		if (!world->alive[pid])
			continue;
		uint32_t view = machine_view(machine, pid, time_ns);
		for (uint32_t tid = pid; tid <= pid + 1000; tid += 1000)
			if (tid == pid || world->thread[pid])
				ck_assert_str_eq(machine_span(whole, pid, tid, time_ns).comm,
						 machine_span(machine, pid, tid, time_ns).comm);
		for (uint64_t page = 0; page < PAGES; page++) {
			char name[32];
			struct location got = machine_locate(machine, view, PERF_RECORD_MISC_USER,
							     page << 12);
			snprintf(name, sizeof(name), "/f%d", world->file[pid][page] - 1);
			if (world->file[pid][page])
				ck_assert_msg(got.module && !strcmp(got.module->path, name),
					      "process %u, page %d at %d: %s, not %s", pid, (int)page,
					      (int)time_ns, got.module ? got.module->path : "none",
					      name);
		}
	}
}

static void write_roster(const struct live_state *live_state, struct record_buffer *ret)
{
	struct live_state_place place = {0};
	for (bool more = true; more;)
		ok_or_fail(live_state_next(live_state, &place, ret, &more));
}

static struct live_state new_roster(void)
{
	struct live_state live_state = {0};
	ck_assert(record_fields_make(SAMPLE_TYPE, &live_state.fields));
	return live_state;
}

static void run_history(uint64_t seed)
{
	static struct world worlds[STEPS + 1];
	struct record_buffer all = {0}, first = {0};
	size_t ends[STEPS + 1];
	memset(worlds, 0, sizeof(worlds));
	worlds[0].alive[1] = worlds[0].alive[2] = true;
	for (uint32_t pid = 1; pid < 3; pid++) {
		put(&all, 0, (struct sp_record){.type = PERF_RECORD_COMM,
						.comm = {.pid = pid, .tid = pid, .comm = "first"}});
		put_mapping(&all, 0, pid, 0, PAGES, "/f0");
		memset(worlds[0].file[pid], 1, PAGES);
	}
	ends[0] = all.count;
	for (uint64_t i = 1; i <= STEPS; i++) {
		worlds[i] = worlds[i - 1];
		step(&worlds[i], &all, 10 * i, &seed);
		ends[i] = all.count;
	}
	/* Cut behind step `seen`; samples as old as that of `base` may still come. */
	size_t base = 200 + draw(&seed, STEPS / 2), seen = base + draw(&seed, 300);
	struct live_state live_state = new_roster();
	for (size_t i = 0; i <= seen; i++) {
		size_t begin = i ? ends[i - 1] : 0;
		ok_or_fail(live_state_add(&live_state, all.items + begin, ends[i] - begin));
		if (i % 16 == 0 && i < base)
			ok_or_fail(live_state_expire(&live_state, 10 * i));
	}
	ok_or_fail(live_state_expire(&live_state, 10 * base));
	write_roster(&live_state, &first);
	struct machine *whole, *cut;
	ok_or_fail(machine_new(&whole));
	ok_or_fail(machine_new(&cut));
	add_all(whole, all.items, all.count);
	add_all(cut, first.items, first.count);
	add_all(cut, all.items + ends[seen], all.count - ends[seen]);
	ok_or_fail(machine_seal(whole));
	ok_or_fail(machine_seal(cut));
	for (size_t i = base; i < STEPS; i += 1 + draw(&seed, 40))
		check(cut, whole, 10 * i + 5, &worlds[i]);
	machine_free(whole);
	machine_free(cut);
	live_state_deinit(&live_state);
	vec_deinit(&all);
	vec_deinit(&first);
}

TEST(expired_records_are_not_needed)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		run_history(seed);
}

/* UBSan finds arithmetic on the null pointer of a log that was never used. */
TEST(an_empty_log_adds_nothing)
{
	struct live_state live_state = new_roster();
	struct record_buffer first = {0};
	write_roster(&live_state, &first);
	ck_assert_uint_eq(first.count, 0);
	live_state_deinit(&live_state);
	vec_deinit(&first);
}

/* Mappings of code that comes and goes at ever new places are bounded, and the program's stay. */
TEST(mappings_are_bounded)
{
	struct live_state live_state = new_roster();
	live_state.keeps_newest = true;
	struct record_buffer one = {0}, first = {0};
	put(&one, 0, (struct sp_record){.type = PERF_RECORD_COMM,
					.comm = {.pid = 9, .tid = 9, .comm = "jit"}});
	put_mapping(&one, 0, 9, 1, 1, "/program");
	ok_or_fail(live_state_add(&live_state, one.items, one.count));
	size_t largest = 0;
	for (uint64_t i = 0; i < 40000; i++) {
		one.count = 0;
		put_mapping(&one, i, 9, 100 + i, 1, "//anon");
		ok_or_fail(live_state_add(&live_state, one.items, one.count));
		ok_or_fail(live_state_expire(&live_state, i));
		if (live_state.processes.items[0].mappings.count > largest)
			largest = live_state.processes.items[0].mappings.count;
	}
	/* Half of them may be gone, and not yet forgotten. */
	ck_assert_uint_le(largest, 2 * 16384 + 1);
	write_roster(&live_state, &first);
	ck_assert(memmem(first.items, first.count, "/program", 8));
	live_state_deinit(&live_state);
	vec_deinit(&one);
	vec_deinit(&first);
}

static void map_many(struct live_state *live_state, uint32_t pid, uint64_t count)
{
	struct record_buffer records = {0};
	for (uint64_t i = 0; i < count; i++)
		put_mapping(&records, 0, pid, 2 * i, 1, "/lib/some.so");
	ok_or_fail(live_state_add(live_state, records.items, records.count));
	vec_deinit(&records);
}

static void fork_of(struct live_state *live_state, uint32_t pid, uint32_t child)
{
	struct record_buffer one = {0};
	struct sp_record record = {.type = PERF_RECORD_FORK};
	record.task = (struct sp_task){.pid = child, .tid = child, .ppid = pid, .ptid = pid};
	put(&one, 0, record);
	ok_or_fail(live_state_add(live_state, one.items, one.count));
	vec_deinit(&one);
}

/* It is read again for each file, when it has a sample. */
TEST(a_process_with_too_many_mappings_has_none)
{
	struct live_state live_state = new_roster();
	struct record_buffer one = {0};
	size_t index = 0;
	map_many(&live_state, 7, 100);
	map_many(&live_state, 9, 20000);
	fork_of(&live_state, 9, 10);
	ck_assert_uint_eq(live_state.processes.items[0].mappings.count, 100);
	ck_assert_uint_eq(live_state_next_large(&live_state, &index), 9);
	ck_assert_uint_eq(live_state_next_large(&live_state, &index), 10);
	ck_assert_uint_eq(live_state_next_large(&live_state, &index), 0);
	ck_assert_uint_eq(live_state.mapping_bytes, live_state.processes.items[0].bytes.count);
	/* Another program has few. */
	struct sp_record exec = {.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC};
	exec.comm = (struct sp_comm){.pid = 9, .tid = 9, .comm = "new"};
	put(&one, 0, exec);
	ok_or_fail(live_state_add(&live_state, one.items, one.count));
	map_many(&live_state, 9, 3);
	index = 0;
	ck_assert_uint_eq(live_state_next_large(&live_state, &index), 10);
	ck_assert_uint_eq(live_state.processes.items[1].mappings.count, 3);
	vec_deinit(&one);
	live_state_deinit(&live_state);
	ck_assert_uint_eq(live_state.mapping_bytes, 0);
}

/* A fork copies its parent's mappings. */
TEST(mappings_of_all_processes_have_a_limit)
{
	struct live_state live_state = new_roster();
	size_t index = 0;
	map_many(&live_state, 100, 10000);
	for (uint32_t pid = 101; pid < 300; pid++)
		fork_of(&live_state, 100, pid);
	ck_assert_uint_le(live_state.mapping_bytes, (size_t)64 << 20);
	ck_assert_uint_gt(live_state.mapping_bytes, (size_t)48 << 20);
	ck_assert_uint_gt(live_state_next_large(&live_state, &index), 110);
	live_state_deinit(&live_state);
	ck_assert_uint_eq(live_state.mapping_bytes, 0);
}

/* Advancing the moment bounds the later records. */
TEST(the_log_is_trimmed)
{
	struct live_state live_state = new_roster();
	struct record_buffer one = {0};
	for (uint32_t i = 1; i < 20000; i++) {
		one.count = 0;
		put(&one, i, (struct sp_record){
			.type = i % 2 ? PERF_RECORD_FORK : PERF_RECORD_EXIT,
			.task = {.pid = 10 + i / 2, .ppid = 1, .tid = 10 + i / 2, .ptid = 1}});
		if (i % 2 == 0)
			put(&one, i, (struct sp_record){
				.type = PERF_RECORD_EXIT,
				.task = {.pid = 10 + (i - 1) / 2, .ppid = 1, .tid = 10 + (i - 1) / 2}});
		ok_or_fail(live_state_add(&live_state, one.items, one.count));
		ok_or_fail(live_state_trim(&live_state, 65536));
		ck_assert_uint_le(live_state_log_size(&live_state), 65536);
	}
	ck_assert_uint_gt(live_state.base_ns, 15000);
	ck_assert_uint_lt(live_state.processes.count, 100);
	live_state_deinit(&live_state);
	vec_deinit(&one);
}

/* Reading /proc removes tasks with a lost EXIT record. */
TEST(losses_are_made_good)
{
	struct live_state live_state = new_roster();
	struct record_buffer one = {0}, first = {0};
	for (uint32_t pid = 10; pid < 20; pid++)
		put(&one, pid, (struct sp_record){.type = PERF_RECORD_FORK,
						  .task = {.pid = pid, .ppid = 1, .tid = pid, .ptid = 1}});
	/* Processes with a lost FORK record. */
	for (uint32_t pid = 20; pid < 26; pid++)
		put(&one, pid, (struct sp_record){.type = PERF_RECORD_COMM,
						  .comm = {.pid = pid, .tid = pid, .comm = "old"}});
	ok_or_fail(live_state_add(&live_state, one.items, one.count));
	ok_or_fail(live_state_expire(&live_state, 100));
	ck_assert_uint_eq(live_state.process_index.count, 16);
	const uint32_t alive[] = {12, 17, 22};
	ok_or_fail(live_state_retain(&live_state, alive, 3, 200));
	ck_assert_uint_eq(live_state.process_index.count, 11);
	ok_or_fail(live_state_expire(&live_state, 200));
	ck_assert_uint_eq(live_state.process_index.count, 3);
	ck_assert_uint_eq(live_state.thread_index.count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(u64map_find(&live_state.process_index, alive[i]));
		ck_assert_ptr_nonnull(u64map_find(&live_state.thread_index, alive[i]));
	}
	live_state_deinit(&live_state);
	vec_deinit(&one);
	vec_deinit(&first);
}

/* Facts that do not belong to tasks are limited: the newest are kept, and found by their key. */
TEST(facts_are_bounded)
{
	struct live_state live_state = new_roster();
	struct record_buffer one = {0};
	for (uint64_t i = 1; i <= 70000; i++) {
		one.count = 0;
		put(&one, i, (struct sp_record){.type = PERF_RECORD_KSYMBOL,
						.ksymbol = {.start = i << 12, .size = 64,
							    .name = "bpf_prog"}});
		ok_or_fail(live_state_add(&live_state, one.items, one.count));
		ok_or_fail(live_state_expire(&live_state, i));
	}
	ck_assert_uint_eq(live_state.facts.count, 65536);
	for (uint64_t i = 69000; i <= 70000; i++) {
		one.count = 0;
		put(&one, i + 70000, (struct sp_record){
			.type = PERF_RECORD_KSYMBOL,
			.ksymbol = {.start = i << 12, .size = 64, .name = "bpf_prog",
				    .flags = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER}});
		ok_or_fail(live_state_add(&live_state, one.items, one.count));
	}
	ok_or_fail(live_state_expire(&live_state, 200000));
	ck_assert_uint_eq(live_state.facts.count, 65536 - 1001);
	ck_assert_uint_eq(live_state.fact_index.count, live_state.facts.count);
	for (uint32_t i = 0; i < live_state.facts.count; i++)
		ck_assert_uint_eq(*u64map_find(&live_state.fact_index, live_state.facts.items[i].key), i);
	live_state_deinit(&live_state);
	vec_deinit(&one);
}
