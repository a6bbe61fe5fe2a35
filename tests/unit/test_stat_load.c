/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts in files that no one would write. */
#include <sprof/record.h>
#include <sprof/stat.h>
#include "files.h"
#include "made_file.h"
#include "test.h"

static struct bytes bytes;

static void put_config(void)
{
	record_begin(&bytes, SP_RECORD_STAT_CONFIG, 0);
	put_u64(&bytes, 1);
	put_u64(&bytes, 0); /* aggregate */
	put_u64(&bytes, 1); /* global */
	record_end(&bytes);
}

static void put_stat(uint32_t cpu, uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	record_begin(&bytes, SP_RECORD_STAT, 0);
	put_u64(&bytes, MADE_ID);
	put_u32(&bytes, cpu);
	put_u32(&bytes, 0);
	put_u64(&bytes, value);
	put_u64(&bytes, enabled_ns);
	put_u64(&bytes, running_ns);
	record_end(&bytes);
}

static void put_round(bool last, uint64_t time_ns)
{
	record_begin(&bytes, SP_RECORD_STAT_ROUND, 0);
	put_u64(&bytes, last);
	put_u64(&bytes, time_ns);
	record_end(&bytes);
}

struct counts {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_stat *stat;
};

/* Counts since begin(). */
static void counts_init(struct counts *counts)
{
	made_end_data(&bytes);
	files_write(files_path("data"), bytes.at, bytes.size);
	ok_or_fail(sp_ctx_new(&counts->ctx));
	ok_or_fail(sp_reader_open(counts->ctx, files_path("data"), &counts->reader));
	ok_or_fail(sp_stat_load(counts->ctx, counts->reader, NULL, &counts->stat));
}

static void counts_deinit(struct counts *counts)
{
	sp_stat_free(counts->stat);
	sp_reader_free(counts->reader);
	sp_ctx_free(counts->ctx);
}

/* The only row, as of the next round. */
static struct sp_stat_row next_row(const struct counts *counts, enum sp_stat_span span)
{
	enum sp_stat_step step;
	const struct sp_stat_row *row;
	ok_or_fail(sp_stat_next_round(counts->stat, &step));
	ck_assert_int_ne(step, SP_STAT_STEP_NONE);
	ok_or_fail(sp_stat_rows(counts->stat, span, &row));
	return *row;
}

/* In a damaged file: the difference would be taken for almost 2^64. */
TEST(a_receding_count_is_omitted_and_reported)
{
	static const struct {
		uint64_t value, enabled_ns, running_ns;
	} receding[] = {{499, 2000, 2000}, {600, 999, 2000}, {600, 2000, 999}};
	for (size_t i = 0; i < sizeof(receding) / sizeof(*receding); i++) {
		struct counts counts;
		made_begin(&bytes, false);
		put_config();
		put_stat(0, 500, 1000, 1000);
		put_round(false, 1000);
		put_stat(0, receding[i].value, receding[i].enabled_ns, receding[i].running_ns);
		put_round(false, 2000);
		put_stat(0, 700, 3000, 3000);
		put_round(true, 3000);
		counts_init(&counts);
		ck_assert_uint_eq(next_row(&counts, SP_STAT_SINCE_MARK).raw, 500);
		ck_assert_uint_eq(sp_stat_note_count(counts.stat), 0);
		sp_stat_mark(counts.stat);
		struct sp_stat_row row = next_row(&counts, SP_STAT_SINCE_MARK);
		ck_assert_uint_eq(row.raw, 0);
		ck_assert_uint_eq(row.enabled_ns, 0);
		ck_assert_uint_eq(sp_stat_note_count(counts.stat), 1);
		sp_stat_mark(counts.stat);
		ck_assert_uint_eq(next_row(&counts, SP_STAT_SINCE_MARK).raw, 200);
		ck_assert_uint_eq(sp_stat_note_count(counts.stat), 1);
		counts_deinit(&counts);
	}
}

/* Counts with a time of 0 have no rate: found by fuzzing. */
TEST(an_interval_is_around_its_value)
{
	struct counts counts;
	made_begin(&bytes, false);
	put_config();
	put_stat(0, 100, 1000, 500);
	put_stat(1, 1 << 30, 0, 0);
	put_stat(0, 200, 2000, 1000);
	put_stat(0, 300, 3000, 1500);
	put_round(true, 3000);
	counts_init(&counts);
	struct sp_stat_row row = next_row(&counts, SP_STAT_SINCE_START);
	ck_assert(row.interval_known);
	ck_assert_uint_eq(row.raw, (1 << 30) + 300);
	ck_assert(row.value == 600);
	ck_assert(row.low <= row.value && row.value <= row.high);
	counts_deinit(&counts);
}
