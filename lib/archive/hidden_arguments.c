/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive/hidden_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/io.h"
#include "file/reader_struct.h"
#include "record/command_line.h"
#include "reader/feature_payloads.h"
#include "record/types.h"
#include "walk/walker.h"

/* Offset of a record's data: header, kind, id. */
#define DATA_AT 24

/* Copies of the header's features are in this part of the file. */
#define HEAD_BYTES ((size_t)1 << 20)

/* Overwrites words in a copy of a record's data. */
static void hide_words(uint8_t *data, const struct sp_bytes *bytes, struct command_line line)
{
	struct command_word word;
	for (bool program = true; command_line_next(&line, &word); program = false)
		if (!program && !word.is_file)
			memset(data + ((const uint8_t *)word.text - bytes->bytes), '*',
			       strlen(word.text));
}

static struct sp_error *hide(int fd, const struct sp_record *record,
			     const struct command_line *line, size_t *left_ret)
{
	const struct sp_bytes *bytes = &record->event_update.data;
	off_t at = (off_t)record->file_offset + DATA_AT;
	size_t done = 0;
	CLEANUP_FREE uint8_t *data = malloc(bytes->size + 1);
	NEED(data);
	int errnum = io_pread(fd, data, bytes->size, at, &done);
	/* The file was changed. */
	if (!errnum && (done < bytes->size || memcmp(data, bytes->bytes, bytes->size) != 0)) {
		++*left_ret;
		return NULL;
	}
	hide_words(data, bytes, *line);
	if (!errnum)
		errnum = io_pwrite(fd, data, bytes->size, at);
	return errnum ? error_os(errnum, "cannot hide arguments") : NULL;
}

/* Sets the members of an EVENT_UPDATE record that hide() needs. Returns false for other records. */
static bool decode_command_line(const struct sp_reader *reader, const struct raw_record *raw,
				struct sp_record *ret)
{
	struct cursor cursor = reader_cursor(reader, raw->bytes, raw->size, raw->offset);
	struct sp_event_update *update = &ret->event_update;
	*ret = (struct sp_record){.type = raw->type, .file_offset = raw->offset};
	if (raw->type != SP_RECORD_EVENT_UPDATE || raw->size < DATA_AT ||
	    !cursor_skip(&cursor, sizeof(struct perf_event_header)) ||
	    !cursor_u64(&cursor, &update->kind))
		return false;
	update->data = (struct sp_bytes){raw->bytes + DATA_AT, raw->size - DATA_AT};
	return true;
}

/*
 * Hides the arguments in a compressed recording, where command lines are not compressed.
 * *hidden_ret: number of command lines.
 */
static struct sp_error *hide_between_compressed(struct sp_reader *reader, int fd,
						size_t *hidden_ret)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	const struct walker_file file = {reader->fd, reader->path, reader->swap,
					 reader->packed.end};
	struct raw_record raw = {0};
	*hidden_ret = 0;
	TRY(walker_new_at(&file, reader->packed, &walker));
	for (bool at_end = false; !at_end;) {
		struct sp_record record;
		struct command_line line;
		struct sp_error *error = walker_next(walker, &raw);
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		/* The next record after damage is read. */
		if (!error && raw.bytes && decode_command_line(reader, &raw, &record) &&
		    record_command_line(&record, &line)) {
			size_t left = 0;
			error = hide(fd, &record, &line, &left);
			if (error)
				return error;
			*hidden_ret += !left;
		}
		at_end = !error && !raw.bytes;
		sp_error_free(error);
	}
	return NULL;
}

/* Adds the names of files in a command line to the set. Returns false when out of memory. */
static bool add_files(struct u64map *files, struct command_line line)
{
	struct command_word word;
	while (command_line_next(&line, &word))
		if (word.is_file &&
		    !u64map_put(files, hash_bytes(word.text, strlen(word.text)), 0, NULL))
			return false;
	return true;
}

/* Overwrites words in a copy of the feature CMDLINE. `files`: names that stay. */
static void hide_feature_words(const struct sp_reader *reader, uint8_t *copy,
			       const struct u64map *files)
{
	const char *const *words = sp_reader_info(reader)->cmdline;
	size_t program = sp_recorded_program(words);
	bool records = words[0] && words[1] && !strcmp(words[1], "record");
	size_t from = program ? program + 1 : records ? 2 : 1;
	struct cursor cursor = feature_cursor(reader, FEATURE_CMDLINE);
	uint64_t begin = cursor_offset(&cursor);
	uint32_t count, size;
	if (!cursor_u32(&cursor, &count))
		return;
	for (size_t i = 0; words[i] && cursor_u32(&cursor, &size); i++) {
		size_t length = strlen(words[i]);
		uint64_t at = cursor_offset(&cursor) - begin;
		if (!cursor_skip(&cursor, size) || length > size)
			return;
		if (i >= from && !u64map_find(files, hash_bytes(words[i], length)))
			memset(copy + at, '*', length);
	}
}

/*
 * Hides the program's arguments in the recorder's command line; the recorder's options, too, if
 * they cannot be separated. Recorders write it again at the end: the copies at the begin, before
 * the records and among the first ones, have the same bytes.
 */
static struct sp_error *hide_header(const struct sp_reader *reader, int fd,
				    const struct u64map *files)
{
	const struct sp_bytes from = reader_feature(reader, FEATURE_CMDLINE);
	struct cursor cursor = feature_cursor(reader, FEATURE_CMDLINE);
	off_t at = cursor_offset(&cursor);
	size_t done = 0;
	if (!sp_reader_info(reader)->cmdline || !from.size)
		return NULL;
	CLEANUP_FREE uint8_t *hidden = malloc(from.size);
	CLEANUP_FREE uint8_t *head = malloc(HEAD_BYTES);
	NEED(hidden && head);
	memcpy(hidden, from.bytes, from.size);
	hide_feature_words(reader, hidden, files);
	int errnum = io_pread(fd, head, from.size < HEAD_BYTES ? from.size : HEAD_BYTES, at, &done);
	if (!errnum && (done < from.size || memcmp(head, from.bytes, done) != 0))
		return error_new(SP_ERROR_UNSUPPORTED, "the recording was changed meanwhile");
	if (!errnum)
		errnum = io_pwrite(fd, hidden, from.size, at);
	if (!errnum)
		errnum = io_pread(fd, head, HEAD_BYTES, 0, &done);
	for (const uint8_t *next = head, *end = head + done, *copy;
	     !errnum && (copy = memmem(next, end - next, from.bytes, from.size));
	     next = copy + from.size)
		errnum = io_pwrite(fd, hidden, from.size, copy - head);
	return errnum ? error_os(errnum, "cannot hide arguments") : NULL;
}

struct sp_error *arguments_hide(struct sp_reader *reader, int fd, size_t *left_ret)
{
	const struct sp_record *record;
	struct command_line line;
	struct sp_error *error = NULL;
	CLEANUP(u64map_deinit) struct u64map files = {0};
	bool packed = sp_reader_info(reader)->compressed;
	size_t hidden = 0;
	*left_ret = 0;
	sp_reader_rewind(reader);
	for (bool more = true; more && !error;) {
		error = sp_reader_next(reader, &record);
		more = error || record;
		bool found = !error && record && record_command_line(record, &line);
		if (found && !add_files(&files, line))
			error = error_no_memory();
		else if (found && packed)
			++*left_ret;
		else if (found)
			error = hide(fd, record, &line, left_ret);
		/* The next record after damage is read. */
		if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
			sp_error_free(error);
			error = NULL;
		}
	}
	if (!error && packed)
		error = hide_between_compressed(reader, fd, &hidden);
	if (!error)
		error = hide_header(reader, fd, &files);
	*left_ret -= hidden < *left_ret ? hidden : *left_ret;
	return error;
}
