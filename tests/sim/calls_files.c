/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls with paths, and of descriptors of files but their data. */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "blocked.h"
#include "calls.h"
#include "enter.h"

static const int opening[] = {EMFILE, ENFILE, ENOMEM, EACCES, 0};
static const int looking[] = {EACCES, ENOMEM, EIO, 0};
static const int changing[] = {EACCES, ENOSPC, EIO, EROFS, 0};
static const int syncing[] = {EIO, ENOSPC, 0};

static int open_file(const char *path, int flags)
{
	sim.opened++;
	struct sim_inode *inode = flags & O_TMPFILE & ~O_DIRECTORY ? NULL : sim_file_find(path);
	if (flags & O_TMPFILE & ~O_DIRECTORY) {
		inode = sim_file_unnamed();
	} else if (!inode && flags & O_CREAT) {
		inode = sim_file_new(path, false);
	} else if (!inode) {
		return -1;
	} else if (flags & O_CREAT && flags & O_EXCL) {
		errno = EEXIST;
		return -1;
	} else if (flags & O_DIRECTORY && !inode->is_directory) {
		errno = ENOTDIR;
		return -1;
	}
	errno = sim_is_syscall(path) ? sim_syscall_open(path) : 0;
	if (errno) {
		sim_file_release(inode);
		return -1;
	}
	struct sim_open *open = sim_open_new(SIM_FILE, flags);
	open->inode = inode;
	open->path = strdup(path);
	return sim_fd_new(open, 3);
}

static int open_at(int folder, const char *path, int flags)
{
	char room[PATH_MAX];
	ENTER("open", opening);
	if (!sim_path(folder, path, room, sizeof(room)))
		return -1;
	int fd = open_file(room, flags);
	if (sim.verbose > 1)
		printf("# %.3f ms: open %s: %d\n", (double)sim.now_ns / (double)SIM_MS, room, fd);
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	int mode = va_arg(arguments, int);
	va_end(arguments);
	return sim_inside() ? open_at(-1, path, flags) : __real_open(path, flags, mode);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	int mode = va_arg(arguments, int);
	va_end(arguments);
	return sim_inside() ? open_at(folder, path, flags) : __real_openat(folder, path, flags, mode);
}

int __wrap___open_2(const char *path, int flags)
{
	return sim_inside() ? open_at(-1, path, flags) : __real_open(path, flags, 0);
}

int __wrap___openat_2(int folder, const char *path, int flags)
{
	return sim_inside() ? open_at(folder, path, flags) : __real_openat(folder, path, flags, 0);
}

/* `how` of openat2(2) is RESOLVE_IN_ROOT: the folder is the root. */
int sim_openat2(int folder, const char *path, int flags)
{
	const struct sim_open *open = sim_fd(folder);
	char room[PATH_MAX], whole[PATH_MAX];
	ENTER("openat2", opening);
	if (!open)
		return -1;
	if ((size_t)snprintf(room, sizeof(room), "%s/%s", open->path, path) >= sizeof(room)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return sim_path(-1, room, whole, sizeof(whole)) ? open_file(whole, flags) : -1;
}

int __wrap_access(const char *path, int mode)
{
	char room[PATH_MAX];
	PASS(access, path, mode);
	ENTER("access", looking);
	if (!sim_path(-1, path, room, sizeof(room)))
		return -1;
	struct sim_inode *inode = sim_file_find(room);
	if (inode)
		sim_file_release(inode);
	return inode ? 0 : -1;
}

static int put_status(const struct sim_inode *inode, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->st_dev = inode->is_kernel ? 5 : 0x801;
	ret->st_ino = inode->ino;
	ret->st_mode = inode->is_directory ? S_IFDIR | 0755 : S_IFREG | 0755;
	ret->st_nlink = inode->links;
	ret->st_size = inode->is_kernel ? 0 : (off_t)inode->size;
	ret->st_blksize = 4096;
	ret->st_blocks = (blkcnt_t)(inode->allocated / 512);
	uint64_t ns = SIM_REALTIME_NS + inode->mtime_ns;
	ret->st_mtim = ret->st_ctim = (struct timespec){(time_t)(ns / 1000000000),
							(long)(ns % 1000000000)};
	return 0;
}

static int stat_at(int folder, const char *path, struct stat *ret)
{
	char room[PATH_MAX];
	ENTER("stat", looking);
	struct sim_inode *inode = sim_path(folder, path, room, sizeof(room)) ? sim_file_find(room)
									      : NULL;
	if (!inode)
		return -1;
	put_status(inode, ret);
	ret->st_uid = sim_proc_uid(room);
	sim_file_release(inode);
	return 0;
}

int __wrap_stat(const char *path, struct stat *ret)
{
	PASS(stat, path, ret);
	return stat_at(-1, path, ret);
}

int __wrap_lstat(const char *path, struct stat *ret)
{
	PASS(lstat, path, ret);
	return stat_at(-1, path, ret);
}

int __wrap_fstat(int fd, struct stat *ret)
{
	PASS(fstat, fd, ret);
	ENTER("fstat", looking);
	const struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	const struct sim_inode other = {.ino = 2};
	return put_status(open->inode ? open->inode : &other, ret);
}

int __wrap_fstatat(int folder, const char *path, struct stat *ret, int flags)
{
	PASS(fstatat, folder, path, ret, flags);
	return stat_at(folder, path, ret);
}

int __wrap_fstatfs(int fd, struct statfs *ret)
{
	PASS(fstatfs, fd, ret);
	ENTER("fstatfs", looking);
	const struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	memset(ret, 0, sizeof(*ret));
	bool kernel = open->inode && open->inode->is_kernel;
	bool proc = kernel && open->path && !strncmp(open->path, "/proc", 5);
	ret->f_type = proc ? PROC_SUPER_MAGIC : kernel ? SYSFS_MAGIC : EXT4_SUPER_MAGIC;
	return 0;
}

off_t __wrap_lseek(int fd, off_t offset, int whence)
{
	PASS(lseek, fd, offset, whence);
	ENTER("lseek", NULL);
	struct sim_open *open = sim_fd(fd);
	if (!open || !open->inode) {
		errno = open ? ESPIPE : EBADF;
		return -1;
	}
	uint64_t size = open->inode->size;
	if (whence == SEEK_DATA)
		return (uint64_t)offset < size ? offset : (errno = ENXIO, -1);
	if (whence == SEEK_HOLE)
		return (off_t)size;
	open->offset = (uint64_t)offset + (whence == SEEK_CUR ? open->offset
					   : whence == SEEK_END ? size : 0);
	return (off_t)open->offset;
}

int __wrap_ftruncate(int fd, off_t size)
{
	PASS(ftruncate, fd, size);
	ENTER("ftruncate", changing);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	sim_file_resize(open->inode, (uint64_t)size);
	return 0;
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	PASS(fallocate, fd, mode, offset, size);
	ENTER("fallocate", changing);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	int errnum = sim_file_allocate(open->inode, (uint64_t)(offset + size));
	errno = errnum;
	return errnum ? -1 : 0;
}

static int sync_file(int fd, const char *name)
{
	ENTER(name, syncing);
	if (sim_disk.sync_ns)
		sim_sleep(sim_disk.sync_ns / 2 + sim_random(SIM_WORLD, sim_disk.sync_ns));
	return sim_fd(fd) ? 0 : -1;
}

int __wrap_fsync(int fd)
{
	PASS(fsync, fd);
	return sync_file(fd, "fsync");
}

int __wrap_fdatasync(int fd)
{
	PASS(fdatasync, fd);
	return sync_file(fd, "fdatasync");
}

int __wrap_flock(int fd, int operation)
{
	PASS(flock, fd, operation);
	ENTER("flock", NULL);
	return sim_fd(fd) ? 0 : -1;
}

static int link_path(const char *from, const char *to)
{
	char old[PATH_MAX], fresh[PATH_MAX];
	ENTER("link", changing);
	if (!sim_path(-1, from, old, sizeof(old)) || !sim_path(-1, to, fresh, sizeof(fresh)))
		return -1;
	struct sim_inode *inode = sim_file_find(old);
	if (!inode)
		return -1;
	if (sim_file_find(fresh)) {
		errno = EEXIST;
		return -1;
	}
	sim_file_link(inode, fresh);
	return 0;
}

int __wrap_link(const char *from, const char *to)
{
	PASS(link, from, to);
	return link_path(from, to);
}

int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	PASS(linkat, from_folder, from, to_folder, to, flags);
	return link_path(from, to);
}

static int rename_path(const char *from, const char *to, bool replace)
{
	char old[PATH_MAX], fresh[PATH_MAX];
	ENTER("rename", changing);
	if (!sim_path(-1, from, old, sizeof(old)) || !sim_path(-1, to, fresh, sizeof(fresh)))
		return -1;
	struct sim_inode *inode = sim_file_find(old);
	if (!inode)
		return -1;
	if (!replace && sim_file_find(fresh)) {
		errno = EEXIST;
		return -1;
	}
	sim_file_unlink(fresh);
	sim_file_link(inode, fresh);
	sim_file_unlink(old);
	return 0;
}

int __wrap_rename(const char *from, const char *to)
{
	PASS(rename, from, to);
	return rename_path(from, to, true);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	PASS(renameat, from_folder, from, to_folder, to);
	return rename_path(from, to, true);
}

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
		     unsigned int flags)
{
	PASS(renameat2, from_folder, from, to_folder, to, flags);
	return rename_path(from, to, !(flags & RENAME_NOREPLACE));
}

static int remove_path(const char *path)
{
	char room[PATH_MAX];
	ENTER("unlink", changing);
	if (!sim_path(-1, path, room, sizeof(room)) || !sim_file_find(room))
		return -1;
	sim_file_unlink(room);
	return 0;
}

int __wrap_unlink(const char *path)
{
	PASS(unlink, path);
	return remove_path(path);
}

/* Files have no times. */
int __wrap_futimens(int fd, const struct timespec times[2])
{
	PASS(futimens, fd, times);
	return 0;
}

int __wrap_unlinkat(int folder, const char *path, int flags)
{
	PASS(unlinkat, folder, path, flags);
	return remove_path(path);
}

int __wrap_rmdir(const char *path)
{
	PASS(rmdir, path);
	return remove_path(path);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	PASS(mkdir, path, mode);
	ENTER("mkdir", changing);
	errno = EACCES;
	return -1;
}

int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
	PASS(mkdirat, folder, path, mode);
	ENTER("mkdirat", changing);
	errno = EACCES;
	return -1;
}
