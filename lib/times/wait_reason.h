/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reason of a wait: the kernel functions of its call chain, else its system call, identify the object that a
 * thread waits for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reason 0 is "unknown". Other reasons are numbers below WAIT_REASONS_MAX. */
#define WAIT_UNKNOWN 0
#define WAIT_REASONS_MAX 64

/*
 * Returns the reason that a kernel function stands for; WAIT_UNKNOWN if it stands for none. Suffixes of
 * the compiler's clones (".part.0") do not matter. A function that enters a system call
 * ("__x64_sys_read") stands for the call.
 */
uint8_t wait_reason_of_function(const char *name);

/*
 * Returns the reason of a blocked system call by its number. `arch`: as in the file's header ("x86_64",
 * "aarch64"); NULL or others: WAIT_UNKNOWN.
 */
uint8_t wait_reason_of_syscall(const char *arch, uint32_t number);

/* Returns a system call's name, in the name of a function that enters it; NULL: it enters none. */
const char *syscall_of_function(const char *name);

/* Returns the name of a system call that can block, by its number; NULL: unknown. */
const char *syscall_of_number(const char *arch, uint32_t number);

/*
 * Returns whether a lock or a disk holds up a thread that waits for this reason, or in this
 * function outside of the kernel: it has work, and is not idle. A condition variable or a
 * semaphore does not.
 */
bool wait_reason_holds_up(uint8_t reason);
bool wait_function_holds_up(const char *name);

/* Returns a reason's name ("futex", "poll", ...), a constant. */
const char *wait_reason_name(uint8_t reason);

/* Returns the state of a thread that waits for this reason ("[blocked: futex]"), a constant. */
const char *wait_reason_state(uint8_t reason);
