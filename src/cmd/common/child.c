/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

int child_exit_like(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int signal_number = WTERMSIG(status);
	/* Disables this process's core dump: it could overwrite the command's core dump. */
	const struct rlimit none = {0};
	setrlimit(RLIMIT_CORE, &none);
	signal(signal_number, SIG_DFL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	fflush(NULL);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signal_number; /* reached only if the signal does not end this process */
}
