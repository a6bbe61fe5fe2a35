/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control groups of systemd units, found by directory names, without D-Bus. */
#ifndef PROC_UNIT_H
#define PROC_UNIT_H

#include "proc/cgroup.h"

/*
 * Finds the path of a unit's group from the hierarchy's top; the caller frees it. `name` is the
 * unit's, with or without its suffix (.service, .scope, .slice). Fails with SP_ERROR_NOT_FOUND (and
 * similar names), or SP_ERROR_INVALID if several units match (and their paths).
 */
struct sp_error *unit_find(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			   const char *name, char **path_ret) SP_MUST_CHECK;

#endif
