/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <sprof/trace.h> without a recording: of formats that come from elsewhere. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <sprof/trace.h>
#include "trace/container.h"

struct trace_source {
	struct sp_bytes blob; /* contents for trace_container_read(); may be empty */
	const char *path;     /* path of the recording, for errors */
	bool big_endian;      /* samples' bytes are, where the blob does not say it */
	const uint64_t *ids;  /* ids of the wanted tracepoints; others are not read */
	size_t id_count;
};

/* Works like sp_trace_new(), without formats that the blob lacks. */
struct sp_error *trace_new(const struct trace_source *source, struct sp_trace **ret) SP_MUST_CHECK;

#endif
