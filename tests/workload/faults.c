/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults PAGES: writes to PAGES pages for the first time in touch(), and prints the number of all
 * its page faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "clock.h"

void touch(volatile char *memory, size_t pages, size_t page_size);

__attribute__((noinline)) void touch(volatile char *memory, size_t pages, size_t page_size)
{
	KEEP_FRAME();
	for (size_t i = 0; i < pages; i++)
		memory[i * page_size] = 1;
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? (size_t)atol(argv[1]) : 0;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = pages ? mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
	if (memory == MAP_FAILED) {
		fprintf(stderr, "usage: faults PAGES\n");
		return 2;
	}
	madvise(memory, pages * page_size, MADV_NOHUGEPAGE);
	touch(memory, pages, page_size);
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_minflt + usage.ru_majflt);
	return 0;
}
