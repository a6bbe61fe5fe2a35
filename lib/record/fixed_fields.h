/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields at the begin of each type of record, in their order: one table for the decoder and the
 * encoder. Fields of a variable number or form follow them; both have code for these.
 */
#pragma once

#include <sprof/record.h>
#include "base/cursor.h"

/* Kinds of fields. A number's kind is its size in bits. */
enum {
	FIELD_END,     /* the record has no more fields */
	FIELD_MORE,    /* fields follow that are not in the table */
	FIELD_TEXT,    /* a string up to its NUL, the record's last field */
	FIELD_PADDING, /* `at` unused bytes */
	FIELD_U16 = 16,
	FIELD_U32 = 32,
	FIELD_U64 = 64,
};

struct fixed_field {
	uint16_t kind;
	uint16_t at; /* offset of the member in struct sp_record */
};

/* Returns the fields of a type, up to FIELD_END or FIELD_MORE; NULL: the table has none. */
const struct fixed_field *fixed_fields(uint32_t type);

/*
 * Decodes the fields of the table for the record's type. False if the record is too short: the
 * cursor is at the field that does not fit.
 */
bool decode_fixed_fields(struct cursor *cursor, struct sp_record *record);
