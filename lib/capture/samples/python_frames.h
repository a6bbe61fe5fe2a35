/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Python frames in unwound stacks. The native frames of CPython's evaluation function show that Python code
 * runs; the functions and lines are read from the process's memory, which may have changed since the
 * sample. Frames that contradict the stack copy are dropped, and counted. The process is never stopped.
 */
#pragma once

#include "base/ctx.h"
#include "binary/binary.h"
#include "capture/samples/stack_dump.h"
#include "capture/python/functions.h"
#include "capture/python/python_probe.h"
#include "capture/python/processes.h"
#include "machine/live.h"
#include "python/python_stack.h"
#include "ring/ring.h"
#include "unwind/stack_memory.h"
#include "unwind/unwind.h"

/* `binaries` and `live` are borrowed. NULL when out of memory. */
struct python *python_new(const struct binary_env *binaries, struct live *live);
void python_free(struct python *python);

/* Applies a metadata record, ahead of the samples. */
struct sp_error *python_on_record(struct python *python, const struct sp_record *record) SP_MUST_CHECK;

/* Drops the files of interpreters: their modules are invalid from now on. No worker may run. */
void python_drop_files(struct python *python);

/* Appends the records of functions that the file lacks; python_restart(): a new file begins. */
struct sp_error *python_encode(struct python *python, struct record_buffer *buffer) SP_MUST_CHECK;
void python_restart(struct python *python);

/* State of one thread that reads frames; NULL when out of memory. Free it before `python`. */
struct python_worker *python_worker_new(struct python *python);
void python_worker_free(struct python_worker *worker);

/*
 * Searches for the interpreters of new processes, after their mappings were applied to `live`.
 * Workers do not do this: they may be late by a second on a busy machine, and nothing is read at
 * arrival until then.
 */
void python_look_up(struct python *python);

/* An unwound sample. */
struct python_sample {
	uint32_t pid, tid;
	uint64_t time_ns;
	struct stack_copy stack;
	const struct unwind_frame *frames;
	size_t count;
};

/*
 * Inserts Python frames into the call chain ips[0..sample->count), which is that of the sample's frames,
 * after each frame of the evaluation function. Returns the new count, at most PYTHON_FRAMES_MAX more.
 */
size_t python_insert(struct python_worker *worker, const struct python_sample *sample, uint64_t *ips);

/*
 * Reads the Python stack of an arrived sample's thread at once, for the worker that unwinds the
 * sample. The thread hardly had time to run on. Any thread with a state of its own may call
 * python_begin_arrival(), and then this for each sample, the newest first.
 *
 * Each sampled thread is read once. Its older samples get the same Python stack if they have the
 * same stack copy: the reader preempts the thread, and with waits that switch is a newer sample.
 * Before that, python_take_reader_ns() returns the part of each sample's period in which the reader
 * ran on its CPU; the oldest sample comes first.
 */
void python_begin_arrival(struct python_worker *worker);
uint64_t python_take_reader_ns(struct python_worker *worker, uint64_t period_ns);
void python_on_sample(struct python_worker *worker, const struct stack_dump_layout *layout,
		      const struct ring *ring, const struct record_values *sample,
		      uint64_t reader_ns);

/*
 * Returns `reader_ns` of a sample. The reader always runs just after a sample, so that it has none
 * itself, and a clock of the CPU counts its time as the thread's.
 */
uint64_t python_reader_ns(struct python *python, uint32_t tid, uint64_t time_ns);

/* Numbers of groups, which are the Python frames of one call of the evaluation function. */
struct python_counts {
	uint64_t samples;  /* samples of Python processes */
	uint64_t groups;   /* calls of the evaluation function: its frames */
	uint64_t inserted; /* calls with Python frames */
	/* Calls with too many frames, or of threads that ran on before the reading. */
	uint64_t dropped;
	uint64_t unreadable; /* samples of threads without Python frames */
	uint64_t damaged;    /* samples of interpreters that cannot be read, or that are paused */
	uint32_t damaged_pid; /* process of one of them */
};
void python_counts_add(struct python_counts *sum, const struct python_worker *worker);
