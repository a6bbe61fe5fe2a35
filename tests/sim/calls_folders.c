/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders and links. */
#include "sim.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "enter.h"

static const int looking[] = {EACCES, EIO, 0};

/* Stands for a DIR. */
struct folder {
	int fd;
	size_t index;
	const char *next;     /* names of a folder of /proc, one per line */
	struct dirent entry;
};

DIR *__wrap_opendir(const char *path)
{
	if (!sim_inside())
		return __real_opendir(path);
	int fd = __wrap_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? NULL : __wrap_fdopendir(fd);
}

DIR *__wrap_fdopendir(int fd)
{
	if (!sim_inside())
		return __real_fdopendir(fd);
	const struct sim_open *open = sim_fd(fd);
	struct folder *folder = open ? calloc(1, sizeof(*folder)) : NULL;
	if (!folder)
		return NULL;
	folder->fd = fd;
	folder->next = open->inode->is_kernel ? (const char *)open->inode->bytes : NULL;
	return (DIR *)folder;
}

struct dirent *__wrap_readdir(DIR *directory)
{
	if (!sim_inside())
		return __real_readdir(directory);
	struct folder *folder = (struct folder *)directory;
	const struct sim_open *open = sim_fd(folder->fd);
	int errnum = sim_enter("readdir", looking);
	if (errnum)
		errno = errnum;
	if (errnum || !open)
		return NULL;
	if (!folder->next) {
		const char *name = sim_file_entry(open->path, folder->index++);
		snprintf(folder->entry.d_name, sizeof(folder->entry.d_name), "%s", name ? name : "");
		return name ? &folder->entry : NULL;
	}
	size_t length = strcspn(folder->next, "\n");
	if (!length)
		return NULL;
	snprintf(folder->entry.d_name, sizeof(folder->entry.d_name), "%.*s", (int)length,
		 folder->next);
	folder->next += length + (folder->next[length] == '\n');
	return &folder->entry;
}

int __wrap_closedir(DIR *directory)
{
	if (!sim_inside())
		return __real_closedir(directory);
	struct folder *folder = (struct folder *)directory;
	int fd = folder->fd;
	free(folder);
	return __wrap_close(fd);
}

int __wrap_dirfd(DIR *directory)
{
	return sim_inside() ? ((struct folder *)directory)->fd : __real_dirfd(directory);
}

static ssize_t read_link(const char *path, char *room, size_t size)
{
	char whole[PATH_MAX];
	ENTER("readlink", looking);
	size_t length = 0;
	/* Executables and roots of processes are links; sim_path() follows them. */
	if (!sim_path(-1, path, whole, sizeof(whole)))
		return -1;
	length = strlen(whole);
	if (sim_proc_has(whole)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(room, whole, length < size ? length : size);
	return (ssize_t)(length < size ? length : size);
}

ssize_t __wrap_readlink(const char *path, char *room, size_t size)
{
	PASS(readlink, path, room, size);
	return read_link(path, room, size);
}

ssize_t __wrap___readlink_chk(const char *path, char *room, size_t size, size_t most)
{
	(void)most;
	PASS(readlink, path, room, size);
	return read_link(path, room, size);
}

int __wrap_name_to_handle_at(int folder, const char *path, struct file_handle *handle, int *mount,
			     int flags)
{
	static const int refusing[] = {ENOMEM, 0};
	PASS(name_to_handle_at, folder, path, handle, mount, flags);
	ENTER("name_to_handle_at", refusing);
	errno = EOPNOTSUPP;
	return -1;
}

int __wrap_fsopen(const char *name, unsigned int flags)
{
	static const int refusing[] = {EPERM, 0};
	PASS(fsopen, name, flags);
	ENTER("fsopen", refusing);
	errno = EPERM;
	return -1;
}
