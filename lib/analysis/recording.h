/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The analysis of one recording, in two passes. The first reads the side-band and builds the machine,
 * after which any (pid, time, ip) has its meaning, in any order. The second counts the samples, in
 * ranges of the file, by as many threads as there are processors.
 */
#ifndef ANALYSIS_RECORDING_H
#define ANALYSIS_RECORDING_H

#include "aggregate/merged.h"

/*
 * Reads a recording until its samples are rows of run->workers. Functions are added to run->analysis. To
 * be released after a failure, too.
 */
struct sp_error *recording_read(struct run *run, const struct merged *merged) SP_MUST_CHECK;

/* Releases all of the run but what it borrows. A zeroed one may be released, too. */
void run_deinit(struct run *run);

#endif
