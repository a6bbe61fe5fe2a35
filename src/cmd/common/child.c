/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/child.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "diag.h"

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

static bool is_executable(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool child_find_program(const char *word, char *path, size_t size)
{
	const char *at = getenv("PATH");
	if (strchr(word, '/'))
		return snprintf(path, size, "%s", word) < (int)size;
	while (at && *at && *word) {
		size_t length = strcspn(at, ":");
		int used = snprintf(path, size, "%.*s/%s", length ? (int)length : 1,
				    length ? at : ".", word);
		if (used < (int)size && is_executable(path))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

bool child_is_program(const char *word)
{
	char path[PATH_MAX];
	return child_find_program(word, path, sizeof(path));
}

bool child_check_command(const char *const *command, const struct option_numbers *pids)
{
	uint64_t pid;
	if (!pids->count || !command || !option_text_number(*command, 1, INT32_MAX, &pid) ||
	    child_is_program(*command))
		return true;
	diag_print(
		"-p: there is no program %s; quote process IDs: -p \"$(pidof NAME)\", or -p %d,%s",
		*command, (int)pids->items[0], *command);
	return false;
}
