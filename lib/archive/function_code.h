/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code of sampled functions for stored names: all instructions of a function, so that it can be
 * annotated when its file is gone.
 */
#pragma once

#include <sprof/analysis.h>
#include "base/error.h"

/* Most bytes of a function, and of all functions of a recording. */
#define FUNCTION_CODE_MAX ((uint64_t)64 << 10)
#define FUNCTION_CODE_TOTAL ((uint64_t)4 << 20)

/*
 * Reads the code and the lines of the functions of an analysis, which has
 * sp_analysis_rows.annotate and a log of names: what is read is logged, and so stored. The hottest
 * functions come first. Code of files that not every user may read is left out, as are large
 * functions. Fails when out of memory.
 */
struct sp_error *function_code_log(const struct sp_analysis *analysis) SP_MUST_CHECK;
