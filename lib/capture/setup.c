/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts the threads that unwind and that write. */
#include "capture/recorder.h"

/* Of samples that wait to be unwound. */
#define UNWINDING_MEMORY ((size_t)64 << 20)

static struct sp_error *take_dump(void *arg, const struct ring *ring, uint64_t position,
				  const struct perf_event_header *header, uint64_t id)
{
	struct sp_capture *capture = arg;
	return unwinding_take(capture->samples.unwinding, ring, position, header, id);
}

/* Half of the CPUs unwind: the others are the workload's. */
struct sp_error *capture_start_unwinding(struct sp_capture *capture)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	if (!capture->config.graph.live || !(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return NULL;
	const struct unwinding_options options = {
		.ctx = capture->ctx,
		.attr = attr,
		.kept_registers = capture->config.kept_registers,
		.max_stack = capture->config.graph.max_stack,
		.python = capture->config.graph.python,
		.workers = capture->config.online.count > 1 ? capture->config.online.count / 2 : 1,
		.memory_bytes = UNWINDING_MEMORY,
	};
	capture->samples.filter.taker = (struct sample_taker){
		.take = take_dump, .arg = capture,
	};
	return unwinding_new(&options, &capture->samples.unwinding);
}

struct sp_error *capture_start_writing(struct sp_capture *capture)
{
	const struct writing_options options = {
		.memory_bytes = CAPTURE_WRITING_MEMORY,
		.sample_id_at = capture->samples.filter.fields.sample_id,
		.sample_cpu_at = capture->samples.filter.fields.sample_cpu,
	};
	return writing_new(&options, &capture->out.writing);
}
