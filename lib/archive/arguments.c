/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive/arguments.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "record/command_line.h"

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
	/* Offsets of compressed data are not those of the file. */
	if (!errnum && (done < bytes->size || memcmp(data, bytes->bytes, bytes->size) != 0)) {
		++*left_ret;
		return NULL;
	}
	hide_words(data, bytes, *line);
	if (!errnum)
		errnum = io_pwrite(fd, data, bytes->size, at);
	return errnum ? error_os(errnum, "cannot hide arguments") : NULL;
}

struct sp_error *arguments_hide(struct sp_reader *reader, int fd, size_t *left_ret)
{
	const struct sp_record *record;
	struct command_line line;
	struct sp_error *error = NULL;
	*left_ret = 0;
	sp_reader_rewind(reader);
	for (bool more = true; more && !error;) {
		error = sp_reader_next(reader, &record);
		more = error || record;
		if (!error && record && record_command_line(record, &line))
			error = hide(fd, record, &line, left_ret);
		/* The next record after damage is read. */
		if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
			sp_error_free(error);
			error = NULL;
		}
	}
	return error;
}
