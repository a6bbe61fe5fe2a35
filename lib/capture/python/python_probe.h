/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the Python stacks of threads of other processes. One thread uses a probe. */
#pragma once

#include "base/ctx.h"
#include "capture/python/processes.h"
#include "python/python_stack.h"
#include "unwind/stack_memory.h"

/* Number of threads for which a probe caches the address of the state. */
#define PYTHON_THREADS_KNOWN 256

/* Largest part of a stack copy that is compared with memory. */
#define PYTHON_COMPARED_MAX 1024

/* Number of processes for which a probe remembers that they are the recorder's user's. */
#define PYTHON_OWNERS_KNOWN 16

/* Addresses of one python_probe_prefetch(). */
#define PYTHON_PREFETCH_MAX 64

struct python_probe {
	const struct sp_ctx *ctx;
	struct proxies *proxies; /* read the process; NULL: it is read here */
	bool is_own; /* the process is the recorder's user's */
	struct {
		uint32_t pid;
		uint64_t until_ns; /* CLOCK_MONOTONIC: until then the result holds */
		bool is_own;
	} owners[PYTHON_OWNERS_KNOWN];
	uint32_t pid; /* process that `memory` reads */
	struct python_memory memory;
	struct python_stack stack; /* result of the last python_probe_read() */
	struct {
		uint32_t tid, number; /* number: in the process's PID namespace */
		uint64_t thread;
	} threads[PYTHON_THREADS_KNOWN];
};

/* `ctx` is borrowed. NULL when out of memory; free() it. */
struct python_probe *python_probe_new(const struct sp_ctx *ctx);

/* Begins to read a process: drops all cached pages. */
void python_probe_begin(struct python_probe *probe, uint32_t pid);

/*
 * Reads the stack of a thread as it is now. False if it cannot be read. *exact_ret: the C stack is as it
 * was in the sample, at least where it changes most, so that the thread has not run on.
 */
bool python_probe_read(struct python_probe *probe, const struct python_process *process, uint32_t tid,
		       const struct stack_copy *sampled, bool *exact_ret);

/*
 * Reads the pages of up to PYTHON_PREFETCH_MAX addresses in one call of a proxy. Without proxies,
 * does nothing: pages are read when they are needed.
 */
void python_probe_prefetch(struct python_probe *probe, const uint64_t *addresses, size_t count);

/* Returns whether the process's memory still equals a stack copy, or its first PYTHON_COMPARED_MAX bytes. */
bool python_probe_is_unchanged(struct python_probe *probe, const struct stack_copy *copy);
