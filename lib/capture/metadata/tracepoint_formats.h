/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature TRACING_DATA: formats of the recorded tracepoints' fields, from tracefs. */
#pragma once

#include <sprof/reader.h>
#include "base/ctx.h"
#include "record/encode.h"

/*
 * Appends the feature; nothing if no event is a tracepoint. *missing_ret: number of tracepoints
 * without a format in tracefs. Their samples have raw bytes only.
 */
struct sp_error *tracepoint_formats_describe(const struct sp_ctx *ctx, const struct sp_event *events,
					     size_t count, struct record_buffer *ret,
					     size_t *missing_ret) SP_MUST_CHECK;
