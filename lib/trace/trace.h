/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <sprof/trace.h> without a recording: of formats that come from elsewhere. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <sprof/trace.h>
#include "trace/container.h"

struct trace_source {
	struct sp_bytes blob; /* as trace_container_read() has it; may be of no bytes */
	const char *path;     /* of the recording, for errors */
	bool big_endian;      /* samples' bytes are, where the blob does not say it */
	const uint64_t *ids;  /* of tracepoints that are wanted: of others nothing is read */
	size_t id_count;
};

/* As sp_trace_new(), but for formats that the blob lacks: of them there are none. */
struct sp_error *trace_new(const struct trace_source *source, struct sp_trace **ret) SP_MUST_CHECK;

#endif
