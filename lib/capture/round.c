/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A round: how far the samples have come is looked at first, then the side-band
 * is drained whole and written, then the samples up to there. So every mapping
 * and every fork that a sample needs has been seen when it is looked at, and is
 * in the file before it. perf's readers want to know how far all rings have been
 * read (FINISHED_ROUND): they sort by time what lies between two such marks.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/recorder.h"
#include "capture/tasks/rescan.h"
#include "record/note.h"

/* Marks and commits are so far apart at least, and hold all that was written before. */
#define COMMIT_NS 200000000

/* Samples of later rounds are not older than the side-band by more than this. */
#define LAG_NS 2000000000

uint64_t capture_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t capture_record_time_ns(const struct sp_capture *capture)
{
	return tasks_now_ns(&capture->tasks);
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
	return tasks_drain(&capture->tasks, capture->bank.metadata);
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

/* How much is copied of stacks from now on. */
static struct sp_error *update_size(struct sp_capture *capture)
{
	struct wide_seen seen = unwinding_seen(capture->samples.unwinding);
	uint64_t now_ns = capture_now_ns();
	seen.need.lost = capture->samples.filter.counts.lost;
	struct sp_error *error = wide_update(&capture->control.wide, &seen, now_ns);
	unwinding_alarm(capture->samples.unwinding, wide_can_grow(&capture->control.wide, now_ns));
	return error;
}

static struct sp_error *say_pace(struct sp_capture *capture, bool slow)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	uint64_t usual = attr->freq ? capture->config.plan->freq_hz : attr->sample_period;
	uint64_t now = attr->freq ? usual / WIDE_SLOWER : usual * WIDE_SLOWER;
	uint64_t permille = (uint64_t)(1000 * capture->control.pace.share);
	if (!slow && attr->freq)
		return notes_add(&capture->out.notes, NOTE_RATE_RESTORED, NULL, usual);
	if (!slow)
		return notes_add(&capture->out.notes, NOTE_PERIOD_RESTORED, NULL, usual);
	if (!attr->freq)
		return notes_add(&capture->out.notes, NOTE_PERIOD_RAISED, NULL, permille, now, usual);
	return notes_add(&capture->out.notes, NOTE_RATE_LOWERED, NULL, permille, now, usual);
}

/* Where too many samples are lost, fewer are taken. */
static struct sp_error *keep_pace(struct sp_capture *capture)
{
	const struct filter_counts *counts = &capture->samples.filter.counts;
	const struct pace_seen seen = {.samples = counts->samples + counts->strangers,
				       .lost = counts->lost};
	uint64_t now_ns = capture_now_ns();
	if (!wide_has_slow(&capture->control.wide) || !capture_samples_all(capture) ||
	    !pace_changes(&capture->control.pace, &seen, now_ns))
		return NULL;
	struct sp_error *error = wide_slow_down(&capture->control.wide, capture->control.pace.slow, now_ns);
	return error ? error : say_pace(capture, capture->control.pace.slow);
}

static struct sp_error *write_samples(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < capture->bank.count && !error; i++) {
		struct ring *ring = ring_bank_ring(&capture->bank, i);
		uint64_t end = ring_bank_end(&capture->bank, i);
		capture->out.dirty |= ring->tail != end;
		error = filter_ring(&capture->samples.filter, ring, end, &capture->out.batch);
	}
	if (!error && capture->samples.unwinding)
		error = unwinding_write(capture->samples.unwinding, &capture->out.batch, &capture->out.dirty);
	if (!error)
		error = keep_pace(capture);
	return error || !capture->samples.unwinding ? error : update_size(capture);
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

static struct sp_error *make_good(struct sp_capture *capture, bool last)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	if (capture->bank.metadata_was_full)
		tasks_request_rescan(&capture->tasks, false);
	capture->bank.metadata_was_full = false;
	if (!tasks_start_rescan(&capture->tasks, capture_now_ns(), last))
		return NULL;
	uint64_t now_ns = capture_record_time_ns(capture);
	struct sp_error *error = tasks_rescan(&capture->tasks, capture->round_ns, now_ns, &running);
	if (!error && capture->samples.unwinding)
		error = unwinding_retain(capture->samples.unwinding, running.items, running.count, now_ns);
	if (!error && capture->out.switching.tracks)
		error = roster_retain(&capture->out.switching.roster, running.items, running.count,
				      capture->round_ns);
	if (error)
		return error;
	return capture_write_synthesised(capture);
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
	tasks_forget(&capture->tasks, before_ns);
	return capture->samples.unwinding ? unwinding_forget(capture->samples.unwinding, before_ns) : NULL;
}

struct sp_error *capture_round(struct sp_capture *capture, bool last)
{
	uint64_t now_ns = capture_record_time_ns(capture);
	ring_bank_snapshot(&capture->bank, !capture->out.switching.full);
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
