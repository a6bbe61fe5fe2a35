/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracefs: names and ids of the kernel's tracepoints. If it is not mounted and this process has the
 * permission, it is mounted detached: only this process can see it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/vec.h"

enum tracefs_state {
	TRACEFS_READABLE,
	TRACEFS_UNMOUNTED, /* supported by the kernel, but not mounted */
	TRACEFS_FORBIDDEN, /* mounted, but this user has no permission */
	TRACEFS_ABSENT,    /* not supported by this kernel */
};

struct tracefs {
	enum tracefs_state state;
	char *path;     /* the directory that has events/, ctx root included; NULL unless readable */
	int mount_fd;   /* detached mount of this process, to which `path` leads; -1: none */
};

/*
 * Searches /sys/kernel/tracing and /sys/kernel/debug/tracing below the ctx root, and sets the state.
 * Fails only when out of memory. Call tracefs_deinit() in any case.
 */
struct sp_error *tracefs_init(struct tracefs *tracefs, const struct sp_ctx *ctx) SP_MUST_CHECK;
void tracefs_deinit(struct tracefs *tracefs);

/* Makes the error, with a remedy, for a tracefs that is not READABLE. Its text begins with `subject`. */
struct sp_error *tracefs_error(const struct tracefs *tracefs, const char *subject) SP_MUST_CHECK;

/* Reads a file below `path` of a READABLE tracefs. Returns 0 or an errno. *text_ret is malloc'ed. */
int tracefs_read(const struct tracefs *tracefs, const char *file, char **text_ret,
		 size_t *size_ret);

/* Reads a tracepoint's format file, like tracefs_read(). */
int tracefs_format(const struct tracefs *tracefs, const char *system, const char *name,
		   char **text_ret, size_t *size_ret);

/* Reads a tracepoint's id ("sched", "sched_switch"), for attr.config. Returns 0 or an errno. */
int tracefs_id(const struct tracefs *tracefs, const char *system, const char *name,
	       uint64_t *ret);

/* A list of malloc'ed names. A zeroed list is empty. */
struct name_list {
	VEC(char *);
};
void name_list_deinit(struct name_list *list);

/* Appends a copy; false when out of memory. */
bool name_list_add(struct name_list *list, const char *name);

/* Adds names of directories (and links) or files in `path`, and sorts. Returns 0 or an errno. */
int directory_names(const char *path, bool files, struct name_list *list);

/* Adds the names of a system's tracepoints, or (NULL) those of all systems; sorts. 0, or an errno. */
int tracefs_names(const struct tracefs *tracefs, const char *system, struct name_list *list);
