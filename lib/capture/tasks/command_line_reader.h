/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the command lines of recorded processes when they execute a program, and writes them to the
 * file, without secrets (record/secrets.h). A process may have ended, or executed another program,
 * before it is read: then its command line is missing, and counted. All functions fail only when
 * out of memory.
 */
#pragma once

#include "base/hash.h"
#include "capture/tasks/tasks.h"

/* Limits for the bytes of records: in one file, and of living processes in memory. */
#define COMMAND_LINES_FILE_BYTES ((size_t)8 << 20)
#define COMMAND_LINES_LIVE_BYTES ((size_t)8 << 20)

/* A process and its command line. */
struct process_line {
	uint32_t pid;
	uint32_t flags; /* COMMAND_LINE_TRUNCATED or 0 */
	uint32_t count; /* words; 0: not yet read */
	uint64_t from_ns;           /* time of its exec or fork; 0: it ran already */
	uint64_t read_ns;           /* time after it was read; 0: not yet read */
	uint64_t ended_ns;          /* in `live`: time of its exit; 0: it runs */
	unsigned int tries;
	bool is_proven;             /* a round after it was read had no later exec */
	bool runs;                  /* it was found running: kernel threads have no command line */
	struct record_buffer words; /* the list of command_line_put() */
};

/* Without `on`, zeroed, it is empty and does nothing. */
struct command_lines {
	bool on;
	bool keeps_live; /* each file begins with the command lines of living processes */
	const struct recorded_tasks *tasks; /* borrowed */
	VEC(struct process_line) pending;   /* not yet written */
	VEC(struct process_line) live;
	struct u64map live_of;      /* pid -> index in `live` */
	size_t live_bytes, file_bytes;
	uint64_t read, gone, truncated, left_out; /* processes; gone: ended before they were read */
};

void command_lines_deinit(struct command_lines *lines);

/*
 * Handles a task change. A process that executes a program, or, with `synthesised`, runs, is
 * scheduled for command_lines_read(), in place of its earlier program. A child gets its parent's
 * command line. An exit is kept for command_lines_expire().
 */
struct sp_error *command_lines_on_change(struct command_lines *lines,
					 const struct task_change *change,
					 bool synthesised) SP_MUST_CHECK;

/* Reads the scheduled processes. Drops those that could not be read in several rounds. */
struct sp_error *command_lines_read(struct command_lines *lines) SP_MUST_CHECK;

/*
 * Appends command lines that were read before the last call: the records since then have no exec
 * that replaced them. `all`: the recording ends, and newer ones are appended, too. `to` NULL: no
 * file is written now.
 */
struct sp_error *command_lines_write(struct command_lines *lines, bool all,
				     struct record_buffer *to) SP_MUST_CHECK;

/* Begins a file: appends the command lines of living processes. */
struct sp_error *command_lines_write_live(struct command_lines *lines,
					  struct record_buffer *to) SP_MUST_CHECK;

/* Removes processes that ended before `before_ns`. */
void command_lines_expire(struct command_lines *lines, uint64_t before_ns);
