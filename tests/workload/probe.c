/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe [cpu]: succeeds if this process may sample itself (or, with "cpu", a whole CPU, kernel
 * included); else prints why not. Tests call it instead of the recorder, because a failure of the
 * recorder must not count as missing permission.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int whole_cpu = argc > 1 && !strcmp(argv[1], "cpu");
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = !whole_cpu,
		.exclude_hv = !whole_cpu,
	};
	long fd = syscall(SYS_perf_event_open, &attr, whole_cpu ? -1 : 0, whole_cpu ? 0 : -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		printf("perf_event_open is refused: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
