/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads of features, by bit. Their bytes are in the reader's arena. */
#ifndef READER_FEATURE_PAYLOADS_H
#define READER_FEATURE_PAYLOADS_H

#include <sprof/reader.h>
#include "base/cursor.h"
#include "base/error.h"
#include "file/format.h"

/* Adds a payload that is in the arena, from `offset` of the file. The first one of a bit stays. */
void features_put(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
		  uint64_t offset);

/* The same for a copy of the payload. */
struct sp_error *features_add(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
			      uint64_t offset) SP_MUST_CHECK;

/* Whether it is present and not empty. */
bool feature_is_there(const struct sp_reader *reader, enum file_feature bit);

/* Cursor over the payload; empty if it is absent. */
struct cursor feature_cursor(const struct sp_reader *reader, enum file_feature bit);

/* Reads a text (u32 size, bytes) and copies it. False if it is truncated, or out of memory. */
bool feature_text(struct sp_reader *reader, struct cursor *cursor, const char **ret);

/* The payload's offset in the file, for messages; 0 if it is absent. */
uint64_t reader_feature_offset(const struct sp_reader *reader, unsigned int bit);

#endif
