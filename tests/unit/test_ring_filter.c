/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/ring_filter.h"
#include "base/bytes.h"
#include "capture/waits/waits_internal.h"
#include "record/encode.h"
#include "rings.h"
#include "writer/spans.h"

enum { SAMPLE_TYPE = RECORD_FIELDS_NEEDED | PERF_SAMPLE_CALLCHAIN };

static const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

/* A sink that keeps all it is given. */
struct store {
	struct record_buffer bytes;
	int calls;
	size_t fail_after; /* calls; 0: never */
};

static struct sp_error *store_write(void *arg, struct iovec *spans, int count)
{
	struct store *store = arg;
	if (store->fail_after && (size_t)++store->calls > store->fail_after)
		return error_new(SP_ERROR_LIMIT, "full");
	for (int i = 0; i < count; i++) {
		struct record_buffer *bytes = &store->bytes;
		ck_assert(vec_reserve(bytes, bytes->count + spans[i].iov_len));
		memcpy(bytes->items + bytes->count, spans[i].iov_base, spans[i].iov_len);
		bytes->count += spans[i].iov_len;
		spans[i] = (struct iovec){0};
	}
	return NULL;
}

struct fixture {
	struct memory_ring memory;
	struct ring ring;
	struct store store;
	struct sink sink;
	struct batch batch;
	struct filter filter;
	struct membership membership;
	struct waits waits;
	struct record_buffer wanted, encoded;
};

static void fixture_init(struct fixture *f, size_t size, uint64_t start)
{
	*f = (struct fixture){.membership = {.by = MEMBERSHIP_BY_PROCESS, .follow = true}};
	f->ring = memory_ring_init(&f->memory, size, start);
	f->sink = (struct sink){store_write, &f->store};
	ok_or_fail(batch_init(&f->batch, &f->sink));
	f->filter.membership = &f->membership;
	ck_assert(record_fields_make(SAMPLE_TYPE, &f->filter.fields));
}

/* Samples of waits have id 7. */
static void record_waits(struct fixture *f)
{
	const struct matcher_options options = {.fields = f->filter.fields,
						.thin_ns = 1,
						.snapshot_ns = 1000,
						.threads_max = 4,
						.bytes_max = 4096};
	f->filter.membership = NULL;
	f->filter.waits = &f->waits;
	f->waits.fields = f->filter.fields;
	f->waits.matcher = matcher_new(&options);
	ck_assert_ptr_nonnull(f->waits.matcher);
	ok_or_fail(matcher_add_id(f->waits.matcher, 7));
}

static void fixture_deinit(struct fixture *f)
{
	matcher_free(f->waits.matcher);
	memory_ring_deinit(&f->memory);
	batch_deinit(&f->batch);
	membership_deinit(&f->membership);
	vec_deinit(&f->store.bytes);
	vec_deinit(&f->wanted);
	vec_deinit(&f->encoded);
}

static void put(struct fixture *f, const struct sp_record *record, bool wanted)
{
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, record, &attr));
	ck_assert(memory_ring_put(&f->memory, f->encoded.items, f->encoded.count));
	if (wanted)
		ok_or_fail(record_encode(&f->wanted, record, &attr));
}

static void put_sample(struct fixture *f, uint32_t pid, uint64_t time_ns, size_t depth, bool wanted)
{
	static const uint64_t ips[2000];
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {.pid = pid, .tid = pid, .time_ns = time_ns, .ip = 0x1000 + time_ns,
			   .id = 5, .period = 10, .ips = ips, .ip_count = depth},
	};
	put(f, &record, wanted);
}

static void run(struct fixture *f)
{
	uint64_t head = ring_head(&f->ring);
	ok_or_fail(filter_ring(&f->filter, &f->ring, head, &f->batch));
	ok_or_fail(batch_flush(&f->batch));
	ck_assert_uint_eq(f->memory.page.data_tail, head);
}

static void store_is_wanted(const struct fixture *f)
{
	ck_assert_uint_eq(f->store.bytes.count, f->wanted.count);
	ck_assert(!f->wanted.count ||
		  !memcmp(f->store.bytes.items, f->wanted.items, f->wanted.count));
}

TEST(filter_keeps_the_followed_at_any_wrap)
{
	/* Samples of both kinds of run, short (copied) and long (spans), at all positions. */
	for (uint64_t start = 0; start < 4096 * 2; start += 8) {
		struct fixture f;
		fixture_init(&f, 4096, start);
		ck_assert(membership_add(&f.membership, 1, 1, 0));
		put_sample(&f, 2, 1, 3, false);
		put_sample(&f, 1, 2, 3, true);
		put_sample(&f, 2, 3, 90, false);
		put_sample(&f, 1, 4, 100, true);
		put_sample(&f, 1, 5, 100, true);
		put_sample(&f, 3, 6, 0, false);
		put_sample(&f, 1, 7, 0, true);
		run(&f);
		store_is_wanted(&f);
		ck_assert_uint_eq(f.filter.counts.samples, 4);
		ck_assert_uint_eq(f.filter.counts.weight, 40);
		ck_assert_uint_eq(f.filter.counts.filtered, 3);
		ck_assert_uint_eq(f.filter.counts.first_ns, 2);
		ck_assert_uint_eq(f.filter.counts.last_ns, 7);
		fixture_deinit(&f);
	}
}

TEST(filter_asks_for_the_time_of_each_sample)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	struct task_change again = {1, 1, 9, 9, 50, TASK_FORKED, .is_process = true};
	ck_assert(membership_add(&f.membership, 1, 1, 20));
	ck_assert(membership_on_change(&f.membership, &again));
	const struct {
		uint64_t time_ns;
		bool wanted;
	} cases[] = {{10, false}, {20, true}, {49, true}, {50, false}, {60, false}, {30, true}, {5, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		put_sample(&f, 1, cases[i].time_ns, 0, cases[i].wanted);
	run(&f);
	store_is_wanted(&f);
	fixture_deinit(&f);
}

TEST(filter_counts_and_keeps_what_is_no_sample)
{
	struct fixture f;
	fixture_init(&f, 4096, 4000);
	struct sp_record lost = {.type = PERF_RECORD_LOST, .lost = {.id = 5, .lost = 17}};
	struct sp_record lost_samples = {.type = PERF_RECORD_LOST_SAMPLES, .lost = {.lost = 4}};
	struct sp_record throttle = {.type = PERF_RECORD_THROTTLE};
	put(&f, &lost, true);
	put_sample(&f, UINT32_MAX, 1, 0, false);
	put(&f, &lost_samples, true);
	put(&f, &throttle, true);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.lost, 21);
	ck_assert_uint_eq(f.filter.counts.throttled, 1);
	ck_assert_uint_eq(f.filter.counts.ended, 1);
	ck_assert_uint_eq(f.filter.counts.filtered, 0);
	fixture_deinit(&f);
}

TEST(losses_make_threads_that_wait_uncertain)
{
	struct fixture f;
	struct matcher_thread thread;
	size_t at = 0;
	fixture_init(&f, 4096, 0);
	record_waits(&f);
	struct sp_record in = {.type = PERF_RECORD_SWITCH, .id = {.pid = 7, .tid = 7, .time_ns = 10}};
	struct sp_record lost = {.type = PERF_RECORD_LOST, .lost = {.id = 5, .lost = 1}, .id.time_ns = 20};
	put(&f, &in, true);
	run(&f);
	ok_or_fail(matcher_write(f.waits.matcher, 15, &f.encoded));
	ck_assert(matcher_next_bare(f.waits.matcher, MATCHER_BARE, &at, &thread));
	ck_assert(!thread.unsampled);
	put(&f, &lost, true);
	run(&f);
	ok_or_fail(matcher_write(f.waits.matcher, 30, &f.encoded));
	at = 0;
	ck_assert(matcher_next_bare(f.waits.matcher, MATCHER_BARE, &at, &thread));
	ck_assert_uint_eq(thread.tid, 7);
	ck_assert(thread.unsampled);
	store_is_wanted(&f);
	fixture_deinit(&f);
}

TEST(filter_shares_losses_as_what_lies_beside_them)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	ck_assert(membership_add(&f.membership, 1, 1, 0));
	struct sp_record lost = {.type = PERF_RECORD_LOST, .lost = {.id = 5, .lost = 100}};
	for (uint64_t i = 0; i < 4; i++)
		put_sample(&f, i ? 2 : 1, i + 1, 0, !i);
	put(&f, &lost, true);
	run(&f);
	ck_assert_double_eq_tol(f.filter.counts.lost_own, 25, 1e-9);
	/* Without neighbours, by the share of all samples. */
	put(&f, &lost, true);
	run(&f);
	ck_assert_double_eq_tol(f.filter.counts.lost_own, 50, 1e-9);
	ck_assert_uint_eq(f.filter.counts.lost, 200);
	store_is_wanted(&f);
	fixture_deinit(&f);
}

TEST(filter_without_membership_keeps_all_in_place)
{
	struct fixture f;
	fixture_init(&f, 65536, 65536 - 1000);
	f.filter.membership = NULL;
	for (uint32_t i = 0; i < 100; i++)
		put_sample(&f, i, i + 1, i % 60, true);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 100);
	fixture_deinit(&f);
}

TEST(filter_passes_by_many_short_runs)
{
	/* More runs than spans, more bytes than the copies' buffer. */
	struct fixture f;
	fixture_init(&f, 1 << 21, 77 * 8);
	ck_assert(membership_add(&f.membership, 1, 1, 0));
	for (uint64_t i = 0; i < 3000; i++)
		put_sample(&f, i % 2 ? 1 : 2, i + 1, i % 80, i % 2);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 1500);
	fixture_deinit(&f);
}

TEST(filter_goes_on_behind_damage)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	ck_assert(membership_add(&f.membership, 1, 1, 0));
	put_sample(&f, 1, 1, 0, true);
	uint64_t zero[4] = {0};
	ck_assert(memory_ring_put(&f.memory, zero, sizeof(zero)));
	run(&f);
	ck_assert_uint_eq(f.filter.counts.damaged, sizeof(zero));
	put_sample(&f, 1, 2, 0, true);
	run(&f);
	store_is_wanted(&f);
	fixture_deinit(&f);
}

TEST(filter_drops_what_doubts_repeat)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	f.filter.membership = NULL;
	struct double_sampling double_sampling = {0};
	ck_assert(double_sampling_add_id(&double_sampling, 5, 0));
	ck_assert(double_sampling_add_id(&double_sampling, 6, 0));
	ck_assert(double_sampling_add_task(&double_sampling, 1));
	f.filter.double_sampling = &double_sampling;
	struct sp_record record = {.type = PERF_RECORD_SAMPLE,
				   .sample = {.pid = 1, .tid = 1, .time_ns = 3, .id = 6, .period = 10}};
	put_sample(&f, 1, 2, 0, true);
	put(&f, &record, false);
	record.sample.cpu = 1;
	put(&f, &record, true);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 2);
	fixture_deinit(&f);
	double_sampling_deinit(&double_sampling);
}

TEST(filter_drops_samples_of_its_own_process)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	ck_assert(membership_add(&f.membership, 1, 1, 0));
	f.filter.own_pid = 3;
	put_sample(&f, 3, 1, 0, false);
	put_sample(&f, 1, 2, 0, true);
	put_sample(&f, 2, 3, 0, false);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 1);
	ck_assert_uint_eq(f.filter.counts.filtered, 1);
	fixture_deinit(&f);
}

/* Samples of waits leave the batch; SWITCH records stay in it. */
TEST(filter_gives_waits_their_samples_and_switches_at_any_wrap)
{
	for (uint64_t start = 0; start < 4096; start += 8) {
		struct fixture f;
		fixture_init(&f, 4096, start);
		record_waits(&f);
		struct sp_record wait = {.type = PERF_RECORD_SAMPLE,
					 .sample = {.pid = 1, .tid = 1, .time_ns = 10, .ip = 0x1234, .id = 7,
						    .period = 1}};
		struct sp_record off = {.type = PERF_RECORD_SWITCH, .misc = PERF_RECORD_MISC_SWITCH_OUT,
					.id = {.pid = 1, .tid = 1, .time_ns = 10, .id = 7}};
		struct sp_record on = {.type = PERF_RECORD_SWITCH,
				       .id = {.pid = 1, .tid = 1, .time_ns = 60, .id = 7}};
		put_sample(&f, 1, 5, 3, true);
		put(&f, &wait, false);
		put(&f, &off, true);
		put(&f, &on, true);
		put_sample(&f, 1, 61, 3, true);
		run(&f);
		store_is_wanted(&f);
		ck_assert_uint_eq(f.filter.counts.samples, 2);
		ck_assert_uint_eq(f.filter.counts.switch_ns, 60);
		wait.sample.period = 50;
		f.encoded.count = f.wanted.count = 0;
		ok_or_fail(record_encode(&f.wanted, &wait, &attr));
		ok_or_fail(matcher_write(f.waits.matcher, 100, &f.encoded));
		ck_assert_uint_eq(f.encoded.count, f.wanted.count);
		ck_assert(!memcmp(f.encoded.items, f.wanted.items, f.wanted.count));
			fixture_deinit(&f);
	}
}

TEST(filter_drops_repeated_switches)
{
	struct fixture f;
	struct double_sampling double_sampling = {0};
	fixture_init(&f, 4096, 0);
	f.filter.membership = NULL;
	ck_assert(double_sampling_add_id(&double_sampling, 5, 0));
	ck_assert(double_sampling_add_id(&double_sampling, 6, 0));
	ck_assert(double_sampling_add_task(&double_sampling, 1));
	f.filter.double_sampling = &double_sampling;
	struct sp_record change = {.type = PERF_RECORD_SWITCH,
				   .id = {.pid = 1, .tid = 1, .time_ns = 2, .id = 5}};
	put(&f, &change, true);
	change.id.id = 6;
	put(&f, &change, false);
	change.id.cpu = 1;
	put(&f, &change, true);
	run(&f);
	store_is_wanted(&f);
	fixture_deinit(&f);
	double_sampling_deinit(&double_sampling);
}

TEST(filter_renames_samples_in_the_batch)
{
	for (uint64_t start = 0; start < 4096; start += 8) {
		struct fixture f;
		struct alternate_ids alternates = {.first_listed = 5};
		fixture_init(&f, 4096, start);
		f.filter.membership = NULL;
		f.filter.alternates = &alternates;
		ck_assert(vec_reserve(&alternates.listed, 1));
		*vec_push(&alternates.listed) = 5;
		ck_assert(u64map_put(&alternates.map, 78, 1, NULL));
		struct sp_record sample = {.type = PERF_RECORD_SAMPLE,
					   .sample = {.pid = 1, .tid = 1, .time_ns = 2, .ip = 9, .id = 78,
						      .period = 10}};
		put_sample(&f, 1, 1, 5, true);
		put(&f, &sample, false);
		sample.sample.id = 5;
		ok_or_fail(record_encode(&f.wanted, &sample, &attr));
		put_sample(&f, 1, 3, 90, true);
		run(&f);
		store_is_wanted(&f);
		ck_assert_uint_eq(f.filter.counts.samples, 3);
		alternate_ids_deinit(&alternates);
		fixture_deinit(&f);
	}
}

/* A sink that fails unless it receives whole records. */
static struct sp_error *check_whole(void *arg, struct iovec *spans, int count)
{
	struct store *store = arg;
	store->bytes.count = 0;
	ok_or_fail(store_write(arg, spans, count));
	for (size_t at = 0; at < store->bytes.count;) {
		struct perf_event_header header;
		ck_assert_uint_ge(store->bytes.count - at, sizeof(header));
		memcpy(&header, store->bytes.items + at, sizeof(header));
		ck_assert_uint_ge(store->bytes.count - at, header.size);
		at += header.size;
	}
	return NULL;
}

TEST(renamed_samples_stay_whole_however_many_there_are)
{
	struct fixture f;
	struct alternate_ids alternates = {.first_listed = 5};
	fixture_init(&f, 1 << 20, 0);
	f.sink.write = check_whole;
	f.filter.membership = NULL;
	f.filter.alternates = &alternates;
	ck_assert(vec_reserve(&alternates.listed, 1));
	*vec_push(&alternates.listed) = 6;
	ck_assert(u64map_put(&alternates.map, 5, 1, NULL));
	for (uint64_t i = 0; i < 1000; i++)
		put_sample(&f, 1, 1 + i, 70 + i % 40, false);
	run(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 1000);
	alternate_ids_deinit(&alternates);
	fixture_deinit(&f);
}

/* Fails if a write has a part of a record. */
static struct sp_error *write_whole(void *arg, struct iovec *spans, int count)
{
	uint64_t size = spans_size(spans, count);
	ck_assert_uint_eq(spans_whole_records(spans, count, size), size);
	*(uint64_t *)arg += size;
	return NULL;
}

TEST(batch_copies_whole_records_of_a_long_run)
{
	struct fixture f;
	uint64_t written = 0;
	fixture_init(&f, 262144, 262144 - 40);
	uint64_t begin = ring_head(&f.ring);
	f.sink = (struct sink){write_whole, &written};
	f.batch.copy_all = true;
	for (uint64_t i = 0; i < 1000; i++)
		put_sample(&f, 1, i, i % 40, false);
	uint64_t end = ring_head(&f.ring);
	ck_assert_uint_gt(end - begin, 2 * BATCH_COPY_SIZE);
	ok_or_fail(batch_add_ring(&f.batch, &f.ring, begin, end));
	ok_or_fail(batch_flush(&f.batch));
	ck_assert_uint_eq(written, end - begin);
	fixture_deinit(&f);
}

TEST(batch_releases_the_ring_though_the_sink_fails)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	f.store.fail_after = 1;
	f.filter.membership = NULL;
	put_sample(&f, 1, 1, 0, true);
	run(&f);
	put_sample(&f, 1, 2, 0, false);
	uint64_t head = ring_head(&f.ring);
	ok_or_fail(filter_ring(&f.filter, &f.ring, head, &f.batch));
	fails_with(SP_ERROR_LIMIT, batch_flush(&f.batch));
	ck_assert_uint_eq(f.memory.page.data_tail, head);
	store_is_wanted(&f);
	fixture_deinit(&f);
}

static struct sp_error *take_nothing(void *arg, const struct ring *ring,
				     const struct record_values *record, uint64_t id)
{
	(void)arg, (void)ring, (void)record, (void)id;
	return NULL;
}

static struct sp_error *take_no_format(void *arg, const struct ring *ring,
				       const struct record_values *record, uint64_t id)
{
	(void)arg, (void)ring, (void)record, (void)id;
	return error_new(SP_ERROR_FORMAT, "no sample");
}

TEST(filter_counts_invalid_samples_as_damaged)
{
	struct fixture f;
	fixture_init(&f, 4096, 0);
	f.batch.copy_all = true;
	f.filter.membership = NULL;
	f.filter.receiver = (struct sample_receiver){.receive = take_no_format};
	put_sample(&f, 1, 1, 0, false);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 0);
	ck_assert_uint_eq(f.filter.counts.damaged, ring_head(&f.ring));
	fixture_deinit(&f);
}

/* perf refuses a file with an id that its header does not list. */
TEST(filter_leaves_no_record_of_a_helper)
{
	struct fixture f;
	struct alternate_ids alternates = {.first_listed = 5};
	fixture_init(&f, 4096, 4096 - 40);
	f.batch.copy_all = true;
	f.filter.membership = NULL;
	f.filter.receiver = (struct sample_receiver){.receive = take_nothing};
	f.filter.alternates = &alternates;
	ck_assert(u64map_put(&alternates.map, 77, 0, NULL));
	for (uint64_t id = 5; id <= 77; id += 72) {
		struct sp_record lost = {.type = PERF_RECORD_LOST, .id = {.time_ns = id, .id = id},
					 .lost = {.id = id, .lost = id}};
		struct sp_record samples = {.type = PERF_RECORD_LOST_SAMPLES,
					    .id = {.time_ns = id, .id = id}, .lost = {.lost = 1}};
		struct sp_record throttle = {.type = PERF_RECORD_THROTTLE,
					     .id = {.time_ns = id, .id = id},
					     .throttle = {.id = id}};
		put(&f, &lost, false);
		put(&f, &samples, false);
		put(&f, &throttle, id == 5);
		f.wanted.count = id == 5 ? 0 : f.wanted.count;
		if (id == 5) {
			ok_or_fail(record_encode(&f.wanted, &lost, &attr));
			ok_or_fail(record_encode(&f.wanted, &samples, &attr));
			ok_or_fail(record_encode(&f.wanted, &throttle, &attr));
			continue;
		}
		lost.id.id = samples.id.id = lost.lost.id = 5;
		ok_or_fail(record_encode(&f.wanted, &lost, &attr));
		ok_or_fail(record_encode(&f.wanted, &samples, &attr));
	}
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.lost, 5 + 1 + 77 + 1);
	ck_assert_uint_eq(f.filter.counts.throttled, 1);
	alternate_ids_deinit(&alternates);
	fixture_deinit(&f);
}

static void add_planned(struct planned_ids *planned, uint32_t type, uint64_t config, uint64_t id)
{
	const struct sp_event event = {.attr = {.type = type, .config = config}, .ids = &id, .id_count = 1};
	ok_or_fail(planned_ids_add(planned, &event));
}

static void put_of(struct fixture *f, uint64_t id, uint64_t wanted_id)
{
	struct sp_record record = {.type = PERF_RECORD_SAMPLE,
				   .sample = {.pid = 1, .tid = 1, .time_ns = id, .id = id, .period = 10}};
	put(f, &record, false);
	record.sample.id = wanted_id;
	if (wanted_id)
		ok_or_fail(record_encode(&f->wanted, &record, &attr));
}

/* The kernel gives a sample the id of another event that counts the same context switch. */
TEST(filter_finds_the_event_of_samples_with_another_id)
{
	struct planned_ids planned = {0};
	struct fixture f;
	fixture_init(&f, 4096, 4096 - 40);
	f.filter.membership = NULL;
	f.filter.planned = &planned;
	/* Clocks and hardware events have samples of their own. */
	add_planned(&planned, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 5);
	add_planned(&planned, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 6);
	put_of(&f, 99, 99);
	run(&f);
	add_planned(&planned, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 7);
	put_of(&f, 5, 5);
	put_of(&f, 99, 7);
	put_of(&f, 7, 7);
	run(&f);
	ck_assert_uint_eq(f.filter.counts.damaged, 0);
	/* With two such events, it could be of either. */
	add_planned(&planned, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 8);
	put_of(&f, 99, 0);
	put_of(&f, 8, 8);
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(f.filter.counts.samples, 5);
	ck_assert_uint_gt(f.filter.counts.damaged, 0);
	planned_ids_deinit(&planned);
	fixture_deinit(&f);
}

TEST(filter_finds_waits_with_another_id)
{
	const struct record_fields *fields;
	struct planned_ids planned = {0};
	struct record_buffer written = {0};
	struct fixture f;
	fixture_init(&f, 4096, 0);
	fields = &f.filter.fields;
	record_waits(&f);
	f.filter.planned = &planned;
	add_planned(&planned, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 7);
	put_of(&f, 99, 0);
	run(&f);
	ok_or_fail(matcher_add_switch(f.waits.matcher, 1, 1, 0, 100, PERF_RECORD_MISC_SWITCH_OUT));
	ok_or_fail(matcher_add_switch(f.waits.matcher, 1, 1, 0, 300, 0));
	ok_or_fail(matcher_write(f.waits.matcher, 400, &written));
	ck_assert_uint_gt(written.count, 0);
	ck_assert_uint_eq(bytes_u64(written.items + fields->sample_id), 7);
	vec_deinit(&written);
	planned_ids_deinit(&planned);
	fixture_deinit(&f);
}

static struct sp_error *take_id(void *arg, const struct ring *ring, const struct record_values *record,
				uint64_t id)
{
	uint64_t *ids = arg;
	(void)ring, (void)record;
	ids[ids[0]++] = id;
	return NULL;
}

/* Events that take the place of others are these in the file. */
TEST(filter_tells_of_a_stand_in_as_of_what_it_stands_for)
{
	struct fixture f;
	struct alternate_ids alternates = {.first_listed = 6};
	uint64_t taken[4] = {1};
	fixture_init(&f, 4096, 4096 - 40);
	f.batch.copy_all = true;
	f.filter.membership = NULL;
	f.filter.receiver = (struct sample_receiver){.receive = take_id, .arg = taken};
	f.filter.alternates = &alternates;
	ck_assert(vec_reserve(&alternates.listed, 2));
	*vec_push(&alternates.listed) = 6;
	*vec_push(&alternates.listed) = 5;
	ck_assert(u64map_put(&alternates.map, 77, 0, NULL) && u64map_put(&alternates.map, 78, 2, NULL));
	for (uint64_t id = 77; id <= 78; id++) {
		struct sp_record sample = {.type = PERF_RECORD_SAMPLE,
					   .sample = {.id = id, .tid = 1, .pid = 1, .period = 10}};
		struct sp_record throttle = {.type = PERF_RECORD_THROTTLE,
					     .id = {.time_ns = id, .id = id},
					     .throttle = {.time_ns = 3, .id = id, .stream_id = id}};
		struct sp_record lost = {.type = PERF_RECORD_LOST, .id = {.time_ns = id, .id = id},
					 .lost = {.id = id, .lost = 1}};
		put(&f, &sample, false);
		put(&f, &throttle, false);
		put(&f, &lost, false);
		if (id == 78) {
			throttle.id.id = throttle.throttle.id = throttle.throttle.stream_id = 5;
			ok_or_fail(record_encode(&f.wanted, &throttle, &attr));
		}
		lost.id.id = lost.lost.id = id == 78 ? 5 : 6;
		ok_or_fail(record_encode(&f.wanted, &lost, &attr));
	}
	run(&f);
	store_is_wanted(&f);
	ck_assert_uint_eq(taken[0], 3);
	ck_assert_uint_eq(taken[1], 0);
	ck_assert_uint_eq(taken[2], 5);
	ck_assert_uint_eq(f.filter.counts.samples, 1);
	ck_assert_uint_eq(f.filter.counts.weight, 10);
	ck_assert_uint_eq(f.filter.counts.throttled, 1);
	alternate_ids_deinit(&alternates);
	fixture_deinit(&f);
}
