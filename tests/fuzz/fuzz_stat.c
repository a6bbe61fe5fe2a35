/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/stat, which holds a name that anybody may choose; ELF notes; lists of CPUs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "proc/sysfs.h"
#include "proc/proc_tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct task_stat stat;
	struct sp_error *error = task_stat_parse(bytes, size, "fuzz", &stat);
	assert(error || strnlen(stat.comm, sizeof(stat.comm)) < sizeof(stat.comm));
	sp_error_free(error);
	uint8_t build_id[20];
	assert(notes_build_id(bytes, size, build_id) <= sizeof(build_id));
	struct cpu_list list = {0};
	char *text = calloc(1, size + 1);
	memcpy(text, bytes, size);
	error = cpu_list_parse(&list, text);
	assert(error ? !list.count : list.count);
	for (size_t i = 1; i < list.count; i++)
		assert(list.items[i - 1] < list.items[i]);
	sp_error_free(error);
	vec_deinit(&list);
	free(text);
	return 0;
}
