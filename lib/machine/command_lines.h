/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Command lines of processes over time. A fork inherits its parent's; an exec replaces it. Records
 * are added, then events are replayed in the order of time; after that any process can be looked
 * up, from several threads at once.
 */
#pragma once

#include "base/strtab.h"
#include "machine/machine.h"
#include "machine/process.h"
#include "record/command_line.h"

struct command_lines_history {
	struct strtab texts;
	VEC(struct machine_command) items;
	struct timelines processes; /* view: index in `items` + 1; 0: unknown */
	struct timelines forks;     /* view: pid of the parent */
};

void command_lines_history_deinit(struct command_lines_history *history);

/* Adds a record, which may be damaged. Returns its index; UINT32_MAX when out of memory. */
uint32_t command_lines_history_add(struct command_lines_history *history,
				   const struct command_line *line);

/* Replay events in the order of time. Return false when out of memory. */
bool command_lines_history_set(struct command_lines_history *history, uint32_t pid,
			       uint64_t time_ns, uint32_t index);
bool command_lines_history_fork(struct command_lines_history *history, uint32_t pid,
				uint32_t parent, uint64_t time_ns);
bool command_lines_history_exec(struct command_lines_history *history, uint32_t pid,
				uint64_t time_ns);

/* Returns a process's command line at a time; NULL: unknown. */
const struct machine_command *
command_lines_history_find(const struct command_lines_history *history, uint32_t pid,
			   uint64_t time_ns);

/* Returns the process that has a pid at a time; its parent may have no records. */
struct machine_process
command_lines_history_process(const struct command_lines_history *history, uint32_t pid,
			      uint64_t time_ns);
