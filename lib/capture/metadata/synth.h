/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synthesized records of the state before the recording, from /proc and /sys. They equal the
 * kernel's records. Their time is 0 unless another is set, and they have the sample_id that `attr`
 * requests: pid, tid, id, time, and zeros. All functions append to a record_buffer.
 */
#pragma once

#include "base/ctx.h"
#include "proc/proc_tasks.h"
#include "record/encode.h"

struct synth;

/*
 * `attr` and `id` are the side-band event's: what the records' sample_id holds. They
 * are copied; `buffer` is borrowed. One thread at a time.
 */
struct sp_error *synth_new(struct sp_ctx *ctx, const struct perf_event_attr *attr, uint64_t id,
			   struct record_buffer *buffer, struct synth **ret) SP_MUST_CHECK;
void synth_free(struct synth *synth);

/* Sets the time of the following records. */
void synth_set_time(struct synth *synth, uint64_t time_ns);

/*
 * Sets the earliest time of records of processes that start at `ticks` (task_stat's start_ticks) or
 * later. FORK records of these may be older, and would replace mappings that have time 0.
 */
void synth_set_new_time(struct synth *synth, uint64_t ticks, uint64_t time_ns);

/*
 * Limits the mappings that are read from now on to `mappings`, and those of each process to a part
 * of the rest. A process with more has none, and is in synth_deferred(). SIZE_MAX: no limit.
 */
void synth_set_limit(struct synth *synth, size_t mappings);

/* Returns the processes that had too many mappings. The caller empties it. */
struct task_list *synth_deferred(struct synth *synth);

/*
 * The kernel (MMAP "[kernel.kallsyms]_text", by which readers see how far it was moved at
 * boot) and its modules, each with a HEADER_BUILD_ID where one is known. Takes well under a
 * millisecond, or as long as reading kallsyms where nothing else says where the kernel's
 * code ends. *hidden_ret: kptr_restrict hides where they lie (build-ids alone were
 * written then), so kernel samples will have no names.
 */
struct sp_error *synth_kernel(struct synth *synth, bool *hidden_ret) SP_MUST_CHECK;

/*
 * The vdso: its build-id, and its image itself, which no other kernel has. Nothing, and
 * no error, where this process has none.
 */
struct sp_error *synth_vdso(struct synth *synth) SP_MUST_CHECK;

/*
 * BPF programs already loaded, as KSYMBOL records: from bpf(2) where that is allowed
 * (at once, with exact sizes), else from /proc/kallsyms (50 ms). None, or hidden: no error.
 */
struct sp_error *synth_bpf(struct synth *synth) SP_MUST_CHECK;

/*
 * Writes the records of a process: FORK and COMM for each of `threads`, and its executable mappings
 * once (MMAP2, with the kernel's build-id if any). If the attr requests them: NAMESPACES of each
 * thread, and data mappings. Tasks that end meanwhile are omitted. *complete_ret is false if
 * reading the mappings is not permitted.
 */
struct sp_error *synth_process(struct synth *synth, uint32_t pid, const struct task_list *threads,
			       bool *complete_ret) SP_MUST_CHECK;

/* The same, if the stat lines of its threads have been read already. */
struct sp_error *synth_process_known(struct synth *synth, uint32_t pid,
				     const struct task_stat *threads, size_t count,
				     bool *complete_ret) SP_MUST_CHECK;

/* Threads alone, as in synth_process(): those found later. */
struct sp_error *synth_threads(struct synth *synth, uint32_t pid,
			       const struct task_list *threads) SP_MUST_CHECK;

/*
 * Describes a process after metadata records were lost. If no mapping can be read, because it has ended
 * or belongs to another user, its FORK is omitted: readers would drop the mappings that they know.
 */
struct sp_error *synth_process_again(struct synth *synth, uint32_t pid,
				     const struct task_list *threads) SP_MUST_CHECK;

/* Returns whether a mapping's name is of memory without a file, which programs may move code to. */
bool synth_is_memory(const char *path);

/*
 * Writes MMAP2 records of files for their code that the process moved to memory at the same
 * addresses. A page of the memory that equals the file's is the proof. `tid` is a thread that has
 * not ended. Reads `limit` mappings at most. *unproven_ret is the number of parts without a
 * proof. Writes none if the process has ended, or may not be read.
 */
struct sp_error *synth_moved(struct synth *synth, uint32_t pid, uint32_t tid, size_t limit,
			     size_t *unproven_ret) SP_MUST_CHECK;

/*
 * CGROUP records of all control groups there are, where the attr asks for such records. No
 * hierarchy: none, and no error.
 */
struct sp_error *synth_cgroups(struct synth *synth) SP_MUST_CHECK;

/*
 * Processes and their threads. Adds the number of processes with unreadable mappings to
 * *unreadable.
 */
struct sp_error *synth_processes(struct synth *synth, const struct task_list *processes,
				 size_t *unreadable) SP_MUST_CHECK;
