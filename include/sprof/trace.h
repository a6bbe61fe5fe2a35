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
 * Checks that the formats that a recording holds are complete, without reading each of them. Fails
 * with SP_ERROR_FORMAT or SP_ERROR_NO_MEMORY.
 */
SP_API struct sp_error *sp_trace_check(const struct sp_reader *reader) SP_MUST_CHECK;

/*
 * Reads the formats of a recording's tracepoints (TRACING_DATA). Formats that it lacks are read
 * from tracefs if this machine and the running kernel made the recording. Formats of events that
 * the recording does not list are not read. Each thread needs an object of its own. Fails with
 * SP_ERROR_FORMAT if the recording's formats are damaged, and with SP_ERROR_NO_MEMORY.
 */
SP_API struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
				     struct sp_trace **ret) SP_MUST_CHECK;
/* NULL may be freed. */
SP_API void sp_trace_free(struct sp_trace *trace);

/*
 * Returns a sample's raw bytes as text, as perf script prints them: "prev_comm=wl prev_pid=109 …".
 * NULL: the event's format is unknown, or the bytes do not have that format. If the format or the
 * sample's lengths are invalid, the text is "[FAILED TO PARSE]" and the fields. Valid until the
 * next call.
 */
SP_API const char *sp_trace_text(struct sp_trace *trace, const struct sp_event *event,
				 const struct sp_sample *sample);

/* Like sp_trace_text(), without the event's print format: "prev_comm=wl prev_pid=109 prev_state=0x2
 * …". */
SP_API const char *sp_trace_raw_text(struct sp_trace *trace, const struct sp_event *event,
				     const struct sp_sample *sample);

/*
 * An event's own fields, in its format's order; `index` is below their number. An event without a
 * known format has none. sp_trace_has_field() accepts common fields, too. Names belong to the
 * trace.
 */
SP_API size_t sp_trace_field_count(struct sp_trace *trace, const struct sp_event *event);
SP_API const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event,
				       size_t index);
SP_API bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event,
			       const char *name);

/* Sets the sample for sp_trace_field(). Returns false if sp_trace_text() would return NULL. */
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
