/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Order of rows in tables over time. */
#ifndef ANALYSIS_TIME_ORDER_H
#define ANALYSIS_TIME_ORDER_H

#include "profile/analysis_options.h"
#include "rows/result.h"

/* With time_offsets, orders rows by their time, then by weight; false when out of memory. */
bool order_rows_by_time(struct sp_analysis *analysis, const struct analysis_options *options);

#endif
