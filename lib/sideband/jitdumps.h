/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds to a machine, all of whose records are there, the code that the jitdumps of its processes
 * tell of, so that each sample finds what was at its address at its time. Code stands for what
 * was sampled at its address before it was told of, too, if nothing else was there.
 *
 * Times of a dump are of CLOCK_MONOTONIC or of the processor's counter. Where those of the
 * recording are of another clock, they are moved by what lies between the dump's begin and the
 * mapping of its file; where that is not known, the code that was told of last counts. What was
 * done, and which dumps cannot be used, is said as notes.
 */
#ifndef SIDEBAND_JITDUMPS_H
#define SIDEBAND_JITDUMPS_H

#include <sprof/ctx.h>
#include "sideband/sideband.h"

/* Adds the code of all jitdumps. Fails only when out of memory. */
struct sp_error *jitdumps_add(struct sp_ctx *ctx, const struct sp_reader *reader, const char *symfs,
			 struct sideband *sideband) SP_MUST_CHECK;

/* Adds notes on code whose versions could not be distinguished. Call it after the machine is sealed. */
struct sp_error *jitdumps_note(struct sideband *sideband) SP_MUST_CHECK;

#endif
