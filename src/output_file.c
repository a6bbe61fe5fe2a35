/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd/common/session.h"
#include "diag.h"
#include "memory.h"

/* Attempts to find an unused name for the temporary file. */
#define TRIES 100

/* The temporary file of the process, if it has one: a process writes one at a time. */
static const char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

static void end_unfinished(int number)
{
	remove_unfinished();
	session_raise(number);
}

static void deinit(struct output_file *file)
{
	session_replace_handlers(end_unfinished, SIG_DFL);
	unfinished = NULL;
	free(file->path);
	free(file->temporary);
	*file = (struct output_file){0};
}

/* Creates the temporary file in the path's directory. Returns its descriptor, or -1 with errno. */
static int create(struct output_file *file)
{
	for (int i = 0; i < TRIES; i++) {
		file->temporary = xasprintf("%s.tmp-%d-%d", file->path, (int)getpid(), i);
		/* It may have names, source lines and instructions that only root may read. */
		mode_t mode = geteuid() ? 0666 : 0600;
		int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0) {
			unfinished = file->temporary;
			memory_at_end(remove_unfinished);
			session_replace_handlers(SIG_DFL, end_unfinished);
			return fd;
		}
		free(file->temporary);
		file->temporary = NULL;
		if (errno != EEXIST)
			break;
	}
	return -1;
}

/* Returns whether the path is one of the system's links to an open descriptor. */
static bool is_descriptor(const char *path)
{
	static const char *const prefixes[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return !strstr(path, "/../");
	return false;
}

static bool is_trusted(const struct stat *status)
{
	return status->st_uid == geteuid() || !status->st_uid;
}

/*
 * Opens a file found by O_PATH with more flags. Another user could read what is written to a FIFO,
 * or never read it, which blocks. Returns a descriptor, or -1 with errno.
 */
static int reopen(int found, int flags)
{
	char link[32];
	struct stat status;
	if (fstat(found, &status))
		return -1;
	bool is_plain = S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode);
	errno = S_ISLNK(status.st_mode) ? ELOOP
		: S_ISDIR(status.st_mode) ? EISDIR
		: !is_plain && !S_ISCHR(status.st_mode) ? EINVAL
		: is_plain && !is_trusted(&status) ? EPERM : 0;
	if (errno)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	return open(link, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
}

/* Opens the path itself with more flags. Returns a descriptor, or -1 with errno. */
static int open_in_place(const struct output_file *file, int flags)
{
	const int all = O_WRONLY | O_CLOEXEC | O_NOCTTY | flags;
	if (is_descriptor(file->path))
		return open(file->path, all, 0666);
	int found = open(file->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (found < 0 && errno == ENOENT && flags & O_CREAT)
		return open(file->path, all | O_EXCL, 0666);
	int fd = found < 0 ? -1 : reopen(found, flags & ~O_CREAT), errnum = errno;
	if (found >= 0)
		close(found);
	errno = errnum;
	return fd;
}

/* Returns a descriptor for the path, or -1 with errno. */
static int open_path(struct output_file *file)
{
	struct stat own;
	if (lstat(file->path, &own))
		return errno == ENOENT ? create(file) : -1;
	return S_ISREG(own.st_mode) ? create(file) : open_in_place(file, 0);
}

/* Makes the stream of a descriptor. Returns false after printing the error that errno has. */
static bool open_stream(struct output_file *file, int fd, const char *path)
{
	file->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (file->out)
		return true;
	int errnum = errno;
	struct stat status;
	if (errnum == ELOOP) {
		diag_print("%s is a symbolic link, which is not followed", path);
		diag_more("name the file itself");
	} else if (errnum == EPERM && !lstat(path, &status) && !is_trusted(&status)) {
		diag_print("%s belongs to user %u, who could read or change what is written",
			   path, (unsigned int)status.st_uid);
		diag_more("name another file, or remove that one");
	} else {
		diag_print("cannot write %s: %s", path, strerror(errnum));
	}
	if (fd >= 0)
		close(fd);
	if (file->temporary)
		unlink(file->temporary);
	deinit(file);
	return false;
}

bool output_file_open(struct output_file *file, const char *path)
{
	*file = (struct output_file){.path = xstrdup(path)};
	return open_stream(file, open_path(file), path);
}

bool output_file_open_in_place(struct output_file *file, const char *path, bool append)
{
	*file = (struct output_file){.path = xstrdup(path)};
	int flags = O_CREAT | (append ? O_APPEND : O_TRUNC);
	return open_stream(file, open_in_place(file, flags), path);
}

int stream_finish(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ?: EIO;
	return ferror(out) ? EIO : 0;
}

int output_file_close(struct output_file *file, bool complete)
{
	int error = stream_finish(file->out);
	/* A stream does not keep the reason of an earlier failure: another write has it, too. */
	if (error == EIO && file->temporary && write(fileno(file->out), "", 1) < 0)
		error = errno;
	if (fclose(file->out) && !error)
		error = errno ?: EIO;
	if (!error && complete && file->temporary && rename(file->temporary, file->path))
		error = errno;
	if (error)
		diag_print("cannot write %s: %s", file->path, strerror(error));
	if (file->temporary && (error || !complete))
		unlink(file->temporary);
	deinit(file);
	return error != 0;
}
