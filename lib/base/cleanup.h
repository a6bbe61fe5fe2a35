/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locals that release themselves at the end of their scope. This is the project's only way of cleaning
 * up (it has no goto). take_ptr() or take_fd() hand over ownership.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/error.h"

/* "unused": releasing a local may be its only use. */
#define CLEANUP(function) __attribute__((cleanup(function), unused))

/* Defines cleanup_<function> for a destructor that takes a pointer. */
#define DEFINE_CLEANUP(type, function)                                        \
	static inline void cleanup_##function(type *p)                        \
	{                                                                     \
		if (*p)                                                       \
			function(*p);                                         \
	}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)
DEFINE_CLEANUP(struct sp_error *, sp_error_free)

#define CLEANUP_FREE CLEANUP(cleanup_free)
#define CLEANUP_CLOSE CLEANUP(cleanup_close)

/* Moves ownership: the pointer's value; the variable is NULL afterwards. */
#define take_ptr(p)                                                           \
	({                                                                    \
		__typeof__(p) taken_ = (p);                                   \
		(p) = NULL;                                                   \
		taken_;                                                       \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}
