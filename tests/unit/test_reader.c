/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "base/error.h"
#include "file/file_format.h"
#include "file/reader_damage.h"
#include "record/types.h"
#include "walk/walker.h"
#include "files.h"
#include "made_file.h"
#include "reader/feature_payloads.h"
#include "test.h"

static struct bytes bytes;

static struct sp_reader *open_bytes(const struct bytes *made)
{
	static struct sp_ctx *ctx;
	struct sp_reader *reader;
	const char *path = files_path("data");
	if (!ctx)
		ok_or_fail(sp_ctx_new(&ctx));
	files_write(path, made->at, made->size);
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	return reader;
}

static struct sp_error *open_fails(const struct bytes *made)
{
	struct sp_reader *reader = NULL;
	files_write(files_path("data"), made->at, made->size);
	struct sp_error *error = sp_reader_open(NULL, files_path("data"), &reader);
	ck_assert_ptr_null(reader);
	return error;
}

/* All that can be read; the errors are counted. */
struct counts {
	size_t samples, others, errors;
	uint64_t last_ip;
};

static struct counts read_all(struct sp_reader *reader)
{
	struct counts counts = {0};
	for (;;) {
		const struct sp_record *record;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error) {
			ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
			sp_error_free(error);
			counts.errors++;
			ck_assert_uint_lt(counts.errors, 100000);
			continue;
		}
		if (!record)
			return counts;
		if (record->type == PERF_RECORD_SAMPLE) {
			counts.samples++;
			counts.last_ip = record->sample.ip;
		} else {
			counts.others++;
		}
	}
}

static bool is_damaged(const struct sp_reader *reader, uint64_t offset, const char *part)
{
	for (size_t i = 0; i < sp_reader_damage_count(reader); i++) {
		const struct sp_damage *damage = sp_reader_damage(reader, i);
		if (damage->offset == offset && strstr(damage->what, part))
			return true;
	}
	return false;
}

TEST(a_file_is_read_in_both_orders)
{
	for (int swap = 0; swap < 2; swap++) {
		made_begin(&bytes, swap);
		for (uint64_t i = 0; i < 10; i++)
			made_sample(&bytes, i);
		made_end_data(&bytes);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_uint_eq(sp_reader_event_count(reader), 1);
		const struct sp_event *event = sp_reader_event(reader, 0);
		ck_assert_str_eq(event->name, "cpu-clock");
		ck_assert_uint_eq(event->id_count, 1);
		ck_assert_uint_eq(event->ids[0], MADE_ID);
		ck_assert_uint_eq(event->attr.sample_id_all, 1);
		ck_assert_int_eq(sp_reader_info(reader)->big_endian, swap != HOST_IS_BIG);
		ck_assert_int_eq(sp_reader_info(reader)->mode, SP_READER_FILE);
		for (int pass = 0; pass < 2; pass++) {
			struct counts counts = read_all(reader);
			ck_assert_uint_eq(counts.samples, 10);
			ck_assert_uint_eq(counts.last_ip, 9);
			ck_assert_uint_eq(counts.errors, 0);
			sp_reader_rewind(reader);
		}
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

TEST(memory_and_descriptors_are_read_like_files)
{
	struct sp_reader *reader;
	made_begin(&bytes, HOST_IS_BIG);
	for (uint64_t i = 0; i < 10; i++)
		made_sample(&bytes, i);
	made_end_data(&bytes);
	ok_or_fail(sp_reader_open_memory(NULL, bytes.at, bytes.size, "segment 1", &reader));
	ck_assert_str_eq(sp_reader_info(reader)->path, "segment 1");
	struct counts counts = read_all(reader);
	ck_assert_uint_eq(counts.samples, 10);
	ck_assert_uint_eq(counts.last_ip, 9);
	sp_reader_free(reader);

	files_write(files_path("data"), bytes.at, bytes.size);
	int fd = open(files_path("data"), O_RDONLY | O_CLOEXEC);
	ok_or_fail(sp_reader_open_fd(NULL, fd, "open file", &reader));
	close(fd);
	ck_assert_uint_eq(read_all(reader).samples, 10);
	sp_reader_free(reader);

	fails_with(SP_ERROR_FORMAT, sp_reader_open_memory(NULL, bytes.at, 3, "short", &reader));
	fails_with(SP_ERROR_FORMAT, sp_reader_open_memory(NULL, NULL, 0, "none", &reader));
	fails_with(SP_ERROR_OS, sp_reader_open_fd(NULL, -1, "closed", &reader));
}

TEST(features_are_read_in_both_orders)
{
	static struct bytes texts, numbers, clock, command, ids;
	for (int swap = 0; swap < 2; swap++) {
		texts = numbers = clock = command = ids = (struct bytes){.swap = swap};
		put_u32(&texts, 8);
		put(&texts, "host\0\0\0", 8);
		put_u32(&numbers, 4);
		put_u32(&numbers, 3);
		put_u32(&clock, 1);
		put_u32(&clock, 7);
		put_u64(&clock, 1111);
		put_u64(&clock, 2222);
		put_u32(&command, 2);
		put_u32(&command, 4);
		put(&command, "a b", 4);
		put_u32(&command, 4);
		put(&command, "c\0\0", 4);
		for (int i = 0; i < 2; i++) {
			record_begin(&ids, 0, i ? RECORD_MISC_BUILD_ID_SIZE : 0);
			put_u32(&ids, UINT32_MAX);
			put(&ids, "abcdefghijklmnopqrst\x08\0\0", 24);
			put_text(&ids, i ? "/bin/b" : "/bin/a");
			record_end(&ids);
		}
		const struct made_feature features[] = {
			{FEATURE_BUILD_ID, ids.at, ids.size},
			{FEATURE_HOSTNAME, texts.at, texts.size},
			{FEATURE_NRCPUS, numbers.at, numbers.size},
			{FEATURE_CMDLINE, command.at, command.size},
			{FEATURE_CLOCK_DATA, clock.at, clock.size},
			{200, "private", 8},
		};
		made_begin(&bytes, swap);
		made_sample(&bytes, 1);
		made_end_data(&bytes);
		made_features(&bytes, features, 6);
		struct sp_reader *reader = open_bytes(&bytes);
		const struct sp_file_info *info = sp_reader_info(reader);
		ck_assert_str_eq(info->hostname, "host");
		ck_assert_uint_eq(info->cpus_available, 4);
		ck_assert_uint_eq(info->cpus_online, 3);
		ck_assert_str_eq(info->cmdline[0], "a b");
		ck_assert_str_eq(info->cmdline[1], "c");
		ck_assert_ptr_null(info->cmdline[2]);
		ck_assert(info->has_clock);
		ck_assert_uint_eq(info->clock_id, 7);
		ck_assert_uint_eq(info->clock_wall_ns, 1111);
		ck_assert_uint_eq(info->clock_ns, 2222);
		ck_assert_uint_eq(info->build_id_count, 2);
		ck_assert_uint_eq(sp_file_build_id(info, 0)->build_id_size, 20);
		ck_assert_uint_eq(sp_file_build_id(info, 1)->build_id_size, 8);
		ck_assert_str_eq(sp_file_build_id(info, 1)->filename, "/bin/b");
		ck_assert(sp_reader_has_feature(reader, 200));
		ck_assert_str_eq((const char *)reader_feature(reader, 200).bytes, "private");
		ck_assert(!sp_reader_has_feature(reader, 201));
		ck_assert(!sp_reader_has_feature(reader, 1000));
		ck_assert_ptr_null(info->osrelease);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

static void put_event_desc(struct bytes *desc, const struct perf_event_attr *attr, uint32_t count)
{
	static const char *const names[] = {"first", "second", "third"};
	put_u32(desc, count);
	put_u32(desc, 120);
	for (uint32_t i = 0; i < count; i++) {
		put_attr(desc, attr, 120);
		put_u32(desc, 1);
		put_u32(desc, 8);
		char text[8] = {0};
		strcpy(text, names[i]);
		put(desc, text, 8);
		put_u64(desc, MADE_ID + i);
	}
}

/* EVENT_DESC names the events; where the header's are unreadable, it has them all. */
TEST(events_come_from_event_desc_where_the_header_lost_them)
{
	static struct bytes desc;
	for (int lost = 0; lost < 2; lost++) {
		desc = (struct bytes){0};
		put_event_desc(&desc, &made_attr, 2);
		const struct made_feature feature = {FEATURE_EVENT_DESC, desc.at, desc.size};
		made_begin(&bytes, false);
		made_sample(&bytes, 1);
		made_end_data(&bytes);
		made_features(&bytes, &feature, 1);
		if (lost)
			set_u64(&bytes, FILE_ATTRS_AT, 1 << 30);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_uint_eq(sp_reader_event_count(reader), lost ? 2 : 1);
		ck_assert_str_eq(sp_reader_event(reader, 0)->name, "first");
		ck_assert_uint_eq(sp_reader_damage_count(reader), lost);
		if (lost)
			ck_assert_uint_eq(sp_reader_event(reader, 1)->ids[0], MADE_ID + 1);
		ck_assert_uint_eq(read_all(reader).samples, 1);
		sp_reader_free(reader);
	}
}

/* The recorder was killed: no size, no table; the features are in the data. */
TEST(a_killed_recorders_file_is_read_up_to_its_end)
{
	made_begin(&bytes, false);
	record_begin(&bytes, SP_RECORD_HEADER_FEATURE, 0);
	put_u64(&bytes, FEATURE_HOSTNAME);
	put_u32(&bytes, 8);
	put(&bytes, "inline\0", 8);
	put_u32(&bytes, 0);
	record_end(&bytes);
	for (uint64_t i = 0; i < 5; i++)
		made_sample(&bytes, i);
	/* perf sets the bits at its start already. */
	set_u64(&bytes, FILE_FEATURES_AT, 1 << FEATURE_HOSTNAME | 1 << FEATURE_ARCH);
	size_t whole = bytes.size;
	for (size_t cut = 0; cut < 32; cut++) {
		bytes.size = whole - cut;
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_str_eq(sp_reader_info(reader)->hostname, "inline");
		uint64_t from_ns, to_ns;
		ck_assert(is_damaged(reader, 48, "not ended: its recorder was killed"));
		ck_assert(sp_reader_info(reader)->unfinished);
		/* Reports it once. */
		ck_assert_ptr_null(sp_reader_unfinished(reader));
		ck_assert_ptr_eq(reader_unfinished_damage(reader), sp_reader_damage(reader, 0));
		sp_reader_damage_time(reader, 0, &from_ns, &to_ns);
		ck_assert_uint_eq(from_ns, cut ? 1003 : 1004);
		ck_assert_uint_eq(to_ns, 0);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, cut ? 4 : 5);
		ck_assert_uint_eq(counts.errors, 0);
		ck_assert_int_eq(is_damaged(reader, whole - 32, "are not records"), cut != 0);
		sp_reader_free(reader);
	}
}

/* The data section has only zeros. */
TEST(a_file_without_a_record_says_that_the_size_is_missing)
{
	made_begin(&bytes, false);
	for (int more = 0; more < 2; more++) {
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_uint_eq(read_all(reader).samples, 0);
		ck_assert_int_eq(sp_reader_damage_count(reader) > 0, more);
		ck_assert(sp_reader_info(reader)->unfinished);
		ck_assert_int_eq(sp_reader_unfinished(reader) == NULL, more);
		sp_reader_free(reader);
		for (int i = 0; i < 10; i++)
			put_u64(&bytes, 0);
	}
}

/* data.size 0, and yet the table is there: it is found by its looks. */
TEST(a_table_behind_data_of_unknown_size_is_found)
{
	const struct made_feature features[] = {{FEATURE_HOSTNAME, "\4\0\0\0abc", 8},
						{FEATURE_ARCH, "\4\0\0\0def", 8}};
	made_begin(&bytes, HOST_IS_BIG); /* the features are little-endian */
	for (uint64_t i = 0; i < 5; i++)
		made_sample(&bytes, i);
	made_features(&bytes, features, 2);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_str_eq(sp_reader_info(reader)->hostname, "abc");
	ck_assert_str_eq(sp_reader_info(reader)->arch, "def");
	ck_assert_uint_eq(read_all(reader).samples, 5);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
	/* The recorder was not killed. */
	ck_assert(is_damaged(reader, 48, "the size of the data is missing"));
	ck_assert(!sp_reader_info(reader)->unfinished);
	ck_assert_ptr_null(sp_reader_unfinished(reader));
	ck_assert_ptr_null(reader_unfinished_damage(reader));
	sp_reader_free(reader);
}

/* perf record --off-cpu sums waits in samples that it gives such a time. */
TEST(the_time_of_summed_waits_is_not_the_recordings_end)
{
	const uint64_t spans[][2] = {{1000, 2000}, {1000, UINT64_C(0xffffffff00000003)}};
	for (size_t i = 0; i < 2; i++) {
		const struct made_feature feature = {FEATURE_SAMPLE_TIME, spans[i],
						     sizeof(spans[i])};
		made_begin(&bytes, false);
		made_end_data(&bytes);
		made_features(&bytes, &feature, 1);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_uint_eq(sp_reader_info(reader)->first_sample_ns, i ? 0 : 1000);
		ck_assert_uint_eq(sp_reader_info(reader)->last_sample_ns, i ? 0 : 2000);
		sp_reader_free(reader);
	}
}

/* However short a file is, it is an error or damage, never both missing. */
TEST(a_file_cut_anywhere_says_so)
{
	const struct made_feature feature = {FEATURE_HOSTNAME, "\4\0\0\0abc", 8};
	made_begin(&bytes, false);
	for (uint64_t i = 0; i < 5; i++)
		made_sample(&bytes, i);
	made_end_data(&bytes);
	made_features(&bytes, &feature, 1);
	size_t whole = bytes.size, begin = made_data_begin(&bytes);
	for (size_t size = 0; size < whole; size++) {
		bytes.size = size;
		if (size < begin) {
			struct sp_error *error = open_fails(&bytes);
			ck_assert_ptr_nonnull(error);
			ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
			ck_assert_ptr_nonnull(strstr(sp_error_message(error), "data: offset 0x"));
			sp_error_free(error);
			continue;
		}
		struct sp_reader *reader = open_bytes(&bytes);
		size_t samples = (size - begin) / 32;
		ck_assert_uint_eq(read_all(reader).samples, samples < 5 ? samples : 5);
		ck_assert_uint_gt(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

TEST(other_files_are_rejected)
{
	static struct bytes text;
	text = (struct bytes){0};
	put(&text, "PERFILE3 and more of it, long enough for a header, and then some, and some"
		   " more still until it is enough", 100);
	fails_with(SP_ERROR_FORMAT, open_fails(&text));
	struct sp_reader *reader;
	fails_with(SP_ERROR_NOT_FOUND, sp_reader_open(NULL, files_path("absent"), &reader));
	mkdir(files_path("empty"), 0700);
	fails_with(SP_ERROR_NOT_FOUND, sp_reader_open(NULL, files_path("empty"), &reader));
}

TEST(reading_resumes_behind_a_bad_record)
{
	static const uint16_t sizes[] = {0, 7, 33, 65528};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		made_begin(&bytes, false);
		for (uint64_t ip = 0; ip < 20; ip++)
			made_sample(&bytes, ip);
		made_end_data(&bytes);
		size_t bad = made_data_begin(&bytes) + 5 * 32;
		memcpy(bytes.at + bad + 6, &sizes[i], 2);
		struct sp_reader *reader = open_bytes(&bytes);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 19);
		ck_assert_uint_eq(counts.last_ip, 19);
		ck_assert_uint_eq(counts.errors, 1);
		ck_assert(is_damaged(reader, bad, "32 bytes are skipped"));
		/* A second pass finds the same damage, and lists it once. */
		sp_reader_rewind(reader);
		ck_assert_uint_eq(read_all(reader).errors, 1);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
		sp_reader_free(reader);
	}
}

static size_t walk_samples(struct sp_reader *reader)
{
	struct walker *walker;
	size_t samples = 0;
	ok_or_fail(walker_new(reader, reader_extent(reader), &walker));
	for (;;) {
		struct raw_record raw;
		ok_or_fail(walker_next(walker, &raw));
		if (!raw.bytes)
			break;
		samples += raw.type == PERF_RECORD_SAMPLE;
	}
	walker_free(walker);
	return samples;
}

/* The fields of a sample say how long it is: what it would swallow is read. */
TEST(a_sample_that_says_to_be_longer_swallows_nothing)
{
	static const uint16_t sizes[] = {40, 48, 64, 32 + 15 * 32, 32 * 15 + 8, 64 * 32};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		bool swap = i % 2;
		uint16_t size = swap ? __builtin_bswap16(sizes[i]) : sizes[i];
		uint64_t from_ns, to_ns;
		made_begin(&bytes, swap);
		for (uint64_t ip = 0; ip < 100; ip++)
			made_sample(&bytes, ip);
		made_end_data(&bytes);
		size_t bad = made_data_begin(&bytes) + 5 * 32;
		memcpy(bytes.at + bad + 6, &size, 2);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert(!reader_is_exact(reader));
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 100);
		ck_assert_uint_eq(counts.errors, 0);
		ck_assert(is_damaged(reader, bad, "its contents need 32"));
		/* Nothing is missing. */
		sp_reader_damage_time(reader, 0, &from_ns, &to_ns);
		ck_assert_uint_eq(from_ns + to_ns, 0);
		/* Walkers see them, too, from now on. */
		ck_assert(reader_is_exact(reader));
		ck_assert_uint_eq(walk_samples(reader), 100);
		sp_reader_rewind(reader);
		ck_assert_uint_eq(read_all(reader).samples, 100);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
		sp_reader_free(reader);
	}
}

/* The sample_id of made_attr. */
static void put_id(uint64_t time_ns)
{
	put_u32(&bytes, 1);
	put_u32(&bytes, 1);
	put_u64(&bytes, time_ns);
}

/* A record with the length of its contents; without a sample_id if `time_ns` is 0. */
static void put_sideband(uint32_t type, uint64_t time_ns)
{
	record_begin(&bytes, type, 0);
	put_u32(&bytes, 5);
	put_u32(&bytes, 6);
	for (int i = 0; type != PERF_RECORD_COMM && i < 2; i++)
		put_u64(&bytes, 7);
	for (int i = 0; type == PERF_RECORD_MMAP2 && i < 5; i++)
		put_u64(&bytes, 8);
	if (type != PERF_RECORD_FORK)
		put_text(&bytes, "what");
	if (time_ns)
		put_id(time_ns);
	record_end(&bytes);
}

/* Sets the size of the record at `at`. */
static void set_size(size_t at, uint16_t size)
{
	size = bytes.swap ? __builtin_bswap16(size) : size;
	memcpy(bytes.at + at + 6, &size, 2);
}

/* Appends bytes that look like a record's header. */
static void put_header(uint32_t type, uint16_t size)
{
	put_u32(&bytes, type);
	put_u16(&bytes, 0);
	put_u16(&bytes, size);
}

/* The one that is no sample is given as it was; what it would swallow is read. */
static void swallows_nothing(size_t bad, size_t size, uint64_t time_ns)
{
	struct sp_reader *reader = open_bytes(&bytes);
	for (int pass = 0; pass < 2; pass++) {
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 100);
		ck_assert_uint_eq(counts.others, 1);
		ck_assert_uint_eq(counts.errors, 0);
		sp_reader_rewind(reader);
	}
	ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
	ck_assert(is_damaged(reader, bad, "reading continues after the contents"));
	for (;;) {
		const struct sp_record *record;
		ok_or_fail(sp_reader_next(reader, &record));
		if (record->type == PERF_RECORD_SAMPLE)
			continue;
		struct perf_event_header header;
		memcpy(&header, record->bytes, sizeof(header));
		ck_assert_uint_eq(record->size, size);
		ck_assert_uint_eq(bytes.swap ? __builtin_bswap16(header.size) : header.size, size);
		ck_assert_uint_eq(record->id.time_ns, time_ns);
		break;
	}
	/* Code that skips samples does not need their sizes. */
	ck_assert(!reader_is_exact(reader));
	ck_assert_uint_eq(walk_samples(reader), 100);
	sp_reader_free(reader);
}

TEST(a_record_that_says_to_be_longer_swallows_nothing)
{
	static const uint32_t types[] = {PERF_RECORD_COMM, PERF_RECORD_MMAP2, PERF_RECORD_FORK};
	/* By a word, by less than a sample, by samples, by more than one. */
	static const size_t more[] = {8, 24, 32, 64, 72, 50 * 32, 64 * 32 + 16};
	for (size_t i = 0; i < 3 * 7 * 4; i++) {
		size_t type = i % 3, by = more[i / 3 % 7];
		uint64_t time_ns = i / 21 % 2 ? 1005 : 0;
		made_begin(&bytes, i / 42);
		for (uint64_t ip = 0; ip < 5; ip++)
			made_sample(&bytes, ip);
		size_t bad = bytes.size;
		put_sideband(types[type], time_ns);
		size_t size = bytes.size - bad;
		for (uint64_t ip = 5; ip < 100; ip++)
			made_sample(&bytes, ip);
		made_end_data(&bytes);
		set_size(bad, (uint16_t)(size + by));
		swallows_nothing(bad, size, time_ns);
	}
}

/* Bytes that form no chain of records belong to a record of a later kernel. */
TEST(any_bytes_may_follow_a_records_fields)
{
	made_begin(&bytes, false);
	for (uint64_t ip = 0; ip < 20; ip++) {
		record_begin(&bytes, PERF_RECORD_COMM, 0);
		put_u64(&bytes, 1);
		put_text(&bytes, "name");
		/* Bytes that look like one header, or two. */
		put_header(PERF_RECORD_COMM, 0x10);
		put_u64(&bytes, ip);
		if (ip % 2)
			put_header(PERF_RECORD_SAMPLE, 0x20);
		else
			put_u64(&bytes, ip);
		put_id(1000 + ip);
		record_end(&bytes);
	}
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_uint_eq(read_all(reader).others, 20);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

/*
 * The kernel says too much of a KSYMBOL where there are two recorders (record/record_length.h):
 * what is behind it may be a record that was there when the ring was filled before. What is later
 * than the KSYMBOL was swallowed.
 */
TEST(old_bytes_in_the_ring_are_no_record)
{
	for (uint64_t next_ns = 1000; next_ns <= 3000; next_ns += 1000) {
		made_begin(&bytes, false);
		size_t bad = bytes.size;
		record_begin(&bytes, PERF_RECORD_KSYMBOL, 0);
		put_u64(&bytes, 0xffff0000);
		put_u64(&bytes, 64);
		put_text(&bytes, "bpf_prog");
		put_id(2000);
		size_t size = bytes.size - bad;
		/* SWITCH, which has no more than its sample_id. */
		put_header(PERF_RECORD_SWITCH, 24);
		put_id(next_ns);
		record_end(&bytes);
		for (uint64_t ip = 2000; ip < 2005; ip++)
			made_sample(&bytes, ip);
		made_end_data(&bytes);
		struct sp_reader *reader = open_bytes(&bytes);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 5);
		ck_assert_uint_eq(counts.others, next_ns < 2000 ? 1 : 2);
		ck_assert_uint_eq(sp_reader_damage_count(reader), next_ns < 2000 ? 0 : 1);
		sp_reader_free(reader);
		/* If no record begins at its end, the kernel did not write it so. */
		set_size(bad, (uint16_t)(size + 24 + 8));
		reader = open_bytes(&bytes);
		counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 5);
		ck_assert_uint_eq(counts.others, 2);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
		sp_reader_free(reader);
	}
}

/* Bytes behind the fields that are no records are the sample's own. */
TEST(any_bytes_may_follow_a_samples_fields)
{
	made_begin(&bytes, false);
	for (uint64_t ip = 0; ip < 20; ip++) {
		record_begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put_u64(&bytes, ip);
		put_u64(&bytes, 0x100000001);
		put_u64(&bytes, 1000 + ip);
		/* Bytes that look like one header, but not like a chain of them. */
		put_header(PERF_RECORD_SAMPLE, 0x18);
		put_u64(&bytes, ip);
		record_end(&bytes);
	}
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_uint_eq(read_all(reader).samples, 20);
	ck_assert(!reader_is_exact(reader));
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

/* sprof keeps payloads in front of the data until it ends; cut files are not judged. */
TEST(a_recording_that_was_not_ended_is_known)
{
	const struct made_feature features[] = {{FEATURE_HOSTNAME, "\4\0\0\0abc", 8}};
	for (int front = 0; front < 2; front++) {
		made_begin(&bytes, HOST_IS_BIG);
		size_t payload = bytes.size;
		put(&bytes, "\4\0\0\0def", 8);
		set_u64(&bytes, FILE_DATA_AT, bytes.size);
		for (uint64_t i = 0; i < 5; i++)
			made_sample(&bytes, i);
		made_end_data(&bytes);
		size_t table = bytes.size;
		made_features(&bytes, features, 1);
		if (front)
			set_u64(&bytes, table, payload);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_int_eq(sp_reader_info(reader)->unfinished, front);
		ck_assert_int_eq(sp_reader_unfinished(reader) != NULL, front);
		ck_assert_ptr_null(reader_unfinished_damage(reader));
		ck_assert_str_eq(sp_reader_info(reader)->hostname, front ? "def" : "abc");
		ck_assert_uint_eq(sp_reader_last_ns(reader), 1004);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
		bytes.size = table - 32;
		reader = open_bytes(&bytes);
		ck_assert(!sp_reader_info(reader)->unfinished);
		sp_reader_free(reader);
	}
}

/* A user record of an unknown type may have any size: the next record begins at any offset. */
TEST(reading_resumes_behind_a_bad_record_of_odd_size)
{
	for (size_t size = 16; size < 48; size++) {
		made_begin(&bytes, false);
		for (uint64_t ip = 0; ip < 10; ip++)
			made_sample(&bytes, ip);
		size_t bad = bytes.size;
		put_u32(&bytes, 250);
		put_u16(&bytes, 0);
		put_u16(&bytes, 3);
		for (size_t i = 8; i < size; i++)
			put_u8(&bytes, 0xff);
		for (uint64_t ip = 10; ip < 30; ip++)
			made_sample(&bytes, ip);
		made_end_data(&bytes);
		struct sp_reader *reader = open_bytes(&bytes);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 30);
		ck_assert_uint_eq(counts.errors, 1);
		char what[64];
		snprintf(what, sizeof(what), "%zu bytes are skipped", size);
		ck_assert(is_damaged(reader, bad, what));
		sp_reader_free(reader);
	}
}

/* Bytes within the bad record that look like one of simpleperf's, which ends where another begins. */
TEST(reading_does_not_resume_at_a_seeming_record)
{
	made_begin(&bytes, false);
	for (uint64_t ip = 0; ip < 10; ip++)
		made_sample(&bytes, ip);
	put_u32(&bytes, 250);
	put_u16(&bytes, 0);
	put_u16(&bytes, 3);
	for (size_t i = 8; i < 11; i++)
		put_u8(&bytes, 0xff);
	put_u32(&bytes, 0x800a);
	put_u16(&bytes, 0x4408);
	put_u16(&bytes, 29 + 5 * 32);
	for (size_t i = 19; i < 40; i++)
		put_u8(&bytes, 0xff);
	for (uint64_t ip = 10; ip < 30; ip++)
		made_sample(&bytes, ip);
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_uint_eq(read_all(reader).samples, 30);
	sp_reader_free(reader);
}

TEST(a_run_of_garbage_is_passed_over)
{
	made_begin(&bytes, HOST_IS_BIG); /* garbage that is the same on all machines */
	for (uint64_t ip = 0; ip < 1000; ip++)
		made_sample(&bytes, ip);
	made_end_data(&bytes);
	size_t begin = made_data_begin(&bytes);
	srand(1);
	for (size_t i = begin + 3200; i < begin + 9600; i++)
		bytes.at[i] = (uint8_t)rand();
	struct sp_reader *reader = open_bytes(&bytes);
	struct counts counts = read_all(reader);
	ck_assert_uint_ge(counts.samples, 800);
	ck_assert_uint_eq(counts.last_ip, 999);
	ck_assert_uint_gt(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

TEST(damage_is_listed_up_to_a_limit)
{
	made_begin(&bytes, false);
	for (size_t i = 0; i < 3000; i++) {
		/* A sample that is too short for its fields. */
		record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, i);
		record_end(&bytes);
	}
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	struct counts counts = read_all(reader);
	ck_assert_uint_eq(counts.errors, 3000);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 1001);
	ck_assert_str_eq(sp_reader_damage(reader, 1000)->what, "2000 more places are damaged");
	for (size_t i = 1; i < 1000; i++)
		ck_assert_uint_gt(sp_reader_damage(reader, i)->offset,
				  sp_reader_damage(reader, i - 1)->offset);
	sp_reader_free(reader);
}

/* Bytes after a header's size are no record, even if they look like one. */
TEST(payloads_behind_records_are_passed_over)
{
	for (int swap = 0; swap < 2; swap++) {
		made_begin(&bytes, swap);
		made_sample(&bytes, 1);
		record_begin(&bytes, SP_RECORD_AUXTRACE, 0);
		put_u64(&bytes, 32 * 3);
		for (size_t i = 0; i < 4; i++)
			put_u64(&bytes, 0);
		record_end(&bytes);
		for (uint64_t ip = 90; ip < 93; ip++)
			made_sample(&bytes, ip);
		made_sample(&bytes, 2);
		record_begin(&bytes, SP_RECORD_HEADER_TRACING_DATA, 0);
		put_u32(&bytes, 32);
		record_end(&bytes);
		made_sample(&bytes, 94);
		made_sample(&bytes, 3);
		made_end_data(&bytes);
		struct sp_reader *reader = open_bytes(&bytes);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 3);
		ck_assert_uint_eq(counts.others, 2);
		ck_assert_uint_eq(counts.last_ip, 3);
		ck_assert_uint_eq(counts.errors, 0);
		ck_assert(sp_reader_has_feature(reader, FEATURE_TRACING_DATA));
		ck_assert_uint_eq(reader_feature(reader, FEATURE_TRACING_DATA).size, 32);
		sp_reader_free(reader);
	}
}

/* More than the walker's buffer, with records of all sizes across its edge. */
TEST(records_across_the_buffers_edge_are_whole)
{
	const char *path = files_path("data");
	made_begin(&bytes, false);
	FILE *out = fopen(path, "w");
	size_t begin = bytes.size, written = 0;
	fwrite(bytes.at, 1, bytes.size, out);
	for (uint32_t i = 0; i < 3000; i++) {
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, i);
		put_u64(&bytes, 0);
		put_u64(&bytes, 0);
		bytes.size += i * 7919 % 8100 * 8;
		memset(bytes.at + 32, (int)i, bytes.size - 32);
		record_end(&bytes);
		fwrite(bytes.at, 1, bytes.size, out);
		written += bytes.size;
	}
	fseek(out, FILE_DATA_AT + 8, SEEK_SET);
	fwrite(&(uint64_t){written}, 8, 1, out);
	fclose(out);
	ck_assert_uint_gt(written, 50 << 20);
	struct sp_reader *reader;
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	ck_assert_uint_eq(reader_extent(reader).begin, begin);
	for (uint32_t i = 0; i < 3000; i++) {
		const struct sp_record *record;
		ok_or_fail(sp_reader_next(reader, &record));
		ck_assert_uint_eq(record->sample.ip, i);
		ck_assert_uint_eq(record->size, 32 + i * 7919 % 8100 * 8);
		ck_assert_uint_eq((uintptr_t)record->bytes % 8, 0);
		ck_assert(record->size == 32 || record->bytes[record->size - 1] == (uint8_t)i);
	}
	sp_reader_free(reader);
}

struct range {
	struct sp_reader *reader;
	struct reader_extent extent;
	uint64_t sum;
};

static void *walk_range(void *arg)
{
	struct range *range = arg;
	struct walker *walker;
	struct raw_record raw;
	ok_or_fail(walker_new(range->reader, range->extent, &walker));
	for (;;) {
		ok_or_fail(walker_next(walker, &raw));
		if (!raw.bytes)
			break;
		uint64_t ip;
		memcpy(&ip, raw.bytes + 8, 8);
		range->sum += ip;
	}
	reader_add_damage(range->reader, range->extent.begin,
			  error_format("data", range->extent.begin, "noted by its thread"));
	walker_free(walker);
	return NULL;
}

TEST(ranges_are_walked_at_the_same_time)
{
	made_begin(&bytes, false);
	for (uint64_t ip = 0; ip < 4000; ip++)
		made_sample(&bytes, ip);
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	struct reader_extent all = reader_extent(reader);
	struct range ranges[4];
	pthread_t threads[4];
	uint64_t sum = 0;
	for (size_t i = 0; i < 4; i++) {
		uint64_t begin = all.begin + i * 1000 * 32;
		/* The ends are inside a record: it belongs to who has its beginning. */
		uint64_t end = i < 3 ? begin + 999 * 32 + 8 : all.end;
		ranges[i] = (struct range){reader, {begin, end}, 0};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, walk_range, &ranges[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		sum += ranges[i].sum;
	}
	ck_assert_uint_eq(sum, 4000 * 3999 / 2);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(sp_reader_damage(reader, i)->offset, ranges[i].extent.begin);
	sp_reader_free(reader);
}

/* The file loses its end while it is read: an error, and an end. */
TEST(a_file_that_shrinks_is_an_error)
{
	const char *path = files_path("data");
	made_begin(&bytes, false);
	for (uint64_t ip = 0; ip < 4000; ip++)
		made_sample(&bytes, ip);
	made_end_data(&bytes);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_int_eq(truncate(path, (off_t)(made_data_begin(&bytes) + 32 * 10)), 0);
	struct counts counts = read_all(reader);
	ck_assert_uint_eq(counts.samples, 10);
	ck_assert_uint_eq(counts.errors, 1);
	sp_reader_free(reader);
}

TEST(a_stream_is_read_in_both_orders)
{
	for (int swap = 0; swap < 2; swap++) {
		made_begin_stream(&bytes, swap);
		record_begin(&bytes, SP_RECORD_HEADER_FEATURE, 0);
		put_u64(&bytes, FEATURE_HOSTNAME);
		put_u32(&bytes, 8);
		put(&bytes, "stream\0", 8);
		put_u32(&bytes, 0);
		record_end(&bytes);
		record_begin(&bytes, SP_RECORD_EVENT_UPDATE, 0);
		put_u64(&bytes, 2);
		put_u64(&bytes, MADE_ID);
		put_text(&bytes, "renamed");
		record_end(&bytes);
		for (uint64_t ip = 0; ip < 10; ip++)
			made_sample(&bytes, ip);
		struct sp_reader *reader = open_bytes(&bytes);
		const struct sp_file_info *info = sp_reader_info(reader);
		ck_assert_int_eq(info->mode, SP_READER_PIPE);
		ck_assert_int_eq(info->big_endian, swap != HOST_IS_BIG);
		ck_assert_str_eq(info->hostname, "stream");
		ck_assert_str_eq(sp_reader_event(reader, 0)->name, "renamed");
		ck_assert_uint_eq(sp_reader_event(reader, 0)->ids[0], MADE_ID);
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 10);
		ck_assert_uint_eq(counts.others, 3);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

/* Its writer was killed: what there is of the last record is not wrong. */
TEST(a_stream_that_ends_within_a_record_is_unfinished)
{
	for (size_t cut = 1; cut < 32; cut += 3) {
		made_begin_stream(&bytes, HOST_IS_BIG);
		for (uint64_t ip = 0; ip < 10; ip++)
			made_sample(&bytes, ip);
		bytes.size -= cut;
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_uint_eq(read_all(reader).samples, 9);
		ck_assert(sp_reader_info(reader)->unfinished);
		ck_assert_ptr_nonnull(sp_reader_unfinished(reader));
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

/* From a FIFO, in pieces of odd sizes; a whole file too may come through one. */
TEST(a_fifo_is_copied_first)
{
	for (int stream = 0; stream < 2; stream++) {
		const char *path = files_path(stream ? "fifo-stream" : "fifo-file");
		stream ? made_begin_stream(&bytes, false) : made_begin(&bytes, false);
		for (uint64_t ip = 0; ip < 4000; ip++)
			made_sample(&bytes, ip);
		if (!stream)
			made_end_data(&bytes);
		ck_assert_int_eq(mkfifo(path, 0600), 0);
		pid_t writer = fork();
		if (!writer) {
			int fd = open(path, O_WRONLY);
			for (size_t at = 0, part; at < bytes.size; at += part) {
				part = bytes.size - at < 777 ? bytes.size - at : 777;
				if (write(fd, bytes.at + at, part) < 0)
					_exit(1);
			}
			_exit(0);
		}
		struct sp_reader *reader;
		ok_or_fail(sp_reader_open(NULL, path, &reader));
		struct counts counts = read_all(reader);
		ck_assert_uint_eq(counts.samples, 4000);
		ck_assert_uint_eq(counts.errors, 0);
		ck_assert_int_eq(sp_reader_info(reader)->mode,
				 stream ? SP_READER_PIPE : SP_READER_FILE);
		sp_reader_free(reader);
		waitpid(writer, NULL, 0);
	}
}

/* Without a place for the copy the error says what to do. */
TEST(a_stream_needs_room)
{
	const char *path = files_path("fifo");
	struct sp_reader *reader;
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	pid_t writer = fork();
	if (!writer)
		_exit(open(path, O_WRONLY) < 0);
	setenv("TMPDIR", files_path("absent"), 1);
	struct sp_error *error = sp_reader_open(NULL, path, &reader);
	unsetenv("TMPDIR");
	ck_assert(error && strstr(sp_error_message(error), "temporary file"));
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "TMPDIR"));
	sp_error_free(error);
	waitpid(writer, NULL, 0);
}

TEST(a_directorys_files_are_joined)
{
	char path[256];
	const char *directory = files_path("dir");
	mkdir(directory, 0700);
	made_begin(&bytes, false);
	made_sample(&bytes, 0);
	made_end_data(&bytes);
	snprintf(path, sizeof(path), "%s/data", directory);
	files_write(path, bytes.at, bytes.size);
	for (uint64_t part = 0; part < 12; part++) {
		bytes.size = 0;
		made_sample(&bytes, part + 1);
		snprintf(path, sizeof(path), "%s/data.%d", directory, (int)part);
		files_write(path, bytes.at, bytes.size);
	}
	/* Others are not records. */
	snprintf(path, sizeof(path), "%s/data.old", directory);
	files_write(path, "not records", 11);
	struct sp_reader *reader;
	ok_or_fail(sp_reader_open(NULL, directory, &reader));
	ck_assert_int_eq(sp_reader_info(reader)->mode, SP_READER_DIRECTORY);
	struct counts counts = read_all(reader);
	ck_assert_uint_eq(counts.samples, 13);
	/* In the order of their numbers, not of their names. */
	ck_assert_uint_eq(counts.last_ip, 12);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

TEST(old_headers_are_read)
{
	/* 72 bytes, without features; and the magic of before Linux 2.6.39. */
	for (int swap = 0; swap < 2; swap++)
		for (int old_magic = 0; old_magic < 2; old_magic++) {
			made_begin(&bytes, swap);
			made_sample(&bytes, 7);
			made_end_data(&bytes);
			set_u64(&bytes, 8, 72);
			set_u64(&bytes, FILE_FEATURES_AT, UINT64_MAX);
			if (old_magic)
				memcpy(bytes.at, "PERFFILE", 8);
			struct sp_reader *reader = open_bytes(&bytes);
			ck_assert_uint_eq(read_all(reader).last_ip, 7);
			ck_assert(!sp_reader_has_feature(reader, 3));
			ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
			sp_reader_free(reader);
		}
}

/* Sections that overlap many times over must not be loaded many times over. */
TEST(overlapping_sections_do_not_exhaust_memory)
{
	made_begin(&bytes, false);
	for (size_t i = 0; i < 1000; i++)
		made_sample(&bytes, i);
	made_end_data(&bytes);
	size_t table = bytes.size;
	for (size_t i = 0; i < 256; i++) {
		put_u64(&bytes, 0);
		put_u64(&bytes, table);
	}
	for (size_t i = 0; i < 4; i++)
		set_u64(&bytes, FILE_FEATURES_AT + 8 * i, UINT64_MAX);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_uint_eq(read_all(reader).samples, 1000);
	size_t loaded = 0;
	for (unsigned int bit = 0; bit < 256; bit++)
		loaded += reader_feature(reader, bit).size;
	ck_assert_uint_le(loaded, bytes.size);
	ck_assert_uint_gt(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

TEST(events_have_perfs_names)
{
	static const struct {
		struct perf_event_attr attr;
		const char *name;
	} cases[] = {
		{{.type = PERF_TYPE_HARDWARE, .config = 1}, "instructions"},
		{{.type = PERF_TYPE_HARDWARE, .exclude_kernel = 1, .exclude_hv = 1}, "cycles:u"},
		{{.type = PERF_TYPE_HARDWARE, .exclude_user = 1, .precise_ip = 2}, "cycles:kpp"},
		{{.type = PERF_TYPE_SOFTWARE, .config = 9}, "dummy"},
		{{.type = PERF_TYPE_TRACEPOINT, .config = 312}, "tracepoint:312"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x10000}, "L1-dcache-load-misses"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x102}, "LLC-stores"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x203}, "dTLB-prefetches"},
		/* For one kind of CPU of a hybrid machine */
		{{.type = PERF_TYPE_HW_CACHE, .config = UINT64_C(0x400000102)}, "LLC-stores"},
		{{.type = PERF_TYPE_RAW, .config = 0x1a8}, "r1a8"},
		{{.type = PERF_TYPE_BREAKPOINT, .bp_addr = 0x1000, .bp_type = 3}, "mem:0x1000:rw"},
		{{.type = 77, .config = 5}, "type77/config=0x5/"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		made_begin(&bytes, false);
		size_t data = made_data_begin(&bytes);
		bytes.size = data - 128;
		put_attr(&bytes, &cases[i].attr, 112);
		bytes.size = data;
		made_end_data(&bytes);
		struct sp_reader *reader = open_bytes(&bytes);
		ck_assert_str_eq(sp_reader_event(reader, 0)->name, cases[i].name);
		sp_reader_free(reader);
	}
}

static void named_by(const struct made_feature *feature, uint64_t config, const char *wanted)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = config};
	made_begin(&bytes, HOST_IS_BIG);
	size_t data = made_data_begin(&bytes);
	bytes.size = data - 128;
	put_attr(&bytes, &attr, 112);
	bytes.size = data;
	made_end_data(&bytes);
	made_features(&bytes, feature, 1);
	struct sp_reader *reader = open_bytes(&bytes);
	ck_assert_str_eq(sp_reader_event(reader, 0)->name, wanted);
	sp_reader_free(reader);
}

/* Without EVENT_DESC, as simpleperf's files and old streams. */
TEST(tracepoints_have_the_names_of_the_file)
{
	static const char meta[] = "simpleperf_version\0001.2\0event_type_info\0"
				   "cpu-cycles,0,0\nsched:sched_switch,2,47\0last";
	const struct made_feature info = {FEATURE_SIMPLEPERF_META_INFO, meta, sizeof(meta)};
	named_by(&info, 47, "sched:sched_switch");
	named_by(&info, 48, "tracepoint:48");

	static const char format[] = "name: sched_wakeup\nID: 313\nformat:\n";
	struct bytes blob = {.swap = HOST_IS_BIG};
	put(&blob, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	put_u32(&blob, 4096);
	put(&blob, "header_page\0\0\0\0\0\0\0\0", 20);
	put(&blob, "header_event\0\0\0\0\0\0\0\0", 21);
	put_u32(&blob, 0);
	put_u32(&blob, 1);
	put(&blob, "sched", 6);
	put_u32(&blob, 1);
	put_u64(&blob, sizeof(format) - 1);
	put(&blob, format, sizeof(format) - 1);
	const struct made_feature tracing = {FEATURE_TRACING_DATA, blob.at, blob.size};
	named_by(&tracing, 313, "sched:sched_wakeup");
	/* It is cut short behind the format: the name stays. */
	named_by(&tracing, 314, "tracepoint:314");
}
