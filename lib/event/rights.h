/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Permissions of this process, and remedies for missing ones. The facts are read once; each
 * decision is a pure function of them.
 */
#ifndef EVENT_RIGHTS_H
#define EVENT_RIGHTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"

struct rights {
	bool has_perf;          /* /proc/sys/kernel/perf_event_paranoid exists */
	int32_t paranoid;       /* kernel.perf_event_paranoid; 2 where it cannot be read */
	uint64_t mlock_kb;      /* kernel.perf_event_mlock_kb, for each CPU */
	uint64_t max_sample_hz; /* kernel.perf_event_max_sample_rate; 0 unknown */
	uint32_t max_stack;     /* kernel.perf_event_max_stack: frames of a chain */
	int32_t kptr_restrict;
	uint64_t capabilities;  /* effective, bit CAP_*; 0 in a foreign user namespace */
	bool seccomp;           /* a seccomp filter is on */
	bool container;         /* seems to run in one (docker, podman, lxc, kubernetes) */
	uint32_t online_cpus;
	uint32_t page_size;
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, soft; UINT64_MAX: none */
	uint64_t files, files_max; /* RLIMIT_NOFILE, soft and hard */
	char release[64];       /* "6.1.0-18-amd64"; "" unknown */
};

/* Facts from below the ctx root and from the process itself. Missing files have defaults. */
struct sp_error *rights_read(const struct sp_ctx *ctx, struct rights *ret) SP_MUST_CHECK;

/* CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN. */
bool rights_perfmon(const struct rights *rights);
/* By what the facts say; the kernel has the last word (security modules). */
bool rights_kernel_mode(const struct rights *rights); /* paranoid <= 1 or perfmon */
bool rights_cpu_wide(const struct rights *rights);    /* paranoid <= 0 or perfmon */

/* A step from what was asked to what is done. Strings belong to the notes. */
struct event_note {
	const char *asked;  /* "cycles" */
	const char *done;   /* "sampling cpu-clock instead" */
	const char *why;    /* "this machine has no hardware counters" */
	const char *remedy; /* "sudo sysctl …", or NULL */
	const char *line;   /* "ASKED: WHY; DONE (REMEDY)" for people, without newline */
};

/* Zeroed: empty. */
struct event_notes {
	VEC(struct event_note);
	struct arena arena;
};

void event_notes_deinit(struct event_notes *notes);

/* Fails only for want of memory. */
struct sp_error *event_notes_add(struct event_notes *notes, const char *asked, const char *done,
				 const char *why, const char *remedy) SP_MUST_CHECK;

/* The refused action, for rights_explain(). */
enum rights_action {
	RIGHTS_ANY_EVENT,  /* even the plainest event */
	RIGHTS_KERNEL,     /* kernel mode */
	RIGHTS_CPU_WIDE,   /* all processes of a CPU (-a, -C) */
	RIGHTS_TASK,       /* another user's or a privileged process */
	RIGHTS_CGROUP,     /* a control group's, of an event that there is */
};

/*
 * The action to blame if a control group's event cannot be opened on a CPU. A PMU's event may not
 * exist, which is no fault of the group.
 */
static inline enum rights_action rights_of_group(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE ? RIGHTS_CGROUP : RIGHTS_CPU_WIDE;
}

/*
 * The error for an event that the kernel refused with `errnum`: the cause by the
 * facts, and the remedy that fits here (sysctl, setcap, --cap-add, another user). `name` is
 * the event's.
 */
struct sp_error *rights_explain(const struct rights *rights, enum rights_action action,
				const char *name, int errnum) SP_MUST_CHECK;

/* Data pages of each ring: powers of two. */
struct ring_pages {
	uint32_t samples, sideband;
};

/*
 * The largest rings, up to `wanted`, of which `cpu_count` pairs fit what may be locked
 * (perf_event_mlock_kb for each CPU, RLIMIT_MEMLOCK, CAP_IPC_LOCK), side-band first; a
 * note says when they are smaller than wanted. Others of the same user share the
 * budget, so mmap can still fail with EPERM: then rights_shrink_rings(). `wanted`
 * need not be powers of two: they are rounded up.
 */
struct sp_error *rights_fit_rings(const struct rights *rights, uint32_t cpu_count,
				  struct ring_pages wanted, struct event_notes *notes,
				  struct ring_pages *ret) SP_MUST_CHECK;

/*
 * The next smaller pair; SP_ERROR_LIMIT with cause and remedy when there is none
 * (1 page each).
 */
struct sp_error *rights_shrink_rings(const struct rights *rights,
				     struct ring_pages *pages) SP_MUST_CHECK;

/*
 * Makes room for `need` more file descriptors than are open now: raises the soft
 * RLIMIT_NOFILE up to the hard one. Fails with SP_ERROR_LIMIT (and the remedy) where that
 * is not enough. The old soft limit goes to *old_soft_ret, so that a workload can be
 * started with it. The one function here that changes the process.
 */
struct sp_error *rights_raise_files(const struct rights *rights, uint64_t need,
				    uint64_t *old_soft_ret) SP_MUST_CHECK;

#endif
