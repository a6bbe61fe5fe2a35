/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"

/* Attempts to find an unused name for the temporary file. */
#define TRIES 100

static void deinit(struct output_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct output_file){0};
}

/* Creates the temporary file in the path's directory. Returns its descriptor, or -1 with errno. */
static int create(struct output_file *file)
{
	for (int i = 0; i < TRIES; i++) {
		if (asprintf(&file->temporary, "%s.tmp-%d-%d", file->path, (int)getpid(), i) < 0) {
			file->temporary = NULL;
			errno = ENOMEM;
			return -1;
		}
		int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
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

/* Opens the path itself with more flags. Returns a descriptor, or -1 with errno. */
static int open_in_place(const struct output_file *file, int flags)
{
	struct stat own, target;
	bool is_link = !lstat(file->path, &own) && S_ISLNK(own.st_mode);
	if (is_link && !is_descriptor(file->path) &&
	    (stat(file->path, &target) || S_ISREG(target.st_mode))) {
		errno = ELOOP;
		return -1;
	}
	flags |= is_link ? 0 : O_NOFOLLOW;
	return open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
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
	if (errno == ELOOP) {
		diag_say("%s is a symbolic link, which is not followed", path);
		diag_more("name the file itself");
	} else {
		diag_say("cannot write %s: %s", path, strerror(errno));
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
	*file = (struct output_file){.path = strdup(path)};
	return open_stream(file, file->path ? open_path(file) : -1, path);
}

bool output_file_open_in_place(struct output_file *file, const char *path, bool append)
{
	*file = (struct output_file){.path = strdup(path)};
	int flags = O_CREAT | (append ? O_APPEND : O_TRUNC);
	return open_stream(file, file->path ? open_in_place(file, flags) : -1, path);
}

int output_file_close(struct output_file *file, bool complete)
{
	errno = 0;
	bool failed = fflush(file->out) || ferror(file->out);
	int errnum = errno;
	if (fclose(file->out) && !failed) {
		failed = true;
		errnum = errno;
	}
	if (!failed && complete && file->temporary && rename(file->temporary, file->path)) {
		failed = true;
		errnum = errno;
	}
	if (failed)
		diag_say("cannot write %s: %s", file->path, strerror(errnum ? errnum : EIO));
	if (file->temporary && (failed || !complete))
		unlink(file->temporary);
	deinit(file);
	return failed;
}
