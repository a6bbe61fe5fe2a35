/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opened PATH... -- COMMAND [ARG]...: runs the command, and prints how often it opened the files
 * otherwise than by O_PATH. The exit status is the command's. Works for devices and FIFOs, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "opened: %s: %s\n", what, strerror(errno));
	return 99;
}

/* Events that are there by now. The kernel merges equal ones that follow each other. */
static unsigned int count_events(int fd)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	unsigned int count = 0;
	ssize_t size;
	while ((size = read(fd, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + size;
		     at += sizeof(struct inotify_event) + ((struct inotify_event *)at)->len)
			count += (((struct inotify_event *)at)->mask & IN_OPEN) != 0;
	return count;
}

int main(int count, char **arguments)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), i = 1, status;
	if (fd < 0)
		return fail("inotify");
	for (; i < count && strcmp(arguments[i], "--"); i++)
		if (inotify_add_watch(fd, arguments[i], IN_OPEN) < 0)
			return fail(arguments[i]);
	if (i + 1 >= count)
		return 99;
	pid_t pid = fork();
	if (!pid) {
		execvp(arguments[i + 1], arguments + i + 1);
		_exit(fail(arguments[i + 1]));
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return fail("fork");
	fprintf(stderr, "opened: %u\n", count_events(fd));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
