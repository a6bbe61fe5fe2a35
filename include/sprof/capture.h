/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Capture: records samples into a perf.data file.
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

/* How events are opened for the target. */
enum sp_capture_scope {
	SP_CAPTURE_SCOPE_AUTO, /* CPU if permitted, and at up to 5,000 Hz; else TASK */
	SP_CAPTURE_SCOPE_CPU,  /* CPU-wide events; samples of other tasks are filtered */
	SP_CAPTURE_SCOPE_TASK, /* events of each task, inherited by new threads and children */
};

#define SP_CAPTURE_FREQ_MAX UINT64_MAX

/*
 * Threads that drain the ring buffers into unlocked memory. Without them, the recording thread
 * drains.
 */
enum sp_capture_threads {
	SP_CAPTURE_THREADS_AUTO,    /* threads if there are many CPUs or stack copies */
	SP_CAPTURE_THREADS_NONE,
	SP_CAPTURE_THREADS_CPU,     /* one for each CPU, */
	SP_CAPTURE_THREADS_CORE,    /* core, */
	SP_CAPTURE_THREADS_PACKAGE, /* socket, */
	SP_CAPTURE_THREADS_NUMA,    /* or memory node */
	SP_CAPTURE_THREADS_FIXED,   /* `thread_count` threads; each drains neighbouring CPUs */
};

/* Method to record call chains. */
enum sp_call_graph {
	/* FP if the binaries keep frame pointers, else DWARF; a note names the method. */
	SP_CALL_GRAPH_AUTO,
	SP_CALL_GRAPH_FP,   /* frame pointers, followed by the kernel */
	/* Call frame information, applied to registers and a stack copy. */
	SP_CALL_GRAPH_DWARF,
	/* User part: the processor's record of calls (LBR). Kernel part: as FP. */
	SP_CALL_GRAPH_LBR,
	SP_CALL_GRAPH_NONE,
};

/* Time at which stack copies are unwound. */
enum sp_unwind {
	SP_UNWIND_LIVE,  /* while recording; the file has call chains, which every reader shows */
	SP_UNWIND_LATER, /* in the report; the file has the stack copies, about 8 KB per sample */
};

#define SP_STACK_BYTES_MAX 65528

/* Optional contents of samples and side-band records. All zero: none. */
struct sp_capture_fields {
	size_t size;
	/*
	 * PERF_SAMPLE_*: ADDR, ID, STREAM_ID, RAW, DATA_SRC, TRANSACTION, PHYS_ADDR, CGROUP,
	 * DATA_PAGE_SIZE and CODE_PAGE_SIZE. The recorder sets other bits itself, always or for the
	 * members below.
	 */
	uint64_t sample_type;
	bool weight;
	uint64_t branch_type;    /* PERF_SAMPLE_BRANCH_*; nonzero: record branch stacks */
	/* Bits by the kernel's numbers (PERF_REG_*). */
	uint64_t user_registers, interrupt_registers;
	bool running_time;       /* add times enabled and running to each sample */
	bool thread_counts;      /* record the count of each thread or process when it ends */
	bool data_mappings;      /* record mappings without execute permission, too */
	bool namespaces, cgroups; /* write these records, too */
	/*
	 * SP_DEFAULT: context switches of events of tasks, while they are few; SP_ON: all, and
	 * events are of tasks.
	 */
	enum sp_choice switches;
	enum sp_choice bpf_programs; /* record BPF programs that are loaded while recording */
	/*
	 * Record the command lines of processes, without secrets that can be recognised. Default:
	 * those of the target's command and its descendants only, if it is recorded.
	 */
	enum sp_choice command_lines;
};

/* Time range in which samples are taken, in ms from the start. end_ms 0: until recording ends. */
struct sp_capture_span {
	uint64_t begin_ms, end_ms;
};

/* Events in the syntax of `-e`, and their filter. */
struct sp_event_list {
	const char *events; /* NULL: the default */
	bool pfm;           /* event names are libpfm's, as for `--pfm-events` */
	/*
	 * Filter of tracepoints in the kernel's syntax ("prev_pid != 0"), or address filter of a
	 * tracing PMU ("filter main @ /bin/ls"). NULL: none.
	 */
	const char *filter;
};

/*
 * Target: processes, threads and CPUs to record. Set at least one of command, pids, tids,
 * system_wide, cpus, cgroups and by_user.
 */
struct sp_capture_target {
	size_t size;                /* sizeof of this struct */
	/*
	 * Program and arguments, NULL-terminated. With sp_capture_output.path "-", its output goes
	 * to standard error. With another target, it is not recorded: recording stops when it ends.
	 */
	const char *const *command;
	struct sp_number_list pids; /* running processes */
	struct sp_number_list tids; /* running threads */
	bool descendants;           /* with pids: record their running descendants, too */
	bool system_wide;           /* all processes */
	const char *cpus; /* "0-3,5": only these; without pids and tids, all processes on them */
	enum sp_capture_scope scope;
	enum sp_choice inherit;     /* record new threads and children, too */
	bool inherit_threads;       /* inherit into new threads, not into new processes */
	bool remove_on_exec;        /* stop recording a running process at its next exec */
	/*
	 * Control groups: a comma-separated name for each event ("a,,b": none for the second), or
	 * one name for all. All tasks in them are recorded. NULL: none.
	 */
	const char *cgroups;
	const char *unit;           /* systemd unit to use as `cgroups`; NULL: none */
	bool by_user;               /* record all processes that `uid` runs at the start */
	uid_t uid;
	bool exclude_self;          /* do not record the calling process */
};

/* Events and their rate. */
struct sp_capture_sampling {
	size_t size;
	const char *events;         /* syntax of `-e`; NULL: cycles, or cpu-clock without a PMU */
	/* Replaces `events`: several lists, with filters. */
	const struct sp_event_list *event_lists;
	size_t event_list_count;
	enum sp_choice samples;     /* off: record counts and side-band only */
	/* Frequency; 0, unless `period` is set: 997; clocks without dithering: 1236068 ns. */
	uint64_t freq_hz;
	uint64_t period;            /* sample every `period` events; 0: by frequency */
	/* Fail if freq_hz is above the kernel's limit; else reduce it, with a note. */
	bool strict_freq;
	enum sp_choice adapt;       /* reduce the rate while too many samples are lost */
	/* Vary the rate of CPU-wide clocks at random, unless `period` is set; default: on. */
	enum sp_choice dither;
	bool user_only, kernel_only; /* modifiers of events that have none themselves */
	/*
	 * Record waits, too: SWITCH records, and an event offcpu-time. Its periods are the ns that
	 * threads were blocked. Events are then per task, unless the target is CPU-wide.
	 */
	bool off_cpu;
	/* Write a share of the waits below this time, up to 4 s; 0: 1 ms; 1: write all. */
	uint64_t off_cpu_thin_ns;
	/*
	 * With off_cpu: sample wake-ups of the recorded threads (sched:sched_waking), too. Wakers
	 * outside the target have a name and a kernel stack only.
	 */
	bool wakers;
};

/* Call chains. */
struct sp_capture_chains {
	size_t size;
	enum sp_call_graph call_graph;
	enum sp_unwind unwind;
	/*
	 * Size of a stack copy: a multiple of 8, up to SP_STACK_BYTES_MAX; 0: 8192. With live
	 * unwinding it grows while stacks need more, unless fixed_stack_bytes is set.
	 */
	uint32_t stack_bytes;
	bool fixed_stack_bytes;
	uint32_t max_stack;         /* frames of a call chain; 0: the kernel's limit */
	bool kernel_only, user_only; /* record only that part of call chains */
	enum sp_choice python;      /* Python frames in stacks that are unwound live; default: on */
	/*
	 * With FP: the kernel records the user part when the thread returns to user space (Linux
	 * 6.19).
	 */
	bool deferred;
};

/* Ring buffers, and the threads that drain them. */
struct sp_capture_buffers {
	size_t size;
	/* Size for each CPU; 0: room for 200 ms at the rate, 512 KiB to 16 MiB. */
	uint64_t ring_bytes;
	uint64_t aux_bytes; /* AUX area for each CPU; 0: 4 MiB, or 128 KiB if unprivileged */
	/*
	 * Samples of all other events hold the last `aux_sample_bytes` bytes of the first event's
	 * AUX area. The file has no other AUX data then. 0: none. Below 64 KiB, a multiple of 8.
	 */
	uint32_t aux_sample_bytes;
	bool snapshot;              /* overwrite AUX areas; sp_capture_snapshot() writes them */
	/*
	 * Overwrite mode (flight recorder): new samples overwrite the oldest ones in the ring
	 * buffers. sp_capture_switch() writes the buffers, or their last `overwrite_ns`, to a file
	 * of its own. The end of the recording writes them, too.
	 */
	bool overwrite;
	uint64_t overwrite_ns;
	uint32_t wakeup_samples;    /* drain after N samples; 0: at a share of the ring's size */
	uint64_t wakeup_bytes;      /* drain when a ring has N bytes; 0: as above */
	enum sp_capture_threads threads;
	uint32_t thread_count;
	/*
	 * SCHED_FIFO priority of the calling thread, from sp_capture_new() to sp_capture_stop() or
	 * sp_capture_free(). 0: its scheduling is not changed.
	 */
	uint32_t realtime;
};

/* Output files. */
struct sp_capture_output {
	size_t size;
	const char *path;           /* "-": standard output; NULL: "sprof.data" */
	/*
	 * Files are in memory and have no names; `path` is for messages. With rotation,
	 * sp_capture_take_file() returns a complete file, and sp_capture_open_file() the current
	 * one.
	 */
	bool in_memory;
	/*
	 * zstd level from 1 (fast) to 22 (small); larger values mean the highest level. 0: no
	 * compression.
	 */
	uint32_t compression_level;
	bool sync;                  /* sync each round to the disk; the path must not be a stream */
	/*
	 * Size limit of the file, including the sections after its data; compressed bytes count.
	 * Recording stops before the file exceeds it. 0: none.
	 */
	uint64_t max_bytes;
	/*
	 * Rotation: a file ends before it exceeds switch_bytes, after switch_ns (0: no such limit),
	 * or by sp_capture_switch(). It is renamed to PATH.YYYYMMDDhhmmsscc, and recording
	 * continues in a new file at PATH. Each file is complete in itself. With any of the three,
	 * the last file gets such a name, too.
	 */
	uint64_t switch_bytes, switch_ns;
	bool switch_on_demand;
	/*
	 * Each occurrence calls sp_capture_switch(). Syntax of `events`; not recorded. NULL: none.
	 */
	const char *switch_event;
	uint32_t keep_files;        /* newest complete files to keep; 0: all */
	/* Add the time to the name when the file ends, even if it is the only one. */
	bool timestamp_name;
	/* recorder's command line, to store in the file; NULL-terminated. */
	const char *const *cmdline;
};

/* Times of samples, and their clock. */
struct sp_capture_schedule {
	size_t size;
	uint64_t delay_ms;          /* before the first sample */
	const struct sp_capture_span *spans; /* ascending; replaces delay_ms */
	size_t span_count;
	bool start_disabled;        /* no sample before sp_capture_enable() */
	bool use_clock;
	clockid_t clock;            /* clock of all times if use_clock; else CLOCK_MONOTONIC */
	/* Read running processes at the end of a recording instead of at its start. */
	bool tail_synthesize;
	uint64_t duration_ns;       /* sp_capture_run() stops after this time; 0: no limit */
};

/*
 * Options in groups. NULL or zeroed groups are the defaults of `sprof record`; a target is
 * required. All of them, with their strings, are borrowed until sp_capture_new() returns.
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
 * Opens the events and the file, and forks the command's process, which waits for the start. Fails,
 * with cause and remedy, if nothing can be recorded. sp_capture_free() frees *ret; `ctx` must
 * outlive it.
 */
SP_API struct sp_error *sp_capture_new(struct sp_ctx *ctx, const struct sp_capture_options *options,
				       struct sp_capture **ret) SP_MUST_CHECK;

/*
 * Begins to sample what runs already, unless there is a delay, and executes the command. Fails with
 * SP_ERROR_NOT_FOUND or SP_ERROR_PERMISSION if it cannot be executed. Then there is no recording,
 * and an older file at the path is unchanged. On success that file is renamed to PATH.old.
 */
SP_API struct sp_error *sp_capture_start(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Returns a file descriptor, owned by the capture. It is readable when sp_capture_step() has work:
 * at least twice a second, or every 5 seconds in overwrite mode.
 */
SP_API int sp_capture_fd(const struct sp_capture *capture);

/*
 * Writes available records, without waiting for more. *running_ret becomes false when the command
 * or all followed tasks have ended. A command that only limits the duration may still run then.
 * Fails with SP_ERROR_LIMIT if the disk is full; the file stays readable.
 */
SP_API struct sp_error *sp_capture_step(struct sp_capture *capture,
					bool *running_ret) SP_MUST_CHECK;

/*
 * Records until the command or all followed tasks have ended, the file has reached its size limit,
 * sp_capture_schedule.duration_ns has passed, or `stop_fd` (-1: none) is readable. Does not read
 * from `stop_fd`; a signal handler may write to it, since signals do not end the call. Calls
 * sp_capture_start() unless that was done, and always sp_capture_stop(). Does not end a command
 * that still runs. Call it once.
 */
SP_API struct sp_error *sp_capture_run(struct sp_capture *capture, int stop_fd) SP_MUST_CHECK;

/*
 * Writes the AUX areas, which are stopped meanwhile; in overwrite mode, the same as
 * sp_capture_switch(). Fails with SP_ERROR_INVALID without the options `snapshot` or `overwrite`.
 */
SP_API struct sp_error *sp_capture_snapshot(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Ends the file and continues in the next one; in overwrite mode, writes the ring buffers to a file
 * of its own. sp_capture_next_file() returns the file when it is complete. Fails with
 * SP_ERROR_INVALID unless the options allow several files.
 */
SP_API struct sp_error *sp_capture_switch(struct sp_capture *capture) SP_MUST_CHECK;

/* A complete file, with its final name. */
struct sp_capture_file {
	const char *path; /* valid until the next call */
	uint64_t bytes, samples;
};

/* Returns the next complete file in *ret; false: there is none yet. */
SP_API bool sp_capture_next_file(struct sp_capture *capture, struct sp_capture_file *ret);

/* Returns the size limit of a file in bytes; 0: none. */
SP_API uint64_t sp_capture_file_limit(const struct sp_capture *capture);

/*
 * Writes the rest and closes the file, whether or not the command has ended. Call it once, after an
 * error of another function, too.
 */
SP_API struct sp_error *sp_capture_stop(struct sp_capture *capture) SP_MUST_CHECK;

/*
 * Closes all events. Data that sp_capture_stop() did not write are dropped; without
 * sp_capture_start(), the whole file is. NULL is allowed.
 */
SP_API void sp_capture_free(struct sp_capture *capture);

/* Returns the command's process; 0: no command, or it has been reaped. */
SP_API pid_t sp_capture_pid(const struct sp_capture *capture);

/*
 * Returns the command's status as waitpid(2) does. `wait`: waits for its end, or until a signal
 * handler runs. While the command runs, *ended_ret is false and *status_ret has no meaning.
 */
SP_API struct sp_error *sp_capture_wait(struct sp_capture *capture, bool wait, bool *ended_ret,
					int *status_ret) SP_MUST_CHECK;

/*
 * Starts or stops sampling of one event, by its name, or of all (NULL). Fails with
 * SP_ERROR_NOT_FOUND if there is no event of that name.
 */
SP_API struct sp_error *sp_capture_enable(struct sp_capture *capture,
					  const char *event) SP_MUST_CHECK;
SP_API struct sp_error *sp_capture_disable(struct sp_capture *capture,
					   const char *event) SP_MUST_CHECK;

/* Events that take samples, by index below the count. Names belong to the capture. */
SP_API size_t sp_capture_event_count(const struct sp_capture *capture);
SP_API const char *sp_capture_event_name(const struct sp_capture *capture, size_t index);
/* Returns the attributes as opened; valid until sp_capture_free(). */
SP_API const struct perf_event_attr *sp_capture_event_attr(const struct sp_capture *capture,
							   size_t index);
SP_API bool sp_capture_event_enabled(const struct sp_capture *capture, size_t index);

/* Number of written samples with call chains unwound while recording, by end (SP_MISC_END_*). */
struct sp_capture_stacks {
	uint64_t complete, truncated, no_unwind_info, bad_memory, depth_limit;
	uint64_t skipped;   /* not unwound: the recorder had no time */
	uint64_t none;      /* tasks without user space */
	uint64_t repaired;  /* truncated stacks that other samples completed */
	uint64_t shortened; /* frames in the middle were omitted */
};

/* Counts of the recording up to now. */
struct sp_capture_stats {
	uint64_t samples;       /* samples in the file */
	/* Samples not written, because writing failed; the error gives the cause. */
	uint64_t unwritten;
	uint64_t shed;          /* samples dropped: the write queue was full */
	uint64_t lost; /* samples that the kernel lost; CPU-wide: including other tasks' samples */
	uint64_t lost_own;      /* lost samples that probably belong to the target */
	uint64_t lost_sideband; /* lost records of mappings and tasks */
	uint64_t throttled;     /* times that the kernel throttled an event */
	uint64_t unattributed;  /* samples without pid: their tasks had ended */
	uint64_t file_bytes;
	uint64_t ring_bytes;    /* size of each ring buffer for samples */
	uint64_t dump_bytes;    /* with `overwrite`: samples that the ring buffers hold; else 0 */
	uint64_t duration_ns;   /* from start to stop */
	uint64_t rate_hz;       /* planned rate of the first event; 0: another fixed period */
	/*
	 * CPU time of the command and the children that it waited for, and the part of it that the
	 * samples stand for. 0, 0: cannot be compared.
	 */
	uint64_t used_ns, sampled_ns;
	uint64_t all_file_bytes; /* sum of all files */
	/*
	 * CPU time of the command and the children that it waited for, after its end; with pids, of
	 * these processes, in units of the kernel's clock ticks, after sp_capture_stop(). 0:
	 * unknown, or none.
	 */
	uint64_t cpu_ns;
	bool full;              /* the file has reached its size limit: recording has stopped */
	bool cpu_wide;          /* events are CPU-wide, not per task */
	struct sp_capture_stacks stacks; /* set by sp_capture_stop() */
	/* With `sync`: number of syncs, total and longest time that the writer waited for them. */
	uint64_t syncs, sync_ns, sync_longest_ns;
};

/*
 * Returns the counts, at any time; they are final after sp_capture_stop(). They belong to the
 * capture, and are valid until the next call.
 */
SP_API const struct sp_capture_stats *sp_capture_stats(struct sp_capture *capture);

/* Number of notes on the recording: reduced options and losses, with remedies. It only grows. */
SP_API size_t sp_capture_note_count(const struct sp_capture *capture);

/*
 * Returns the note at an index below sp_capture_note_count(), as one line. It belongs to the
 * capture.
 */
SP_API const char *sp_capture_note(const struct sp_capture *capture, size_t index);

#ifdef __cplusplus
}
#endif
#endif
