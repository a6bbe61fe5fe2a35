/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/self/mounts: a user who can mount something chooses its paths. */
#include <assert.h>
#include <string.h>
#include "fuzz.h"
#include "proc/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cgroup_hierarchy hierarchy = {0};
	struct sp_error *error = cgroup_hierarchy_parse(bytes, size, &hierarchy);
	assert(error ? !hierarchy.path : hierarchy.version == 1 || hierarchy.version == 2);
	assert(error || strlen(hierarchy.path) <= size);
	sp_error_free(error);
	cgroup_hierarchy_deinit(&hierarchy);
	return 0;
}
