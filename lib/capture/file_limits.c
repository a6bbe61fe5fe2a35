/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits of a file: its size and its age (--max-size, --switch-output).
 *
 * How much room a round needs is known only when it is written: unwound or compressed, samples are
 * smaller than in the ring buffers. Therefore a round that might not fit is first shortened to the
 * records that fit in any case. When they are written, it is extended by what fits then, until the
 * ring buffers are empty or the file is full. A full file is followed by the next one; after the
 * last one (--max-size), recording ends.
 */
#include "capture/recorder.h"

/* Size of a note of a thread's CPU time: each thread has one when the file ends. */
#define THREAD_NOTE_BYTES UINT64_C(200)

/*
 * Returns the file's largest size with this round's metadata, `samples` bytes of samples, and the
 * notes of threads: at most a quarter of the limit, because any user may have many threads.
 */
static uint64_t bytes_after(const struct sp_capture *capture, uint64_t samples)
{
	const struct recording *out = &capture->out;
	bool is_last;
	uint64_t notes = capture->schedstat.threads.count * THREAD_NOTE_BYTES;
	uint64_t most = recording_limit(out, &is_last) / 4;
	return recording_bytes_after(out, samples + capture->tasks.tracker.kept.count +
						  out->extra.count + (notes < most ? notes : most));
}

/* Flushes drained samples to the file: unwound or compressed, they are smaller than in the ring. */
static struct sp_error *flush_samples(struct sp_capture *capture)
{
	TRY(sample_path_flush(&capture->samples, &capture->out.batch, &capture->out.dirty));
	if (capture->out.rotation.maker->info.compression_level)
		TRY(write_queue_flush(capture->out.write_queue));
	return NULL;
}

/* Returns whether the current file has samples. */
static bool has_samples(const struct sp_capture *capture)
{
	return capture->samples.filter.counts.samples > capture->out.rotation.samples_before;
}

/*
 * Limits the round to records that fit in a file of up to `most` bytes, and notes if it leaves out
 * any (rotation->cut). Returns whether some fit.
 */
static bool shorten_round(struct sp_capture *capture, uint64_t most)
{
	struct rotation *rotation = &capture->out.rotation;
	struct ring_bank *bank = &capture->bank;
	uint64_t used = bytes_after(capture, 0), room = used < most ? most - used : 0;
	bool has_any = ring_bank_limit(bank, UINT64_MAX);
	rotation->cut = used + ring_bank_round_bytes(bank) > most;
	if (!rotation->cut)
		return has_any;
	if (!capture->samples.waits)
		return ring_bank_limit(bank, room);
	/* The next file begins at one time in all ring buffers, at which it splits waits. */
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
	TRY(flush_samples(capture));
	*more_ret = shorten_round(capture, most);
	if (*more_ret || is_last || !rotation->cut)
		return NULL;
	if (has_samples(capture)) {
		TRY(capture_change_file(capture));
		*more_ret = shorten_round(capture, most);
	}
	if (*more_ret)
		return NULL;
	/* A new file has no room for even one record: it takes the rest. */
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
	struct rotation *rotation = &capture->out.rotation;
	bool is_last;
	uint64_t most = recording_limit(&capture->out, &is_last);
	uint64_t samples = ring_bank_round_bytes(&capture->bank);
	if (!most || bytes_after(capture, samples) <= most)
		return NULL;
	TRY(flush_samples(capture));
	if (!is_last && bytes_after(capture, 0) >= most && has_samples(capture))
		TRY(capture_change_file(capture));
	if (bytes_after(capture, samples) <= most)
		return NULL;
	bool full = bytes_after(capture, 0) >= most;
	shorten_round(capture, most);
	/* Not even the round's metadata has room. */
	if (is_last && full) {
		capture->tasks.tracker.kept.count = 0;
		rotation->ends = rotation->cut = true;
	}
	return NULL;
}

struct sp_error *capture_apply_limits(struct sp_capture *capture)
{
	struct rotation *rotation = &capture->out.rotation;
	if (rotation->full)
		return NULL;
	if (!capture->overwrite.on && rotation->switch_ns &&
	    capture_now_ns() - rotation->begun_ns >= rotation->switch_ns)
		TRY(capture_change_file(capture));
	return apply_size(capture);
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

int sp_capture_open_file(struct sp_capture *capture)
{
	struct file_maker *maker = capture->out.rotation.maker;
	return maker ? file_maker_open_current(maker) : -1;
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
