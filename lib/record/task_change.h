/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the change of a task in a FORK, EXIT or COMM record. No other code tells these apart. */
#pragma once

#include <sprof/record.h>
#include <stddef.h>

enum task_change_kind {
	TASK_SAME,    /* other records */
	TASK_FORKED,
	TASK_ENDED,
	TASK_EXECED,  /* a COMM of an exec: one thread is left, with the number of its process */
	TASK_RENAMED, /* any other COMM */
};

struct task_change {
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* FORKED and ENDED; else 0 */
	uint64_t time_ns;  /* FORKED and ENDED: the record's own time, if it has no other */
	enum task_change_kind kind;
	bool is_process; /* a process is forked, or its first thread ends, or is renamed */
	bool is_synthesised; /* FORKED: the task is older than the record */
};

/* Both return whether the record reports a change; if not, only *ret's kind is set. */

/* Reads `size` bytes of a record in host order: its sample_id, if it has one, is not among them. */
bool task_change_decode(const uint8_t *bytes, size_t size, struct task_change *ret);
bool task_change_of(const struct sp_record *record, struct task_change *ret);

/* Returns whether records of a type report changes, and whether they begin and end tasks. */
bool task_change_is_in(uint32_t type);
bool task_change_is_life(uint32_t type);
