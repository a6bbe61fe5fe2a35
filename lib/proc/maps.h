/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mappings of a process. Executable mappings are queried one by one if the kernel can
 * (PROCMAP_QUERY, Linux 6.11, with build-ids). Otherwise, and for all mappings, /proc/PID/maps is
 * read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/record.h>
#include "base/cleanup.h"
#include "base/ctx.h"

struct maps_entry {
	uint64_t start, end, file_offset;
	uint32_t prot, flags;  /* PROT_*; MAP_SHARED or MAP_PRIVATE */
	uint32_t maj, min;
	uint64_t ino;
	const char *path;      /* unescaped, without " (deleted)"; "" if anonymous; "[vdso]", … */
	bool deleted;          /* the file was unlinked or replaced */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: not reported by the kernel */
};

enum maps_filter { MAPS_ALL, MAPS_EXECUTABLE };

struct maps;

/*
 * Opens ROOT/proc/PID/maps or, if `tid` is not 0, ROOT/proc/PID/task/TID/maps, which still works
 * after the group leader has exited. Fails with SP_ERROR_NOT_FOUND if there is no such task,
 * SP_ERROR_PERMISSION if its mappings may not be read. Kernel threads and zombies have none.
 */
struct sp_error *maps_open(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			   enum maps_filter filter, struct maps **ret) SP_MUST_CHECK;

/* The same, but ends after `limit` mappings, and takes no time for more. */
struct sp_error *maps_open_first(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
				 enum maps_filter filter, size_t limit,
				 struct maps **ret) SP_MUST_CHECK;

/* Reads mappings from the text of a maps file, which must outlive *ret. `path` is for messages. */
struct sp_error *maps_parse(const void *text, size_t size, const char *path,
			    enum maps_filter filter, struct maps **ret) SP_MUST_CHECK;
void maps_free(struct maps *maps);
DEFINE_CLEANUP(struct maps *, maps_free)

/*
 * Returns the next mapping by address in *ret, valid until the next call; NULL at the end, or if the
 * process has ended. Fails with SP_ERROR_FORMAT at a line that is not a mapping; the next call
 * continues after it.
 */
struct sp_error *maps_next(struct maps *maps, const struct maps_entry **ret) SP_MUST_CHECK;

/*
 * Converts a mapping of process `pid` to what the kernel's MMAP2 records have: "//anon" for memory
 * without a file, " (deleted)" after the path of a file that was unlinked, "//toolong" for a path
 * above PATH_MAX. *room_ret owns a composed name, or is NULL: free() it after the last use of *ret.
 * Fails only when out of memory.
 */
struct sp_error *maps_entry_mmap(const struct maps_entry *entry, uint32_t pid, struct sp_mmap *ret,
				 char **room_ret) SP_MUST_CHECK;

/*
 * Sets *start_ret to the start of the mapping that contains `address`. Returns 0 or an errno: ENOTTY
 * before Linux 6.11, ENOENT if nothing is mapped there.
 */
int maps_start_of(uint32_t pid, uint64_t address, uint64_t *start_ret);
