/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Analysis of one recording, in two passes. Pass one reads metadata and builds the machine, after which
 * each (pid, time, address) can be resolved. Pass two counts the samples in ranges of the file, with
 * several threads.
 */
#ifndef ANALYSIS_RECORDING_H
#define ANALYSIS_RECORDING_H

#include "rows/merged.h"

/*
 * Reads a recording, and makes rows in run->workers. Functions are added to run->analysis. *run must be
 * deinitialised after a failure, too.
 */
struct sp_error *recording_read(struct run *run, const struct merged *merged) SP_MUST_CHECK;

/* Frees everything that the run owns. A zeroed struct run is allowed. */
void run_deinit(struct run *run);

#endif
