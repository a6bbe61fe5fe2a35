/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "file/reader_io.h"
#include "sideband/sideband.h"
#include "files.h"
#include "made_file.h"
#include "test.h"

#define RECORDS 900
#define PAYLOAD 60000

enum payload {
	ZEROS,
	RECORD_LIKE, /* records seem to be in it */
};

static struct bytes bytes;

static void put_comm(uint64_t number)
{
	char name[16];
	record_begin(&bytes, PERF_RECORD_COMM, 0);
	put_u32(&bytes, (uint32_t)number);
	put_u32(&bytes, (uint32_t)number);
	snprintf(name, sizeof(name), "c%lu", (unsigned long)number);
	put_text(&bytes, name);
	put_u32(&bytes, (uint32_t)number);
	put_u32(&bytes, (uint32_t)number);
	put_u64(&bytes, 1000 + number);
	record_end(&bytes);
}

static void put_lost(uint64_t number)
{
	record_begin(&bytes, PERF_RECORD_LOST, 0);
	put_u64(&bytes, MADE_ID);
	put_u64(&bytes, number);
	put_u32(&bytes, 1);
	put_u32(&bytes, 1);
	put_u64(&bytes, 1000 + number);
	record_end(&bytes);
}

/* Puts a sample with a size that differs a little from record to record. */
static void put_long_sample(uint64_t number, enum payload payload)
{
	size_t size = PAYLOAD + number % 7 * 8;
	record_begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(&bytes, number);
	for (size_t i = 0; i < size; i += 8) {
		/* A header, of one word; 32 bytes on is the next. */
		uint64_t word = i % 32 ? 0 : PERF_RECORD_COMM | UINT64_C(32) << 48;
		put_u64(&bytes, payload == RECORD_LIKE ? word : 0);
	}
	record_end(&bytes);
}

/* A file of more than 50 MB: long samples, with side-band between. */
static void make_file(const char *path, enum payload payload)
{
	made_begin(&bytes, false);
	uint64_t begin = bytes.size, size;
	FILE *file = fopen(path, "w");
	for (uint64_t i = 0; i < RECORDS; i++) {
		put_long_sample(i, payload);
		if (i % 3 == 0)
			put_comm(i);
		if (i % 5 == 0)
			put_lost(i);
		fwrite(bytes.at, 1, bytes.size, file);
		bytes.size = 0;
	}
	size = (uint64_t)ftell(file) - begin;
	fseek(file, FILE_DATA_AT + 8, SEEK_SET);
	fwrite(&size, sizeof(size), 1, file);
	fclose(file);
}

/* Results of pass one on a file. */
struct found {
	struct sp_reader *reader;
	struct machine *machine;
	struct sideband sideband;
};

static void found_init(struct found *found, const char *path, unsigned int threads)
{
	ok_or_fail(sp_reader_open(NULL, path, &found->reader));
	ok_or_fail(machine_new(&found->machine));
	ok_or_fail(sideband_init(&found->sideband, found->reader, found->machine));
	ok_or_fail(sideband_read(&found->sideband, found->reader, threads));
	ok_or_fail(machine_seal(found->machine));
}

static void found_deinit(struct found *found)
{
	sideband_deinit(&found->sideband);
	machine_free(found->machine);
	sp_reader_free(found->reader);
}

static void compare(struct found *a, struct found *b)
{
	ck_assert_uint_eq(a->sideband.sample_count, b->sideband.sample_count);
	ck_assert_uint_eq(sp_losses_moment_count(a->sideband.losses),
			sp_losses_moment_count(b->sideband.losses));
	for (size_t i = 0; i < sp_losses_moment_count(a->sideband.losses); i++)
		ck_assert_uint_eq(sp_losses_moment(a->sideband.losses, i)->lost,
				  sp_losses_moment(b->sideband.losses, i)->lost);
	for (uint32_t i = 0; i < RECORDS; i++)
		ck_assert_str_eq(machine_span(a->machine, i, i, 5000).comm,
				 machine_span(b->machine, i, i, 5000).comm);
	ck_assert_uint_eq(sp_reader_damage_count(a->reader), sp_reader_damage_count(b->reader));
	for (size_t i = 0; i < sp_reader_damage_count(a->reader); i++) {
		ck_assert_uint_eq(sp_reader_damage(a->reader, i)->offset,
				  sp_reader_damage(b->reader, i)->offset);
		ck_assert_str_eq(sp_reader_damage(a->reader, i)->what,
				 sp_reader_damage(b->reader, i)->what);
	}
	struct reader_extent extent = reader_extent(b->reader);
	const struct splits *splits = &b->sideband.splits;
	ck_assert_uint_eq(splits->items[0], extent.begin);
	ck_assert_uint_eq(*vec_last(splits), extent.end);
	for (size_t i = 1; i < splits->count; i++)
		ck_assert_uint_lt(splits->items[i - 1], splits->items[i]);
}

/* By one thread and by several. */
static void is_the_same_by_threads(const char *path, uint64_t samples)
{
	struct found one, more;
	found_init(&one, path, 1);
	ck_assert_uint_eq(one.sideband.sample_count, samples);
	for (unsigned int threads = 2; threads < 7; threads++) {
		found_init(&more, path, threads);
		compare(&one, &more);
		found_deinit(&more);
	}
	found_deinit(&one);
}

TEST(pass_one_is_the_same_by_any_number_of_threads)
{
	make_file(files_path("data"), ZEROS);
	is_the_same_by_threads(files_path("data"), RECORDS);
}

TEST(how_ticks_become_times_is_known)
{
	const char *path = files_path("data");
	made_begin(&bytes, false);
	uint64_t begin = bytes.size;
	record_begin(&bytes, SP_RECORD_TIME_CONV, 0);
	put_u64(&bytes, 10);   /* shift */
	put_u64(&bytes, 2048); /* mult */
	put_u64(&bytes, 5000); /* zero */
	record_end(&bytes);
	uint64_t size = bytes.size - begin;
	FILE *file = fopen(path, "w");
	fwrite(bytes.at, 1, bytes.size, file);
	fseek(file, FILE_DATA_AT + 8, SEEK_SET);
	fwrite(&size, sizeof(size), 1, file);
	fclose(file);
	struct found found;
	found_init(&found, path, 1);
	ck_assert_uint_eq(found.sideband.ticks.shift, 10);
	ck_assert_uint_eq(found.sideband.ticks.mult, 2048);
	ck_assert_uint_eq(found.sideband.ticks.zero, 5000);
	found_deinit(&found);
}

TEST(bytes_like_records_are_none)
{
	make_file(files_path("data"), RECORD_LIKE);
	is_the_same_by_threads(files_path("data"), RECORDS);
}

static void damage(const char *path, off_t offset)
{
	static const uint8_t zeros[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, zeros, sizeof(zeros), offset), sizeof(zeros));
	close(fd);
}

static uint64_t record_offset(const char *path, size_t number)
{
	struct sp_reader *reader;
	const struct sp_record *record = NULL;
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	for (size_t i = 0; i <= number; i++)
		ok_or_fail(sp_reader_next(reader, &record));
	uint64_t offset = record->file_offset;
	sp_reader_free(reader);
	return offset;
}

TEST(damage_is_reported_once_and_skipped)
{
	const char *path = files_path("data");
	make_file(path, ZEROS);
	uint64_t near = record_offset(path, 100), middle = record_offset(path, 700);
	uint64_t last = record_offset(path, 1200);
	damage(path, (off_t)near);
	damage(path, (off_t)middle);
	/* The last record has lost its end. */
	ck_assert_int_eq(truncate(path, (off_t)last + 16), 0);
	struct found one;
	found_init(&one, path, 1);
	ck_assert_uint_ge(sp_reader_damage_count(one.reader), 3);
	uint64_t samples = one.sideband.sample_count;
	found_deinit(&one);
	is_the_same_by_threads(path, samples);
}

static bool is_comm(uint32_t type)
{
	return type == PERF_RECORD_COMM;
}

TEST(scouts_find_where_records_begin)
{
	const char *path = files_path("data");
	struct sp_reader *reader;
	make_file(path, ZEROS);
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	struct reader_extent all = reader_extent(reader);
	uint64_t begin = record_offset(path, 500);
	struct readahead readahead = {0};
	readahead_run(&readahead, reader, (struct reader_extent){begin - 8000, all.end},
		      &(struct readahead_options){.wanted = is_comm});
	ck_assert_uint_eq(readahead.begin, begin);
	ck_assert_uint_eq(readahead.end, all.end);
	ck_assert_uint_gt(readahead.records.count, 100);
	ck_assert_uint_gt(readahead.sample_count, 400);
	readahead_deinit(&readahead);
	sp_reader_free(reader);
}
