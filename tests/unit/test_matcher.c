/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/waits/matcher.h"

#include <string.h>
#include "base/error.h"
#include "capture/waits/threads.h"
#include "test.h"

enum {
	SAMPLE_TYPE = RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN,
	ID = 7, /* id of the event offcpu-time */
	PREEMPTED_ID = 8,
	OUT = PERF_RECORD_MISC_SWITCH_OUT,
	PREEMPTED = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	IN = 0,
	MS = 1000000,
};

static const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

struct fixture {
	struct matcher *waits;
	struct record_fields fields;
	struct record_buffer encoded, output;
};

static void set_up(struct fixture *f, size_t bytes_max)
{
	*f = (struct fixture){0};
	ck_assert(record_fields_make(SAMPLE_TYPE, &f->fields));
	const struct matcher_options options = {
		.fields = f->fields, .thin_ns = MS, .snapshot_ns = 10 * MS, .threads_max = 4,
		.bytes_max = bytes_max,
	};
	f->waits = matcher_new(&options);
	ck_assert_ptr_nonnull(f->waits);
	ok_or_fail(matcher_add_id(f->waits, ID));
}

static void tear_down(struct fixture *f)
{
	matcher_free(f->waits);
	vec_deinit(&f->encoded);
	vec_deinit(&f->output);
}

static void encode(struct fixture *f, const struct sp_record *record)
{
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, record, &attr));
}

/* A sample with a stack of that address. */
static void encode_sample(struct fixture *f, uint32_t tid, uint64_t time_ns, uint64_t ip, uint64_t id)
{
	encode(f, &(struct sp_record){
		.type = PERF_RECORD_SAMPLE,
		.sample = {.pid = 1, .tid = tid, .time_ns = time_ns, .ip = ip, .id = id, .period = 1,
			   .ips = &ip, .ip_count = 1},
	});
}

static void sample(struct fixture *f, uint32_t tid, uint64_t time_ns, uint64_t ip)
{
	encode_sample(f, tid, time_ns, ip, ID);
	ok_or_fail(matcher_add_sample(f->waits, f->encoded.items));
}

static void snapshot(struct fixture *f, uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t ip)
{
	encode(f, &(struct sp_record){
		.type = PERF_RECORD_SAMPLE, .misc = SP_MISC_SNAPSHOT,
		.sample = {.pid = 1, .tid = tid, .time_ns = end_ns, .ip = ip, .id = ID,
			   .period = end_ns - begin_ns, .ips = &ip, .ip_count = 1},
	});
	ok_or_fail(matcher_add_sample(f->waits, f->encoded.items));
}

/* Each thread switches on the CPU of its number. */
static void switches(struct fixture *f, uint32_t tid, uint64_t time_ns, uint16_t misc)
{
	ok_or_fail(matcher_add_switch(f->waits, 1, tid, tid, time_ns, misc));
}

static void exits(struct fixture *f, uint32_t tid, uint64_t time_ns)
{
	ok_or_fail(matcher_on_change(f->waits, &(struct task_change){
		.kind = TASK_ENDED, .pid = 1, .tid = tid, .time_ns = time_ns}));
}

struct written {
	uint64_t time_ns, period, ip, id;
	uint32_t cpu;
	uint16_t misc;
};

/* Processes what is older than `safe_ns`, and returns the first of the samples, and their number. */
static size_t written(struct fixture *f, uint64_t safe_ns, struct written *ret)
{
	size_t count = 0;
	struct perf_event_header header;
	f->output.count = 0;
	ok_or_fail(matcher_write(f->waits, safe_ns, &f->output));
	for (size_t at = 0; at < f->output.count; at += header.size, count++) {
		memcpy(&header, f->output.items + at, sizeof(header));
		if (count)
			continue;
		ret->misc = header.misc;
		memcpy(&ret->time_ns, f->output.items + at + f->fields.sample_time, 8);
		memcpy(&ret->period, f->output.items + at + f->fields.sample_period, 8);
		memcpy(&ret->cpu, f->output.items + at + f->fields.sample_cpu, 4);
		memcpy(&ret->id, f->output.items + at + 8, 8);
		memcpy(&ret->ip, f->output.items + at + 16, 8);
	}
	return count;
}

TEST(waits_have_their_duration_and_the_last_stack)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	switches(&f, 5, 1 * MS, IN);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS + 10, OUT);
	switches(&f, 5, 9 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.time_ns, 2 * MS);
	ck_assert_uint_eq(wait.period, 7 * MS - 10);
	ck_assert_uint_eq(wait.ip, 0xa);
	ck_assert_uint_eq(matcher_counts(f.waits)->first_ns, 2 * MS);
	ck_assert_uint_eq(matcher_counts(f.waits)->last_ns, 2 * MS);
	/* A later wait does not get that stack, and a later file does not get that time. */
	switches(&f, 5, 10 * MS, OUT);
	switches(&f, 5, 20 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->first_ns, 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->last_ns, 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->waits, 2);
	ck_assert_uint_eq(matcher_counts(f.waits)->bare, 1);
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), UINT64_MAX);
	tear_down(&f);
}

TEST(waits_leave_out_preempted_time)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS + 10, PREEMPTED);
	switches(&f, 5, 9 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->waits, 0);
	tear_down(&f);
}

TEST(preempted_time_has_an_event_of_its_own)
{
	struct fixture f;
	struct written off;
	set_up(&f, 1 << 20);
	matcher_write_preempted(f.waits, PREEMPTED_ID, 5 * MS);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS + 10, PREEMPTED);
	ck_assert_uint_eq(written(&f, 3 * MS, &off), 0);
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), 2 * MS);
	switches(&f, 5, 9 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &off), 1);
	ck_assert_uint_eq(off.id, PREEMPTED_ID);
	ck_assert_uint_eq(off.time_ns, 2 * MS);
	ck_assert_uint_eq(off.period, 7 * MS - 10);
	ck_assert_uint_eq(off.ip, 0xa);
	ck_assert_uint_eq(matcher_counts(f.waits)->waits, 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->preempted_ns, 7 * MS - 10);
	/* The next wait has the event of waits, and no stack of the preemption. */
	switches(&f, 5, 110 * MS, PREEMPTED);
	sample(&f, 5, 120 * MS, 0xb);
	switches(&f, 5, 120 * MS, OUT);
	switches(&f, 5, 130 * MS, IN);
	ck_assert_uint_eq(written(&f, 200 * MS, &off), 1);
	ck_assert_uint_eq(off.id, ID);
	ck_assert_uint_eq(off.ip, 0xb);
	tear_down(&f);
}

/* Each of 1,000 is preempted for a fifth of the threshold. */
TEST(preempted_time_below_the_threshold_is_thinned)
{
	struct fixture f;
	struct written off;
	set_up(&f, 1 << 20);
	matcher_write_preempted(f.waits, PREEMPTED_ID, 5 * MS);
	for (uint64_t i = 1; i <= 1000; i++) {
		sample(&f, 5, i * 10 * MS, 0xa);
		switches(&f, 5, i * 10 * MS, PREEMPTED);
		switches(&f, 5, i * 10 * MS + MS, IN);
	}
	size_t count = written(&f, UINT64_MAX, &off);
	ck_assert_uint_gt(count, 150);
	ck_assert_uint_lt(count, 250);
	ck_assert_uint_eq(off.period, 5 * MS);
	tear_down(&f);
}

/* One of 8 switches is sampled. Files, losses and disabled events end the time. */
TEST(preempted_time_may_be_a_part)
{
	struct fixture f;
	struct written off;
	set_up(&f, 1 << 20);
	matcher_write_preempted(f.waits, PREEMPTED_ID, MS);
	matcher_set_sampled(f.waits, 0, 8);
	sample(&f, 5, 10 * MS, 0xa);
	switches(&f, 5, 10 * MS, PREEMPTED);
	ck_assert_uint_eq(written(&f, 20 * MS, &off), 0);
	ok_or_fail(matcher_split(f.waits, 20 * MS, &f.output));
	ck_assert_uint_gt(f.output.count, 0);
	switches(&f, 5, 30 * MS, IN);
	ck_assert_uint_eq(written(&f, 40 * MS, &off), 1);
	ck_assert_uint_eq(off.time_ns, 20 * MS);
	ck_assert_uint_eq(off.period, 8 * 10 * MS);
	sample(&f, 5, 40 * MS, 0xa);
	switches(&f, 5, 40 * MS, PREEMPTED);
	ck_assert_uint_eq(written(&f, 50 * MS, &off), 0);
	ok_or_fail(matcher_disable(f.waits, 60 * MS));
	ck_assert_uint_eq(written(&f, 70 * MS, &off), 1);
	ck_assert_uint_eq(off.misc & SP_MISC_UNFINISHED, SP_MISC_UNFINISHED);
	ck_assert_uint_eq(off.period, 8 * 20 * MS);
	sample(&f, 5, 80 * MS, 0xa);
	switches(&f, 5, 80 * MS, PREEMPTED);
	ck_assert_uint_eq(written(&f, 85 * MS, &off), 0);
	matcher_add_lost(f.waits, 86 * MS);
	switches(&f, 5, 90 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &off), 0);
	tear_down(&f);
}

TEST(waits_match_records_of_several_rings)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	/* The CPU on which the thread woke is read first, and the sample is unwound last. */
	switches(&f, 5, 9 * MS, IN);
	switches(&f, 5, 2 * MS + 10, OUT);
	ck_assert_uint_eq(written(&f, 2 * MS, &wait), 0);
	sample(&f, 5, 2 * MS, 0xa);
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), 2 * MS);
	ck_assert_uint_eq(written(&f, 9 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), 2 * MS);
	ck_assert_uint_eq(written(&f, 9 * MS + 1, &wait), 1);
	ck_assert_uint_eq(wait.period, 7 * MS - 10);
	tear_down(&f);
}

TEST(waits_are_split_where_files_end)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS, OUT);
	ck_assert_uint_eq(written(&f, 8 * MS, &wait), 0);
	ok_or_fail(matcher_split(f.waits, 8 * MS, &f.output));
	ck_assert_uint_eq(matcher_counts(f.waits)->written, 1);
	struct perf_event_header header;
	uint64_t period;
	memcpy(&header, f.output.items, sizeof(header));
	memcpy(&period, f.output.items + f.fields.sample_period, 8);
	ck_assert_uint_eq(header.misc & SP_MISC_UNFINISHED, SP_MISC_UNFINISHED);
	ck_assert_uint_eq(period, 6 * MS);
	switches(&f, 5, 20 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.time_ns, 8 * MS);
	ck_assert_uint_eq(wait.period, 12 * MS);
	ck_assert_uint_eq(wait.misc & SP_MISC_UNFINISHED, 0);
	tear_down(&f);
}

TEST(thinned_waits_sum_to_the_blocked_time)
{
	enum { ROUNDS = 100000 };
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 30);
	uint64_t now_ns = MS, blocked_ns = 0, sum_ns = 0;
	size_t count = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t duration_ns = 1000 + hash_u64((uint64_t)i) % 300000;
		sample(&f, 5, now_ns, 0xa);
		switches(&f, 5, now_ns, OUT);
		switches(&f, 5, now_ns + duration_ns, IN);
		blocked_ns += duration_ns;
		now_ns += duration_ns + 1000;
		count += written(&f, now_ns, &wait);
	}
	ck_assert_uint_eq(matcher_counts(f.waits)->waits, ROUNDS);
	ck_assert_uint_eq(matcher_counts(f.waits)->written, count);
	/* All are shorter than T, so each has a period of T. The standard deviation is 0.8 %. */
	ck_assert_uint_eq(wait.period, MS);
	sum_ns = count * MS;
	ck_assert_uint_gt(sum_ns, blocked_ns / 100 * 97);
	ck_assert_uint_lt(sum_ns, blocked_ns / 100 * 103);
	tear_down(&f);
}

TEST(waits_of_unknown_duration_are_counted)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	/* A record of the way back is lost; before the next sample, and with it. */
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS, OUT);
	sample(&f, 5, 9 * MS, 0xb);
	switches(&f, 5, 9 * MS, OUT);
	switches(&f, 5, 12 * MS, OUT);
	switches(&f, 5, 20 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->unmatched, 2);
	ck_assert_uint_eq(matcher_counts(f.waits)->bare, 1);
	/* A record of the way off is lost: nothing is known. */
	sample(&f, 5, 30 * MS, 0xa);
	switches(&f, 5, 40 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->waits, 1);
	tear_down(&f);
}

static void sum_ended(void *arg, uint32_t tid)
{
	*(uint32_t *)arg += tid;
}

TEST(ended_threads_are_reported_once)
{
	struct fixture f = {0};
	struct written wait;
	uint32_t ended = 0;
	const struct matcher_options options = {
		.threads_max = 4, .on_end = sum_ended, .arg = &ended};
	f.waits = matcher_new(&options);
	ck_assert_ptr_nonnull(f.waits);
	switches(&f, 5, 2 * MS, OUT);
	switches(&f, 7, 2 * MS, OUT);
	exits(&f, 5, 3 * MS);
	ck_assert_uint_eq(written(&f, 3 * MS, &wait), 0);
	ck_assert_uint_eq(ended, 0);
	ck_assert_uint_eq(written(&f, 4 * MS, &wait), 0);
	ck_assert_uint_eq(written(&f, 9 * MS, &wait), 0);
	ck_assert_uint_eq(ended, 5);
	tear_down(&f);
}

TEST(waits_of_ended_threads_are_dropped)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS, OUT);
	exits(&f, 5, 3 * MS);
	/* Its last switch, as CPU-wide events record it. */
	sample(&f, 5, 4 * MS, 0xb);
	switches(&f, 5, 4 * MS, OUT);
	ck_assert_uint_eq(written(&f, 5 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), UINT64_MAX);
	/* A new thread with that number. */
	switches(&f, 5, 6 * MS, IN);
	sample(&f, 5, 7 * MS, 0xb);
	switches(&f, 5, 7 * MS, OUT);
	switches(&f, 5, 9 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.ip, 0xb);
	/* Slots of ended threads are used again. */
	for (uint32_t tid = 100; tid < 200; tid++) {
		exits(&f, tid == 100 ? 5 : tid - 1, tid * MS);
		ck_assert_uint_eq(written(&f, UINT64_MAX, &wait), 0);
		sample(&f, tid, tid * MS, 0xc);
		switches(&f, tid, tid * MS, OUT);
	}
	ck_assert_uint_eq(matcher_counts(f.waits)->dropped, 0);
	tear_down(&f);
}

TEST(a_thread_that_is_preempted_while_it_ends_does_not_wait)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	switches(&f, 5, 1 * MS, IN);
	exits(&f, 5, 3 * MS);
	switches(&f, 5, 4 * MS, PREEMPTED);
	switches(&f, 5, 5 * MS, IN);
	sample(&f, 5, 6 * MS, 0xd);
	switches(&f, 5, 6 * MS, OUT);
	ck_assert_uint_eq(written(&f, 7 * MS, &wait), 0);
	f.output.count = 0;
	ok_or_fail(matcher_split(f.waits, 100 * MS, &f.output));
	ck_assert_uint_eq(f.output.count, 0);
	tear_down(&f);
}

TEST(snapshots_need_proof)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	switches(&f, 5, 2 * MS, OUT);
	snapshot(&f, 5, 3 * MS, 4 * MS, 0xa);
	/* It will be written with the time of its wait. */
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), 2 * MS);
	switches(&f, 5, 5 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.time_ns, 2 * MS);
	ck_assert_uint_eq(wait.cpu, 5);
	ck_assert_uint_eq(wait.period, 15 * MS); /* two of ten such waits meet a snapshot of 1 ms */
	ck_assert_uint_eq(wait.misc & SP_MISC_SNAPSHOT, SP_MISC_SNAPSHOT);
	/* The thread woke while its stack was copied, and may wait elsewhere since. */
	switches(&f, 5, 6 * MS, OUT);
	snapshot(&f, 5, 7 * MS, 9 * MS, 0xb);
	switches(&f, 5, 8 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	switches(&f, 5, 12 * MS, OUT);
	snapshot(&f, 5, 11 * MS, 13 * MS, 0xc);
	switches(&f, 5, 40 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->raced, 2);
	tear_down(&f);
}

TEST(threads_that_slept_before_are_found_by_snapshots)
{
	struct fixture f;
	struct written wait;
	struct matcher_thread thread;
	size_t at = 0;
	set_up(&f, 1 << 20);
	ok_or_fail(matcher_add_thread(f.waits, 1, 5, 2 * MS));
	ok_or_fail(matcher_add_thread(f.waits, 1, 6, 2 * MS));
	switches(&f, 6, 4 * MS, IN);
	switches(&f, 6, 3 * MS, OUT);
	/* One is returned once in its wait. The other ran at its last record, and may wait at each call. */
	ck_assert(matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
	ck_assert_uint_eq(thread.tid, 5);
	ck_assert(thread.unsampled);
	for (int i = 0; i < 2; i++) {
		ck_assert(matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
		ck_assert_uint_eq(thread.tid, 6);
		ck_assert(!thread.unsampled);
		ck_assert(!matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
		at = 0;
	}
	snapshot(&f, 5, 4 * MS, 5 * MS, 0xa);
	ck_assert_uint_eq(written(&f, 8 * MS, &wait), 0);
	/* It waits again, by a record that is not processed yet. */
	switches(&f, 6, 5 * MS, OUT);
	at = 0;
	ck_assert(matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
	ck_assert_uint_eq(thread.tid, 6);
	ck_assert(!thread.unsampled);
	snapshot(&f, 6, 8 * MS, 9 * MS, 0xb);
	ck_assert_uint_eq(written(&f, 10 * MS, &wait), 0);
	/* Neither is over: they have their duration, although it is below the interval. */
	f.output.count = 0;
	ok_or_fail(matcher_split(f.waits, 10 * MS, &f.output));
	ck_assert_uint_eq(matcher_counts(f.waits)->written, 2);
	uint64_t sum = 0, period;
	struct perf_event_header header;
	for (size_t next = 0; next < f.output.count; next += header.size) {
		memcpy(&header, f.output.items + next, sizeof(header));
		memcpy(&period, f.output.items + next + f.fields.sample_period, 8);
		sum += period;
	}
	ck_assert_uint_eq(sum, (8 + 5) * MS);
	tear_down(&f);
}

/* Whether the next thread without a stack is `tid`, and no sample of its switch will come. */
static bool next_is_unsampled(struct fixture *f, uint32_t tid)
{
	struct matcher_thread thread;
	size_t at = 0;
	return matcher_next_bare(f->waits, MATCHER_BARE, &at, &thread) && thread.tid == tid &&
	       thread.pid == 1 && thread.unsampled;
}

TEST(threads_are_found_by_snapshots_after_a_loss)
{
	struct fixture f;
	struct written wait;
	struct matcher_thread thread;
	size_t at = 0;
	set_up(&f, 1 << 20);
	switches(&f, 5, 1 * MS, IN);
	sample(&f, 5, 2 * MS, 0xa);
	ck_assert_uint_eq(written(&f, 4 * MS, &wait), 0);
	/* Its switch is lost. The thread may be blocked, even before the loss is processed. */
	matcher_add_lost(f.waits, 10 * MS);
	ck_assert_uint_eq(written(&f, 8 * MS, &wait), 0);
	ck_assert(next_is_unsampled(&f, 5));
	ck_assert(!matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
	snapshot(&f, 5, 12 * MS, 13 * MS, 0xb);
	ck_assert_uint_eq(written(&f, 20 * MS, &wait), 0);
	/* Before the loss ended, its state is unknown. */
	switches(&f, 5, 30 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.time_ns, 10 * MS);
	ck_assert_uint_eq(wait.period, 20 * MS);
	ck_assert_uint_eq(wait.ip, 0xb);
	/* Its records are complete: others are lost, between the sample and the switch. */
	sample(&f, 5, 109 * MS, 0xd);
	matcher_add_lost(f.waits, 110 * MS);
	switches(&f, 5, 111 * MS, OUT);
	switches(&f, 5, 122 * MS, IN);
	ck_assert_uint_eq(written(&f, 200 * MS, &wait), 1);
	ck_assert_uint_eq(wait.ip, 0xd);
	ck_assert_uint_eq(wait.period, 11 * MS);
	tear_down(&f);
}

TEST(a_wait_ends_where_its_records_are_lost)
{
	struct fixture f;
	struct written wait;
	struct matcher_thread thread;
	size_t at = 0;
	set_up(&f, 1 << 20);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS, OUT);
	ck_assert_uint_eq(written(&f, 6 * MS, &wait), 0);
	matcher_add_lost(f.waits, 20 * MS);
	ck_assert_uint_eq(written(&f, 22 * MS, &wait), 0);
	ck_assert(next_is_unsampled(&f, 5));
	ck_assert(!matcher_next_bare(f.waits, MATCHER_BARE, &at, &thread));
	/* A snapshot that began earlier proves nothing. */
	snapshot(&f, 5, 19 * MS, 21 * MS, 0xb);
	ck_assert_uint_eq(written(&f, 23 * MS, &wait), 0);
	ck_assert_uint_eq(matcher_counts(f.waits)->raced, 1);
	snapshot(&f, 5, 24 * MS, 25 * MS, 0xc);
	ck_assert_uint_eq(written(&f, 26 * MS, &wait), 1);
	ck_assert_uint_eq(wait.ip, 0xa);
	ck_assert_uint_eq(wait.period, 4 * MS);
	ck_assert_uint_eq(wait.misc & SP_MISC_UNFINISHED, SP_MISC_UNFINISHED);
	switches(&f, 5, 60 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.ip, 0xc);
	ck_assert_uint_eq(wait.time_ns, 20 * MS);
	ck_assert_uint_eq(wait.period, 40 * MS);
	tear_down(&f);
}

TEST(waits_end_where_events_are_disabled)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	sample(&f, 5, 2 * MS, 0xa);
	switches(&f, 5, 2 * MS, OUT);
	ok_or_fail(matcher_disable(f.waits, 9 * MS));
	ck_assert_uint_eq(written(&f, 20 * MS, &wait), 1);
	ck_assert_uint_eq(wait.period, 7 * MS);
	ck_assert_uint_eq(wait.misc & SP_MISC_UNFINISHED, SP_MISC_UNFINISHED);
	matcher_add_lost(f.waits, 50 * MS);
	ck_assert_uint_eq(written(&f, 40 * MS, &wait), 0);
	ck_assert(next_is_unsampled(&f, 5));
	snapshot(&f, 5, 52 * MS, 53 * MS, 0xb);
	switches(&f, 5, 80 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 1);
	ck_assert_uint_eq(wait.time_ns, 50 * MS);
	ck_assert_uint_eq(wait.period, 30 * MS);
	tear_down(&f);
}

TEST(a_new_thread_with_lost_switches_is_known)
{
	struct fixture f;
	struct written wait;
	set_up(&f, 1 << 20);
	ok_or_fail(matcher_on_change(f.waits, &(struct task_change){
		.kind = TASK_FORKED, .pid = 1, .tid = 9, .time_ns = MS}));
	ck_assert(!next_is_unsampled(&f, 9));
	matcher_add_lost(f.waits, 3 * MS);
	ck_assert_uint_eq(written(&f, 5 * MS, &wait), 0);
	ck_assert(next_is_unsampled(&f, 9));
	/* Threads that have ended are not. */
	exits(&f, 9, 6 * MS);
	matcher_add_lost(f.waits, 7 * MS);
	ck_assert_uint_eq(written(&f, 8 * MS, &wait), 0);
	ck_assert(!next_is_unsampled(&f, 9));
	tear_down(&f);
}

TEST(waits_limit_memory)
{
	struct fixture f;
	struct written wait;
	f = (struct fixture){0};
	encode_sample(&f, 5, MS, 0xa, ID);
	size_t size = f.encoded.count;
	vec_deinit(&f.encoded);
	set_up(&f, 2 * size);
	for (uint32_t tid = 1; tid <= 5; tid++) {
		sample(&f, tid, MS, 0xa);
		switches(&f, tid, MS, OUT);
	}
	/* Two samples fit, and four threads. */
	ck_assert_uint_eq(matcher_counts(f.waits)->dropped, 3);
	for (uint32_t tid = 1; tid <= 5; tid++)
		switches(&f, tid, 20 * MS, IN);
	ck_assert_uint_eq(written(&f, 100 * MS, &wait), 2);
	ck_assert_uint_eq(matcher_counts(f.waits)->bare, 2);
	/* There is room again. */
	sample(&f, 1, 30 * MS, 0xb);
	ck_assert_uint_eq(matcher_counts(f.waits)->dropped, 3);
	tear_down(&f);
}

TEST(waits_take_their_samples_out_of_a_buffer)
{
	struct fixture f;
	struct record_buffer buffer = {0}, others = {0};
	set_up(&f, 1 << 20);
	for (uint64_t i = 0; i < 6; i++) {
		bool wait = i % 3 == 1;
		encode_sample(&f, 5, i * MS, i, wait ? ID : 1);
		for (int copy = 0; copy < (wait ? 1 : 2); copy++) {
			struct record_buffer *to = copy ? &others : &buffer;
			ck_assert(vec_reserve(to, to->count + f.encoded.count));
			memcpy(to->items + to->count, f.encoded.items, f.encoded.count);
			to->count += f.encoded.count;
		}
	}
	ok_or_fail(matcher_take_samples(f.waits, &buffer));
	ck_assert_uint_eq(buffer.count, others.count);
	ck_assert(!memcmp(buffer.items, others.items, others.count));
	ck_assert_uint_eq(matcher_oldest_ns(f.waits), 1 * MS);
	vec_deinit(&buffer);
	vec_deinit(&others);
	tear_down(&f);
}

TEST(threads_that_ended_take_little_memory)
{
	const size_t count = 4 * WAITING_FREE_LISTS;
	struct waiting_threads threads = {.max = SIZE_MAX};
	struct waiting_thread *thread;
	size_t lists = 0;
	for (uint32_t tid = 1; tid <= count; tid++) {
		const struct wait_event event = {.time_ns = tid};
		ok_or_fail(waiting_threads_find(&threads, tid, &thread));
		ok_or_fail(waiting_threads_add_event(&threads, thread, &event));
	}
	for (size_t i = 0; i < count; i++) {
		threads.slots.items[i].events.count = 0;
		ok_or_fail(waiting_threads_end(&threads, &threads.slots.items[i], 1));
	}
	ok_or_fail(waiting_threads_remove_ended(&threads, UINT64_MAX));
	for (size_t i = 0; i < count; i++)
		lists += threads.slots.items[i].events.items != NULL;
	ck_assert_uint_le(lists, WAITING_FREE_LISTS + 1);
	ck_assert_uint_eq(threads.index.count, 0);
	waiting_threads_deinit(&threads);
}
