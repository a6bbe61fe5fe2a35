/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/written_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"

#define ELSEWHERE "name another file with -o"

/*
 * Resolution of dates in names. If a name exists, the next hundredth of a second is tried, this many
 * times.
 */
#define HUNDREDTH_NS 10000000
#define DATED_TRIES 1000

/*
 * Number of temporary names for one PATH. It limits how many recorders can start to write to PATH at
 * once.
 */
#define TEMPORARY_MAX 100

/* Attempts to create a temporary file or to replace PATH, because another recorder may interfere. */
#define TRIES 8

#define FD_PATH_SIZE 32

static const char *fd_path(int fd, char *text)
{
	snprintf(text, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
	return text;
}

/* Gets the status of the directory that contains PATH. Returns false and sets errno on failure. */
static bool stat_directory(const char *path, struct stat *ret)
{
	CLEANUP_FREE char *copy = strdup(path);
	return copy && !stat(dirname(copy), ret);
}

static bool is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/*
 * Returns whether another user made the symbolic link, or can replace it. It might lead to any device.
 */
static bool is_foreign_link(const char *path, const struct stat *st)
{
	struct stat directory;
	if (!S_ISLNK(st->st_mode))
		return false;
	if (!stat_directory(path, &directory))
		return true;
	bool replaceable = (directory.st_mode & S_IWOTH) && !(directory.st_mode & S_ISVTX);
	return replaceable || !is_trusted(st->st_uid) || !is_trusted(directory.st_uid);
}

static struct sp_error *refuse(const char *path, const char *why, const char *remedy)
{
	return error_set_remedy(error_new(SP_ERROR_INVALID, "%s %s", path, why), "%s", remedy);
}

static struct sp_error *cannot_rename(int errnum, const char *path, const char *old)
{
	return error_set_remedy(error_os(errnum, "cannot rename %s to %s", path, old),
				ELSEWHERE ", or remove the old one");
}

static struct sp_error *open_stdout(struct written_file *ret)
{
	if (isatty(STDOUT_FILENO))
		return error_set_remedy(error_new(SP_ERROR_INVALID,
						  "cannot write a recording to a terminal"),
					"redirect standard output to a file or a pipe");
	ret->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	ret->stream = true;
	return ret->fd < 0 ? error_os(errno, "cannot write to standard output") : NULL;
}

/*
 * Opens a pipe, a character device, or a link to one. `flags` is O_NOFOLLOW unless PATH is a link.
 * Another user could read what is written to a FIFO, or never open it, which blocks.
 */
static struct sp_error *open_special(const char *path, int flags, struct written_file *ret)
{
	struct stat st;
	char link[FD_PATH_SIZE];
	CLEANUP_CLOSE int found = open(path, O_PATH | O_CLOEXEC | flags);
	if (found < 0 || fstat(found, &st) < 0)
		return error_set_remedy(error_os(errno, "cannot write to %s", path), ELSEWHERE);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return refuse(path, "is no file, pipe or character device", ELSEWHERE);
	if (S_ISFIFO(st.st_mode) && !is_trusted(st.st_uid))
		return refuse(path, "is a FIFO of another user", ELSEWHERE);
	CLEANUP_CLOSE int fd = open(fd_path(found, link), O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_set_remedy(error_os(errno, "cannot write to %s", path), ELSEWHERE);
	if (isatty(fd))
		return refuse(path, "is a terminal", ELSEWHERE);
	ret->fd = take_fd(&fd);
	ret->stream = true;
	return NULL;
}

static char *old_name(const char *path)
{
	return format_text("%s.old", path);
}

/* Returns whether the directory's sticky bit keeps this process from renaming or replacing the file. */
static bool is_protected(const struct stat *directory, const struct stat *st)
{
	uid_t user = geteuid();
	return (directory->st_mode & S_ISVTX) && user && st->st_uid != user &&
	       directory->st_uid != user;
}

/* Fails, before anything is recorded, if PATH cannot be renamed to PATH.old. */
static struct sp_error *check_rename(const char *path, const struct stat *st)
{
	struct stat directory, old_st;
	CLEANUP_FREE char *old = old_name(path);
	NEED(old);
	bool has_old = !lstat(old, &old_st);
	int errnum = 0;
	if (!stat_directory(path, &directory))
		errnum = errno;
	else if (is_protected(&directory, st) || (has_old && is_protected(&directory, &old_st)))
		errnum = EPERM;
	else if (has_old && S_ISDIR(old_st.st_mode))
		errnum = EISDIR;
	return errnum ? cannot_rename(errnum, path, old) : NULL;
}

/*
 * Creates a file without a name, so that a killed recorder leaves nothing. Returns -1 if the file
 * system does not support it.
 */
static int open_unnamed(const char *path)
{
	char link[FD_PATH_SIZE];
	CLEANUP_FREE char *copy = strdup(path);
	CLEANUP_CLOSE int fd =
		copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
	/* The file gets its name through /proc, which must be mounted. */
	return fd >= 0 && !access(fd_path(fd, link), F_OK) ? take_fd(&fd) : -1;
}

/*
 * Removes the temporary file of a killed recorder. A running recorder has its file locked. Returns
 * false if it was not removed.
 */
static bool remove_abandoned(const char *temporary)
{
	struct stat st;
	CLEANUP_CLOSE int fd = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !flock(fd, LOCK_EX | LOCK_NB) && !unlink(temporary);
}

/*
 * Creates and locks a temporary file; O_EXCL rejects files and links that exist. Returns -1 and sets
 * errno on failure.
 */
static int open_locked(const char *temporary)
{
	struct stat st;
	for (int tries = 0; tries < TRIES; tries++) {
		CLEANUP_CLOSE int fd =
			open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
		if (fd < 0 && !remove_abandoned(temporary))
			break;
		if (fd < 0)
			continue;
		flock(fd, LOCK_EX | LOCK_NB);
		/* Another recorder may have removed the file before it was locked. */
		if (!fstat(fd, &st) && st.st_nlink)
			return take_fd(&fd);
	}
	errno = EEXIST;
	return -1;
}

static struct sp_error *open_temporary(const char *path, struct written_file *output)
{
	for (int i = 0; i < TEMPORARY_MAX; i++) {
		CLEANUP_FREE char *temporary = format_text("%s.sprof-tmp%d", path, i);
		NEED(temporary);
		output->fd = open_locked(temporary);
		if (output->fd >= 0) {
			output->temporary = take_ptr(temporary);
			return NULL;
		}
		if (errno != EEXIST)
			break;
	}
	return error_set_remedy(error_os(errno, "cannot create %s", path), ELSEWHERE);
}

/* Opens a regular file for output. `st` is the status of the file that exists at PATH; NULL: none. */
static struct sp_error *open_file(const char *path, const struct stat *st, struct written_file *ret)
{
	struct written_file output = {.fd = -1};
	CLEANUP_FREE char *copy = strdup(path);
	NEED(copy);
	struct sp_error *error = st ? check_rename(path, st) : NULL;
	if (error)
		return error;
	output.fd = open_unnamed(path);
	if (output.fd < 0)
		error = open_temporary(path, &output);
	if (error)
		return error;
	*ret = output;
	ret->path = take_ptr(copy);
	return NULL;
}

struct sp_error *output_open(const char *path, struct written_file *ret)
{
	struct stat st, target;
	*ret = (struct written_file){.fd = -1};
	if (!strcmp(path, "-"))
		return open_stdout(ret);
	if (lstat(path, &st) < 0)
		return errno == ENOENT
			       ? open_file(path, NULL, ret)
			       : error_set_remedy(error_os(errno, "cannot write to %s", path),
						  ELSEWHERE);
	if (S_ISREG(st.st_mode))
		return open_file(path, &st, ret);
	if (S_ISDIR(st.st_mode))
		return refuse(path, "is a directory", "name a file in it");
	if (is_foreign_link(path, &st))
		return refuse(path, "is a symbolic link that another user can change", ELSEWHERE);
	if (S_ISLNK(st.st_mode) && (stat(path, &target) < 0 || S_ISREG(target.st_mode) ||
				    S_ISDIR(target.st_mode)))
		return refuse(path, "is a symbolic link, which is not followed",
			      "name the file itself, or - for standard output");
	return open_special(path, S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW, ret);
}

struct sp_error *output_open_memory(const char *path, struct written_file *ret)
{
	CLEANUP_FREE char *copy = strdup(path);
	*ret = (struct written_file){.fd = -1, .in_memory = true};
	NEED(copy);
	ret->fd = memfd_create("sprof", MFD_CLOEXEC);
	if (ret->fd < 0)
		return error_os(errno, "cannot create a file in memory");
	ret->path = take_ptr(copy);
	return NULL;
}

/*
 * Renames a file, unless the new name exists. Returns 0 or the errno. Seccomp filters older than
 * renameat2(2) refuse it with EPERM.
 */
static int rename_new(const char *from, const char *to)
{
	struct stat st;
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return errno;
	if (!link(from, to))
		return unlink(from) ? errno : 0;
	if (errno == EEXIST)
		return EEXIST;
	/*
	 * The file system has no hard links. Another recorder may create the name between the two
	 * calls.
	 */
	if (!lstat(to, &st))
		return EEXIST;
	return rename(from, to) ? errno : 0;
}

/* Gives the file a name that must not exist yet. Returns 0 or the errno. */
static int move_to(const struct written_file *output, const char *name)
{
	char link[FD_PATH_SIZE];
	if (output->published || output->temporary)
		return rename_new(output->published ? output->path : output->temporary, name);
	return linkat(AT_FDCWD, fd_path(output->fd, link), AT_FDCWD, name, AT_SYMLINK_FOLLOW)
		       ? errno : 0;
}

/* Renames the older file at PATH to PATH.old, unless it was removed meanwhile. */
static struct sp_error *rename_old(const struct written_file *output, const char *old)
{
	struct stat st;
	if (!lstat(output->path, &st) && !S_ISREG(st.st_mode))
		return refuse(output->path, "changed while sprof opened it", ELSEWHERE);
	if (!rename(output->path, old) || errno == ENOENT)
		return NULL;
	return cannot_rename(errno, output->path, old);
}

struct sp_error *output_publish(struct written_file *output)
{
	if (output->published || output->stream || output->in_memory)
		return NULL;
	CLEANUP_FREE char *old = old_name(output->path);
	NEED(old);
	int errnum = move_to(output, output->path);
	bool renamed = errnum == EEXIST;
	/* The old file stays open until PATH exists again, because freeing its blocks may take long. */
	CLEANUP_CLOSE int replaced = renamed ? open(old, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
	/* Another recorder may create PATH between the two steps, so they are repeated. */
	for (int tries = 0; tries < TRIES && errnum == EEXIST; tries++) {
		TRY(rename_old(output, old));
		errnum = move_to(output, output->path);
	}
	output->published = !errnum;
	if (!errnum)
		return NULL;
	if (renamed)
		(void)rename_new(old, output->path);
	return error_set_remedy(error_os(errnum, "cannot create %s", output->path), ELSEWHERE);
}

/* Returns whether the file at PATH is this recorder's. */
static bool is_at_path(const struct written_file *output)
{
	struct stat at_path, ours;
	return !lstat(output->path, &at_path) && !fstat(output->fd, &ours) &&
	       at_path.st_dev == ours.st_dev && at_path.st_ino == ours.st_ino;
}

static char *dated_name(const struct written_file *output, struct timespec when)
{
	struct tm fields;
	char text[32];
	if (!localtime_r(&when.tv_sec, &fields) ||
	    !strftime(text, sizeof(text), "%Y%m%d%H%M%S", &fields))
		return NULL;
	return format_text("%s.%s%02ld", output->path, text, when.tv_nsec / HUNDREDTH_NS);
}

struct sp_error *output_rename_dated(struct written_file *output, struct timespec when,
				     char **name_ret)
{
	if (output->in_memory) {
		*name_ret = dated_name(output, when);
		return *name_ret ? NULL : error_no_memory();
	}
	if (!is_at_path(output))
		return error_new(SP_ERROR_NOT_FOUND, "%s was removed during recording", output->path);
	for (int tries = 0; tries < DATED_TRIES; tries++) {
		CLEANUP_FREE char *name = dated_name(output, when);
		NEED(name);
		int errnum = move_to(output, name);
		if (!errnum) {
			*name_ret = take_ptr(name);
			return NULL;
		}
		if (errnum != EEXIST)
			return error_set_remedy(error_os(errnum, "cannot rename %s to %s",
							 output->path, name),
						"its name is still %s", output->path);
		when.tv_nsec += HUNDREDTH_NS;
		when.tv_sec += when.tv_nsec / 1000000000;
		when.tv_nsec %= 1000000000;
	}
	return error_new(SP_ERROR_LIMIT, "cannot rename %s: all names by its date are taken",
			 output->path);
}

int output_close(struct written_file *output)
{
	int errnum = 0;
	if (!output->published && output->temporary)
		unlink(output->temporary);
	if (output->fd >= 0 && close(output->fd) < 0)
		errnum = errno;
	free(output->path);
	free(output->temporary);
	*output = (struct written_file){.fd = -1};
	return errnum;
}
