/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The payloads of a recording's features, by bit number. The reader's arena owns their bytes. */
#pragma once

#include <sprof/reader.h>
#include "base/cursor.h"
#include "base/error.h"
#include "file/file_format.h"

/*
 * Adds a payload in the arena; `offset` is its place in the file, for messages. If a bit has several
 * payloads, the first is kept.
 */
void features_put(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
		  uint64_t offset);

/* Like features_put(), for a payload that is not in the arena yet: it is copied. */
struct sp_error *features_add(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
			      uint64_t offset) SP_MUST_CHECK;

/* Returns whether the feature is present and not empty. */
bool feature_is_present(const struct sp_reader *reader, enum file_feature bit);

/* Returns a cursor over the payload, which is empty if the feature is absent. */
struct cursor feature_cursor(const struct sp_reader *reader, enum file_feature bit);

/*
 * Reads a text (u32 size, bytes) and copies it to the arena. Returns false if it is cut short. When
 * out of memory, sets reader->no_memory, and the text is empty.
 */
bool feature_text(struct sp_reader *reader, struct cursor *cursor, const char **ret);

/* Returns the payload of feature `bit`; size 0 if absent or empty. It belongs to the reader. */
struct sp_bytes reader_feature(const struct sp_reader *reader, unsigned int bit);

/* Returns the payload's offset in the file, for messages; 0 if the feature is absent. */
uint64_t reader_feature_offset(const struct sp_reader *reader, unsigned int bit);
