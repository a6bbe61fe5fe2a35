/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of <sprof/trace.h> without a recording, for formats from another source. */
#pragma once

#include <sprof/trace.h>
#include "file/tracing_data.h"

struct trace_source {
	struct sp_bytes blob; /* contents for trace_container_read(); may be empty */
	const char *path;     /* path of the recording, for errors */
	bool big_endian;      /* samples are big-endian; used if the blob does not state it */
	const uint64_t *ids;  /* ids of the wanted tracepoints; others are not read */
	size_t id_count;
};

/* Like sp_trace_new(), but does not read missing formats from tracefs. */
struct sp_error *trace_new(const struct trace_source *source, struct sp_trace **ret) SP_MUST_CHECK;
