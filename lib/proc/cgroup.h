/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control groups of the hierarchy that perf events use: a mounted v1 hierarchy with the perf_event
 * controller (`-o perf_event`), or else the cgroup v2 hierarchy.
 */
#pragma once

#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"

struct cgroup_hierarchy {
	const char *path; /* mount point, without the ctx root; malloc'ed */
	int version;      /* 1 or 2 */
};

/*
 * Finds the hierarchy in /proc/self/mounts. Fails with SP_ERROR_NOT_FOUND if none is mounted; the
 * remedy is the mount command.
 */
struct sp_error *cgroup_hierarchy_find(const struct sp_ctx *ctx,
				       struct cgroup_hierarchy *ret) SP_MUST_CHECK;
/* Finds the hierarchy in the text of a mounts file. */
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
 * SP_ERROR_NOT_FOUND (the remedy states where groups are), with an error of permissions, or with
 * SP_ERROR_INVALID if `name` has "..".
 */
struct sp_error *cgroup_open(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			     const char *name, int *fd_ret) SP_MUST_CHECK;

/* Sets *ret to the id of the group with the open directory `fd`. Returns 0 or an errno. */
int cgroup_id(int fd, uint64_t *ret);

/* A list of groups. A zeroed list is empty; the list owns the strings. */
struct cgroup_list {
	VEC(struct cgroup);
	struct arena arena;
};

void cgroup_list_deinit(struct cgroup_list *list);

/*
 * Appends all groups, parents before their children. Groups that cannot be read or were removed
 * meanwhile are omitted. Fails only when out of memory.
 */
struct sp_error *cgroup_list_all(const struct sp_ctx *ctx,
				 const struct cgroup_hierarchy *hierarchy,
				 struct cgroup_list *list) SP_MUST_CHECK;

/* Control groups of systemd units, found by directory names, without D-Bus. */

/*
 * Finds the path of a unit's group from the hierarchy's top; the caller frees it. `name` is the
 * unit's, with or without its suffix (.service, .scope, .slice). Fails with SP_ERROR_NOT_FOUND (and
 * similar names), or SP_ERROR_INVALID if several units match (and their paths).
 */
struct sp_error *unit_find(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			   const char *name, char **path_ret) SP_MUST_CHECK;
