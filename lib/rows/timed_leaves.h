/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives leaves their times (times/times.h), between counting samples and making rows. */
#pragma once

#include "rows/make_rows.h"

/* `times` are those of the workers. */

/*
 * Computes the times of a recording, when all samples are weighed, and adds leaves for the rests of
 * threads that pass the filters. Before the chains are resolved.
 */
struct sp_error *timed_leaves_add_rests(struct workers *workers, struct times *times) SP_MUST_CHECK;

/*
 * Scales all leaves to their times, finds the reasons of their waits, and leaves out idle threads.
 * When the chains are resolved.
 */
struct sp_error *timed_leaves_scale(struct workers *workers, struct times *times) SP_MUST_CHECK;
