/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/thread_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/hash.h"

/* Number of places in a set: a file may be in any of them. */
#define WAYS 4

/* Smallest size of pages: a copy ends at the first that cannot be read. */
#define PAGE_BYTES 4096
#define PAGES_MAX (65536 / PAGE_BYTES + 1)

void thread_reader_init(struct thread_reader *reader, const struct sp_ctx *ctx,
			struct thread_file *files, size_t files_max)
{
	reader->ctx = ctx;
	reader->set_count = files_max > WAYS ? files_max / WAYS : 1;
	reader->file_count = files_max > WAYS ? reader->set_count * WAYS : files_max;
	reader->files = files;
}

static void close_file(struct thread_file *file)
{
	if (file->tid)
		close(file->fd);
	file->tid = 0;
}

static void close_all(struct thread_reader *reader)
{
	for (size_t i = 0; reader->files && i < reader->file_count; i++)
		close_file(&reader->files[i]);
}

void thread_reader_deinit(struct thread_reader *reader)
{
	close_all(reader);
}

/* Returns the thread's place in its set, which may hold its file, another one, or none. */
static struct thread_file *place_of(struct thread_reader *reader, uint32_t tid)
{
	size_t ways = reader->file_count / reader->set_count;
	struct thread_file *set = reader->files + hash_u64(tid) % reader->set_count * ways;
	struct thread_file *empty = NULL;
	for (size_t i = 0; i < ways; i++) {
		if (set[i].tid == tid)
			return &set[i];
		if (!set[i].tid)
			empty = &set[i];
	}
	return empty ?: &set[reader->victim++ % ways];
}

/* Opens the thread's file in its place. Returns 0 or an errno. */
static int open_file(struct thread_reader *reader, struct thread_file *file, uint32_t pid,
		     uint32_t tid)
{
	CLEANUP_FREE char *path =
		format_text("%s/proc/%u/task/%u/syscall", ctx_root(reader->ctx), pid, tid);
	if (!path)
		return ENOMEM;
	close_file(file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		close_all(reader);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return errno;
	*file = (struct thread_file){tid, fd};
	reader->opened++;
	return 0;
}

int thread_reader_text(struct thread_reader *reader, uint32_t pid, uint32_t tid, char *text,
		       size_t size, size_t *size_ret)
{
	struct thread_file *file = place_of(reader, tid);
	bool fresh = file->tid != tid;
	int errnum = fresh ? open_file(reader, file, pid, tid) : 0;
	ssize_t done = errnum ? 0 : pread(file->fd, text, size, 0);
	/* An old file of the same number may be an ended thread's. */
	if (!errnum && done < 0 && errno == ESRCH && !fresh) {
		errnum = open_file(reader, file, pid, tid);
		done = errnum ? 0 : pread(file->fd, text, size, 0);
	}
	if (!errnum && done < 0)
		errnum = errno;
	if (errnum)
		close_file(file);
	*size_ret = errnum ? 0 : (size_t)done;
	return errnum;
}

void thread_reader_close(struct thread_reader *reader, uint32_t tid)
{
	struct thread_file *file = place_of(reader, tid);
	if (file->tid == tid)
		close_file(file);
}

size_t thread_reader_memory(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret)
{
	(void)arg;
	struct iovec local = {ret, size}, remote[PAGES_MAX];
	size_t count = 0;
	/* The kernel copies each span as a whole or not at all. */
	while (size && count < PAGES_MAX) {
		size_t span = PAGE_BYTES - address % PAGE_BYTES;
		span = span < size ? span : size;
		remote[count++] = (struct iovec){(void *)(uintptr_t)address, span};
		address += span;
		size -= span;
	}
	ssize_t done = process_vm_readv((pid_t)tid, &local, 1, remote, count, 0);
	return done < 0 ? 0 : (size_t)done;
}
