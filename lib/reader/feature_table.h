/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of features after the data. It has an entry {offset, size} for each set feature bit of the
 * header, in ascending order of bits.
 */
#ifndef READER_FEATURE_TABLE_H
#define READER_FEATURE_TABLE_H

#include "base/error.h"
#include "reader/header_info.h"

struct sp_reader;

/* Adds the payloads that the table lists. */
struct sp_error *feature_table_read(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

/*
 * Returns whether the bytes after the data are no feature table, because most entries cannot be right.
 * The header's data.size is then wrong.
 */
bool feature_table_is_misplaced(const struct sp_reader *reader, const struct header_info *header);

#endif
