/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things that happen a known number of times: `touched` is written WRITES times, called() is
 * called CALLS times, and /dev/null is opened OPENS times. Linked with -no-pie, so that the
 * address of `touched` is known before it runs.
 *
 *	occurrences WRITES CALLS OPENS
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

volatile int touched;

int called(int value);

__attribute__((noinline)) int called(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

int main(int argc, char **argv)
{
	int writes = argc > 1 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : 0;
	int opens = argc > 3 ? atoi(argv[3]) : 0, sum = 0;
	for (int i = 0; i < writes; i++)
		touched = i;
	for (int i = 0; i < calls; i++)
		sum += called(i);
	for (int i = 0; i < opens; i++)
		close(open("/dev/null", O_RDONLY));
	return sum < 0;
}
