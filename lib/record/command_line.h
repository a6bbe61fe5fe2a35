/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Command lines of processes, read while recording, shortly after each exec. Like a note
 * (record/note.h), a command line is an EVENT_UPDATE record (78) of a private kind; numbers are
 * little-endian on every machine:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: COMMAND_LINE_KIND ("sprofcmd" in ASCII)
 *	u64     id: 0, the first event
 *	u64     time in ns on the recording's clock, from which the process has it; 0: its begin
 *	u32     pid
 *	u32     flags: COMMAND_LINE_TRUNCATED
 *	u32     count of words, the program first
 *	words   each: u8 COMMAND_WORD_PLAIN or COMMAND_WORD_FILE, the word, a NUL
 *	zeros   up to 8 bytes
 *
 * Later versions may add what follows the words; it is ignored.
 */
#pragma once

#include <sprof/record.h>
#include "base/cursor.h"
#include "record/encode.h"

#define COMMAND_LINE_KIND UINT64_C(0x646d63666f727073)

/* Bytes between the id and the words, and offset of the count in them. */
#define COMMAND_LINE_FIXED_SIZE 20
#define COMMAND_LINE_COUNT 16

/* Limit of the bytes that are read of a command line. */
#define COMMAND_LINE_MAX 4096

/* Flag: the process has more than COMMAND_LINE_MAX bytes. */
#define COMMAND_LINE_TRUNCATED 1

#define COMMAND_WORD_PLAIN ' '
#define COMMAND_WORD_FILE 'f' /* names a regular file that existed, and that the program reads */

struct command_word {
	const char *text;
	bool is_file;
};

struct command_line {
	uint64_t time_ns;
	uint32_t pid, flags, count;
	struct cursor words; /* the words that command_line_next() has not returned */
};

/* Appends a word to an encoded list. Returns false when out of memory. */
bool command_line_put(struct record_buffer *words, const char *text, bool is_file);

/* Appends a record with the words of command_line_put(). SP_ERROR_LIMIT: they are too many. */
struct sp_error *record_encode_command_line(struct record_buffer *buffer,
					    const struct command_line *line,
					    const struct record_buffer *words) SP_MUST_CHECK;

/* Returns whether the record is a command line. Its bytes are borrowed, and not yet checked. */
bool record_command_line(const struct sp_record *record, struct command_line *ret);

/* Returns the next word, which is borrowed; false: there are no more. */
bool command_line_next(struct command_line *line, struct command_word *ret);
