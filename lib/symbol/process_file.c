/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/process_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "elf/image.h"
#include "symbol/resolver.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

struct search {
	const struct process_file *file;
	struct diagnosis *diagnosis;
	bool alive;
	uid_t owner; /* of the process, while it lives */
	int found;
	char *path;
};

static bool is_trusted(const struct search *search, const struct stat *status, const char *path)
{
	uid_t uid = status->st_uid;
	if (uid == 0 || uid == geteuid() || (search->alive && uid == search->owner))
		return true;
	diagnosis_set(search->diagnosis, RESOLVER_NO_PERF_MAP,
		      "report as that user or while the process runs, or make the file yours if "
		      "you trust it",
		      "%s belongs to user %u, who need not be the process's: not used", path,
		      (unsigned int)uid);
	return false;
}

static bool is_recorded(const struct search *search, const struct stat *status, const char *path)
{
	const struct process_file *file = search->file;
	if (!file->ino || file->ino == status->st_ino || file->maj != major(status->st_dev) ||
	    file->min != minor(status->st_dev))
		return true;
	diagnosis_set(search->diagnosis, RESOLVER_NO_PERF_MAP,
		      "keep it until the report is made",
		      "%s was replaced after it was mapped: inode %llu was recorded, it is now %llu",
		      path, (unsigned long long)file->ino, (unsigned long long)status->st_ino);
	return false;
}

static bool is_usable(const struct search *search, int fd, const char *path)
{
	struct stat status;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !is_trusted(search, &status, path) || !is_recorded(search, &status, path))
		return false;
	if (status.st_size <= search->file->size_max)
		return true;
	diagnosis_set(search->diagnosis, RESOLVER_DAMAGED_FILE, NULL,
		      "%s is too large for what it should be", path);
	return false;
}

/* `path` becomes the search's, or is freed. */
static void consider(struct search *search, int opened, char *path)
{
	CLEANUP_FREE char *shown = path;
	CLEANUP_CLOSE int fd = opened;
	if (fd < 0 || !is_usable(search, fd, path))
		return;
	search->found = fd;
	fd = -1;
	search->path = take_ptr(shown);
}

uint32_t process_file_number(struct sp_ctx *ctx, uint32_t pid)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FREE char *path = format_text("%s/proc/%u/status", ctx_root(ctx), pid);
	size_t size;
	if (!path || io_read_file(path, &text, &size))
		return pid;
	char *line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	char *last = strrchr(line, '\t');
	unsigned long number = last ? strtoul(last + 1, NULL, 10) : 0;
	return number > 0 && number < UINT32_MAX ? (uint32_t)number : pid;
}

static struct sp_error *try_process(struct search *search)
{
	const struct process_file *file = search->file;
	CLEANUP_FREE char *root = format_text("%s/proc/%u/root", ctx_root(file->ctx), file->pid);
	char *shown = root ? format_text("%s%s", root, file->within) : NULL;
	if (!shown)
		return error_no_memory();
	consider(search, image_open_within(root, file->within, OPEN_FLAGS), shown);
	return NULL;
}

static struct sp_error *try_here(struct search *search, const char *root)
{
	char *path = format_text("%s%s", root, search->file->here);
	if (!path)
		return error_no_memory();
	consider(search, open(path, OPEN_FLAGS), path);
	return NULL;
}

/* Whose process it is; false when it is gone. */
static bool find_owner(struct search *search)
{
	struct stat status;
	CLEANUP_FREE char *path =
		format_text("%s/proc/%u", ctx_root(search->file->ctx), search->file->pid);
	if (!path || search->file->pid == 0 || stat(path, &status))
		return false;
	search->owner = status.st_uid;
	return true;
}

static struct sp_error *search_places(struct search *search)
{
	const char *symfs = search->file->symfs;
	if (symfs && *symfs)
		return try_here(search, symfs);
	struct sp_error *error = NULL;
	search->alive = find_owner(search);
	if (search->alive)
		error = try_process(search);
	if (!error && search->found < 0)
		error = try_here(search, ctx_root(search->file->ctx));
	return error;
}

struct sp_error *process_file_open(const struct process_file *file, struct diagnosis *diagnosis,
				   int *fd_ret, char **path_ret)
{
	struct search search = {.file = file, .diagnosis = diagnosis, .found = -1};
	struct sp_error *error = search_places(&search);
	if (error)
		return error;
	*fd_ret = search.found;
	*path_ret = search.path;
	return NULL;
}
