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
	if (capture->config.plan->clock_id == EVENT_CLOCK_KERNEL)
		return capture->tasks.tracker.last_ns;
	return clock_ns(capture->config.plan->clock_id) + capture->bank.retouch.shift_ns;
}

/* Notes made since the last round become records. */
static struct sp_error *add_notes(struct sp_capture *capture)
{
	uint64_t time_ns = capture->out.commit_ns ? capture_record_time_ns(capture) : 0;
	return notes_write(&capture->out.notes, time_ns, &capture->out.extra);
}

/* Samples that were left out become records of losses, as the kernel has them. */
static struct sp_error *add_shed(struct sp_capture *capture, bool last)
{
	struct writing_shed shed;
	struct sp_error *error = NULL;
	/* As long as there is no room: often enough to show when that was. */
	bool now = last || capture_now_ns() - capture->out.commit_ns >= COMMIT_NS;
	while (!error && writing_next_shed(capture->out.writing, now, &shed)) {
		const struct sp_record record = {
			.type = PERF_RECORD_LOST_SAMPLES,
			.id = {.time_ns = capture_record_time_ns(capture), .id = shed.id,
			       .cpu = shed.cpu},
			.lost = {.lost = shed.samples},
		};
		error = record_encode(&capture->out.extra, &record, &capture->config.plan->samples[0].attr);
	}
	return error;
}

/* What is in `extra` goes out now. */
static struct sp_error *flush_extra(struct sp_capture *capture)
{
	struct sp_error *error = batch_add_bytes(&capture->out.batch, capture->out.extra.items,
						 capture->out.extra.count);
	if (!error)
		error = batch_flush(&capture->out.batch);
	capture->out.extra.count = 0;
	return error;
}

/*
 * Who reads the mark takes it that nothing follows which is older than what was there at
 * the mark before: so samples that are still unwound since then have to come first.
 */
static struct sp_error *add_mark(struct sp_capture *capture, bool *added_ret)
{
	const struct sp_record mark = {.type = SP_RECORD_FINISHED_ROUND};
	*added_ret = !capture->samples.unwinding ||
		     unwinding_oldest_ns(capture->samples.unwinding) >= capture->out.marked_ns;
	if (!*added_ret)
		return NULL;
	capture->out.marked_ns = capture->tasks.tracker.last_ns;
	if (capture->samples.filter.counts.last_ns > capture->out.marked_ns)
		capture->out.marked_ns = capture->samples.filter.counts.last_ns;
	return record_encode(&capture->out.extra, &mark, NULL);
}

struct sp_error *capture_commit(struct sp_capture *capture)
{
	bool marked;
	struct sp_error *error = add_mark(capture, &marked);
	if (!error)
		error = flush_extra(capture);
	if (!error)
		error = writing_commit(capture->out.writing);
	capture->out.dirty = !marked;
	capture->out.commit_ns = capture_now_ns();
	return error;
}

struct sp_error *capture_drain_sideband(struct sp_capture *capture)
{
	return tracker_drain(&capture->tasks.tracker, sideband_rings(capture), capture->config.cpus.count);
}

static struct sp_error *write_sideband(struct sp_capture *capture)
{
	struct record_buffer *kept = &capture->tasks.tracker.kept;
	struct sp_error *error = capture_remember(capture, kept->items, kept->count);
	if (error || capture->flight.on)
		return error;
	error = capture_note_files(capture, kept->items, kept->count);
	if (!error && capture->samples.unwinding)
		error = unwinding_see(capture->samples.unwinding, kept->items, kept->count);
	if (!error)
		error = batch_add_bytes(&capture->out.batch, kept->items, kept->count);
	capture->out.dirty |= kept->count != 0;
	return error;
}

static struct sp_error *write_samples(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < capture->config.cpus.count && !error; i++) {
		struct ring *ring = round_ring(capture, i);
		capture->out.dirty |= ring->tail != capture->bank.heads[i];
		error = filter_ring(&capture->samples.filter, ring, capture->bank.heads[i],
				    &capture->out.batch);
	}
	if (!error && capture->samples.unwinding)
		error = unwinding_write(capture->samples.unwinding, &capture->out.batch, &capture->out.dirty);
	return error ? error : capture_fit_events(capture);
}

struct sp_error *capture_write_synthesised(struct sp_capture *capture)
{
	struct record_buffer *made = &capture->out.synthesised;
	struct sp_error *error = capture_remember(capture, made->items, made->count);
	if (error || capture->flight.on) {
		made->count = 0;
		return error;
	}
	error = capture_note_files(capture, made->items, made->count);
	if (!error && capture->samples.unwinding)
		error = unwinding_see(capture->samples.unwinding, made->items, made->count);
	if (!error)
		error = batch_add_bytes(&capture->out.batch, made->items, made->count);
	if (!error)
		error = batch_flush(&capture->out.batch);
	capture->out.dirty |= made->count != 0;
	made->count = 0;
	return error;
}

/* What was lost is looked for in /proc; not all the time, which would lose still more. */
static struct sp_error *make_good(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_now_ns();
	if ((capture->tasks.tracker.counts.lost == capture->tasks.sideband_lost_seen &&
	     !capture->bank.sideband_was_full) ||
	    (capture->tasks.rescan_ns && now_ns - capture->tasks.rescan_ns < RESCAN_NS && !last))
		return NULL;
	struct sp_error *error = capture_rescan(capture);
	capture->tasks.rescan_ns = now_ns;
	capture->bank.sideband_was_full = false;
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
		error = error_first(error, batch_flush(&capture->out.batch));
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
	struct sp_error *flush_error = batch_flush(&capture->out.batch);
	capture->tasks.tracker.kept.count = 0;
	error = error_first(error, flush_error);
	if (!error)
		error = fill_up(capture);
	return error ?: capture_take_traces(capture);
}

static struct sp_error *forget_roster(struct sp_capture *capture, uint64_t before_ns)
{
	struct switching *switching = &capture->out.switching;
	if (!switching->tracks)
		return NULL;
	if (capture->flight.on)
		return capture_forget_flight(capture);
	const struct unwinding *unwinding = capture->samples.unwinding;
	uint64_t oldest_ns = unwinding ? unwinding_oldest_ns(unwinding) : before_ns;
	return roster_forget(&switching->roster, oldest_ns < before_ns ? oldest_ns : before_ns);
}

static struct sp_error *forget(struct sp_capture *capture)
{
	if (!capture->flight.on)
		doubts_forget_ended(&capture->tasks.doubts);
	if (capture->tasks.tracker.last_ns <= LAG_NS)
		return NULL;
	uint64_t before_ns = capture->tasks.tracker.last_ns - LAG_NS;
	struct sp_error *error = forget_roster(capture, before_ns);
	if (error)
		return error;
	if (capture->flight.on && capture->out.switching.roster.base_ns < before_ns)
		before_ns = capture->out.switching.roster.base_ns;
	membership_forget(&capture->tasks.membership, before_ns);
	membership_forget(&capture->tasks.spaces, before_ns);
	return capture->samples.unwinding ? unwinding_forget(capture->samples.unwinding, before_ns) : NULL;
}

/*
 * A loss is told by the next record that finds room. Where nothing begins or ends on that
 * CPU that may be never, while what was begun unseen runs on.
 */
static void look_at_sideband(struct sp_capture *capture)
{
	for (size_t i = 0; i < capture->config.cpus.count; i++) {
		const struct ring *ring = &sideband_rings(capture)[i];
		size_t room = ring->size / 2 < PATH_RECORD_MAX ? ring->size / 2 : PATH_RECORD_MAX;
		capture->bank.sideband_was_full |= ring_head(ring) - ring->tail + room > ring->size;
	}
}

static void snapshot_heads(struct sp_capture *capture)
{
	/* Rings that go round are read by capture_dump(). */
	bool wanted = !capture->flight.on && !capture->out.switching.full;
	if (capture->bank.drains) {
		drains_move(capture->bank.drains);
		capture->bank.was_full |= drains_were_full(capture->bank.drains);
	}
	for (size_t i = 0; i < capture->config.cpus.count; i++) {
		const struct ring *ring = round_ring(capture, i);
		capture->bank.heads[i] = wanted ? ring_head(ring) : ring->tail;
		if (!capture->bank.drains)
			capture->bank.was_full |= capture->bank.heads[i] - ring->tail + CAPTURE_RECORD_MAX >
					     ring->size;
	}
}

struct sp_error *capture_round(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_record_time_ns(capture);
	snapshot_heads(capture);
	look_at_sideband(capture);
	struct sp_error *error = capture_drain_sideband(capture);
	if (capture->out.switching.full)
		capture->tasks.tracker.kept.count = 0;
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
	capture->out.dirty |= capture->out.extra.count != 0;
	if (!error && capture->out.dirty &&
	    (last || capture_now_ns() - capture->out.commit_ns >= COMMIT_NS))
		error = capture_commit(capture);
	writing_poke(capture->out.writing);
	return error;
}
