/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "binary/held_maps.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/diagnosis.h"
#include "base/guarded_file.h"
#include "base/hash.h"
#include "base/io.h"
#include "proc/proc_tasks.h"

/* Limit of open maps and folders; also an eighth of the files that this process may open. */
#define FILES_MAX 256

/* Limit of a map's marks; and once all maps have had MARKS_ALL. */
#define MARKS_MAX 4096
#define MARKS_FEW 64
#define MARKS_ALL (1u << 20)

/* Bytes of copies in all. */
#define COPIES_MAX ((uint64_t)64 << 20)

/* /tmp of a mount namespace. */
struct tmp_folder {
	int fd;
	dev_t device;
	ino_t inode;
	uint32_t users;
	bool here; /* it is /tmp of this process, where files remain */
};

/* Data of a living process; that of the map with the same index. */
struct watch {
	int folder;       /* index of its folder; -1: none */
	uid_t owner;
	uint64_t since_ns; /* when the map was looked for, for the first time; 0: never */
	uint64_t next_ns; /* when to look for it again */
	uint64_t last_ns; /* when the size was looked at */
};

/* A jitdump of a process with another root directory. */
struct held_jitdump {
	uint32_t pid;
	uint64_t inode;
	int fd;
	uint64_t copied; /* size of the copy in memory that `fd` is; 0: it is the file */
	bool ended;
};

struct held_maps {
	struct sp_ctx *ctx;
	size_t files_max, files;
	uint64_t copied;       /* bytes of copies */
	uint64_t marks;        /* number of marks that were made */
	struct u64map last_of; /* pid -> index of its last entry in `maps` */
	struct { VEC(struct held_map); } maps;
	struct { VEC(struct watch); } watches;
	struct { VEC(uint32_t); } living; /* indexes of processes that have not ended */
	struct { VEC(struct tmp_folder); } folders;
	struct { VEC(struct held_jitdump); } dumps;
};

struct sp_error *held_maps_new(struct sp_ctx *ctx, struct held_maps **ret)
{
	struct rlimit limit;
	struct held_maps *maps = calloc(1, sizeof(*maps));
	NEED(maps);
	maps->ctx = ctx;
	maps->files_max = FILES_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < maps->files_max)
		maps->files_max = (size_t)limit.rlim_cur / 8;
	*ret = maps;
	return NULL;
}

void held_maps_free(struct held_maps *maps)
{
	if (!maps)
		return;
	vec_each (map, &maps->maps) {
		cleanup_close(&map->fd);
		vec_deinit(&map->marks);
	}
	vec_each (folder, &maps->folders)
		cleanup_close(&folder->fd);
	vec_each (dump, &maps->dumps)
		cleanup_close(&dump->fd);
	vec_deinit(&maps->dumps);
	vec_deinit(&maps->maps);
	vec_deinit(&maps->watches);
	vec_deinit(&maps->living);
	vec_deinit(&maps->folders);
	u64map_deinit(&maps->last_of);
	free(maps);
}

/*
 * Closes a file of an ended process: the jitdump that ended first, or else the map that was added
 * first. Returns false if there is none.
 */
static bool drop_ended_file(struct held_maps *maps)
{
	for (size_t i = 0; i < maps->dumps.count; i++) {
		struct held_jitdump *dump = &maps->dumps.items[i];
		if (!dump->ended)
			continue;
		maps->copied -= dump->copied;
		close(dump->fd);
		maps->files--;
		memmove(dump, dump + 1, (--maps->dumps.count - i) * sizeof(*dump));
		return true;
	}
	vec_each (map, &maps->maps) {
		if (!map->ended || map->fd < 0)
			continue;
		maps->copied -= map->copied;
		close(take_fd(&map->fd));
		map->found = false;
		maps->files--;
		return true;
	}
	return false;
}

static bool has_room(struct held_maps *maps)
{
	return maps->files < maps->files_max || drop_ended_file(maps);
}

/* -- Folders --------------------------------------------------------------- */

struct folder_job {
	char root[64]; /* root directory of the process */
	uid_t owner;
	bool here;
};

/* Runs in a proxy. Opens /tmp of a process, if it is on a local file system. */
static int open_folder(void *bytes)
{
	struct folder_job *job = bytes;
	struct stat owner, found, here;
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	CLEANUP_CLOSE int root = open(job->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_CLOSE int fd = -1;
	if (root >= 0)
		fd = syscall(SYS_openat2, root, "tmp", &how, sizeof(how));
	if (fd < 0 || fstat(fd, &found) || !guarded_file_is_local(fd, job->root))
		return -1;
	job->here = !stat("/tmp", &here) && here.st_dev == found.st_dev &&
		    here.st_ino == found.st_ino;
	char process[sizeof(job->root)];
	snprintf(process, sizeof(process), "%.*s", (int)(strlen(job->root) - strlen("/root")),
		 job->root);
	if (stat(process, &owner))
		return -1;
	job->owner = owner.st_uid;
	return take_fd(&fd);
}

/* Returns the index of a folder that is equal to the open one, which it takes; -1: none. */
static int add_folder(struct held_maps *maps, int *fd, bool here)
{
	struct stat status;
	struct tmp_folder *free_slot = NULL;
	if (fstat(*fd, &status))
		return -1;
	for (size_t i = 0; i < maps->folders.count; i++) {
		struct tmp_folder *folder = &maps->folders.items[i];
		if (folder->fd < 0)
			free_slot = folder;
		else if (folder->device == status.st_dev && folder->inode == status.st_ino)
			return i;
	}
	if (!has_room(maps))
		return -1;
	struct tmp_folder *slot = free_slot ?: vec_push(&maps->folders);
	if (!slot)
		return -1;
	*slot = (struct tmp_folder){
		.fd = take_fd(fd), .device = status.st_dev, .inode = status.st_ino, .here = here};
	maps->files++;
	return slot - maps->folders.items;
}

static void release_folder(struct held_maps *maps, struct watch *watch)
{
	if (watch->folder < 0)
		return;
	struct tmp_folder *folder = &maps->folders.items[watch->folder];
	watch->folder = -1;
	if (--folder->users)
		return;
	close(take_fd(&folder->fd));
	maps->files--;
}

static void find_folder(struct held_maps *maps, size_t index)
{
	struct held_map *map = &maps->maps.items[index];
	struct watch *watch = &maps->watches.items[index];
	struct folder_job job = {0};
	CLEANUP_CLOSE int fd = -1;
	snprintf(job.root, sizeof(job.root), "%s/proc/%u/root", ctx_root(maps->ctx), map->pid);
	if (!proxy_run(ctx_proxies(maps->ctx), map->pid, open_folder, &job, sizeof(job), &fd) ||
	    fd < 0)
		return;
	watch->folder = add_folder(maps, &fd, job.here);
	if (watch->folder < 0)
		return;
	maps->folders.items[watch->folder].users++;
	watch->owner = job.owner;
	map->number = tasks_inner_id(maps->ctx, map->pid);
}

/* -- Maps ------------------------------------------------------------------ */

/* Opens the map in its folder for reading; -1: there is none, or it is not acceptable. */
static int open_map(const struct tmp_folder *folder, const struct held_map *map, uid_t owner,
		    struct stat *status_ret)
{
	char name[32], link[32];
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	snprintf(name, sizeof(name), "perf-%u.map", map->number);
	CLEANUP_CLOSE int fd = syscall(SYS_openat2, folder->fd, name, &how, sizeof(how));
	if (fd < 0 || fstat(fd, status_ret) || !S_ISREG(status_ret->st_mode))
		return -1;
	uid_t uid = status_ret->st_uid;
	if (uid != 0 && uid != geteuid() && uid != owner)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/*
 * Returns the time of the last change by the recording's clock: between `last_ns`, when the size
 * was looked at before, and `now_ns`.
 */
static uint64_t time_of_change(const struct stat *status, uint64_t last_ns, uint64_t now_ns)
{
	uint64_t real_ns = clock_ns(CLOCK_REALTIME);
	uint64_t changed_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000 +
			      (uint64_t)status->st_mtim.tv_nsec;
	uint64_t age_ns = changed_ns < real_ns ? real_ns - changed_ns : 0;
	return age_ns < now_ns - last_ns ? now_ns - age_ns : last_ns;
}

static void mark_size(struct held_maps *maps, struct held_map *map, struct watch *watch,
		      uint64_t now_ns)
{
	size_t limit = maps->marks < MARKS_ALL ? MARKS_MAX : MARKS_FEW;
	struct stat status;
	if (fstat(map->fd, &status))
		return;
	uint64_t size = status.st_size;
	uint64_t last_size = map->marks.count ? vec_last(&map->marks)->size : 0;
	/* The process began the file again. */
	if (size < last_size)
		map->marks.count = 0;
	if (map->marks.count >= limit) {
		/* Keeps every second mark, and the last one. */
		size_t kept = 1;
		for (size_t i = 2; i < map->marks.count; i += 2)
			map->marks.items[kept++] = map->marks.items[i];
		map->marks.items[kept - 1] = *vec_last(&map->marks);
		map->marks.count = kept;
	}
	struct map_mark *mark =
		size != last_size || !map->marks.count ? vec_push(&map->marks) : NULL;
	maps->marks += mark != NULL;
	if (mark)
		*mark = (struct map_mark){time_of_change(&status, watch->last_ns, now_ns), size};
	watch->last_ns = now_ns;
}

/* Looks for a map more and more seldom. */
static void find_map(struct held_maps *maps, size_t index, uint64_t now_ns)
{
	struct held_map *map = &maps->maps.items[index];
	struct watch *watch = &maps->watches.items[index];
	struct stat status;
	watch->since_ns = watch->since_ns ?: now_ns;
	watch->next_ns = now_ns + (now_ns - watch->since_ns) / 4;
	if (watch->folder < 0)
		find_folder(maps, index);
	if (watch->folder < 0)
		return;
	CLEANUP_CLOSE int fd =
		open_map(&maps->folders.items[watch->folder], map, watch->owner, &status);
	if (fd < 0 || !has_room(maps))
		return;
	map->fd = take_fd(&fd);
	maps->files++;
	map->found = true;
	map->inode = status.st_ino;
	watch->last_ns = map->from_ns < now_ns ? map->from_ns : now_ns;
	mark_size(maps, map, watch, now_ns);
}

static void look(struct held_maps *maps, size_t index, uint64_t now_ns, bool last)
{
	struct held_map *map = &maps->maps.items[index];
	struct watch *watch = &maps->watches.items[index];
	if (map->fd >= 0)
		mark_size(maps, map, watch, now_ns);
	else if (last || now_ns >= watch->next_ns)
		find_map(maps, index, now_ns);
}

/*
 * Replaces an open file by a copy in memory. Closes the original in any case. Returns the copied
 * bytes, fewer than `size` if reading fails; 0 and no file if a limit is reached, or memfd_create()
 * fails.
 */
static uint64_t copy_file(struct held_maps *maps, int *file, uint64_t size)
{
	CLEANUP_CLOSE int fd = -1;
	off_t offset = 0;
	while (size <= COPIES_MAX && size > COPIES_MAX - maps->copied && drop_ended_file(maps))
		;
	if (size <= COPIES_MAX - maps->copied)
		fd = memfd_create("sprof-map", MFD_CLOEXEC);
	while (fd >= 0 && (uint64_t)offset < size)
		if (sendfile(fd, *file, &offset, size - (uint64_t)offset) <= 0)
			break;
	close(*file);
	*file = take_fd(&fd);
	uint64_t copied = *file >= 0 ? (uint64_t)offset : 0;
	maps->copied += copied;
	return copied;
}

/* -- Jitdumps -------------------------------------------------------------- */

static struct held_jitdump *find_dump(const struct held_maps *maps, uint32_t pid, uint64_t inode)
{
	for (size_t i = maps ? maps->dumps.count : 0; i-- > 0;)
		if (maps->dumps.items[i].pid == pid && maps->dumps.items[i].inode == inode)
			return &maps->dumps.items[i];
	return NULL;
}

int held_maps_dump(const struct held_maps *maps, uint32_t pid, uint64_t inode)
{
	const struct held_jitdump *dump = find_dump(maps, pid, inode);
	return dump ? dump->fd : -1;
}

bool held_maps_add_dump(struct held_maps *maps, uint32_t pid, const char *path, uint64_t inode)
{
	struct guarded_file file;
	char root[64];
	snprintf(root, sizeof(root), "%s/proc/%u/root", ctx_root(maps->ctx), pid);
	if (find_dump(maps, pid, inode) || !tasks_has_other_root(maps->ctx, pid) || !has_room(maps))
		return true;
	struct sp_error *error = guarded_file_open(ctx_proxies(maps->ctx), root, path, &file);
	if (error)
		return !error_if_no_memory(error);
	CLEANUP_CLOSE int fd = file.fd;
	uid_t uid = file.status.st_uid;
	uint32_t owner;
	bool is_trusted = uid == 0 || uid == geteuid() ||
			  (tasks_owner(maps->ctx, pid, &owner) && uid == owner);
	if (file.is_copy || file.status.st_ino != inode || !is_trusted)
		return true;
	if (!vec_append(&maps->dumps,
			(struct held_jitdump){.pid = pid, .inode = inode, .fd = take_fd(&fd)}))
		return false;
	maps->files++;
	return true;
}

/* Copies the jitdumps of a process that ends. */
static void end_dumps(struct held_maps *maps, uint32_t pid)
{
	for (size_t i = 0; i < maps->dumps.count;) {
		struct held_jitdump *dump = &maps->dumps.items[i];
		struct stat status;
		if (dump->pid != pid || dump->ended || fstat(dump->fd, &status)) {
			i++;
			continue;
		}
		int fd = dump->fd;
		memmove(dump, dump + 1, (--maps->dumps.count - i) * sizeof(*dump));
		struct held_jitdump copy = {.pid = pid, .inode = status.st_ino, .ended = true};
		copy.copied = copy_file(maps, &fd, status.st_size);
		copy.fd = fd;
		if (fd >= 0)
			*vec_push(&maps->dumps) = copy;
		else
			maps->files--;
		i = 0; /* copying may have removed some before it */
	}
}

size_t held_maps_fds(const struct held_maps *maps, int *ret)
{
	size_t count = 0;
	if (!maps || !ret)
		return maps ? maps->maps.count + maps->dumps.count : 0;
	vec_each (map, &maps->maps)
		if (map->fd >= 0)
			ret[count++] = map->fd;
	vec_each (dump, &maps->dumps)
		ret[count++] = dump->fd;
	return count;
}

/* -- Processes ------------------------------------------------------------- */

static struct held_map *find(const struct held_maps *maps, uint32_t pid)
{
	const uint32_t *index = maps ? u64map_find(&maps->last_of, pid) : NULL;
	return index ? &maps->maps.items[*index] : NULL;
}

const struct held_map *held_maps_find(const struct held_maps *maps, uint32_t pid)
{
	return find(maps, pid);
}

size_t held_maps_count(const struct held_maps *maps)
{
	return maps ? maps->maps.count : 0;
}

const struct held_map *held_maps_get(const struct held_maps *maps, size_t index)
{
	return &maps->maps.items[index];
}

/*
 * Drops processes of the older half that have ended, if their file is closed. Returns false when
 * out of memory: some are not found then.
 */
static bool drop_ended_processes(struct held_maps *maps)
{
	size_t left = 0;
	bool good = true;
	maps->living.count = 0;
	u64map_deinit(&maps->last_of);
	maps->last_of = (struct u64map){0};
	for (size_t i = 0; i < maps->maps.count; i++) {
		struct held_map *map = &maps->maps.items[i];
		if (map->ended && map->fd < 0 && i < HELD_PROCESSES_MAX / 2) {
			vec_deinit(&map->marks);
			continue;
		}
		uint32_t *last = u64map_put(&maps->last_of, map->pid, 0, NULL);
		good &= last != NULL;
		if (last)
			*last = left;
		if (!map->ended)
			*vec_push(&maps->living) = left;
		maps->maps.items[left] = *map;
		maps->watches.items[left++] = maps->watches.items[i];
	}
	maps->maps.count = maps->watches.count = left;
	return good;
}

/* Returns false when out of memory. At the limit, adds nothing and returns true. */
static bool add(struct held_maps *maps, uint32_t pid, uint64_t time_ns, bool inherited)
{
	const struct held_map *known = find(maps, pid);
	if (known && !known->ended)
		return true;
	if (maps->maps.count == HELD_PROCESSES_MAX && !drop_ended_processes(maps))
		return false;
	size_t index = maps->maps.count;
	if (index == HELD_PROCESSES_MAX)
		return true;
	if (!vec_reserve(&maps->maps, index + 1) || !vec_reserve(&maps->watches, index + 1) ||
	    !vec_reserve(&maps->living, maps->living.count + 1))
		return false;
	uint32_t *last = u64map_put(&maps->last_of, pid, 0, NULL);
	if (!last)
		return false;
	*last = index;
	*vec_push(&maps->living) = index;
	*vec_push(&maps->watches) = (struct watch){.folder = -1};
	*vec_push(&maps->maps) = (struct held_map){
		.pid = pid, .number = pid, .from_ns = time_ns, .inherited = inherited, .fd = -1};
	return true;
}

bool held_maps_watch(struct held_maps *maps, uint32_t pid, uint64_t time_ns)
{
	return add(maps, pid, time_ns, false);
}

bool held_maps_fork(struct held_maps *maps, uint32_t parent, uint32_t child, uint64_t time_ns)
{
	const struct held_map *known = find(maps, parent);
	return !known || known->ended || add(maps, child, time_ns, true);
}

void held_maps_end(struct held_maps *maps, uint32_t pid, uint64_t now_ns)
{
	struct held_map *map = find(maps, pid);
	end_dumps(maps, pid);
	if (!map || map->ended)
		return;
	uint32_t index = *u64map_find(&maps->last_of, pid);
	struct watch *watch = &maps->watches.items[index];
	look(maps, index, now_ns, true);
	if (map->fd >= 0) {
		/*
		 * The file of an ended process stays open as a copy only if it may not stay at its
		 * path.
		 */
		bool here = maps->folders.items[watch->folder].here;
		struct stat status;
		if (here && !fstat(map->fd, &status) && status.st_nlink)
			close(take_fd(&map->fd));
		else if (map->marks.count)
			map->copied = copy_file(maps, &map->fd, vec_last(&map->marks)->size);
		map->found &= here || map->fd >= 0;
		if (map->fd < 0)
			maps->files--;
	}
	map->ended = true;
	release_folder(maps, watch);
}

void held_maps_mark(struct held_maps *maps, uint64_t now_ns)
{
	size_t left = 0;
	for (size_t i = 0; i < maps->living.count; i++) {
		uint32_t index = maps->living.items[i];
		if (maps->maps.items[index].ended)
			continue;
		maps->living.items[left++] = index;
		look(maps, index, now_ns, false);
	}
	maps->living.count = left;
}
