/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "diag.h"

/* Programs that open a file in the user's browser; the first one that is installed is used. */
static const char *const openers[] = {"xdg-open", "sensible-browser", NULL};

static int start(const char *opener, const char *path)
{
	char *const words[] = {(char *)(uintptr_t)opener, (char *)(uintptr_t)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	/* A browser prints messages, and must not read the terminal. */
	for (int fd = STDIN_FILENO; !error && fd <= STDERR_FILENO; fd++)
		error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawnp(&pid, opener, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

void browser_open(const char *path)
{
	char *absolute = realpath(path, NULL);
	int error = absolute ? ENOENT : errno;
	for (const char *const *opener = openers; absolute && *opener && error == ENOENT; opener++)
		error = start(*opener, absolute);
	free(absolute);
	if (error == ENOENT)
		diag_print("--open needs xdg-open (package xdg-utils); open %s in a browser", path);
	else if (error)
		diag_print("cannot open %s in a browser: %s", path, strerror(error));
	else if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") || getenv("BROWSER"))
		diag_print("wrote %s", path);
	else
		diag_print("wrote %s; there is no display to open a browser on", path);
}
