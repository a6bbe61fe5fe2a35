/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "calls.h"

#define PAGE 4096
#define FORMATS                                                                                \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |    \
	 PERF_FORMAT_GROUP | 16 /* PERF_FORMAT_LOST */)
#define REGISTERS_NONE 0xf000u /* x86-64 has no DS to GS */
#define FIRST_ID 100
#define PERIOD_MIN 10000
#define TICK_NS (4 * SIM_MS)

struct sim_perf sim_perf;

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

/* The period that an event was opened with. Its samples state it for good, as in Linux 6.18. */
static uint64_t opened_period_of(const struct sim_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	uint64_t period = attr->freq && attr->sample_freq ? 1000000000 / attr->sample_freq
							  : attr->sample_period;
	if (!is_clock(attr) || !period)
		return 0;
	return period < PERIOD_MIN ? PERIOD_MIN : period;
}

/* ns of CPU time; 0: it takes no samples. */
static uint64_t period_of(const struct sim_event *event)
{
	return event->changed_ns ? event->changed_ns : opened_period_of(event);
}

static int check_attr(const struct perf_event_attr *attr)
{
	uint64_t flags;
	memcpy(&flags, (const char *)attr + 40, sizeof(flags));
	/* Linux 6.1: bits up to sigtrap. */
	if (flags >> 38 || attr->sample_type >> 25 || attr->read_format & ~(uint64_t)FORMATS)
		return EINVAL;
	bool is_waking = attr->type == PERF_TYPE_TRACEPOINT && attr->config == SIM_WAKING;
	if (attr->type != PERF_TYPE_SOFTWARE && !is_waking)
		return ENOENT;
	if (attr->config > PERF_COUNT_SW_BPF_OUTPUT && !is_waking)
		return EINVAL;
	if (attr->freq && attr->sample_freq > 100000)
		return EINVAL;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return EOPNOTSUPP;
	if (attr->sample_stack_user % 8 || attr->sample_stack_user > 65528 ||
	    attr->sample_regs_user & REGISTERS_NONE)
		return EINVAL;
	return 0;
}

/*
 * Checks of perf_allow_kernel(), perf_allow_cpu(), perf_allow_tracepoint() and ptrace_may_access().
 */
static bool is_refused(const struct perf_event_attr *attr, int32_t pid)
{
	const struct sim_process *process = pid > 0 ? sim_process_find((uint32_t)pid) : NULL;
	if (!sim.user.uid)
		return false;
	return (sim.user.paranoid > 1 && !attr->exclude_kernel) || (sim.user.paranoid > 0 && pid < 0) ||
	       (sim.user.paranoid > -1 && attr->type == PERF_TYPE_TRACEPOINT) ||
	       (process && process->uid != sim.user.uid);
}

/* -- Contexts -------------------------------------------------------------- */

static void add_to_context(struct sim_context **slot, struct sim_event *event)
{
	struct sim_context *context = *slot;
	/* A context that tasks share stays as it is. */
	if (!context || context->users > 1) {
		struct sim_context *copy = calloc(1, sizeof(*copy));
		if (!copy)
			abort();
		if (context) {
			context->users--;
			copy->room = copy->count = context->count;
			copy->events = calloc(copy->room + 1, sizeof(struct sim_event *));
			memcpy(copy->events, context->events, copy->count * sizeof(*copy->events));
		}
		copy->users = 1;
		*slot = context = copy;
	}
	if (context->count == context->room) {
		context->room = context->room ? 2 * context->room : 8;
		context->events = realloc(context->events, context->room * sizeof(struct sim_event *));
	}
	context->events[context->count++] = event;
}

static bool has_event(const struct sim_context *context, const struct sim_event *event)
{
	for (size_t i = 0; context && i < context->count; i++)
		if (context->events[i] == event)
			return true;
	return false;
}

/* -- Counting -------------------------------------------------------------- */

static void fire(void *arg, uint64_t number);

static bool counts_on(const struct sim_event *event, unsigned int cpu)
{
	const struct sim_cpu *at = &sim_machine.cpus[cpu];
	if (!event->enabled || event->closed || event->detached || event->throttled || !at->online ||
	    (event->cpu >= 0 && (unsigned int)event->cpu != cpu))
		return false;
	return event->pid < 0 || (at->current && has_event(at->current->context, event));
}

static void start(struct sim_event *event, unsigned int cpu)
{
	if (event->running || !period_of(event))
		return;
	event->running = true;
	event->running_since = sim.now_ns;
	event->generation++;
	if (!event->left_ns)
		event->left_ns = period_of(event);
	sim_at(sim.now_ns + event->left_ns, fire, event,
	       (uint64_t)event->generation << 16 | cpu);
}

static void stop(struct sim_event *event)
{
	uint64_t ran_ns = sim.now_ns - event->running_since;
	if (!event->running)
		return;
	event->running = false;
	event->generation++;
	event->count_ns += ran_ns;
	event->left_ns = event->left_ns > ran_ns ? event->left_ns - ran_ns : 1;
}

static void consider(struct sim_event *event)
{
	unsigned int first = event->cpu >= 0 ? (unsigned int)event->cpu : 0;
	unsigned int end = event->cpu >= 0 ? first + 1 : sim_machine.cpu_count;
	for (unsigned int cpu = first; cpu < end; cpu++)
		if (counts_on(event, cpu))
			start(event, cpu);
}

static void unthrottle(void *arg, uint64_t number)
{
	struct sim_event *event = arg;
	event->throttled = false;
	if (event->closed)
		return;
	sim_record_throttle(event, (unsigned int)number, true);
	consider(event);
}

static void fire(void *arg, uint64_t number)
{
	struct sim_event *event = arg;
	unsigned int cpu = number & 0xffff;
	if (!event->running || event->generation != number >> 16)
		return;
	sim_record_sample(event, sim_machine.cpus[cpu].current, cpu, opened_period_of(event));
	if (sim_machine.workload.throttle &&
	    sim_random(SIM_WORLD, 1000) < sim_machine.workload.throttle) {
		stop(event);
		event->left_ns = period_of(event);
		event->throttled = true;
		sim_perf.throttles++;
		sim_record_throttle(event, cpu, false);
		sim_at(sim.now_ns + TICK_NS, unthrottle, event, cpu);
		return;
	}
	event->count_ns += sim.now_ns - event->running_since;
	event->running = false;
	event->left_ns = period_of(event);
	start(event, cpu);
}

static void set_enabled(struct sim_event *event, bool on)
{
	if (sim.verbose > 1)
		printf("# %.3f ms: event %llu (CPU %d, task %d, config %llu, period %llu): %s\n",
		       (double)sim.now_ns / (double)SIM_MS,
		       (unsigned long long)event->id, event->cpu, event->pid,
		       (unsigned long long)event->attr.config, (unsigned long long)period_of(event),
		       on ? "on" : "off");
	if (event->enabled == on)
		return;
	event->enabled = on;
	event->ever_on |= on;
	if (on)
		event->enabled_since = sim.now_ns;
	else
		event->enabled_ns += sim.now_ns - event->enabled_since;
	if (on)
		consider(event);
	else
		stop(event);
}

/* -- Tasks and CPUs -------------------------------------------------------- */

void sim_perf_switch(struct sim_task *task, unsigned int cpu, bool in)
{
	const struct sim_context *context = task->context;
	for (size_t i = 0; context && i < context->count; i++) {
		struct sim_event *event = context->events[i];
		if (in && counts_on(event, cpu))
			start(event, cpu);
		else if (!in && event->running && (event->cpu < 0 || (unsigned int)event->cpu == cpu))
			stop(event);
	}
}

void sim_perf_fork(struct sim_task *parent, struct sim_task *child, bool thread)
{
	struct sim_context *from = parent->context;
	bool all = from != NULL;
	for (size_t i = 0; from && i < from->count; i++) {
		const struct sim_event *event = from->events[i];
		all &= event->attr.inherit && !event->closed && (thread || !event->attr.inherit_thread);
	}
	if (all) {
		child->context = from;
		from->users++;
	}
	for (size_t i = 0; from && !all && i < from->count; i++) {
		struct sim_event *event = from->events[i];
		if (event->attr.inherit && !event->closed && (thread || !event->attr.inherit_thread))
			add_to_context(&child->context, event);
	}
	for (size_t i = 0; child->context && i < child->context->count; i++)
		child->context->events[i]->tasks++;
}

void sim_perf_exit(struct sim_task *task)
{
	unsigned int cpu = task->cpu < 0 ? 0 : (unsigned int)task->cpu;
	if (task->cpu >= 0)
		sim_perf_switch(task, cpu, false);
	for (size_t i = 0; task->context && i < task->context->count; i++) {
		struct sim_event *event = task->context->events[i];
		if (!--event->tasks)
			sim_event_changed(event);
	}
	if (task->context)
		task->context->users--;
	task->context = NULL;
}

void sim_perf_exec(struct sim_task *task)
{
	for (size_t i = 0; task->context && i < task->context->count; i++) {
		struct sim_event *event = task->context->events[i];
		if (event->attr.enable_on_exec && !event->closed) {
			event->attr.enable_on_exec = 0;
			set_enabled(event, true);
		}
	}
}

/* Events of a CPU that goes off are removed from it for good. */
void sim_perf_cpu(unsigned int cpu, bool online)
{
	struct sim_context *context = sim_machine.cpus[cpu].context;
	for (size_t i = 0; !online && context && i < context->count; i++) {
		struct sim_event *event = context->events[i];
		stop(event);
		if (event->enabled && !event->detached)
			event->enabled_ns += sim.now_ns - event->enabled_since;
		event->detached = true;
	}
	sim_machine.cpus[cpu].reopens |= !online && context;
}

/* -- Calls ----------------------------------------------------------------- */

static int set_output(struct sim_event *event, int fd)
{
	if (fd < 0) {
		event->output = NULL;
		return 0;
	}
	const struct sim_open *open = sim_fd(fd);
	if (!open)
		return EBADF;
	struct sim_event *to = open->kind == SIM_EVENT ? open->event : NULL;
	if (!to || !to->ring || event->ring || to->output || to->cpu != event->cpu ||
	    to->attr.clockid != event->attr.clockid ||
	    to->attr.write_backward != event->attr.write_backward)
		return EINVAL;
	event->output = to;
	return 0;
}

static int attach(struct sim_event *event)
{
	if (event->pid < 0) {
		if (!sim_machine.cpus[event->cpu].online)
			return ENODEV;
		add_to_context(&sim_machine.cpus[event->cpu].context, event);
		return 0;
	}
	struct sim_task *task = sim_task_find(event->pid ? (uint32_t)event->pid : SIM_PID);
	if (!task || task->ended)
		return ESRCH;
	add_to_context(&task->context, event);
	event->tasks++;
	return 0;
}

int sim_perf_open(struct perf_event_attr *attr, int32_t pid, int32_t cpu, int group_fd,
		  unsigned long flags)
{
	struct sim_event *event = calloc(1, sizeof(*event));
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
	if (!event)
		abort();
	memcpy(&event->attr, attr, size < sizeof(*attr) ? size : sizeof(*attr));
	for (uint32_t i = 128; i < size; i++) /* PERF_ATTR_SIZE_VER7 */
		if (((const char *)attr)[i])
			return -E2BIG;
	int errnum = check_attr(&event->attr);
	if (errnum)
		return -errnum;
	if (cpu >= (int32_t)sim_machine.cpu_count || (cpu < 0 && pid < 0))
		return -EINVAL;
	if (is_refused(&event->attr, pid))
		return -EACCES;
	if (sim_machine.workload.refuses_own && cpu < 0 && pid > 0)
		return -EMFILE;
	event->pid = pid;
	event->cpu = cpu;
	event->id = FIRST_ID + sim_perf.event_count;
	errnum = flags & PERF_FLAG_FD_OUTPUT ? set_output(event, group_fd) : 0;
	if (!errnum)
		errnum = attach(event);
	if (errnum)
		return -errnum;
	if (sim_perf.event_count % 1024 == 0)
		sim_perf.events = realloc(sim_perf.events, (sim_perf.event_count + 1024) *
					  sizeof(struct sim_event *));
	sim_perf.events[sim_perf.event_count++] = event;
	struct sim_open *open = sim_open_new(SIM_EVENT, 0);
	open->event = event;
	event->open = open;
	set_enabled(event, !event->attr.disabled);
	if (pid < 0 && event->attr.comm)
		sim_cpu_reopened((unsigned int)cpu);
	return sim_fd_new(open, 3);
}

int sim_perf_ioctl(struct sim_event *event, unsigned long request, unsigned long arg)
{
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		set_enabled(event, request == PERF_EVENT_IOC_ENABLE);
		return 0;
	case PERF_EVENT_IOC_RESET:
		event->count_ns = 0;
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		stop(event);
		/* Clocks have no rate any more: the kernel made it a period. */
		memcpy(&event->changed_ns, (const void *)arg, sizeof(uint64_t));
		if (event->changed_ns < PERIOD_MIN)
			event->changed_ns = PERIOD_MIN;
		event->left_ns = 0;
		event->is_changed = true;
		consider(event);
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(event, (int)arg);
	case PERF_EVENT_IOC_ID:
		memcpy((void *)arg, &event->id, sizeof(event->id));
		return 0;
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		if (!event->ring)
			return EINVAL;
		event->ring->paused = arg;
		return 0;
	default:
		return EINVAL;
	}
}

ssize_t sim_perf_read(struct sim_event *event, void *buffer, size_t size)
{
	uint64_t words[8], format = event->attr.read_format, enabled_ns = event->enabled_ns;
	size_t count = 0;
	if (event->enabled && !event->detached)
		enabled_ns += sim.now_ns - event->enabled_since;
	uint64_t value = event->count_ns + (event->running ? sim.now_ns - event->running_since : 0);
	words[count++] = format & PERF_FORMAT_GROUP ? 1 : value;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[count++] = enabled_ns;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[count++] = enabled_ns;
	if (format & PERF_FORMAT_GROUP)
		words[count++] = value;
	if (format & PERF_FORMAT_ID)
		words[count++] = event->id;
	if (format & 16)
		words[count++] = event->lost;
	if (size < count * sizeof(*words)) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buffer, words, count * sizeof(*words));
	return (ssize_t)(count * sizeof(*words));
}

/* Memory that the kernel can write, mapped for the recorder as it wants it. */
static void *map_memory(size_t size, int prot, void **kernel_ret)
{
	int fd = __real_memfd_create("ring", 0);
	if (fd < 0 || __real_ftruncate(fd, (off_t)size) < 0)
		sim_fatal("this machine has no memory for a ring");
	void *kernel = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *user = prot & PROT_WRITE ? kernel : __real_mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	__real_close(fd);
	if (kernel == MAP_FAILED || user == MAP_FAILED)
		sim_fatal("this machine has no memory for a ring");
	*kernel_ret = kernel;
	return user;
}

void *sim_perf_map(struct sim_event *event, size_t size, int prot, uint64_t offset)
{
	size_t bytes = size - PAGE;
	void *kernel;
	if (offset || size < 2 * PAGE || (bytes & (bytes - 1)) || event->ring || event->output ||
	    (event->cpu < 0 && event->attr.inherit)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	struct sim_ring *ring = calloc(1, sizeof(*ring));
	if (!ring)
		abort();
	ring->map = map_memory(size, prot, &kernel);
	ring->map_size = size;
	ring->page = kernel;
	ring->data = (uint8_t *)kernel + PAGE;
	ring->size = bytes;
	ring->overwrite = !(prot & PROT_WRITE);
	ring->watermark = event->attr.watermark && event->attr.wakeup_watermark < bytes
				  ? event->attr.wakeup_watermark : bytes / 2;
	ring->page->data_offset = PAGE;
	ring->page->data_size = bytes;
	ring->number = (uint32_t)event->id;
	event->ring = ring;
	return ring->map;
}

void sim_perf_unmap(struct sim_ring *ring)
{
	sim_ring_check(ring);
	if ((void *)ring->page != ring->map)
		__real_munmap(ring->page, ring->map_size);
	for (size_t i = 0; i < sim_perf.event_count; i++)
		if (sim_perf.events[i]->ring == ring)
			sim_perf.events[i]->ring = NULL;
}

unsigned int sim_perf_poll(struct sim_event *event, bool peek)
{
	if (event->pid >= 0 && !event->tasks)
		return EPOLLHUP;
	struct sim_ring *ring = event->output ? event->output->ring : event->ring;
	bool pollable = ring && ring->pollable;
	if (ring && !peek)
		ring->pollable = false; /* perf_poll() does the same */
	return pollable ? EPOLLIN : 0;
}

void sim_perf_close(struct sim_event *event)
{
	set_enabled(event, false);
	event->closed = true;
}
