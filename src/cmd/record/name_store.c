/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/name_store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sprof/archive.h>
#include <sprof/private/command.h>
#include "cmd/common/session.h"
#include "diag.h"

#define WAIT_NS (300 * NS_PER_MS)
#define POLL_NS (1 * NS_PER_MS)

/* Time limit of a child, should a lock that a thread had at the fork never be released in it. */
#define CHILD_SECONDS 600

/*
 * Limits of the child, which reads files of other users. If names need more memory or CPU time, the
 * recording stays without names: 'sprof archive' has no such limits. RLIMIT_DATA counts private
 * memory only, not mapped files and reserved addresses, which RLIMIT_AS would count. The recorder's
 * own data at the fork is added.
 */
#define CHILD_CPU_SECONDS 120
#define CHILD_DATA ((rlim_t)256 << 20)
#define CHILD_FILES_LIMIT ((uint64_t)64 << 20)
#define CHILD_JIT_LIMIT ((uint64_t)64 << 20)

/* More threads would need more memory, and take CPUs from the recorded programs. */
#define CHILD_THREADS 2

/* Priority of children that run in the background. */
#define CHILD_NICE 19

/* Number of files that may wait. Each is open, and has space on the disk even if it is removed. */
#define WAITING_MAX 64

void name_store_add(struct name_store *store, int fd, const char *path)
{
	bool full = store->files.count == WAITING_MAX;
	int *slot = store->ctx && fd >= 0 && !full ? list_try_push(&store->files) : NULL;
	if (slot)
		*slot = fd;
	else if (fd >= 0)
		close(fd);
	if (store->ctx && fd >= 0 && full && !store->quiet)
		diag_print("%s has no names yet, because %d files wait for theirs: run 'sprof "
			   "archive %s'", path, WAITING_MAX, path);
}

/*
 * Detaches the child from the terminal: ^C is for the recorder, and a pipe from standard error must close
 * when the recorder ends.
 */
static void detach(void)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	setsid();
	alarm(CHILD_SECONDS);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Lowers a limit, but not below an own one of the user. SIGXCPU ends the process. */
static void set_limit(int resource, rlim_t value)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) || limit.rlim_cur <= value)
		return;
	limit.rlim_cur = value;
	setrlimit(resource, &limit);
}

static void limit_child(void)
{
	rlim_t data = (rlim_t)diag_proc_number("/proc/self/status", "VmData:", 10) << 10;
	if (data)
		set_limit(RLIMIT_DATA, data + CHILD_DATA);
	set_limit(RLIMIT_CPU, CHILD_CPU_SECONDS);
	set_limit(RLIMIT_CORE, 0);
}

/*
 * Lowers the priority of a child's threads, and that of the group which the scheduler made for its
 * session, in which the former counts only among themselves.
 */
static void lower_priority(pid_t child)
{
	char path[48];
	setpriority(PRIO_PGRP, (id_t)child, CHILD_NICE);
	snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)child);
	FILE *file = fopen(path, "we");
	if (!file)
		return;
	fprintf(file, "%d", CHILD_NICE);
	fclose(file);
}

/* Stores names in the first `count` files. Returns an exit status. */
static int store_in(const struct name_store *store, size_t count)
{
	int status = 0;
	const struct sp_archive_options options = {
		.size = sizeof(options),
		.capture = store->capture,
		.code = store->code,
		.size_limit = store->size_limit,
		.threads = CHILD_THREADS,
		.files_limit = CHILD_FILES_LIMIT,
		.jit_limit = CHILD_JIT_LIMIT,
	};
	for (size_t i = 0; i < count; i++) {
		char path[32];
		struct stat file;
		/* An old one may have been removed: --switch-max-files. */
		if (fstat(store->files.items[i], &file) || !file.st_nlink)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", store->files.items[i]);
		struct sp_error *error = sp_archive(store->ctx, path, &options, NULL);
		status |= error != NULL;
		sp_error_free(error);
	}
	return status;
}

/* Starts a child for the first `count` files, which are no longer in the list then. */
static void start(struct name_store *store, size_t count, bool background)
{
	pid_t pid = fork();
	if (pid == 0) {
		detach();
		limit_child();
		if (background)
			lower_priority(getpid());
		sp_capture_after_fork(store->capture, store->files.items, count);
		_exit(store_in(store, count));
	}
	store->child = pid > 0 ? pid : 0;
	for (size_t i = 0; i < count; i++)
		close(store->files.items[i]);
	store->files.count -= count;
	memmove(store->files.items, store->files.items + count,
		store->files.count * sizeof(*store->files.items));
}

/* Begins with the next file if the one before is done. */
static void step(struct name_store *store, bool background)
{
	if (store->child && waitpid(store->child, NULL, WNOHANG) == 0)
		return;
	store->child = 0;
	if (store->files.count)
		start(store, 1, background);
}

void name_store_step(struct name_store *store)
{
	step(store, true);
}

void name_store_start_last(struct name_store *store)
{
	step(store, false);
}

void name_store_finish(struct name_store *store)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint64_t deadline_ns = session_now_ns() + WAIT_NS;
	for (step(store, false); store->child && session_now_ns() < deadline_ns; step(store, false))
		nanosleep(&pause, NULL);
	if (store->child)
		lower_priority(store->child);
	if (store->child && !store->quiet)
		diag_print("storing names in the background (process %d)", (int)store->child);
	if (store->files.count)
		start(store, store->files.count, true);
	free(store->files.items);
	store->files.items = NULL;
}
