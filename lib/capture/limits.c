/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of a file: its size and its age. */
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

/* Whether this one has more than what it began with. */
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
	bool ends;
	uint64_t most = recording_limit(&capture->out, &ends);
	*more_ret = false;
	if (!rotation->cut || rotation->ends)
		return NULL;
	struct sp_error *error = flush_samples(capture);
	if (error)
		return error;
	*more_ret = shorten_round(capture, most);
	if (*more_ret || ends || !rotation->cut)
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
	bool ends;
	uint64_t most = recording_limit(&capture->out, &ends);
	uint64_t samples = ring_bank_round_bytes(&capture->bank);
	if (!most || bytes_after(capture, samples) <= most)
		return NULL;
	struct sp_error *error = flush_samples(capture);
	if (!error && !ends && bytes_after(capture, 0) >= most && has_samples(capture))
		error = capture_change_file(capture);
	if (error || bytes_after(capture, samples) <= most)
		return error;
	bool full = bytes_after(capture, 0) >= most;
	shorten_round(capture, most);
	if (ends && full) {
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
	return capture->out.rotation.maker && file_maker_next_done(capture->out.rotation.maker, ret);
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
