/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands for the engine in builds without libunwind. */
#include "unwind/engine.h"

static const char *refuse(const char *arch)
{
	(void)arch;
	return "this build has no libunwind";
}

const struct unwind_engine engine_libunwind = {
	.name = "libunwind",
	.refuse = refuse,
};
