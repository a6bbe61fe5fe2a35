/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Analysis of one recording, in two passes. Pass one reads metadata and builds the machine, after which
 * each (pid, time, address) can be resolved. Pass two counts the samples in ranges of the file, with
 * several threads.
 */
#pragma once

#include "rows/merged.h"

/*
 * Reads the recording of `index` among all, and adds its rows, totals and findings to `merged` and
 * its analysis. The recording's mapping, if one is made, ends with this call.
 */
struct sp_error *read_recording(struct sp_ctx *ctx, struct merged *merged,
				const struct sp_recording *recording, size_t index) SP_MUST_CHECK;
