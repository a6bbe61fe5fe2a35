/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/sized.h"

#include <string.h>
#include "base/error.h"

struct sp_error *sized_copy(void *ret, size_t size, const void *options)
{
	const unsigned char *bytes = options;
	size_t given = size;
	memset(ret, 0, size);
	if (options)
		memcpy(&given, options, sizeof(given));
	if (given < sizeof(given))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "options without their size"),
					"set the member `size` to sizeof");
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
							  "options of a newer libsprof"),
						"use the libsprof that the program was built for");
	if (options)
		memcpy(ret, options, given < size ? given : size);
	memcpy(ret, &size, sizeof(size));
	return NULL;
}

struct sp_error *sized_copy_groups(const struct sized_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sp_error *error =
			sized_copy(groups[i].ret, groups[i].size, groups[i].options);
		if (error)
			return error_prefix(error, "%s", groups[i].name);
	}
	return NULL;
}
