/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/vec.h"

/* <linux/magic.h> lacks these. */
#define CONFIGFS_MAGIC 0x62656570
#define FUSECTL_MAGIC 0x65735543
#define MQUEUE_MAGIC 0x19800202
#define NFSD_MAGIC 0x6e667364
#define RPC_PIPEFS_MAGIC 0x67596969

/*
 * Whether the file is on devtmpfs: its magic is that of tmpfs, so compare its device with that of /dev
 * if this is a mount.
 */
static bool is_on_dev(const struct stat *status)
{
	struct stat dev, root;
	return !stat("/dev", &dev) && !stat("/", &root) && dev.st_dev != root.st_dev &&
	       status->st_dev == dev.st_dev;
}

/* Pseudo file systems: reading their files can act on the kernel, wait, or never end. */
static bool is_kernel_interface(int fd, const struct stat *status)
{
	static const uint32_t kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, DEBUGFS_MAGIC, SECURITYFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, PSTOREFS_MAGIC,
		EFIVARFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, BINFMTFS_MAGIC, RDTGROUP_SUPER_MAGIC,
		CONFIGFS_MAGIC, FUSECTL_MAGIC, MQUEUE_MAGIC, NFSD_MAGIC, RPC_PIPEFS_MAGIC,
	};
	struct statfs system;
	if (fstatfs(fd, &system))
		return true;
	for (size_t i = 0; i < count_of(kinds); i++)
		if ((uint32_t)system.f_type == kinds[i])
			return true;
	return (uint32_t)system.f_type == TMPFS_MAGIC && is_on_dev(status);
}

static struct sp_error *check(int fd, const struct stat *status, unsigned int flags,
			      const char *shown)
{
	mode_t mode = status->st_mode;
	if ((flags & REGULAR_FILE_OR_PIPE) && (S_ISFIFO(mode) || S_ISDIR(mode)))
		return NULL;
	if (!S_ISREG(mode))
		return error_new(SP_ERROR_INVALID, "%s: not a regular file", shown);
	if (is_kernel_interface(fd, status))
		return error_new(SP_ERROR_INVALID, "%s: not read: it is on a pseudo file system",
				 shown);
	return NULL;
}

/* Opens the path by O_PATH: the descriptor, or -1 and errno. */
static int find(int folder, const char *path, unsigned int flags)
{
	int path_flags = O_PATH | O_CLOEXEC | (flags & REGULAR_FILE_NO_LINK ? O_NOFOLLOW : 0);
	struct open_how how = {.flags = path_flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	if (!(flags & REGULAR_FILE_IN_ROOT))
		return openat(folder, path, path_flags);
	/* EAGAIN: a concurrent rename made ".." unsafe; try again. */
	int fd, tries = 0;
	do
		fd = syscall(SYS_openat2, folder, path + strspn(path, "/"), &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 64);
	return fd;
}

static struct sp_error *find_error(int errnum, unsigned int flags, const char *shown)
{
	/* Kernels before 5.6 lack openat2; a seccomp filter may refuse it with either errno. */
	if ((flags & REGULAR_FILE_IN_ROOT) && (errnum == ENOSYS || errnum == EPERM))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: openat2(2) is refused, so links might "
				  "lead out of the directory", shown),
			"allow openat2 in the container's seccomp filter");
	return error_os(errnum, "%s", shown);
}

struct sp_error *regular_file_open_at(int folder, const char *path, unsigned int flags,
				      const char *shown, int *fd_ret, struct stat *status_ret)
{
	CLEANUP_CLOSE int found = find(folder, path, flags);
	struct stat status;
	if (found < 0 || fstat(found, &status))
		return find_error(errno, flags, shown);
	TRY(check(found, &status, flags, shown));
	/*
	 * Opens a found file for reading. O_NONBLOCK: do not wait for a FIFO's writer, or another's
	 * lease.
	 */
	char link[32];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "%s: cannot be opened "
						  "safely: /proc is not mounted", shown),
					"mount -t proc proc /proc");
	if (fd < 0 && errno == EWOULDBLOCK)
		return error_set_remedy(error_os(errno, "%s", shown),
					"end the process that has a lease on the file (fcntl(2), "
					"F_SETLEASE): grep LEASE /proc/locks");
	if (fd < 0)
		return error_os(errno, "%s", shown);
	*fd_ret = fd;
	*status_ret = status;
	return NULL;
}

char *regular_file_shown(const char *root, const char *path)
{
	if (!root || !*root)
		return strdup(path);
	return format_text("%s/%s", root, path + strspn(path, "/"));
}

struct sp_error *regular_file_open(const char *root, const char *path, unsigned int flags,
				   int *fd_ret, struct stat *status_ret)
{
	if (!root || !*root)
		return regular_file_open_at(AT_FDCWD, path, flags, path, fd_ret, status_ret);
	CLEANUP_FREE char *shown = regular_file_shown(root, path);
	NEED(shown);
	CLEANUP_CLOSE int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_os(errno, "%s", shown);
	return regular_file_open_at(folder, path, flags | REGULAR_FILE_IN_ROOT, shown, fd_ret,
				    status_ret);
}
