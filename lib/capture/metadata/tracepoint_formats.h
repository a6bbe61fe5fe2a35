/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature TRACING_DATA: how the raw fields of the recorded tracepoints lie, from tracefs. */
#ifndef CAPTURE_METADATA_TRACEPOINT_FORMATS_H
#define CAPTURE_METADATA_TRACEPOINT_FORMATS_H

#include <sprof/reader.h>
#include "base/ctx.h"
#include "record/encode.h"

/*
 * Appends it; nothing where none of the events is a tracepoint. *missing_ret is how many
 * tracepoints tracefs does not describe, so that their samples have raw bytes only.
 */
struct sp_error *tracepoint_formats_describe(const struct sp_ctx *ctx, const struct sp_event *events,
					     size_t count, struct record_buffer *ret,
					     size_t *missing_ret) SP_MUST_CHECK;

#endif
