/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files like base/regular_file.h, for a recorder that must not wait for a file system. A
 * proxy opens the file. The recorder gets its descriptor if it is on a local file system, and else
 * that of a copy in memory.
 */
#pragma once

#include <sys/stat.h>
#include "base/proxy.h"

/* Largest file that is copied. */
#define GUARDED_COPY_MAX ((uint64_t)64 << 20)

struct guarded_file {
	int fd;             /* the caller closes it */
	struct stat status; /* status of the file, not of the copy */
	bool is_copy;
};

/*
 * Opens `path`, which cannot leave the directory `root` unless that is NULL or "". Fails as
 * regular_file_open(); with SP_ERROR_OS if its file system does not answer; with SP_ERROR_LIMIT if
 * it is too large to be copied. `proxies` NULL, or none are on: the file is opened here.
 */
struct sp_error *guarded_file_open(struct proxies *proxies, const char *root, const char *path,
				   struct guarded_file *ret) SP_MUST_CHECK;

/*
 * Returns whether reading an open file waits for nothing but this machine. `path` is the one that
 * it was opened by: it may lead through /proc/PID.
 */
bool guarded_file_is_local(int fd, const char *path);
