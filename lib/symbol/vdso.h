/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The vdso has no file. This process has one of its own, which is the recorded
 * one if the build-ids say so, or, where none was recorded, the kernel is the
 * same; perf's build-id cache may have a copy.
 */
#ifndef SYMBOL_VDSO_H
#define SYMBOL_VDSO_H

#include "elf/image.h"
#include "symbol/source.h"

/* NULL where it is not at hand; *diagnosis then says why. */
struct sp_error *vdso_open(const struct source_env *env, const struct module *module,
			   struct diagnosis *diagnosis, struct image **ret) SP_MUST_CHECK;

#endif
