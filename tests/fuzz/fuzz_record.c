/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record after the other, decoded by events that the input describes: a byte
 * of their number (bit 7: the other byte order), then for each event the words
 * sample_type, read_format, branch_sample_type, both register masks and an id,
 * then the records' bytes.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/cursor.h"
#include "fuzz.h"
#include "record/command_line.h"
#include "record/decode.h"
#include "record/note.h"

#define EVENTS_MAX 4

static size_t read_events(struct cursor *cursor, struct sp_event *events, uint64_t *ids,
			  bool *swap)
{
	uint8_t count;
	if (!cursor_u8(cursor, &count))
		return 0;
	*swap = count & 0x80;
	count = (count & 0x7f) % (EVENTS_MAX + 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t words[6] = {0};
		for (size_t j = 0; j < 6; j++)
			if (!cursor_u64(cursor, &words[j]))
				break;
		ids[i] = words[5];
		events[i] = (struct sp_event){.name = "event", .ids = &ids[i], .id_count = 1};
		events[i].attr.sample_type = words[0];
		events[i].attr.sample_id_all = words[0] >> 63;
		events[i].attr.read_format = words[1];
		events[i].attr.branch_sample_type = words[2];
		events[i].attr.sample_regs_user = words[3];
		events[i].attr.sample_regs_intr = words[4];
	}
	return count;
}

/* Pointers of the record must point into it, or into the decoder's memory. */
static void check(const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	uint64_t sum = 0;
	struct sp_note note;
	char text[256];
	if (sp_record_note(record, &note)) {
		size_t size = note_data_size(record->event_update.data.bytes,
					     record->event_update.data.size);
		uint64_t lost, own;
		assert(size <= record->event_update.data.size);
		assert(note.value_count <= SP_NOTE_VALUES);
		sp_note_text(&note, text, sizeof(text));
		sum = note_stack_bytes(&note) + note_lost_own(&note, &lost, &own);
	}
	struct command_line line;
	struct command_word word;
	bool is_line = record_command_line(record, &line);
	while (is_line && command_line_next(&line, &word))
		sum += strlen(word.text) + word.is_file;
	if (record->type != PERF_RECORD_SAMPLE)
		return;
	for (size_t i = 0; i < sample->ip_count; i++)
		sum += sample->ips[i];
	for (size_t i = 0; i < sample->counters.count; i++)
		sum += sample->counters.values[i].lost;
	for (size_t i = 0; i < sample->branch_count; i++)
		sum += sample->branches[i].to + (sample->branch_counters ? sample->branch_counters[i] : 0);
	for (size_t i = 0; i < sample->interrupt_registers.count; i++)
		sum += sample->interrupt_registers.values[i];
	for (size_t i = 0; i < sample->raw.size; i++)
		sum += sample->raw.bytes[i];
	for (size_t i = 0; i < sample->aux.size; i++)
		sum += sample->aux.bytes[i];
	for (size_t i = 0; i < sample->stack.size; i++)
		sum += sample->stack.bytes[i];
	__asm__ volatile("" : : "r"(sum)); /* keeps the reads */
}

static void decode_all(struct decoder *decoder, struct cursor *cursor, bool swap)
{
	uint32_t type;
	uint16_t misc, size;
	while (cursor_left(cursor) >= 8) {
		struct cursor at = *cursor;
		struct sp_record record;
		at.swap = swap;
		if (!cursor_u32(&at, &type) || !cursor_u16(&at, &misc) || !cursor_u16(&at, &size))
			return;
		if (size < 8 || size > cursor_left(cursor))
			size = (uint16_t)(cursor_left(cursor) < 256 ? cursor_left(cursor) : 256);
		/* A copy just as long as it is. */
		uint8_t *bytes = malloc(size);
		if (!bytes)
			abort();
		memcpy(bytes, cursor->pos, size);
		struct raw_record raw = {.type = type, .misc = misc, .size = size, .bytes = bytes,
					 .offset = cursor_offset(cursor)};
		struct sp_error *error = decoder_decode(decoder, &raw, &record);
		if (!error)
			check(&record);
		sp_error_free(error);
		free(bytes);
		cursor->pos += size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sp_event events[EVENTS_MAX];
	uint64_t ids[EVENTS_MAX];
	bool swap = false;
	struct cursor cursor = cursor_make(data, size, false, "input", 0);
	size_t count = read_events(&cursor, events, ids, &swap);
	struct record_layout layout = {events, count, swap, "input"};
	struct decoder *decoder;
	struct sp_error *error = decoder_new(&layout, &decoder);
	if (!error) {
		decode_all(decoder, &cursor, swap);
		decoder_free(decoder);
	}
	sp_error_free(error);
	return 0;
}
