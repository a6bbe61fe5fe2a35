/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed records, made with zstd itself. */
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>
#include <sprof/private/command.h>
#include "file/reader_io.h"
#include "files.h"
#include "made_file.h"
#include "test.h"

static struct bytes bytes, plain;
static uint8_t packed[1 << 18];

struct counts {
	size_t samples, errors;
	uint64_t last_ip;
};

static struct sp_reader *open_made(void)
{
	struct sp_reader *reader;
	files_write(files_path("data"), bytes.at, bytes.size);
	ok_or_fail(sp_reader_open(NULL, files_path("data"), &reader));
	return reader;
}

/* Samples must have ips one after the other, except where some are lost. */
static struct counts read_samples(struct sp_reader *reader)
{
	struct counts counts = {0};
	for (;;) {
		const struct sp_record *record;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error) {
			sp_error_free(error);
			counts.errors++;
			continue;
		}
		if (!record)
			return counts;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		ck_assert(!counts.samples || record->sample.ip > counts.last_ip);
		counts.last_ip = record->sample.ip;
		counts.samples++;
	}
}

static void make_plain(size_t count, uint64_t first)
{
	plain.swap = bytes.swap;
	plain.size = 0;
	for (uint64_t i = 0; i < count; i++)
		made_sample(&plain, first + i);
}

/* One zstd frame of the plain records; its size. */
static size_t pack(void)
{
	size_t size = ZSTD_compress(packed, sizeof(packed), plain.at, plain.size, 3);
	ck_assert(!ZSTD_isError(size));
	return size;
}

static void put_compressed(uint32_t type, const uint8_t *from, size_t size)
{
	record_begin(&bytes, type, 0);
	if (type == SP_RECORD_COMPRESSED2)
		put_u64(&bytes, size);
	put(&bytes, from, size);
	if (type == SP_RECORD_COMPRESSED2)
		put(&bytes, "\0\0\0\0\0\0\0", -size & 7);
	record_end(&bytes);
}

static void begin(bool swap, bool stream)
{
	if (stream)
		made_begin_stream(&bytes, swap);
	else
		made_begin(&bytes, swap);
}

/*
 * Pieces of any size: records straddle them, also their headers, and other
 * records lie between them.
 */
TEST(pieces_of_any_size_are_joined)
{
	static const size_t pieces[] = {1, 2, 3, 7, 31, 64, 100, 1000};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		for (int kind = 0; kind < 8; kind++) {
			bool swap = kind & 1, stream = kind & 2;
			uint32_t type = kind & 4 ? SP_RECORD_COMPRESSED2 : SP_RECORD_COMPRESSED;
			begin(swap, stream);
			make_plain(100, 0);
			size_t size = pack();
			for (size_t at = 0; at < size; at += pieces[i]) {
				size_t left = size - at;
				put_compressed(type, packed + at, left < pieces[i] ? left : pieces[i]);
				record_begin(&bytes, SP_RECORD_FINISHED_ROUND, 0);
				record_end(&bytes);
			}
			made_sample(&bytes, 100);
			if (!stream)
				made_end_data(&bytes);
			struct sp_reader *reader = open_made();
			struct counts counts = read_samples(reader);
			ck_assert_uint_eq(counts.samples, 101);
			ck_assert_uint_eq(counts.errors, 0);
			ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
			ck_assert(sp_reader_info(reader)->compressed);
			/* The extent is flat: a walker may begin at any record of it. */
			ck_assert_uint_eq(reader_extent(reader).begin, 0);
			sp_reader_free(reader);
		}
}

/* A piece that ends inside a record; a flush must not lose it. */
TEST(a_record_may_straddle_frames)
{
	begin(false, false);
	make_plain(10, 0);
	size_t cut = 5 * 32 + 3;
	size_t size = ZSTD_compress(packed, sizeof(packed), plain.at, cut, 3);
	put_compressed(SP_RECORD_COMPRESSED, packed, size);
	made_sample(&bytes, 0);
	size = ZSTD_compress(packed, sizeof(packed), plain.at + cut, plain.size - cut, 3);
	bytes.size -= 32;
	put_compressed(SP_RECORD_COMPRESSED, packed, size);
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	ck_assert_uint_eq(read_samples(reader).samples, 10);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}

/* Output of perf 6.16 for a piece with a padded size of 65,536 or more. */
static void put_wrapped(const uint8_t *from, size_t size)
{
	size_t begin_at = bytes.size, whole = 16;
	record_begin(&bytes, SP_RECORD_COMPRESSED2, 0);
	put_u64(&bytes, 0);
	for (bool first = true; size; first = false) {
		size_t part = size < 65519 ? size : 65519;
		if (!first) {
			put_u32(&bytes, SP_RECORD_COMPRESSED2);
			put_u16(&bytes, 0x5a5a);
			put_u16(&bytes, (uint16_t)(16 + part));
			put_u64(&bytes, 0x5a5a5a5a5a5a5a5a);
			whole += 16;
		}
		put(&bytes, from, part);
		whole += part;
		from += part;
		size -= part;
	}
	set_u64(&bytes, begin_at + 8, whole - 16);
	size_t end = bytes.size;
	bytes.size = begin_at + 6;
	put_u16(&bytes, (uint16_t)((whole + 7) & ~(size_t)7));
	bytes.size = end;
}

/* Noise, so that it does not get smaller, in as many samples as give `size` packed. */
static size_t pack_noise(size_t wanted)
{
	plain.swap = bytes.swap;
	plain.size = 0;
	srand(2);
	size_t size = 0;
	for (uint64_t i = 0; plain.size + 4096 < sizeof(plain.at); i++) {
		record_begin(&plain, PERF_RECORD_SAMPLE, 0);
		put_u64(&plain, i);
		put_u64(&plain, 0);
		put_u64(&plain, 0);
		while (plain.size < plain.record + 2048)
			put_u8(&plain, (uint8_t)rand());
		record_end(&plain);
		size = pack();
		if (size >= wanted)
			break;
	}
	return size;
}

TEST(records_with_a_wrapped_size_are_read)
{
	for (size_t wanted = 65528 - 16; wanted < 200000; wanted += 44000) {
		begin(false, false);
		size_t size = pack_noise(wanted), samples = plain.size / 2048;
		/* The tail is a piece of its own, so that the first has the very size. */
		put_wrapped(packed, wanted);
		put_compressed(SP_RECORD_COMPRESSED2, packed + wanted, size - wanted);
		made_sample(&bytes, 1000000);
		made_end_data(&bytes);
		struct sp_reader *reader = open_made();
		struct counts counts = read_samples(reader);
		ck_assert_uint_eq(counts.samples, samples + 1);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
		sp_reader_free(reader);
	}
}

/* Bytes that are wrong cost the rest of their frame, and no more. */
TEST(a_broken_frame_costs_itself)
{
	begin(false, false);
	for (uint64_t frame = 0; frame < 3; frame++) {
		make_plain(100, frame * 100);
		size_t size = pack();
		if (frame == 1)
			memset(packed + 6, 0xff, 8);
		put_compressed(SP_RECORD_COMPRESSED, packed, size / 2);
		put_compressed(SP_RECORD_COMPRESSED, packed + size / 2, size - size / 2);
	}
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	struct counts counts = read_samples(reader);
	ck_assert_uint_eq(counts.samples, 200);
	ck_assert_uint_eq(counts.last_ip, 299);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 2);
	ck_assert(strstr(sp_reader_damage(reader, 0)->what, "decompress") ||
		  strstr(sp_reader_damage(reader, 1)->what, "decompress"));
	/* Times are 1000 and the ip: of both places what is missing is between 1099 and 1200. */
	for (size_t i = 0; i < 2; i++) {
		uint64_t from_ns, to_ns;
		sp_reader_damage_time(reader, i, &from_ns, &to_ns);
		ck_assert_uint_eq(from_ns, 1099);
		ck_assert_uint_eq(to_ns, 1200);
	}
	ck_assert_uint_eq(sp_reader_last_ns(reader), 1299);
	sp_reader_free(reader);
}

TEST(data_missing_at_either_end_has_one_time)
{
	for (uint64_t broken = 0; broken < 2; broken++) {
		begin(false, false);
		for (uint64_t frame = 0; frame < 2; frame++) {
			make_plain(100, frame * 100);
			size_t size = pack();
			if (frame == broken)
				memset(packed + 6, 0xff, 8);
			put_compressed(SP_RECORD_COMPRESSED, packed, size);
		}
		made_end_data(&bytes);
		struct sp_reader *reader = open_made();
		uint64_t from_ns, to_ns;
		ck_assert_uint_eq(read_samples(reader).samples, 100);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
		sp_reader_damage_time(reader, 0, &from_ns, &to_ns);
		ck_assert_uint_eq(from_ns, broken ? 1099 : 0);
		ck_assert_uint_eq(to_ns, broken ? 0 : 1100);
		sp_reader_free(reader);
	}
}

/* A record that is damaged within what was compressed. */
TEST(damage_of_inflated_records_has_its_time)
{
	begin(false, false);
	make_plain(100, 0);
	memset(plain.at + 50 * 32, 0, 32);
	put_compressed(SP_RECORD_COMPRESSED, packed, pack());
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	uint64_t from_ns, to_ns;
	ck_assert_uint_eq(read_samples(reader).samples, 99);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
	sp_reader_damage_time(reader, 0, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns, 1049);
	ck_assert_uint_eq(to_ns, 1051);
	sp_reader_free(reader);
}

TEST(a_frame_cut_short_gives_what_it_has)
{
	begin(false, false);
	make_plain(4000, 0);
	size_t size = pack();
	put_compressed(SP_RECORD_COMPRESSED, packed, size - 1);
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	struct counts counts = read_samples(reader);
	ck_assert_uint_le(counts.samples, 4000);
	/* An early end is damage, unless only the frame's end is missing. */
	ck_assert(counts.samples == 4000 || sp_reader_damage_count(reader));
	sp_reader_free(reader);
}

/* The COMM's size includes the compressed record after it. */
TEST(a_record_that_says_to_be_longer_swallows_no_compressed_one)
{
	for (int i = 0; i < 4; i++) {
		begin(i / 2, i % 2);
		record_begin(&bytes, PERF_RECORD_COMM, 0);
		put_u64(&bytes, 1);
		put_text(&bytes, "name");
		record_end(&bytes);
		size_t bad = bytes.record;
		make_plain(100, 0);
		size_t size = pack();
		put_compressed(SP_RECORD_COMPRESSED2, packed, size);
		record_begin(&bytes, SP_RECORD_FINISHED_ROUND, 0);
		record_end(&bytes);
		uint16_t all = (uint16_t)(bytes.size - bad);
		if (i % 2 == 0)
			made_end_data(&bytes);
		all = bytes.swap ? __builtin_bswap16(all) : all;
		memcpy(bytes.at + bad + 6, &all, 2);
		struct sp_reader *reader = open_made();
		ck_assert_uint_eq(read_samples(reader).samples, 100);
		ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
		ck_assert_uint_eq(sp_reader_damage(reader, 0)->offset, bad);
		sp_reader_free(reader);
	}
}

TEST(compressed_data_inside_compressed_data_is_left_out)
{
	begin(false, false);
	plain = (struct bytes){0};
	made_sample(&plain, 1);
	record_begin(&plain, SP_RECORD_COMPRESSED, 0);
	put(&plain, "whatever", 8);
	record_end(&plain);
	made_sample(&plain, 2);
	put_compressed(SP_RECORD_COMPRESSED, packed, pack());
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	ck_assert_uint_eq(read_samples(reader).samples, 2);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 1);
	sp_reader_free(reader);
}

/* 4 GiB of zeros in a few hundred KiB: given up early, and said. */
TEST(a_bomb_does_not_fill_the_disk)
{
	static uint8_t zeros[1 << 20];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {zeros, sizeof(zeros), 0};
	begin(false, false);
	/* Samples of 32 KiB, so that they count as records. */
	for (size_t at = 0; at < sizeof(zeros); at += 32768) {
		struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 32768};
		memcpy(zeros + at, &header, sizeof(header));
	}
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 21);
	ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
	ZSTD_outBuffer out = {packed, sizeof(packed), 0};
	for (size_t i = 0; i < 4096 && out.pos < 60000; i++) {
		in.pos = 0;
		while (in.pos < in.size)
			ck_assert(!ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
	}
	while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end))
		ck_assert_uint_lt(out.pos, out.size);
	ZSTD_freeCCtx(context);
	for (size_t at = 0; at < out.pos; at += 60000)
		put_compressed(SP_RECORD_COMPRESSED, packed + at,
			       out.pos - at < 60000 ? out.pos - at : 60000);
	made_end_data(&bytes);
	struct sp_reader *reader = open_made();
	struct reader_extent extent = reader_extent(reader);
	ck_assert_uint_lt(extent.end, (UINT64_C(17) << 20) + out.pos * 4096);
	ck_assert_uint_lt(extent.end, UINT64_C(4) << 30);
	bool said = false;
	for (size_t i = 0; i < sp_reader_damage_count(reader); i++)
		said = said || strstr(sp_reader_damage(reader, i)->what, "4096 times");
	ck_assert(said);
	sp_reader_free(reader);
}

TEST(each_file_of_a_directory_has_its_own_stream)
{
	char path[256];
	const char *directory = files_path("dir");
	mkdir(directory, 0700);
	begin(false, false);
	made_sample(&bytes, 0);
	made_end_data(&bytes);
	snprintf(path, sizeof(path), "%s/data", directory);
	files_write(path, bytes.at, bytes.size);
	for (uint64_t part = 0; part < 3; part++) {
		bytes.size = 0;
		make_plain(50, 1 + part * 50);
		put_compressed(SP_RECORD_COMPRESSED2, packed, pack());
		snprintf(path, sizeof(path), "%s/data.%d", directory, (int)part);
		files_write(path, bytes.at, bytes.size);
	}
	struct sp_reader *reader;
	ok_or_fail(sp_reader_open(NULL, directory, &reader));
	ck_assert_uint_eq(read_samples(reader).samples, 151);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
}
