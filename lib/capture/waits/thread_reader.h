/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads of threads' processes: /proc/PID/task/TID/syscall, and memory. No other call of this part
 * needs another process. A process can delay them without limit: its memory may be a file of a
 * server that does not answer.
 *
 * Up to `files_max` files of threads stay open. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/error.h"

/* An open /proc/PID/task/TID/syscall; tid 0: none. */
struct thread_file {
	uint32_t tid;
	int fd;
};

/* Zeroed, it may be given to thread_reader_deinit(). */
struct thread_reader {
	const struct sp_ctx *ctx;  /* borrowed; its root contains /proc */
	struct thread_file *files; /* borrowed */
	size_t file_count, set_count;
	size_t victim;             /* index of the file that a full set replaces next */
	uint64_t opened;           /* number of files opened so far */
};

/* `files`: zeroed, `files_max` of them, at least 1. */
void thread_reader_init(struct thread_reader *reader, const struct sp_ctx *ctx,
			struct thread_file *files, size_t files_max);
/* Closes the files. */
void thread_reader_deinit(struct thread_reader *reader);

/* Reads the text of a thread's file, at most `size` bytes. Returns 0 or an errno. */
int thread_reader_text(struct thread_reader *reader, uint32_t pid, uint32_t tid, char *text,
		       size_t size, size_t *size_ret);

/* Closes the file of a thread that has ended, if it is open. */
void thread_reader_close(struct thread_reader *reader, uint32_t tid);

/*
 * Reads memory of a thread's process, at most 64 KB, up to the first unreadable byte. Returns the
 * number of bytes; 0: errno is set. If the first thread of a process has ended, only its other
 * threads find it.
 */
size_t thread_reader_memory(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret);
