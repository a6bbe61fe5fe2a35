/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"

#define ELSEWHERE "name another file with -o"

/* Of names with a date: their resolution, and how many in a row may be there already. */
#define HUNDREDTH_NS 10000000
#define DATED_TRIES 1000

/*
 * Whether `st`, in the directory of `path`, could be another user's trap: the
 * kernel's own rule where fs.protected_symlinks and _fifos are set.
 */
static bool planted(const char *path, const struct stat *st)
{
	struct stat directory;
	CLEANUP_FREE char *copy = strdup(path);
	if (!copy || stat(dirname(copy), &directory) < 0)
		return true;
	bool shared = (directory.st_mode & S_ISVTX) && (directory.st_mode & (S_IWOTH | S_IWGRP));
	return shared && st->st_uid != geteuid() && st->st_uid != directory.st_uid;
}

static struct sp_error *refuse(const char *path, const char *why, const char *remedy)
{
	return error_set_remedy(error_new(SP_ERROR_INVALID, "%s %s", path, why), "%s", remedy);
}

static struct sp_error *open_stdout(struct output *ret)
{
	if (isatty(STDOUT_FILENO))
		return error_set_remedy(error_new(SP_ERROR_INVALID,
						  "a recording is no text for a terminal"),
					"send standard output to a file or a pipe");
	ret->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	ret->stream = true;
	return ret->fd < 0 ? error_os(errno, "cannot write to standard output") : NULL;
}

/* What is there and is no regular file: a pipe, /dev/null, a link to one. */
static struct sp_error *open_special(const char *path, struct output *ret)
{
	struct stat st;
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_remedy(error_os(errno, "cannot write to %s", path), ELSEWHERE);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return refuse(path, "changed while it was opened", ELSEWHERE);
	if (isatty(fd))
		return refuse(path, "is a terminal", ELSEWHERE);
	ret->fd = take_fd(&fd);
	ret->stream = true;
	return NULL;
}

static struct sp_error *open_unborn(const char *path, struct output *ret)
{
	CLEANUP_FREE char *copy = strdup(path);
	CLEANUP_FREE char *unborn = format_text("%s.XXXXXX", path);
	if (!copy || !unborn)
		return error_no_memory();
	/* Mode 0600, O_EXCL: never a file or link that was there before. */
	CLEANUP_CLOSE int fd = mkostemp(unborn, O_CLOEXEC);
	if (fd < 0)
		return error_set_remedy(error_os(errno, "cannot create %s", path), ELSEWHERE);
	ret->fd = take_fd(&fd);
	ret->path = take_ptr(copy);
	ret->other = take_ptr(unborn);
	return NULL;
}

struct sp_error *output_open(const char *path, struct output *ret)
{
	struct stat st, target;
	*ret = (struct output){.fd = -1};
	if (!strcmp(path, "-"))
		return open_stdout(ret);
	if (lstat(path, &st) < 0)
		return errno == ENOENT
			       ? open_unborn(path, ret)
			       : error_set_remedy(error_os(errno, "cannot write to %s", path),
						  ELSEWHERE);
	if (S_ISREG(st.st_mode))
		return open_unborn(path, ret);
	if (S_ISDIR(st.st_mode))
		return refuse(path, "is a directory", "name a file in it");
	if (planted(path, &st))
		return refuse(path, "belongs to another user, in a directory that all may write to",
			      ELSEWHERE);
	if (S_ISLNK(st.st_mode) && (stat(path, &target) < 0 || S_ISREG(target.st_mode) ||
				    S_ISDIR(target.st_mode)))
		return refuse(path, "is a symbolic link, which is not followed",
			      "name the file itself, or - for standard output");
	if (!S_ISLNK(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return refuse(path, "is a socket or a disk", ELSEWHERE);
	return open_special(path, ret);
}

static char *old_name(const struct output *output)
{
	return format_text("%s.old", output->path);
}

/* `other` is free to be the name of something else. */
static void forget_other(struct output *output)
{
	free(take_ptr(output->other));
	output->place = OUTPUT_ON_TRIAL;
}

/* Where names cannot be exchanged: PATH.old already before the trial. */
static struct sp_error *publish_apart(struct output *output)
{
	CLEANUP_FREE char *old = old_name(output);
	if (!old)
		return error_no_memory();
	if (rename(output->path, old) < 0)
		return error_set_remedy(error_os(errno, "cannot keep %s as %s", output->path, old),
					ELSEWHERE ", or remove the old one");
	if (rename(output->other, output->path) < 0)
		return error_set_remedy(error_os(errno, "cannot create %s", output->path), ELSEWHERE);
	forget_other(output);
	output->other = take_ptr(old);
	return NULL;
}

/* The file at PATH gets our other name. *again_ret: it has vanished. */
static struct sp_error *exchange(struct output *output, bool *again_ret)
{
	if (!renameat2(AT_FDCWD, output->other, AT_FDCWD, output->path, RENAME_EXCHANGE)) {
		output->place = OUTPUT_ON_TRIAL;
		return NULL;
	}
	if (errno == EINVAL || errno == ENOSYS)
		return publish_apart(output);
	*again_ret = errno == ENOENT;
	return *again_ret ? NULL
			  : error_set_remedy(error_os(errno, "cannot keep %s", output->path),
					     ELSEWHERE ", or remove the old one");
}

static struct sp_error *publish_new(struct output *output, bool *again_ret)
{
	int failed = renameat2(AT_FDCWD, output->other, AT_FDCWD, output->path, RENAME_NOREPLACE);
	if (failed && (errno == EINVAL || errno == ENOSYS))
		failed = rename(output->other, output->path);
	if (!failed)
		forget_other(output);
	*again_ret = failed && errno == EEXIST;
	return !failed || *again_ret
		       ? NULL
		       : error_set_remedy(error_os(errno, "cannot create %s", output->path), ELSEWHERE);
}

struct sp_error *output_publish(struct output *output)
{
	if (output->place != OUTPUT_UNBORN || output->stream)
		return NULL;
	/* Whoever else records to the same name may be between two of the steps. */
	for (int tries = 0; tries < 8; tries++) {
		struct stat st;
		bool again = false;
		struct sp_error *error;
		if (!lstat(output->path, &st))
			error = S_ISREG(st.st_mode)
					? exchange(output, &again)
					: refuse(output->path, "changed while it was opened", ELSEWHERE);
		else
			error = errno == ENOENT ? publish_new(output, &again)
						: error_os(errno, "cannot see %s", output->path);
		if (error || !again)
			return error;
	}
	return refuse(output->path, "comes and goes", ELSEWHERE);
}

struct sp_error *output_keep(struct output *output)
{
	if (output->place != OUTPUT_ON_TRIAL)
		return NULL;
	output->place = OUTPUT_KEPT;
	CLEANUP_FREE char *other = take_ptr(output->other);
	CLEANUP_FREE char *old = old_name(output);
	if (!old)
		return error_no_memory();
	if (!other || !rename(other, old))
		return NULL;
	return error_set_remedy(error_os(errno, "cannot name the old recording %s", old),
				"it is %s now", other);
}

/* Whether the file at PATH is the one that we write. */
static bool is_at_path(const struct output *output)
{
	struct stat at_path, ours;
	return !lstat(output->path, &at_path) && !fstat(output->fd, &ours) &&
	       at_path.st_dev == ours.st_dev && at_path.st_ino == ours.st_ino;
}

static char *dated_name(const struct output *output, struct timespec when)
{
	struct tm fields;
	char text[32];
	if (!localtime_r(&when.tv_sec, &fields) ||
	    !strftime(text, sizeof(text), "%Y%m%d%H%M%S", &fields))
		return NULL;
	return format_text("%s.%s%02ld", output->path, text, when.tv_nsec / HUNDREDTH_NS);
}

static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* A file system without that: who looks first does well enough among files of one recorder. */
	struct stat st;
	if (!lstat(to, &st))
		return EEXIST;
	return rename(from, to) ? errno : 0;
}

struct sp_error *output_date(struct output *output, struct timespec when, char **name_ret)
{
	if (!is_at_path(output))
		return error_new(SP_ERROR_NOT_FOUND, "%s was removed while it was written", output->path);
	for (int tries = 0; tries < DATED_TRIES; tries++) {
		CLEANUP_FREE char *name = dated_name(output, when);
		if (!name)
			return error_no_memory();
		int errnum = rename_new(output->path, name);
		if (!errnum) {
			*name_ret = take_ptr(name);
			return NULL;
		}
		if (errnum != EEXIST)
			return error_set_remedy(error_os(errnum, "cannot name %s %s", output->path, name),
						"it stays %s", output->path);
		when.tv_nsec += HUNDREDTH_NS;
		when.tv_sec += when.tv_nsec / 1000000000;
		when.tv_nsec %= 1000000000;
	}
	return error_new(SP_ERROR_LIMIT, "there are too many files named %s.DATE", output->path);
}

/* As if nothing had been. */
static void take_back(struct output *output)
{
	/* Somebody else has put a file in the place of ours, and keeps that. */
	if (!is_at_path(output))
		sp_error_free(output_keep(output));
	else if (!output->other)
		unlink(output->path);
	else if (rename(output->other, output->path))
		sp_error_free(output_keep(output));
}

int output_close(struct output *output)
{
	int errnum = 0;
	if (output->place == OUTPUT_UNBORN && output->other)
		unlink(output->other);
	else if (output->place == OUTPUT_ON_TRIAL)
		take_back(output);
	if (output->fd >= 0 && close(output->fd) < 0)
		errnum = errno;
	free(output->path);
	free(output->other);
	*output = (struct output){.fd = -1};
	return errnum;
}
