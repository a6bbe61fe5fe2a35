/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loss of power: the state that it leaves of a synced file. Sectors written since the last sync
 * have any of their states. This program's own pwritev, ftruncate and fdatasync save the file's
 * state after each call, and the states are mixed at random.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "base/vec.h"
#include "file/file_format.h"
#include "files.h"
#include "recording.h"

/* Disks write these whole, or not at all. */
#define SECTOR 512
#define MIXTURES 6

struct version {
	uint8_t *bytes;
	size_t size;
};

static struct {
	bool on;
	int fd;
	VEC(struct version) versions; /* since the last sync, that moment's first */
	size_t durable;  /* samples that were committed then */
	size_t written, checked, syncs;
	uint64_t seed;
	bool forgets;    /* fdatasync does nothing: what the test is to find */
} disk;

static uint32_t random_below(uint32_t most)
{
	disk.seed = disk.seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(disk.seed >> 33) % most;
}

static void push_version(int fd)
{
	struct stat st;
	ck_assert_int_eq(fstat(fd, &st), 0);
	struct version version = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
	ck_assert_int_eq(pread(fd, version.bytes, version.size, 0), (ssize_t)version.size);
	*vec_push(&disk.versions) = version;
}

/* -1: it is no recording, or has damage; else its samples. */
static ssize_t count_samples(const uint8_t *bytes, size_t size)
{
	struct file_header header;
	struct perf_event_header record;
	ssize_t count = 0;
	if (size < sizeof(header))
		return -1;
	memcpy(&header, bytes, sizeof(header));
	uint64_t at = header.data.offset, end = at + header.data.size;
	if (header.magic != FILE_MAGIC || end > size)
		return -1;
	for (; at + sizeof(record) <= end; at += record.size) {
		memcpy(&record, bytes + at, sizeof(record));
		if (record.size < sizeof(record) || !record.type || record.type > SP_RECORD_COMPRESSED2)
			return -1;
		count += record.type == PERF_RECORD_SAMPLE;
	}
	uint64_t table = end;
	for (unsigned int bit = 0; bit < FILE_FEATURE_BITS && at == end; bit++) {
		struct file_section section;
		if (!(header.features[bit / 64] >> bit % 64 & 1))
			continue;
		if (table + sizeof(section) > size)
			return -1;
		memcpy(&section, bytes + table, sizeof(section));
		table += sizeof(section);
		if (section.offset < sizeof(header) || section.offset + section.size > size)
			return -1;
	}
	return at == end ? count : -1;
}

static ssize_t mix(void)
{
	const struct version *last = &disk.versions.items[random_below((uint32_t)disk.versions.count)];
	size_t size = last->size;
	CLEANUP_FREE uint8_t *bytes = calloc(1, size + 1);
	for (size_t at = 0; at < size; at += SECTOR) {
		const struct version *from =
			&disk.versions.items[random_below((uint32_t)disk.versions.count)];
		size_t end = at + SECTOR < size ? at + SECTOR : size;
		if (end > from->size)
			end = from->size;
		if (at < end)
			memcpy(bytes + at, from->bytes + at, end - at);
	}
	return count_samples(bytes, size);
}

static bool lose_power(void)
{
	for (size_t i = 0; i < MIXTURES; i++) {
		ssize_t samples = mix();
		disk.checked++;
		if (samples < (ssize_t)disk.durable || samples > (ssize_t)disk.written)
			return false;
	}
	return true;
}

static size_t bad;

static void see(int fd)
{
	if (!disk.on || fd != disk.fd)
		return;
	push_version(fd);
	bad += !lose_power();
}

ssize_t pwritev(int fd, const struct iovec *spans, int count, off_t offset)
{
	uint64_t at = (uint64_t)offset;
	ssize_t done = syscall(SYS_pwritev, fd, spans, count, (unsigned long)at,
			       (unsigned long)(at >> 32));
	see(fd);
	return done;
}

int ftruncate(int fd, off_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int result = truncate(path, size);
	see(fd);
	return result;
}

int fdatasync(int fd)
{
	if (!disk.on || fd != disk.fd || disk.forgets)
		return 0;
	disk.syncs++;
	while (disk.versions.count > 1)
		free(disk.versions.items[--disk.versions.count].bytes);
	if (disk.versions.count)
		free(disk.versions.items[--disk.versions.count].bytes);
	push_version(fd);
	return 0;
}

static int fd_of(const char *path)
{
	struct stat wanted, st;
	ck_assert_int_eq(stat(path, &wanted), 0);
	for (int fd = 3; fd < 256; fd++)
		if (!fstat(fd, &st) && st.st_ino == wanted.st_ino && st.st_dev == wanted.st_dev)
			return fd;
	ck_abort_msg("no descriptor of %s", path);
}

/* Less than a table's size, around it, gathered, written at once. */
static void record(uint64_t seed)
{
	static const size_t rounds[] = {1, 2, 4, 6, 0, 100, 1, 1000, 3, 500, 1};
	struct durability durability = {0};
	struct writer_info info = recording_info;
	struct record_buffer buffer = {0};
	struct writer *writer;
	const char *path = files_path("data");
	info.durability = &durability;
	ok_or_fail(writer_open(path, recording_events, 2, &info, &writer));
	ok_or_fail(writer_publish(writer));
	uint64_t begun = durability.syncs;
	ck_assert_uint_ge(begun, 2); /* the file, and its name */
	disk.seed = seed;
	disk.fd = fd_of(path);
	disk.on = true;
	push_version(disk.fd);
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		for (size_t j = 0; j < rounds[i]; j++)
			recording_put_sample(&buffer, RECORDING_START, 1000 + j);
		disk.written += rounds[i];
		ok_or_fail(recording_write(writer, &buffer));
		ok_or_fail(writer_commit(writer));
		disk.durable = disk.forgets ? 0 : disk.written;
	}
	const struct sp_build_id build_id = {0, "ABCDEFGHIJKLMNOPQRST", 20, "/nonexistent/prog"};
	ok_or_fail(writer_close(writer, &(struct writer_end){1, 2, &build_id, 1}));
	disk.on = false;
	ck_assert_uint_gt(durability_read(&durability).syncs, begun + 20);
	vec_deinit(&buffer);
}

TEST(a_loss_of_power_costs_what_was_not_committed)
{
	record(1);
	ck_assert_uint_ge(disk.syncs, 20);
	ck_assert_uint_gt(disk.checked, 100);
	ck_assert_uint_eq(bad, 0);
}

TEST(without_syncs_the_same_is_found_damaged)
{
	disk.forgets = true;
	record(1);
	ck_assert_uint_gt(bad, 0);
}

TEST(a_finished_file_is_as_without_syncs)
{
	struct record_buffer buffer = {0};
	struct durability durability = {0};
	const char *paths[2] = {files_path("plain"), files_path("synced")};
	size_t sizes[2];
	CLEANUP_FREE char *texts[2] = {NULL};
	for (size_t i = 0; i < 2; i++) {
		struct writer_info info = recording_info;
		struct writer *writer;
		info.durability = i ? &durability : NULL;
		ok_or_fail(writer_open(paths[i], recording_events, 2, &info, &writer));
		for (size_t j = 0; j < 100; j++)
			recording_put_sample(&buffer, RECORDING_START, 1000 + j);
		ok_or_fail(recording_write(writer, &buffer));
		ok_or_fail(writer_commit(writer));
		ok_or_fail(writer_close(writer, &(struct writer_end){0}));
		ck_assert_int_eq(io_read_file(paths[i], &texts[i], &sizes[i]), 0);
	}
	ck_assert_uint_eq(sizes[0], sizes[1]);
	ck_assert_mem_eq(texts[0], texts[1], sizes[0]);
	free(texts[1]);
	vec_deinit(&buffer);
}

TEST(a_stream_cannot_be_synced)
{
	struct durability durability = {0};
	struct writer_info info = recording_info;
	struct writer *writer;
	info.durability = &durability;
	fails_with(SP_ERROR_INVALID, writer_open("/dev/null", recording_events, 2, &info, &writer));
}
