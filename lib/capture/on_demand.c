/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files and traces that are requested while recording. */
#include "capture/recorder.h"
#include "event/fd_budget.h"

/* Bytes of a ring in one write. */
#define PART_BYTES ((uint64_t)16 << 20)

/* -- Overwrite mode -------------------------------------------------------- */

static void pause_ring(void *arg, size_t cpu_index, bool pause)
{
	struct sp_capture *capture = arg;
	event_control_pause_ring(&capture->control, cpu_index, pause);
}

static uint64_t now_ns(void *arg)
{
	return capture_record_time_ns(arg);
}

struct sp_error *capture_start_overwrite(struct sp_capture *capture)
{
	const struct overwrite_options options = {
		.rings = capture->bank.samples, .count = capture->bank.count,
		.fields = capture->samples.filter.fields, .shift_ns = capture->bank.rewrite.shift_ns,
		.pause = pause_ring, .now = now_ns, .arg = capture,
	};
	return overwrite_start(&capture->overwrite, &options);
}

/* Metadata rings are small, and writing a copy to a slow disk may take seconds. */
static struct sp_error *drain_metadata(struct sp_capture *capture)
{
	struct record_buffer *kept = &capture->tasks.tracker.kept;
	struct sp_error *error = capture_drain_sideband(capture);
	if (!error)
		error = recording_add(&capture->out, kept->items, kept->count);
	kept->count = 0;
	return error;
}

/* Submits at most what the write queue holds: the rings record meanwhile. */
static struct sp_error *write_records(struct sp_capture *capture, struct ring *ring, uint64_t end)
{
	struct sp_error *error = NULL;
	while (!error && ring->tail < end) {
		uint64_t part = ring_whole_records(ring, end, PART_BYTES);
		error = sample_path_filter(&capture->samples, &capture->bank.rewrite, ring,
					   part > ring->tail ? part : end, &capture->out.batch);
		/* The copy's memory is then the next ring's. */
		error = error_first(error, batch_flush(&capture->out.batch));
		if (!error)
			error = write_queue_flush(capture->out.write_queue);
		if (!error)
			error = drain_metadata(capture);
	}
	return error;
}

static struct sp_error *write_rings(struct sp_capture *capture)
{
	struct sp_error *error = recording_write_live(&capture->out);
	if (!error)
		error = command_lines_write_live(&capture->command_lines, &capture->out.extra);
	/* Names and mappings of older tasks are not known. */
	uint64_t from_ns = capture->out.rotation.live_state.base_ns;
	for (size_t i = 0; i < capture->bank.count && !error; i++) {
		struct overwrite_records records;
		overwrite_read(&capture->overwrite, i, from_ns, &records);
		capture->samples.filter.counts.damaged += records.damaged;
		error = write_records(capture, &records.ring, records.end);
	}
	capture->out.dirty = true;
	return error;
}

struct sp_error *capture_dump(struct sp_capture *capture, bool last)
{
	const struct demand_limits limits = demand_limits_read(capture->ctx, &capture->config.rights);
	overwrite_begin_dump(&capture->overwrite, limits.available_bytes / 2 ?: UINT64_MAX);
	/* Read after the copies, so that all metadata that their samples need has arrived. */
	struct sp_error *error = capture_round(capture, false);
	if (!error)
		error = write_rings(capture);
	overwrite_end_dump(&capture->overwrite);
	const struct note_records to = capture_note_records(capture);
	if (!error)
		error = overwrite_note(&capture->overwrite, &to);
	/* Adds samples that were lost while rings were paused: the kernel counts them. */
	capture->bank.was_full = true;
	return error || last ? error : capture_change_file(capture);
}

/* -- Requests -------------------------------------------------------------- */

struct sp_error *sp_capture_switch(struct sp_capture *capture)
{
	if (!capture->out.rotation.tracks)
		return error_new(SP_ERROR_INVALID,
				 "the recording does not switch files: use --switch-output");
	if (capture->overwrite.on)
		return capture_dump(capture, false);
	/* Drained records go to the file that ends. */
	TRY(capture_round(capture, false));
	return capture_change_file(capture);
}

struct sp_error *sp_capture_snapshot(struct sp_capture *capture)
{
	if (capture->overwrite.on)
		return sp_capture_switch(capture);
	if (!capture->out.aux_areas.snapshot)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "nothing to snapshot: no overwrite "
						  "mode"), "record with --overwrite, or a tracing event "
					"with --snapshot");
	struct sp_error *error = event_control_pause(&capture->control);
	/* Drains the AUX records, which say how far each area was written. */
	if (!error)
		error = capture_round(capture, false);
	if (!error)
		error = capture_drain_all_aux(capture, true);
	return error_first(error, event_control_resume(&capture->control));
}
