/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Meters: events that a program opens to measure itself. It reads their counts around a part of its
 * code, or takes their samples. Covers all of perf_event_open(2) except recording.
 *
 *	const struct sp_meter_options options = {.size = sizeof(options),
 *						 .events = "{instructions,cycles}:u"};
 *	struct sp_count counts[2];
 *	error = sp_meter_open(ctx, &options, &meter);
 *	error = sp_meter_begin(meter);
 *	... what is measured ...
 *	error = sp_meter_end(meter, counts);
 *	sp_meter_free(meter);
 *
 * A meter is one group: its first event is the leader. It belongs to one thread at a time.
 */
#ifndef SPROF_METER_H
#define SPROF_METER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sprof/ctx.h>
#include <sprof/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_meter;

/* Threads or CPUs to count. */
enum sp_meter_target {
	SP_METER_SELF,   /* the calling thread */
	SP_METER_TASK,   /* the thread `tid` */
	SP_METER_CPU,    /* everything on `cpu` */
	SP_METER_CGROUP, /* the tasks of a control group on `cpu` */
};

/* Ways to open; bits. */
enum sp_meter_flag {
	SP_METER_DISABLED = 1 << 0,       /* counts from sp_meter_enable() on, not at once */
	SP_METER_ENABLE_ON_EXEC = 1 << 1,
	SP_METER_INHERIT = 1 << 2,        /* children made later count too: no reading without system calls */
	SP_METER_INHERIT_THREAD = 1 << 3, /* only new threads, not new processes (Linux 5.13) */
	SP_METER_REMOVE_ON_EXEC = 1 << 4, /* Linux 5.13 */
	SP_METER_ON_CPU = 1 << 5,         /* SELF and TASK: only while on `cpu` */
	SP_METER_KEEP_ON_EXEC = 1 << 6,   /* without PERF_FLAG_FD_CLOEXEC */
	SP_METER_APART = 1 << 7,          /* several events, but no group: each is counted when it can */
	SP_METER_NO_GROUP = 1 << 8,       /* PERF_FLAG_FD_NO_GROUP: `leader` is for its ring alone */
	SP_METER_FD_OUTPUT = 1 << 9,      /* PERF_FLAG_FD_OUTPUT: into the ring of `leader` */
	SP_METER_SYSCALLS = 1 << 10,      /* never read without a system call */
	SP_METER_SIGTRAP = 1 << 11,       /* SIGTRAP to the task, in step with it; with REMOVE_ON_EXEC;
					   * breakpoints: of x86 alone */
};

/* All zero but `events` counts the calling thread, from now on. Borrowed until it is open. */
struct sp_meter_options {
	size_t size;              /* sizeof of this struct */
	const char *events;       /* syntax of `-e`; several events form one group, with or without {} */
	const struct perf_event_attr *attr; /* instead of `events`: one event, as it is; size is set */
	struct sp_attr_tail attr_tail;      /* with `attr`: what headers may have no fields for */
	enum sp_meter_target target;
	pid_t tid;
	int32_t cpu;
	const char *cgroup;       /* its path in the hierarchy, "/a/b" */
	uint32_t flags;           /* SP_METER_* */
	uint64_t read_format;     /* PERF_FORMAT_*; 0: all that this kernel has */
	/*
	 * To join its group as a member, or its ring; must stay open. Members join before the leader
	 * is enabled, or kernels may count them only from the next context switch on.
	 */
	struct sp_meter *leader;
	/* Sampling: every `period` events, or `freq_hz` times a second. Both 0: count only. */
	uint64_t period, freq_hz;
	uint64_t sample_type;     /* PERF_SAMPLE_*, besides those that tell events apart */
	uint32_t wakeup_events;   /* poll(2) and signals after N samples; 0: after each */
	uint32_t wakeup_bytes;    /* or after so much in the ring */
	uint32_t ring_bytes;      /* 2^n pages for samples; 0: one page if anything samples, else none */
	uint64_t sig_data;        /* with SP_METER_SIGTRAP */
};

/*
 * Fails with cause and remedy; with SP_ERROR_UNSUPPORTED where this machine or kernel does not
 * have an event, SP_ERROR_PERMISSION where it is not allowed.
 */
SP_API struct sp_error *sp_meter_open(struct sp_ctx *ctx, const struct sp_meter_options *options,
				      struct sp_meter **ret) SP_MUST_CHECK;

/* Closes its events. NULL is allowed. */
SP_API void sp_meter_free(struct sp_meter *meter);

/* How many events there are; all that takes an index takes one below that. */
SP_API size_t sp_meter_count(const struct sp_meter *meter);

/* "cycles:u", as it was typed; belongs to the meter. */
SP_API const char *sp_meter_name(const struct sp_meter *meter, size_t index);

/* Attributes as opened. */
SP_API const struct perf_event_attr *sp_meter_attr(const struct sp_meter *meter, size_t index);

/*
 * For poll(2), select(2) and epoll(7): readable when a sample has been taken, or as wakeup_* say;
 * POLLHUP when the task has ended or sp_meter_refresh() has counted down. Belongs to the meter.
 */
SP_API int sp_meter_fd(const struct sp_meter *meter, size_t index);

/* Result of a reading. Members without a bit in the read format are 0. */
struct sp_count {
	uint64_t value;
	uint64_t enabled_ns, running_ns; /* PERF_FORMAT_TOTAL_TIME_*; of a group the same for all */
	uint64_t id;
	uint64_t lost;                   /* samples; Linux 6.0 */
};

/* All events, of one moment if they are a group: counts[sp_meter_count()]. By a system call. */
SP_API struct sp_error *sp_meter_read(struct sp_meter *meter, struct sp_count *counts) SP_MUST_CHECK;

/*
 * One event, of the calling thread's own: value and times from the page that the kernel shares and
 * the processor's counter (x86's rdpmc, arm64's PMEVCNTR) where that is allowed, which takes some
 * ten ns; else false, and nothing is done: the event is software's or not on the CPU just now,
 * inherits, is another thread's, or /sys/devices/cpu/rdpmc or kernel.perf_user_access say no.
 */
SP_API bool sp_meter_read_user(const struct sp_meter *meter, size_t index, struct sp_count *ret);

/*
 * Begins and ends what is measured: counts[] are the differences, read without system calls where
 * that is possible for all. May be repeated; costs of reading are not taken off.
 */
SP_API struct sp_error *sp_meter_begin(struct sp_meter *meter) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_end(struct sp_meter *meter, struct sp_count *counts) SP_MUST_CHECK;

/*
 * A count as it would be had the event run all the time that it was enabled. It is scaled up
 * where it took turns with others on the hardware.
 */
SP_API double sp_count_scaled(const struct sp_count *count);

/*
 * How sure a scaled count is: what was counted in each of several readings is added, and the
 * variance between them gives the interval (lib/count/estimate.h has the model). Zeroed: nothing.
 */
struct sp_scaling {
	struct sp_count sum;
	uint64_t observations;
	double last_value, last_running, squares[3];
};

/* Adds the difference between two readings, from sp_meter_end(). */
SP_API void sp_scaling_add(struct sp_scaling *scaling, const struct sp_count *difference);

/* The scaled count, and its 95 % interval; false where that is not known: fewer than two readings. */
SP_API bool sp_scaling_interval(const struct sp_scaling *scaling, double *value_ret, double *low_ret,
				double *high_ret);

/* Instead of an index: the whole group, by PERF_IOC_FLAG_GROUP (of events apart: each). */
#define SP_METER_GROUP ((size_t)-1)

/* Counts; counts no more. */
SP_API struct sp_error *sp_meter_enable(struct sp_meter *meter, size_t index) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_disable(struct sp_meter *meter, size_t index) SP_MUST_CHECK;

/* Sets the count to 0; times go on. */
SP_API struct sp_error *sp_meter_reset(struct sp_meter *meter, size_t index) SP_MUST_CHECK;

/* Enables for `count` more samples: then it is disabled, and polling its fd tells POLLHUP. */
SP_API struct sp_error *sp_meter_refresh(struct sp_meter *meter, size_t index,
					 uint32_t count) SP_MUST_CHECK;

/* Another period, or frequency if the event has one; from the next overflow on. */
SP_API struct sp_error *sp_meter_set_period(struct sp_meter *meter, size_t index,
					    uint64_t period) SP_MUST_CHECK;

/* Samples go to the ring of another meter's event, on the same CPU or task; NULL: nowhere. */
SP_API struct sp_error *sp_meter_set_output(struct sp_meter *meter, size_t index,
					    struct sp_meter *output) SP_MUST_CHECK;

/* "common_pid != 7" of tracepoints, "filter 0x1000/0x100@/bin/true" of address filters. */
SP_API struct sp_error *sp_meter_set_filter(struct sp_meter *meter, size_t index,
					    const char *filter) SP_MUST_CHECK;

/* Returns the id that samples of the event have. */
SP_API struct sp_error *sp_meter_id(const struct sp_meter *meter, size_t index,
				    uint64_t *ret) SP_MUST_CHECK;

/* Runs a BPF program, by its descriptor, on each overflow or tracepoint. */
SP_API struct sp_error *sp_meter_set_bpf(struct sp_meter *meter, size_t index,
					 int program_fd) SP_MUST_CHECK;

/* The programs that are attached to a tracepoint: up to `capacity`; *count_ret may be more. */
SP_API struct sp_error *sp_meter_query_bpf(const struct sp_meter *meter, size_t index,
					   uint32_t *ids, uint32_t capacity,
					   uint32_t *count_ret) SP_MUST_CHECK;

/* Nothing is written to the ring, and samples are lost, until it is resumed. */
SP_API struct sp_error *sp_meter_pause_output(struct sp_meter *meter, size_t index,
					      bool pause) SP_MUST_CHECK;

/* Moves a breakpoint: other attributes must stay as they are (Linux 4.17). */
SP_API struct sp_error *sp_meter_modify(struct sp_meter *meter, size_t index,
					const struct perf_event_attr *attr) SP_MUST_CHECK;

/* prctl(2): disables and enables all events that the calling thread has made. */
SP_API struct sp_error *sp_meter_disable_all(void) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_enable_all(void) SP_MUST_CHECK;

/*
 * Signal `signal_number` (SIGIO, or a real-time signal to have its siginfo: si_fd, and si_code
 * POLL_IN or POLL_HUP) goes to thread `tid` (0: the caller) when the fd would be readable. 0: no more.
 */
SP_API struct sp_error *sp_meter_set_signal(struct sp_meter *meter, size_t index, int signal_number,
					    pid_t tid) SP_MUST_CHECK;

/* Contents of siginfo_t for SIGTRAP of SP_METER_SIGTRAP; older headers have no names for them. */
struct sp_trap {
	uint64_t address; /* si_addr: of the breakpoint's access, or the instruction */
	uint64_t data;    /* si_perf_data: what sig_data was */
	uint32_t type;    /* si_perf_type: the event's PERF_TYPE_* */
	bool async;       /* si_perf_flags: the signal was late, the task had been interrupted meanwhile */
};

/* `siginfo` is a siginfo_t's address. False: it is another trap. May be called in signal handlers. */
SP_API bool sp_trap_decode(const void *siginfo, struct sp_trap *ret);

/*
 * The next sample or other record of the meter's ring; *ret is NULL when there is no more. It
 * belongs to the meter and is valid until the next call. SP_RECORD_LOST tells of losses.
 */
SP_API struct sp_error *sp_meter_next(struct sp_meter *meter, const struct sp_record **ret) SP_MUST_CHECK;

/* The page that the kernel shares with the event's owner, all fields of one moment. */
struct sp_meter_page {
	uint32_t version, compat_version, lock, index;
	int64_t offset;
	uint64_t time_enabled, time_running;
	bool cap_bit0_is_deprecated, cap_user_rdpmc, cap_user_time, cap_user_time_zero,
		cap_user_time_short;
	uint64_t capabilities; /* all of them */
	uint16_t pmc_width, time_shift;
	uint32_t time_mult;
	uint64_t time_offset, time_zero;
	uint32_t size;
	uint64_t time_cycles, time_mask;
	uint64_t data_head, data_tail, data_offset, data_size;
	uint64_t aux_head, aux_tail, aux_offset, aux_size;
};

/* False where the page is not mapped: of members of rings of others, of inherited events. */
SP_API bool sp_meter_read_page(const struct sp_meter *meter, size_t index, struct sp_meter_page *ret);

/* How the processor's time stamps and the kernel's clock belong together. */
struct sp_clock {
	uint64_t zero, cycles, mask; /* time_zero, time_cycles, time_mask */
	uint32_t mult;
	uint16_t shift;
	bool narrow;                 /* cap_user_time_short: the counter wraps, as time_mask says */
};

/*
 * From the meter's page; false where the kernel does not say (cap_user_time_zero): no
 * invariant TSC. Nanoseconds are those of samples without use_clockid (sched_clock).
 */
SP_API bool sp_meter_clock(const struct sp_meter *meter, struct sp_clock *ret);

/* The processor's time stamp: TSC of x86, CNTVCT of arm64; false on others. */
SP_API bool sp_clock_read(uint64_t *cycles_ret);

/* A time stamp in ns, and back; off by one cycle at most. */
SP_API uint64_t sp_clock_to_ns(const struct sp_clock *clock, uint64_t cycles);
SP_API uint64_t sp_clock_to_cycles(const struct sp_clock *clock, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
