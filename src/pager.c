/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "diag.h"
#include "memory.h"

#define MAX_WORDS 32

/* Returns the pager command of the environment, default less; NULL if the user wants no pager. */
static const char *pager_command(void)
{
	const char *command = getenv("SPROF_PAGER");
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	command += strspn(command, " \t");
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Executes the pager in the child process. Returns only on failure. */
static void pager_exec(const char *command, int input)
{
	char *words[MAX_WORDS + 1], *rest = strdup(command), *word;
	size_t count = 0;
	while (rest && count < MAX_WORDS && (word = strsep(&rest, " \t")))
		if (*word)
			words[count++] = word;
	words[count] = NULL;
	if (!count || dup2(input, STDIN_FILENO) < 0)
		return;
	/*
	 * less: quit if one screen suffices (F), keep colours (R), cut long lines (S), keep the screen
	 * (X).
	 */
	setenv("LESS", "FRSX", 0);
	setenv("LESSCHARSET", "utf-8", 0);
	signal(SIGPIPE, SIG_DFL);
	execvp(words[0], words);
}

/*
 * Starts the pager; *input_ret is the write end of the pipe to its standard input. Returns its pid, or
 * 0 on failure. In the pipe `failed`, a byte arrives if exec fails; a successful exec closes it.
 */
static pid_t pager_start(const char *command, int *input_ret)
{
	int input[2], failed[2];
	if (pipe2(input, O_CLOEXEC))
		return 0;
	if (pipe2(failed, O_CLOEXEC)) {
		close(input[0]);
		close(input[1]);
		return 0;
	}
	pid_t pid = fork();
	if (!pid) {
		pager_exec(command, input[0]);
		_exit(write(failed[1], "", 1) == 1 ? 1 : 2);
	}
	close(input[0]);
	close(failed[1]);
	char byte;
	ssize_t got = pid > 0 ? read(failed[0], &byte, 1) : 1;
	close(failed[0]);
	if (got == 0) {
		*input_ret = input[1];
		return pid;
	}
	close(input[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return 0;
}

/* Enlarges the stream's buffer and disables its locking, because one thread may write megabytes. */
static void write_much(FILE *out)
{
	static char buffer[64 << 10];
	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	__fsetlocking(out, FSETLOCKING_BYCALLER);
}

/* The running pager: the terminal is its own until it ends. */
static struct pager running;

static void end_running(void)
{
	if (!running.pid)
		return;
	close(fileno(running.out));
	waitpid(running.pid, NULL, 0);
}

struct pager pager_open(const char *path, bool wanted)
{
	struct pager pager = {.out = stdout};
	const char *command = pager_command();
	int input = -1;
	if (path) {
		output_file_open(&pager.file, path);
		pager.out = pager.file.out;
		return pager;
	}
	/* Flushes earlier output, which must precede the pager's. */
	fflush(stdout);
	if (wanted && command && isatty(STDOUT_FILENO))
		pager.pid = pager_start(command, &input);
	if (!pager.pid) {
		write_much(stdout);
		return pager;
	}
	signal(SIGPIPE, SIG_IGN); /* quitting the pager is no failure */
	pager.out = fdopen(input, "w");
	if (pager.out) {
		write_much(pager.out);
		running = pager;
		memory_at_end(end_running);
		return pager;
	}
	close(input);
	waitpid(pager.pid, NULL, 0);
	return (struct pager){.out = stdout};
}

int pager_close(struct pager *pager)
{
	if (pager->file.out)
		return output_file_close(&pager->file, !pager->incomplete);
	if (pager->pid) {
		running.pid = 0;
		/* A write to the pager fails only if the user has quit it. */
		fclose(pager->out);
		while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
			;
		return 0;
	}
	int error = stream_finish(pager->out);
	if (pager->errnum)
		error = pager->errnum;
	/* Some file systems, for example NFS, report a full disk only at close(2). */
	if (!error && close(STDOUT_FILENO) && errno != EBADF)
		error = errno;
	if (error && error != EPIPE)
		diag_print("cannot write the output: %s", strerror(error));
	return error != 0;
}
