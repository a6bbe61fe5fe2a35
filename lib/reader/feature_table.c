/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/feature_table.h"

#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/feature_payloads.h"

#define SECTION_ENTRY_SIZE 16

/* Limit of a payload's size, far above real ones. A sparse file may have a huge hole as payload. */
#define FEATURE_SIZE_MAX (UINT64_C(1) << 30)

static struct sp_error *read_section(struct sp_reader *reader, unsigned int bit,
				     const struct file_section *section, uint64_t entry_offset)
{
	const uint8_t *bytes = NULL;
	if (section->offset > reader->file_size ||
	    section->size > reader->file_size - section->offset ||
	    section->size > FEATURE_SIZE_MAX) {
		reader_add_damage_text(reader, entry_offset,
				       "feature %u should be %llu bytes at offset 0x%llx, but the file "
				       "has %llu",
				       bit, (unsigned long long)section->size,
				       (unsigned long long)section->offset,
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
 * Counts the table's entries that cannot be right: their payload lies beyond the file, in the table
 * itself, or in the data (from `begin` on).
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
		impossible += !in_file || (section.offset >= begin && section.offset < behind);
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
		reader_add_damage_text(reader, table,
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
			reader_add_damage_text(reader, table,
					       "the %llu bytes behind the last whole record are not records",
					       (unsigned long long)(reader->file_size - table));
	}
	return NULL;
}

bool feature_table_is_misplaced(const struct sp_reader *reader, const struct header_info *header)
{
	uint8_t bytes[FILE_FEATURE_BITS * SECTION_ENTRY_SIZE];
	uint64_t table = header->data.offset + header->data.size;
	size_t count = count_bits(&header->features), got;
	if (io_pread(reader->fd, bytes, count * SECTION_ENTRY_SIZE, (off_t)table, &got))
		return false;
	size_t there = got / SECTION_ENTRY_SIZE;
	struct cursor cursor = reader_cursor(reader, bytes, got, table);
	return count_impossible(reader, cursor, there, header->data.offset) * 2 > there;
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
		error = read_section(reader, bit, &section, entry_offset);
	}
	return error;
}
