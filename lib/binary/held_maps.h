/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perf maps (/tmp/perf-PID.map) of the processes that a recorder records. They are opened while the
 * process lives, since the files of a container end with it. Their sizes are noted with times: a
 * JIT compiler reuses memory, so that an address has several names, each from a time on.
 *
 * Any user writes such files. So they must be regular files on a local file system, no links, and
 * belong to the process's user, this user or root. A proxy opens the folder. The file is opened
 * without leaving the folder's file system, so that no call waits for another machine or process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "base/vec.h"

/* Processes that may be watched. */
#define HELD_PROCESSES_MAX 16384

struct held_maps;
struct sp_ctx;

/* The map had `size` bytes at `time_ns` of the recording's clock. */
struct map_mark {
	uint64_t time_ns, size;
};

/* A process, and its map if that was found. */
struct held_map {
	uint32_t pid;
	uint32_t number; /* its pid in its own namespace, which is that of the file's name */
	uint64_t from_ns; /* when the process was watched for the first time */
	bool inherited;  /* since then it runs code of the process that forked it */
	bool ended;      /* the process has ended, or executed another program */
	bool found;
	int fd;          /* -1: not found; or closed: then it is in /tmp here, with this inode */
	ino_t inode;
	uint64_t copied; /* size of the copy in memory that `fd` is; 0: it is the file */
	struct { VEC(struct map_mark); } marks; /* the first is the size when the map was found */
};

struct sp_error *held_maps_new(struct sp_ctx *ctx, struct held_maps **ret) SP_MUST_CHECK;

/* NULL is allowed. */
void held_maps_free(struct held_maps *maps);

/*
 * Looks for the map of a process from now on, because it has executable memory without a file.
 * Returns false when out of memory.
 */
bool held_maps_watch(struct held_maps *maps, uint32_t pid, uint64_t time_ns);

/* The same for the child of a process, if that is watched. */
bool held_maps_fork(struct held_maps *maps, uint32_t parent, uint32_t child, uint64_t time_ns);

/* The process has ended, or executed another program. Keeps its map, as far as limits permit. */
void held_maps_end(struct held_maps *maps, uint32_t pid, uint64_t now_ns);

/* Finds new maps, and marks sizes that changed. `now_ns`: the time by the recording's clock. */
void held_maps_mark(struct held_maps *maps, uint64_t now_ns);

/*
 * Holds a jitdump that a process of another root directory has mapped. held_maps_end() copies it.
 * Returns false when out of memory.
 */
bool held_maps_add_dump(struct held_maps *maps, uint32_t pid, const char *path, uint64_t inode);

/* Returns the descriptor of a held jitdump, which belongs to `maps` (may be NULL), or -1. */
int held_maps_dump(const struct held_maps *maps, uint32_t pid, uint64_t inode);

/* Copies all open descriptors to `ret`: their number. `ret` NULL: the largest possible number. */
size_t held_maps_fds(const struct held_maps *maps, int *ret);

/* Returns the last map of a process, or NULL. `maps` may be NULL. */
const struct held_map *held_maps_find(const struct held_maps *maps, uint32_t pid);

/*
 * Number of maps, oldest first: one for each program that a watched process executed. At the limit,
 * ended ones are dropped, or new ones ignored. `maps` may be NULL.
 */
size_t held_maps_count(const struct held_maps *maps);
const struct held_map *held_maps_get(const struct held_maps *maps, size_t index);
