/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timed code of perf maps: adds code that replaced other code, by the maps that a recorder holds,
 * or by what it stored of them in the recording. Does nothing if the recording has no times.
 */
#pragma once

#include "sideband/sideband.h"
#include "symbol/process_perfmap.h"

/*
 * Call it before the machine is sealed. `process` has all but a pid. Fails only when out of memory.
 */
struct sp_error *timed_code_add(const struct process_perfmap *process,
			       const struct sideband *sideband) SP_MUST_CHECK;
