/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A round: notes the ends of the rings of samples, drains the side-band as a whole and writes it,
 * then writes the samples up to these ends. So each mapping and fork that a sample needs is known
 * before the sample is filtered, and is in the file before it. FINISHED_ROUND records tell perf's
 * readers that all rings were read up to a point: they sort the records between two of these by
 * time.
 */
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "capture/tasks/rescan.h"
#include "record/note.h"

/* Samples of later rounds are not older than the side-band by more than this. */
#define LAG_NS 2000000000

/*
 * Passes new metadata records to the parts that follow processes, whether or not they are written.
 */
static struct sp_error *on_metadata(struct sp_capture *capture, const struct record_buffer *records,
				    bool synthesised)
{
	const struct record_fields *fields = &capture->samples.filter.fields;
	uint64_t now_ns = capture_record_time_ns(capture);
	struct metadata_record record;
	for (size_t at = 0; metadata_next(records->items, records->count, &at, fields, &record);) {
		TRY(capture_follow_maps(capture, &record, now_ns));
		TRY(command_lines_on_change(&capture->command_lines, &record.change, synthesised));
	}
	held_maps_mark(capture->maps, now_ns);
	return command_lines_read(&capture->command_lines);
}

struct sp_error *capture_drain_sideband(struct sp_capture *capture)
{
	return tasks_drain(&capture->tasks, capture->bank.metadata);
}

/* Adds the needs of snapshots of waiting threads: they are samples, too. */
static struct sp_error *add_needs_of_snapshots(struct sp_capture *capture)
{
	const struct waits_made *made =
		capture->samples.waits ? waits_made(capture->samples.waits) : NULL;
	struct record_values record;
	for (size_t at = 0; made && at < made->snapshots.count; at += record.header.size) {
		const struct ring ring = {.data = made->snapshots.items + at, .size = 1U << 16};
		if (!record_values_read(&ring, 0, made->snapshots.count - at,
					&capture->samples.filter.fields, &record))
			break;
		NEED(metadata_hold_add_need(&capture->hold, record.pid, record.tid,
					    record.time_ns));
	}
	return NULL;
}

/* Notes that the tasks of this round's samples need their names and mappings. */
static struct sp_error *add_needs(struct sp_capture *capture)
{
	const struct record_fields *fields = &capture->samples.filter.fields;
	uint64_t shift_ns = capture->bank.rewrite.shift_ns;
	struct record_values record;
	for (size_t i = 0; i < capture->bank.count; i++) {
		const struct ring *ring = ring_bank_ring(&capture->bank, i);
		uint64_t end = ring_bank_end(&capture->bank, i);
		for (uint64_t at = ring->tail;
		     at < end && record_values_read(ring, at, end, fields, &record);
		     at += record.header.size)
			NEED(metadata_hold_add_need(&capture->hold, record.pid, record.tid,
						    record.time_ns + shift_ns));
	}
	return add_needs_of_snapshots(capture);
}

/* Holds back names and mappings of processes without samples if there are too many. */
static struct sp_error *hold_metadata(struct sp_capture *capture)
{
	struct metadata_hold *hold = &capture->hold;
	struct record_buffer *records = &capture->tasks.tracker.kept;
	struct synth *synth = capture->tasks.synth;
	struct task_list *deferred = synth ? synth_deferred(synth) : NULL;
	for (; deferred && deferred->count; deferred->count--)
		NEED(metadata_hold_defer(hold, *vec_last(deferred)));
	if (!metadata_hold_is_needed(hold, records, capture_now_ns()))
		return NULL;
	TRY(add_needs(capture));
	NEED(metadata_hold_filter(hold, records, capture->round_ns));
	return NULL;
}

/* Reads the processes that were deferred, and now have samples. */
static struct sp_error *read_deferred(struct sp_capture *capture)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	struct sp_error *error = NULL;
	uint32_t pid;
	while (!error && metadata_hold_next(&capture->hold, &pid, &threads)) {
		synth_set_time(capture->tasks.synth, capture->round_ns);
		error = synth_process_again(capture->tasks.synth, pid, &threads);
		synth_set_time(capture->tasks.synth, 0);
		metadata_hold_charge(&capture->hold, capture->out.synthesised.count);
		if (!error)
			error = capture_write_synthesised(capture);
	}
	return error;
}

static struct sp_error *write_samples(struct sp_capture *capture)
{
	TRY(sample_path_write(&capture->samples, &capture->bank, &capture->out.batch,
			      &capture->out.dirty));
	return capture_fit_events(capture);
}

struct sp_error *capture_write_synthesised(struct sp_capture *capture)
{
	struct record_buffer *made = &capture->out.synthesised;
	TRY(on_metadata(capture, made, true));
	if (!capture->overwrite.on)
		TRY(sample_path_on_metadata(&capture->samples, made->items, made->count));
	return recording_add_synthesised(&capture->out);
}

/* Reads /proc again after lost metadata, and removes tasks that have ended. */
static struct sp_error *rescan_lost_tasks(struct sp_capture *capture, bool last)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	uint64_t monotonic_ns = capture_now_ns();
	if (capture->bank.metadata_was_full)
		tasks_request_rescan(&capture->tasks, false);
	capture->bank.metadata_was_full = false;
	if (!tasks_start_rescan(&capture->tasks, monotonic_ns, last)) {
		TRY(tasks_rescan_command(&capture->tasks, monotonic_ns, capture->begin_ns,
					 capture->round_ns));
		return capture->out.synthesised.count ? capture_write_synthesised(capture) : NULL;
	}
	uint64_t now_ns = capture_record_time_ns(capture);
	TRY(tasks_rescan(&capture->tasks, capture->round_ns, now_ns, &running));
	if (capture->samples.live_unwind)
		TRY(live_unwind_retain(capture->samples.live_unwind, running.items, running.count,
				       now_ns));
	if (capture->out.rotation.tracks)
		TRY(live_state_retain(&capture->out.rotation.live_state, running.items,
				      running.count, capture->round_ns));
	return capture_write_synthesised(capture);
}

/* Reads processes that may have moved code to memory without a file. */
static struct sp_error *read_moved(struct sp_capture *capture, bool last)
{
	struct recorded_tasks *tasks = &capture->tasks;
	const struct record_buffer *kept = &tasks->tracker.kept;
	struct metadata_record record;
	const struct record_fields *fields = &tasks->tracker.fields;
	for (size_t at = 0; metadata_next(kept->items, kept->count, &at, fields, &record);)
		NEED(moved_code_on_record(&tasks->moved, &record));
	if (!tasks->moved.pending)
		return NULL;
	TRY(moved_code_read(&tasks->moved, tasks->synth, capture_now_ns(), capture->round_ns,
			    last));
	return capture_write_synthesised(capture);
}

/* Writes further parts of a shortened round, as long as they fit. */
static struct sp_error *fill_up(struct sp_capture *capture)
{
	bool more = true;
	struct sp_error *error = NULL;
	while (!error) {
		error = capture_extend_round(capture, &more);
		if (error || !more)
			break;
		error = write_samples(capture);
		error = error_first(error, batch_flush(&capture->out.batch));
	}
	return error ? error : capture_end_cut(capture);
}

static struct sp_error *write_round(struct sp_capture *capture, bool last)
{
	const struct record_buffer *kept = &capture->tasks.tracker.kept;
	struct sp_error *error = recording_add(&capture->out, kept->items, kept->count);
	if (!error && !capture->overwrite.on)
		error = sample_path_on_metadata(&capture->samples, kept->items, kept->count);
	if (!error)
		error = rescan_lost_tasks(capture, last);
	if (!error)
		error = read_moved(capture, last);
	if (!error)
		error = read_deferred(capture);
	if (!error)
		error = write_samples(capture);
	struct sp_error *flush_error = batch_flush(&capture->out.batch);
	capture->tasks.tracker.kept.count = 0;
	error = error_first(error, flush_error);
	if (!error)
		error = fill_up(capture);
	if (!error)
		/* This round has read all samples from before the last round's time. */
		error = sample_path_write_waits(
			&capture->samples, last ? UINT64_MAX : capture->round_ns,
			last ? capture->round_ns : 0, &capture->out.batch, &capture->out.dirty);
	return error ?: capture_drain_aux(capture, last);
}

static struct sp_error *expire_live_state(struct sp_capture *capture, uint64_t before_ns)
{
	struct rotation *rotation = &capture->out.rotation;
	if (!rotation->tracks)
		return NULL;
	if (capture->overwrite.on)
		return overwrite_expire(&capture->overwrite, &rotation->live_state);
	uint64_t oldest_ns = sample_path_oldest_ns(&capture->samples);
	return live_state_expire(&rotation->live_state, oldest_ns < before_ns ? oldest_ns : before_ns);
}

static struct sp_error *expire(struct sp_capture *capture)
{
	if (!capture->overwrite.on)
		double_sampling_remove_ended(&capture->tasks.double_sampling);
	if (capture->tasks.tracker.last_ns <= LAG_NS)
		return NULL;
	uint64_t before_ns = capture->tasks.tracker.last_ns - LAG_NS;
	TRY(expire_live_state(capture, before_ns));
	if (capture->overwrite.on && capture->out.rotation.live_state.base_ns < before_ns)
		before_ns = capture->out.rotation.live_state.base_ns;
	tasks_expire(&capture->tasks, before_ns);
	command_lines_expire(&capture->command_lines, before_ns);
	return sample_path_expire(&capture->samples, before_ns);
}

struct sp_error *capture_round(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_record_time_ns(capture);
	/*
	 * In the last round, all is unwound, and losses were counted: the ends are noted already.
	 */
	ring_bank_end_round(&capture->bank, !capture->out.rotation.full && !last);
	struct sp_error *error = capture_drain_sideband(capture);
	if (!error)
		error = on_metadata(capture, &capture->tasks.tracker.kept, false);
	if (!error)
		error = command_lines_write(&capture->command_lines, last,
					    capture->overwrite.on ? NULL : &capture->out.extra);
	if (capture->out.rotation.full)
		capture->tasks.tracker.kept.count = 0;
	if (!error)
		error = hold_metadata(capture);
	if (!error)
		error = capture_apply_limits(capture);
	if (!error)
		error = write_round(capture, last);
	/* Few estimates are written: each has an eighth more losses than the last. */
	if (!error && capture->samples.filter.counts.lost > capture->noted_lost)
		error = capture_note_lost_own(capture,
					      capture->noted_lost + capture->noted_lost / 8 + 1,
					      false);
	/* Notes count what this round wrote: stacks, waits and command lines. */
	if (!error && last)
		error = capture_note_end(capture);
	if (!error)
		error = expire(capture);
	if (error)
		return error;
	capture->round_ns = now_ns;
	const struct recording_progress progress = capture_progress(capture);
	return recording_end_round(&capture->out, &progress, last);
}
