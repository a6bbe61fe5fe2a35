/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters to open: one for each requested event and control group. */
#include "count/stat.h"

#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/cgroup.h"
#include "event/kind.h"
#include "record/types.h"

#define CPU_EVENTS "/sys/bus/event_source/devices/cpu/events/"

/* Further events for -d, -dd and -ddd. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	 "iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};
#define DETAIL_COUNT (count_of(details))

static bool cpu_has(const struct sp_ctx *ctx, const char *event)
{
	CLEANUP_FREE char *path = format_text(CPU_EVENTS "%s", event);
	CLEANUP_FREE char *text = NULL;
	return path && !sysfs_read(ctx, path, &text, NULL);
}

static struct sp_error *parse_defaults(struct sp_stat *stat)
{
	CLEANUP_FREE char *text = format_text(
		"%s,context-switches,cpu-migrations,page-faults,cycles,%s%sinstructions,branches,"
		"branch-misses",
		stat->cpu_wide ? "cpu-clock" : "task-clock",
		cpu_has(stat->ctx, "stalled-cycles-frontend") ? "stalled-cycles-frontend," : "",
		cpu_has(stat->ctx, "stalled-cycles-backend") ? "stalled-cycles-backend," : "");
	NEED(text);
	return event_specs_parse(&stat->specs, stat->ctx, text);
}

/* Sets the filter of specs from `first` on. */
static struct sp_error *set_filters(struct sp_stat *stat, size_t first, const char *filter)
{
	const char **filters = realloc(stat->filters, (stat->specs.count + 1) * sizeof(*filters));
	NEED(filters);
	stat->filters = filters;
	const char *copy = arena_strdup(&stat->arena, filter);
	for (size_t i = first; i < stat->specs.count; i++)
		filters[i] = copy;
	return filter && !copy ? error_no_memory() : NULL;
}

static struct sp_error *parse_lists(struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	struct sp_error *error = NULL;
	for (size_t i = 0; i < options->events.list_count && !error; i++) {
		size_t first = stat->specs.count;
		const struct sp_event_list *list = &options->events.lists[i];
		error = (list->pfm ? event_specs_parse_pfm : event_specs_parse)(&stat->specs, stat->ctx,
										list->events);
		if (!error)
			error = set_filters(stat, first, options->events.lists[i].filter);
	}
	return error;
}

static struct sp_error *parse_all(struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	struct sp_error *error = NULL;
	if (options->events.list_count)
		error = parse_lists(stat);
	else if (options->events.text)
		error = event_specs_parse(&stat->specs, stat->ctx, options->events.text);
	else
		error = parse_defaults(stat);
	size_t listed = options->events.list_count ? stat->specs.count : 0;
	for (unsigned int i = 0; i < options->events.detail && i < DETAIL_COUNT && !error; i++)
		error = event_specs_parse(&stat->specs, stat->ctx, details[i]);
	/* Default events have no filter. */
	return error ? error : set_filters(stat, listed, NULL);
}

/* Returns "cycles:u" for "cycles". */
static const char *name_with(struct sp_stat *stat, const char *name, char mode)
{
	CLEANUP_FREE char *text = format_text("%s:%c", name, mode);
	return arena_strdup(&stat->arena, text);
}

struct sp_error *stat_name_user_only(struct sp_stat *stat, size_t index)
{
	struct sp_stat_event *event = &stat->events[index];
	event->name = name_with(stat, event->name, 'u');
	event->modes |= SP_STAT_NO_KERNEL | SP_STAT_NO_HV;
	return event->name ? NULL : error_no_memory();
}

/* Returns the bits SP_STAT_NO_* of an attr. */
static uint32_t stat_modes_of(const struct perf_event_attr *attr)
{
	return (attr->exclude_user ? SP_STAT_NO_USER : 0) |
	       (attr->exclude_kernel ? SP_STAT_NO_KERNEL : 0) |
	       (attr->exclude_hv ? SP_STAT_NO_HV : 0) | (attr->exclude_idle ? SP_STAT_NO_IDLE : 0) |
	       (attr->exclude_host ? SP_STAT_NO_HOST : 0) |
	       (attr->exclude_guest ? SP_STAT_NO_GUEST : 0);
}

static bool is_clock(const struct event_spec *spec)
{
	return !spec->tool && record_is_clock(spec->attr.type, spec->attr.config);
}

static struct sp_stat_event event_of(struct sp_stat *stat, const struct counter *counter,
				     const char *cgroup)
{
	const struct event_spec *spec = counter->spec;
	struct sp_stat_event event = {
		.name = spec->name,
		.unit = spec->unit ? spec->unit : "",
		.scale = spec->scale > 0 ? spec->scale : 1,
		.cgroup = cgroup,
		.leader = counter->leader,
		.type = counter->attr.type,
		.config = counter->attr.config,
		.modes = stat_modes_of(&counter->attr),
		.supported = true,
	};
	if (is_clock(spec)) {
		event.unit = "msec";
		event.scale = 1e-6;
	} else if (spec->tool) {
		event.unit = "ns";
	}
	if (!spec->modes_given && (stat->options.events.user_only || stat->options.events.kernel_only))
		event.name = name_with(stat, event.name, stat->options.events.user_only ? 'u' : 'k');
	return event;
}

static void set_attr(const struct sp_stat *stat, struct counter *counter, bool is_leader,
		     bool has_members)
{
	const struct event_spec *spec = counter->spec;
	struct perf_event_attr *attr = &counter->attr;
	*attr = spec->attr;
	if (!spec->modes_given && stat->options.events.user_only)
		attr->exclude_kernel = attr->exclude_hv = 1;
	if (!spec->modes_given && stat->options.events.kernel_only)
		attr->exclude_user = 1;
	/* Count guests only on request, like perf. */
	if (!spec->guest_given && attr->type != PERF_TYPE_SOFTWARE &&
	    attr->type != PERF_TYPE_TRACEPOINT && attr->type != PERF_TYPE_BREAKPOINT && !spec->pmu)
		attr->exclude_guest = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    (has_members ? PERF_FORMAT_GROUP : 0);
	/* Members run if their leader runs. */
	attr->disabled = is_leader;
	attr->enable_on_exec = is_leader && stat->has_command && !stat->only_says_how_long &&
			       !stat->cpu_wide && !stat->options.disabled;
	attr->inherit = !stat->cpu_wide && stat->options.target.inherit != SP_OFF;
	if (spec->terms.given & EVENT_TERM_INHERIT)
		attr->inherit = spec->terms.inherit && !stat->cpu_wide;
	/* Otherwise fork(2) of the counted tasks fails. */
	if (event_is_not_inherited(spec))
		attr->inherit = 0;
}

/* Refuse a spec that cannot be counted, or not as requested. */
static struct sp_error *check_spec(struct sp_stat *stat, const struct event_spec *spec)
{
	if (spec->by_bpf)
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: modifier b (counters shared by BPF) is not "
				  "supported", spec->name),
			"leave out b");
	TRY(event_notes_breakpoint(&stat->notes, stat->kernel, spec->name, &spec->attr));
	if (spec->terms.given & EVENT_TERM_PERCORE && spec->terms.percore &&
	    stat->options.aggregate == SP_STAT_CPU)
		return event_notes_add(&stat->notes, spec->name, "each CPU has its row",
				       "percore would sum over the threads of a core", "--per-core");
	return NULL;
}

/* Adds counters for all specs, or for the one at index `only`. */
static struct sp_error *add_counters(struct sp_stat *stat, const char *cgroup, int cgroup_fd,
				     size_t only)
{
	size_t base = stat->counter_count;
	for (size_t i = 0; i < stat->specs.count; i++) {
		const struct event_spec *spec = &stat->specs.items[i];
		if (only != SIZE_MAX && only != i)
			continue;
		struct counter *counter = &stat->counters[stat->counter_count];
		size_t leader = only == SIZE_MAX ? base + spec->leader : spec->leader;
		bool has_members = i + 1 < stat->specs.count && spec->leader == i &&
				   stat->specs.items[i + 1].leader == i;
		*counter = (struct counter){
			.spec = spec, .filter = stat->filters[i], .leader = leader,
			.group_read = has_members, .cgroup_fd = cgroup_fd};
		set_attr(stat, counter, leader == stat->counter_count, has_members);
		stat->events[stat->counter_count] = event_of(stat, counter, cgroup);
		NEED(stat->events[stat->counter_count++].name);
		if (stat->cpu_wide || stat->options.target.inherit == SP_OFF || !event_is_not_inherited(spec))
			continue;
		TRY(event_notes_add(&stat->notes, spec->name,
				    "its threads and children are not counted",
				    "the kernel cannot inherit probes", "-a counts all processes"));
	}
	return NULL;
}

static struct sp_error *open_cgroup(struct sp_stat *stat, const struct cgroup_hierarchy *hierarchy,
				    const char *name, const char **name_ret, int *fd_ret)
{
	int fd = -1;
	*name_ret = NULL;
	*fd_ret = -1;
	if (!*name)
		return NULL;
	TRY(cgroup_open(stat->ctx, hierarchy, name, &fd));
	int *slot = vec_push(&stat->cgroups);
	if (!slot) {
		close(fd);
		return error_no_memory();
	}
	*slot = *fd_ret = fd;
	*name_ret = arena_strdup(&stat->arena, name);
	return *name_ret ? NULL : error_no_memory();
}

static struct sp_error *add_of_cgroups(struct sp_stat *stat)
{
	const struct sp_string_list *names = &stat->options.target.cgroups;
	CLEANUP(cgroup_hierarchy_deinit) struct cgroup_hierarchy hierarchy = {0};
	const char *name = NULL;
	int fd = -1;
	struct sp_error *error = cgroup_hierarchy_find(stat->ctx, &hierarchy);
	if (!stat->options.target.each_cgroup && names->count > stat->specs.count && !error)
		error = error_set_remedy(
			error_new(SP_ERROR_INVALID, "-G: %zu control groups for %zu events",
				  names->count, stat->specs.count),
			"-G assigns groups to events in order; --for-each-cgroup counts all events "
			"in each group");
	for (size_t i = 0; stat->options.target.each_cgroup && i < names->count && !error; i++) {
		error = open_cgroup(stat, &hierarchy, names->items[i], &name, &fd);
		if (!error)
			error = add_counters(stat, name, fd, SIZE_MAX);
	}
	for (size_t i = 0; !stat->options.target.each_cgroup && i < stat->specs.count && !error; i++) {
		if (i < names->count)
			error = open_cgroup(stat, &hierarchy, names->items[i], &name, &fd);
		if (!error)
			error = add_counters(stat, name, fd, i);
	}
	return error;
}

struct sp_error *stat_make_counters(struct sp_stat *stat)
{
	if (stat->options.events.time_only)
		return NULL;
	struct sp_error *error = parse_all(stat);
	for (size_t i = 0; i < stat->specs.count && !error; i++)
		error = check_spec(stat, &stat->specs.items[i]);
	if (error)
		return error;
	size_t rounds = stat->options.target.each_cgroup ? stat->options.target.cgroups.count : 1;
	size_t most;
	if (__builtin_mul_overflow(stat->specs.count, rounds, &most))
		return error_no_memory();
	stat->counters = calloc(most + 1, sizeof(*stat->counters));
	stat->events = calloc(most + 1, sizeof(*stat->events));
	/* A group's read: how many, two times, then the values. */
	stat->buffer = calloc(most + 3, sizeof(*stat->buffer));
	NEED(stat->counters && stat->events && stat->buffer);
	return stat->options.target.cgroups.count ? add_of_cgroups(stat)
					   : add_counters(stat, NULL, -1, SIZE_MAX);
}
