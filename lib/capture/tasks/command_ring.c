/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/command_ring.h"

void command_ring_open(struct command_ring *own, const struct command_ring_options *options)
{
	const struct perf_event_attr *planned = &options->plan->sideband.attr;
	const struct event_target target = {
		.pid = options->tid, .cpu = -1, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC};
	struct perf_event_attr attr = options->plan->holders[EVENT_ROLE_SIDEBAND];
	/* Records of other kinds are not of a task: events of whole CPUs have them. */
	attr.disabled = 0;
	attr.mmap = planned->mmap;
	attr.mmap2 = planned->mmap2;
	attr.mmap_data = planned->mmap_data;
	attr.build_id = planned->build_id;
	attr.comm = planned->comm;
	attr.comm_exec = planned->comm_exec;
	attr.task = planned->task;
	attr.namespaces = planned->namespaces;
	int fd = event_open_attr(options->kernel, &attr, &(struct sp_attr_tail){0}, &target);
	if (fd < 0)
		return;
	struct sp_error *error = ring_map(&own->ring, fd, options->ring_bytes);
	if (error) {
		sp_error_free(error);
		options->kernel->close(options->kernel->arg, fd);
		own->ring = (struct ring){0};
		return;
	}
	own->fd = fd;
	own->tid = options->tid;
	own->listed_id = options->listed_id;
}

void command_ring_close(struct command_ring *own, const struct event_kernel *kernel)
{
	if (own->ring.page)
		kernel->close(kernel->arg, own->fd);
	ring_deinit(&own->ring);
	own->ring = (struct ring){0};
}
