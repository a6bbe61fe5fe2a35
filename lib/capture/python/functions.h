/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Python functions of a recording. Each name, file and first line has a number, and a record in
 * the file before the first sample that needs it. One thread calls encode and restart; meanwhile,
 * others may call add.
 */
#pragma once

#include <pthread.h>
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "record/python_record.h"

struct python_functions {
	pthread_mutex_t lock;
	struct strtab strings;
	struct index_set index_of;
	VEC(struct python_function) list; /* by number */
	size_t written;                   /* number of functions in this file */
};

void python_functions_init(struct python_functions *functions);
void python_functions_deinit(struct python_functions *functions);

/*
 * Gets the function's address range, which is added if it is new. False when out of memory, or if the
 * recording has too many functions.
 */
bool python_functions_add(struct python_functions *functions, const struct python_function *function,
			  uint64_t *start_ret);

/* Appends the records of functions that the file does not have yet. */
struct sp_error *python_functions_encode(struct python_functions *functions,
					 struct record_buffer *buffer) SP_MUST_CHECK;

/* Begins a new file, which has no function yet. */
void python_functions_restart(struct python_functions *functions);
