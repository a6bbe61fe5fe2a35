/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Without libtraceevent. */
#include <sprof/trace.h>

#include "base/error.h"

struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
			      struct sp_trace **ret)
{
	(void)ctx;
	(void)reader;
	(void)ret;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "this build of libsprof has no libtraceevent, which "
					  "knows what tracepoints' samples hold"),
				"Configure with --with-libtraceevent.");
}

void sp_trace_free(struct sp_trace *trace)
{
	(void)trace;
}

const char *sp_trace_text(struct sp_trace *trace, const struct sp_event *event,
			  const struct sp_sample *sample)
{
	(void)trace;
	(void)event;
	(void)sample;
	return NULL;
}
