/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/overwrite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "event/fd_budget.h"
#include "record/note.h"

/* Bytes of a ring that are written at once. */
#define PART_BYTES ((uint64_t)16 << 20)

/* While a ring is paused, samples are lost; the kernel counts them. */
static void pause_ring(void *arg, size_t cpu_index, bool pause)
{
	struct sp_capture *capture = arg;
	struct overwrite_span *span = &capture->overwrite.spans[cpu_index];
	event_control_pause_ring(&capture->control, cpu_index, pause);
	if (!pause)
		return;
	span->begin_ns = span->end_ns;
	span->end_ns = capture_record_time_ns(capture);
}

struct sp_error *capture_start_overwrite(struct sp_capture *capture)
{
	struct overwrite *overwrite = &capture->overwrite;
	if (!overwrite->on)
		return NULL;
	const struct snapshot_options options = {
		.rings = capture->bank.samples, .count = capture->bank.count,
		.pause = pause_ring, .arg = capture,
	};
	overwrite->spans = calloc(options.count, sizeof(*overwrite->spans));
	if (!overwrite->spans)
		return error_no_memory();
	for (size_t i = 0; i < options.count; i++)
		overwrite->spans[i].end_ns = capture_record_time_ns(capture);
	return snapshot_init(&overwrite->snapshot, &options);
}

void overwrite_deinit(struct overwrite *overwrite)
{
	free(overwrite->spans);
	snapshot_deinit(&overwrite->snapshot);
	*overwrite = (struct overwrite){0};
}

/* -- A dump ---------------------------------------------------------------- */

/* The first record of a copy that is not older than what is known of tasks. */
static uint64_t first_wanted(const struct sp_capture *capture, const struct ring *ring, uint64_t end,
			     uint64_t from_ns, uint64_t *first_ns_ret)
{
	struct record_values record;
	const struct record_fields *fields = &capture->samples.filter.fields;
	*first_ns_ret = 0;
	for (uint64_t at = 0; at < end && record_values_read(ring, at, end, fields, &record);
	     at += record.header.size) {
		if (record.header.type != PERF_RECORD_SAMPLE || record.header.size < fields->sample_end)
			continue;
		*first_ns_ret = record.time_ns + capture->bank.rewrite.shift_ns;
		if (*first_ns_ret >= from_ns)
			return at;
	}
	return end;
}

/* Side-band rings are small, and writing a copy to a slow disk may take seconds. */
static struct sp_error *drain_sideband(struct sp_capture *capture)
{
	struct record_buffer *kept = &capture->tasks.tracker.kept;
	struct sp_error *error = capture_drain_sideband(capture);
	if (!error)
		error = recording_add(&capture->out, kept->items, kept->count);
	kept->count = 0;
	return error;
}

/* Submits no more at once than the write queue holds: the rings record meanwhile. */
static struct sp_error *write_copy(struct sp_capture *capture, struct ring *ring, uint64_t end)
{
	struct sp_error *error = NULL;
	while (!error && ring->tail < end) {
		uint64_t part = ring_whole_records(ring, end, PART_BYTES);
		error = sample_path_filter(&capture->samples, &capture->bank.rewrite, ring,
					   part > ring->tail ? part : end, &capture->out.batch);
		/* The copy is the next ring's after this. */
		error = error_first(error, batch_flush(&capture->out.batch));
		if (!error)
			error = write_queue_flush(capture->out.write_queue);
		if (!error)
			error = drain_sideband(capture);
	}
	return error;
}

static struct sp_error *write_ring(struct sp_capture *capture, size_t cpu_index, uint64_t from_ns)
{
	struct overwrite *overwrite = &capture->overwrite;
	const struct backward_copy *copy = snapshot_read(&overwrite->snapshot, cpu_index);
	struct overwrite_span *span = &overwrite->spans[cpu_index];
	struct perf_event_mmap_page page = {0};
	struct ring ring;
	uint64_t first_ns;
	overwrite->overwritten += copy->overwritten;
	capture->samples.filter.counts.damaged += copy->damaged;
	ring_init_memory(&ring, &page, copy->records, overwrite->snapshot.ring_size);
	ring.tail = first_wanted(capture, &ring, copy->size, from_ns, &first_ns);
	overwrite->overwritten += ring.tail;
	/* Unless data were overwritten, the ring has everything since the last dump. */
	if (copy->overwritten)
		span->begin_ns = first_ns;
	if (span->begin_ns < from_ns)
		span->begin_ns = from_ns;
	return write_copy(capture, &ring, copy->size);
}

/* Spans that the file has of each CPU, at least and at most. */
static struct sp_error *note_spans(struct sp_capture *capture)
{
	uint64_t least_ns = UINT64_MAX, most_ns = 0;
	for (size_t i = 0; i < capture->config.cpus.count; i++) {
		const struct overwrite_span *span = &capture->overwrite.spans[i];
		uint64_t ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
		least_ns = ns < least_ns ? ns : least_ns;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	const struct note_records to = capture_note_records(capture);
	return notes_write_once(&to, NOTE_OF(NOTE_OVERWRITTEN, NULL, least_ns, most_ns,
					     capture->config.cpus.count,
					     capture->overwrite.overwritten / 1000));
}

static struct sp_error *write_rings(struct sp_capture *capture)
{
	uint64_t from_ns = capture->out.rotation.live_state.base_ns;
	struct sp_error *error = NULL;
	capture->overwrite.overwritten = 0;
	for (size_t i = 0; i < capture->config.cpus.count && !error; i++)
		error = write_ring(capture, i, from_ns);
	capture->out.dirty = true;
	return error;
}

/* Rings that do not fit into half of the available memory stay paused until they are written. */
static void read_snapshot(struct sp_capture *capture)
{
	const struct demand_limits limits = demand_limits_read(capture->ctx, &capture->config.rights);
	snapshot_copy_rings(&capture->overwrite.snapshot, limits.available_bytes / 2 ?: UINT64_MAX);
}

struct sp_error *capture_dump(struct sp_capture *capture, bool last)
{
	capture->overwrite.stack_dump_ns = capture_record_time_ns(capture);
	read_snapshot(capture);
	/* After the snapshot, so that all side-band that its samples need has arrived. */
	struct sp_error *error = capture_round(capture, false);
	if (!error)
		error = recording_write_live(&capture->out);
	if (!error)
		error = write_rings(capture);
	snapshot_drop(&capture->overwrite.snapshot);
	capture->overwrite.stack_dump_ns = 0;
	if (!error)
		error = note_spans(capture);
	/* Samples that were lost meanwhile: the kernel's counts tell. */
	capture->bank.was_full = true;
	return error || last ? error : capture_change_file(capture);
}
