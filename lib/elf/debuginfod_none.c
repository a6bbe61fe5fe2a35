/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stubs for a build without debuginfod. */
#include "elf/debuginfod.h"

#include <stddef.h>

const char *debuginfod_obstacle(void)
{
	return "build sprof with ./configure --with-debuginfod";
}

struct sp_error *debuginfod_find(enum debuginfod_kind kind, const uint8_t *build_id, size_t size,
				 char **ret)
{
	(void)kind, (void)build_id, (void)size;
	*ret = NULL;
	return NULL;
}
