/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/wide.h"

#include <sprof/capture.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/io.h"
#include "capture/config/stack_copies.h"
#include "record/types.h"

/* A second on each CPU, and not more than so many of all others. */
#define RATE_HZ 249
#define RATE_SHARE 4

/* So many copies of helpers find room in a ring; and they are so much larger, or of no use. */
#define RING_SHARE 16
#define LARGER 2

/* They stay on so long after the last stack that was cut. */
#define ON_NS 1000000000

static struct perf_event_attr wide_attr(const struct perf_event_attr *planned, uint32_t size)
{
	struct perf_event_attr attr = *planned;
	attr.sample_stack_user = size;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	attr.size = event_attr_size(&attr);
	return attr;
}

static struct perf_event_attr helper_attr(const struct wide_options *options, uint32_t size)
{
	const struct event_plan *plan = options->plan;
	struct perf_event_attr attr = wide_attr(&plan->samples[0].attr, size);
	uint64_t most = plan->freq_hz ? plan->freq_hz / RATE_SHARE : RATE_HZ;
	attr.freq = 1;
	attr.sample_freq = most && most < RATE_HZ ? most : RATE_HZ;
	return attr;
}

/* The descriptor, and its id; -1: the kernel refuses it. */
static int open_event(const struct wide_options *options, const struct wide_event *wanted,
		      uint64_t *id_ret)
{
	const struct event_kernel *kernel = event_kernel_real();
	int output = event_set_ring_fd(options->set, wanted->cpu_index, EVENT_ROLE_SAMPLES);
	const struct event_planned *event = &options->plan->samples[wanted->planned];
	bool in_cgroup = event->in_cgroup && options->tid < 0;
	const struct event_target target = {
		.pid = in_cgroup ? event->cgroup_fd : options->tid,
		.cpu = (int32_t)options->cpus[wanted->cpu_index],
		.group_fd = output,
		.flags = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP |
			 (in_cgroup ? PERF_FLAG_PID_CGROUP : 0),
	};
	int fd = event_open_planned(kernel, event, &wanted->attr, &target);
	if (fd < 0)
		return -1;
	if ((event->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter) < 0) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, id_ret) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * *opened_ret: the kernel did. It stands in for the `planned` event, or helps it; `own` is its
 * place among own_ids, + 1.
 */
static struct sp_error *open_one(const struct wide_options *options,
				 const struct perf_event_attr *attr, size_t planned, size_t index,
				 uint32_t own, struct wide *wide, struct wide_events *events,
				 bool *opened_ret)
{
	uint64_t id;
	struct wide_event event = {.cpu_index = (uint32_t)index, .planned = (uint32_t)planned,
				   .own = own, .attr = *attr};
	*opened_ret = false;
	if (!vec_reserve(events, events->count + 1))
		return error_no_memory();
	event.fd = open_event(options, &event, &id);
	if (event.fd < 0)
		return NULL;
	*vec_push(events) = event;
	*opened_ret = true;
	return u64map_put(&wide->ids, id, own, NULL) ? NULL : error_no_memory();
}

static void close_events(struct wide_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->items[i].fd);
	vec_deinit(events);
	*events = (struct wide_events){0};
}

/* One for each that was planned, on each CPU: all of them, or none. */
static struct sp_error *open_large(const struct wide_options *options, struct wide *wide)
{
	const struct event_plan *plan = options->plan;
	uint32_t small = plan->samples[0].attr.sample_stack_user;
	uint32_t size = options->fixed || !options->freq_hz ? 0 :
			stack_copies_largest(options->ring_bytes, options->freq_hz, small);
	const struct sp_event *planned;
	size_t count;
	if (!size)
		return NULL;
	struct sp_error *error = event_set_events(options->set, &planned, &count);
	bool opened = true;
	for (size_t i = 0; i < plan->sample_count && !error && opened; i++) {
		struct perf_event_attr attr = wide_attr(&plan->samples[i].attr, size);
		attr.enable_on_exec = options->on_exec;
		for (size_t j = 0; j < options->cpu_count && !error && opened; j++) {
			uint64_t *own = planned[i].id_count ? vec_push(&wide->own_ids) : NULL;
			if (!own)
				return planned[i].id_count ? error_no_memory() : NULL;
			*own = planned[i].ids[j < planned[i].id_count ? j : 0];
			error = open_one(options, &attr, i, j, (uint32_t)wide->own_ids.count, wide,
					 &wide->large, &opened);
		}
	}
	wide->large.stack_bytes = size;
	wide->roomy = stack_copies_are_roomy(options->ring_bytes, options->freq_hz, size);
	wide->on_exec = options->on_exec && opened;
	if (!opened)
		close_events(&wide->large);
	return error;
}

/*
 * A quarter of the rate, or four times the period where each is as good as another; false where
 * that cannot be: what happens now and then is wanted each time.
 */
static bool slow_down(struct perf_event_attr *attr)
{
	if (attr->freq) {
		bool fast = attr->sample_freq > WIDE_SLOWER;
		attr->sample_freq /= WIDE_SLOWER;
		return fast;
	}
	/* All samples have to say what they stand for. */
	if (!(attr->sample_type & PERF_SAMPLE_PERIOD) || attr->sample_period < 2 ||
	    attr->sample_period > INT64_MAX / WIDE_SLOWER)
		return false;
	attr->sample_period *= WIDE_SLOWER;
	return record_is_clock(attr->type, attr->config) || attr->type == PERF_TYPE_HARDWARE ||
	       attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
}

struct sp_error *wide_open_slow(const struct wide_options *options, struct wide *wide)
{
	const struct event_plan *plan = options->plan;
	const struct sp_event *planned;
	size_t count;
	wide->options = *options;
	struct sp_error *error = event_set_events(options->set, &planned, &count);
	bool opened = true;
	for (size_t i = 0; i < plan->sample_count && !error && opened; i++) {
		struct perf_event_attr attr = plan->samples[i].attr;
		attr.disabled = 1;
		attr.enable_on_exec = 0;
		opened = planned[i].id_count && slow_down(&attr);
		for (size_t j = 0; j < options->cpu_count && !error && opened; j++) {
			uint64_t *own = vec_push(&wide->own_ids);
			if (!own)
				return error_no_memory();
			*own = planned[i].ids[j < planned[i].id_count ? j : 0];
			error = open_one(options, &attr, i, j, (uint32_t)wide->own_ids.count, wide,
					 &wide->slow, &opened);
		}
	}
	if (!opened)
		close_events(&wide->slow);
	return error;
}

static struct sp_error *open_helpers(const struct wide_options *options, struct wide *wide)
{
	uint64_t size = options->ring_bytes / RING_SHARE & ~(uint64_t)7;
	uint32_t used = options->plan->samples[0].attr.sample_stack_user;
	struct sp_error *error = NULL;
	bool opened;
	if (wide->large.stack_bytes > used)
		used = wide->large.stack_bytes;
	if (size > SP_STACK_BYTES_MAX)
		size = SP_STACK_BYTES_MAX;
	/* All that can be copied is worth while in any case. */
	if (size < (uint64_t)LARGER * used && (size < SP_STACK_BYTES_MAX || used == size))
		return NULL;
	const struct perf_event_attr attr = helper_attr(options, (uint32_t)size);
	wide->helper.stack_bytes = (uint32_t)size;
	for (size_t i = 0; i < options->cpu_count && !error; i++)
		error = open_one(options, &attr, 0, i, 0, wide, &wide->helper, &opened);
	return error;
}

struct sp_error *wide_open(const struct wide_options *options, struct wide *ret)
{
	struct wide wide = {.options = *options};
	struct sp_error *error = open_large(options, &wide);
	if (!error)
		error = open_helpers(options, &wide);
	if (error)
		wide_close(&wide);
	else
		*ret = wide;
	return error;
}

void wide_close(struct wide *wide)
{
	close_events(&wide->large);
	close_events(&wide->helper);
	close_events(&wide->slow);
	vec_deinit(&wide->own_ids);
	u64map_deinit(&wide->ids);
	*wide = (struct wide){0};
}

static void enable(struct wide_events *events, bool on)
{
	if (events->enabled == on)
		return;
	events->enabled = on;
	/* A task that has ended needs none: nothing else can be wrong. */
	for (size_t i = 0; i < events->count; i++)
		(void)!ioctl(events->items[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			     0);
}

/*
 * Never both: that would count twice. Clocks go on where they stopped when they are enabled
 * again, so that no time is missing but that of the call.
 */
static struct sp_error *change_size(struct wide *wide, bool large,
				    const struct stack_need_seen *seen, uint64_t now_ns)
{
	struct sp_error *error = NULL;
	if (large)
		error = event_set_disable(wide->options.set, EVENT_ROLE_SAMPLES);
	if (error)
		return error;
	enable(&wide->large, large);
	if (!large)
		error = event_set_enable(wide->options.set, EVENT_ROLE_SAMPLES);
	stack_need_set(&wide->need, large, seen, now_ns);
	return error;
}

struct sp_error *wide_slow_down(struct wide *wide, bool slow, uint64_t now_ns)
{
	const struct stack_need_seen none = {0};
	struct sp_error *error = NULL;
	if (wide->slow.enabled == slow)
		return NULL;
	if (slow) {
		enable(&wide->large, false);
		stack_need_set(&wide->need, false, &none, now_ns);
		error = event_set_disable(wide->options.set, EVENT_ROLE_SAMPLES);
	}
	if (!error)
		enable(&wide->slow, slow);
	return error || slow ? error : event_set_enable(wide->options.set, EVENT_ROLE_SAMPLES);
}

struct sp_error *wide_start(struct wide *wide, bool wait, uint64_t now_ns)
{
	const struct stack_need_seen none = {0};
	wide->until_ns = now_ns + ON_NS;
	enable(&wide->helper, true);
	if (!wide->large.stack_bytes || !wide->roomy || (wait && !wide->on_exec))
		return NULL;
	wide->large.enabled = wait;
	if (!wait)
		return change_size(wide, true, &none, now_ns);
	stack_need_set(&wide->need, true, &none, now_ns);
	return NULL;
}

void wide_stop(struct wide *wide)
{
	const struct stack_need_seen none = {0};
	enable(&wide->large, false);
	enable(&wide->helper, false);
	enable(&wide->slow, false);
	stack_need_set(&wide->need, false, &none, 0);
	wide->until_ns = 0;
}

struct sp_error *wide_update(struct wide *wide, const struct wide_seen *seen, uint64_t now_ns)
{
	if (seen->cuts != wide->cuts)
		wide->until_ns = now_ns + ON_NS;
	wide->cuts = seen->cuts;
	if (wide->until_ns)
		enable(&wide->helper, now_ns < wide->until_ns);
	if (!wide->large.stack_bytes || !wide->until_ns || wide->slow.enabled ||
	    !stack_need_changes(&wide->need, &seen->need, now_ns))
		return NULL;
	return change_size(wide, !wide->need.large, &seen->need, now_ns);
}

bool wide_can_grow(const struct wide *wide, uint64_t now_ns)
{
	return wide->large.stack_bytes && !wide->slow.enabled && !wide->need.large &&
	       now_ns >= wide->need.barred_until_ns;
}

/* What it has counted, or what was lost of it. */
static uint64_t read_one(const struct wide_event *event, bool lost)
{
	uint64_t values[6]; /* value, (times,) id, lost */
	size_t got;
	if (io_read(event->fd, values, sizeof(values), &got) || got < (lost ? 24 : 8))
		return 0;
	return values[lost ? got / 8 - 1 : 0];
}

static uint64_t sum_of(const struct wide_events *events, bool lost)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct wide_event *event = &events->items[i];
		sum += (lost ? event->lost : event->counted) + read_one(event, lost);
	}
	return sum;
}

static struct sp_error *reopen_events(struct wide *wide, struct wide_events *events, size_t cpu_index)
{
	bool format_lost = wide->options.plan && wide->options.plan->support.format_lost;
	for (size_t i = 0; i < events->count; i++) {
		struct wide_event *event = &events->items[i];
		uint64_t id;
		int fd = event->cpu_index == cpu_index ? open_event(&wide->options, event, &id) : -1;
		if (fd < 0)
			continue;
		event->counted += read_one(event, false);
		event->lost += format_lost ? read_one(event, true) : 0;
		close(event->fd);
		event->fd = fd;
		if (events->enabled)
			(void)!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		if (!u64map_put(&wide->ids, id, event->own, NULL))
			return error_no_memory();
	}
	return NULL;
}

struct sp_error *wide_reopen(struct wide *wide, size_t cpu_index)
{
	struct sp_error *error = reopen_events(wide, &wide->large, cpu_index);
	if (!error)
		error = reopen_events(wide, &wide->helper, cpu_index);
	return error ? error : reopen_events(wide, &wide->slow, cpu_index);
}

uint64_t wide_lost(const struct wide *wide, bool format_lost)
{
	return format_lost ? sum_of(&wide->large, true) + sum_of(&wide->slow, true) : 0;
}

uint64_t wide_counted(const struct wide *wide)
{
	return sum_of(&wide->large, false) + sum_of(&wide->slow, false);
}
