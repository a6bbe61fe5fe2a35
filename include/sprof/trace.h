/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of tracepoints: their raw bytes as text, by the kernel's formats. */
#ifndef SPROF_TRACE_H
#define SPROF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sprof/ctx.h>
#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_trace;

/*
 * Whether the formats that a recording holds are whole, as far as that is seen without reading
 * the formats themselves: SP_ERROR_FORMAT, or SP_ERROR_NO_MEMORY.
 */
SP_API struct sp_error *sp_trace_check(const struct sp_reader *reader) SP_MUST_CHECK;

/*
 * The formats of a recording's tracepoints: those that the recording holds (TRACING_DATA),
 * and, where it was made on this machine under the kernel that runs, of those that it lacks
 * what tracefs says. Not thread-safe: each thread has one of its own. Fails with
 * SP_ERROR_FORMAT where the recording's formats are damaged, SP_ERROR_NO_MEMORY. Formats of events
 * that the recording does not list are not read.
 */
SP_API struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
				     struct sp_trace **ret) SP_MUST_CHECK;
/* NULL may be freed. */
SP_API void sp_trace_free(struct sp_trace *trace);

/*
 * A sample's raw bytes as perf script has them: "prev_comm=wl prev_pid=109 …". NULL where
 * the event's format is not known, or the bytes are not of that format. Where the format, or
 * what the sample says of lengths, may not be followed safely: "[FAILED TO PARSE]" and the
 * fields. Valid until the next call.
 */
SP_API const char *sp_trace_text(struct sp_trace *trace, const struct sp_event *event,
				 const struct sp_sample *sample);

/* The same by the fields' bytes alone: "prev_comm=wl prev_pid=109 prev_state=0x2 …". */
SP_API const char *sp_trace_raw_text(struct sp_trace *trace, const struct sp_event *event,
				     const struct sp_sample *sample);

/*
 * An event's own fields, in its format's order. sp_trace_has_field() accepts common fields, too. An
 * event without a known format has none. Names belong to the trace.
 */
SP_API size_t sp_trace_field_count(struct sp_trace *trace, const struct sp_event *event);
SP_API const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event,
				       size_t index);
SP_API bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event,
			       const char *name);

/* Takes a sample, to ask for its fields; false where sp_trace_text() would have nothing. */
SP_API bool sp_trace_take(struct sp_trace *trace, const struct sp_event *event,
			  const struct sp_sample *sample);

/*
 * Returns a field of the last sample: strings whole; others in the form of the event's text ("R" of
 * prev_state), or, if that does not name them or `raw` is true, by their bytes. NULL if the event
 * has no such field. Valid until the next call.
 */
SP_API const char *sp_trace_field(struct sp_trace *trace, const char *name, bool raw);

#ifdef __cplusplus
}
#endif
#endif
