/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a file, and the beginning of the next (--switch-output). A file that ends gets its
 * part of the waits that are not over, and its losses. The next one gets the state that readers
 * need: tasks, mappings, command lines, and which events are off.
 */
#include <stdlib.h>
#include "base/cleanup.h"
#include "capture/recorder.h"

struct recording_progress capture_progress(const struct sp_capture *capture)
{
	uint64_t metadata_ns = capture->tasks.tracker.last_ns;
	const struct filter_counts *counts = &capture->samples.filter.counts;
	/* SWITCH records are newer than the samples before them, which may come later. */
	uint64_t samples_ns = counts->switch_ns > counts->last_ns ? counts->switch_ns
								  : counts->last_ns;
	return (struct recording_progress){
		.now_ns = capture_record_time_ns(capture),
		.seen_ns = samples_ns > metadata_ns ? samples_ns : metadata_ns,
		.unwritten_ns = sample_path_unwritten_ns(&capture->samples),
		.attr = &capture->config.plan->samples[0].attr,
	};
}

struct recording_end capture_end_of_file(struct sp_capture *capture)
{
	struct filter_counts *counts = &capture->samples.filter.counts;
	const struct recording_end end = {
		.first_ns = counts->first_ns,
		.last_ns = counts->last_ns,
		.samples = counts->samples,
	};
	counts->first_ns = counts->last_ns = 0;
	return end;
}

/*
 * The file ends where its latest record is. A ring buffer's last record may be older, and its next
 * ones are in the next file. Yet each moment is of one file, so that times of files sum to times of
 * the recording.
 */
static struct sp_error *note_end(struct sp_capture *capture, uint64_t end_ns)
{
	const struct note_records to = {&capture->out.extra, end_ns};
	return notes_write_once(&to, NOTE_OF(NOTE_FILE_ENDS, NULL));
}

/* Notes the CPUs with ring buffers that may have lost records since the last record read. */
static struct sp_error *note_lost_at_end(struct sp_capture *capture)
{
	struct ring_bank *bank = &capture->bank;
	struct sp_error *error = NULL;
	for (size_t i = 0; i < bank->count && !error; i++) {
		const struct note_records to = {&capture->out.extra, bank->reads[i].time_ns};
		if (bank->reads[i].was_full && bank->reads[i].time_ns)
			error = notes_write_once(&to, NOTE_OF(NOTE_LOST_AT_END, NULL,
							      bank->places[i].cpu));
	}
	return error;
}

uint64_t capture_lost_now(const struct sp_capture *capture)
{
	uint64_t reported = capture->samples.filter.counts.lost, sum = 0;
	bool known;
	/* Reading thousands of events takes milliseconds. */
	if (!capture->bank.was_full && !reported)
		return 0;
	CLEANUP_FREE uint64_t *lost = calloc(capture->config.plan->sample_count, sizeof(*lost));
	if (!lost)
		return reported;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = event_control_read_lost(&capture->control, lost, &known);
	for (size_t i = 0; i < capture->config.plan->sample_count; i++)
		sum += lost[i];
	return error || !known ? reported : sum;
}

struct sp_error *capture_count_lost(struct sp_capture *capture)
{
	size_t all;
	bool known;
	struct loss_counts counts = {.count = capture->config.plan->sample_count,
				     .reported = capture->samples.filter.counts.lost};
	/* Reading thousands of events takes milliseconds. */
	if (!capture->bank.was_full && counts.reported == capture->losses.reported)
		return NULL;
	CLEANUP_FREE uint64_t *lost = calloc(counts.count, sizeof(*lost));
	NEED(lost);
	TRY(event_control_read_lost(&capture->control, lost, &known));
	TRY(event_set_events(capture->control.set, &counts.events, &all));
	counts.of_events = known ? lost : NULL;
	struct sp_error *error = losses_end_file(&capture->losses, &counts, &capture->out.extra);
	return error || !capture->losses.unreported ? error : note_lost_at_end(capture);
}

/* The ending file gets all samples that were read, and its part of the unfinished waits. */
static struct sp_error *write_held(struct sp_capture *capture)
{
	struct recording *out = &capture->out;
	uint64_t end_ns = capture_split_ns(capture);
	/* Their times and number are in this file's header. */
	TRY(sample_path_flush(&capture->samples, &out->batch, &out->dirty));
	return sample_path_write_waits(&capture->samples, end_ns, end_ns, &out->batch, &out->dirty);
}

/* Writes the state that only earlier files have to the begin of a file. */
static struct sp_error *begin_file(struct sp_capture *capture, uint64_t begin_ns)
{
	/* The file has no mappings of large processes: they are read when they have a sample. */
	uint32_t pid;
	for (size_t i = 0; (pid = live_state_next_large(&capture->out.rotation.live_state, &i));)
		NEED(metadata_hold_defer(&capture->hold, pid));
	/* In overwrite mode, each dump writes that state before its samples (on_demand.c). */
	if (capture->overwrite.on)
		return NULL;
	TRY(recording_write_live(&capture->out));
	TRY(command_lines_write_live(&capture->command_lines, &capture->out.extra));
	const struct note_records to = {&capture->out.extra, begin_ns};
	TRY(notes_write_once(&to, NOTE_OF(NOTE_FILE_BEGINS, NULL)));
	TRY(schedstat_note_all(&capture->schedstat));
	const struct note_records now = capture_note_records(capture);
	return event_control_note_off(&capture->control, &now);
}

struct sp_error *capture_change_file(struct sp_capture *capture)
{
	TRY(schedstat_note_all(&capture->schedstat));
	TRY(write_held(capture));
	TRY(capture_count_lost(capture));
	TRY(capture_note_lost_own(capture, 0, true));
	const struct recording_progress progress = capture_progress(capture);
	/* Waits are split at one time in all ring buffers. A file does not end before it begins. */
	uint64_t seen_ns = progress.seen_ns > capture->round_ns ? progress.seen_ns
								: capture->round_ns;
	uint64_t border_ns = capture->samples.waits ? capture_split_ns(capture) : seen_ns;
	if (!capture->overwrite.on)
		TRY(note_end(capture, border_ns));
	TRY(recording_commit(&capture->out, &progress));
	const struct recording_end end = capture_end_of_file(capture);
	struct sp_error *error = recording_change(&capture->out, &end);
	sample_path_restart(&capture->samples);
	capture->bank.was_full = false;
	if (!error)
		error = begin_file(capture, border_ns);
	recording_begin_samples(&capture->out);
	return error;
}
