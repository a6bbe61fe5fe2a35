/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the image of the vdso, which has no file. sprof's recordings contain it. Else it may be this
 * process's own vdso, if the build-ids are equal, or if none was recorded and the kernel is the same;
 * or a copy in perf's build-id cache.
 */
#pragma once

#include "binary/binary.h"

/* Copies this process's own vdso; NULL if it has none. */
struct sp_error *vdso_own(struct image **ret) SP_MUST_CHECK;

/* Opens the recorded vdso; NULL if it was not found. */
struct sp_error *vdso_open(const struct binary_env *env, const struct module *module,
			   struct image **ret) SP_MUST_CHECK;
