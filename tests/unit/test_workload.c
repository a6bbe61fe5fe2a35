/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/workload.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include "test.h"

static const char *const sleeping[] = {"sleep", "100", NULL};
static const char *const absent[] = {"/nowhere/program", NULL};

static struct workload forked(const char *const *command)
{
	struct workload workload;
	workload_init(&workload);
	ok_or_fail(workload_fork(&workload, command, false));
	return workload;
}

static void no_child_is_left(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST(a_command_that_was_never_started_leaves_no_process)
{
	struct workload workload = forked(sleeping);
	workload_deinit(&workload);
	no_child_is_left();
	workload = forked(sleeping);
	workload_forgo(&workload);
	workload_deinit(&workload);
	no_child_is_left();
}

TEST(a_command_that_cannot_be_executed_leaves_no_process)
{
	struct workload workload = forked(absent);
	fails_with(SP_ERROR_NOT_FOUND, workload_start(&workload, absent[0]));
	workload_deinit(&workload);
	no_child_is_left();
}

TEST(a_command_that_was_started_is_not_killed)
{
	int status;
	struct workload workload = forked(sleeping);
	ok_or_fail(workload_start(&workload, sleeping[0]));
	pid_t pid = workload.pid;
	workload_deinit(&workload);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

/* Its end is seen even where SIGPIPE would end this process. */
TEST(a_command_that_died_before_its_start_is_an_error)
{
	siginfo_t info;
	struct workload workload = forked(sleeping);
	ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	ck_assert_int_eq(kill(workload.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)workload.pid, &info, WEXITED | WNOWAIT), 0);
	struct sp_error *error = workload_start(&workload, sleeping[0]);
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(sp_error_message(error), "sleep did not start: Broken pipe");
	sp_error_free(error);
	workload_deinit(&workload);
	no_child_is_left();
}
