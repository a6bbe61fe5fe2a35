/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and features that records of the data itself contain. */
#ifndef READER_SCAN_H
#define READER_SCAN_H

#include "base/error.h"
#include "file/reader_io.h"

/* Adds them from the records that begin in the extent. In a file, events are in its header. */
struct sp_error *reader_scan(struct sp_reader *reader, struct reader_extent extent) SP_MUST_CHECK;

#endif
