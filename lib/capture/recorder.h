/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorder's parts, between its files: capture.c (the API and its order), plan.c, rings.c,
 * setup.c, setup_file.c and watch.c (before it begins, in that order), attach.c (what runs
 * already), round.c (from rings to file).
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <sprof/capture.h>
#include <sprof/private/command.h>
#include <string.h>
#include "capture/absence.h"
#include "capture/output/auxtrace.h"
#include "capture/ring_bank/drains.h"
#include "capture/output/dsos.h"
#include "capture/samples/filter.h"
#include "capture/flight.h"
#include "capture/config/graph.h"
#include "capture/ring_bank/hurry.h"
#include "capture/config/options.h"
#include "capture/event_control/pace.h"
#include "capture/switching.h"
#include "capture/metadata/synth.h"
#include "capture/tasks/tracker.h"
#include "capture/trigger.h"
#include "capture/turns.h"
#include "capture/samples/unwinding.h"
#include "capture/wall_clock.h"
#include "capture/event_control/wide.h"
#include "capture/tasks/workload.h"
#include "capture/output/writing.h"
#include "event/set.h"
#include "proc/cgroup.h"
#include "proc/process_tree.h"
#include "proc/sysfs.h"
#include "proc/tasks.h"
#include "record/note.h"
#include "writer/writer.h"

/*
 * Of samples that wait to be written: 1.5 s of copies of 8 KB at 5,000 Hz, or minutes of
 * call chains. Twice that with records that are no samples.
 */
#define CAPTURE_WRITING_MEMORY (64u << 20)

/* A record is at most that large: with more room than that in a ring, none has been lost. */
#define CAPTURE_RECORD_MAX 65536

/* Whose samples are wanted. */
enum capture_target {
	CAPTURE_COMMAND,
	CAPTURE_PROCESSES,
	CAPTURE_THREADS,
	CAPTURE_EVERYONE,
};

/* A process that is followed from the beginning, with the threads it had. */
struct capture_process {
	uint32_t pid;
	struct task_list threads;
	/* Attaching task by task: what is known of the first ones; those found later. */
	struct task_stat *stats;
	size_t stat_count;
	struct task_list later;
	bool is_descendant;  /* found by --descendants: it may end at any time */
};

/* What is sampled by, and of what. */
struct capture_events {
	struct event_specs specs;
	struct { VEC(const char *); } filters; /* of each of the specs; NULL: none. Borrowed */
	struct { VEC(int); } cgroups;          /* the same; -1: none */
};

/* What a tracing PMU writes into AUX areas; zeroed: there is none. */
struct capture_traces {
	struct auxtrace_pmu pmu;
	size_t event;        /* of the plan's samples */
	uint64_t area_bytes; /* of each CPU */
	bool snapshot;       /* areas are overwritten, and taken only when that is asked for */
	bool sampled;        /* areas are overwritten, and what is needed of them is in samples */
	struct auxtrace_area *areas;
	size_t count;
	uint64_t bytes;      /* taken */
};

struct recorder_note {
	char *line, *object; /* the note's strings, owned */
	struct sp_note note;
	bool is_derived;     /* not written: reports derive it from the event's attributes */
};

struct sp_capture {
	struct sp_ctx *ctx;
	enum capture_target target;
	bool inherit, threads_only;
	struct turns turns;
	uint32_t realtime;
	struct hurry hurry;             /* of the calling thread, with `realtime` alone */
	char *command_name;
	struct { VEC(struct capture_process); } processes;
	struct task_list wanted_threads; /* CAPTURE_THREADS */
	struct task_list roots;          /* processes that were given by pid, ascending */
	bool descendants;                /* record theirs, too */
	struct process_tree begin_tree;  /* when recording began; of `roots` alone */
	struct { VEC(struct sp_capture_process); } refused, unrecorded;
	char *unit_path;                 /* the control group of options.target.unit */
	uint64_t used_ns;                /* CPU time of `roots` during the recording */

	struct call_graph graph;
	struct rights rights;
	struct capture_events events;
	struct event_plan *plan;
	struct event_set *set;
	struct cpu_list cpus, online;   /* recorded; of the machine at the start */
	struct ring_pages ring_pages;   /* of each CPU, as far as is known to be allowed */
	struct ring *rings;             /* those of the side-band, then those of the samples */
	uint64_t *heads;                /* of the sample rings, in a round */
	struct drains *drains;          /* who keeps these empty; NULL: the round itself */
	struct workload workload;
	int epoll_fd, timer_fd;
	uint64_t pace_ns;               /* the timer's */
	uint32_t quiet_rounds;          /* since there was a sample to unwind */

	struct wall_clock wall;         /* whose times are told, if it may be set; else off */
	struct retouch retouch;
	struct absences absences;
	struct membership membership, spaces;
	struct doubts doubts;
	struct tracker tracker;
	struct filter filter;
	struct dsos dsos;
	uint64_t kept_registers;        /* user_registers that somebody asked for */
	struct unwinding *unwinding;    /* NULL: samples go to the file as they are */
	struct wide wide;               /* events that help it */
	struct pace pace;               /* whether all of them are too fast */
	bool begins_large;              /* they are to begin with the exec, not the planned ones */
	struct unwinding_counts unwound; /* when it is over */
	struct synth *synth;
	struct record_buffer synthesised; /* what `synth` appends to */

	struct switching switching;
	struct flight flight;
	struct trigger trigger;
	bool tail_synthesize;
	bool closed;                    /* there is no file any more */
	struct writing *writing;        /* what `sink` hands on to */
	struct sink sink;
	struct batch batch;
	struct capture_traces traces;
	struct record_buffer extra;     /* records of our own on their way to the file */
	bool dirty;                     /* something was written since the last commit */
	uint64_t marked_ns;             /* all taken before the last mark is older than that */
	uint64_t commit_ns;             /* time of that */
	bool was_full;                  /* a sample ring had no room for some record */
	uint64_t round_ns;              /* when the last round began, by the recording's clock */
	bool sideband_was_full;         /* what is there has not been read again since */
	uint64_t ended_asked_ns;        /* when it was last looked for tasks that have ended */
	uint64_t sideband_lost_seen;    /* has been dealt with, */
	uint64_t rescan_ns;             /* at that time */
	uint64_t begin_ns, end_ns;      /* CLOCK_MONOTONIC; end 0: not stopped */
	uint64_t begin_ticks;           /* as task_stat's start_ticks: nobody was attached to before */
	uint64_t lost_at_end;           /* samples, beyond what LOST records say */
	uint64_t lost_helping;          /* of what those say: no samples that count */
	struct { VEC(struct recorder_note); } notes;
	size_t notes_written;
};

static inline struct ring *sideband_rings(const struct sp_capture *capture)
{
	return capture->rings;
}

static inline struct ring *sample_rings(const struct sp_capture *capture)
{
	return capture->rings + capture->cpus.count;
}

/* Where a round reads the samples of a CPU (index in `cpus`). */
static inline struct ring *round_ring(const struct sp_capture *capture, size_t index)
{
	return capture->drains ? drains_ring(capture->drains, index)
			       : &sample_rings(capture)[index];
}

/* Whether sampling begins with the command; what runs already is sampled at once. */
static inline bool capture_waits(const struct sp_capture *capture)
{
	return capture->workload.pid && !capture->processes.count;
}

/* CLOCK_MONOTONIC. */
uint64_t capture_now_ns(void);

/* The recording's own clock, as in the records. */
uint64_t capture_record_time_ns(const struct sp_capture *capture);

/* Adds a note; its text, if it has one, and its object are copied. Fails only when out of memory. */
struct sp_error *capture_add_note(struct sp_capture *capture, const struct sp_note *note) SP_MUST_CHECK;

/* A note of that kind (enum note_kind), object (a string or NULL), and the kind's values. */
#define NOTE_OF(kind_, object_, ...)                                                               \
	(struct sp_note){.kind = (kind_), .object = (object_),                                     \
			 .object_size = (object_) ? strlen((object_) ?: "") : 0,                    \
			 .value_count = note_value_count(kind_), .values = {__VA_ARGS__}}
#define capture_note(capture, kind_, object_, ...)                                                 \
	capture_add_note(capture, &NOTE_OF(kind_, object_, __VA_ARGS__))

/* The same, written at once and not printed. */
#define capture_write_note(capture, kind_, object_, ...)                                           \
	capture_encode_note(capture, NOTE_OF(kind_, object_, __VA_ARGS__))
struct sp_error *capture_encode_note(struct sp_capture *capture, struct sp_note note) SP_MUST_CHECK;

/* As capture_note(), of a kind that uses `text`. */
struct sp_error *capture_note_text(struct sp_capture *capture, uint32_t kind,
				   const char *text) SP_MUST_CHECK;

struct sp_error *capture_take_notes(struct sp_capture *capture,
				    const struct event_notes *notes) SP_MUST_CHECK;

/* plan.c */
struct sp_error *capture_plan(struct sp_capture *capture,
			      const struct capture_options *options) SP_MUST_CHECK;
/* cpu-clock or task-clock: periods are nanoseconds of CPU time. */
bool capture_is_clock(const struct perf_event_attr *attr);
bool capture_samples_kernel(const struct event_plan *plan);

/* rings.c: how large they may be, and whether that is enough. */
struct sp_error *capture_size_rings(struct sp_capture *capture,
				    const struct capture_options *options,
				    uint64_t freq_hz) SP_MUST_CHECK;
struct sp_error *capture_map_rings(struct sp_capture *capture) SP_MUST_CHECK;

/* threads.c: who drains, if that is not left to the round. */
struct sp_error *capture_start_drains(struct sp_capture *capture,
				      const struct capture_options *options) SP_MUST_CHECK;
/* Where records are changed before they are looked at, the kernel's rings will not do. */
struct sp_error *capture_retouches(struct sp_capture *capture) SP_MUST_CHECK;

/* setup.c */
struct sp_error *capture_start_unwinding(struct sp_capture *capture) SP_MUST_CHECK;

/* Returns the files that the recorder opened to unwind; they belong to it. NULL: it does not unwind. */
struct held_files *capture_held_files(const struct sp_capture *capture);
struct sp_error *capture_start_writing(struct sp_capture *capture) SP_MUST_CHECK;
void capture_fit_size(struct sp_capture *capture);
struct sp_error *capture_open_help(struct sp_capture *capture) SP_MUST_CHECK;
/* After capture_open_help(). */
struct sp_error *capture_open_slow(struct sp_capture *capture,
				   const struct capture_options *options) SP_MUST_CHECK;

/* setup_file.c */
struct sp_error *capture_open_file(struct sp_capture *capture,
				   const struct capture_options *options) SP_MUST_CHECK;

/* watch.c */
struct sp_error *capture_watch(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_watch_fd(struct sp_capture *capture, int fd) SP_MUST_CHECK;

/* Looks more seldom where there is nothing to unwind. */
struct sp_error *capture_adapt_pace(struct sp_capture *capture) SP_MUST_CHECK;

/* asking.c */
struct sp_error *capture_parse_events(struct capture_events *events, const struct sp_ctx *ctx,
				      const struct capture_options *options) SP_MUST_CHECK;
struct sp_error *capture_open_cgroups(struct capture_events *events, const struct sp_ctx *ctx,
				      const struct capture_options *options) SP_MUST_CHECK;
void capture_events_deinit(struct capture_events *events);
/* All of the request that follows from the options alone. */
void capture_ask(const struct capture_options *options, const struct capture_events *events,
		 struct event_request *request);

/* turns.c: whether no event is off, by its turn or by who said so. */
bool capture_samples_all(const struct sp_capture *capture);
struct sp_error *capture_watch_turns(struct sp_capture *capture) SP_MUST_CHECK;
/* Times count from now on. */
struct sp_error *capture_begin_turns(struct sp_capture *capture) SP_MUST_CHECK;
/* In a file that begins while samples of events are off. */
struct sp_error *capture_tell_off(struct sp_capture *capture) SP_MUST_CHECK;
/* If its time has come. */
struct sp_error *capture_take_turn(struct sp_capture *capture) SP_MUST_CHECK;
/*
 * traces.c, in this order: the event with an AUX area among those asked for, and an error where
 * one is wanted and there is none; what it makes of the request, and of the plan; the areas, once
 * events are open, and what tells of them; what is in them.
 */
struct sp_error *capture_find_traces(struct sp_capture *capture,
				     const struct capture_options *options,
				     struct event_specs *specs) SP_MUST_CHECK;
void capture_request_traces(const struct sp_capture *capture, struct event_request *request);
void capture_plan_traces(struct sp_capture *capture);
struct sp_error *capture_map_traces(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_take_traces(struct sp_capture *capture) SP_MUST_CHECK;
void capture_unmap_traces(struct sp_capture *capture);

/* attach.c: opens all events, and learns what runs already. */
struct sp_error *capture_attach(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * target.c: replaces a unit's name by its control group; checks the target; finds the processes
 * that run already.
 */
struct sp_error *capture_find_unit(struct sp_capture *capture,
				   struct capture_options *options) SP_MUST_CHECK;
struct sp_error *capture_choose_target(struct sp_capture *capture,
				       const struct capture_options *options) SP_MUST_CHECK;
struct sp_error *capture_find_processes(struct sp_capture *capture,
					const struct capture_options *options) SP_MUST_CHECK;

/*
 * descendants.c: adds descendants that are not yet recorded to `processes`; notes those that may
 * not be attached to; at the beginning and the end, which related processes are not recorded.
 */
struct sp_error *capture_find_descendants(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_note_refused(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_begin_descent(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_end_descent(struct sp_capture *capture) SP_MUST_CHECK;

/* The same of what runs at the end; what is synthesised is to be written then. */
struct sp_error *capture_describe_tail(struct sp_capture *capture) SP_MUST_CHECK;

/* rescan.c: after side-band was lost, what there is now is looked at again. */
struct sp_error *capture_rescan(struct sp_capture *capture) SP_MUST_CHECK;

/* Of those that are followed: tasks whose end was not told. */
struct sp_error *capture_forget_ended(struct sp_capture *capture) SP_MUST_CHECK;

/* lost.c: at the end, what was lost in all. */
struct sp_error *capture_count_lost(struct sp_capture *capture) SP_MUST_CHECK;

/* summary.c: what is said only when it is over. */
struct sp_error *capture_say_end(struct sp_capture *capture) SP_MUST_CHECK;

/* round.c */

/* From the rings to the file; `last` commits in any case. */
struct sp_error *capture_round(struct sp_capture *capture, bool last) SP_MUST_CHECK;

/* Marks that all before has been written, and commits it. */
struct sp_error *capture_commit(struct sp_capture *capture) SP_MUST_CHECK;

/* Drains the side-band while there is no file yet. */
struct sp_error *capture_drain_sideband(struct sp_capture *capture) SP_MUST_CHECK;

/* Writes what was synthesised. */
struct sp_error *capture_write_synthesised(struct sp_capture *capture) SP_MUST_CHECK;

#endif
