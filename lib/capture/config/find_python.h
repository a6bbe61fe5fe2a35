/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Search for Python in the target. */
#pragma once

#include "base/ctx.h"
#include "capture/config/capture_options.h"

/*
 * Returns whether a process of the target has mapped Python, or the command probably runs it. False
 * if files or memory maps cannot be read, or when out of memory.
 */
bool target_runs_python(const struct sp_ctx *ctx, const struct capture_options *options);
