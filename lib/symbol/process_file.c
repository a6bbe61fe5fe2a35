/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/process_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbol/resolver.h"

struct process_file_search {
	const struct process_file *file;
	struct diagnosis *diagnosis;
	bool alive;
	uid_t owner; /* the process's user, if it still runs */
	int found;
	char *path;
};

/* Each check sets the search's diagnosis if it returns false. */

static bool check_owner(const struct process_file_search *search, const struct stat *status,
			const char *path)
{
	uid_t uid = status->st_uid;
	if (uid == 0 || uid == geteuid() || (search->alive && uid == search->owner))
		return true;
	diagnosis_set(
		search->diagnosis, RESOLVER_NO_PERF_MAP,
		"report as that user, or while the process runs; or chown the file if you trust it",
		"%s is owned by user %u, not by the process's user: ignored", path, uid);
	return false;
}

static bool check_inode(const struct process_file_search *search, int fd, const struct stat *status,
			const char *path)
{
	const struct process_file *file = search->file;
	bool has_inode = file->ino && !identity_inode_unreliable(fd);
	if ((file->symfs && *file->symfs) || file->ino == status->st_ino ||
	    (!has_inode && file->host != HOST_OTHER))
		return true;
	if (has_inode)
		diagnosis_set(search->diagnosis, RESOLVER_NO_PERF_MAP,
			      "keep the file until the report",
			      "%s is not the recorded file: inode %llu, recorded %llu", path,
			      (unsigned long long)status->st_ino, (unsigned long long)file->ino);
	else
		diagnosis_set(search->diagnosis, RESOLVER_NO_PERF_MAP,
			      "use --symfs DIR with the recorded machine's files",
			      "%s is on this host, but was recorded on another", path);
	return false;
}

static bool check_file(const struct process_file_search *search, int fd, const struct stat *status,
		       const char *path)
{
	if (!check_owner(search, status, path) || !check_inode(search, fd, status, path))
		return false;
	if (status->st_size <= search->file->size_max)
		return true;
	diagnosis_set(search->diagnosis, RESOLVER_DAMAGED_FILE, NULL,
		      "%s is too large", path);
	return false;
}

/*
 * Opens the file at `path` in `root` and keeps it if it is acceptable. Fails only when out of memory.
 */
static struct sp_error *consider(struct process_file_search *search, const char *root,
				 const char *path)
{
	CLEANUP_FREE char *shown = regular_file_shown(root, path);
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	NEED(shown);
	struct sp_error *error = regular_file_open(root, path, REGULAR_FILE_NO_LINK, &fd, &status);
	if (error)
		return error_if_no_memory(error);
	if (check_file(search, fd, &status, shown)) {
		search->found = take_fd(&fd);
		search->path = take_ptr(shown);
	}
	return NULL;
}

/* Finds the process's user; false if the process has ended. */
static bool find_owner(struct process_file_search *search)
{
	struct stat status;
	CLEANUP_FREE char *path =
		format_text("%s/proc/%u", ctx_root(search->file->ctx), search->file->pid);
	if (!path || search->file->pid == 0 || stat(path, &status))
		return false;
	search->owner = status.st_uid;
	return true;
}

static struct sp_error *search_places(struct process_file_search *search)
{
	const char *symfs = search->file->symfs;
	if (symfs && *symfs)
		return consider(search, symfs, search->file->here);
	struct sp_error *error = NULL;
	search->alive = find_owner(search);
	if (search->alive) {
		const struct process_file *file = search->file;
		CLEANUP_FREE char *root =
			format_text("%s/proc/%u/root", ctx_root(file->ctx), file->pid);
		error = root ? consider(search, root, file->within) : error_no_memory();
	}
	if (!error && search->found < 0)
		error = consider(search, ctx_root(search->file->ctx), search->file->here);
	return error;
}

struct sp_error *process_file_open(const struct process_file *file, struct diagnosis *diagnosis,
				   int *fd_ret, char **path_ret)
{
	struct process_file_search search = {.file = file, .diagnosis = diagnosis, .found = -1};
	TRY(search_places(&search));
	*fd_ret = search.found;
	*path_ret = search.path;
	return NULL;
}
