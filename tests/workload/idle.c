/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle COUNT [SECONDS]: COUNT threads that sleep, for measuring what attaching
 * to them costs; prints "ready" once all are there. Ends after SECONDS (60).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *sleeper(void *argument)
{
	for (;;)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	for (int i = 1; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &attributes, sleeper, NULL)) {
			perror("idle: pthread_create");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	sleep(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	return 0;
}
