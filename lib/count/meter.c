/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens meters, and reads them. The page of each event of the caller's own thread is mapped, so
 * that the event can be read in user space if CPU and kernel allow it. This takes a page of locked
 * memory; without that, it is not mapped.
 */
#include "count/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/sized.h"
#include "count/count_page.h"
#include "event/attr_refusal.h"
#include "event/rights.h"
#include "proc/cgroup.h"

/* Bits of the read format that all kernels have. */
#define FORMAT_ALL                                                                        \
	((uint64_t)(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |     \
		    PERF_FORMAT_ID))

/* "rdpmc" in /sys/bus/event_source/devices/armv8_…/format: config1:1. */
#if defined(__aarch64__)
#define USER_ACCESS UINT64_C(2)
#else
#define USER_ACCESS UINT64_C(0)
#endif

DEFINE_CLEANUP(struct sp_meter *, sp_meter_free)

/* Data shared while a meter's events are opened. */
struct meter_opening {
	struct sp_ctx *ctx;
	const struct sp_meter_options *options;
	struct sp_meter *meter;
	int32_t pid, cpu;
	unsigned long flags;
	bool sampling;
};

static bool has(const struct meter_opening *opening, enum sp_meter_flag flag)
{
	return opening->options->flags & flag;
}

static struct sp_error *find_events(struct meter_opening *opening)
{
	struct sp_meter *meter = opening->meter;
	const struct sp_meter_options *options = opening->options;
	TRY(options->attr ? NULL : event_specs_parse(&meter->specs, opening->ctx, options->events));
	meter->count = options->attr ? 1 : meter->specs.count;
	meter->events = calloc(meter->count + 1, sizeof(*meter->events));
	meter->before = calloc(meter->count + 1, sizeof(*meter->before));
	meter->scratch = calloc(meter->count + 1, sizeof(*meter->scratch));
	meter->buffer = malloc(meter_buffer_size(meter));
	for (size_t i = 0; meter->events && i < meter->count; i++)
		meter->events[i].fd = -1;
	NEED(meter->events && meter->before && meter->scratch && meter->buffer);
	if (options->leader) {
		struct sp_meter *leader = options->leader;
		leader->joined += meter->count;
		uint64_t *grown = realloc(leader->buffer, meter_buffer_size(leader));
		NEED(grown);
		leader->buffer = grown;
	}
	for (size_t i = 0; i < meter->count; i++) {
		struct metered *event = &meter->events[i];
		event->name = options->attr ? "event" : meter->specs.items[i].name;
		event->attr = options->attr ? *options->attr : meter->specs.items[i].attr;
		event->tail = options->attr ? options->attr_tail : meter->specs.items[i].tail;
		if (!options->attr && meter->specs.items[i].tool)
			return error_set_remedy(
				error_new(SP_ERROR_INVALID, "%s is not a kernel event", event->name),
				"use clock_gettime(2) or getrusage(2)");
	}
	return NULL;
}

static bool waits(const struct meter_opening *opening)
{
	return opening->options->flags & (SP_METER_DISABLED | SP_METER_ENABLE_ON_EXEC);
}

/*
 * Enables a group when all its members are open. If a member of another PMU (such as task-clock)
 * joins a running group, Linux 6.18 does not schedule it before the next switch, although its times
 * advance.
 */
static struct sp_error *begin_group(const struct meter_opening *opening)
{
	struct sp_meter *meter = opening->meter;
	if (meter->count < 2 || meter->apart || waits(opening) || opening->options->leader)
		return NULL;
	return sp_meter_enable(meter, 0);
}

/* Apply the options; an attr that was given is changed only by explicit options. */
static void set_attr(const struct meter_opening *opening, size_t index,
		     struct perf_event_attr *attr)
{
	const struct sp_meter_options *options = opening->options;
	bool leads = index == 0 || has(opening, SP_METER_APART);
	bool grouped = opening->meter->count > 1 && !has(opening, SP_METER_APART);
	/* Members run if their leader runs. */
	attr->disabled |= leads && (grouped || waits(opening));
	attr->enable_on_exec |= leads && has(opening, SP_METER_ENABLE_ON_EXEC);
	attr->inherit |= has(opening, SP_METER_INHERIT) || has(opening, SP_METER_INHERIT_THREAD);
	attr->inherit_thread |= has(opening, SP_METER_INHERIT_THREAD);
	attr->remove_on_exec |= has(opening, SP_METER_REMOVE_ON_EXEC);
	attr->sigtrap |= has(opening, SP_METER_SIGTRAP);
	if (has(opening, SP_METER_SIGTRAP))
		attr->sig_data = options->sig_data;
	if (options->period)
		attr->sample_period = options->period;
	if (options->freq_hz) {
		attr->freq = 1;
		attr->sample_freq = options->freq_hz;
	}
	attr->sample_type |= options->sample_type;
	if (options->wakeup_bytes) {
		attr->watermark = 1;
		attr->wakeup_watermark = options->wakeup_bytes;
	} else if (!attr->wakeup_events && attr->sample_period) {
		attr->wakeup_events = options->wakeup_events ? options->wakeup_events : 1;
	}
	if (options->attr && !options->read_format)
		return;
	attr->read_format = options->read_format ? options->read_format : FORMAT_ALL | EVENT_FORMAT_LOST;
	if (grouped && !options->read_format)
		attr->read_format |= PERF_FORMAT_GROUP;
}

/* Requests an id at the same offset of all records: it identifies a record's event. */
static void set_sampling(struct meter_opening *opening)
{
	struct sp_meter *meter = opening->meter;
	for (size_t i = 0; i < meter->count; i++)
		opening->sampling |= meter->events[i].attr.sample_period != 0;
	for (size_t i = 0; i < meter->count && opening->sampling && !opening->options->attr; i++) {
		meter->events[i].attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
		meter->events[i].attr.sample_id_all = 1;
	}
}

static struct sp_error *refusal(const struct meter_opening *opening, size_t index, int errnum)
{
	static const enum rights_action actions[] = {
		[SP_METER_SELF] = RIGHTS_KERNEL, [SP_METER_TASK] = RIGHTS_TASK,
		[SP_METER_CPU] = RIGHTS_CPU_WIDE, [SP_METER_CGROUP] = RIGHTS_CGROUP};
	const struct metered *event = &opening->meter->events[index];
	enum rights_action action = actions[opening->options->target];
	if (action == RIGHTS_CGROUP)
		action = rights_of_group(&event->attr);
	struct rights rights;
	if (errnum == ESRCH)
		return error_new(SP_ERROR_NOT_FOUND, "no thread %d", opening->pid);
	struct sp_error *error = rights_read(opening->ctx, &rights);
	const struct event_refusal refused = {
		.kernel = event_kernel_real(), .rights = &rights, .event = event->name,
		.whole = attr_whole(&event->attr, &event->tail),
		.pid = opening->pid, .cpu = opening->cpu, .flags = opening->flags, .errnum = errnum,
	};
	const struct event_field *field = error ? NULL : event_field_find_refused(&refused);
	if (field && errnum != EACCES && errnum != EPERM)
		return event_field_error(&refused, field);
	if (!error && (error = event_value_error(&refused)))
		return error;
	if (errnum == EINVAL && !error)
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%s: the kernel rejects this combination of options",
				  event->name),
			"see `sprof list --limits` and perf_event_open(2)");
	return error ? error
		     : rights_explain(&rights, action, event->name, errnum);
}

/*
 * Returns the descriptor, or -errno. Clears newer bits of the read format if the kernel rejects
 * them and the options do not set them.
 */
static int try_open(const struct meter_opening *opening, struct metered *event, int group_fd)
{
	const struct event_kernel *kernel = event_kernel_real();
	bool keep = has(opening, SP_METER_KEEP_ON_EXEC);
	for (;;) {
		event->attr.size = event_attr_size(&event->attr);
		const struct event_target target = {opening->pid, opening->cpu, group_fd,
						    opening->flags};
		int fd = event_open_attr(kernel, &event->attr, &event->tail, &target);
		if (fd == -EINVAL && !opening->options->read_format &&
		    (event->attr.read_format & EVENT_FORMAT_LOST)) {
			event->attr.read_format &= ~(uint64_t)EVENT_FORMAT_LOST;
			continue;
		}
		/* The kernel sets PERF_FLAG_FD_CLOEXEC, which has the same effect. */
		if (fd >= 0 && keep)
			fcntl(fd, F_SETFD, 0);
		return fd;
	}
}

static struct sp_error *open_event(const struct meter_opening *opening, size_t index)
{
	struct sp_meter *meter = opening->meter;
	struct metered *event = &meter->events[index];
	int group_fd = opening->options->leader ? opening->options->leader->events[0].fd : -1;
	if (index && !has(opening, SP_METER_APART))
		group_fd = meter->events[0].fd;
	int fd = try_open(opening, event, group_fd);
	if (fd < 0)
		return refusal(opening, index, -fd);
	event->fd = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id) < 0)
		return error_os(errno, "cannot read the id of %s", event->name);
	return NULL;
}

/* The leader has the ring; the others of its meter use it. */
static struct sp_error *map_ring(const struct meter_opening *opening)
{
	struct sp_meter *meter = opening->meter;
	size_t page = sysconf(_SC_PAGESIZE), size = opening->options->ring_bytes;
	/* The leader's meter has the ring. */
	if (has(opening, SP_METER_FD_OUTPUT) || (!opening->sampling && !size))
		return NULL;
	size = size ? size : page;
	if (size < page || (size & (size - 1)))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "invalid ring buffer size %zu", size),
					"use 2^n pages of %zu bytes", page);
	TRY(ring_map(&meter->ring, meter->events[0].fd, size));
	meter->events[0].page = meter->ring.page;
	for (size_t i = 1; i < meter->count; i++)
		if (ioctl(meter->events[i].fd, PERF_EVENT_IOC_SET_OUTPUT, meter->events[0].fd) < 0)
			return error_os(errno, "cannot redirect the samples of %s to the ring buffer of %s",
					meter->events[i].name, meter->events[0].name);
	return NULL;
}

static struct sp_error *make_decoder(struct sp_meter *meter)
{
	if (!meter->ring.page)
		return NULL;
	meter->layout = calloc(meter->count, sizeof(*meter->layout));
	meter->bounce = malloc(UINT16_MAX + 1);
	NEED(meter->layout && meter->bounce);
	for (size_t i = 0; i < meter->count; i++)
		meter->layout[i] = (struct sp_event){.name = meter->events[i].name,
						     .attr = meter->events[i].attr,
						     .ids = &meter->events[i].id,
						     .id_count = 1};
	const struct record_layout layout = {
		.events = meter->layout, .event_count = meter->count, .path = "ring"};
	return decoder_new(&layout, &meter->decoder);
}

static void map_pages(const struct meter_opening *opening)
{
	struct sp_meter *meter = opening->meter;
	meter->map_size = sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < meter->count; i++) {
		struct metered *event = &meter->events[i];
		bool directed = (opening->sampling && i) || has(opening, SP_METER_FD_OUTPUT);
		if (event->page || directed)
			continue;
		void *page = mmap(NULL, meter->map_size, PROT_READ, MAP_SHARED, event->fd, 0);
		event->page = page == MAP_FAILED ? NULL : page;
	}
}

/* arm64 allows reading in user space only for events with this bit; x86 has no such bit. */
static void request_user_access(const struct meter_opening *opening, size_t index)
{
	struct perf_event_attr *attr = &opening->meter->events[index].attr;
	if (opening->meter->syscalls || opening->options->attr)
		return;
	/*
	 * On hybrid machines, events of generic types cannot be read in user space, so a PMU is
	 * named.
	 */
	const char *pmu = opening->meter->specs.items[index].pmu;
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	    attr->type == PERF_TYPE_RAW || (pmu && !strncmp(pmu, "armv8_", 6)))
		attr->config1 |= USER_ACCESS;
}

static struct sp_error *find_target(struct meter_opening *opening, int *cgroup_fd)
{
	const struct sp_meter_options *options = opening->options;
	CLEANUP(cgroup_hierarchy_deinit) struct cgroup_hierarchy hierarchy = {0};
	bool on_cpu = has(opening, SP_METER_ON_CPU);
	opening->flags = (has(opening, SP_METER_NO_GROUP) ? PERF_FLAG_FD_NO_GROUP : 0) |
			 (has(opening, SP_METER_FD_OUTPUT) ? PERF_FLAG_FD_OUTPUT : 0);
	opening->cpu = on_cpu || options->target >= SP_METER_CPU ? options->cpu : -1;
	opening->pid = options->target == SP_METER_TASK ? options->tid
		       : options->target == SP_METER_SELF ? 0 : -1;
	if (options->target != SP_METER_CGROUP)
		return NULL;
	struct sp_error *error = cgroup_hierarchy_find(opening->ctx, &hierarchy);
	if (!error)
		error = cgroup_open(opening->ctx, &hierarchy, options->cgroup, cgroup_fd);
	opening->pid = *cgroup_fd;
	opening->flags |= PERF_FLAG_PID_CGROUP;
	return error;
}

struct sp_error *sp_meter_open(struct sp_ctx *ctx, const struct sp_meter_options *options,
			       struct sp_meter **ret)
{
	CLEANUP(cleanup_sp_meter_free) struct sp_meter *meter = calloc(1, sizeof(*meter));
	CLEANUP_CLOSE int cgroup_fd = -1;
	struct sp_meter_options copy;
	NEED(meter);
	TRY(sized_copy(&copy, sizeof(copy), options));
	struct meter_opening opening = {.ctx = ctx, .options = &copy, .meter = meter};
	meter->apart = has(&opening, SP_METER_APART);
	/* Only the thread itself may read its counters; they lack the counts of its children. */
	meter->syscalls = copy.target != SP_METER_SELF ||
			  (copy.flags & (SP_METER_SYSCALLS | SP_METER_INHERIT | SP_METER_INHERIT_THREAD));
	struct sp_error *error = find_events(&opening);
	if (!error)
		error = find_target(&opening, &cgroup_fd);
	for (size_t i = 0; i < meter->count && !error; i++) {
		set_attr(&opening, i, &meter->events[i].attr);
		request_user_access(&opening, i);
		if (has(&opening, SP_METER_SIGTRAP))
			error = metered_check_signal(&meter->events[i]);
	}
	set_sampling(&opening);
	for (size_t i = 0; i < meter->count && !error; i++)
		error = open_event(&opening, i);
	error = error ? error : map_ring(&opening);
	TRY(error ? error : make_decoder(meter));
	map_pages(&opening);
	TRY(begin_group(&opening));
	*ret = take_ptr(meter);
	return NULL;
}

void sp_meter_free(struct sp_meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->count && meter->events; i++) {
		struct metered *event = &meter->events[i];
		if (event->page && event->page != meter->ring.page)
			munmap(event->page, meter->map_size);
	}
	ring_deinit(&meter->ring);
	/* Members before their leader. */
	for (size_t i = meter->events ? meter->count : 0; i-- > 0;)
		cleanup_close(&meter->events[i].fd);
	decoder_free(meter->decoder);
	event_specs_deinit(&meter->specs);
	free(meter->layout);
	free(meter->bounce);
	free(meter->events);
	free(meter->before);
	free(meter->scratch);
	free(meter->buffer);
	free(meter);
}

size_t sp_meter_count(const struct sp_meter *meter)
{
	return meter->count;
}

const char *sp_meter_name(const struct sp_meter *meter, size_t index)
{
	return meter_at(meter, index)->name;
}

const struct perf_event_attr *sp_meter_attr(const struct sp_meter *meter, size_t index)
{
	return &meter_at(meter, index)->attr;
}

int sp_meter_fd(const struct sp_meter *meter, size_t index)
{
	return meter_at(meter, index)->fd;
}
