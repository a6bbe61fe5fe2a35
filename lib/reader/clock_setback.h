/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects a realtime clock that was set back during the recording. */
#pragma once

#include <sprof/reader.h>
#include "base/error.h"

/*
 * Detects whether the clock (-k CLOCK_REALTIME) was set back to before the recording began. If it was,
 * reader_layout() makes decoders shift the later times; call this before decoder_new(). Reads all data
 * if the recording's clock can be set. *moved_ret is the number of records to shift, *back_ns_ret a
 * lower bound of the step.
 */
struct sp_error *reader_find_clock_step(struct sp_reader *reader, uint64_t *moved_ret,
					uint64_t *back_ns_ret) SP_MUST_CHECK;
