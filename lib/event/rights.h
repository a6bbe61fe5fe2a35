/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Permissions of this process, and remedies for missing ones. The facts are read once; decisions are
 * pure functions of them.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"
#include "event/kernel_calls.h"
#include "record/note.h"

struct rights {
	bool has_perf;          /* /proc/sys/kernel/perf_event_paranoid exists */
	int32_t paranoid;       /* kernel.perf_event_paranoid; 2 if it is unreadable */
	uint64_t mlock_kb;      /* kernel.perf_event_mlock_kb, for each CPU */
	uint64_t max_sample_hz; /* kernel.perf_event_max_sample_rate; 0: unknown */
	uint32_t max_stack;     /* kernel.perf_event_max_stack: limit of frames in a call chain */
	int32_t kptr_restrict;
	uint64_t capabilities;  /* effective capabilities as bits CAP_*; 0 in another user namespace */
	bool seccomp;           /* a seccomp filter is active */
	bool container;         /* it seems to run in a container (docker, podman, lxc, kubernetes) */
	uint32_t online_cpus;
	uint32_t page_size;
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, soft limit; UINT64_MAX: unlimited */
	uint64_t files, files_max; /* RLIMIT_NOFILE, soft and hard limit */
	char release[64];       /* kernel release, "6.1.0-18-amd64"; "": unknown */
};

/*
 * Reads the facts, from files below the ctx root and from the process itself. Missing files have
 * defaults.
 */
struct sp_error *rights_read(const struct sp_ctx *ctx, struct rights *ret) SP_MUST_CHECK;

/* Returns whether the process has CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN. */
bool rights_perfmon(const struct rights *rights);
/*
 * Returns whether kernel mode or CPU-wide events are permitted by the facts. Security modules may
 * still refuse them.
 */
bool rights_kernel_mode(const struct rights *rights); /* paranoid <= 1 or perfmon */
bool rights_cpu_wide(const struct rights *rights);    /* paranoid <= 0 or perfmon */

/*
 * Returns the settings to change to read kernel addresses in /proc/kallsyms, as bits of enum
 * note_hidden; 0: they are readable. CAP_PERFMON does not help: without CAP_SYSLOG the kernel shows
 * them at paranoid <= 1 and kptr_restrict 0 only.
 */
unsigned int rights_hidden(const struct rights *rights);

/* A difference between request and recording. Strings belong to the notes. */
struct event_note {
	const char *asked;  /* requested: "cycles" */
	const char *done;   /* done: "sampling cpu-clock instead" */
	const char *why;    /* cause: "this machine has no hardware counters" */
	const char *remedy; /* "sudo sysctl …", or NULL */
	const char *line;   /* "ASKED: WHY; DONE (REMEDY)" for messages, without newline */
};

/* List of notes. Zeroed: empty. */
struct event_notes {
	VEC(struct event_note);
	struct arena arena;
};

void event_notes_deinit(struct event_notes *notes);

/*
 * Adds a note. One of the same event as the last replaces it, with both in the line. Fails only
 * when out of memory.
 */
struct sp_error *event_notes_add(struct event_notes *notes, const char *asked,
				 const char *done, const char *why,
				 const char *remedy) SP_MUST_CHECK;

/* Adds a note to a breakpoint if this machine's never trigger; other events get none. */
struct sp_error *event_notes_breakpoint(struct event_notes *notes,
					const struct event_kernel *kernel, const char *name,
					const struct perf_event_attr *attr) SP_MUST_CHECK;

/* The refused action, for rights_explain(). */
enum rights_action {
	RIGHTS_ANY_EVENT,  /* opening even the simplest event */
	RIGHTS_KERNEL,     /* sampling kernel mode */
	RIGHTS_KERNEL_EVENT, /* sampling an event that occurs in kernel mode only */
	RIGHTS_TRACEPOINT, /* samples of tracepoints, which have their fields */
	RIGHTS_PROBE,      /* kprobes and uprobes */
	RIGHTS_CPU_WIDE,   /* sampling all processes of a CPU (-a, -C) */
	RIGHTS_TASK,       /* sampling a process of another user, or a privileged one */
	RIGHTS_CGROUP,     /* sampling a control group, by an event that exists */
};

/*
 * Returns the action to blame if a control group's event cannot be opened on a CPU. A missing PMU event
 * is not the group's fault.
 */
static inline enum rights_action rights_of_group(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE ? RIGHTS_CGROUP : RIGHTS_CPU_WIDE;
}

/*
 * Returns the error for an event that the kernel refused with `errnum`: the cause by the facts, and a
 * remedy for this machine (sysctl, setcap, --cap-add, another user). `name` is the event's.
 */
struct sp_error *rights_explain(const struct rights *rights, enum rights_action action,
				const char *name, int errnum) SP_MUST_CHECK;

/* Data pages of a ring buffer of each role: powers of two. */
struct ring_pages {
	uint32_t samples, sideband;
};

/* Returns whether no limit of locked memory applies to rings. */
bool rights_has_unlimited_rings(const struct rights *rights);

/*
 * Returns the largest rings, up to `wanted`, such that `cpu_count` pairs fit the limit of locked
 * memory (perf_event_mlock_kb for each CPU, RLIMIT_MEMLOCK, CAP_IPC_LOCK), side-band first. Adds a
 * note if they are smaller than wanted. The user's other processes share the limit, so mmap can
 * still fail with EPERM: call rights_shrink_rings() then. `wanted` need not be powers of two: they
 * are rounded up.
 */
struct sp_error *rights_fit_rings(const struct rights *rights, uint32_t cpu_count,
				  struct ring_pages wanted, struct event_notes *notes,
				  struct ring_pages *ret) SP_MUST_CHECK;

/*
 * Sets the next smaller pair. Fails with SP_ERROR_LIMIT, with cause and remedy, if both have one page.
 */
struct sp_error *rights_shrink_rings(const struct rights *rights,
				     struct ring_pages *pages) SP_MUST_CHECK;

/*
 * Makes room for `need` more file descriptors than are open now: raises the soft RLIMIT_NOFILE up
 * to the hard limit. Fails with SP_ERROR_LIMIT and a remedy if that is not enough. *old_soft_ret is
 * the old soft limit, with which a workload is started. No other function here changes the process.
 */
struct sp_error *rights_raise_files(const struct rights *rights, uint64_t need,
				    uint64_t *old_soft_ret) SP_MUST_CHECK;
