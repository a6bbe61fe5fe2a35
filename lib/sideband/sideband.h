/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass one: reads the side-band and the samples of sched events; of other samples at most the
 * thread. It builds the machine, counts losses, and notes offsets at which pass two may begin to
 * read.
 */
#pragma once

#include <sprof/private/losses.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "machine/machine.h"
#include "sideband/readahead.h"
#include "states/sched_samples.h"
#include "states/task_lifetimes.h"
#include "states/task_states.h"
#include "stored/stored.h"

/* READ record of a task that ended: its total count. */
struct task_count {
	uint64_t value, time_ns;
	uint32_t pid, tid;
	uint16_t event;
};

struct note {
	const char *text;
	uint64_t time_ns;
	uint64_t stack_bytes;        /* value of note_stack_bytes() */
	bool of_pages;               /* value of note_is_of_pages() */
	unsigned int hidden;         /* value of note_hidden() */
	bool of_losses;              /* NOTE_LOST_OWN */
	/* NOTE_PYTHON_DROPPED: interpreter calls without a Python function, and all; else 0 */
	uint64_t python_missing, python_calls;
	unsigned int python_remedy; /* enum note_python */
};

/* A thread's cgroup namespace from a time on. */
struct cgroup_namespace {
	uint32_t tid;
	uint64_t time_ns;
	uint64_t dev, ino;
	uint32_t first; /* index of the first equal namespace */
};

struct sideband {
	const struct record_layout *layout; /* borrowed */
	struct machine *machine;            /* borrowed */
	struct stored *stored;         /* names and files in the recording; NULL: none */
	struct jit_files *jit;         /* perf maps and jitdumps */
	struct sp_losses *losses;      /* losses and throttling */
	VEC(struct task_count) task_counts;
	struct lifetimes lifetimes;          /* the reporter finishes it after pass two */
	struct task_states *states;          /* NULL: not wanted */
	struct sched_samples sched;          /* without events if states are not wanted */
	struct seen_threads seen;            /* empty if states are not wanted, or `sched` has events */
	size_t seen_offset;                  /* value of seen_threads_offset(); 0: none are wanted */
	VEC(struct note) notes;
	size_t recorded_notes;       /* notes of the recorder; they precede notes of the analysis */
	VEC(const char *) cgroups;   /* paths of cgroups; the last record of an id counts */
	struct u64map cgroup_of;     /* id -> index in cgroups */
	VEC(struct cgroup_namespace) namespaces; /* sorted by thread and time at the end of the pass */
	struct splits splits;        /* from the first record to the end */
	uint64_t sample_count, deferred_count; /* deferred_count: records with deferred call chains */
	struct sp_time_conv ticks;   /* conversion of time stamp counter values to times; mult 0: unknown */
	bool by_offset;              /* records have no times; their offsets in the file are used as times */
	bool has_older; /* a process is older than the recording, as with -p, -t, -u, -a and -G;
			 * false: a command was started */
	bool dithered;               /* the rates of clocks vary (NOTE_DITHERED) */
	bool is_part;                /* earlier files of a rotation contain the time before */
	uint64_t command_ns;         /* CPU time of the command, or of the
				      * processes, by the kernel's count; 0:
				      * unknown */
	double attaching_share;      /* share of losses until the first round; 0: unknown */
	uint64_t unrecorded, unrecorded_ns, target_ns; /* values of NOTE_UNRECORDED; 0: none */
	uint64_t command_lines;      /* number of executed programs with a command line */
	uint64_t ring_bytes;         /* size of ring buffers that lost samples; 0: unknown */
	const char *clock_note;        /* note on the clock; NULL: none */
	struct arena arena;
};

struct sp_error *sideband_init(struct sideband *sideband, const struct sp_reader *reader,
			       struct machine *machine) SP_MUST_CHECK;
void sideband_deinit(struct sideband *sideband);

/* Also builds the states of threads, unless records have no times. Call it before sideband_read(). */
struct sp_error *sideband_want_states(struct sideband *sideband,
				      const struct sp_reader *reader) SP_MUST_CHECK;

/* Adds a note, which is shown like the recorder's. The text is copied. */
struct sp_error *sideband_note(struct sideband *sideband, const char *text) SP_MUST_CHECK;

/* Adds the note on the recording's clock, if there is one. */
struct sp_error *sideband_note_clock(struct sideband *sideband) SP_MUST_CHECK;

/* Returns the path of a cgroup; NULL: the recording does not state it. */
const char *sideband_cgroup(const struct sideband *sideband, uint64_t id);

/*
 * Returns a thread's cgroup namespace at a time, as the index of its first equal in `namespaces`;
 * SIZE_MAX: unknown.
 */
size_t sideband_namespace(const struct sideband *sideband, uint32_t tid, uint64_t time_ns);

/* Reads the whole recording with several threads. Damage is added to the reader. */
struct sp_error *sideband_read(struct sideband *sideband, struct sp_reader *reader,
			       unsigned int threads) SP_MUST_CHECK;
