/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synthesized records of the state before the recording, from /proc and /sys. They equal the
 * kernel's records. Their time is 0 unless another is set, and they have the sample_id that `attr`
 * requests: pid, tid, id, time, and zeros.
 *
 * Functions that write append records to the buffer. What is absent, has ended or may not be read
 * is omitted. They fail when out of memory, or if a file of /proc cannot be read for another
 * reason.
 */
#pragma once

#include "base/ctx.h"
#include "proc/proc_tasks.h"
#include "record/encode.h"

struct synth;

/*
 * `attr` and `id` are the side-band event's, for the records' sample_id. They are copied; `buffer`
 * is borrowed. One thread at a time.
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
 * Limits the mappings that are read from now on to `mappings` in all, and those of each process to
 * 4 % of the rest. A process with more gets none, and is added to synth_deferred().
 * SIZE_MAX: no limit.
 */
void synth_set_limit(struct synth *synth, size_t mappings);

/* Returns the processes that had too many mappings. The caller empties it. */
struct task_list *synth_deferred(struct synth *synth);

/*
 * Writes MMAP records of the kernel ("[kernel.kallsyms]_text", from which readers compute its
 * offset by KASLR) and of its modules, and known build-ids as HEADER_BUILD_ID. Takes less than a
 * millisecond, or the time to read kallsyms if only that has the end of the kernel's code.
 * *hidden_ret: kptr_restrict hides the kernel's addresses. Then it has no MMAP, and kernel samples
 * will have no names.
 */
struct sp_error *synth_kernel(struct synth *synth, bool *hidden_ret) SP_MUST_CHECK;

/* Writes the vdso's build-id, and its image, which no other kernel has. */
struct sp_error *synth_vdso(struct synth *synth) SP_MUST_CHECK;

/*
 * Writes loaded BPF programs as KSYMBOL records: from bpf(2) if that is allowed (at once, with
 * exact sizes), else from /proc/kallsyms (50 ms).
 */
struct sp_error *synth_bpf(struct synth *synth) SP_MUST_CHECK;

/*
 * Writes the records of a process: FORK and COMM for each of `threads`, and its executable mappings
 * once (MMAP2, with the kernel's build-id if any). If the attr requests them: NAMESPACES of each
 * thread, and data mappings. *complete_ret is false if reading the mappings is not permitted.
 */
struct sp_error *synth_process(struct synth *synth, uint32_t pid, const struct task_list *threads,
			       bool *complete_ret) SP_MUST_CHECK;

/* Does the same, if the stat lines of its threads have been read already. */
struct sp_error *synth_process_known(struct synth *synth, uint32_t pid,
				     const struct task_stat *threads, size_t count,
				     bool *complete_ret) SP_MUST_CHECK;

/* Writes records of threads alone, as synth_process(), if they are found later. */
struct sp_error *synth_threads(struct synth *synth, uint32_t pid,
			       const struct task_list *threads) SP_MUST_CHECK;

/*
 * Describes a process after metadata records were lost, or that was deferred. If no mapping can be
 * read, because it has ended or belongs to another user, its FORK is omitted: readers would drop
 * the mappings that they know.
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

/* Writes CGROUP records of all control groups, if the attr requests such records. */
struct sp_error *synth_cgroups(struct synth *synth) SP_MUST_CHECK;

/*
 * Writes the records of several processes with all their threads, as synth_process(). Adds the
 * number of processes with unreadable mappings to *unreadable.
 */
struct sp_error *synth_processes(struct synth *synth, const struct task_list *processes,
				 size_t *unreadable) SP_MUST_CHECK;
