/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits of tasks: their stacks, and how the recorder reads these, by /proc/PID/task/TID/syscall and
 * process_vm_readv(2). Each wait has a stack of its own, from which the oracle recognizes it.
 */
#ifndef SIM_BLOCKED_H
#define SIM_BLOCKED_H

#include "sim.h"

/* A wait of a task: from its switch off the CPU until it is woken. */
struct sim_wait {
	uint64_t begin_ns, end_ns; /* end_ns 0: it lasts */
	unsigned int maps;         /* count of mappings, to which its stack refers; 0: it has none */
};

void sim_wait_begin(struct sim_task *task);
void sim_wait_end(struct sim_task *task);

/*
 * Stack of a wait, the same at each call; depth 0: a kernel thread's. Returns the system call; -1: none.
 */
int sim_wait_stack(const struct sim_task *task, const struct sim_wait *wait, struct sim_stack *stack);

/* Returns the opposite of ptrace_may_access(PTRACE_MODE_ATTACH). */
bool sim_is_refused(const struct sim_process *process);

/* Whether the path is of a file "syscall" of a task. */
bool sim_is_syscall(const char *path);
/* Checks of open(2), and contents. Return 0 or an errno. */
int sim_syscall_open(const char *path);
int sim_syscall_read(const char *path, char *text, size_t size);

/* process_vm_readv(2) of one page. Return 0 or an errno. */
int sim_memory_open(uint32_t tid);
int sim_memory_read(uint32_t tid, uint64_t address, void *to, size_t size);

/* An attempt of the recorder to read a task's stack. */
struct sim_look {
	uint32_t tid;
	uint64_t begin_ns, end_ns; /* by its own clock; end_ns 0: it did not end */
	uint64_t wait;             /* begin of the wait that it found, as its `begin_ns` */
	bool copied;
};

extern struct sim_looks {
	struct sim_look *items;
	size_t count;
	uint64_t denied;           /* attempts that were refused */
} sim_looks;

/* The recorder has read CLOCK_MONOTONIC. */
void sim_clock_was_read(uint64_t ns);

#endif
