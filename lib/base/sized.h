/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Option structs of the public API. Their first member is `size_t size`, the caller's sizeof. Newer
 * library versions append members, so programs and libraries of different versions are compatible.
 */
#pragma once

#include <stddef.h>
#include <sprof/error.h>

/*
 * Copies `options` to ret[size], and zeroes members that are not in it. NULL: all members are 0. Fails
 * with SP_ERROR_INVALID if its size is 0, and with SP_ERROR_UNSUPPORTED if members beyond `size` are
 * set.
 */
struct sp_error *sized_copy(void *ret, size_t size, const void *options) SP_MUST_CHECK;

/* A group of options: the copy, its size, the caller's group (NULL: defaults), and its name for errors. */
struct sized_group {
	void *ret;
	size_t size;
	const void *options;
	const char *name;
};

/* Copies groups with sized_copy(). An error's message begins with the group's name. */
struct sp_error *sized_copy_groups(const struct sized_group *groups, size_t count) SP_MUST_CHECK;
