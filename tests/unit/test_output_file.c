/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output_file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

TEST(a_signal_removes_the_unfinished_file)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	char top[] = "/tmp/sprof-output-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		int status;
		pid_t pid = fork();
		if (!pid) {
			struct output_file file;
			signal(numbers[i], SIG_DFL);
			if (output_file_open(&file, "x.html"))
				raise(numbers[i]);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
	}
	ck_assert_int_eq(chdir("/"), 0);
	/* The folder is empty. */
	ck_assert_int_eq(rmdir(top), 0);
}
