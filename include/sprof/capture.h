/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording samples into a perf.data file.
 *
 *	const struct sp_capture_target target = {.size = sizeof(target), .command = argv};
 *	const struct sp_capture_options options = {.size = sizeof(options), .target = &target};
 *	struct sp_capture *capture;
 *	error = sp_capture_new(ctx, &options, &capture);
 *	error = sp_capture_run(capture, -1);
 *	sp_capture_free(capture);
 *
 * A program with an event loop of its own calls the parts of sp_capture_run() instead:
 *
 *	bool running = true;
 *	error = sp_capture_start(capture);
 *	while (running && !error) {
 *		poll sp_capture_fd(capture) and other descriptors
 *		error = sp_capture_step(capture, &running);
 *	}
 *	error = sp_capture_stop(capture);
 *
 * No function raises SIGPIPE or SIGXFSZ.
 */
#ifndef SPROF_CAPTURE_H
#define SPROF_CAPTURE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <sprof/ctx.h>
#include <sprof/list.h>
#include <sprof/options.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_capture;

/* Target of the events. */
enum sp_capture_scope {
	SP_CAPTURE_SCOPE_AUTO, /* whole CPUs where that is allowed, at up to 5,000 Hz */
	SP_CAPTURE_SCOPE_CPU,  /* whole CPUs; what is not asked for is left out */
	SP_CAPTURE_SCOPE_TASK, /* each task, and by inheritance what it makes */
};

#define SP_CAPTURE_FREQ_MAX UINT64_MAX

/*
 * Thread that empties the kernel's buffers: the recording thread, or threads that copy them to
 * unlocked memory.
 */
enum sp_capture_threads {
	SP_CAPTURE_THREADS_AUTO,    /* on for many CPUs or copies of stacks */
	SP_CAPTURE_THREADS_NONE,
	SP_CAPTURE_THREADS_CPU,     /* one for each CPU, */
	SP_CAPTURE_THREADS_CORE,    /* core, */
	SP_CAPTURE_THREADS_PACKAGE, /* socket, */
	SP_CAPTURE_THREADS_NUMA,    /* or memory node */
	SP_CAPTURE_THREADS_COUNT,   /* `thread_count` of them, CPUs side by side */
};

/* How the calls that lead to a sample are found. */
enum sp_call_graph {
	SP_CALL_GRAPH_AUTO, /* frame pointers where the binaries keep them, else DWARF; a note says which */
	SP_CALL_GRAPH_FP,   /* by the kernel, which follows frame pointers */
	/* By call frame information, from registers and a copy of the stack. */
	SP_CALL_GRAPH_DWARF,
	/* The user's by the processor, which records calls (LBR); the kernel's as by FP. */
	SP_CALL_GRAPH_LBR,
	SP_CALL_GRAPH_NONE,
};

/* When copies of the stack are unwound. */
enum sp_unwind {
	SP_UNWIND_LIVE,  /* while recording: the file holds call chains that every reader shows */
	SP_UNWIND_LATER, /* when reported: the file holds the copies, about 8 KB a sample */
};

#define SP_STACK_BYTES_MAX 65528

/* Optional contents of samples and side-band records. All zero: none. */
struct sp_capture_fields {
	size_t size;
	/*
	 * PERF_SAMPLE_*: ADDR, ID, STREAM_ID, RAW, DATA_SRC, TRANSACTION, PHYS_ADDR, CGROUP,
	 * DATA_PAGE_SIZE and CODE_PAGE_SIZE. Other bits are set always, or by the members below.
	 */
	uint64_t sample_type;
	bool weight;
	uint64_t branch_type;    /* PERF_SAMPLE_BRANCH_*: with any, branch stacks */
	uint64_t user_registers, interrupt_registers; /* bits by perf's numbers */
	bool running_time;       /* how long each event was enabled, and counted */
	bool thread_counts;      /* count of each thread or process, written at its end */
	bool data_mappings;      /* mappings of data, too */
	bool switches, namespaces, cgroups; /* records of them */
	enum sp_choice bpf_programs; /* records of those loaded meanwhile */
};

/* When samples are taken, in ms from the start; end 0: until it ends. */
struct sp_capture_span {
	uint64_t begin_ms, end_ms;
};

/* Events as `-e` has them, and what is asked of their fields. */
struct sp_event_list {
	const char *events; /* NULL: the default */
	bool pfm;           /* they are named as libpfm does, as `--pfm-events` */
	/*
	 * Filter of tracepoints, in the kernel's syntax ("prev_pid != 0"), or addresses for PMUs
	 * that trace code ("filter main @ /bin/ls"). NULL: none.
	 */
	const char *filter;
};

/* Processes, threads and CPUs to record: one of command, pids, tids, system_wide, cpus, … is set. */
struct sp_capture_target {
	size_t size;                /* sizeof of this struct */
	/*
	 * Program and arguments, NULL-terminated. With sp_capture_output.path "-", it writes to
	 * standard error. Beside another target it is not recorded: the recording ends with it.
	 */
	const char *const *command;
	struct sp_number_list pids; /* processes that run already */
	struct sp_number_list tids; /* threads that run already */
	bool descendants;           /* with pids: record their descendants that run already, too */
	bool system_wide;           /* all processes */
	const char *cpus;           /* "0-3,5": these alone; without pids and tids, all processes */
	enum sp_capture_scope scope;
	enum sp_choice inherit;     /* record new threads and children, too */
	bool inherit_threads;       /* follow new threads, not new processes */
	bool remove_on_exec;        /* leave a running process at its next exec */
	/*
	 * Control groups, a name for each event ("a,,b": none for the second), or one for all;
	 * then everything that runs in them is recorded. NULL: none.
	 */
	const char *cgroups;
	const char *unit;           /* a systemd unit's name: `cgroups` is its control group; NULL: none */
	bool by_user;               /* all processes that `uid` has now */
	uid_t uid;
	bool exclude_self;          /* leave out the recorder's own samples */
};

/* Events and their rate. */
struct sp_capture_sampling {
	size_t size;
	const char *events;         /* syntax of `-e`; NULL: cycles, or cpu-clock if there are none */
	const struct sp_event_list *event_lists; /* in place of `events`: several, with filters */
	size_t event_list_count;
	enum sp_choice samples;     /* off: count, and record the side-band alone */
	uint64_t freq_hz;           /* 0: 997, unless there is a period */
	uint64_t period;            /* a sample each so many events; 0: by frequency */
	bool strict_freq;           /* more than is allowed fails, and is no note */
	enum sp_choice adapt;       /* reduce the rate while many samples are lost */
	bool user_only, kernel_only; /* for events without modifiers of their own */
	/*
	 * Record waits, too: SWITCH records, and an event offcpu-time whose periods are the time that
	 * threads were blocked. Events are then opened for tasks, unless whole CPUs are the target.
	 */
	bool off_cpu;
	uint64_t off_cpu_thin_ns;   /* write a share of shorter waits, up to 4 s; 0: 1 ms; 1: write all */
	/*
	 * With off_cpu: sample wake-ups of the recorded threads (sched:sched_waking), too. Of wakers that are
	 * not recorded, the name and the kernel's part of the stack are.
	 */
	bool wakers;
};

/* Call chains. */
struct sp_capture_chains {
	size_t size;
	enum sp_call_graph call_graph;
	enum sp_unwind unwind;
	/*
	 * Copied of each stack: a multiple of 8, up to SP_STACK_BYTES_MAX; 0: 8192. Unwound live,
	 * more is copied while stacks need it, unless it is fixed.
	 */
	uint32_t stack_bytes;
	bool fixed_stack_bytes;
	uint32_t max_stack;         /* frames of a chain; 0: as many as there can be */
	bool kernel_only, user_only; /* only that part of chains */
	enum sp_choice python;      /* Python frames in stacks that are unwound live; the default is on */
	/* With FP: the user's part is read when the thread goes back to it (Linux 6.19). */
	bool deferred;
};

/* Ring buffers, and the threads that empty them. */
struct sp_capture_buffers {
	size_t size;
	uint64_t ring_bytes;        /* for each CPU; 0: room for 200 ms at the rate, 512 KiB to 16 MiB */
	uint64_t aux_bytes;         /* AUX area of each CPU; 0: 4 MiB, or 128 KiB without rights */
	/*
	 * Samples of all other events hold so many of the last bytes of the AUX area of the first,
	 * which is written to the file no other way; 0: none. Below 64 KiB, a multiple of 8.
	 */
	uint32_t aux_sample_bytes;
	bool snapshot;              /* AUX areas go round, and are written by sp_capture_snapshot() */
	/*
	 * Samples are not written: buffers go round, and the newest overwrite the oldest. What is in
	 * them (with a time: of so long) is written by sp_capture_switch(), to a file of its own, and
	 * when recording stops.
	 */
	bool overwrite;
	uint64_t overwrite_ns;
	uint32_t wakeup_samples;    /* drain after so many; 0: by how full the rings are */
	uint64_t wakeup_bytes;      /* drain when so much is in a ring; 0: as above */
	enum sp_capture_threads threads;
	uint32_t thread_count;
	/*
	 * SCHED_FIFO priority of the calling thread, from sp_capture_new() to sp_capture_stop() or
	 * sp_capture_free(). 0: its scheduling is not changed.
	 */
	uint32_t realtime;
};

/* Files. */
struct sp_capture_output {
	size_t size;
	const char *path;           /* "-": standard output; NULL: "sprof.data" */
	/*
	 * zstd level from 1 (fast) to 22 (small); larger values mean the highest level. 0: no
	 * compression.
	 */
	uint32_t compression_level;
	bool sync;                  /* each round is brought to the disk: no stream then */
	/*
	 * Recording ends before the file is larger than that, with what is at its end; 0: never.
	 * Compressed bytes are counted as such.
	 */
	uint64_t max_bytes;
	/*
	 * A file ends before it is larger, or after so long (0: never), or by sp_capture_switch(); it
	 * is renamed to PATH.YYYYMMDDhhmmsscc, and the recording goes on in a new file at PATH. Each
	 * stands alone. With any of the three, the last one gets such a name, too.
	 */
	uint64_t switch_bytes, switch_ns;
	bool switch_on_demand;
	/* Not recorded, in the grammar of `events`: each time is a sp_capture_switch(). NULL: none. */
	const char *switch_event;
	uint32_t keep_files;        /* number of the newest complete files to keep; 0: all */
	bool timestamp_name;        /* rename the file so when it ends, even if it is the only one */
	const char *const *cmdline; /* how the recorder was called, for the file; NULL-terminated */
};

/* Times of samples, and their clock. */
struct sp_capture_schedule {
	size_t size;
	uint64_t delay_ms;          /* before the first sample */
	const struct sp_capture_span *spans; /* ascending; in place of the delay */
	size_t span_count;
	bool start_disabled;        /* no sample before sp_capture_enable() */
	bool use_clock;
	clockid_t clock;            /* clock of all times if use_clock; else CLOCK_MONOTONIC */
	/* Reads running processes at the end of a recording instead of its begin. */
	bool tail_synthesize;
	uint64_t duration_ns;       /* sp_capture_run() stops after that time; 0: it has no limit */
};

/*
 * Groups of options. NULL and zeroed groups are the defaults of `sprof record`; a target is needed.
 * Borrowed until sp_capture_new() returns.
 */
struct sp_capture_options {
	size_t size;
	const struct sp_capture_target *target;
	const struct sp_capture_sampling *sampling;
	const struct sp_capture_fields *fields;
	const struct sp_capture_chains *chains;
	const struct sp_capture_buffers *buffers;
	const struct sp_capture_output *output;
	const struct sp_capture_schedule *schedule;
};

/*
 * Opens the events and the file, and makes the command's process, which waits.
 * Of running processes samples are taken from here on, unless there is a
 * delay. Fails with cause and remedy where nothing could be recorded.
 */
SP_API struct sp_error *sp_capture_new(struct sp_ctx *ctx, const struct sp_capture_options *options,
				       struct sp_capture **ret) SP_MUST_CHECK;

/*
 * Lets the command go; then it is that program. Fails with SP_ERROR_NOT_FOUND or
 * SP_ERROR_PERMISSION where it cannot be executed: then there is no recording, and
 * the file at its path is what it was before. Else that has been kept as PATH.old.
 */
SP_API struct sp_error *sp_capture_start(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Readable when sp_capture_step() has something to do: at least twice a second, or, of a recording
 * that overwrites, each 5 seconds.
 */
SP_API int sp_capture_fd(const struct sp_capture *capture);

/*
 * Writes what there is, without waiting for more. *running_ret is false once
 * the command or all that is followed has ended; then a command that only said
 * how long may still run. Fails with SP_ERROR_LIMIT where the disk
 * is full: what was written stays readable.
 */
SP_API struct sp_error *sp_capture_step(struct sp_capture *capture,
					bool *running_ret) SP_MUST_CHECK;

/*
 * Records until the command or all that is followed has ended, the file has the size that is allowed,
 * sp_capture_schedule.duration_ns has passed, or `stop_fd` (-1: none) is readable, which is not read.
 * Calls sp_capture_start(), if it was not called, and always sp_capture_stop(). A command that still
 * runs then is not ended. To be called once. Signals do not end it: a handler may write to `stop_fd`.
 */
SP_API struct sp_error *sp_capture_run(struct sp_capture *capture, int stop_fd) SP_MUST_CHECK;

/*
 * Writes what is in the AUX areas, which are stopped meanwhile; of a recording that overwrites, as
 * sp_capture_switch(). Fails with SP_ERROR_INVALID unless the options said so.
 */
SP_API struct sp_error *sp_capture_snapshot(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Ends the file and goes on in the next; of a recording that overwrites, what is in its buffers is
 * a file. It is there when sp_capture_next_file() says so. Fails with SP_ERROR_INVALID unless the
 * options said that there may be several files.
 */
SP_API struct sp_error *sp_capture_switch(struct sp_capture *capture) SP_MUST_CHECK;

/* A file that got its name. */
struct sp_capture_file {
	const char *path; /* valid until the next call */
	uint64_t bytes, samples;
};

/* The next one that is complete; false: there is none now. */
SP_API bool sp_capture_next_file(struct sp_capture *capture, struct sp_capture_file *ret);

/* How large a file will be at most; 0: as large as there is room. */
SP_API uint64_t sp_capture_file_limit(const struct sp_capture *capture);

/*
 * Writes the rest and closes the file, whether or not the command has ended. To
 * be called once, also after a failure of the others.
 */
SP_API struct sp_error *sp_capture_stop(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Closes all events; what was not written by sp_capture_stop() is lost, as is the whole
 * file where sp_capture_start() was not called. NULL is allowed.
 */
SP_API void sp_capture_free(struct sp_capture *capture);

/* The command's process; 0 without one, or once it has been reaped. */
SP_API pid_t sp_capture_pid(const struct sp_capture *capture);

/*
 * Waits for the command's end and gives its status as waitpid(2) does. With
 * `wait` false, and it still running: *ended_ret is false.
 */
SP_API struct sp_error *sp_capture_wait(struct sp_capture *capture, bool wait, bool *ended_ret,
					int *status_ret) SP_MUST_CHECK;

/*
 * Takes samples, or takes none; of one event, by its name, or (NULL) of all. Fails with
 * SP_ERROR_NOT_FOUND where there is none of that name.
 */
SP_API struct sp_error *sp_capture_enable(struct sp_capture *capture,
					  const char *event) SP_MUST_CHECK;
SP_API struct sp_error *sp_capture_disable(struct sp_capture *capture,
					   const char *event) SP_MUST_CHECK;

/* Events that take samples. Names belong to the capture. */
SP_API size_t sp_capture_event_count(const struct sp_capture *capture);
SP_API const char *sp_capture_event_name(const struct sp_capture *capture, size_t index);
/* Attributes as opened; valid as long as the capture. */
SP_API const struct perf_event_attr *sp_capture_event_attr(const struct sp_capture *capture,
							   size_t index);
SP_API bool sp_capture_event_enabled(const struct sp_capture *capture, size_t index);

/* How call chains ended that were unwound while recording (SP_MISC_END_*). */
struct sp_capture_stacks {
	uint64_t complete, truncated, no_unwind_info, bad_memory, depth_limit;
	uint64_t skipped;   /* for want of time */
	uint64_t none;      /* tasks without user space */
	uint64_t repaired;  /* truncated stacks that other samples completed */
	uint64_t shortened; /* frames in the middle were left out */
};

/* Counts of the recording up to now. */
struct sp_capture_stats {
	uint64_t samples;       /* written */
	uint64_t unwritten;     /* taken, but the file could not be written: its error says why */
	uint64_t shed;          /* taken, but left out: the file took too long to write */
	uint64_t lost;          /* samples for which there was no room; on whole CPUs, of everyone */
	uint64_t lost_own;      /* lost samples that probably belong to the target */
	uint64_t lost_sideband; /* records of mappings and tasks */
	uint64_t throttled;     /* times that the kernel paused an event */
	uint64_t unattributed;  /* samples of ended tasks that nobody can tell whose they are */
	uint64_t file_bytes;
	uint64_t ring_bytes;    /* ring for samples of each CPU */
	uint64_t duration_ns;   /* from start to stop */
	/*
	 * CPU time that a command used, with what it waited for, and how much of it the
	 * samples stand for; 0, 0 where that cannot be compared.
	 */
	uint64_t used_ns, sampled_ns;
	uint64_t all_file_bytes; /* sum of all files */
	/*
	 * CPU time of the command and the processes that it waited for, once it has ended; with pids, of
	 * these, in the kernel's ticks, after sp_capture_stop(). 0: unknown, or none.
	 */
	uint64_t cpu_ns;
	bool full;              /* the file has the size that was allowed: nothing more is recorded */
	bool cpu_wide;          /* how events were opened */
	struct sp_capture_stacks stacks; /* after sp_capture_stop() */
	/* With `sync`: how often it was waited for disks, and how long, by the thread that writes. */
	uint64_t syncs, sync_ns, sync_longest_ns;
};

/* At any time; final after sp_capture_stop(). */
SP_API struct sp_capture_stats sp_capture_stats(const struct sp_capture *capture);

/*
 * Notes on the recording, one line each: options that were reduced, and losses, with remedies. The
 * list grows and belongs to the capture.
 */
SP_API size_t sp_capture_note_count(const struct sp_capture *capture);

/* The line of that index, below sp_capture_note_count(). */
SP_API const char *sp_capture_note(const struct sp_capture *capture, size_t index);

#ifdef __cplusplus
}
#endif
#endif
