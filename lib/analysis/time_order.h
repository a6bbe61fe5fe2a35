/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Order of rows in tables over time. */
#pragma once

#include "profile/analysis_options.h"
#include "rows/result.h"

/*
 * With time_offsets and the first key SP_KEY_TIME, orders the rows of profiles and groups by time,
 * then by weight. Else does nothing. Returns false when out of memory.
 */
bool order_rows_by_time(struct sp_analysis *analysis, const struct analysis_options *options);
