/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/error.h"
#include "file/file_mapping.h"
#include "file/reader_io.h"
#include "walk/walker.h"
#include "files.h"
#include "made_file.h"
#include "test.h"

#define SIZE (3 * MAPPING_ALIGN + 1000)

static uint8_t content(uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 12));
}

static int make_file(const char *path)
{
	uint8_t *bytes = malloc(SIZE);
	for (uint64_t i = 0; i < SIZE; i++)
		bytes[i] = content(i);
	files_write(path, bytes, SIZE);
	free(bytes);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether the system gives leases where cases have their files; not every file system does. */
static bool has_leases(void)
{
	struct statfs system;
	int fd = make_file(files_path("try"));
	bool known = fstatfs(fd, &system) == 0 && ((unsigned long)system.f_type == TMPFS_MAGIC ||
						   system.f_type == EXT4_SUPER_MAGIC);
	bool has = known && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
	close(fd);
	return has;
}

TEST(windows_show_the_file)
{
	struct file_mapping mapping;
	int fd = make_file(files_path("data"));
	file_mapping_init(&mapping);
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, SIZE));
	file_mapping_begin(&mapping, fd);
	const uint8_t *all = file_mapping_open(&mapping, 0, SIZE);
	const uint8_t *end =
		file_mapping_open(&mapping, 2 * MAPPING_ALIGN, SIZE - 2 * MAPPING_ALIGN);
	ck_assert_int_eq(all != NULL, has_leases());
	ck_assert_int_eq(end != NULL, has_leases());
	for (uint64_t i = 0; all && i < SIZE; i++)
		ck_assert_uint_eq(all[i], content(i));
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, SIZE + 1));
	ck_assert_ptr_null(file_mapping_open(&mapping, 1, 100));
	ck_assert_ptr_null(file_mapping_open(&mapping, 1024 * MAPPING_ALIGN, 1));
	if (all)
		file_mapping_close(&mapping, 0, SIZE);
	for (uint64_t i = 2 * MAPPING_ALIGN; end && i < SIZE; i++)
		ck_assert_uint_eq(end[i - 2 * MAPPING_ALIGN], content(i));
	file_mapping_end(&mapping);
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, SIZE));
	if (end)
		file_mapping_close(&mapping, 2 * MAPPING_ALIGN, SIZE - 2 * MAPPING_ALIGN);
	ck_assert_ptr_null(mapping.bytes);
	file_mapping_deinit(&mapping);
	close(fd);
}

TEST(a_file_open_for_writing_is_not_mapped)
{
	struct file_mapping mapping;
	int fd = make_file(files_path("data"));
	int writer = open(files_path("data"), O_WRONLY | O_CLOEXEC);
	file_mapping_init(&mapping);
	file_mapping_begin(&mapping, fd);
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, SIZE));
	close(writer);
	file_mapping_begin(&mapping, fd);
	ck_assert_int_eq(file_mapping_open(&mapping, 0, SIZE) != NULL, has_leases());
	file_mapping_deinit(&mapping);
	close(fd);
}

/* Starts a process that truncates a file. Returns a pipe that is closed when it is done. */
static int truncate_by_another(const char *path, off_t size)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	if (fork() == 0) {
		close(ends[0]);
		_exit(truncate(path, size) != 0);
	}
	close(ends[1]);
	return ends[0];
}

static bool is_done(int end, int timeout_ms)
{
	struct pollfd wait = {.fd = end, .events = POLLIN};
	return poll(&wait, 1, timeout_ms) == 1;
}

TEST(truncation_waits_until_windows_are_closed)
{
	struct file_mapping mapping;
	int fd = make_file(files_path("data"));
	file_mapping_init(&mapping);
	file_mapping_begin(&mapping, fd);
	const uint8_t *all = file_mapping_open(&mapping, 0, SIZE);
	if (!all)
		skip_test("no leases on this file system");
	int end = truncate_by_another(files_path("data"), 1);
	ck_assert(!is_done(end, 200));
	for (uint64_t i = 0; i < SIZE; i++)
		ck_assert_uint_eq(all[i], content(i));
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, SIZE));
	ck_assert(!is_done(end, 50));
	file_mapping_close(&mapping, 0, SIZE);
	ck_assert(is_done(end, 20000));
	int status;
	wait(&status);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_null(file_mapping_open(&mapping, 0, 1));
	file_mapping_deinit(&mapping);
	close(fd);
}

#define RECORDS 2000
#define PAYLOAD 9000

static struct bytes bytes;

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
		put(&bytes, payload, i % 8 * 8 + PAYLOAD - 64);
		record_end(&bytes);
		fwrite(bytes.at, 1, bytes.size, file);
	}
	fclose(file);
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	return reader;
}

/* Sums up the next `count` records. */
static uint64_t sum(struct walker *walker, size_t count, bool whole)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++) {
		struct raw_record raw;
		ok_or_fail(walker_next(walker, &raw));
		ck_assert_ptr_nonnull(raw.bytes);
		sum += raw.size + raw.offset;
		for (size_t at = 8; whole && at < raw.size; at++)
			sum += raw.bytes[at];
		walker_prefetch(walker, 4096);
	}
	return sum;
}

TEST(records_are_the_same_read_and_mapped)
{
	struct sp_reader *reader = open_long(files_path("data"));
	struct reader_extent extent = reader_extent(reader);
	struct walker *walker;
	uint64_t sums[2][2];
	for (int mapped = 0; mapped < 2; mapped++) {
		if (mapped)
			reader_map(reader);
		for (int hops = 0; hops < 2; hops++) {
			struct raw_record raw;
			ok_or_fail(walker_new(reader, extent, &walker));
			if (hops)
				walker_skip_samples(walker);
			sums[mapped][hops] = sum(walker, RECORDS, !hops);
			ok_or_fail(walker_next(walker, &raw));
			ck_assert_ptr_null(raw.bytes);
			walker_free(walker);
		}
	}
	ck_assert_uint_eq(sums[0][0], sums[1][0]);
	ck_assert_uint_eq(sums[0][1], sums[1][1]);
	reader_unmap(reader);
	sp_reader_free(reader);
}

/* Another process truncates the file while it is mapped: an error, no SIGBUS. */
TEST(a_mapped_file_that_shrinks_is_an_error)
{
	struct sp_reader *reader = open_long(files_path("data"));
	struct walker *walker;
	struct raw_record raw;
	reader_map(reader);
	ok_or_fail(walker_new(reader, reader_extent(reader), &walker));
	sum(walker, 10, true);
	int end = truncate_by_another(files_path("data"), (off_t)PAYLOAD * RECORDS / 2);
	ck_assert_int_eq(is_done(end, 100), !has_leases());
	struct sp_error *error = NULL;
	for (size_t i = 10; !error && i < RECORDS; i++) {
		error = walker_next(walker, &raw);
		for (size_t at = 0; !error && at < raw.size; at++)
			ck_assert(at < 16 || !raw.bytes[at]);
	}
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
	ck_assert(is_done(end, 20000));
	sp_error_free(error);
	walker_free(walker);
	sp_reader_free(reader);
}
