/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a function in several threads and waits for them. */
#pragma once

#include <stddef.h>

/*
 * Calls work(arg, i) for each i below `count`, in parallel. The caller's thread runs the last call, and
 * those for which no thread can be created.
 */
void parallel_run(unsigned int count, void (*work)(void *arg, unsigned int i), void *arg);

/*
 * Returns the number of threads to use if `wanted` are requested; 0: one for each CPU that the process
 * may use.
 */
unsigned int parallel_threads(size_t wanted);
