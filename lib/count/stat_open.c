/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening the counters. What the kernel answers decides what becomes of one, as with perf stat:
 *
 *	ENOENT ENOSYS EOPNOTSUPP ENXIO EINVAL   it does not have this event: a row says so; but
 *	                                        first less precisely, and with guests
 *	EACCES EPERM                            without the kernel
 *	ESRCH                                   the task has ended meanwhile
 *	ENODEV                                  the CPU has gone offline meanwhile
 *
 * A group that is refused is taken apart where it is weak (W). Facts about rights are read only
 * when something is refused: most of the time nothing is, and to begin at once is the aim.
 */
#include "count/stat.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/attr_refusal.h"
#include "event/kind.h"

/* A quarter of the usual soft limit of descriptors. */
#define FEW_FILES 256

enum outcome {
	OUTCOME_RETRY,       /* the counter was reduced: try again */
	OUTCOME_NO_UNIT,     /* absent on this target only */
	OUTCOME_UNSUPPORTED, /* absent on all targets */
	OUTCOME_APART,       /* its group was split: begin again */
	OUTCOME_ERROR,
};

static bool is_hardware(const struct counter *counter)
{
	uint32_t type = counter->attr.type;
	return !counter->spec->tool && type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT &&
	       type != PERF_TYPE_BREAKPOINT;
}

static void close_units(const struct sp_stat *stat, struct counter *counter)
{
	for (size_t i = 0; i < counter->unit_count; i++)
		if (counter->units[i].fd >= 0)
			stat->kernel->close(stat->kernel->arg, counter->units[i].fd);
	free(counter->units);
	counter->units = NULL;
	counter->unit_count = 0;
}

static bool cpu_among(const struct event_spec *spec, int32_t cpu)
{
	for (size_t i = 0; i < spec->cpu_count; i++)
		if (spec->cpus[i] == (uint32_t)cpu)
			return true;
	return !spec->cpus || cpu < 0;
}

static bool add_unit(struct counter *counter, const struct target *target)
{
	struct count_unit *units =
		realloc(counter->units, (counter->unit_count + 1) * sizeof(*units));
	if (!units)
		return false;
	counter->units = units;
	units[counter->unit_count++] = (struct count_unit){
		.fd = -1, .cpu = target->cpu, .place = target->place, .present = counter->spec->tool};
	return true;
}

/*
 * Finds the targets of a counter: all, those on its CPUs, or, if it cannot follow tasks, its CPUs.
 */
static struct sp_error *targets_of(const struct sp_stat *stat, const struct counter *counter,
				   struct target **ret, size_t *count_ret)
{
	const struct event_spec *spec = counter->spec;
	size_t count = 0, most = stat->targets.count + spec->cpu_count + 1;
	struct target *targets = calloc(most, sizeof(*targets));
	NEED(targets);
	if (spec->cpus_only && !stat->cpu_wide) {
		for (size_t i = 0; i < spec->cpu_count; i++)
			targets[count++] = (struct target){-1, (int32_t)spec->cpus[i], 0};
		if (!spec->cpu_count)
			targets[count++] = (struct target){-1, 0, 0};
	} else {
		vec_each (item, &stat->targets)
			if (cpu_among(spec, item->cpu))
				targets[count++] = *item;
	}
	*ret = targets;
	*count_ret = count;
	return NULL;
}

/* Makes the attr for a target. */
static struct perf_event_attr attr_for(const struct counter *counter, const struct target *target)
{
	struct perf_event_attr attr = counter->attr;
	/* An event that follows no task cannot be enabled by an exec. */
	if (target->tid < 0)
		attr.inherit = attr.enable_on_exec = 0;
	return attr;
}

/*
 * Returns the error if the kernel refuses a field of the attr, or its value; NULL: it refuses the
 * event.
 */
static struct sp_error *explain_field(const struct sp_stat *stat, size_t index,
				      const struct target *target, int errnum)
{
	const struct counter *counter = &stat->counters[index];
	const struct perf_event_attr attr = attr_for(counter, target);
	bool of_cgroup = counter->cgroup_fd >= 0;
	const struct event_refusal refusal = {
		.kernel = stat->kernel, .rights = &stat->rights, .event = stat->events[index].name,
		.whole = attr_whole(&attr, &counter->spec->tail),
		.pid = of_cgroup ? counter->cgroup_fd : target->tid, .cpu = target->cpu,
		.flags = of_cgroup ? PERF_FLAG_PID_CGROUP : 0, .errnum = errnum,
	};
	const struct event_field *field = event_field_find_refused(&refusal);
	return field ? event_field_error(&refusal, field) : event_value_error(&refusal);
}

static struct sp_error *explain(struct sp_stat *stat, size_t index, const struct target *target,
				int errnum)
{
	TRY(stat->rights.page_size ? NULL : rights_read(stat->ctx, &stat->rights));
	if (errnum != EACCES && errnum != EPERM)
		TRY(explain_field(stat, index, target, errnum));
	const struct counter *counter = &stat->counters[index];
	enum rights_action action = RIGHTS_ANY_EVENT;
	if (event_is_probe(counter->spec))
		action = RIGHTS_PROBE;
	else if (target->tid < 0)
		action = counter->cgroup_fd >= 0 ? rights_of_group(&counter->attr)
						 : RIGHTS_CPU_WIDE;
	else if (target->tid > 0 && !stat->has_command)
		action = RIGHTS_TASK;
	else if (!counter->attr.exclude_kernel)
		action = RIGHTS_KERNEL;
	return rights_explain(&stat->rights, action, stat->events[index].name, errnum);
}

/* Returns whether the simplest event is refused, too: then all events are forbidden. */
static bool all_is_refused(const struct sp_stat *stat)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1};
	attr.size = event_attr_size(&attr);
	int fd = stat->kernel->open(stat->kernel->arg, &attr, 0, -1, -1, 0);
	if (fd >= 0)
		stat->kernel->close(stat->kernel->arg, fd);
	return fd < 0;
}

static struct sp_error *note_user_only(struct sp_stat *stat, size_t index)
{
	struct sp_error *error = stat->rights.page_size ? NULL : rights_read(stat->ctx, &stat->rights);
	if (error || stat->notes.count)
		return error;
	CLEANUP_FREE char *why = format_text("kernel.perf_event_paranoid is %d", stat->rights.paranoid);
	NEED(why);
	return event_notes_add(&stat->notes, stat->events[index].name, "counting user space only (:u)",
			       why, "sudo sysctl kernel.perf_event_paranoid=1");
}

/* Makes each member of the group a counter of its own, before any is open. */
static void take_apart(struct sp_stat *stat, size_t leader)
{
	for (size_t i = leader; i < stat->counter_count; i++) {
		struct counter *counter = &stat->counters[i];
		if (counter->leader != leader)
			break;
		close_units(stat, counter);
		counter->attr.enable_on_exec = stat->counters[leader].attr.enable_on_exec;
		counter->attr.disabled = 1;
		counter->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		counter->group_read = false;
		counter->leader = stat->events[i].leader = i;
	}
}

/* Marks a counter as absent, with the reason for its row. */
static struct sp_error *set_why(struct sp_stat *stat, size_t index, const struct target *target,
				int errnum)
{
	struct sp_stat_event *event = &stat->events[index];
	bool joins = stat->counters[index].leader != index;
	event->supported = false;
	uint32_t type = stat->counters[index].attr.type;
	bool of_pmu = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
	event->why = errnum == ENOSPC ? "all of this CPU's breakpoint registers are taken"
		     : errnum != EINVAL && errnum != EOPNOTSUPP
			     ? of_pmu ? "this machine or kernel does not have it; use -e task-clock"
				      : "this machine or kernel does not have it"
		     : joins ? "the kernel does not count it together with its group's first event"
			     : "the kernel refuses it with these options";
	if (errnum != EINVAL && errnum != EOPNOTSUPP)
		return NULL;
	TRY(stat->rights.page_size ? NULL : rights_read(stat->ctx, &stat->rights));
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *why = explain_field(stat, index, target, errnum);
	if (!why)
		return NULL;
	const char *message = sp_error_message(why);
	size_t name = strlen(event->name);
	/* The row has the event's name already. */
	if (!strncmp(message, event->name, name) && !strncmp(message + name, ": ", 2))
		message += name + 2;
	event->why = arena_strdup(&stat->arena, message);
	return event->why ? NULL : error_no_memory();
}

/* Removes one default that the user did not choose. Returns false if there is none left. */
static bool step_down(struct counter *counter)
{
	struct perf_event_attr *attr = &counter->attr;
	if (counter->spec->precise_max && attr->precise_ip)
		attr->precise_ip--;
	else if (attr->exclude_guest && !counter->spec->guest_given)
		attr->exclude_guest = 0;
	else
		return false;
	return true;
}

static enum outcome refused_right(struct sp_stat *stat, size_t index, const struct target *target,
				  int errnum, struct sp_error **error_ret)
{
	struct counter *counter = &stat->counters[index];
	if (counter->attr.exclude_kernel || counter->spec->modes_given || target->tid < 0) {
		*error_ret = explain(stat, index, target, errnum);
		return OUTCOME_ERROR;
	}
	*error_ret = note_user_only(stat, index);
	if (!*error_ret)
		*error_ret = stat_name_user_only(stat, index);
	counter->attr.exclude_kernel = counter->attr.exclude_hv = 1;
	return *error_ret ? OUTCOME_ERROR : OUTCOME_RETRY;
}

static enum outcome refused(struct sp_stat *stat, size_t index, const struct target *target,
			    int errnum, struct sp_error **error_ret)
{
	struct counter *counter = &stat->counters[index];
	size_t leader = counter->leader;
	switch (errnum) {
	case EACCES:
	case EPERM:
		return refused_right(stat, index, target, errnum, error_ret);
	case ESRCH:
	case ENODEV:
		return OUTCOME_NO_UNIT;
	case EINVAL:
	case EOPNOTSUPP:
		if (step_down(counter))
			return OUTCOME_RETRY;
		if (leader != index && stat->counters[leader].spec->weak) {
			take_apart(stat, leader);
			return OUTCOME_APART;
		}
		break;
	case ENOSYS:
		if (!all_is_refused(stat))
			break;
		*error_ret = explain(stat, index, target, errnum);
		return OUTCOME_ERROR;
	case ENOENT:
	case ENXIO:
	case ENOSPC:
		break;
	default:
		*error_ret = explain(stat, index, target, errnum);
		return OUTCOME_ERROR;
	}
	*error_ret = set_why(stat, index, target, errnum);
	return *error_ret ? OUTCOME_ERROR : OUTCOME_UNSUPPORTED;
}

static int try_open(const struct sp_stat *stat, struct counter *counter, const struct target *target,
		    int group_fd)
{
	bool of_cgroup = counter->cgroup_fd >= 0;
	const struct perf_event_attr attr = attr_for(counter, target);
	return event_open_attr(stat->kernel, &attr, &counter->spec->tail, &(struct event_target){
		of_cgroup ? counter->cgroup_fd : target->tid, target->cpu, group_fd,
		of_cgroup ? PERF_FLAG_PID_CGROUP : 0});
}

static struct sp_error *set_filter(const struct sp_stat *stat, size_t index, int fd)
{
	const char *filter = stat->counters[index].filter, *name = stat->events[index].name;
	if (!filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0)
		return NULL;
	if (errno != EINVAL)
		return error_os(errno, "cannot set the filter of %s", name);
	return error_set_remedy(error_new(SP_ERROR_INVALID, "%s: the kernel rejects the filter \"%s\"", name,
					  filter),
				"filters work on tracepoints and the fields of their format files");
}

int stat_open_again(struct sp_stat *stat, size_t index, const struct target *target, size_t unit)
{
	struct counter *counter = &stat->counters[index];
	const struct counter *leader = &stat->counters[counter->leader];
	struct count_unit *at = &counter->units[unit];
	int fd = try_open(stat, counter, target, leader == counter ? -1 : leader->units[unit].fd);
	if (fd < 0)
		return -fd;
	if (counter->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, counter->filter) < 0) {
		int errnum = errno;
		stat->kernel->close(stat->kernel->arg, fd);
		return errnum;
	}
	stat->kernel->close(stat->kernel->arg, at->fd);
	at->fd = fd;
	at->before = at->now;
	return 0;
}

static enum outcome open_unit(struct sp_stat *stat, size_t index, const struct target *target,
			      size_t unit_index, struct sp_error **error_ret)
{
	struct counter *counter = &stat->counters[index];
	const struct counter *leader = &stat->counters[counter->leader];
	int group_fd = -1;
	if (leader != counter) {
		if (unit_index >= leader->unit_count || leader->units[unit_index].fd < 0)
			return OUTCOME_NO_UNIT;
		group_fd = leader->units[unit_index].fd;
	}
	for (;;) {
		int fd = try_open(stat, counter, target, group_fd);
		if (fd >= 0) {
			counter->units[unit_index].fd = fd;
			counter->units[unit_index].present = true;
			*error_ret = set_filter(stat, index, fd);
			return *error_ret ? OUTCOME_ERROR : OUTCOME_NO_UNIT;
		}
		enum outcome outcome = refused(stat, index, target, -fd, error_ret);
		if (outcome != OUTCOME_RETRY)
			return outcome;
	}
}

static enum outcome open_counter(struct sp_stat *stat, size_t index, struct sp_error **error_ret)
{
	struct counter *counter = &stat->counters[index];
	CLEANUP_FREE struct target *targets = NULL;
	size_t count = 0;
	enum outcome outcome = OUTCOME_NO_UNIT;
	*error_ret = targets_of(stat, counter, &targets, &count);
	for (size_t i = 0; i < count && !*error_ret; i++)
		if (!add_unit(counter, &targets[i]))
			*error_ret = error_no_memory();
	if (*error_ret)
		return OUTCOME_ERROR;
	/* Values of wait4() and the clock need no event. */
	for (size_t i = 0; i < count && !counter->spec->tool && outcome == OUTCOME_NO_UNIT; i++)
		outcome = open_unit(stat, index, &targets[i], i, error_ret);
	if (outcome == OUTCOME_UNSUPPORTED)
		close_units(stat, counter);
	return outcome;
}

/* Members of an absent leader are absent, too. */
static bool leader_missing(struct sp_stat *stat, size_t index)
{
	size_t leader = stat->counters[index].leader;
	if (leader == index || stat->events[leader].supported)
		return false;
	stat->events[index].supported = false;
	stat->events[index].why = "the first event of its group is not there";
	return true;
}

static struct sp_error *make_room(struct sp_stat *stat)
{
	uint64_t need = (uint64_t)stat->counter_count * stat->targets.count, old_soft;
	if (need < FEW_FILES)
		return NULL;
	TRY(stat->rights.page_size ? NULL : rights_read(stat->ctx, &stat->rights));
	return rights_raise_files(&stat->rights, need, &old_soft);
}

/* Returns whether an event is open; *supported_ret: the machine has one, tool events apart. */
static bool any_open(const struct sp_stat *stat, bool *supported_ret)
{
	bool open = false;
	*supported_ret = false;
	for (size_t i = 0; i < stat->counter_count; i++) {
		*supported_ret |= stat->events[i].supported && !stat->counters[i].spec->tool;
		for (size_t u = 0; u < stat->counters[i].unit_count; u++)
			open |= stat->counters[i].units[u].fd >= 0;
	}
	return open;
}

struct sp_error *stat_open(struct sp_stat *stat)
{
	struct sp_error *error = make_room(stat);
	if (error)
		return error;
	for (size_t i = 0; i < stat->counter_count; i++) {
		if (!stat->events[i].supported || leader_missing(stat, i))
			continue;
		/* A clock has no event that members could join. */
		if (stat->counters[i].spec->tool && stat->counters[i].group_read)
			take_apart(stat, i);
		size_t leader = stat->counters[i].leader;
		enum outcome outcome = open_counter(stat, i, &error);
		if (outcome == OUTCOME_ERROR)
			return error;
		if (outcome == OUTCOME_APART)
			i = leader - 1; /* opens its members one by one */
		else if (outcome != OUTCOME_UNSUPPORTED)
			stat->may_multiplex |= is_hardware(&stat->counters[i]);
	}
	bool supported;
	if (any_open(stat, &supported) || !supported)
		return NULL;
	if (stat->cpu_wide)
		return error_set_remedy(
			error_new(SP_ERROR_NOT_FOUND, "nothing to count: the PMUs of these events "
				  "count on other CPUs"),
			"`grep . /sys/bus/event_source/devices/*/cpu*` shows CPUs of PMUs");
	return error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "nothing to count: all processes and "
					  "threads have ended"),
				"`ps -eL` lists running threads");
}
