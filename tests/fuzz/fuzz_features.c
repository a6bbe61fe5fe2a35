/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features of the header, one by one, and the words of attrs: a byte (bit 0: the other byte order,
 * bit 1: a file rather than a stream), 120 bytes of an attr, then pieces of {u8 feature, u16 size,
 * payload}. They become a recording.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/describe.h>
#include <sprof/private/words.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "file/file_format.h"
#include "fuzz.h"
#include "record/types.h"

#define ATTR_SIZE 120
#define PIECES_MAX 64
#define MADE_MAX ((size_t)1 << 20)

struct made {
	uint8_t *bytes;
	size_t size;
	bool swap;
};

static void put(struct made *made, const void *bytes, size_t size)
{
	assert(size <= MADE_MAX - made->size);
	if (size)
		memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void put_u64(struct made *made, uint64_t value)
{
	value = made->swap ? __builtin_bswap64(value) : value;
	put(made, &value, sizeof(value));
}

static void put_header(struct made *made, uint32_t type, uint16_t size)
{
	type = made->swap ? __builtin_bswap32(type) : type;
	uint16_t sizes[2] = {0, made->swap ? __builtin_bswap16(size) : size};
	put(made, &type, sizeof(type));
	put(made, sizes, sizeof(sizes));
}

struct piece {
	uint8_t bit;
	const uint8_t *payload;
	size_t size;
};

static size_t read_pieces(struct cursor *cursor, struct piece *pieces)
{
	size_t count = 0, room = MADE_MAX / 2;
	uint16_t size;
	while (count < PIECES_MAX && cursor_u8(cursor, &pieces[count].bit) &&
	       cursor_u16(cursor, &size)) {
		struct piece *piece = &pieces[count];
		piece->size = size < cursor_left(cursor) ? size : cursor_left(cursor);
		if (piece->size > room || !cursor_bytes(cursor, piece->size, &piece->payload))
			break;
		room -= piece->size;
		count++;
	}
	return count;
}

static void make_stream(struct made *made, const uint8_t *attr, const struct piece *pieces,
			size_t count)
{
	static const uint8_t zeros[8];
	put_u64(made, FILE_MAGIC);
	put_u64(made, FILE_PIPE_HEADER_SIZE);
	put_header(made, SP_RECORD_HEADER_ATTR, 8 + ATTR_SIZE + 8);
	put(made, attr, ATTR_SIZE);
	put_u64(made, 1);
	for (size_t i = 0; i < count; i++) {
		size_t size = (pieces[i].size + 7) & ~(size_t)7;
		if (size > UINT16_MAX - 24)
			continue;
		put_header(made, SP_RECORD_HEADER_FEATURE, (uint16_t)(16 + size));
		put_u64(made, pieces[i].bit);
		put(made, pieces[i].payload, pieces[i].size);
		put(made, zeros, size - pieces[i].size);
	}
}

/* The pieces' order is that of the table, whatever they are. */
static void make_file(struct made *made, const uint8_t *attr, const struct piece *pieces,
		      size_t count)
{
	uint64_t bits[4] = {0}, attrs = sizeof(struct file_header), behind = attrs + ATTR_SIZE + 16;
	for (size_t i = 0; i < count; i++)
		bits[pieces[i].bit / 64] |= UINT64_C(1) << pieces[i].bit % 64;
	const uint64_t words[] = {FILE_MAGIC, sizeof(struct file_header), ATTR_SIZE + 16, attrs,
				  ATTR_SIZE + 16, behind, 0, 0, 0};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put_u64(made, words[i]);
	for (size_t i = 0; i < 4; i++)
		put_u64(made, bits[i]);
	put(made, attr, ATTR_SIZE);
	put_u64(made, 0);
	put_u64(made, 0);
	uint64_t payload = behind + 16 * count;
	for (size_t i = 0; i < count; i++) {
		put_u64(made, payload);
		put_u64(made, pieces[i].size);
		payload += pieces[i].size;
	}
	for (size_t i = 0; i < count; i++)
		put(made, pieces[i].payload, pieces[i].size);
}

static size_t describe(const struct sp_reader *reader)
{
	size_t sum = 0;
	for (unsigned int bit = 0; bit < FILE_FEATURE_BITS; bit++) {
		struct sp_description *description = NULL;
		struct sp_error *error = sp_description_new(reader, bit, &description);
		assert(!error || sp_error_message(error)[0]);
		for (size_t i = 0; description && i < sp_description_count(description); i++) {
			const struct sp_description_row *row = sp_description_row(description, i);
			sum += strlen(row->name) + strlen(row->value);
		}
		sp_description_free(description);
		sp_error_free(error);
	}
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		char value[SP_WORDS_SIZE];
		const char *name;
		unsigned int at = 0;
		while (sp_attr_next(&event->attr, &event->tail, &at, &name, value))
			sum += strlen(name) + strlen(value);
	}
	return sum;
}

/* Lists end, and numbers are of what there is. */
static size_t look(const struct sp_file_info *info)
{
	const char *const *const lists[] = {info->cmdline, info->topology.packages,
					    info->topology.cores, info->topology.dies};
	size_t sum = 0;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (const char *const *text = lists[i]; text && *text; text++)
			sum += strlen(*text);
	for (size_t i = 0; i < info->numa_node_count; i++)
		sum += strlen(sp_file_numa_node(info, i)->cpus);
	for (size_t i = 0; i < info->topology.place_count; i++)
		sum += (size_t)info->topology.places[i].core;
	for (size_t i = 0; i < info->build_id_count; i++) {
		assert(sp_file_build_id(info, i)->build_id_size <=
		       sizeof(sp_file_build_id(info, i)->build_id));
		sum += strlen(sp_file_build_id(info, i)->filename);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_make(bytes, size, false, "input", 0);
	struct piece pieces[PIECES_MAX];
	uint8_t flags;
	const uint8_t *attr;
	if (!cursor_u8(&cursor, &flags) || !cursor_bytes(&cursor, ATTR_SIZE, &attr))
		return 0;
	CLEANUP_FREE uint8_t *room = malloc(MADE_MAX);
	assert(room);
	struct made made = {.bytes = room, .swap = flags & 1};
	size_t count = read_pieces(&cursor, pieces);
	(flags & 2 ? make_file : make_stream)(&made, attr, pieces, count);
	struct sp_reader *reader = NULL;
	struct sp_error *error = sp_reader_open_memory(NULL, made.bytes, made.size, "input", &reader);
	if (!error) {
		size_t sum = describe(reader) + look(sp_reader_info(reader));
		__asm__ volatile("" : : "r"(sum)); /* keeps the reads */
	}
	sp_reader_free(reader);
	sp_error_free(error);
	return 0;
}
