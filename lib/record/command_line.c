/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/command_line.h"

#include <string.h>
#include <sprof/private/command.h>
#include "record/private_record.h"

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
	struct record_buffer bytes = {0};
	struct put data = {.buffer = &bytes};
	put_le64(&data, line->time_ns);
	put_le32(&data, line->pid);
	put_le32(&data, line->flags);
	put_le32(&data, line->count);
	put_bytes(&data, words->items, words->count);
	return private_record_encode(buffer, COMMAND_LINE_KIND, &data);
}

bool record_command_line(const struct sp_record *record, struct command_line *ret)
{
	struct command_line line;
	if (!private_record_read(record, COMMAND_LINE_KIND, &line.words) ||
	    !cursor_u64(&line.words, &line.time_ns) || !cursor_u32(&line.words, &line.pid) ||
	    !cursor_u32(&line.words, &line.flags) || !cursor_u32(&line.words, &line.count))
		return false;
	*ret = line;
	return true;
}

bool command_line_next(struct command_line *line, struct command_word *ret)
{
	uint8_t kind;
	if (!line->count || !cursor_u8(&line->words, &kind) ||
	    !cursor_text(&line->words, &ret->text))
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
