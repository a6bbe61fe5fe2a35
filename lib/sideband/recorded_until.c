/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/recorded_until.h"

#include <sys/stat.h>

#define NS_PER_SECOND UINT64_C(1000000000)

uint64_t recorded_until_ns(const struct sp_reader *reader)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	struct stat st;
	if (info->has_clock && info->last_sample_ns >= info->clock_ns)
		return info->clock_wall_ns + (info->last_sample_ns - info->clock_ns);
	if (info->mode != SP_READER_FILE || stat(info->path, &st) || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)st.st_mtim.tv_nsec;
}
