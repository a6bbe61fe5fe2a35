/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"
#include "memory.h"

void source_roots_deinit(struct source_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->items[i].path);
		close(roots->items[i].fd);
	}
	free(roots->items);
}

bool source_roots_open(struct source_roots *roots, const char *const *directories, size_t count)
{
	static const char *const current[] = {"."};
	*roots = (struct source_roots){.skips_private = !count};
	if (!count) {
		directories = current;
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		char *path = realpath(directories[i], NULL);
		int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		if (fd < 0) {
			diag_print("--source: %s: %s", directories[i], strerror(errno));
			free(path);
			return false;
		}
		/* The root directory ends in a slash. */
		if (!path[1])
			path[0] = '\0';
		*list_push(roots) = (struct source_root){path, fd};
	}
	return true;
}

/*
 * Copies an absolute path without empty, "." and ".." components. Returns false if it is relative or too
 * long, or if it leaves the root directory.
 */
static bool normalise(const char *path, char copy[PATH_MAX])
{
	size_t size = 0;
	if (*path != '/' || strlen(path) >= PATH_MAX)
		return false;
	while (*path) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");
		if (length == 2 && !strncmp(path, "..", 2)) {
			if (!size)
				return false;
			while (copy[--size] != '/')
				;
		} else if (length && !(length == 1 && *path == '.')) {
			copy[size++] = '/';
			memcpy(copy + size, path, length);
			size += length;
		}
		path += length;
	}
	copy[size] = '\0';
	return size > 0;
}

/*
 * Finds a relative path below a directory by O_PATH: opening a device can act on it. Opens one
 * component after another, so that no link is followed.
 */
static int find_below(int directory, char *path)
{
	int fd = -1;
	for (char *next; path; path = next) {
		next = strchr(path, '/');
		if (next)
			*next++ = '\0';
		int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (next ? O_DIRECTORY : 0);
		int below = openat(fd < 0 ? directory : fd, path, flags);
		if (fd >= 0)
			close(fd);
		fd = below;
		if (fd < 0)
			break;
	}
	return fd;
}

/*
 * Reads a file that find_below() found; the caller frees the text. Returns NULL if it cannot be
 * read or is not text.
 */
static char *read_text(int found, size_t size)
{
	char link[32];
	size_t done = 0;
	bool failed = false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = fd >= 0 ? xmalloc(size + 1) : NULL;
	while (text && done < size) {
		ssize_t got = read(fd, text + done, size - done);
		failed = got < 0;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	if (!text || failed || memchr(text, '\0', done)) {
		free(text);
		return NULL;
	}
	text[done] = '\0';
	return text;
}

/* Reads a regular file of allowed size. `below` is its path below the root; it is changed. */
static char *read_below(struct source_roots *roots, const struct source_root *root, char *below)
{
	bool hidden = *below == '.' || strstr(below, "/.");
	int found = find_below(root->fd, below);
	struct stat st;
	char *text = NULL;
	if (found < 0)
		return NULL;
	if (!fstat(found, &st) && S_ISREG(st.st_mode) && st.st_size <= SOURCE_FILE_SIZE) {
		if (roots->skips_private && (hidden || !(st.st_mode & S_IROTH)))
			roots->private_count++;
		else
			text = read_text(found, (size_t)st.st_size);
	}
	close(found);
	return text;
}

char *source_read(struct source_roots *roots, const char *path)
{
	char whole[PATH_MAX];
	if (!normalise(path, whole))
		return NULL;
	for (size_t i = 0; i < roots->count; i++) {
		const struct source_root *root = &roots->items[i];
		size_t size = strlen(root->path);
		if (strncmp(whole, root->path, size) != 0 || whole[size] != '/')
			continue;
		char below[PATH_MAX];
		strcpy(below, whole + size + 1);
		char *text = read_below(roots, root, below);
		if (text)
			return text;
	}
	return NULL;
}
