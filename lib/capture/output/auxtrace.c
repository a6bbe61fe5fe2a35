/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/auxtrace.h"

#include "base/clock.h"
#include "base/error.h"
#include "record/put.h"

#define HEADER_SIZE 48

/* Returns the time of the trace, by the clock of traces if there is one. */
static uint64_t reference_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}

struct sp_error *auxtrace_drain(struct auxtrace_area *area, struct write_queue *write_queue,
				uint64_t *taken_ret)
{
	static const uint8_t padding[8];
	struct record_buffer header = {0};
	struct aux_extent extent = {area->aux.tail, aux_head(&area->aux)};
	bool taken = false;
	*taken_ret = 0;
	if (area->aux.overwrite)
		extent = aux_snapshot(&area->aux);
	uint64_t size = extent.end - extent.begin;
	if (!size)
		return NULL;
	/* The padding aligns the next record in the file. */
	size_t pad = -size & 7;
	/*
	 * Makes the record. `size`: bytes of the trace that follows; `offset`: their position in
	 * all bytes of the area.
	 */
	struct put put = {.buffer = &header};
	put_u32(&put, SP_RECORD_AUXTRACE);
	put_u16(&put, 0);
	put_u16(&put, HEADER_SIZE);
	put_u64(&put, size + pad);
	put_u64(&put, extent.begin);
	put_u64(&put, reference_now());
	put_u32(&put, area->index);
	put_u32(&put, area->tid);
	put_u32(&put, area->cpu);
	put_u32(&put, 0);
	struct sp_error *error = put.no_memory ? error_no_memory() : NULL;
	if (!error) {
		struct iovec spans[4] = {{header.items, header.count}};
		int count = 1 + aux_spans(&area->aux, extent.begin, extent.end, spans + 1);
		spans[count++] = (struct iovec){(void *)(uintptr_t)padding, pad};
		error = write_queue_trace(write_queue, spans, count, &taken);
	}
	if (taken) {
		aux_release(&area->aux, extent.end);
		*taken_ret = size;
	}
	vec_deinit(&header);
	return error;
}
