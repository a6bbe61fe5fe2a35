/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cancellation of an analysis: before it, and during each of its phases, from another thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sprof/sprof.h>
#include "record/encode.h"
#include "writer/writer.h"
#include "files.h"
#include "test.h"

#define SAMPLES 30000
#define FRAMES 12
#define STEPS 10

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Call chains differ, so that resolving, summing and merging take their part of the time. */
static void put_sample(struct record_buffer *buffer, const struct perf_event_attr *attr, uint64_t i)
{
	uint64_t ips[FRAMES] = {PERF_CONTEXT_USER};
	for (uint64_t j = 1; j < FRAMES; j++)
		ips[j] = 0x400000 + (i * 7919 + j * 104729) % 0x40000;
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .id = {.id = 100},
		.sample = {.id = 100, .time_ns = 1000 + i, .pid = 7, .tid = 7, .ip = ips[1],
			   .period = 10, .ips = ips, .ip_count = FRAMES},
	};
	ok_or_fail(record_encode(buffer, &record, attr));
}

static const char *write_recording(void)
{
	static const uint64_t id = 100;
	const char *path = files_path("large.data");
	const struct sp_event event = {
		.name = "cpu-clock",
		.attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
			 .config = PERF_COUNT_SW_CPU_CLOCK, .sample_id_all = 1,
			 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
					PERF_SAMPLE_CALLCHAIN},
		.ids = &id,
		.id_count = 1,
	};
	const struct writer_info info = {.arch = "x86_64"};
	const struct writer_end end = {0};
	struct record_buffer buffer = {0};
	struct writer *writer;
	for (uint64_t i = 0; i < SAMPLES; i++)
		put_sample(&buffer, &event.attr, i);
	struct iovec span = {buffer.items, buffer.count};
	ok_or_fail(writer_open(path, &event, 1, &info, &writer));
	ok_or_fail(writer_write(writer, &span, 1));
	ok_or_fail(writer_close(writer, &end));
	vec_deinit(&buffer);
	return path;
}

static const struct sp_analysis_rows rows = {.size = sizeof(rows), .children = true};
static const struct sp_analysis_tree tree = {.size = sizeof(tree), .order = SP_TREE_CALLER};
static const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows, .tree = &tree,
						   .threads = 2};

/* Time of an analysis that is not cancelled, which finds all samples. */
static int64_t analyse_all(struct sp_ctx *ctx, struct sp_reader *reader)
{
	struct sp_analysis *analysis;
	int64_t begin = now_ns();
	ok_or_fail(sp_analysis_run(ctx, reader, &options, &analysis));
	int64_t took = now_ns() - begin;
	ck_assert_uint_eq(sp_analysis_profile(analysis, 0)->samples, SAMPLES);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_analysis_free(analysis);
	return took;
}

struct canceller {
	struct sp_ctx *ctx;
	int64_t delay_ns;
};

static void *cancel_later(void *arg)
{
	const struct canceller *canceller = arg;
	const struct timespec delay = {canceller->delay_ns / 1000000000,
				       canceller->delay_ns % 1000000000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
	sp_ctx_cancel(canceller->ctx);
	return NULL;
}

TEST(a_cancelled_context_analyses_nothing_until_it_is_reset)
{
	const char *path = write_recording();
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis *analysis = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	sp_ctx_cancel(ctx);
	fails_with(SP_ERROR_CANCELLED, sp_analysis_run(ctx, reader, &options, &analysis));
	fails_with(SP_ERROR_CANCELLED, sp_analysis_run(ctx, reader, &options, &analysis));
	ck_assert_ptr_null(analysis);
	sp_ctx_uncancel(ctx);
	analyse_all(ctx, reader);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

TEST(an_analysis_is_cancelled_in_each_phase_and_can_be_run_again)
{
	const char *path = write_recording();
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	unsigned int cancelled = 0;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	int64_t whole_ns = analyse_all(ctx, reader);
	for (int i = 0; i < STEPS; i++) {
		struct canceller canceller = {ctx, whole_ns * i / STEPS};
		struct sp_analysis *analysis = NULL;
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, &canceller), 0);
		struct sp_error *error = sp_analysis_run(ctx, reader, &options, &analysis);
		pthread_join(thread, NULL);
		ck_assert(!error || sp_error_code(error) == SP_ERROR_CANCELLED);
		ck_assert((error != NULL) == (analysis == NULL));
		cancelled += error != NULL;
		sp_error_free(error);
		sp_analysis_free(analysis);
		sp_ctx_uncancel(ctx);
	}
	ck_assert_uint_gt(cancelled, 0);
	analyse_all(ctx, reader);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

struct watcher {
	struct sp_ctx *ctx;
	atomic_bool end;
	unsigned int seen; /* bit for each step */
	bool sound;        /* no step has more done than there is, or goes back */
};

static void *watch(void *arg)
{
	struct watcher *watcher = arg;
	enum sp_step last = SP_STEP_NONE;
	while (!atomic_load(&watcher->end)) {
		uint64_t done, total;
		enum sp_step step = sp_ctx_progress(watcher->ctx, &done, &total);
		watcher->sound &= done <= total && step >= last;
		watcher->seen |= 1u << step;
		last = step;
	}
	return NULL;
}

TEST(progress_goes_through_the_steps)
{
	uint64_t done, total;
	const char *path = write_recording();
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	pthread_t thread;
	ok_or_fail(sp_ctx_new(&ctx));
	ck_assert_int_eq(sp_ctx_progress(ctx, &done, &total), SP_STEP_NONE);
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	struct watcher watcher = {.ctx = ctx, .sound = true};
	ck_assert_int_eq(pthread_create(&thread, NULL, watch, &watcher), 0);
	analyse_all(ctx, reader);
	atomic_store(&watcher.end, true);
	pthread_join(thread, NULL);
	ck_assert(watcher.sound);
	ck_assert(watcher.seen & 1u << SP_STEP_SAMPLES);
	ck_assert_int_eq(sp_ctx_progress(ctx, &done, &total), SP_STEP_ROWS);
	const struct sp_script_options whole = {.size = sizeof(whole)};
	struct sp_script *script;
	struct sp_teller *teller;
	ok_or_fail(sp_script_open(ctx, reader, &whole, &script));
	ok_or_fail(sp_teller_new(script, &teller));
	size_t batches = sp_script_batch_count(script);
	for (size_t i = 0; i < batches; i++) {
		ck_assert_int_eq(sp_ctx_progress(ctx, &done, &total), SP_STEP_RECORDS);
		ck_assert_uint_eq(done, i);
		ck_assert_uint_eq(total, batches);
		ok_or_fail(sp_teller_begin(teller, i));
	}
	ck_assert_uint_gt(batches, 0);
	sp_teller_free(teller);
	sp_script_free(script);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}
