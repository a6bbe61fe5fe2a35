/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of a perf.data file, 104 bytes in the writer's byte order:
 *
 *	 0  magic        "PERFILE2" as a number; "PERFFILE" before Linux 2.6.39
 *	 8  size         104; 72 without the feature bits
 *	16  attr_size    of an entry of attrs: the attr, and {offset, size} of its ids
 *	24  attrs        {offset, size}
 *	40  data         {offset, size}
 *	56  event_types  {offset, size}; unused
 *	72  features     256 bits
 *
 * perf writes data.size = 0 first and the true one at the end. A 0 therefore means that the
 * recorder was killed: records are read up to the end of the file.
 */
#include "reader/event_name.h"
#include "reader/header.h"

#include <sys/stat.h>
#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/feature_payloads.h"
#include "record/attr.h"
#include "record/types.h"
#include "walk/walker.h"

#define HEADER_SIZE 104
#define HEADER_SIZE_NO_FEATURES 72
#define SECTION_ENTRY_SIZE 16

/* Limit of a payload's size, far above real ones. A sparse file may have a huge hole as payload. */
#define FEATURE_SIZE_MAX (UINT64_C(1) << 30)

static struct sp_error *read_feature(struct sp_reader *reader, unsigned int bit,
				     const struct file_section *section, uint64_t entry_offset)
{
	const uint8_t *bytes = NULL;
	if (section->offset > reader->file_size ||
	    section->size > reader->file_size - section->offset ||
	    section->size > FEATURE_SIZE_MAX) {
		reader_add_damage_text(
			reader, entry_offset,
			"feature %u should be %llu bytes at offset 0x%llx, but the file "
			"has %llu",
			bit, (unsigned long long)section->size, (unsigned long long)section->offset,
			(unsigned long long)reader->file_size);
		return NULL;
	}
	struct sp_error *error = reader_load(reader, section->offset, section->size, &bytes);
	if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
		reader_add_file_damage(reader, section->offset, error);
		return NULL;
	}
	if (error)
		return error;
	features_put(reader, bit, (struct sp_bytes){bytes, section->size}, section->offset);
	if (section->offset + section->size > reader->features_end)
		reader->features_end = section->offset + section->size;
	reader->features_in_front |= section->size && section->offset < reader->extent.begin;
	reader->features_behind |= section->size && section->offset >= reader->extent.begin;
	return NULL;
}

/*
 * Counts the table's entries that cannot be right: their payload lies beyond the file, in the file
 * header, in the table itself, or in the data (from `begin` on).
 */
static size_t count_impossible(const struct sp_reader *reader, struct cursor cursor, size_t count,
			       uint64_t begin)
{
	uint64_t behind = cursor_offset(&cursor) + count * SECTION_ENTRY_SIZE;
	struct file_section section;
	size_t impossible = 0;
	for (size_t i = 0; i < count; i++) {
		if (!cursor_u64(&cursor, &section.offset) || !cursor_u64(&cursor, &section.size))
			return impossible + (count - i);
		bool in_file = section.offset <= reader->file_size &&
			       section.size <= reader->file_size - section.offset;
		bool in_header = section.size && section.offset < HEADER_SIZE_NO_FEATURES;
		bool in_data = section.offset >= begin && section.offset < behind;
		impossible += !in_file || in_header || in_data;
	}
	return impossible;
}

static size_t count_bits(const struct feature_bits *bits)
{
	size_t count = 0;
	for (size_t i = 0; i < FILE_FEATURE_BITS / 64; i++)
		count += (size_t)__builtin_popcountll(bits->words[i]);
	return count;
}

/* Reads the table. *count_ret is the number of its entries that are within the file. */
static struct sp_error *load_table(struct sp_reader *reader, const struct header_info *header,
				   struct cursor *ret, size_t *count_ret)
{
	uint64_t table = header->data.offset + header->data.size;
	size_t count = count_bits(&header->features);
	uint64_t room = (reader->file_size - table) / SECTION_ENTRY_SIZE;
	size_t there = room < count ? (size_t)room : count;
	const uint8_t *bytes;
	if (there < count && !header->data_ends_unknown)
		reader_add_damage_text(
			reader, table,
			"the table of features should have %zu entries, and the file ends "
			"after %zu",
			count, there);
	TRY(reader_load(reader, table, there * SECTION_ENTRY_SIZE, &bytes));
	*ret = reader_cursor(reader, bytes, there * SECTION_ENTRY_SIZE, table);
	*count_ret = there;
	if (header->data_ends_unknown &&
	    (there < count || count_impossible(reader, *ret, count, header->data.offset))) {
		*count_ret = 0;
		if (reader->file_size > table)
			reader_add_damage_text(
				reader, table,
				"the %llu bytes behind the last whole record are not records",
				(unsigned long long)(reader->file_size - table));
	}
	return NULL;
}

/*
 * Counts the entries that cannot be right if the feature table follows `data_size` bytes of data.
 * *count_ret is the number of entries within the file.
 */
static size_t count_impossible_after(const struct sp_reader *reader,
				     const struct header_info *header, uint64_t data_size,
				     size_t *count_ret)
{
	uint8_t bytes[FILE_FEATURE_BITS * SECTION_ENTRY_SIZE];
	uint64_t table = header->data.offset + data_size;
	size_t count = count_bits(&header->features), got;
	*count_ret = 0;
	if (io_pread(reader->fd, bytes, count * SECTION_ENTRY_SIZE, table, &got))
		return 0;
	*count_ret = got / SECTION_ENTRY_SIZE;
	struct cursor cursor = reader_cursor(reader, bytes, got, table);
	return count_impossible(reader, cursor, *count_ret, header->data.offset);
}

struct sp_error *feature_table_read(struct sp_reader *reader, const struct header_info *header)
{
	struct cursor cursor;
	size_t left;
	struct sp_error *error = load_table(reader, header, &cursor, &left);
	for (unsigned int bit = 0; !error && bit < FILE_FEATURE_BITS && left; bit++) {
		struct file_section section;
		uint64_t entry_offset = cursor_offset(&cursor);
		if (!feature_bits_have(&header->features, bit))
			continue;
		left--;
		if (!cursor_u64(&cursor, &section.offset) || !cursor_u64(&cursor, &section.size))
			break;
		error = read_feature(reader, bit, &section, entry_offset);
	}
	return error;
}

#define IDS_SECTION_SIZE 16

static bool section_fits(const struct sp_reader *reader, const struct file_section *section)
{
	return section->offset <= reader->file_size &&
	       section->size <= reader->file_size - section->offset;
}

static bool read_section(struct cursor *cursor, struct file_section *ret)
{
	return cursor_u64(cursor, &ret->offset) && cursor_u64(cursor, &ret->size);
}

/*
 * Reads the feature bits. perf writes them as unsigned longs, so a 32-bit big-endian host writes words
 * of u32. The bit of HOSTNAME, which all recorders set, shows the size of the words.
 */
static void read_feature_bits(struct cursor *cursor, bool big_endian, struct feature_bits *ret)
{
	struct cursor at = *cursor;
	uint64_t *words = ret->words, hostname = UINT64_C(1) << FEATURE_HOSTNAME;
	for (size_t i = 0; i < FILE_FEATURE_BITS / 64; i++)
		if (!cursor_u64(&at, &words[i]))
			words[i] = 0;
	if (big_endian && !(words[0] & hostname) && (words[0] >> 32 & hostname))
		for (size_t i = 0; i < FILE_FEATURE_BITS / 64; i++)
			words[i] = words[i] >> 32 | words[i] << 32;
}

/*
 * Guesses the byte order of a file with the old magic, which has no order, from the size of an attr's
 * entry.
 */
static void guess_v1_order(struct sp_reader *reader, const uint8_t *bytes)
{
	struct cursor cursor = reader_cursor(reader, bytes, HEADER_SIZE_NO_FEATURES, 0);
	uint64_t attr_size = 0;
	if (cursor_skip(&cursor, 16) && cursor_u64(&cursor, &attr_size))
		reader_set_swap(reader, attr_size > UINT32_MAX);
}

static struct sp_error *parse(struct sp_reader *reader, struct cursor *cursor,
			      struct header_info *header)
{
	struct file_section event_types;
	if (!cursor_skip(cursor, 8) || !cursor_u64(cursor, &header->size) ||
	    !cursor_u64(cursor, &header->attr_size) || !read_section(cursor, &header->attrs) ||
	    !read_section(cursor, &header->data) || !read_section(cursor, &event_types))
		return cursor_error(cursor, "the file header is cut short");
	if (header->size != HEADER_SIZE && header->size != HEADER_SIZE_NO_FEATURES)
		reader_add_damage_text(reader, 8, "the header says that it has %llu bytes: read as one of %d",
				       (unsigned long long)header->size, HEADER_SIZE);
	if (header->size != HEADER_SIZE_NO_FEATURES)
		read_feature_bits(cursor, reader->info.big_endian, &header->features);
	return NULL;
}

/* Limits the data to the file, and chooses where it ends if the header does not state its size. */
static struct sp_error *bound_data(struct sp_reader *reader, struct header_info *header)
{
	struct file_section *data = &header->data;
	if (!section_fits(reader, data)) {
		/* Updates the file's size, because a recorder may still write to the file. */
		struct stat status;
		if (fstat(reader->fd, &status) == 0 && (uint64_t)status.st_size > reader->file_size)
			reader->file_size = status.st_size;
	}
	if (data->offset < HEADER_SIZE_NO_FEATURES || data->offset > reader->file_size)
		return error_format(reader->path, 40,
				    "data offset 0x%llx is beyond the end of the file (%llu bytes)",
				    (unsigned long long)data->offset,
				    (unsigned long long)reader->file_size);
	uint64_t room = reader->file_size - data->offset;
	if (!data->size) {
		header->data_ends_unknown = header->data_never_ended = true;
		data->size = room;
		/* Since perf 6.12, the attrs may come after the data. */
		if (header->attrs.offset > data->offset && section_fits(reader, &header->attrs))
			data->size = header->attrs.offset - data->offset;
	} else if (data->size > room) {
		reader_add_damage_text(reader, 48,
				       "the data should have %llu bytes, but the file ends after %llu",
				       (unsigned long long)data->size, (unsigned long long)room);
		reader->cut_at = 48;
		data->size = room;
		header->features = (struct feature_bits){0};
	}
	return NULL;
}

/* Finds the end of the data: reads records, past damage, until the bytes make no sense. */
static struct sp_error *find_data_end(struct sp_reader *reader, struct header_info *header,
				      uint64_t *size_ret)
{
	struct reader_extent extent = {header->data.offset, reader->file_size};
	struct walker *walker;
	if (header->data_ends_unknown)
		extent.end = header->data.offset + header->data.size;
	const struct walker_file file = {reader->fd, reader->path, reader->swap, extent.end};
	TRY(walker_new_at(&file, extent, &walker));
	uint64_t end = extent.begin;
	struct sp_error *error;
	walker_check_sizes(walker, &reader->lengths, NULL);
	for (;;) {
		struct raw_record raw = {0};
		error = walker_next(walker, &raw);
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			break;
		bool known = sp_record_type_name(raw.type) || raw.type >= RECORD_SIMPLEPERF_FIRST;
		if (!error && (!raw.bytes || !known))
			break;
		if (!error)
			end = walker_offset(walker);
		/* The damage is listed later, when the records are read. */
		sp_error_free(error);
	}
	walker_free(walker);
	if (!error)
		*size_ret = end - extent.begin;
	return error;
}

/*
 * Corrects a size of the data that is too small or ends within a record: no feature table is at its
 * end. Records have words that could be entries. One impossible entry suffices if a table is where
 * the records end, and more than half of them otherwise.
 */
static struct sp_error *correct_data_size(struct sp_reader *reader, struct header_info *header)
{
	uint64_t size;
	size_t count, end_count;
	size_t impossible = count_impossible_after(reader, header, header->data.size, &count);
	if (!impossible)
		return NULL;
	TRY(find_data_end(reader, header, &size));
	if (size <= header->data.size)
		return NULL;
	if (impossible * 2 <= count &&
	    (count_impossible_after(reader, header, size, &end_count) || end_count < count))
		return NULL;
	reader_add_damage_text(reader, 48,
			       "the data should end after %llu bytes, where no table of features is: reading "
			       "records as far as they go", (unsigned long long)header->data.size);
	header->data.size = size;
	header->data_ends_unknown = true;
	return NULL;
}

struct sp_error *header_read(struct sp_reader *reader, struct header_info *ret)
{
	uint8_t *bytes = reader->header;
	size_t got = 0;
	struct header_info header = {0};
	int errnum = io_pread(reader->fd, bytes, sizeof(reader->header), 0, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->path);
	if (!memcmp(bytes, FILE_MAGIC_V1, 8))
		guess_v1_order(reader, bytes);
	struct cursor cursor = reader_cursor(reader, bytes, got, 0);
	TRY(parse(reader, &cursor, &header));
	TRY(bound_data(reader, &header));
	TRY(header.data_ends_unknown ? find_data_end(reader, &header, &header.data.size)
				     : correct_data_size(reader, &header));
	*ret = header;
	return NULL;
}

bool header_has_changed(const struct sp_reader *reader)
{
	uint8_t bytes[sizeof(reader->header)];
	size_t got;
	return *reader->header && !io_pread(reader->fd, bytes, sizeof(bytes), 0, &got) &&
	       got == sizeof(bytes) && memcmp(bytes, reader->header, got) != 0;
}

/*
 * Reads the ids of one event. Unreadable ids are listed as damage, because a single event needs no ids.
 */
static struct sp_error *read_ids(struct sp_reader *reader, const struct file_section *section,
				 uint64_t entry_offset, const uint64_t **ret, size_t *count_ret)
{
	const uint8_t *bytes;
	if (!section->size)
		return NULL;
	if (!section_fits(reader, section)) {
		reader_add_damage_text(reader, entry_offset,
				       "an event's ids should be %llu bytes at offset 0x%llx, beyond the end",
				       (unsigned long long)section->size,
				       (unsigned long long)section->offset);
		return NULL;
	}
	TRY(reader_load(reader, section->offset, section->size, &bytes));
	size_t count = section->size / 8;
	struct cursor cursor = reader_cursor(reader, bytes, section->size, section->offset);
	uint64_t *ids = arena_alloc(&reader->arena, count * sizeof(*ids));
	NEED(ids);
	for (size_t i = 0; i < count; i++)
		if (!cursor_u64(&cursor, &ids[i]))
			return cursor_error(&cursor, "an event's ids are truncated");
	*ret = ids;
	*count_ret = count;
	return NULL;
}

static struct sp_error *read_entry(struct sp_reader *reader, struct cursor cursor, size_t room)
{
	struct perf_event_attr attr;
	struct sp_attr_tail tail;
	struct file_section ids_section = {0};
	const uint64_t *ids = NULL;
	size_t id_count = 0;
	uint64_t offset = cursor_offset(&cursor);
	struct cursor at = cursor;
	TRY(attr_decode(&at, room, &attr, &tail));
	if (!cursor_skip(&cursor, room) || !read_section(&cursor, &ids_section))
		return cursor_error(&cursor, "an event's entry is cut short");
	TRY(read_ids(reader, &ids_section, offset, &ids, &id_count));
	return events_add(reader, &(struct sp_event){.attr = attr, .tail = tail, .ids = ids,
							   .id_count = id_count});
}

/*
 * Returns the size of an entry of attrs. If the header's size makes no sense, the attr's own size is
 * used, if it divides the section evenly.
 */
static struct sp_error *entry_size(struct sp_reader *reader, const struct header_info *header,
				   const uint8_t *bytes, uint64_t *ret)
{
	uint64_t least = PERF_ATTR_SIZE_VER0 + IDS_SECTION_SIZE, size = header->attrs.size;
	if (header->attr_size >= least && header->attr_size <= size) {
		*ret = header->attr_size;
		return NULL;
	}
	struct perf_event_attr attr;
	struct sp_attr_tail tail;
	struct cursor cursor = reader_cursor(reader, bytes, size, header->attrs.offset);
	struct sp_error *error = attr_decode(&cursor, size, &attr, &tail);
	uint64_t own = error ? 0 : (uint64_t)attr.size + IDS_SECTION_SIZE;
	if (error || own > size || size % own) {
		sp_error_free(error);
		return error_format(reader->path, 16,
				    "an event entry has %llu bytes, all of them %llu",
				    (unsigned long long)header->attr_size,
				    (unsigned long long)size);
	}
	reader_add_damage_text(reader, 16,
			       "an event's entry should have %llu bytes; its attr says %llu, which fits",
			       (unsigned long long)header->attr_size, (unsigned long long)own);
	*ret = own;
	return NULL;
}

struct sp_error *header_read_events(struct sp_reader *reader, const struct header_info *header)
{
	const uint8_t *bytes;
	uint64_t size = 0;
	if (!header->attrs.size || !section_fits(reader, &header->attrs))
		return error_format(reader->path, 24,
				    "the events (%llu bytes at offset 0x%llx) exceed the file "
				    "(%llu bytes)",
				    (unsigned long long)header->attrs.size,
				    (unsigned long long)header->attrs.offset,
				    (unsigned long long)reader->file_size);
	TRY(reader_load(reader, header->attrs.offset, header->attrs.size, &bytes));
	TRY(entry_size(reader, header, bytes, &size));
	struct cursor cursor =
		reader_cursor(reader, bytes, header->attrs.size, header->attrs.offset);
	for (; cursor_left(&cursor) >= size; cursor_skip(&cursor, size))
		TRY(read_entry(reader, cursor, size - IDS_SECTION_SIZE));
	return NULL;
}
