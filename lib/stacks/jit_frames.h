/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Call frame information of generated code, from jitdumps, for an unwinder. Thread-safe. */
#pragma once

#include <pthread.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbol/jitdump.h"
#include "unwind/unwind.h"

struct jit_frames {
	struct jitdump_request request; /* except module and process */
	pthread_mutex_t lock;      /* protects the members that follow */
	VEC(const struct jitdump *) dumps; /* by module->index; NULL: not read, or none */
	struct u64map asked;       /* module->index of dumps that were searched */
	struct u64map read;        /* hash of module and code -> index of its bytes */
	VEC(struct sp_bytes) bytes;
	struct arena arena;
};

/* The members of `request` are borrowed, except its module and process. */
void jit_frames_init(struct jit_frames *frames, const struct jitdump_request *request);
void jit_frames_deinit(struct jit_frames *frames);

/* Callback of struct unwind_files; `arg` is a struct jit_frames. Results are valid until it is freed. */
bool jit_frames_find(void *arg, const struct module *module, uint32_t pid, uint64_t offset,
		     struct unwind_generated *ret);
