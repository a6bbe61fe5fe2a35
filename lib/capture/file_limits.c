/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of a file: its size and its age. */
#include "base/cleanup.h"
#include "capture/recorder.h"

/* Returns the file's largest size with this round's metadata and `samples` bytes of samples. */
static uint64_t bytes_after(const struct sp_capture *capture, uint64_t samples)
{
	return recording_bytes_after(&capture->out, samples + capture->tasks.tracker.kept.count);
}

/* Flushes drained samples to the file: unwound or compressed, they are smaller than in the ring. */
static struct sp_error *flush_samples(struct sp_capture *capture)
{
	struct sp_error *error =
		sample_path_flush(&capture->samples, &capture->out.batch, &capture->out.dirty);
	if (!error && capture->out.rotation.maker->info.compression_level)
		error = write_queue_flush(capture->out.write_queue);
	return error;
}

/* Returns whether the current file has samples. */
static bool has_samples(const struct sp_capture *capture)
{
	return capture->samples.filter.counts.samples > capture->out.rotation.samples_before;
}

/* Limits the round to what has room in this file; returns whether it has any record. */
static bool shorten_round(struct sp_capture *capture, uint64_t most)
{
	struct rotation *rotation = &capture->out.rotation;
	struct ring_bank *bank = &capture->bank;
	uint64_t without = bytes_after(capture, 0);
	ring_bank_limit(bank, UINT64_MAX);
	rotation->cut = without + ring_bank_round_bytes(bank) > most;
	uint64_t room = without < most ? most - without : 0;
	if (!rotation->cut || !capture->samples.waits)
		return ring_bank_limit(bank, rotation->cut ? room : UINT64_MAX);
	rotation->cut_ns = ring_bank_limit_in_time(bank, &capture->samples.filter.fields, room);
	return ring_bank_round_bytes(bank);
}

struct sp_error *capture_extend_round(struct sp_capture *capture, bool *more_ret)
{
	struct rotation *rotation = &capture->out.rotation;
	bool is_last;
	uint64_t most = recording_limit(&capture->out, &is_last);
	*more_ret = false;
	if (!rotation->cut || rotation->ends)
		return NULL;
	struct sp_error *error = flush_samples(capture);
	if (error)
		return error;
	*more_ret = shorten_round(capture, most);
	if (*more_ret || is_last || !rotation->cut)
		return NULL;
	if (has_samples(capture)) {
		error = capture_change_file(capture);
		*more_ret = !error && shorten_round(capture, most);
	}
	if (*more_ret || error)
		return error;
	/* Not even a new one has room for a record: it takes the rest. */
	ring_bank_limit(&capture->bank, UINT64_MAX);
	rotation->cut = false;
	*more_ret = true;
	return NULL;
}

struct sp_error *capture_end_cut(struct sp_capture *capture)
{
	struct rotation *rotation = &capture->out.rotation;
	if (!rotation->cut)
		return NULL;
	rotation->cut = false;
	rotation->full = true;
	return notes_add(&capture->out.notes, NOTE_MAX_SIZE, NULL, rotation->max_bytes);
}

/* Shortens a round that might not fit. */
static struct sp_error *apply_size(struct sp_capture *capture)
{
	bool is_last;
	uint64_t most = recording_limit(&capture->out, &is_last);
	uint64_t samples = ring_bank_round_bytes(&capture->bank);
	if (!most || bytes_after(capture, samples) <= most)
		return NULL;
	struct sp_error *error = flush_samples(capture);
	if (!error && !is_last && bytes_after(capture, 0) >= most && has_samples(capture))
		error = capture_change_file(capture);
	if (error || bytes_after(capture, samples) <= most)
		return error;
	bool full = bytes_after(capture, 0) >= most;
	shorten_round(capture, most);
	if (is_last && full) {
		capture->tasks.tracker.kept.count = 0;
		capture->out.rotation.ends = capture->out.rotation.cut = true;
	}
	return NULL;
}

struct sp_error *capture_apply_limits(struct sp_capture *capture)
{
	struct rotation *rotation = &capture->out.rotation;
	struct sp_error *error = NULL;
	if (rotation->full)
		return NULL;
	if (!capture->overwrite.on && rotation->switch_ns &&
	    capture_now_ns() - rotation->begun_ns >= rotation->switch_ns)
		error = capture_change_file(capture);
	return error ? error : apply_size(capture);
}

bool sp_capture_next_file(struct sp_capture *capture, struct sp_capture_file *ret)
{
	struct file_maker *maker = capture->out.rotation.maker;
	return maker && file_maker_next_done(maker, ret);
}

int sp_capture_take_file(struct sp_capture *capture)
{
	struct file_maker *maker = capture->out.rotation.maker;
	return maker ? file_maker_take_file(maker) : -1;
}

uint64_t sp_capture_file_limit(const struct sp_capture *capture)
{
	const struct rotation *rotation = &capture->out.rotation;
	uint64_t most = rotation->switch_bytes ?: rotation->max_bytes;
	uint64_t rings = ring_bank_bytes(&capture->bank);
	uint64_t closing = recording_closing_bytes(&capture->out);
	if (capture->overwrite.on)
		most = rotation->first_bytes + rings + OVERWRITE_LOG_BYTES + closing;
	if (rotation->max_bytes && rotation->max_bytes < most)
		most = rotation->max_bytes;
	/* A new file takes the rest of a round, if not even one record fits. */
	if (rotation->switch_bytes && most < rotation->first_bytes + RING_RECORD_MAX + closing)
		most = rotation->first_bytes + rings + closing;
	return most;
}

/* The end of a file, and the beginning of the next. */

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

static struct sp_error *note_begin(struct sp_capture *capture, uint64_t begin_ns)
{
	const struct note_records to = {&capture->out.extra, begin_ns};
	TRY(notes_write_once(&to, NOTE_OF(NOTE_FILE_BEGINS, NULL)));
	return schedstat_note_all(&capture->schedstat);
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

/* The file gets its part of the waits that are not over. */
static struct sp_error *split_waits(struct sp_capture *capture)
{
	struct recording *out = &capture->out;
	uint64_t end_ns = capture_split_ns(capture);
	if (!capture->samples.waits)
		return NULL;
	/* All records until then have come, and stacks of that time must not be on their way. */
	TRY(sample_path_flush(&capture->samples, &out->batch, &out->dirty));
	return sample_path_write_waits(&capture->samples, end_ns, end_ns, &out->batch, &out->dirty);
}

/* The new file has no mappings of large processes: they are read when they have a sample. */
static struct sp_error *defer_large(struct sp_capture *capture)
{
	uint32_t pid;
	for (size_t i = 0; (pid = live_state_next_large(&capture->out.rotation.live_state, &i));)
		NEED(metadata_hold_defer(&capture->hold, pid));
	return NULL;
}

struct sp_error *capture_change_file(struct sp_capture *capture)
{
	struct sp_error *error = schedstat_note_all(&capture->schedstat);
	if (!error)
		error = split_waits(capture);
	if (!error)
		error = capture_count_lost(capture);
	if (error)
		return error;
	const struct recording_progress progress = capture_progress(capture);
	/* Waits are split at one time in all ring buffers. A file does not end before it begins. */
	uint64_t seen_ns = progress.seen_ns > capture->round_ns ? progress.seen_ns
								: capture->round_ns;
	uint64_t border_ns = capture->samples.waits ? capture_split_ns(capture) : seen_ns;
	if (!capture->overwrite.on)
		error = note_end(capture, border_ns);
	if (!error)
		error = recording_commit(&capture->out, &progress);
	if (error)
		return error;
	const struct recording_end end = capture_end_of_file(capture);
	error = recording_change(&capture->out, &end);
	sample_path_restart(&capture->samples);
	capture->bank.was_full = false;
	if (!error && !capture->overwrite.on)
		error = recording_write_live(&capture->out);
	if (!error && !capture->overwrite.on)
		error = command_lines_write_live(&capture->command_lines, &capture->out.extra);
	if (!error)
		error = defer_large(capture);
	if (!error && !capture->overwrite.on)
		error = note_begin(capture, border_ns);
	if (!error && !capture->overwrite.on)
		error = capture_note_off(capture);
	recording_begin_samples(&capture->out);
	return error;
}
