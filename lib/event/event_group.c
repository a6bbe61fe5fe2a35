/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/event_group.h"

#include <errno.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/kind.h"

#define MEMBERS_MOST 64

/* Opens and closes a group. Returns 0, or the errno and the index of the refused event. */
static int try_group(const struct event_grouping *grouping, size_t first, size_t count,
		     size_t *refused_ret)
{
	int fds[MEMBERS_MOST];
	size_t opened = 0;
	int errnum = count > MEMBERS_MOST ? E2BIG : 0;
	while (opened < count && !errnum) {
		*refused_ret = first + opened;
		struct perf_event_attr attr = grouping->plan->samples[first + opened].attr;
		attr.disabled = 1;
		attr.enable_on_exec = 0;
		const struct event_target target = {grouping->pid, grouping->cpu,
						    opened ? fds[0] : -1, 0};
		int fd = event_open_planned(
			grouping->kernel, &grouping->plan->samples[first + opened], &attr, &target);
		if (fd < 0)
			errnum = -fd;
		else
			fds[opened++] = fd;
	}
	while (opened)
		grouping->kernel->close(grouping->kernel->arg, fds[--opened]);
	return errnum;
}

/* Returns a group's text, "{cycles,instructions}". */
static char *group_text(const struct event_plan *plan, size_t first, size_t count)
{
	char *text = strdup("{");
	for (size_t i = first; i < first + count && text; i++) {
		char *longer = format_text("%s%s%s", text, i > first ? "," : "",
					   plan->samples[i].name);
		free(text);
		text = longer;
	}
	char *closed = text ? format_text("%s}", text) : NULL;
	free(text);
	return closed;
}

static struct sp_error *group_error(const struct event_grouping *grouping, const char *text,
				    size_t refused, int errnum)
{
	struct sp_error *error;
	if (errnum == E2BIG)
		error = error_new(SP_ERROR_LIMIT, "%s: more than %d events in a group", text,
				  MEMBERS_MOST);
	else
		error = error_new(SP_ERROR_UNSUPPORTED, "%s: the kernel cannot count %s with "
				  "its leader: %s", text, grouping->plan->samples[refused].name,
				  strerrordesc_np(errnum));
	return error_set_remedy(error, "a group needs events of one PMU (and software events), not more "
				"than it has counters; %s:W splits a group that does not fit", text);
}

static struct sp_error *plan_group(const struct event_grouping *grouping, size_t first, size_t count)
{
	struct event_plan *plan = grouping->plan;
	size_t refused = first;
	int errnum = try_group(grouping, first, count, &refused);
	plan->samples[first].member_count = count;
	if (!errnum)
		return NULL;
	CLEANUP_FREE char *text = group_text(plan, first, count);
	NEED(text);
	const struct event_spec *spec = &grouping->specs->items[first];
	if (!spec->weak || spec->group_read)
		return group_error(grouping, text, refused, errnum);
	for (size_t i = first; i < first + count; i++) {
		struct event_planned *event = &plan->samples[i];
		event->leader = i;
		event->attr.disabled = plan->samples[first].attr.disabled;
		event->attr.enable_on_exec = plan->samples[first].attr.enable_on_exec;
	}
	plan->samples[first].member_count = 0;
	plan->samples[first].group_name = NULL;
	return event_notes_add(&plan->notes, text, "recording each event separately",
			       "the kernel cannot count them together", NULL);
}

struct sp_error *event_groups_plan(const struct event_grouping *grouping)
{
	const struct event_plan *plan = grouping->plan;
	struct sp_error *error = NULL;
	size_t count;
	for (size_t first = 0; first < plan->sample_count && !error; first += count) {
		count = 1;
		while (first + count < plan->sample_count &&
		       plan->samples[first + count].leader == first)
			count++;
		if (count > 1)
			error = plan_group(grouping, first, count);
	}
	return error;
}

bool event_plan_has_groups(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (plan->samples[i].member_count > 1)
			return true;
	return false;
}

static struct sp_error *unsupported(const struct event_spec *spec, const char *what,
				    const char *remedy)
{
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "%s: %s", spec->name, what), "%s",
				remedy);
}

struct sp_error *event_kind_check(const struct event_request *request, const struct event_spec *spec)
{
	if (spec->tool)
		return unsupported(spec, "can be counted, not sampled", "use sprof stat");
	if (spec->by_bpf)
		return unsupported(spec, "BPF counters cannot sample",
				   "omit modifier b");
	if (event_is_of_kernel(spec) && spec->attr.exclude_kernel)
		return unsupported(spec, "occurs in kernel mode, and never in user mode",
				   "omit modifier u and --all-user");
	if (spec->cpus_only && request->scope != EVENT_SCOPE_CPUS)
		return unsupported(spec, "counts whole CPUs only", "use -a");
	return NULL;
}

int event_open_planned(const struct event_kernel *kernel, const struct event_planned *event,
		       const struct perf_event_attr *attr, const struct event_target *target)
{
	return event_open_attr(kernel, attr, &event->tail, target);
}

bool event_planned_on(const struct event_planned *event, uint32_t cpu)
{
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == cpu)
			return true;
	return !event->cpus;
}
