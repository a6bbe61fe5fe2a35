/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same work by several threads at once, over before the call returns. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

/*
 * Calls work(arg, i) for each i below `count`, all at the same time where threads can be
 * had: the last by the caller's own thread, and those that get no thread by it, too.
 */
void parallel_run(unsigned int count, void (*work)(void *arg, unsigned int i), void *arg);

#endif
