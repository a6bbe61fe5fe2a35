/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the lifetimes of a recording's threads as CSV: thread_lives FILE. */
#include <inttypes.h>
#include <stdio.h>
#include "tests/thread_lives.h"

static struct sp_error *print(struct sp_ctx *ctx, const char *path)
{
	static const char *const splits[] = {"none", "schedstat", "waking"};
	struct sp_reader *reader = NULL;
	struct thread_lives *threads = NULL;
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (!error)
		error = thread_lives_new(ctx, reader, NULL, &threads);
	puts("pid,tid,comm,begin_ns,end_ns,running_ns,runnable_ns,blocked_ns,unknown_ns,waits,"
	     "split");
	for (size_t i = 0; !error && i < thread_lives_count(threads); i++) {
		const struct thread_life *life = thread_lives_at(threads, i);
		printf("%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64 ",", life->pid, life->tid,
		       life->comm, life->begin_ns, life->end_ns);
		printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n",
		       life->times.running_ns, life->times.runnable_ns, life->times.blocked_ns,
		       life->times.unknown_ns, life->waits, splits[life->split]);
	}
	thread_lives_free(threads);
	sp_reader_free(reader);
	return error;
}

int main(int argc, char **argv)
{
	struct sp_ctx *ctx = NULL;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (!error && argc == 2)
		error = print(ctx, argv[1]);
	if (error)
		fprintf(stderr, "%s\n", sp_error_message(error));
	bool failed = error || argc != 2;
	sp_error_free(error);
	sp_ctx_free(ctx);
	return failed;
}
