/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Division of a function's code into instructions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

/* A function's code. `samples` are the sampled distances from its begin: ascending, distinct. */
struct code_sweep {
	const uint8_t *code;
	size_t size;
	uint16_t machine;
	const uint64_t *samples;
	size_t sample_count;
	uint64_t near; /* greatest distance from a sample of listed instructions; UINT64_MAX: all */
};

/* An instruction, by its distance from the function's begin. */
struct code_extent {
	uint64_t offset;
	uint8_t size;
	bool follows_gap; /* instructions before it are not listed */
};

struct code_extents {
	VEC(struct code_extent);
	size_t overlapping; /* samples inside of the instruction before, which is cut there */
	uint64_t left_out;  /* bytes of instructions that are not listed */
};

/*
 * Lists instructions from the begin on, as objdump does, and anew from each sampled address, which
 * is certainly the begin of an instruction. Bytes that are no instruction are listed one by one. A
 * zeroed *ret is empty. Returns false when out of memory.
 */
bool code_sweep_run(const struct code_sweep *sweep, struct code_extents *ret);
