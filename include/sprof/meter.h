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
	SP_METER_CPU,    /* all tasks on `cpu` */
	SP_METER_CGROUP, /* the tasks of a control group on `cpu` */
};

/* Ways to open; bits. */
enum sp_meter_flag {
	SP_METER_DISABLED = 1 << 0,       /* counts from sp_meter_enable() on, not at once */
	SP_METER_ENABLE_ON_EXEC = 1 << 1,
	SP_METER_INHERIT = 1 << 2, /* count later children, too: reading takes a system call */
	SP_METER_INHERIT_THREAD = 1 << 3, /* only new threads, not new processes (Linux 5.13) */
	SP_METER_REMOVE_ON_EXEC = 1 << 4, /* Linux 5.13 */
	SP_METER_ON_CPU = 1 << 5,         /* SELF and TASK: only while on `cpu` */
	SP_METER_KEEP_ON_EXEC = 1 << 6,   /* without PERF_FLAG_FD_CLOEXEC */
	/* Several events without a group: the kernel schedules each separately. */
	SP_METER_APART = 1 << 7,
	SP_METER_NO_GROUP = 1 << 8,       /* PERF_FLAG_FD_NO_GROUP: use only the ring of `leader` */
	SP_METER_FD_OUTPUT = 1 << 9,      /* PERF_FLAG_FD_OUTPUT: into the ring of `leader` */
	SP_METER_SYSCALLS = 1 << 10,      /* never read without a system call */
	/* Synchronous SIGTRAP to the task; needs REMOVE_ON_EXEC; breakpoints: x86 only. */
	SP_METER_SIGTRAP = 1 << 11,
};

/*
 * Options. With `events` alone, the calling thread is counted from now on. Borrowed until
 * sp_meter_open() returns.
 */
struct sp_meter_options {
	size_t size;              /* sizeof of this struct */
	const char *events;       /* syntax of `-e`; several events form one group, with or without {} */
	/* Replaces `events`: one event, used unchanged except for `size`. */
	const struct perf_event_attr *attr;
	struct sp_attr_tail attr_tail;      /* with `attr`: fields that older headers lack */
	enum sp_meter_target target;
	pid_t tid;
	int32_t cpu;
	const char *cgroup;       /* path in the hierarchy, "/a/b" */
	uint32_t flags;           /* SP_METER_* */
	uint64_t read_format;     /* PERF_FORMAT_*; 0: all that this kernel has */
	/*
	 * Meter to join, as a member of its group or with its ring only; it must stay open. Members
	 * must join before the leader is enabled. Otherwise kernels may count them only from the
	 * next context switch on.
	 */
	struct sp_meter *leader;
	/* Sampling: every `period` events, or `freq_hz` times a second. Both 0: count only. */
	uint64_t period, freq_hz;
	uint64_t sample_type;     /* PERF_SAMPLE_*, in addition to ids of events */
	uint32_t wakeup_events;   /* poll(2) and signals after N samples; 0: after each */
	uint32_t wakeup_bytes;    /* or after N bytes in the ring */
	uint32_t ring_bytes; /* 2^n pages for samples; 0: one page if an event samples, else none */
	uint64_t sig_data;        /* with SP_METER_SIGTRAP */
};

/*
 * Opens the events. *ret is freed by sp_meter_free(); `ctx` must outlive it. Fails with
 * SP_ERROR_UNSUPPORTED if this machine or kernel does not have an event, with SP_ERROR_PERMISSION
 * if it is not permitted; the error has cause and remedy.
 */
SP_API struct sp_error *sp_meter_open(struct sp_ctx *ctx, const struct sp_meter_options *options,
				      struct sp_meter **ret) SP_MUST_CHECK;

/* Closes its events. NULL is allowed. */
SP_API void sp_meter_free(struct sp_meter *meter);

/* Returns the number of events. Every index below must be less than it. */
SP_API size_t sp_meter_count(const struct sp_meter *meter);

/* Returns the name as in the options, such as "cycles:u"; it belongs to the meter. */
SP_API const char *sp_meter_name(const struct sp_meter *meter, size_t index);

/* Returns the attributes as opened; they belong to the meter. */
SP_API const struct perf_event_attr *sp_meter_attr(const struct sp_meter *meter, size_t index);

/*
 * Returns a file descriptor for poll(2), select(2) and epoll(7); it belongs to the meter. It is
 * readable after a sample, or as wakeup_events and wakeup_bytes state. POLLHUP: the task has ended,
 * or the count of sp_meter_refresh() has reached 0.
 */
SP_API int sp_meter_fd(const struct sp_meter *meter, size_t index);

/* Result of a reading. Members without a bit in the read format are 0. */
struct sp_count {
	uint64_t value;
	/* PERF_FORMAT_TOTAL_TIME_*; equal for all events of a group. */
	uint64_t enabled_ns, running_ns;
	uint64_t id;
	uint64_t lost;                   /* samples; Linux 6.0 */
};

/* Reads all events by a system call, a group at one moment, into counts[sp_meter_count()]. */
SP_API struct sp_error *sp_meter_read(struct sp_meter *meter, struct sp_count *counts) SP_MUST_CHECK;

/*
 * Reads one event of the calling thread without a system call, in some ten ns: from the page that
 * the kernel shares and the processor's counter (x86's rdpmc, arm64's PMEVCNTR). Returns false and
 * leaves *ret unchanged if that is impossible: for software events, events that are not on the CPU
 * now, inherited ones, those of other threads, or if /sys/devices/cpu/rdpmc or
 * kernel.perf_user_access forbid it.
 */
SP_API bool sp_meter_read_user(const struct sp_meter *meter, size_t index, struct sp_count *ret);

/*
 * Begin and end a measurement: counts[sp_meter_count()] are the differences, read without system
 * calls if that works for all events. May be repeated. The cost of reading is not subtracted.
 */
SP_API struct sp_error *sp_meter_begin(struct sp_meter *meter) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_end(struct sp_meter *meter, struct sp_count *counts) SP_MUST_CHECK;

/*
 * Returns the count scaled to the whole enabled time. It differs from `value` if the event shared
 * the hardware with others (multiplexing).
 */
SP_API double sp_count_scaled(const struct sp_count *count);

/*
 * Uncertainty of a scaled count: sum of several readings. The variance between them gives the
 * interval (lib/count/estimate.h has the model). A zeroed struct is empty.
 */
struct sp_scaling {
	struct sp_count sum;
	uint64_t observations;
	double last_value, last_running, squares[3];
};

/* Adds the difference between two readings, from sp_meter_end(). */
SP_API void sp_scaling_add(struct sp_scaling *scaling, const struct sp_count *difference);

/* Sets the scaled count and its 95 % interval; returns false with fewer than two readings. */
SP_API bool sp_scaling_interval(const struct sp_scaling *scaling, double *value_ret, double *low_ret,
				double *high_ret);

/* Index of the whole group, by PERF_IOC_FLAG_GROUP (with SP_METER_APART: each event). */
#define SP_METER_GROUP ((size_t)-1)

/* Start and stop counting. */
SP_API struct sp_error *sp_meter_enable(struct sp_meter *meter, size_t index) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_disable(struct sp_meter *meter, size_t index) SP_MUST_CHECK;

/* Sets the count to 0; times are not reset. */
SP_API struct sp_error *sp_meter_reset(struct sp_meter *meter, size_t index) SP_MUST_CHECK;

/*
 * Enables the event for `count` more samples. Then it is disabled, and its descriptor has POLLHUP.
 */
SP_API struct sp_error *sp_meter_refresh(struct sp_meter *meter, size_t index,
					 uint32_t count) SP_MUST_CHECK;

/* Sets the period, or the frequency in Hz if the event has one; valid from the next overflow on. */
SP_API struct sp_error *sp_meter_set_period(struct sp_meter *meter, size_t index,
					    uint64_t period) SP_MUST_CHECK;

/*
 * Redirects samples to the ring of another meter's event on the same CPU or task; NULL: discards
 * them.
 */
SP_API struct sp_error *sp_meter_set_output(struct sp_meter *meter, size_t index,
					    struct sp_meter *output) SP_MUST_CHECK;

/*
 * Sets a filter: "common_pid != 7" for tracepoints, "filter 0x1000/0x100@/bin/true" for addresses.
 */
SP_API struct sp_error *sp_meter_set_filter(struct sp_meter *meter, size_t index,
					    const char *filter) SP_MUST_CHECK;

/* Returns the id that samples of the event have. */
SP_API struct sp_error *sp_meter_id(const struct sp_meter *meter, size_t index,
				    uint64_t *ret) SP_MUST_CHECK;

/* Runs a BPF program, by its descriptor, on each overflow or tracepoint. */
SP_API struct sp_error *sp_meter_set_bpf(struct sp_meter *meter, size_t index,
					 int program_fd) SP_MUST_CHECK;

/*
 * Sets ids[] to the BPF programs attached to a tracepoint, at most `capacity`. *count_ret is their
 * number, which may be larger.
 */
SP_API struct sp_error *sp_meter_query_bpf(const struct sp_meter *meter, size_t index,
					   uint32_t *ids, uint32_t capacity,
					   uint32_t *count_ret) SP_MUST_CHECK;

/* Pauses or resumes output to the ring; samples are lost while it is paused. */
SP_API struct sp_error *sp_meter_pause_output(struct sp_meter *meter, size_t index,
					      bool pause) SP_MUST_CHECK;

/* Moves a breakpoint; other attributes must not change (Linux 4.17). */
SP_API struct sp_error *sp_meter_modify(struct sp_meter *meter, size_t index,
					const struct perf_event_attr *attr) SP_MUST_CHECK;

/* Disable and enable all events that the calling thread has opened, by prctl(2). */
SP_API struct sp_error *sp_meter_disable_all(void) SP_MUST_CHECK;
SP_API struct sp_error *sp_meter_enable_all(void) SP_MUST_CHECK;

/*
 * Sends `signal_number` to thread `tid` (0: the caller) when the descriptor becomes readable.
 * Real-time signals, unlike SIGIO, have siginfo: si_fd, and si_code POLL_IN or POLL_HUP. 0: no
 * signal.
 */
SP_API struct sp_error *sp_meter_set_signal(struct sp_meter *meter, size_t index, int signal_number,
					    pid_t tid) SP_MUST_CHECK;

/* Contents of siginfo_t for SIGTRAP of SP_METER_SIGTRAP; older headers have no names for them. */
struct sp_trap {
	uint64_t address; /* si_addr: address of the breakpoint's access, or of the instruction */
	uint64_t data;    /* si_perf_data: sp_meter_options.sig_data */
	uint32_t type;    /* si_perf_type: the event's PERF_TYPE_* */
	bool async;       /* si_perf_flags: late signal, after an interruption of the task */
};

/* Decodes a siginfo_t. Returns false for other traps. Signal handlers may call it. */
SP_API bool sp_trap_decode(const void *siginfo, struct sp_trap *ret);

/*
 * Reads the next record of the meter's ring; *ret is NULL if there is none. It belongs to the meter
 * and is valid until the next call. SP_RECORD_LOST has the number of lost samples.
 */
SP_API struct sp_error *sp_meter_next(struct sp_meter *meter, const struct sp_record **ret) SP_MUST_CHECK;

/* Copy of the page that the kernel shares with the event's owner; all fields are of one moment. */
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

/*
 * Returns false if the page is not mapped: for members that use another ring, and for inherited
 * events.
 */
SP_API bool sp_meter_read_page(const struct sp_meter *meter, size_t index, struct sp_meter_page *ret);

/* Conversion between the processor's time stamps and the kernel's clock. */
struct sp_clock {
	uint64_t zero, cycles, mask; /* time_zero, time_cycles, time_mask */
	uint32_t mult;
	uint16_t shift;
	bool narrow;                 /* cap_user_time_short: the counter wraps at time_mask */
};

/*
 * Reads the conversion from the meter's page; false without cap_user_time_zero: there is no
 * invariant TSC. Nanoseconds are those of samples without use_clockid (sched_clock).
 */
SP_API bool sp_meter_clock(const struct sp_meter *meter, struct sp_clock *ret);

/* Reads the processor's time stamp: TSC of x86, CNTVCT of arm64; false on others. */
SP_API bool sp_clock_read(uint64_t *cycles_ret);

/* Convert a time stamp to ns, and ns to a time stamp; the error is at most one cycle. */
SP_API uint64_t sp_clock_to_ns(const struct sp_clock *clock, uint64_t cycles);
SP_API uint64_t sp_clock_to_cycles(const struct sp_clock *clock, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
