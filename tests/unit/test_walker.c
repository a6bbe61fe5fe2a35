/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>
#include "base/error.h"
#include "file/reader_io.h"
#include "walk/walker.h"
#include "files.h"
#include "made_file.h"
#include "test.h"

#define RECORDS 2000
#define PAYLOAD 9000

static struct bytes bytes;

static size_t payload_size(size_t index)
{
	return index % 8 * 8 + PAYLOAD - 64;
}

/* A recording of long samples. Its data ends with the file. */
static struct sp_reader *open_long(const char *path)
{
	struct sp_reader *reader;
	made_begin(&bytes, false);
	FILE *file = fopen(path, "w");
	fwrite(bytes.at, 1, bytes.size, file);
	for (uint64_t i = 0; i < RECORDS; i++) {
		static const uint8_t payload[PAYLOAD];
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put_u64(&bytes, i);
		put(&bytes, payload, payload_size(i));
		record_end(&bytes);
		fwrite(bytes.at, 1, bytes.size, file);
	}
	fclose(file);
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	return reader;
}

static struct walker *walker_of(struct sp_reader *reader, bool hops)
{
	struct walker *walker;
	ok_or_fail(walker_new(reader, reader_extent(reader), &walker));
	if (hops)
		walker_skip_samples(walker);
	return walker;
}

TEST(samples_are_the_same_read_and_hopped_over)
{
	struct sp_reader *reader = open_long(files_path("data"));
	for (int hops = 0; hops < 2; hops++) {
		struct walker *walker = walker_of(reader, hops);
		struct raw_record raw;
		uint64_t offset = reader_extent(reader).begin;
		for (size_t i = 0; i < RECORDS; i++) {
			ok_or_fail(walker_next(walker, &raw));
			ck_assert_ptr_nonnull(raw.bytes);
			ck_assert_uint_eq(raw.type, PERF_RECORD_SAMPLE);
			ck_assert_uint_eq(raw.size, 16 + payload_size(i));
			ck_assert_uint_eq(raw.offset, offset);
			if (!hops)
				ck_assert(!memcmp(raw.bytes + 8, &(uint64_t){i}, 8));
			walker_prefetch(walker, 4096);
			offset += raw.size;
		}
		ok_or_fail(walker_next(walker, &raw));
		ck_assert_ptr_null(raw.bytes);
		walker_free(walker);
	}
	sp_reader_free(reader);
}

/* Another process may truncate the file at any moment: the result is an error, no SIGBUS. */
TEST(a_file_that_shrinks_is_an_error)
{
	for (int hops = 0; hops < 2; hops++) {
		struct sp_reader *reader = open_long(files_path("data"));
		struct walker *walker = walker_of(reader, hops);
		struct sp_error *error = NULL;
		struct raw_record raw;
		size_t whole = 0;
		ok_or_fail(walker_next(walker, &raw));
		ck_assert_int_eq(truncate(files_path("data"), (off_t)PAYLOAD * RECORDS / 2), 0);
		for (; !error && whole < RECORDS; whole++)
			error = walker_next(walker, &raw);
		ck_assert_ptr_nonnull(error);
		ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
		/* A buffer's worth of records early at most. */
		ck_assert_uint_ge(whole, RECORDS / 2 - 64);
		ck_assert_uint_le(whole, RECORDS / 2 + 64);
		sp_error_free(error);
		walker_free(walker);
		sp_reader_free(reader);
	}
}
