/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the samples of a range of the file. */
#pragma once

#include "file/reader_io.h"
#include "samples/counted.h"

/*
 * Counts the samples that begin in `extent`, which must begin at the start of a record. Damage is
 * reported to the reader.
 */
struct sp_error *count_extent(struct counted *counted, struct reader_extent extent) SP_MUST_CHECK;
