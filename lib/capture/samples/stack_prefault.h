/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's copy of a stack ends at the first page that is not present: an unused part of a
 * large frame hides all of its callers. The recorder makes such pages present by reading a byte
 * of each, so that the next copies are whole. It discards the bytes: they are of another moment
 * than the sample, and unwinding them gives plausible, but wrong stacks.
 *
 * The bytes may be on a file system that does not answer: a proxy reads them.
 *
 * One object for each thread that unwinds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/proxy.h"

#define PREFAULT_PLACES 256

struct stack_prefault {
	struct proxies *proxies; /* NULL: memory is read here */
	size_t page_size;
	uint64_t prefaulted; /* number of jobs, except refused ones */
	uint64_t refused;    /* number of jobs that failed with EPERM */
	uint32_t refused_pid; /* the first process with memory that may not be read */
	uint64_t began_ns;   /* start of a period */
	uint32_t times;      /* number of jobs in it */
	struct {
		uint32_t pid;
		uint64_t page, time_ns;
	} places[PREFAULT_PLACES]; /* recent pages, at the index of their hash */
};

/* A stack; the kernel copied `good` of the `asked` bytes above `sp`. */
struct prefault_stack {
	uint32_t pid;
	uint64_t sp;
	uint32_t good, asked;
	uint64_t time_ns; /* present, by the samples' clock */
};

/* `proxies` (may be NULL) are borrowed. */
void stack_prefault_init(struct stack_prefault *stack_prefault, struct proxies *proxies);

/*
 * Reads the missing pages, and some below the stack pointer for deeper calls. Returns false if no
 * page is missing, if it has read too often, or if the proxy does not answer.
 */
bool stack_prefault_page(struct stack_prefault *stack_prefault, const struct prefault_stack *stack);
