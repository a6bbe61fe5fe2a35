/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that a module was mapped from, found again. Looked at, in order:
 * with --symfs the path below it and nothing else of the host; else the path as
 * it is, the process's own view of it while it lives (/proc/PID/root, for other
 * mount namespaces and chroots; /proc/PID/exe and map_files, for deleted files),
 * and perf's build-id cache.
 *
 * What is found must be what was recorded:
 * - by build-id where one was recorded;
 * - else, for files reached through a living process, by inode, since a pid may
 *   be another process by now;
 * - else, where the recording's kernel runs here and the file lies on the device
 *   that was recorded, by inode: a replaced file has another. On another machine
 *   or file system inode numbers say nothing, and the file is taken as it is.
 */
#ifndef SYMBOL_BINARY_H
#define SYMBOL_BINARY_H

#include "elf/image.h"
#include "symbol/source.h"

/*
 * NULL where no file was found or none is the recorded one: *diagnosis then says
 * so. Fails only when out of memory.
 */
struct sp_error *binary_open(const struct source_env *env, const struct module *module,
			     uint32_t pid, struct diagnosis *diagnosis,
			     struct image **ret) SP_MUST_CHECK;

/* Its path on the recorded machine, without " (deleted)"; malloc'ed, or NULL. */
char *binary_recorded_path(const struct module *module);

#endif
