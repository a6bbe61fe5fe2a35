/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/command_line.h"

#include <endian.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/error.h"

bool command_line_put(struct record_buffer *words, const char *text, bool is_file)
{
	const char kind = is_file ? COMMAND_WORD_FILE : COMMAND_WORD_PLAIN;
	return record_buffer_append(words, &kind, 1) &&
	       record_buffer_append(words, text, strlen(text) + 1);
}

struct sp_error *record_encode_command_line(struct record_buffer *buffer,
					    const struct command_line *line,
					    const struct record_buffer *words)
{
	uint64_t time = htole64(line->time_ns);
	const uint32_t numbers[] = {htole32(line->pid), htole32(line->flags), htole32(line->count)};
	struct record_buffer data = {0};
	bool done = record_buffer_append(&data, &time, sizeof(time)) &&
		    record_buffer_append(&data, numbers, sizeof(numbers)) &&
		    record_buffer_append(&data, words->items, words->count);
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = COMMAND_LINE_KIND,
				 .data = {.bytes = data.items, .size = data.count}},
	};
	struct sp_error *error = done ? record_encode(buffer, &record, NULL) : error_no_memory();
	vec_deinit(&data);
	return error;
}

bool record_command_line(const struct sp_record *record, struct command_line *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE ||
	    record->event_update.kind != COMMAND_LINE_KIND)
		return false;
	const struct sp_bytes *data = &record->event_update.data;
	struct command_line line = {
		.words = cursor_make(data->bytes, data->size, false, NULL, 0),
	};
	if (!cursor_u64(&line.words, &line.time_ns) || !cursor_u32(&line.words, &line.pid) ||
	    !cursor_u32(&line.words, &line.flags) || !cursor_u32(&line.words, &line.count))
		return false;
	line.time_ns = le64toh(line.time_ns);
	line.pid = le32toh(line.pid);
	line.flags = le32toh(line.flags);
	line.count = le32toh(line.count);
	*ret = line;
	return true;
}

bool command_line_next(struct command_line *line, struct command_word *ret)
{
	uint8_t kind;
	if (!line->count || !cursor_u8(&line->words, &kind))
		return false;
	const uint8_t *nul = memchr(line->words.pos, 0, cursor_left(&line->words));
	if (!nul || !cursor_string(&line->words, (size_t)(nul - line->words.pos) + 1, &ret->text))
		return false;
	line->count--;
	ret->is_file = kind == COMMAND_WORD_FILE;
	return true;
}

bool sp_word_is_hidden(const char *word)
{
	size_t size = strspn(word, "*");
	return size > 1 && !word[size];
}

size_t sp_recorded_program(const char *const *words)
{
	if (!words || !words[0] || !words[1] || strcmp(words[1], "record") != 0 || !words[2])
		return 0;
	if (*words[2] != '-')
		return 2;
	for (size_t i = 2; words[i]; i++)
		if (!strcmp(words[i], "--"))
			return words[i + 1] ? i + 1 : 0;
	return 0;
}
