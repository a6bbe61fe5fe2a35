/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive/hidden_arguments.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "file/reader_struct.h"
#include "record/command_line.h"
#include "record/types.h"
#include "walk/walker.h"

DEFINE_CLEANUP(struct walker *, walker_free)

/* Offset of a record's data: header, kind, id. */
#define DATA_AT 24

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

struct sp_error *arguments_hide(struct sp_reader *reader, int fd, size_t *left_ret)
{
	const struct sp_record *record;
	struct command_line line;
	struct sp_error *error = NULL;
	bool packed = sp_reader_info(reader)->compressed;
	size_t hidden = 0;
	*left_ret = 0;
	sp_reader_rewind(reader);
	for (bool more = true; more && !error;) {
		error = sp_reader_next(reader, &record);
		more = error || record;
		bool found = !error && record && record_command_line(record, &line);
		if (found && packed)
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
	*left_ret -= hidden < *left_ret ? hidden : *left_ret;
	return error;
}
