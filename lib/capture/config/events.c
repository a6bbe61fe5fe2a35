/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/config_internal.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/address_filter.h"
#include "event/kind.h"
#include "proc/cgroup.h"

/* Applies --all-user and --all-kernel to events without modes of their own. */
static struct sp_error *restrict_modes(struct event_specs *specs,
				       const struct capture_options *options)
{
	if (!options->sampling.user_only && !options->sampling.kernel_only)
		return NULL;
	vec_each (spec, specs) {
		if (spec->modes_given)
			continue;
		spec->name = event_name_with_mode(&specs->arena, spec->name,
						  options->sampling.user_only ? 'u' : 'k');
		NEED(spec->name);
		spec->modes_given = true;
		spec->attr.exclude_kernel = spec->attr.exclude_hv = options->sampling.user_only;
		spec->attr.exclude_user = !options->sampling.user_only;
	}
	return NULL;
}

/* Makes the kernel's form: addresses for a PMU that traces code. *ret belongs to the specs. */
static struct sp_error *translate_filter(struct event_specs *specs, const struct sp_ctx *ctx,
					 const struct event_spec *spec, const char *filter,
					 const char **ret)
{
	*ret = filter;
	if (!filter || !spec->pmu || !strcmp(spec->pmu, "kprobe") || !strcmp(spec->pmu, "uprobe"))
		return NULL;
	CLEANUP_FREE char *path = format_text("/sys/bus/event_source/devices/%s/nr_addr_filters",
					      spec->pmu);
	CLEANUP_FREE char *made = NULL;
	int64_t count = 0;
	NEED(path);
	CLEANUP(cleanup_sp_error_free) struct sp_error *none = sysfs_read_i64(ctx, path, &count);
	if (none || count <= 0)
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "--filter: the PMU %s of %s filters no addresses",
						  spec->pmu, spec->name),
					"put --filter after the -e of a tracepoint or probe, or of a "
					"PMU that traces code (Intel PT, CoreSight)");
	TRY(address_filter_translate(ctx, filter, &made));
	*ret = arena_strdup(&specs->arena, made);
	return *ret ? NULL : error_no_memory();
}

static struct sp_error *parse_list(struct capture_events *events, const struct sp_ctx *ctx,
				   const struct sp_event_list *list)
{
	struct event_specs *specs = &events->specs;
	size_t before = specs->count;
	struct sp_error *error = !list->events ? event_specs_add_default(specs, ctx)
				 : list->pfm ? event_specs_parse_pfm(specs, ctx, list->events)
					     : event_specs_parse(specs, ctx, list->events);
	if (error)
		return error;
	NEED(vec_reserve(&events->filters, specs->count));
	for (size_t i = before; i < specs->count && !error; i++)
		error = translate_filter(specs, ctx, &specs->items[i], list->filter,
					 vec_push(&events->filters));
	return error;
}

struct sp_error *events_parse(struct capture_events *events, const struct sp_ctx *ctx,
			      const struct capture_options *options)
{
	const struct sp_capture_sampling *sampling = &options->sampling;
	const struct sp_event_list one = {.events = sampling->events};
	const struct sp_event_list *lists = sampling->event_list_count ? sampling->event_lists : &one;
	size_t count = sampling->event_list_count ? sampling->event_list_count : 1;
	struct sp_error *error = NULL;
	events->specs.pid = options->target.pids.count ? options->target.pids.items[0] : 0;
	for (size_t i = 0; i < count && !error; i++)
		error = parse_list(events, ctx, &lists[i]);
	return error ? error : restrict_modes(&events->specs, options);
}

static struct sp_error *add_no_filters(struct capture_events *events)
{
	NEED(vec_reserve(&events->filters, events->specs.count));
	while (events->filters.count < events->specs.count)
		*vec_push(&events->filters) = NULL;
	return NULL;
}

struct sp_error *events_add_waits(struct capture_events *events, const struct sp_ctx *ctx,
				  const struct capture_options *options, struct off_cpu *ret)
{
	TRY(off_cpu_add_events(&events->specs, ctx, options, ret));
	return add_no_filters(events);
}

struct sp_error *events_add_switches(struct capture_events *events, const struct sp_ctx *ctx,
				     const struct capture_options *options, bool of_tasks,
				     bool *added_ret)
{
	struct event_specs *specs = &events->specs;
	bool is_wanted = (options->fields.switches == SP_ON ||
			  (of_tasks && options->fields.switches == SP_DEFAULT)) &&
			 options->sampling.samples != SP_OFF && !options->buffers.overwrite &&
			 !options->target.cgroups;
	*added_ret = is_wanted || options->sampling.off_cpu;
	if (!is_wanted || options->sampling.off_cpu)
		return NULL;
	TRY(event_specs_parse(specs, ctx, "dummy:u"));
	struct event_spec *last = &specs->items[specs->count - 1];
	last->use = EVENT_USE_SWITCHES;
	/* -F and -c are for the other events. */
	last->terms.given |= EVENT_TERM_PERIOD;
	last->terms.period = 1;
	return add_no_filters(events);
}

void events_deinit(struct capture_events *events)
{
	event_specs_deinit(&events->specs);
	vec_deinit(&events->filters);
	vec_each (cgroup, &events->cgroups)
		if (*cgroup >= 0)
			close(*cgroup);
	vec_deinit(&events->cgroups);
}

/* Opens the group of that name for the next event; "": no group. */
static struct sp_error *open_group(struct capture_events *events, const struct sp_ctx *ctx,
				   const struct cgroup_hierarchy *hierarchy, const char *name)
{
	int *slot = vec_push(&events->cgroups);
	NEED(slot);
	*slot = -1;
	return *name ? cgroup_open(ctx, hierarchy, name, slot) : NULL;
}

static struct sp_error *too_many_groups(const char *names, size_t events)
{
	return error_set_remedy(error_new(SP_ERROR_INVALID, "control groups %s: there %s %zu event%s",
					  names, events == 1 ? "is" : "are", events,
					  events == 1 ? "" : "s"),
				"give one group for each event of -e, or one for all");
}

/* Opens the control groups of a list: one for each event, or one for all. */
static struct sp_error *open_groups(struct capture_events *events, const struct sp_ctx *ctx,
				    const struct cgroup_hierarchy *hierarchy, const char *names)
{
	size_t count = events->specs.count;
	bool one = !strchr(names, ',');
	CLEANUP_FREE char *copy = strdup(names);
	char *rest = copy;
	NEED(copy);
	for (const char *name; (name = strsep(&rest, ","));) {
		if (events->cgroups.count == count)
			return too_many_groups(names, count);
		TRY(open_group(events, ctx, hierarchy, name));
	}
	while (one && events->cgroups.count < count)
		TRY(open_group(events, ctx, hierarchy, names));
	return NULL;
}

struct sp_error *events_open_cgroups(struct capture_events *events, const struct sp_ctx *ctx,
				     const struct capture_options *options)
{
	struct cgroup_hierarchy hierarchy;
	if (!options->target.cgroups)
		return NULL;
	TRY(cgroup_hierarchy_find(ctx, &hierarchy));
	struct sp_error *error = open_groups(events, ctx, &hierarchy, options->target.cgroups);
	cgroup_hierarchy_deinit(&hierarchy);
	return error;
}

void events_apply_common_graph(struct event_specs *specs, struct capture_options *options)
{
	static const enum sp_call_graph kinds[] = {
		[EVENT_TERMS_CALL_GRAPH_NO] = SP_CALL_GRAPH_NONE,
		[EVENT_TERMS_CALL_GRAPH_FP] = SP_CALL_GRAPH_FP,
		[EVENT_TERMS_CALL_GRAPH_DWARF] = SP_CALL_GRAPH_DWARF,
	};
	const struct event_terms *first = &specs->items[0].terms;
	vec_each (spec, specs) {
		const struct event_terms *terms = &spec->terms;
		if (!(terms->given & EVENT_TERM_CALL_GRAPH) || terms->call_graph != first->call_graph ||
		    terms->stack_bytes != first->stack_bytes ||
		    terms->call_graph == EVENT_TERMS_CALL_GRAPH_LBR)
			return;
	}
	options->chains.call_graph = kinds[first->call_graph];
	if (first->given & EVENT_TERM_STACK_SIZE) {
		options->chains.stack_bytes = first->stack_bytes;
		options->chains.fixed_stack_bytes = true;
	}
	vec_each (item, specs)
		item->terms.given &= ~(uint32_t)(EVENT_TERM_CALL_GRAPH | EVENT_TERM_STACK_SIZE);
}
