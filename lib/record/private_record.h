/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of sprof's own kinds (notes, files, Python functions, command lines): EVENT_UPDATE
 * records (78) of a kind that other readers ignore. Their data is little-endian on every machine.
 */
#pragma once

#include <sprof/record.h>
#include "base/cursor.h"
#include "record/put.h"

/* Makes a cursor that reads little-endian numbers. */
static inline struct cursor private_cursor(const void *bytes, size_t size)
{
	return cursor_make(bytes, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, NULL, 0);
}

void put_le32(struct put *put, uint32_t value);
void put_le64(struct put *put, uint64_t value);

/* Appends a record of this data to `buffer`, and frees the data. SP_ERROR_LIMIT: it is too long. */
struct sp_error *private_record_encode(struct record_buffer *buffer, uint64_t kind,
				       struct put *data) SP_MUST_CHECK;

/* Returns whether a decoded record is of this kind. *ret reads its data. */
bool private_record_read(const struct sp_record *record, uint64_t kind, struct cursor *ret);
