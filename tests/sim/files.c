/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096
#define HOME "/out"

struct name {
	char *path;
	struct sim_inode *inode;
};

static struct {
	struct name *items;
	size_t count;
	uint64_t next_ino;
} names;

struct sim_disk sim_disk;

static struct sim_inode *new_inode(bool is_directory)
{
	struct sim_inode *inode = calloc(1, sizeof(*inode));
	if (!inode)
		abort();
	inode->ino = ++names.next_ino;
	inode->is_directory = is_directory;
	inode->mtime_ns = sim.now_ns;
	return inode;
}

struct sim_inode *sim_file_unnamed(void)
{
	return new_inode(false);
}

void sim_file_link(struct sim_inode *inode, const char *path)
{
	names.items = realloc(names.items, (names.count + 1) * sizeof(*names.items));
	if (!names.items)
		abort();
	names.items[names.count++] = (struct name){strdup(path), inode};
	inode->links++;
}

struct sim_inode *sim_file_new(const char *path, bool is_directory)
{
	struct sim_inode *inode = new_inode(is_directory);
	sim_file_link(inode, path);
	return inode;
}

void sim_files_begin(void)
{
	static const char *const folders[] = {"/", HOME, "/tmp", "/usr", "/usr/bin", "/usr/lib", "/dev"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		sim_file_new(folders[i], true);
}

/* Returns the number of a path "/proc/self/fd/N", or -1. */
static int descriptor_of(const char *path)
{
	static const char prefix[] = "/proc/self/fd/";
	if (strncmp(path, prefix, sizeof(prefix) - 1) || !path[sizeof(prefix) - 1])
		return -1;
	return atoi(path + sizeof(prefix) - 1);
}

static struct sim_inode *find_kernel_file(const char *path)
{
	int fd = descriptor_of(path);
	if (fd >= 0) {
		const struct sim_open *open = sim_fd_peek(fd);
		if (open && open->inode)
			return open->inode;
	}
	size_t size = 0;
	bool is_directory = false;
	char *bytes = fd >= 0 ? NULL : sim_proc_read(path, &size, &is_directory);
	if (!bytes) {
		errno = ENOENT;
		return NULL;
	}
	struct sim_inode *inode = calloc(1, sizeof(*inode));
	if (!inode)
		abort();
	*inode = (struct sim_inode){
		.ino = 1, .bytes = (uint8_t *)bytes, .size = size, .is_directory = is_directory,
		.is_kernel = true,
	};
	return inode;
}

struct sim_inode *sim_file_find(const char *path)
{
	if (sim_proc_has(path))
		return find_kernel_file(path);
	for (size_t i = 0; i < names.count; i++)
		if (!strcmp(names.items[i].path, path))
			return names.items[i].inode;
	errno = ENOENT;
	return NULL;
}

void sim_file_release(struct sim_inode *inode)
{
	if (inode->links || inode->opens)
		return;
	sim_disk.used -= inode->allocated;
	free(inode->bytes);
	free(inode);
}

void sim_file_unlink(const char *path)
{
	for (size_t i = 0; i < names.count; i++) {
		struct name *name = &names.items[i];
		if (strcmp(name->path, path))
			continue;
		struct sim_inode *inode = name->inode;
		free(name->path);
		*name = names.items[--names.count];
		inode->links--;
		sim_file_release(inode);
		return;
	}
}

/* -- Paths ----------------------------------------------------------------- */

/* Path of the executable for "/proc/PID/exe", and the rest of "/proc/PID/root/REST"; else NULL. */
static const char *follow_process(const char *path)
{
	unsigned int pid;
	int end = 0;
	if (sscanf(path, "/proc/%u/%n", &pid, &end) != 1 || !end)
		return NULL;
	const struct sim_process *process = sim_process_find(pid);
	if (!process)
		return NULL;
	if (!strcmp(path + end, "exe"))
		return process->exe;
	if (!strncmp(path + end, "root", 4) && (path[end + 4] == '/' || !path[end + 4]))
		return path[end + 4] ? path + end + 4 : "/";
	return NULL;
}

/* Removes "//", "/./" and a slash at the end. */
static void clean_path(char *path)
{
	char *to = path;
	for (const char *from = path; *from; from++) {
		if (from[0] == '/' && (from[1] == '/' || (from[1] == '\0' && from != path)))
			continue;
		if (from[0] == '/' && from[1] == '.' && (from[2] == '/' || from[2] == '\0')) {
			from++;
			continue;
		}
		*to++ = *from;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

char *sim_path(int folder, const char *path, char *room, size_t size)
{
	const char *base = "";
	if (*path != '/' && folder < 0)
		base = HOME;
	if (*path != '/' && folder >= 0) {
		const struct sim_open *open = sim_fd(folder);
		if (!open || !open->path)
			return NULL;
		base = open->path;
	}
	if ((size_t)snprintf(room, size, "%s/%s", base, path) >= size) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	clean_path(room);
	const char *followed = follow_process(room);
	if (!strcmp(room, "/proc/self/root"))
		followed = "/";
	if (followed) {
		char *copy = strdup(followed);
		snprintf(room, size, "%s", copy ? copy : "/");
		free(copy);
		clean_path(room);
	}
	return room;
}

const char *sim_file_entry(const char *folder, size_t index)
{
	size_t length = strcmp(folder, "/") ? strlen(folder) : 0, seen = 0;
	for (size_t i = 0; i < names.count; i++) {
		const char *path = names.items[i].path;
		if (!strncmp(path, folder, length) && path[length] == '/' && path[length + 1] &&
		    !strchr(path + length + 1, '/') && seen++ == index)
			return path + length + 1;
	}
	return NULL;
}

void sim_files_visit(void (*visit)(const char *path, const struct sim_inode *inode, void *arg),
		     void *arg)
{
	for (size_t i = 0; i < names.count; i++)
		if (!strncmp(names.items[i].path, HOME "/", sizeof(HOME)))
			visit(names.items[i].path, names.items[i].inode, arg);
}

/* -- Data ------------------------------------------------------------------ */

int sim_file_allocate(struct sim_inode *inode, uint64_t end)
{
	uint64_t wanted = (end + BLOCK - 1) / BLOCK * BLOCK;
	if (wanted <= inode->allocated)
		return 0;
	uint64_t more = wanted - inode->allocated;
	if (sim_disk.capacity && sim_disk.used + more > sim_disk.capacity)
		return ENOSPC;
	sim_disk.used += more;
	inode->allocated = wanted;
	return 0;
}

static void reserve(struct sim_inode *inode, uint64_t size)
{
	if (size <= inode->room)
		return;
	uint64_t room = inode->room ? inode->room : 65536;
	while (room < size)
		room *= 2;
	inode->bytes = realloc(inode->bytes, room);
	if (!inode->bytes)
		abort();
	memset(inode->bytes + inode->room, 0, room - inode->room);
	inode->room = room;
}

size_t sim_file_write(struct sim_inode *inode, const void *bytes, size_t size, uint64_t offset)
{
	while (size && sim_file_allocate(inode, offset + size))
		size = size > BLOCK ? size - BLOCK : 0; /* a full disk takes the first part */
	if (!size) {
		errno = ENOSPC;
		return 0;
	}
	reserve(inode, offset + size);
	memcpy(inode->bytes + offset, bytes, size);
	if (offset + size > inode->size)
		inode->size = offset + size;
	inode->mtime_ns = sim.now_ns;
	return size;
}

void sim_file_resize(struct sim_inode *inode, uint64_t size)
{
	reserve(inode, size);
	if (size < inode->room)
		memset(inode->bytes + size, 0, inode->room - size);
	inode->size = size;
	uint64_t blocks = (size + BLOCK - 1) / BLOCK * BLOCK;
	if (blocks < inode->allocated) {
		sim_disk.used -= inode->allocated - blocks;
		inode->allocated = blocks;
	}
}
