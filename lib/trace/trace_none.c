/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of builds without libtraceevent: tracepoints have no text. */
#include "trace/trace.h"

struct sp_error *trace_new(const struct trace_source *source, struct sp_trace **ret)
{
	(void)source;
	(void)ret;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "this build of libsprof has no libtraceevent, which "
					  "formats tracepoints' samples"),
				"Configure with --with-libtraceevent.");
}

struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
			      struct sp_trace **ret)
{
	(void)ctx;
	(void)reader;
	return trace_new(NULL, ret);
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

bool sp_trace_take(struct sp_trace *trace, const struct sp_event *event,
		   const struct sp_sample *sample)
{
	(void)trace;
	(void)event;
	(void)sample;
	return false;
}

const char *sp_trace_raw_text(struct sp_trace *trace, const struct sp_event *event,
			      const struct sp_sample *sample)
{
	return sp_trace_text(trace, event, sample);
}

size_t sp_trace_field_count(struct sp_trace *trace, const struct sp_event *event)
{
	(void)trace;
	(void)event;
	return 0;
}

const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event, size_t index)
{
	(void)trace;
	(void)event;
	(void)index;
	return NULL;
}

bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event, const char *name)
{
	(void)trace;
	(void)event;
	(void)name;
	return false;
}

const char *sp_trace_field(struct sp_trace *trace, const char *name, bool raw)
{
	(void)trace;
	(void)name;
	(void)raw;
	return NULL;
}
