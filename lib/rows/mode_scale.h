/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scales the samples of a recording to times of threads, between counting samples and making rows. */
#ifndef ROWS_MODE_SCALE_H
#define ROWS_MODE_SCALE_H

#include "rows/run.h"

/*
 * Computes the times of all strata, when all samples are counted, and adds leaves for the rests of threads
 * that pass the filters. Before the chains are resolved.
 */
struct sp_error *mode_add_rests(struct run *run) SP_MUST_CHECK;

/* Scales all leaves, and leaves out idle threads. When the chains are resolved. */
struct sp_error *mode_scale(struct run *run) SP_MUST_CHECK;

/* Adds the recording's times to those of a profile, after rows were made. */
void mode_add_totals(const struct run *run, struct sp_profile *profile, struct state_whole *whole);

#endif
