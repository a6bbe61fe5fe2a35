/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control groups as perf events see them: those of the hierarchy that the perf_event
 * controller is on, which is a mounted v1 one (`-o perf_event`), or else v2's only one.
 */
#ifndef PROC_CGROUP_H
#define PROC_CGROUP_H

#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"

struct cgroup_hierarchy {
	const char *path; /* mount point, without the ctx root; malloc'ed */
	int version;      /* 1 or 2 */
};

/*
 * By /proc/self/mounts. Fails with SP_ERROR_NOT_FOUND, and how to mount one, where there
 * is none.
 */
struct sp_error *cgroup_hierarchy_find(const struct sp_ctx *ctx,
				       struct cgroup_hierarchy *ret) SP_MUST_CHECK;
/* The same by the text of such a file. */
struct sp_error *cgroup_hierarchy_parse(const void *text, size_t size,
					struct cgroup_hierarchy *ret) SP_MUST_CHECK;
void cgroup_hierarchy_deinit(struct cgroup_hierarchy *hierarchy);

/* One group. */
struct cgroup {
	const char *path; /* from the hierarchy's top: "/", "/a/b" */
	uint64_t id;      /* id in PERF_SAMPLE_CGROUP and CGROUP records */
};

/*
 * Opens the directory of a group, for PERF_FLAG_PID_CGROUP: *fd_ret is the caller's to close.
 * `name` is a path from the hierarchy's top, with or without the '/' before it. Fails with
 * SP_ERROR_NOT_FOUND (where groups are is the remedy), SP_ERROR_INVALID if it leads out of there.
 */
struct sp_error *cgroup_open(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			     const char *name, int *fd_ret) SP_MUST_CHECK;

/* The id of the group whose directory that is: 0, or the errno. */
int cgroup_id(int fd, uint64_t *ret);

/* Zeroed: empty. Strings belong to it. */
struct cgroup_list {
	VEC(struct cgroup);
	struct arena arena;
};

void cgroup_list_deinit(struct cgroup_list *list);

/*
 * Appends all groups, those above before those below. What may not be read, or is gone
 * meanwhile, is left out. Fails only when out of memory.
 */
struct sp_error *cgroup_list_all(const struct sp_ctx *ctx,
				 const struct cgroup_hierarchy *hierarchy,
				 struct cgroup_list *list) SP_MUST_CHECK;

#endif
