/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The vdso has no file. Recordings of sprof's own have its image with them. Else this
 * process has one, which is the recorded one if the build-ids say so, or, where none was
 * recorded, the kernel is the same; perf's build-id cache may have a copy.
 */
#ifndef BINARY_VDSO_H
#define BINARY_VDSO_H

#include "binary/binary.h"

/* A copy of this process's own; NULL where it has none. */
struct sp_error *vdso_own(struct image **ret) SP_MUST_CHECK;

/* NULL where it is not at hand. */
struct sp_error *vdso_open(const struct binary_env *env, const struct module *module,
			   struct image **ret) SP_MUST_CHECK;

#endif
