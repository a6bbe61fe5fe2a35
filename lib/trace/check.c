/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the tracepoint formats in a recording for damage; does not need libtraceevent. */
#include <sprof/trace.h>

#include "file/tracing_data.h"

static bool pass_header(void *arg, const struct trace_header *header)
{
	(void)arg;
	(void)header;
	return true;
}

static bool pass_file(void *arg, enum trace_file kind, const char *system, const char *text,
		      size_t size)
{
	(void)arg;
	(void)kind;
	(void)system;
	(void)text;
	(void)size;
	return true;
}

struct sp_error *sp_trace_check(const struct sp_reader *reader)
{
	const struct trace_visitor visitor = {pass_header, pass_file, NULL};
	struct sp_bytes blob = sp_reader_feature(reader, TRACE_FEATURE);
	return blob.size ? trace_container_read(&blob, sp_reader_info(reader)->path, &visitor) : NULL;
}
