/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's tracing file system: which tracepoints there are, and their numbers. Where
 * nobody has mounted it, and we may, it is mounted for this process alone: the machine stays
 * as it was.
 */
#ifndef PROC_TRACEFS_H
#define PROC_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/vec.h"

enum tracefs_state {
	TRACEFS_READABLE,
	TRACEFS_UNMOUNTED, /* the kernel has it, nobody has mounted it */
	TRACEFS_FORBIDDEN, /* mounted, but not for this user */
	TRACEFS_ABSENT,    /* this kernel has none */
};

struct tracefs {
	enum tracefs_state state;
	char *path;     /* the directory that has events/, ctx root included; NULL unless readable */
	int mount_fd;   /* our own mount, to which `path` leads, or -1 */
};

/*
 * Looks below the ctx root at /sys/kernel/tracing and /sys/kernel/debug/tracing. Fails only for
 * want of memory; what was found is the state. To be deinitialised in any case.
 */
struct sp_error *tracefs_init(struct tracefs *tracefs, const struct sp_ctx *ctx) SP_MUST_CHECK;
void tracefs_deinit(struct tracefs *tracefs);

/* Why it cannot be read, with the remedy; `subject` is put before it. For all states but READABLE. */
struct sp_error *tracefs_error(const struct tracefs *tracefs, const char *subject) SP_MUST_CHECK;

/* A file below `path`, of a tracefs that is READABLE: 0, or the errno. The text is malloc'ed. */
int tracefs_read(const struct tracefs *tracefs, const char *file, char **text_ret,
		 size_t *size_ret);

/* A tracepoint's format, as tracefs_read() gives files. */
int tracefs_format(const struct tracefs *tracefs, const char *system, const char *name,
		   char **text_ret, size_t *size_ret);

/* The number of a tracepoint ("sched", "sched_switch"): attr.config. 0, or the errno. */
int tracefs_id(const struct tracefs *tracefs, const char *system, const char *name,
	       uint64_t *ret);

/* Names, sorted; each malloc'ed. Zeroed: empty. */
struct name_list {
	VEC(char *);
};
void name_list_deinit(struct name_list *list);

/* Appends a copy; false when out of memory. */
bool name_list_add(struct name_list *list, const char *name);

/* Adds the directories (links count as such), or the files, in `path`; sorted. 0, or the errno. */
int directory_names(const char *path, bool files, struct name_list *list);

/* The systems, or with a system its tracepoints; appended, sorted. 0, or the errno. */
int tracefs_names(const struct tracefs *tracefs, const char *system, struct name_list *list);

#endif
