/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads events and features that are records of the data. */
#ifndef READER_SCAN_H
#define READER_SCAN_H

#include "base/error.h"
#include "file/reader_io.h"

/*
 * Adds events and features from the records that begin in the extent. A file's events are not added,
 * because its header has them.
 */
struct sp_error *reader_scan(struct sp_reader *reader, struct reader_extent extent) SP_MUST_CHECK;

#endif
