/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints why a recording has no samples; the kernel does not report that. The reason is derived
 * from known facts, in this order: lost records of the command, lost samples, disabled events,
 * unrecorded processes, programs that lose their events at exec, CPU time shorter than the period.
 */
#include "cmd/record/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include <sprof/private/losses.h>
#include "cmd/common/child.h"
#include "diag.h"

/* Limit on processes named in one line. */
#define NAMES_MAX 5

/* Below this number of samples, the user probably meant the unrecorded processes, so they are named. */
#define FEW_SAMPLES 10

struct reason_text {
	char bytes[512];
};

static void append(struct reason_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(struct reason_text *text, const char *format, ...)
{
	size_t used = strlen(text->bytes);
	va_list args;
	va_start(args, format);
	vsnprintf(text->bytes + used, sizeof(text->bytes) - used, format, args);
	va_end(args);
}

/*
 * Processes that were not recorded and have the same parent. The recorded command's processes have
 * parent 0.
 */
struct sibling_group {
	const struct sp_capture_process *items;
	size_t count, members;
	pid_t parent;
	bool active; /* at least one used CPU time */
};

/* Returns the group that contains the process with the most CPU time. */
static struct sibling_group find_group(struct sp_capture *capture)
{
	struct sibling_group group = {0};
	group.count = sp_capture_unrecorded(capture, &group.items);
	const struct sp_capture_process *most = group.items;
	for (size_t i = 0; i < group.count; i++)
		if (group.items[i].cpu_ns > most->cpu_ns)
			most = &group.items[i];
	group.parent = group.count ? most->parent : 0;
	for (size_t i = 0; i < group.count; i++) {
		bool member = group.items[i].parent == group.parent;
		group.members += member;
		group.active |= member && (group.items[i].cpu_ns || group.items[i].runs);
	}
	return group;
}

/* Appends the pids of `first` (unless it is 0) and of the group's processes: "17992,17993". */
static void append_pids(struct reason_text *text, const struct sibling_group *group, pid_t first)
{
	size_t named = 0;
	if (first)
		append(text, "%d", (int)first);
	for (size_t i = 0; i < group->count && named < NAMES_MAX; i++)
		if (group->items[i].parent == group->parent)
			append(text, "%s%d", first || named++ ? "," : "", (int)group->items[i].pid);
}

/* Appends the group's names: "burn (21234), nginx (5), 3 more". */
static void append_names(struct reason_text *text, const struct sibling_group *group)
{
	size_t named = 0;
	for (size_t i = 0; i < group->count && named < NAMES_MAX; i++)
		append(text, "%s%s (%d)", named++ ? ", " : "", group->items[i].comm,
		       (int)group->items[i].pid);
	if (group->members > named)
		append(text, ", %zu more", group->members - named);
}

static void describe_group(struct reason_text *text, const struct sibling_group *group)
{
	const char *plural = group->members == 1 ? "" : "es";
	if (!group->parent) {
		append(text, "the command left %zu process%s running: ", group->members, plural);
		append_names(text, group);
		append(text, "; record %s with: sprof record -p ", group->members == 1 ? "it" : "them");
		append_pids(text, group, 0);
		return;
	}
	append(text, "process %d has %zu child process%s that %s not recorded: use --descendants",
	       (int)group->parent, group->members, plural, group->members == 1 ? "is" : "are");
	if (group->members > NAMES_MAX)
		return;
	append(text, ", or -p ");
	append_pids(text, group, group->parent);
}

void record_print_unrecorded(const struct record_options *options,
			     struct sp_capture *capture)
{
	const struct sibling_group group = find_group(capture);
	struct reason_text text = {""};
	/* The user excluded children on purpose. */
	bool excluded = options->target.inherit == SP_OFF || options->target.inherit_threads;
	bool few = sp_capture_stats(capture)->samples < FEW_SAMPLES;
	if (!group.members || !(few || (group.active && !excluded)))
		return;
	describe_group(&text, &group);
	diag_print("%s", text.bytes);
}

/*
 * Returns the property of a program, such as setuid, that makes the kernel remove an ordinary
 * user's events at exec. NULL: it has none.
 */
static const char *privilege_of(const char *path)
{
	struct stat stat_;
	if (stat(path, &stat_))
		return NULL;
	if (stat_.st_mode & S_ISUID && stat_.st_uid != getuid())
		return "is setuid";
	if (stat_.st_mode & S_ISGID && stat_.st_gid != getgid())
		return "is setgid";
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return access(path, R_OK) ? "is not readable" : NULL;
}

static bool explain_privilege(struct reason_text *text, const struct record_options *options,
			      const struct sp_capture_stats *stats)
{
	char path[4096];
	if (stats->cpu_wide || !child_find_program(options->target.command[0], path, sizeof(path)))
		return false;
	const char *privilege = privilege_of(path);
	if (!privilege)
		return false;
	append(text, "%.300s %s; the kernel stops events of an ordinary user at exec; record as root",
	       path, privilege);
	return true;
}

/* Returns the sampling period as ns of CPU time; 0: the event's period is not a time. */
static uint64_t period_ns(const struct perf_event_attr *attr)
{
	bool clock = attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
							  attr->config == PERF_COUNT_SW_TASK_CLOCK);
	bool cycles = attr->type == PERF_TYPE_HARDWARE &&
		      (uint32_t)attr->config == PERF_COUNT_HW_CPU_CYCLES;
	if (attr->freq && (clock || cycles))
		return attr->sample_freq ? 1000000000 / attr->sample_freq : 0;
	return clock ? attr->sample_period : 0;
}

/* Default rate, and the CPU time that it shows well. */
#define USUAL_HZ 997
#define USUAL_NS 100000000

static void append_rate(struct reason_text *text, uint64_t used_ns, uint64_t period)
{
	uint64_t hz = used_ns >= USUAL_NS ? USUAL_HZ : SP_FAST_HZ, wanted = 1000000000 / hz;
	if (period > wanted && used_ns >= wanted)
		append(text, "use a higher rate: -F %d", (int)hz);
	else
		append(text, "run it for longer");
}

/*
 * Appends the reason for missing samples of an ended command: its CPU time compared with the period.
 */
static void explain_command(struct reason_text *text, const struct sp_capture_stats *stats,
			    const struct perf_event_attr *attr)
{
	uint64_t period = period_ns(attr);
	double used_ms = (double)stats->cpu_ns / 1e6;
	append(text, "the command used %.1f ms of CPU time", used_ms);
	if (stats->cpu_ns < period) {
		append(text, ", less than one sampling period (%g ms); ", (double)period / 1e6);
		append_rate(text, stats->cpu_ns, period);
	} else if (attr->exclude_kernel) {
		append(text, ", and the kernel is not sampled; ");
		append_rate(text, stats->cpu_ns, period);
	} else if (!stats->cpu_wide) {
		append(text, " in processes shorter than one sampling period (%g ms); ",
		       (double)period / 1e6);
		append_rate(text, stats->cpu_ns, period);
	} else {
		append(text, " in %.1f ms; ", (double)stats->duration_ns / 1e6);
		append_rate(text, stats->cpu_ns, period);
	}
}

/* Appends the reason for missing samples of a counting event: its period. Its count is unknown. */
static void explain_counter(struct reason_text *text, struct sp_capture *capture,
			    const struct perf_event_attr *attr)
{
	const char *name = sp_capture_event_name(capture, 0);
	if (attr->freq)
		append(text, "event %s did not occur often enough; record for longer", name);
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		append(text, "breakpoint %s did not trigger", name);
	else if (attr->sample_period == 1)
		append(text, "event %s did not occur", name);
	else
		append(text, "fewer than %llu %s events occurred; use a smaller period: -c 1",
		       (unsigned long long)attr->sample_period, name);
}

/*
 * Appends the CPU time that the processes used, and the remedy --off-cpu. If the kernel counted no
 * clock tick, it appends an upper limit: a tick, or for per-task events one period in each thread,
 * because an event overflows after that.
 */
static void explain_processes(struct reason_text *text, const struct record_options *options,
			      const struct sp_capture_stats *stats, uint64_t period)
{
	bool one = options->target.pids.count == 1;
	if (one)
		append(text, "process %d used ", (int)options->target.pids.items[0]);
	else
		append(text, "the %zu processes used ", options->target.pids.count);
	if (stats->cpu_ns)
		append(text, "%.0f ms of CPU time", (double)stats->cpu_ns / 1e6);
	else if (stats->cpu_wide)
		append(text, "less than one clock tick (10 ms) of CPU time");
	else
		append(text, "less than one sampling period (%g ms) of CPU time in each thread",
		       (double)period / 1e6);
	append(text, " in %.3f s; record %s waits: --off-cpu",
	       (double)stats->duration_ns / 1e9, one ? "its" : "their");
}

/* Periods of CPU time after which a command without samples is no coincidence. */
#define PERIODS_ENOUGH 20

static bool all_disabled(struct sp_capture *capture)
{
	for (size_t i = 0; i < sp_capture_event_count(capture); i++)
		if (sp_capture_event_enabled(capture, i))
			return false;
	return true;
}

static bool is_by_command(const struct record_options *options)
{
	return options->target.command && !record_command_is_limit(options);
}

bool record_is_command_lost(const struct record_options *options,
			    struct sp_capture *capture)
{
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	const struct perf_event_attr *attr = sp_capture_event_attr(capture, 0);
	const struct sp_capture_schedule *schedule = &options->schedule;
	bool is_partial = attr->exclude_kernel || attr->exclude_user || schedule->delay_ms ||
			  schedule->span_count || schedule->start_disabled ||
			  options->sampling.samples == SP_OFF || options->buffers.overwrite;
	return is_by_command(options) && !is_partial && !all_disabled(capture) && !stats->samples &&
	       stats->cpu_wide && stats->lost_sideband && period_ns(attr) &&
	       stats->cpu_ns > PERIODS_ENOUGH * period_ns(attr);
}

const char *record_loss_remedy(const struct record_options *options,
			       struct sp_capture *capture, char text[80])
{
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	bool copies = false;
	char rings[32];
	for (size_t i = 0; i < sp_capture_event_count(capture); i++)
		copies |= sp_capture_event_attr(capture, i)->sample_type & PERF_SAMPLE_STACK_USER;
	const struct perf_event_attr *attr = sp_capture_event_attr(capture, 0);
	if (sp_larger_rings_option(stats->ring_bytes, copies, rings, sizeof(rings)))
		snprintf(text, 80, "use larger ring buffers: %s", rings);
	else if (options->sampling.off_cpu || !attr->freq)
		snprintf(text, 80, options->sampling.off_cpu ? "record fewer processes: -p PID"
							     : "use a larger -c");
	else
		snprintf(text, 80, "use a lower rate: -F %llu",
			 (unsigned long long)sp_lower_rate_hz(attr->sample_freq));
	return text;
}

static void explain(struct reason_text *text, const struct record_options *options,
		    struct sp_capture *capture)
{
	const struct sp_capture_target *target = &options->target;
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	const struct perf_event_attr *attr = sp_capture_event_attr(capture, 0);
	const struct sibling_group group = find_group(capture);
	bool by_command = is_by_command(options);
	unsigned long long lost = stats->lost_own + stats->shed;
	char remedy[80];
	if (record_is_command_lost(options, capture))
		append(text, "the command used %.1f ms of CPU time, but %llu metadata "
			     "records (mmap, comm, fork) were lost; use --scope task",
		       (double)stats->cpu_ns / 1e6, (unsigned long long)stats->lost_sideband);
	else if (lost)
		append(text, "%llu were lost; %s", lost,
		       record_loss_remedy(options, capture, remedy));
	else if (all_disabled(capture))
		append(text, "all events were disabled when the recording ended, after %.3f s "
			     "(-D, --control)",
		       (double)stats->duration_ns / 1e9);
	else if (group.members)
		describe_group(text, &group);
	else if (by_command && explain_privilege(text, options, stats))
		return;
	else if (!period_ns(attr))
		explain_counter(text, capture, attr);
	else if (by_command && stats->cpu_ns)
		explain_command(text, stats, attr);
	else if (target->pids.count)
		explain_processes(text, options, stats, period_ns(attr));
	else if (target->cgroups || target->unit)
		append(text, "nothing ran in %s in %.3f s",
		       target->cgroups ? target->cgroups : target->unit,
		       (double)stats->duration_ns / 1e9);
	else
		append(text, "no event overflowed in %.3f s; record for longer",
		       (double)stats->duration_ns / 1e9);
}

void record_print_empty(const struct record_arguments *arguments, struct sp_capture *capture,
			const char *path)
{
	struct reason_text text = {""};
	explain(&text, &arguments->options, capture);
	diag_print("no samples in %s: %s", path, text.bytes);
}
