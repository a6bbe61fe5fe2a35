/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/guarded_file.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "base/vec.h"

/* <linux/magic.h> of older kernels lacks these. */
#define BCACHEFS_MAGIC 0xca451a4e
#define EROFS_MAGIC 0xe0f5e1e2
#define EXFAT_MAGIC 0x2011bab0
#define JFS_MAGIC 0x3153464a
#define NTFS3_MAGIC 0x7366746e
#define UDF_MAGIC 0x15013346
#define XFS_MAGIC 0x58465342
#define ZFS_MAGIC 0x2fc12fc1

#define COPY_BYTES ((size_t)512 << 10)

/* Request to a proxy, and its result. */
struct open_request {
	char path[PATH_MAX];
	char root[64];
	struct guarded_file file; /* all members except the descriptor */
	enum sp_error_code code;
	char message[PATH_MAX + 256], remedy[256]; /* "": none */
	uint8_t copied[COPY_BYTES];
};
_Static_assert(sizeof(struct open_request) <= PROXY_BYTES, "a job fits the memory of a proxy");

/*
 * Whether the path leads through a process of another user namespace. The process's user could have
 * mounted an overlay on a file system of his own.
 */
static bool is_of_other_namespace(const char *path)
{
	struct stat here, there;
	char link[32];
	unsigned int pid;
	if (sscanf(path, "/proc/%u/", &pid) != 1)
		return false;
	snprintf(link, sizeof(link), "/proc/%u/ns/user", pid);
	return stat(link, &there) || stat("/proc/self/ns/user", &here) ||
	       here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

bool guarded_file_is_local(int fd, const char *path)
{
	static const uint32_t kinds[] = {
		EXT4_SUPER_MAGIC, XFS_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC,
		HUGETLBFS_MAGIC, SQUASHFS_MAGIC, EROFS_MAGIC, F2FS_SUPER_MAGIC, ZFS_MAGIC,
		BCACHEFS_MAGIC, ISOFS_SUPER_MAGIC, UDF_MAGIC, MSDOS_SUPER_MAGIC, EXFAT_MAGIC,
		NTFS3_MAGIC, JFS_MAGIC, NILFS_SUPER_MAGIC, REISERFS_SUPER_MAGIC, CRAMFS_MAGIC,
	};
	struct statfs system;
	if (fstatfs(fd, &system))
		return false;
	for (size_t i = 0; i < count_of(kinds); i++)
		if ((uint32_t)system.f_type == kinds[i])
			return true;
	return (uint32_t)system.f_type == OVERLAYFS_SUPER_MAGIC && !is_of_other_namespace(path);
}

/* Replaces *fd with a copy in memory. */
static struct sp_error *copy(int *fd, struct open_request *job)
{
	CLEANUP_CLOSE int copy_fd = memfd_create("sprof-copy", MFD_CLOEXEC);
	size_t got = 1;
	int errnum = copy_fd < 0 ? errno : 0;
	if ((uint64_t)job->file.status.st_size > GUARDED_COPY_MAX)
		return error_new(SP_ERROR_LIMIT, "%s: not read: larger than %u MB, and not on a "
				 "local file system", job->path,
				 (unsigned int)(GUARDED_COPY_MAX >> 20));
	for (uint64_t all = 0; !errnum && got && all <= GUARDED_COPY_MAX; all += got) {
		errnum = io_read(*fd, job->copied, COPY_BYTES, &got);
		if (!errnum)
			errnum = io_write(copy_fd, job->copied, got);
	}
	if (errnum)
		return error_os(errnum, "%s", job->path);
	close(*fd);
	*fd = take_fd(&copy_fd);
	job->file.is_copy = true;
	return NULL;
}

static int open_file(void *bytes)
{
	struct open_request *job = bytes;
	CLEANUP_CLOSE int fd = -1;
	struct sp_error *error = regular_file_open(job->root, job->path, 0, &fd, &job->file.status);
	job->file.is_copy = false;
	if (!error && !guarded_file_is_local(fd, *job->root ? job->root : job->path))
		error = copy(&fd, job);
	*job->message = *job->remedy = '\0';
	if (!error)
		return take_fd(&fd);
	job->code = sp_error_code(error);
	snprintf(job->message, sizeof(job->message), "%s", sp_error_message(error));
	snprintf(job->remedy, sizeof(job->remedy), "%s", sp_error_remedy(error) ?: "");
	sp_error_free(error);
	return -1;
}

/* A process, or a folder. */
static uint64_t key_of(const char *root, const char *path)
{
	const char *begin = root && *root ? root : path, *slash = strrchr(path, '/');
	unsigned int pid;
	if (sscanf(begin, "/proc/%u/", &pid) == 1)
		return pid;
	return hash_bytes(path, slash ? (size_t)(slash - path) : 0) | UINT64_C(1) << 63;
}

struct sp_error *guarded_file_open(struct proxies *proxies, const char *root, const char *path,
				   struct guarded_file *ret)
{
	if (!proxies_are_on(proxies)) {
		ret->is_copy = false;
		return regular_file_open(root, path, 0, &ret->fd, &ret->status);
	}
	CLEANUP_FREE char *shown = regular_file_shown(root, path);
	NEED(shown);
	struct proxy *proxy = proxy_get(proxies, key_of(root, path));
	struct open_request *job = proxy ? proxy_bytes(proxy) : NULL;
	CLEANUP_CLOSE int fd = -1;
	if (job && (strlen(path) >= sizeof(job->path) ||
		    (root && strlen(root) >= sizeof(job->root)))) {
		proxy_release(proxies, proxy);
		return error_os(ENAMETOOLONG, "%s", shown);
	}
	if (job) {
		strcpy(job->path, path);
		strcpy(job->root, root ?: "");
	}
	if (!job || !proxy_call(proxies, proxy, open_file, &fd))
		return error_new(SP_ERROR_OS, "%s: not opened: this file system, or others, do not "
				 "answer", shown);
	struct sp_error *error = NULL;
	if (fd < 0)
		error = error_new(job->code, "%s", job->message);
	if (fd < 0 && *job->remedy)
		error = error_set_remedy(error, "%s", job->remedy);
	*ret = job->file;
	ret->fd = take_fd(&fd);
	proxy_release(proxies, proxy);
	return error;
}
