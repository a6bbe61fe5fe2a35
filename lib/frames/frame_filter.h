/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters by code (--dsos, --symbols) of frames and functions. */
#pragma once

#include "frames/names.h"

/* Returns whether the frame passes the filter by dso. */
bool frame_passes_dso(const struct names *names, const struct frame *frame);

/* Returns whether its symbol passes the filter by symbol, or its address if it has none. */
bool frame_passes_symbol(const struct names *names, const struct frame *frame);

/* Returns whether a function passes the filter by symbol. */
bool function_passes(const struct analysis_options *options, const struct named *named);
