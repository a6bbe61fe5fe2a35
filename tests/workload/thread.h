/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detached threads; thousands of them fit. */
#ifndef WORKLOAD_THREAD_H
#define WORKLOAD_THREAD_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where it cannot be made. */
static inline void thread_start(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	errno = pthread_create(&thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	if (errno) {
		perror("pthread_create");
		exit(1);
	}
}

#endif
