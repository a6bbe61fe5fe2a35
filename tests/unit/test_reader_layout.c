/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the same contents with their parts in any order, and attrs of any size. */
#include <stdio.h>
#include "file/file_format.h"
#include "file/reader_io.h"
#include "files.h"
#include "made_file.h"
#include "reader/feature_payloads.h"
#include "test.h"

#define SAMPLES 50

static struct bytes bytes;

/* Sizes of the kernel's struct in each version, and possible later ones. */
static const uint32_t attr_sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 200, 1024};

#define ATTR_SIZES (sizeof(attr_sizes) / sizeof(*attr_sizes))

/* Facts that the parts share. */
struct layout {
	size_t attrs, ids, data, data_end, payload;
	uint32_t attr_size;
};

static void put_attrs(struct layout *layout)
{
	layout->ids = bytes.size;
	put_u64(&bytes, MADE_ID);
	layout->attrs = bytes.size;
	put_attr(&bytes, &made_attr, layout->attr_size);
	put_u64(&bytes, layout->ids);
	put_u64(&bytes, 8);
}

/* With room for a table of one section behind it. */
static void put_data(struct layout *layout)
{
	layout->data = bytes.size;
	for (uint64_t ip = 1; ip <= SAMPLES; ip++)
		made_sample(&bytes, ip);
	layout->data_end = bytes.size;
	put_u64(&bytes, 0);
	put_u64(&bytes, 0);
}

static void put_payload(struct layout *layout)
{
	layout->payload = bytes.size;
	put_u32(&bytes, 64);
	put(&bytes, "the-host", 9);
	for (size_t i = 9; i < 68; i++)
		put_u8(&bytes, 0);
}

/* `order` of 'a'ttrs, 'd'ata and 'f'eature. */
static void make(struct layout *layout, const char *order, bool swap, uint32_t attr_size)
{
	*layout = (struct layout){.attr_size = attr_size};
	bytes.swap = swap;
	bytes.size = 0;
	put_file_header(&bytes);
	for (; *order; order++) {
		if (*order == 'a')
			put_attrs(layout);
		else if (*order == 'd')
			put_data(layout);
		else
			put_payload(layout);
	}
	set_u64(&bytes, FILE_ATTR_SIZE_AT, attr_size + 16);
	set_u64(&bytes, FILE_ATTRS_AT, layout->attrs);
	set_u64(&bytes, FILE_ATTRS_AT + 8, attr_size + 16);
	set_u64(&bytes, FILE_DATA_AT, layout->data);
	set_u64(&bytes, FILE_DATA_AT + 8, layout->data_end - layout->data);
	set_u64(&bytes, FILE_FEATURES_AT, UINT64_C(1) << FEATURE_HOSTNAME);
	set_u64(&bytes, layout->data_end, layout->payload);
	set_u64(&bytes, layout->data_end + 8, 68);
}

static struct sp_reader *open_made(void)
{
	struct sp_reader *reader;
	files_write(files_path("data"), bytes.at, bytes.size);
	ok_or_fail(sp_reader_open(NULL, files_path("data"), &reader));
	return reader;
}

/* All of it, and without a word. */
static void is_whole(struct sp_reader *reader, const char *what)
{
	const struct sp_record *record;
	uint64_t ip = 0;
	for (;;) {
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error)
			ck_abort_msg("%s: %s", what, sp_error_message(error));
		if (!record)
			break;
		if (record->type == PERF_RECORD_SAMPLE && record->sample.ip != ++ip)
			ck_abort_msg("%s: another sample", what);
	}
	if (ip != SAMPLES || sp_reader_damage_count(reader) || sp_reader_event_count(reader) != 1)
		ck_abort_msg("%s: %llu samples, %zu damaged, %zu events", what, (unsigned long long)ip,
			     sp_reader_damage_count(reader), sp_reader_event_count(reader));
	const struct sp_event *event = sp_reader_event(reader, 0);
	if (event->attr.sample_type != made_attr.sample_type || !event->attr.sample_id_all ||
	    event->id_count != 1 || event->ids[0] != MADE_ID)
		ck_abort_msg("%s: another event", what);
}

TEST(parts_may_have_any_order)
{
	static const char *const orders[] = {"adf", "afd", "daf", "dfa", "fad", "fda"};
	struct layout layout;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		for (size_t j = 0; j < 2 * ATTR_SIZES; j++) {
			char what[64];
			snprintf(what, sizeof(what), "%s, attr of %u", orders[i], attr_sizes[j / 2]);
			make(&layout, orders[i], j % 2, attr_sizes[j / 2]);
			struct sp_reader *reader = open_made();
			is_whole(reader, what);
			ck_assert_pstr_eq(sp_reader_info(reader)->hostname, "the-host");
			sp_reader_free(reader);
		}
}

/* perf 6.12 writes the attrs last: of a recorder that was killed they are behind the data. */
TEST(attrs_behind_data_of_unknown_size_end_it)
{
	struct layout layout;
	for (int swap = 0; swap < 2; swap++) {
		make(&layout, "da", swap, 136);
		/* No table between the two. */
		memmove(bytes.at + layout.data_end, bytes.at + layout.ids, bytes.size - layout.ids);
		bytes.size -= layout.ids - layout.data_end;
		size_t moved = layout.ids - layout.data_end;
		set_u64(&bytes, FILE_ATTRS_AT, layout.attrs - moved);
		set_u64(&bytes, layout.attrs - moved + 136, layout.ids - moved);
		set_u64(&bytes, FILE_DATA_AT + 8, 0);
		set_u64(&bytes, FILE_FEATURES_AT, 0);
		struct sp_reader *reader = open_made();
		const struct sp_record *record;
		size_t samples = 0;
		for (;;) {
			ok_or_fail(sp_reader_next(reader, &record));
			if (!record)
				break;
			samples += record->type == PERF_RECORD_SAMPLE;
		}
		ck_assert_uint_eq(samples, SAMPLES);
		/* The missing size is reported. */
		ck_assert_uint_ge(sp_reader_damage_count(reader), 1);
		sp_reader_free(reader);
	}
}

/* In a stream the attr is a record's, with all ids behind it. */
TEST(a_streams_attr_may_have_any_size)
{
	for (size_t j = 0; j < 2 * ATTR_SIZES; j++) {
		char what[64];
		bytes.swap = j % 2;
		bytes.size = 0;
		put_u64(&bytes, UINT64_C(0x32454c4946524550));
		put_u64(&bytes, 16);
		record_begin(&bytes, 64, 0);
		put_attr(&bytes, &made_attr, attr_sizes[j / 2]);
		put_u64(&bytes, MADE_ID);
		record_end(&bytes);
		for (uint64_t ip = 1; ip <= SAMPLES; ip++)
			made_sample(&bytes, ip);
		snprintf(what, sizeof(what), "a stream, attr of %u", attr_sizes[j / 2]);
		struct sp_reader *reader = open_made();
		is_whole(reader, what);
		sp_reader_free(reader);
	}
}

/* simpleperf's own records and features are passed over, and nothing is wrong with them. */
TEST(private_records_and_features_are_passed_over)
{
	for (int swap = 0; swap < 2; swap++) {
		made_begin(&bytes, swap);
		for (uint64_t ip = 1; ip <= SAMPLES; ip++) {
			made_sample(&bytes, ip);
			record_begin(&bytes, (uint32_t)(32768 + ip % 17), 0);
			/* Their sizes are of any number of bytes. */
			for (uint64_t i = 0; i < ip; i++)
				put_u8(&bytes, (uint8_t)i);
			record_end(&bytes);
		}
		made_end_data(&bytes);
		const struct made_feature features[] = {{128, "a file", 6}, {129, "meta", 4}, {132, "", 0}};
		made_features(&bytes, features, 3);
		struct sp_reader *reader = open_made();
		is_whole(reader, "private records");
		ck_assert_uint_eq(reader_feature(reader, 128).size, 6);
		ck_assert(sp_reader_has_feature(reader, 132));
		sp_reader_free(reader);
	}
}
