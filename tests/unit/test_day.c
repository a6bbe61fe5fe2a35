/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A day of a recorder's life: processes come and go, each runs a program, is sampled and ends, and
 * numbers are used again. They are records in rings over plain memory, and take the way that a
 * round takes to the file (capture/round.c). At the end the recorder holds no more than after
 * some hours, and the reporter finds each sample in the program of its process.
 *
 *	SPROF_DAY=1000000 build/tests/unit/test_day      the whole of it; by itself it is shorter
 */
#include <malloc.h>
#include <sprof/analysis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "capture/output/dsos.h"
#include "capture/samples/ring_filter.h"
#include "capture/tasks/live_state.h"
#include "capture/tasks/tracker.h"
#include "capture/output/write_queue.h"
#include "files.h"
#include "machine/live.h"
#include "record/decode.h"
#include "recording.h"
#include "rings.h"

enum {
	CPUS = 2,
	RING = 1 << 18,
	SHELL = 10,        /* parent of all others */
	FIRST_PID = 100,
	PIDS = 30000,      /* numbers, used in turn */
	PROGRAMS = 41,     /* no two that have the same number one behind the other run the same one */
	AT_ONCE = 64,      /* processes of a round */
};

#define DAY_NS UINT64_C(86400000000000)
#define LAG_NS UINT64_C(2000000000)
#define START UINT64_C(0x400000)

struct day {
	uint64_t processes, step_ns;
	struct memory_ring memories[2 * CPUS];
	struct ring rings[2 * CPUS]; /* rings of side-band, then of samples */
	struct tracker tracker;
	struct membership membership;
	struct filter filter;
	struct live_state live_state;
	struct dsos dsos;
	struct live *live;
	struct decoder *decoder;
	struct write_queue *write_queue;
	struct sink sink;
	struct batch batch;
	struct record_buffer encoded;
};

static struct sp_error *write_spans(void *arg, struct iovec *spans, int count)
{
	return write_queue_write(((struct day *)arg)->write_queue, spans, count);
}

static uint64_t processes_wanted(void)
{
	const char *text = getenv("SPROF_DAY");
	return text ? strtoull(text, NULL, 10) : 50000;
}

static void day_init(struct day *day, const char *path, uint64_t processes)
{
	static const struct record_layout layout = {.events = recording_events, .event_count = 2,
						    .path = "day"};
	*day = (struct day){.processes = processes, .step_ns = DAY_NS / processes};
	for (size_t i = 0; i < 2 * CPUS; i++)
		day->rings[i] = memory_ring_init(&day->memories[i], RING, 0);
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &day->filter.fields));
	day->tracker.fields = day->live_state.fields = day->filter.fields;
	day->membership = (struct membership){.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	day->tracker.membership = day->tracker.spaces = &day->membership;
	day->filter.membership = &day->membership;
	ck_assert(membership_add(&day->membership, SHELL, SHELL, 0));
	ok_or_fail(live_new(true, &day->live));
	ok_or_fail(decoder_new(&layout, &day->decoder));
	const struct write_queue_options options = {.memory_bytes = 16 << 20, .sample_id_at = 8,
						    .sample_cpu_at = day->filter.fields.sample_cpu};
	ok_or_fail(write_queue_new(&options, &day->write_queue));
	write_queue_begin(day->write_queue, recording_open(path));
	day->sink = (struct sink){write_spans, day};
	ok_or_fail(batch_init(&day->batch, &day->sink));
}

static void day_deinit(struct day *day)
{
	for (size_t i = 0; i < 2 * CPUS; i++)
		memory_ring_deinit(&day->memories[i]);
	tracker_deinit(&day->tracker);
	membership_deinit(&day->membership);
	live_state_deinit(&day->live_state);
	dsos_deinit(&day->dsos);
	live_free(day->live);
	decoder_free(day->decoder);
	batch_deinit(&day->batch);
	write_queue_free(day->write_queue);
	vec_deinit(&day->encoded);
}

static void put(struct day *day, size_t ring, uint64_t time_ns, uint32_t pid, struct sp_record record)
{
	bool sample = record.type == PERF_RECORD_SAMPLE;
	if (!sample)
		record.id = (struct sp_sample_id){.pid = pid, .tid = pid, .time_ns = time_ns, .id = 21};
	day->encoded.count = 0;
	ok_quietly(record_encode(&day->encoded, &record, &recording_events[!sample].attr));
	if (!memory_ring_put(&day->memories[ring], day->encoded.items, day->encoded.count))
		ck_abort_msg("a ring is full");
}

static void put_task(struct day *day, size_t cpu, uint64_t time_ns, uint32_t pid, uint32_t type)
{
	put(day, cpu, time_ns, type == PERF_RECORD_FORK ? SHELL : pid, (struct sp_record){
		.type = type, .task = {.pid = pid, .ppid = SHELL, .tid = pid, .ptid = SHELL,
				       .time_ns = time_ns}});
}

static void put_mapping(struct day *day, size_t cpu, uint64_t time_ns, uint32_t pid, uint64_t start,
			const char *path)
{
	put(day, cpu, time_ns, pid, (struct sp_record){
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.mmap = {.pid = pid, .tid = pid, .start = start, .size = 0x10000, .filename = path,
			 .prot = PROT_READ | PROT_EXEC, .maj = 8, .ino = start,
			 .build_id_size = 20, .build_id = "ABCDEFGHIJKLMNOPQRST"}});
}

/* All that one process is. */
static void live_through(struct day *day, uint64_t number)
{
	uint32_t pid = FIRST_PID + (uint32_t)(number % PIDS);
	uint64_t begin_ns = (number + 1) * day->step_ns, moment_ns = day->step_ns / 16;
	size_t cpu = number % CPUS;
	char path[32];
	snprintf(path, sizeof(path), "/usr/bin/p%u", (unsigned int)(number * 7 % PROGRAMS));
	put_task(day, (cpu + 1) % CPUS, begin_ns, pid, PERF_RECORD_FORK);
	put(day, cpu, begin_ns + moment_ns, pid, (struct sp_record){
		.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
		.comm = {.pid = pid, .tid = pid, .comm = strrchr(path, '/') + 1}});
	put_mapping(day, cpu, begin_ns + moment_ns + 1, pid, START, path);
	put_mapping(day, cpu, begin_ns + moment_ns + 2, pid, START << 8, "/usr/lib/libc.so.6");
	put(day, CPUS + cpu, 0, pid, (struct sp_record){
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
		.sample = {.ip = START + number % 0x1000, .pid = pid, .tid = pid, .id = 11,
			   .time_ns = begin_ns + 2 * moment_ns, .cpu = (uint32_t)cpu, .period = 1}});
	put_task(day, cpu, begin_ns + 3 * moment_ns, pid, PERF_RECORD_EXIT);
}

/* Adds the records to the unwinder's machine. */
static void tell_live(struct day *day, const struct record_buffer *kept)
{
	struct perf_event_header header;
	for (size_t at = 0; at < kept->count; at += header.size) {
		struct sp_record record;
		memcpy(&header, kept->items + at, sizeof(header));
		const struct raw_record raw = {.type = header.type, .misc = header.misc,
					       .size = header.size, .bytes = kept->items + at};
		ok_quietly(decoder_decode(day->decoder, &raw, &record));
		ok_quietly(live_add(day->live, &record));
	}
	ok_quietly(live_apply(day->live));
}

static void do_round(struct day *day)
{
	struct record_buffer *kept = &day->tracker.kept;
	ok_quietly(tracker_drain(&day->tracker, day->rings, CPUS));
	ok_quietly(live_state_add(&day->live_state, kept->items, kept->count));
	ok_quietly(dsos_add_records(&day->dsos, kept->items, kept->count));
	tell_live(day, kept);
	ok_quietly(batch_add_bytes(&day->batch, kept->items, kept->count));
	for (size_t i = CPUS; i < 2 * CPUS; i++)
		ok_quietly(filter_ring(&day->filter, &day->rings[i], ring_head(&day->rings[i]),
				       &day->batch));
	ok_quietly(batch_flush(&day->batch));
	kept->count = 0;
	if (day->tracker.last_ns <= LAG_NS)
		return;
	uint64_t before_ns = day->tracker.last_ns - LAG_NS;
	membership_expire(&day->membership, before_ns);
	ok_quietly(live_state_expire(&day->live_state, before_ns));
	ok_quietly(live_expire(day->live, before_ns));
	ok_quietly(write_queue_commit(day->write_queue));
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static size_t resident_bytes(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss << 10;
}

/* Each row's program is that of its process. */
static void check_report(const char *path, uint64_t samples)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis *analysis;
	struct stat st;
	size_t before = resident_bytes();
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	const enum sp_key keys[] = {SP_KEY_COMM, SP_KEY_DSO};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows};
	ok_or_fail(sp_analysis_run(ctx, reader, &options, &analysis));
	const struct sp_profile *profile = sp_analysis_profile(analysis, 0);
	ck_assert_uint_eq(profile->row_count, PROGRAMS);
	uint64_t sum = 0;
	for (size_t i = 0; i < profile->row_count; i++) {
		ck_assert_str_eq(sp_profile_row(profile, i)->comm, sp_profile_row(profile, i)->dso);
		sum += sp_profile_row(profile, i)->self.samples;
	}
	ck_assert_uint_eq(sum, samples);
	ck_assert_int_eq(stat(path, &st), 0);
	size_t taken = resident_bytes() - before;
	if (getenv("SPROF_DAY"))
		printf("# reporter: %.1f MB for a file of %.1f MB\n", (double)taken / 1e6,
		       (double)st.st_size / 1e6);
	ck_assert_uint_lt(taken, 10 * (size_t)st.st_size + ((size_t)64 << 20));
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

TEST(a_day_leaves_nothing_behind)
{
	static struct day day;
	const char *path = files_path("day");
	size_t early = 0, late = 0; /* the most of the first and of the last quarter */
	day_init(&day, path, processes_wanted());
	for (uint64_t number = 0; number < day.processes; number++) {
		live_through(&day, number);
		if (number % AT_ONCE == AT_ONCE - 1)
			do_round(&day);
		if (number % 1000 == 0 && number < day.processes / 4 && heap_bytes() > early)
			early = heap_bytes();
		if (number % 1000 == 0 && number > day.processes * 3 / 4 && heap_bytes() > late)
			late = heap_bytes();
	}
	do_round(&day);
	if (getenv("SPROF_DAY"))
		printf("# recorder: %.2f MB in the first quarter, %.2f MB in the last\n", (double)early / 1e6,
		       (double)late / 1e6);
	ck_assert_uint_lt(late, early + (256 << 10));
	ck_assert_uint_le(day.membership.newest.count, 200);
	ck_assert_uint_le(day.live_state.process_index.count, 200);
	ck_assert_uint_eq(day.filter.counts.samples, day.processes);
	ck_assert_uint_eq(day.filter.counts.filtered, 0);
	ok_or_fail(write_queue_end(day.write_queue));
	ok_or_fail(writer_close(write_queue_take_writer(day.write_queue), &(struct writer_end){0}));
	check_report(path, day.processes);
	day_deinit(&day);
}
