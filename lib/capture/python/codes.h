/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code objects of one process that were read, by address. One thread uses them. */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "capture/python/functions.h"
#include "python/code_object.h"

/* Time after which a code object is compared with memory again: its address may have other code. */
#define PYTHON_CODES_CHECK_NS 100000000

/* A zeroed struct is empty. */
struct python_codes {
	struct u64map index_of; /* address -> index in list */
	VEC(struct python_known_code) list;
};

void python_codes_deinit(struct python_codes *codes);

/* Sources that the search for a code object needs. */
struct python_reader {
	struct python_memory *memory;
	const struct python_runtime *runtime;
	struct python_functions *functions;
	uint64_t time_ns; /* time of the sample */
};

/*
 * Finds the address in the recording of a frame's line. False if the frame has no code object, or it
 * cannot be read.
 */
bool python_codes_find(struct python_codes *codes, const struct python_reader *reader, uint64_t code,
		       uint64_t instr, uint64_t *ret);
