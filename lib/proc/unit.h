/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control groups of systemd units, found by the names of directories, without D-Bus. */
#ifndef PROC_UNIT_H
#define PROC_UNIT_H

#include "proc/cgroup.h"

/*
 * The path of a unit's group from the hierarchy's top, the caller's to free. `name` is the unit's,
 * with its suffix or without (.service, .scope, .slice). Fails with SP_ERROR_NOT_FOUND (with similar
 * names), or SP_ERROR_INVALID where several units match (with their paths).
 */
struct sp_error *unit_find(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			   const char *name, char **path_ret) SP_MUST_CHECK;

#endif
