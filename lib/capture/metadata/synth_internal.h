/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the files of synth share. */
#pragma once

#include "base/hash.h"
#include "capture/metadata/synth.h"

struct synth {
	struct sp_ctx *ctx;
	struct perf_event_attr attr;
	uint64_t id;
	uint64_t time_ns;
	uint64_t new_ticks, new_ns; /* earliest time of new processes */
	bool is_new;                /* the process that is described */
	bool keeps_mappings;        /* no FORK of a process */
	size_t mapping_count;       /* mappings written */
	bool is_limited;            /* by synth_set_limit() */
	size_t left;                /* mappings that may still be read */
	size_t process_left;        /* mappings that the process may have */
	bool has_too_many;          /* the process has more */
	bool has_memory_code;       /* it has executable memory without a file */
	struct u64map large;        /* processes that once had more */
	struct task_list deferred;  /* processes with too many mappings */
	struct record_buffer *buffer;
};

/* Encodes `record` with the sample_id of a task. */
struct sp_error *synth_put(struct synth *synth, struct sp_record *record, uint32_t pid,
			   uint32_t tid) SP_MUST_CHECK;

/* Writes the namespaces of a thread, if the attr requests them; nothing if it is gone. */
struct sp_error *synth_namespaces(struct synth *synth, uint32_t pid, uint32_t tid) SP_MUST_CHECK;

/* Writes the KSYMBOL record of a BPF program or trampoline. */
struct sp_error *synth_put_ksymbol(struct synth *synth, uint64_t start, uint64_t size,
				   const char *name) SP_MUST_CHECK;
