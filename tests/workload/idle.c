/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle COUNT [SECONDS]: COUNT threads that sleep, for measuring what attaching
 * to them costs; prints "ready" once all are there. Ends after SECONDS (60).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "thread.h"

static void *sleeper(void *argument)
{
	for (;;)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 1; i < count; i++)
		thread_start(sleeper, NULL);
	puts("ready");
	fflush(stdout);
	sleep(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	return 0;
}
