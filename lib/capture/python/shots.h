/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Python stacks that drain threads read when a sample arrived, until it is unwound. A new stack
 * replaces the oldest if there are too many. Thread-safe, except for init and deinit.
 */
#pragma once

#include <pthread.h>
#include "python/python_stack.h"

/*
 * Limit of bytes: a worker may be late by seconds on a busy machine. Beyond it, all stacks are
 * dropped.
 */
#define PYTHON_SHOTS_MAX 8192
#define PYTHON_SHOTS_BYTES ((size_t)64 << 20)

struct python_shots {
	pthread_mutex_t lock;
	struct python_shot *places[PYTHON_SHOTS_MAX]; /* by hash of thread and time */
	size_t bytes; /* size of all stacks */
};

void python_shots_init(struct python_shots *shots);
void python_shots_deinit(struct python_shots *shots);

/*
 * Adds the stack of the sample of a thread at a time; without memory, it is dropped.
 * `reader_ns`: CPU time of the reader in the sample's period.
 */
void python_shots_add(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		      const struct python_stack *stack, bool exact, uint64_t reader_ns);

/* Returns `reader_ns` of a sample's stack; 0 if there is none. */
uint64_t python_shots_reader_ns(struct python_shots *shots, uint32_t tid, uint64_t time_ns);

/* Gets and removes the stack of a sample; false if there is none. */
bool python_shots_take(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		       struct python_stack *ret, bool *exact_ret);
