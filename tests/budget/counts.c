/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded, counts the bytes that a program allocates (on the heap, or as anonymous mappings) and
 * the files that it opens. Writes both to the file COUNTS when it exits. Calls within the C library
 * are not counted.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* glibc's own, under names that are not defined here. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static atomic_ullong bytes, files;

void *malloc(size_t size)
{
	bytes += size;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	bytes += count * size;
	return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	bytes += size;
	return __libc_realloc(block, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	bytes += size;
	return __libc_memalign(align, size);
}

/* The function of the C library. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define COUNT_MMAP(name)                                                                       \
	void *name(void *at, size_t size, int prot, int flags, int fd, off_t offset)               \
	{                                                                                      \
		bytes += flags & MAP_ANONYMOUS ? size : 0;                                     \
		return NEXT(name)(at, size, prot, flags, fd, offset);                              \
	}
COUNT_MMAP(mmap)
COUNT_MMAP(mmap64)

#define COUNT_OPENAT(name)                                                                     \
	int name(int folder, const char *path, int flags, ...)                                   \
	{                                                                                      \
		va_list rest;                                                                  \
		va_start(rest, flags);                                                         \
		mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;      \
		va_end(rest);                                                                  \
		files++;                                                                       \
		return NEXT(name)(folder, path, flags, mode);                                    \
	}
COUNT_OPENAT(openat)
COUNT_OPENAT(openat64)

#define COUNT_OPEN(name)                                                                       \
	int name(const char *path, int flags, ...)                                               \
	{                                                                                      \
		va_list rest;                                                                  \
		va_start(rest, flags);                                                         \
		mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;      \
		va_end(rest);                                                                  \
		files++;                                                                       \
		return NEXT(name)(path, flags, mode);                                          \
	}
COUNT_OPEN(open)
COUNT_OPEN(open64)

#define COUNT_FOPEN(name)                                                                      \
	FILE *name(const char *path, const char *mode)                                           \
	{                                                                                      \
		files++;                                                                       \
		return NEXT(name)(path, mode);                                                 \
	}
COUNT_FOPEN(fopen)
COUNT_FOPEN(fopen64)

DIR *opendir(const char *path)
{
	files++;
	return NEXT(opendir)(path);
}

static void __attribute__((destructor)) write_counts(void)
{
	unsigned long long all_bytes = bytes, all_files = files;
	FILE *out = NEXT(fopen)(getenv("COUNTS") ?: "/dev/null", "w");
	if (out) {
		fprintf(out, "%llu %llu\n", all_bytes, all_files);
		fclose(out);
	}
}
