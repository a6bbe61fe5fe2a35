/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text of /proc/PID/task/TID/syscall. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest text: a number, six arguments, SP and PC, each a blank, "0x" and 16 digits at most. */
#define SYSCALL_TEXT_MAX 192

enum blocked_state {
	BLOCKED,          /* off the CPU, and not waiting for one */
	BLOCKED_RUNNABLE, /* "running": on a CPU, or waiting for one */
	BLOCKED_INVALID,  /* another text */
};

struct blocked {
	bool in_syscall; /* false: the kernel was entered by a fault or an interrupt */
	uint32_t number; /* the system call's number */
	uint64_t sp, ip; /* user space registers; 0 for kernel threads */
};

/* Parses the whole text. *ret is set only if the result is BLOCKED. */
enum blocked_state syscall_text_parse(const char *text, size_t size, struct blocked *ret);
