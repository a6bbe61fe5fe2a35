/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small facts of the kernel: one number or one list a file. Paths are below the ctx root. */
#ifndef PROC_SYSFS_H
#define PROC_SYSFS_H

#include <stdint.h>
#include <sys/types.h>
#include "base/ctx.h"
#include "base/vec.h"

/*
 * The whole of ROOT/PATH (path begins with '/'), a NUL behind; the caller's to
 * free. 0, or the errno.
 */
int sysfs_read(const struct sp_ctx *ctx, const char *path, char **text_ret, size_t *size_ret);

/* One line, without its end, the caller's to free; NULL where it is not there, or empty. */
char *sysfs_line(const struct sp_ctx *ctx, const char *path);

/* One decimal number, as in /proc/sys. Fails with SP_ERROR_NOT_FOUND where the file is missing. */
struct sp_error *sysfs_read_i64(const struct sp_ctx *ctx, const char *path,
				int64_t *ret) SP_MUST_CHECK;

/* Numbers of CPUs, ascending, none twice. Zeroed: empty. */
struct cpu_list {
	VEC(uint32_t);
};

/*
 * "0-3,5" as in sysfs and `-C`; appended to *list, which is then sorted. Fails
 * with SP_ERROR_INVALID, naming the character.
 */
struct sp_error *cpu_list_parse(struct cpu_list *list, const char *text) SP_MUST_CHECK;

/* /sys/devices/system/cpu/online. */
struct sp_error *sysfs_cpus_online(const struct sp_ctx *ctx, struct cpu_list *list) SP_MUST_CHECK;

/* The GNU build-id of the running kernel, from /sys/kernel/notes; *size_ret is 0 if it has none. */
struct sp_error *sysfs_kernel_build_id(const struct sp_ctx *ctx, uint8_t ret[20],
				       size_t *size_ret) SP_MUST_CHECK;

/*
 * A GNU build-id among ELF notes (4-byte aligned, host byte order); its size, or
 * 0 if there is none or it is longer than 20 bytes. Damaged notes end the search.
 */
size_t notes_build_id(const void *notes, size_t size, uint8_t ret[20]);

#endif
