/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stack snapshots of blocked threads, for users without the right to sample context switches with stacks.
 * The kernel prints the system call, stack pointer and instruction pointer of a thread that is off the
 * CPU (/proc/PID/task/TID/syscall), and process_vm_readv(2) copies its stack. Both need ptrace access
 * (PTRACE_MODE_ATTACH): to processes of the same user, under Yama's scope 1 only to descendants.
 *
 * A snapshot becomes a SAMPLE with registers and stack copy, marked SP_MISC_SNAPSHOT. Only IP and SP
 * are known; other registers are 0, and unwinders do without them (struct unwind_sample, ip_and_sp_only).
 *
 * Reading is not atomic. The sample's TIME is when the copy ended, and its PERIOD is how long reading
 * took, in ns. The stack belongs to a wait only if the thread was off the CPU all that time, which SWITCH
 * records prove.
 *
 * All functions of one object belong to one thread.
 */
#pragma once

#include <sprof/ctx.h>
#include "record/encode.h"

/* Outcome of one attempt. Only SNAPSHOT_TAKEN appends a record. */
enum snapshot_result {
	SNAPSHOT_TAKEN,
	SNAPSHOT_RUNNABLE,   /* the thread is on a CPU or waits for one */
	SNAPSHOT_GONE,       /* the thread has ended */
	SNAPSHOT_DENIED,     /* no ptrace access */
	SNAPSHOT_NO_STACK,   /* a kernel thread, or no plausible stack pointer */
	SNAPSHOT_REFUSED,    /* the process does not answer: base/proxy.h */
	SNAPSHOT_FAILED,     /* other errors, such as too many open files or an unknown format */
	SNAPSHOT_RESULTS
};

/* Numbers of attempts by result, and of files that were opened. */
struct snapshot_counts {
	uint64_t results[SNAPSHOT_RESULTS];
	uint64_t opened; /* without proxies */
};

#define SNAPSHOT_FILES_MAX 1024

struct snapshots_options {
	struct sp_ctx *ctx;                 /* borrowed; its root contains /proc */
	const struct perf_event_attr *attr; /* attr of the records, with IP, REGS_USER, STACK_USER; copied */
	const char *machine;                /* output of uname -m */
	uint32_t stack_bytes;               /* maximum size of a stack copy: 8 to SNAPSHOT_STACK_MAX */
	size_t files_max;                   /* maximum of open files, 1 to SNAPSHOT_FILES_MAX */
	/* NULL: thread_reader_memory(). */
	size_t (*read_memory)(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret);
	uint64_t (*now)(void *arg);         /* Returns the time of the recording's clock in ns. */
	void *arg;                          /* argument of both */
};

#define SNAPSHOT_STACK_MAX 61440

/* Threads that snapshots_read() reads best at a time. */
#define SNAPSHOTS_BATCH 64

struct snapshots;

/* Fails with SP_ERROR_INVALID if the attr's samples cannot hold IP, SP and a stack copy. */
struct sp_error *snapshots_new(const struct snapshots_options *options, struct snapshots **ret) SP_MUST_CHECK;
void snapshots_free(struct snapshots *snapshots);

/* Values of the SAMPLE. */
struct snapshot_thread {
	uint32_t pid, tid;
	uint64_t id;  /* an id of the event */
	uint32_t cpu; /* if that of the thread's last switch is unknown */
};

/*
 * Appends a SAMPLE with the stack of each of the `count` threads that is blocked to *buffer, and
 * sets results[0..count). The sample's ADDR is the system call's number + 1; 0: it waits elsewhere
 * (for a page, say), or is a 32-bit program's. Fails only when out of memory; all else is a result.
 *
 * Proxies read the threads, if the context has any: at most SNAPSHOTS_BATCH at a time.
 */
struct sp_error *snapshots_read(struct snapshots *snapshots, const struct snapshot_thread *threads,
				size_t count, struct record_buffer *buffer,
				enum snapshot_result *results) SP_MUST_CHECK;

/* Closes the file of a thread that has ended, if it is open. */
void snapshots_close(struct snapshots *snapshots, uint32_t tid);

/* Valid until snapshots_free(). */
const struct snapshot_counts *snapshots_counts(const struct snapshots *snapshots);
