/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols of the interpreters' files, each read once. Thread-safe, except for init and deinit. */
#pragma once

#include <pthread.h>
#include "base/vec.h"
#include "binary/binary.h"
#include "machine/machine.h"

/* Addresses of symbols: vaddrs for a file, addresses in memory for a process. */
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

/* Drops all files: their modules are invalid from now on. */
void python_files_drop(struct python_files *files);

/* Finds the symbols of the interpreter that is mapped at a location; false if it has none. */
bool python_files_find(struct python_files *files, const struct binary_env *binaries,
		       const struct location *location, struct python_addresses *ret);
