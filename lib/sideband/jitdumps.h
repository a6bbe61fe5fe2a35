/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jitdumps: adds the code in the jitdumps of a machine's processes, after all other records, so
 * that each sample finds the code at its address at its time. Code also counts for samples before
 * its record, if nothing else was there. A dump's times are of CLOCK_MONOTONIC or of the
 * processor's counter. If the recording has another clock, they are shifted by the difference
 * between the dump's begin and the mapping of its file. If that is unknown, the newest code counts.
 * Notes tell of shifted and unusable dumps.
 */
#pragma once

#include <sprof/ctx.h>
#include "sideband/sideband.h"

/* Adds the code of all jitdumps. Fails only when out of memory. */
struct sp_error *jitdumps_add(struct sp_ctx *ctx, const struct sp_reader *reader, const char *symfs,
			 struct sideband *sideband) SP_MUST_CHECK;

/*
 * Adds notes on code with versions that could not be distinguished. Call it after the machine is
 * sealed.
 */
struct sp_error *jitdumps_note(struct sideband *sideband) SP_MUST_CHECK;
