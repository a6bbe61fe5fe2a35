/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes with a Python interpreter, found by metadata records, and the addresses of its data.
 * Thread-safe, except for init and deinit.
 */
#pragma once

#include <pthread.h>
#include <sprof/record.h>
#include "base/hash.h"
#include "base/vec.h"
#include "python/layout.h"

/*
 * Number of consecutive failed readings after which a process is paused, and duration of the pause.
 */
#define PYTHON_FAILURES_MAX 8
#define PYTHON_PAUSE_NS UINT64_C(20000000)

/* Number of ended processes with samples that may still be unwound. */
#define PYTHON_ENDED_MAX 64

enum python_state {
	PYTHON_UNKNOWN, /* the interpreter was not searched for yet */
	PYTHON_USABLE,
	PYTHON_UNUSABLE, /* unknown version, or its memory may not be read */
};

struct python_process {
	uint32_t pid;
	uint64_t generation; /* number of the program: forked processes share it */
	uint64_t code_start; /* the executable mapping of the interpreter's file */
	enum python_state state;
	/* If usable: */
	struct python_runtime runtime;
	uint64_t eval_start, eval_end; /* _PyEval_EvalFrameDefault */
	uint32_t failures;  /* number of consecutive failed readings */
	uint64_t resume_ns; /* it is not read before this time, in the samples' clock */
};

struct python_processes {
	pthread_mutex_t lock;
	struct u64map index_of; /* pid -> index in list */
	VEC(struct python_process) list; /* pid 0: free */
	uint64_t generations;
	size_t ended_count; /* number of ended processes; the last ones are in `ended` */
	uint32_t ended[PYTHON_ENDED_MAX];
	size_t count; /* atomic; number of processes in the list */
	size_t unknown; /* number of those in the state PYTHON_UNKNOWN */
};

/* Returns whether a file's name is that of an interpreter: "python3.11", "libpython3.11.so.1.0". */
bool python_is_interpreter(const char *path);

void python_processes_init(struct python_processes *processes);
void python_processes_deinit(struct python_processes *processes);

/* Applies a metadata record; ignores others. False when out of memory. */
bool python_processes_on_record(struct python_processes *processes, const struct sp_record *record);

/* Gets a copy; false if the process has no interpreter. */
bool python_processes_find(struct python_processes *processes, uint32_t pid,
			   struct python_process *ret);

/* Gets the next process from *at on in the state PYTHON_UNKNOWN; false if there is none. */
bool python_processes_next_unknown(struct python_processes *processes, size_t *at,
				   struct python_process *ret);

/*
 * Counts a reading for a sample of that time. After PYTHON_FAILURES_MAX failed ones in a row, each
 * further one pauses the process: garbage in place of an interpreter must not cost a CPU.
 */
void python_processes_on_read(struct python_processes *processes,
			      const struct python_process *process, uint64_t time_ns, bool good);

/* Stores the result of a search for the interpreter's data, if the process still is the same program. */
void python_processes_set(struct python_processes *processes, const struct python_process *process);
