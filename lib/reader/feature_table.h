/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of features after the data: {offset, size} of a payload for each set bit of the header, in
 * ascending order.
 */
#ifndef READER_FEATURE_TABLE_H
#define READER_FEATURE_TABLE_H

#include "base/error.h"
#include "reader/header_info.h"

struct sp_reader;

/* Adds the payloads that the table lists. */
struct sp_error *feature_table_read(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

/* Whether most bytes at the table's place cannot be a table: data.size is wrong. */
bool feature_table_is_misplaced(const struct sp_reader *reader, const struct header_info *header);

#endif
