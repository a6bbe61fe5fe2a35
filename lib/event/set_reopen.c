/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a CPU goes offline, the kernel stops its events forever. When it is online again, they are
 * opened again, with the same rings. Their ids are new, so the writer of records replaces them by the
 * ids in the file's header.
 */
#include "event/set_internal.h"

#include <errno.h>
#include <sys/ioctl.h>
#include "base/error.h"

/* Returns the descriptor of the group's leader, which was reopened before; -1: none. */
static int leader_of(const struct event_set *set, const struct opened *opened)
{
	if (opened->event >= set->plan->sample_count)
		return -1;
	size_t leader = set->plan->samples[opened->event].leader;
	return leader == opened->event ? -1 : event_set_fd(set, leader, opened->cpu_index);
}

/* Reopens an event, disabled unless it is a group member. Returns 0, or the errno. */
static int reopen(struct event_set *set, struct opened *opened)
{
	const enum event_role role = opened->event < set->plan->sample_count ? EVENT_ROLE_SAMPLES
									       : EVENT_ROLE_SIDEBAND;
	const struct event_place place = {.tid = -1, .cpu_index = opened->cpu_index};
	struct event_planned event = *event_set_planned(set, opened->event);
	struct opened_list one = {0};
	int leader_fd = leader_of(set, opened);
	if (leader_fd < 0)
		event.attr.disabled = 1;
	const struct event_opening opening = {role, &event, opened->event, leader_fd};
	int errnum = event_set_open_event(set, &one, &place, &opening);
	if (errnum) {
		event_set_close_all(set, &one);
		return errnum;
	}
	struct event_total before = opened->before;
	sp_error_free(event_set_read_opened(set, opened, &before));
	set->kernel->close(set->kernel->arg, opened->fd);
	opened->fd = one.items[0].fd;
	opened->id = one.items[0].id;
	opened->before = before;
	vec_deinit(&one);
	return 0;
}

/* Enables the CPU's reopened events if the other CPUs' events are enabled. */
static int switch_on(const struct event_set *set, size_t cpu_index)
{
	for (size_t i = 0; i < set->opened.count; i++) {
		const struct opened *opened = &set->opened.items[i];
		const struct event_planned *planned = event_set_planned(set, opened->event);
		enum switched switched = set->switched[opened->event];
		bool on = switched == SWITCHED_NOT ? !planned->attr.disabled
						   : switched == SWITCHED_ON;
		if (opened->cpu_index == cpu_index &&
		    ioctl(opened->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0)
			return errno;
	}
	return 0;
}

struct sp_error *event_set_reopen(struct event_set *set, size_t cpu_index,
				  struct event_renamed_list *ret, bool *offline_ret)
{
	int errnum = 0;
	*offline_ret = false;
	NEED(vec_reserve(ret, ret->count + set->plan->sample_count + 1));
	for (size_t i = 0; i < set->opened.count && !errnum; i++) {
		struct opened *opened = &set->opened.items[i];
		if (opened->cpu_index != cpu_index)
			continue;
		errnum = reopen(set, opened);
		if (!errnum)
			*vec_push(ret) = (struct event_renamed){opened->id, opened->listed,
								opened->before.value,
								opened->event};
	}
	if (!errnum)
		errnum = switch_on(set, cpu_index);
	*offline_ret = errnum == ENODEV;
	return !errnum || *offline_ret
		       ? NULL
		       : error_os(errnum, "cannot reopen the events of CPU %u", set->cpus[cpu_index]);
}
