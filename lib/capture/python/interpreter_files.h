/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols of the interpreters' files. Each file is read once, under the lock; a failure is final.
 * Thread-safe, except for init and deinit.
 */
#pragma once

#include <pthread.h>
#include "base/vec.h"
#include "binary/binary.h"
#include "machine/machine.h"

/* Addresses of symbols in a process's memory. */
struct python_addresses {
	uint64_t runtime, code_type, version; /* _PyRuntime, PyCode_Type, Py_Version */
	uint64_t eval, eval_size;             /* _PyEval_EvalFrameDefault */
};

struct python_files {
	pthread_mutex_t lock;
	VEC(struct python_file) list;
};

void python_files_init(struct python_files *files);
void python_files_deinit(struct python_files *files);

/* Drops all files. Call it before their modules are freed. */
void python_files_drop(struct python_files *files);

/*
 * Gets the addresses of the interpreter that is mapped at a location, in its process's memory.
 * Returns false if it lacks some symbol, or cannot be read.
 */
bool python_files_find(struct python_files *files, const struct binary_env *binaries,
		       const struct location *location, struct python_addresses *ret);
