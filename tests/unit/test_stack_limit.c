/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stack_limit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/io.h"
#include "files.h"
#include "test.h"

static struct sp_ctx *ctx_with(const char *value)
{
	struct sp_ctx *ctx;
	files_run("mkdir -p proc/sys/kernel && printf '%%s' '%s' >proc/sys/kernel/perf_event_max_stack",
		  value);
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_ctx_set_root(ctx, files_folder()));
	return ctx;
}

static unsigned long limit_now(void)
{
	char *text;
	size_t size;
	ck_assert_int_eq(io_read_file(files_path("proc/sys/kernel/perf_event_max_stack"), &text, &size),
			 0);
	unsigned long value = strtoul(text, NULL, 10);
	free(text);
	return value;
}

/* A file is not cut when it is written to: all numbers are of one length. */
TEST(it_is_raised_and_put_back)
{
	struct sp_ctx *ctx = ctx_with("1270\n");
	struct stack_limit limit = {0};
	ck_assert(stack_limit_restore(&limit));
	ok_or_fail(stack_limit_raise(&limit, ctx, 1270, 4000));
	ck_assert_uint_eq(limit_now(), 4000);
	ck_assert(stack_limit_restore(&limit));
	ck_assert_uint_eq(limit_now(), 1270);
	ck_assert(stack_limit_restore(&limit));
	sp_ctx_free(ctx);
}

TEST(what_somebody_else_has_set_stays)
{
	struct sp_ctx *ctx = ctx_with("1000\n");
	struct stack_limit limit = {0};
	ok_or_fail(stack_limit_raise(&limit, ctx, 1000, 2000));
	sp_ctx_free(ctx);
	sp_ctx_free(ctx_with("3000\n"));
	ck_assert(stack_limit_restore(&limit));
	ck_assert_uint_eq(limit_now(), 3000);
}

TEST(who_is_killed_leaves_it_as_it_was)
{
	struct sp_ctx *ctx = ctx_with("1270\n");
	pid_t pid = fork();
	if (!pid) {
		struct stack_limit limit = {0};
		sp_error_free(stack_limit_raise(&limit, ctx, 1270, 4000));
		pause();
		_exit(0);
	}
	for (int i = 0; i < 1000 && limit_now() != 4000; i++)
		usleep(10000);
	ck_assert_uint_eq(limit_now(), 4000);
	usleep(100000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 1000 && limit_now() != 1270; i++)
		usleep(10000);
	ck_assert_uint_eq(limit_now(), 1270);
	sp_ctx_free(ctx);
}

TEST(where_it_cannot_be_raised)
{
	struct sp_ctx *ctx = ctx_with("127\n");
	struct stack_limit limit = {0};
	files_run("rm proc/sys/kernel/perf_event_max_stack");
	struct sp_error *error = stack_limit_raise(&limit, ctx, 127, 1000);
	ck_assert_int_eq(sp_error_errno(error), ENOENT);
	sp_error_free(error);
	ck_assert(stack_limit_restore(&limit));
	sp_ctx_free(ctx);
}
