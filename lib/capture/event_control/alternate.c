/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/alternate.h"

#include <errno.h>
#include <sprof/capture.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "capture/config/plan_facts.h"
#include "capture/config/stack_copies.h"
#include "capture/event_control/stack_need.h"
#include "record/types.h"

/* Limits of helpers' samples per second on each CPU: a number, and a share of the others. */
#define RATE_HZ 249
#define RATE_SHARE 4

/* The helpers' rate where the recorded event is no clock. It can be rare. */
#define OCCURRENCE_RATE_HZ 29

/* Helpers' copies that fit a ring buffer; and the factor by which they must be larger to be useful. */
#define RING_SHARE 16
#define LARGER 2

void alternate_init(const struct alternate_places *options, struct alternate *ret)
{
	*ret = (struct alternate){.options = *options};
}

static struct perf_event_attr disabled_attr(const struct perf_event_attr *planned)
{
	struct perf_event_attr attr = *planned;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	return attr;
}

static struct perf_event_attr alternate_attr(const struct perf_event_attr *planned, uint32_t size)
{
	struct perf_event_attr attr = disabled_attr(planned);
	attr.sample_stack_user = size;
	attr.size = event_attr_size(&attr);
	return attr;
}

static struct perf_event_attr helper_attr(const struct event_plan *plan, uint32_t size)
{
	struct perf_event_attr attr = alternate_attr(&plan->samples[0].attr, size);
	uint64_t rate_hz = plan_rate_hz(plan), most = rate_hz ? rate_hz / RATE_SHARE : RATE_HZ;
	attr.freq = 1;
	attr.sample_freq = most && most < RATE_HZ ? most : RATE_HZ;
	/*
	 * If two events sample one occurrence, Linux gives both samples the id of the first: the
	 * planned event's would be taken for a helper's. A clock has a timer of its own.
	 */
	if (attr.type == PERF_TYPE_TRACEPOINT ||
	    (attr.type == PERF_TYPE_SOFTWARE && !record_is_clock(attr.type, attr.config))) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_freq = OCCURRENCE_RATE_HZ;
	}
	return attr;
}

/* Opens an event, to its CPU's ring buffer. Returns the descriptor, and its id; or -errno. */
static int open_event(const struct alternate_places *options, const struct alternate_event *wanted,
		      uint64_t *id_ret)
{
	const struct event_kernel *kernel = event_kernel_real();
	int output = event_set_ring_fd(options->set, wanted->cpu_index, EVENT_ROLE_SAMPLES);
	const struct event_planned *event = &options->plan->samples[wanted->planned];
	bool in_cgroup = event->in_cgroup && wanted->tid < 0;
	const struct event_target target = {
		.pid = in_cgroup ? event->cgroup_fd : wanted->tid,
		.cpu = options->cpus[wanted->cpu_index],
		.group_fd = output,
		.flags = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP |
			 (in_cgroup ? PERF_FLAG_PID_CGROUP : 0),
	};
	int fd = event_open_planned(kernel, event, &wanted->attr, &target);
	if (fd < 0)
		return fd;
	bool is_other = wanted->attr.type != event->attr.type;
	if ((event->filter && !is_other &&
	     ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter) < 0) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, id_ret) < 0) {
		int errnum = errno;
		close(fd);
		return -errnum;
	}
	return fd;
}

/* Notes the id of an event that was opened. */
static struct sp_error *add_id(struct alternate *alternate, const struct alternate_events *events,
			       uint64_t id, uint32_t listed)
{
	uint64_t *outside = events == &alternate->outside ? vec_push(&alternate->ids.outside) : &id;
	NEED(outside && u64map_put(&alternate->ids.map, id, listed, NULL));
	*outside = id;
	return NULL;
}

/* Opens an event and adds it to a list. *errnum_ret: 0, or why the kernel refuses it. */
static struct sp_error *add_event(struct alternate *alternate, struct alternate_events *events,
				  const struct alternate_event *wanted, int *errnum_ret)
{
	uint64_t id;
	struct alternate_event event = *wanted;
	NEED(vec_reserve(events, events->count + 1));
	event.fd = open_event(&alternate->options, &event, &id);
	*errnum_ret = event.fd < 0 ? -event.fd : 0;
	if (event.fd < 0)
		return NULL;
	*vec_push(events) = event;
	return add_id(alternate, events, id, event.listed);
}

/* Opens an alternate of a planned event on each CPU. *errnum_ret: 0: the kernel refused none. */
static struct sp_error *add_alternates(struct alternate *alternate, struct alternate_events *events,
				       const struct sp_event *planned, const struct alternate_event *like,
				       int *errnum_ret)
{
	struct sp_error *error = NULL;
	*errnum_ret = 0;
	for (size_t i = 0; i < alternate->options.cpu_count && !error && !*errnum_ret; i++) {
		uint64_t *listed = vec_push(&alternate->ids.listed);
		NEED(listed);
		*listed = planned->ids[i < planned->id_count ? i : 0];
		struct alternate_event wanted = *like;
		wanted.cpu_index = i;
		wanted.listed = alternate->ids.listed.count;
		error = add_event(alternate, events, &wanted, errnum_ret);
	}
	return error;
}

static void close_events(struct alternate_events *events)
{
	vec_each (event, events)
		close(event->fd);
	vec_deinit(events);
	*events = (struct alternate_events){0};
}

/* Returns the planned events' ids for the file; helpers' losses need them, too. */
static struct sp_error *find_planned(struct alternate *alternate, const struct sp_event **planned_ret)
{
	size_t count;
	struct sp_error *error = event_set_events(alternate->options.set, planned_ret, &count);
	if (!error && (*planned_ret)->id_count)
		alternate->ids.first_listed = (*planned_ret)->ids[0];
	return error;
}

/* Opens one for each planned event on each CPU: all of them, or none. */
static struct sp_error *open_large(struct alternate *alternate, const struct sp_event *planned)
{
	const struct alternate_places *options = &alternate->options;
	const struct event_plan *plan = options->plan;
	uint32_t small = plan->samples[0].attr.sample_stack_user;
	uint32_t size = options->fixed || !options->freq_hz ? 0 :
			stack_copies_largest(options->ring_bytes, options->freq_hz, small);
	struct sp_error *error = NULL;
	bool opened = size;
	for (size_t i = 0; i < plan->sample_count && !error && opened; i++) {
		struct alternate_event like = {
			.planned = i,
			.tid = options->tid,
			.attr = alternate_attr(&plan->samples[i].attr, size)};
		int errnum = ENOENT;
		like.attr.enable_on_exec = options->on_exec;
		if (i == options->kept)
			continue;
		if (planned[i].id_count)
			error = add_alternates(alternate, &alternate->large, &planned[i], &like, &errnum);
		opened = !errnum;
	}
	if (error || !opened) {
		close_events(&alternate->large);
		return error;
	}
	alternate->large.stack_bytes = size;
	alternate->roomy = stack_copies_are_roomy(options->ring_bytes, options->freq_hz, size);
	alternate->on_exec = options->on_exec;
	return NULL;
}

static struct sp_error *open_helpers(struct alternate *alternate)
{
	const struct alternate_places *options = &alternate->options;
	uint64_t size = options->ring_bytes / RING_SHARE & ~(uint64_t)7;
	uint32_t used = options->plan->samples[0].attr.sample_stack_user;
	struct sp_error *error = NULL;
	int errnum;
	if (alternate->large.stack_bytes > used)
		used = alternate->large.stack_bytes;
	if (size > SP_STACK_BYTES_MAX)
		size = SP_STACK_BYTES_MAX;
	/* The largest possible copy is useful in any case. */
	if (size < (uint64_t)LARGER * used && (size < SP_STACK_BYTES_MAX || used == size))
		return NULL;
	const struct perf_event_attr attr = helper_attr(options->plan, size);
	alternate->helper.stack_bytes = size;
	for (size_t i = 0; i < options->cpu_count && !error; i++) {
		const struct alternate_event wanted = {
			.cpu_index = i, .tid = options->tid, .attr = attr};
		error = add_event(alternate, &alternate->helper, &wanted, &errnum);
	}
	return error;
}

struct sp_error *alternate_open(struct alternate *alternate)
{
	const struct sp_event *planned;
	TRY(find_planned(alternate, &planned));
	TRY(open_large(alternate, planned));
	return open_helpers(alternate);
}

/*
 * Lowers the rate, or raises the period if the event's samples are interchangeable. Returns false
 * if each occurrence is wanted.
 */
static bool slow_down(struct perf_event_attr *attr)
{
	if (attr->freq) {
		bool fast = attr->sample_freq > ALTERNATE_SLOWER;
		attr->sample_freq /= ALTERNATE_SLOWER;
		return fast;
	}
	/* Each sample must have its period. */
	if (!(attr->sample_type & PERF_SAMPLE_PERIOD) || attr->sample_period < 2 ||
	    attr->sample_period > INT64_MAX / ALTERNATE_SLOWER)
		return false;
	attr->sample_period *= ALTERNATE_SLOWER;
	return record_is_clock(attr->type, attr->config) || attr->type == PERF_TYPE_HARDWARE ||
	       attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
}

struct sp_error *alternate_open_slow(struct alternate *alternate)
{
	const struct event_plan *plan = alternate->options.plan;
	const struct sp_event *planned;
	struct sp_error *error = find_planned(alternate, &planned);
	bool opened = true;
	for (size_t i = 0; i < plan->sample_count && !error && opened; i++) {
		struct alternate_event like = {.planned = i,
					       .tid = alternate->options.tid,
					       .attr = disabled_attr(&plan->samples[i].attr)};
		int errnum = ENOENT;
		if (i == alternate->options.kept)
			continue;
		if (planned[i].id_count && slow_down(&like.attr))
			error = add_alternates(alternate, &alternate->slow, &planned[i], &like, &errnum);
		opened = !errnum;
	}
	if (error || !opened)
		close_events(&alternate->slow);
	return error;
}

/* Event of a whole CPU. Its samples have the fields of the planned one, with the least of user space. */
static struct perf_event_attr outside_attr(const struct perf_event_attr *planned)
{
	struct perf_event_attr attr = disabled_attr(planned);
	attr.inherit = attr.inherit_stat = attr.inherit_thread = attr.remove_on_exec = 0;
	/* The least: with 0, Linux writes the size of the copy past the end of the record. */
	if (attr.sample_type & PERF_SAMPLE_STACK_USER)
		attr.sample_stack_user = sizeof(uint64_t);
	attr.exclude_callchain_user = (attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	attr.size = event_attr_size(&attr);
	return attr;
}

/* Dummy event that is always enabled. */
static struct perf_event_attr clock_attr(const struct event_plan *plan)
{
	struct perf_event_attr attr = plan->holders[EVENT_ROLE_SAMPLES];
	attr.disabled = 0;
	attr.read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED;
	return attr;
}

static struct sp_error *open_clocks(struct alternate *alternate, int *errnum_ret)
{
	struct sp_error *error = NULL;
	const struct perf_event_attr attr = clock_attr(alternate->options.plan);
	for (size_t i = 0; i < alternate->options.cpu_count && !error && !*errnum_ret; i++) {
		const struct alternate_event wanted = {.cpu_index = i, .tid = -1, .attr = attr};
		error = add_event(alternate, &alternate->clocks, &wanted, errnum_ret);
	}
	alternate->clocks.enabled = true;
	return error;
}

struct sp_error *alternate_open_outside(struct alternate *alternate, size_t planned, int *errnum_ret)
{
	const struct sp_event *events;
	const struct alternate_event like = {
		.planned = planned,
		.tid = -1,
		.attr = outside_attr(&alternate->options.plan->samples[planned].attr)};
	struct sp_error *error = find_planned(alternate, &events);
	*errnum_ret = error || events[planned].id_count ? 0 : ESRCH;
	if (!error && !*errnum_ret)
		error = add_alternates(alternate, &alternate->outside, &events[planned], &like, errnum_ret);
	if (!error && !*errnum_ret)
		error = open_clocks(alternate, errnum_ret);
	if (!error && !*errnum_ret)
		return NULL;
	close_events(&alternate->outside);
	close_events(&alternate->clocks);
	return error;
}

bool alternate_enabled_time(const struct alternate *alternate, size_t cpu_index, uint64_t *ns_ret)
{
	uint64_t values[4]; /* value, enabled time, id, lost */
	vec_each (event, &alternate->clocks) {
		if (event->cpu_index != cpu_index ||
		    read(event->fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(*values)))
			continue;
		*ns_ret = values[1];
		return true;
	}
	return false;
}

void alternate_close(struct alternate *alternate)
{
	close_events(&alternate->large);
	close_events(&alternate->helper);
	close_events(&alternate->slow);
	close_events(&alternate->outside);
	close_events(&alternate->clocks);
	alternate_ids_deinit(&alternate->ids);
	*alternate = (struct alternate){0};
}

/* Fails only for a task that has ended, which is no error. */
static void enable_event(int fd, bool on)
{
	(void)!ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void alternate_enable(struct alternate_events *events, bool on)
{
	if (events->enabled == on)
		return;
	events->enabled = on;
	vec_each (event, events)
		enable_event(event->fd, on);
}

void alternate_suspend(struct alternate_events *events, size_t planned, bool suspended)
{
	vec_each (event, events)
		if (event->planned == planned)
			enable_event(event->fd, !suspended);
}

/* Reads an event's count, or its lost samples. */
static uint64_t read_one(const struct alternate_event *event, bool lost)
{
	uint64_t values[6]; /* value, (times,) id, lost */
	/* Once: each read starts anew, and fails if the rest has no room for all values. */
	ssize_t got = read(event->fd, values, sizeof(values));
	if (got < (lost ? 24 : 8))
		return 0;
	return values[lost ? got / 8 - 1 : 0];
}

static uint64_t count_all(const struct alternate_events *events)
{
	uint64_t sum = 0;
	vec_each (event, events)
		sum += event->counted + read_one(event, false);
	return sum;
}

static uint64_t sum_lost(const struct alternate_events *events, size_t planned)
{
	uint64_t sum = 0;
	vec_each (event, events)
		if (event->planned == planned)
			sum += event->lost + read_one(event, true);
	return sum;
}

/* Whether the kernel counts lost samples of each event. */
static bool counts_lost(const struct alternate *alternate)
{
	return alternate->options.plan && alternate->options.plan->support.format_lost;
}

static struct sp_error *reopen_events(struct alternate *alternate, struct alternate_events *events,
				      size_t cpu_index, bool *refused_ret)
{
	for (size_t i = 0; i < events->count; i++) {
		struct alternate_event *event = &events->items[i];
		uint64_t id;
		if (event->cpu_index != cpu_index)
			continue;
		int fd = open_event(&alternate->options, event, &id);
		*refused_ret |= fd < 0;
		if (fd < 0)
			continue;
		event->counted += read_one(event, false);
		event->lost += counts_lost(alternate) ? read_one(event, true) : 0;
		close(event->fd);
		event->fd = fd;
		if (events->enabled)
			enable_event(fd, true);
		TRY(add_id(alternate, events, id, event->listed));
	}
	return NULL;
}

struct sp_error *alternate_reopen(struct alternate *alternate, size_t cpu_index, bool *refused_ret)
{
	struct alternate_events *const lists[] = {&alternate->large, &alternate->helper, &alternate->slow,
						  &alternate->outside, &alternate->clocks};
	/* Events of tasks, in the first three lists, count again by themselves. */
	size_t first = alternate->options.plan->cpu_wide ? 0 : 3;
	struct sp_error *error = NULL;
	*refused_ret = false;
	for (size_t i = first; i < count_of(lists) && !error; i++)
		error = reopen_events(alternate, lists[i], cpu_index, refused_ret);
	return error;
}

uint64_t alternate_lost(const struct alternate *alternate, size_t planned)
{
	return !counts_lost(alternate) ? 0
				       : sum_lost(&alternate->large, planned) +
						 sum_lost(&alternate->slow, planned) +
						 sum_lost(&alternate->outside, planned);
}

uint64_t alternate_counted(const struct alternate *alternate)
{
	return count_all(&alternate->large) + count_all(&alternate->slow);
}
