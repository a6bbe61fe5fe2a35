/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded, lets the allocation number FAULT_N of the process fail, counted from 1 over all
 * threads, and, where FAULT_ON is set, all that follow. What the process starts is spared. Writes
 * to the file FAULT_COUNT, when it exits, how many there were.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

/* glibc's own, under names that are not taken over here. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static atomic_ulong allocations;
static unsigned long failing;
static int all_following;
static pid_t process;
static char count_path[4096];

static int fails(void)
{
	unsigned long number = atomic_fetch_add(&allocations, 1) + 1;
	if (!failing || number < failing || (number > failing && !all_following) ||
	    getpid() != process)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	void *block = fails() ? NULL : __libc_memalign(align, size);
	if (!block)
		return ENOMEM;
	*ret = block;
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAULT_N"), *path = getenv("FAULT_COUNT");
	process = getpid();
	all_following = getenv("FAULT_ON") != NULL;
	if (path && strlen(path) < sizeof(count_path))
		memcpy(count_path, path, strlen(path));
	unsetenv("LD_PRELOAD");
	atomic_store(&allocations, 0);
	failing = number ? strtoul(number, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	if (!count_path[0] || getpid() != process)
		return;
	int size = snprintf(text, sizeof(text), "%lu\n", (unsigned long)atomic_load(&allocations));
	int fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, text, (size_t)size) < 0)
		_exit(99);
}
