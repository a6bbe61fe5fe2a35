/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A round: how far the samples have come is looked at first, then the side-band
 * is drained whole and written, then the samples up to there. So every mapping
 * and every fork that a sample needs has been seen when it is looked at, and is
 * in the file before it. perf's readers want to know how far all rings have been
 * read (FINISHED_ROUND): they sort by time what lies between two such marks.
 */
#include "base/clock.h"
#include "capture/recorder.h"
#include "record/note.h"

/* Marks and commits are so far apart at least, and hold all that was written before. */
#define COMMIT_NS 200000000

/* /proc is read again at most that often. */
#define RESCAN_NS 1000000000

/* Of the side-band: a mapping's, with the longest path. */
#define PATH_RECORD_MAX 4352

/* Samples of later rounds are not older than the side-band by more than this. */
#define LAG_NS 2000000000

uint64_t capture_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t capture_record_time_ns(const struct sp_capture *capture)
{
	/* The kernel's own clock cannot be read: what was last seen of it will do. */
	if (capture->plan->clock_id == EVENT_CLOCK_KERNEL)
		return capture->tracker.last_ns;
	return clock_ns(capture->plan->clock_id) + capture->retouch.shift_ns;
}

/* Notes made since the last round become records. */
static struct sp_error *add_notes(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	uint64_t time_ns = capture->commit_ns ? capture_record_time_ns(capture) : 0;
	for (; capture->notes_written < capture->notes.count && !error; capture->notes_written++) {
		struct recorder_note *note = &capture->notes.items[capture->notes_written];
		note->note.time_ns = time_ns;
		if (!note->is_derived)
			error = record_encode_note(&capture->extra, &note->note);
	}
	return error;
}

/* Samples that were left out become records of losses, as the kernel has them. */
static struct sp_error *add_shed(struct sp_capture *capture, bool last)
{
	struct writing_shed shed;
	struct sp_error *error = NULL;
	/* As long as there is no room: often enough to show when that was. */
	bool now = last || capture_now_ns() - capture->commit_ns >= COMMIT_NS;
	while (!error && writing_next_shed(capture->writing, now, &shed)) {
		const struct sp_record record = {
			.type = PERF_RECORD_LOST_SAMPLES,
			.id = {.time_ns = capture_record_time_ns(capture), .id = shed.id,
			       .cpu = shed.cpu},
			.lost = {.lost = shed.samples},
		};
		error = record_encode(&capture->extra, &record, &capture->plan->samples[0].attr);
	}
	return error;
}

/* What is in `extra` goes out now. */
static struct sp_error *flush_extra(struct sp_capture *capture)
{
	struct sp_error *error = batch_add_bytes(&capture->batch, capture->extra.items,
						 capture->extra.count);
	if (!error)
		error = batch_flush(&capture->batch);
	capture->extra.count = 0;
	return error;
}

/*
 * Who reads the mark takes it that nothing follows which is older than what was there at
 * the mark before: so samples that are still unwound since then have to come first.
 */
static struct sp_error *add_mark(struct sp_capture *capture, bool *added_ret)
{
	const struct sp_record mark = {.type = SP_RECORD_FINISHED_ROUND};
	*added_ret = !capture->unwinding ||
		     unwinding_oldest_ns(capture->unwinding) >= capture->marked_ns;
	if (!*added_ret)
		return NULL;
	capture->marked_ns = capture->tracker.last_ns;
	if (capture->filter.counts.last_ns > capture->marked_ns)
		capture->marked_ns = capture->filter.counts.last_ns;
	return record_encode(&capture->extra, &mark, NULL);
}

struct sp_error *capture_commit(struct sp_capture *capture)
{
	bool marked;
	struct sp_error *error = add_mark(capture, &marked);
	if (!error)
		error = flush_extra(capture);
	if (!error)
		error = writing_commit(capture->writing);
	capture->dirty = !marked;
	capture->commit_ns = capture_now_ns();
	return error;
}

struct sp_error *capture_drain_sideband(struct sp_capture *capture)
{
	return tracker_drain(&capture->tracker, sideband_rings(capture), capture->cpus.count);
}

static struct sp_error *write_sideband(struct sp_capture *capture)
{
	struct record_buffer *kept = &capture->tracker.kept;
	struct sp_error *error = capture_remember(capture, kept->items, kept->count);
	if (error || capture->flight.on)
		return error;
	error = capture_note_files(capture, kept->items, kept->count);
	if (!error && capture->unwinding)
		error = unwinding_see(capture->unwinding, kept->items, kept->count);
	if (!error)
		error = batch_add_bytes(&capture->batch, kept->items, kept->count);
	capture->dirty |= kept->count != 0;
	return error;
}

/* How much is copied of stacks from now on. */
static struct sp_error *update_size(struct sp_capture *capture)
{
	struct wide_seen seen = unwinding_seen(capture->unwinding);
	uint64_t now_ns = capture_now_ns();
	seen.need.lost = capture->filter.counts.lost;
	struct sp_error *error = wide_update(&capture->wide, &seen, now_ns);
	unwinding_alarm(capture->unwinding, wide_can_grow(&capture->wide, now_ns));
	return error;
}

static struct sp_error *say_pace(struct sp_capture *capture, bool slow)
{
	const struct perf_event_attr *attr = &capture->plan->samples[0].attr;
	uint64_t usual = attr->freq ? capture->plan->freq_hz : attr->sample_period;
	uint64_t now = attr->freq ? usual / WIDE_SLOWER : usual * WIDE_SLOWER;
	uint64_t permille = (uint64_t)(1000 * capture->pace.share);
	if (!slow && attr->freq)
		return capture_note(capture, NOTE_RATE_RESTORED, NULL, usual);
	if (!slow)
		return capture_note(capture, NOTE_PERIOD_RESTORED, NULL, usual);
	if (!attr->freq)
		return capture_note(capture, NOTE_PERIOD_RAISED, NULL, permille, now, usual);
	return capture_note(capture, NOTE_RATE_LOWERED, NULL, permille, now, usual);
}

/* Where too many samples are lost, fewer are taken. */
static struct sp_error *keep_pace(struct sp_capture *capture)
{
	const struct filter_counts *counts = &capture->filter.counts;
	const struct pace_seen seen = {.samples = counts->samples + counts->strangers,
				       .lost = counts->lost};
	uint64_t now_ns = capture_now_ns();
	if (!wide_has_slow(&capture->wide) || !capture_samples_all(capture) ||
	    !pace_changes(&capture->pace, &seen, now_ns))
		return NULL;
	struct sp_error *error = wide_slow_down(&capture->wide, capture->pace.slow, now_ns);
	return error ? error : say_pace(capture, capture->pace.slow);
}

static struct sp_error *write_samples(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < capture->cpus.count && !error; i++) {
		struct ring *ring = round_ring(capture, i);
		capture->dirty |= ring->tail != capture->heads[i];
		error = filter_ring(&capture->filter, ring, capture->heads[i], &capture->batch);
	}
	if (!error && capture->unwinding)
		error = unwinding_write(capture->unwinding, &capture->batch, &capture->dirty);
	if (!error)
		error = keep_pace(capture);
	return error || !capture->unwinding ? error : update_size(capture);
}

struct sp_error *capture_write_synthesised(struct sp_capture *capture)
{
	struct record_buffer *made = &capture->synthesised;
	struct sp_error *error = capture_remember(capture, made->items, made->count);
	if (error || capture->flight.on) {
		made->count = 0;
		return error;
	}
	error = capture_note_files(capture, made->items, made->count);
	if (!error && capture->unwinding)
		error = unwinding_see(capture->unwinding, made->items, made->count);
	if (!error)
		error = batch_add_bytes(&capture->batch, made->items, made->count);
	if (!error)
		error = batch_flush(&capture->batch);
	capture->dirty |= made->count != 0;
	made->count = 0;
	return error;
}

/* What was lost is looked for in /proc; not all the time, which would lose still more. */
static struct sp_error *make_good(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_now_ns();
	if ((capture->tracker.counts.lost == capture->sideband_lost_seen &&
	     !capture->sideband_was_full) ||
	    (capture->rescan_ns && now_ns - capture->rescan_ns < RESCAN_NS && !last))
		return NULL;
	struct sp_error *error = capture_rescan(capture);
	capture->rescan_ns = now_ns;
	capture->sideband_was_full = false;
	return error ? error : capture_write_synthesised(capture);
}

/* Where only a part of the round fitted: more of it, as long as any does. */
static struct sp_error *fill_up(struct sp_capture *capture)
{
	bool more = true;
	struct sp_error *error = NULL;
	while (!error) {
		error = capture_take_more(capture, &more);
		if (error || !more)
			break;
		error = write_samples(capture);
		error = error_first(error, batch_flush(&capture->batch));
	}
	return error ? error : capture_end_cut(capture);
}

static struct sp_error *write_round(struct sp_capture *capture, bool last)
{
	struct sp_error *error = write_sideband(capture);
	if (!error)
		error = make_good(capture, last);
	if (!error)
		error = write_samples(capture);
	struct sp_error *flush_error = batch_flush(&capture->batch);
	capture->tracker.kept.count = 0;
	error = error_first(error, flush_error);
	if (!error)
		error = fill_up(capture);
	return error ?: capture_take_traces(capture);
}

static struct sp_error *forget_roster(struct sp_capture *capture, uint64_t before_ns)
{
	struct switching *switching = &capture->switching;
	if (!switching->tracks)
		return NULL;
	if (capture->flight.on)
		return capture_forget_flight(capture);
	uint64_t oldest_ns = capture->unwinding ? unwinding_oldest_ns(capture->unwinding) : before_ns;
	return roster_forget(&switching->roster, oldest_ns < before_ns ? oldest_ns : before_ns);
}

static struct sp_error *forget(struct sp_capture *capture)
{
	if (!capture->flight.on)
		doubts_forget_ended(&capture->doubts);
	if (capture->tracker.last_ns <= LAG_NS)
		return NULL;
	uint64_t before_ns = capture->tracker.last_ns - LAG_NS;
	struct sp_error *error = forget_roster(capture, before_ns);
	if (error)
		return error;
	if (capture->flight.on && capture->switching.roster.base_ns < before_ns)
		before_ns = capture->switching.roster.base_ns;
	membership_forget(&capture->membership, before_ns);
	membership_forget(&capture->spaces, before_ns);
	return capture->unwinding ? unwinding_forget(capture->unwinding, before_ns) : NULL;
}

/*
 * A loss is told by the next record that finds room. Where nothing begins or ends on that
 * CPU that may be never, while what was begun unseen runs on.
 */
static void look_at_sideband(struct sp_capture *capture)
{
	for (size_t i = 0; i < capture->cpus.count; i++) {
		const struct ring *ring = &sideband_rings(capture)[i];
		size_t room = ring->size / 2 < PATH_RECORD_MAX ? ring->size / 2 : PATH_RECORD_MAX;
		capture->sideband_was_full |= ring_head(ring) - ring->tail + room > ring->size;
	}
}

static void snapshot_heads(struct sp_capture *capture)
{
	/* Rings that go round are read by capture_dump(). */
	bool wanted = !capture->flight.on && !capture->switching.full;
	if (capture->drains) {
		drains_move(capture->drains);
		capture->was_full |= drains_were_full(capture->drains);
	}
	for (size_t i = 0; i < capture->cpus.count; i++) {
		const struct ring *ring = round_ring(capture, i);
		capture->heads[i] = wanted ? ring_head(ring) : ring->tail;
		if (!capture->drains)
			capture->was_full |= capture->heads[i] - ring->tail + CAPTURE_RECORD_MAX >
					     ring->size;
	}
}

struct sp_error *capture_round(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_record_time_ns(capture);
	snapshot_heads(capture);
	look_at_sideband(capture);
	struct sp_error *error = capture_drain_sideband(capture);
	if (capture->switching.full)
		capture->tracker.kept.count = 0;
	if (!error)
		error = capture_keep_limits(capture);
	if (!error)
		error = write_round(capture, last);
	if (!error)
		error = forget(capture);
	if (error)
		return error;
	capture->round_ns = now_ns;
	error = add_notes(capture);
	if (!error)
		error = add_shed(capture, last);
	capture->dirty |= capture->extra.count != 0;
	if (!error && capture->dirty &&
	    (last || capture_now_ns() - capture->commit_ns >= COMMIT_NS))
		error = capture_commit(capture);
	writing_poke(capture->writing);
	return error;
}
