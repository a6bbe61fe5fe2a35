/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The session, which owns the recorder's parts and calls them in order. Its files: capture.c
 * (public functions), setup.c (preparation, and AUX areas), watch.c (what it waits for, and the
 * timer), event_calls.c (calls of the event control), perf_maps.c, round.c (a round: from the rings
 * to the file), file_limits.c (limits of a file), file_change.c (the next file), on_demand.c (dumps
 * of the rings), capture_stats.c (totals), end_notes.c (notes at the end).
 */
#pragma once

#include <sprof/capture.h>
#include <sprof/private/command.h>
#include <string.h>
#include "base/clock.h"
#include "binary/held_maps.h"
#include "capture/config/config.h"
#include "capture/event_control/event_control.h"
#include "capture/event_control/lost_counts.h"
#include "capture/output/recording_files.h"
#include "capture/overwrite/overwrite.h"
#include "capture/ring_bank/ring_bank.h"
#include "capture/samples/sample_path.h"
#include "capture/tasks/command_line_reader.h"
#include "capture/tasks/metadata_hold.h"
#include "capture/tasks/schedstat.h"
#include "capture/tasks/tasks.h"
#include "record/note.h"

/* The session: owns the parts, and connects them. */
struct sp_capture {
	struct sp_ctx *ctx;
	struct capture_config config;
	struct recorded_tasks tasks;
	struct metadata_hold hold;
	struct event_control control;
	struct losses losses;
	struct loss_phases loss_phases;
	uint64_t noted_lost; /* lost samples when the target's were last estimated */
	uint64_t lost_before, lost_own_before; /* the file's begin: all lost, the target's */
	struct ring_bank bank;
	struct schedstat schedstat;
	struct command_lines command_lines;
	struct sample_path samples;
	struct recording out;
	struct overwrite overwrite;
	struct held_maps *maps;         /* perf maps */
	bool has_proxies;               /* proxies_begin() was called */
	bool started;                   /* by sp_capture_start() */
	int epoll_fd, timer_fd;
	uint64_t timer_ns, tick_ns;      /* wanted time between rounds; the timer's interval */
	uint64_t ticks;                  /* the timer's, until periods change (dither.h) */
	uint32_t quiet_rounds;          /* consecutive rounds without a sample to unwind */
	uint64_t round_ns; /* time of the last round's begin, by the recording's clock */
	uint64_t begin_ns, end_ns;      /* CLOCK_MONOTONIC; end 0: not stopped */
	struct sp_capture_stats stats; /* last result of sp_capture_stats() */
};

/* Returns whether sampling begins when the command executes its program; else it begins at once. */
static inline bool capture_starts_by_exec(const struct sp_capture *capture)
{
	return capture->tasks.workload.pid && !capture->tasks.processes.count;
}

/* Returns CLOCK_MONOTONIC. */
static inline uint64_t capture_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the time of the recording's own clock, as in the records. */
static inline uint64_t capture_record_time_ns(const struct sp_capture *capture)
{
	return tasks_now_ns(&capture->tasks);
}

/* Returns the receiver of notes for the current file only. */
static inline struct note_records capture_note_records(struct sp_capture *capture)
{
	return (struct note_records){&capture->out.extra, capture_record_time_ns(capture)};
}

/* Returns the time at which the next file begins: all records up to then have been written. */
static inline uint64_t capture_split_ns(const struct sp_capture *capture)
{
	const struct rotation *rotation = &capture->out.rotation;
	/* If the next records cannot be read, their time is unknown. */
	bool known = rotation->cut && capture->samples.waits && rotation->cut_ns != UINT64_MAX;
	return known ? rotation->cut_ns : capture->round_ns;
}

/* setup.c */
struct sp_error *capture_plan(struct sp_capture *capture,
			      const struct capture_options *options) SP_MUST_CHECK;
struct sp_error *capture_map_rings(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Starts the drain threads, if the options or stack copies need some. Otherwise the round drains
 * the rings, through relays if it is to change records. Needs mapped rings and started unwinding.
 */
struct sp_error *capture_start_drain_threads(struct sp_capture *capture,
					     const struct capture_options *options) SP_MUST_CHECK;

struct sp_error *capture_start_live_unwind(struct sp_capture *capture) SP_MUST_CHECK;

/* Returns the files that the recorder opened to unwind; they belong to it. NULL: it does not unwind. */
struct held_files *capture_held_files(const struct sp_capture *capture);

/* perf_maps.c: finds perf maps of processes in metadata records. */
struct sp_error *capture_follow_maps(struct sp_capture *capture,
				     const struct metadata_record *record,
				     uint64_t now_ns) SP_MUST_CHECK;

struct sp_error *capture_open_file(struct sp_capture *capture,
				   const struct capture_options *options) SP_MUST_CHECK;

/* watch.c: makes the timer, and watches it with all descriptors that wake the recorder. */
struct sp_error *capture_watch(struct sp_capture *capture) SP_MUST_CHECK;

/* Sets the time between rounds: longer if there are no stacks to unwind, or as waits need it. */
struct sp_error *capture_adapt_timer(struct sp_capture *capture) SP_MUST_CHECK;

/* Reads the timer, and changes periods if that is due. *round_ret: a round is due, too. */
struct sp_error *capture_on_timer(struct sp_capture *capture, bool *round_ret) SP_MUST_CHECK;

/* event_calls.c: calls of the event control, with what they need of the other parts. */
struct sp_error *capture_watch_fd(struct sp_capture *capture, int fd) SP_MUST_CHECK;
struct sp_error *capture_open_alternates(struct sp_capture *capture,
					 const struct capture_options *options) SP_MUST_CHECK;
/* Makes the open events' ids known to the samples' path, and opens the logs of dithered periods. */
struct sp_error *capture_connect_events(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_watch_events(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_run_schedule(struct sp_capture *capture) SP_MUST_CHECK;
/* Adapts the rate, the events of switches and the size of stack copies to what was recorded. */
struct sp_error *capture_fit_events(struct sp_capture *capture) SP_MUST_CHECK;
/*
 * Checks for CPU hotplug. Call it every half a second, when the kernel reports a switch, or `now`.
 */
struct sp_error *capture_check_cpus(struct sp_capture *capture, bool now) SP_MUST_CHECK;

/* setup.c: maps the areas, once events are open, and describes them in the file. */
struct sp_error *capture_map_aux_areas(struct sp_capture *capture) SP_MUST_CHECK;
/*
 * Writes the areas' content: all, or only areas that are not read on demand. `last`, `waits`: waits
 * until the queue has room for each.
 */
struct sp_error *capture_drain_aux(struct sp_capture *capture, bool last) SP_MUST_CHECK;
struct sp_error *capture_drain_all_aux(struct sp_capture *capture, bool waits) SP_MUST_CHECK;

/* capture_stats.c: returns the CPU time of the command and its descendants that it waited for. */
uint64_t capture_command_ns(const struct sp_capture *capture);

/*
 * Writes an estimate of the target's losses in this file, from `least` lost samples on, and always
 * if the file ends: if the recording is interrupted, its readers have the last one.
 */
struct sp_error *capture_note_lost_own(struct sp_capture *capture, uint64_t least,
				       bool ends) SP_MUST_CHECK;

/* end_notes.c: adds notes that are known only when the last round has written its records. */
struct sp_error *capture_note_end(struct sp_capture *capture) SP_MUST_CHECK;

/* on_demand.c */

/* Begins overwrite mode, if it is on. Call it when rings are mapped. */
struct sp_error *capture_start_overwrite(struct sp_capture *capture) SP_MUST_CHECK;

/* Writes the samples in the rings. Begins another file, unless it is the `last` time. */
struct sp_error *capture_dump(struct sp_capture *capture, bool last) SP_MUST_CHECK;

/* round.c */

/*
 * Runs a round: moves records from the rings to the file. The `last` one writes what was held, adds
 * the notes of the end, and always commits.
 */
struct sp_error *capture_round(struct sp_capture *capture, bool last) SP_MUST_CHECK;

/* Drains the side-band into tasks.tracker; it needs no file. */
struct sp_error *capture_drain_sideband(struct sp_capture *capture) SP_MUST_CHECK;

/* Writes the synthesised records. */
struct sp_error *capture_write_synthesised(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * file_limits.c: call capture_apply_limits() between draining metadata and writing: if the round
 * might not fit into the file, it shortens the round (ring_bank_limit()) or begins another file.
 * After each writing, capture_extend_round() extends the round again, as unwound or compressed
 * samples need less room than in the ring. *more_ret is false when nothing is left.
 */
struct sp_error *capture_apply_limits(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_extend_round(struct sp_capture *capture, bool *more_ret) SP_MUST_CHECK;

/* Ends the recording if --max-size left out samples of this round. Call it last. */
struct sp_error *capture_end_cut(struct sp_capture *capture) SP_MUST_CHECK;

/* file_change.c */

/* Returns the number of records that were lost so far, which the kernel may report later. */
uint64_t capture_lost_now(const struct sp_capture *capture);

/* Counts losses at a file's end, and corrects its LOST records. */
struct sp_error *capture_count_lost(struct sp_capture *capture) SP_MUST_CHECK;

/* Ends the file and begins the next. */
struct sp_error *capture_change_file(struct sp_capture *capture) SP_MUST_CHECK;

/* Returns the content of the ending file, and begins to count for the next. */
struct recording_end capture_end_of_file(struct sp_capture *capture);

/* Returns the progress of the recording. */
struct recording_progress capture_progress(const struct sp_capture *capture);
