/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded kernel modules: /proc/modules, /sys/module, and their files by modules.dep. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"

struct kernel_module {
	const char *name;  /* name in /proc/modules: "snd_hda_intel" */
	const char
		*path; /* "/lib/modules/…/snd-hda-intel.ko.xz"; "[name]" if the file is unknown */
	uint64_t start;    /* begin of its code; 0 if kptr_restrict hides it */
	uint64_t size;     /* reduced if it would overlap the next module */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: unknown */
};

/* Modules by address. A zeroed list is empty; the list owns the strings. */
struct kernel_modules {
	VEC(struct kernel_module);
	struct arena arena;
};

/*
 * Appends the loaded modules. A kernel without module support (no /proc/modules) is no error.
 * `osrelease` names the folder below /lib/modules; NULL: the running kernel's.
 */
struct sp_error *kernel_modules_read(const struct sp_ctx *ctx, const char *osrelease,
				     struct kernel_modules *modules) SP_MUST_CHECK;
void kernel_modules_deinit(struct kernel_modules *modules);
