/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed recordings: all that was written is read again, whatever ends the recorder. */
#include <signal.h>
#include <sys/resource.h>
#include "base/io.h"
#include "file/deflate.h"
#include "file/file_format.h"
#include "files.h"
#include "reader/feature_payloads.h"
#include "recording.h"

static struct record_buffer buffer;

static struct writer *open_packed(const char *path, int level)
{
	struct writer_info info = recording_info;
	struct writer *writer;
	info.compression_level = level;
	ok_or_fail(writer_open(path, recording_events, 2, &info, &writer));
	ok_or_fail(writer_publish(writer));
	return writer;
}

static void put_samples(size_t count, uint64_t first)
{
	for (uint64_t i = first; i < first + count; i++)
		recording_put_sample(&buffer, RECORDING_START + i, 1000 + i);
}

/* Writes rounds of `samples` samples each. */
static void write_rounds(struct writer *writer, size_t rounds, size_t samples)
{
	recording_put_process(&buffer);
	for (size_t i = 0; i < rounds; i++) {
		put_samples(samples, i * samples);
		ok_quietly(recording_write(writer, &buffer));
		ok_quietly(writer_commit(writer));
	}
}

/* The samples, which must be the first ones written, in order; no word of damage. */
static size_t samples_read(const char *path)
{
	struct sp_reader *reader;
	size_t count = 0;
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	ck_assert(sp_reader_info(reader)->compressed);
	for (;;) {
		const struct sp_record *record;
		ok_quietly(sp_reader_next(reader, &record));
		if (!record)
			break;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		if (record->sample.ip != RECORDING_START + count)
			ck_abort_msg("sample %zu is another", count);
		count++;
	}
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
	return count;
}

/* quipper, which splits no record, and other readers require this. */
static void all_is_aligned(const char *path)
{
	struct file_header header;
	struct perf_event_header record;
	char *bytes;
	size_t size, packed = 0;
	ck_assert_int_eq(io_read_file(path, &bytes, &size), 0);
	memcpy(&header, bytes, sizeof(header));
	uint64_t at = header.data.offset, end = at + header.data.size;
	ck_assert_uint_le(end, size);
	for (; at < end; at += record.size) {
		memcpy(&record, bytes + at, sizeof(record));
		if (record.size < sizeof(record) || record.size % 8)
			ck_abort_msg("a record of %u bytes", record.size);
		packed += record.type == SP_RECORD_COMPRESSED;
		if (record.type == PERF_RECORD_SAMPLE)
			ck_abort_msg("a sample is not compressed");
	}
	ck_assert_uint_eq(at, end);
	ck_assert_uint_gt(packed, 0);
	free(bytes);
}

TEST(compressed_records_are_read_again)
{
	const struct writer_end end = {.first_sample_ns = 1000, .last_sample_ns = 2000};
	const char *path = files_path("data");
	for (int level = 1; level <= 22; level += 7) {
		struct writer *writer = open_packed(path, level);
		write_rounds(writer, 7, 9973);
		ok_or_fail(writer_close(writer, &end));
		ck_assert_uint_eq(samples_read(path), (size_t)7 * 9973);
		all_is_aligned(path);
	}
}

/* Each length has another rest of 8. */
TEST(rounds_of_any_size_are_aligned)
{
	const struct writer_end end = {0};
	const char *path = files_path("data");
	struct writer *writer = open_packed(path, 1);
	recording_put_process(&buffer);
	size_t written = 0;
	for (size_t i = 0; i < 100; i++) {
		put_samples(i, written);
		written += i;
		ok_quietly(recording_write(writer, &buffer));
		ok_quietly(writer_commit(writer));
	}
	ok_or_fail(writer_close(writer, &end));
	ck_assert_uint_eq(samples_read(path), written);
	all_is_aligned(path);
}

TEST(the_feature_says_how_well_it_went)
{
	const struct writer_end end = {0};
	const char *path = files_path("data");
	struct writer *writer = open_packed(path, 3);
	write_rounds(writer, 2, 10000);
	ok_or_fail(writer_close(writer, &end));
	struct sp_reader *reader;
	uint32_t words[5];
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	struct sp_bytes feature = reader_feature(reader, FEATURE_COMPRESSED);
	ck_assert_uint_eq(feature.size, sizeof(words));
	memcpy(words, feature.bytes, sizeof(words));
	ck_assert_uint_eq(words[0], 1);
	ck_assert_uint_eq(words[1], 1);
	ck_assert_uint_eq(words[2], 3);
	ck_assert_uint_ge(words[3], 3);
	ck_assert_uint_ge(words[4], DEFLATE_SIZE);
	sp_reader_free(reader);
}

TEST(a_killed_recorder_leaves_its_rounds)
{
	const char *path = files_path("data");
	struct writer *writer = open_packed(path, 1);
	write_rounds(writer, 5, 5000);
	put_samples(3000, 25000);
	ok_or_fail(recording_write(writer, &buffer));
	writer_free(writer);
	ck_assert_uint_eq(samples_read(path), 25000);
}

TEST(a_stream_is_compressed_too)
{
	const struct writer_end end = {0};
	const char *path = files_path("pipe"), *copy = files_path("copy");
	files_run("mkfifo pipe; cat pipe >copy &");
	struct writer *writer = open_packed(path, 1);
	write_rounds(writer, 3, 9000);
	ok_or_fail(writer_close(writer, &end));
	files_run("while ! [ -s copy ] || [ $(pgrep -cx -f 'cat pipe') != 0 ]; do sleep 0.05; done");
	ck_assert_uint_eq(samples_read(copy), 27000);
}

/* The file and the rejected bytes are all that was written. */
TEST(a_full_file_ends_with_a_whole_frame)
{
	const struct writer_end end = {0};
	const char *path = files_path("data");
	struct rlimit before, limit;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){300000, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
	struct writer *writer = open_packed(path, 1);
	recording_put_process(&buffer);
	size_t written = 0;
	bool full = false;
	for (size_t i = 0; i < 200; i++) {
		put_samples(1000, written);
		written += 1000;
		struct sp_error *error = recording_write(writer, &buffer);
		if (!error)
			error = writer_commit(writer);
		full |= error != NULL;
		sp_error_free(error);
	}
	uint64_t unwritten = writer_unwritten_samples(writer);
	struct sp_error *error = writer_close(writer, &end);
	/* Reading inflates into a file. */
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert(full);
	fails_with(SP_ERROR_LIMIT, error);
	ck_assert_uint_gt(unwritten, 0);
	ck_assert_uint_eq(samples_read(path) + unwritten, written);
}

/* Each frame can be read without the others. */
TEST(damage_costs_one_frame)
{
	const struct writer_end end = {0};
	const char *path = files_path("data");
	struct writer *writer = open_packed(path, 1);
	write_rounds(writer, 10, 1000);
	ok_or_fail(writer_close(writer, &end));
	char *bytes;
	size_t size, found = 0;
	ck_assert_int_eq(io_read_file(path, &bytes, &size), 0);
	for (size_t i = 0; i + 8 < size && found < 4; i++)
		if (!memcmp(bytes + i, "\x28\xb5\x2f\xfd", 4) && ++found == 4)
			memset(bytes + i + 60, 0xff, 100);
	ck_assert_uint_eq(found, 4);
	files_write(path, bytes, size);
	free(bytes);
	struct sp_reader *reader;
	size_t count = 0;
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	for (;;) {
		const struct sp_record *record;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (!error && !record)
			break;
		count += !error && record->type == PERF_RECORD_SAMPLE;
		sp_error_free(error);
	}
	ck_assert_uint_gt(sp_reader_damage_count(reader), 0);
	/* Only the checksum at the end may reveal the damage. */
	ck_assert_uint_ge(count, 9000);
	ck_assert_uint_le(count, 10000);
	sp_reader_free(reader);
}
