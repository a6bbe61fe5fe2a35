/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recordings by a clock that was set back during the recording. */
#ifndef READER_CLOCK_H
#define READER_CLOCK_H

#include <sprof/reader.h>
#include "base/error.h"

/*
 * Finds out whether the clock (-k CLOCK_REALTIME) was set back to before the recording began.
 * reader_layout() then makes decoders shift later times; call this before decoder_new(). Reads all
 * data, if the clock is one that can be set. *moved_ret: records to be shifted; *back_ns_ret: a
 * lower bound of the step.
 */
struct sp_error *reader_find_clock_step(struct sp_reader *reader, uint64_t *moved_ret,
					uint64_t *back_ns_ret) SP_MUST_CHECK;

#endif
