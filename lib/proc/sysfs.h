/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads small files of /sys and /proc, with one value each. Paths are below the ctx root. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "base/ctx.h"
#include "base/vec.h"

/*
 * Reads all of ROOT/PATH (path begins with '/') and appends a NUL; the caller frees *text_ret.
 * Returns 0 or an errno.
 */
int sysfs_read(const struct sp_ctx *ctx, const char *path, char **text_ret, size_t *size_ret);

/* Reads a file's first line, without the newline; the caller frees it. NULL: no file, or empty. */
char *sysfs_line(const struct sp_ctx *ctx, const char *path);

/* Reads a file with one decimal number, as in /proc/sys. SP_ERROR_NOT_FOUND if it is missing. */
struct sp_error *sysfs_read_i64(const struct sp_ctx *ctx, const char *path,
				int64_t *ret) SP_MUST_CHECK;

/* CPU numbers, ascending, without duplicates. A zeroed list is empty. */
struct cpu_list {
	VEC(uint32_t);
};

/*
 * Parses a list such as "0-3,5" (sysfs, `-C`), adds it to *list, and sorts that. Fails with
 * SP_ERROR_INVALID and the position of the wrong character.
 */
struct sp_error *cpu_list_parse(struct cpu_list *list, const char *text) SP_MUST_CHECK;

/* Adds the online CPUs, from /sys/devices/system/cpu/online. */
struct sp_error *sysfs_cpus_online(const struct sp_ctx *ctx, struct cpu_list *list) SP_MUST_CHECK;

/* Reads the running kernel's build-id from /sys/kernel/notes; *size_ret is 0 if it has none. */
struct sp_error *sysfs_kernel_build_id(const struct sp_ctx *ctx, uint8_t ret[20],
				       size_t *size_ret) SP_MUST_CHECK;

/*
 * Finds the GNU build-id in ELF notes (4-byte aligned, host byte order). Returns its size; 0 if
 * there is none or it is longer than 20 bytes. The search ends at damaged notes.
 */
size_t notes_build_id(const void *notes, size_t size, uint8_t ret[20]);
