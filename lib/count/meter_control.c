/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operations on open events: the ioctls and prctls of perf_event_open(2), and signals. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "count/meter.h"

const struct metered *meter_at(const struct sp_meter *meter, size_t index)
{
	assert(index == SP_METER_GROUP || index < meter->count);
	return &meter->events[index == SP_METER_GROUP ? 0 : index];
}

/*
 * Returns true if a watchpoint may send a signal. arm64 and others report a watched access before
 * it happens, then step over it with the watchpoint off. A signal handler uses up that step; the
 * access then hits the watchpoint again, without end. (perf skips its own test on these machines.)
 */
#if defined(__x86_64__) || defined(__i386__)
#define WATCHING_SIGNALS true
#else
#define WATCHING_SIGNALS false
#endif

struct sp_error *metered_check_signal(const struct metered *event)
{
	if (WATCHING_SIGNALS || event->attr.type != PERF_TYPE_BREAKPOINT)
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "%s: on this architecture a signal would repeat the "
					  "watched instruction for ever", event->name),
				"poll(2) its descriptor, or read its ring buffer");
}

/* Calls one ioctl; `argument` is a number or a pointer. */
static struct sp_error *request(const struct sp_meter *meter, size_t index, unsigned long number,
				unsigned long argument, const char *what)
{
	const struct metered *event = meter_at(meter, index);
	if (ioctl(event->fd, number, argument) < 0)
		return error_os(errno, "%s: cannot %s", event->name, what);
	return NULL;
}

/* Apply a request to one event or the group; with SP_METER_APART, to each event. */
static struct sp_error *request_all(const struct sp_meter *meter, size_t index, unsigned long number,
				    const char *what)
{
	if (index != SP_METER_GROUP)
		return request(meter, index, number, 0, what);
	if (!meter->apart)
		return request(meter, 0, number, PERF_IOC_FLAG_GROUP, what);
	struct sp_error *error = NULL;
	for (size_t i = 0; i < meter->count && !error; i++)
		error = request(meter, i, number, 0, what);
	return error;
}

struct sp_error *sp_meter_enable(struct sp_meter *meter, size_t index)
{
	return request_all(meter, index, PERF_EVENT_IOC_ENABLE, "be enabled");
}

struct sp_error *sp_meter_disable(struct sp_meter *meter, size_t index)
{
	return request_all(meter, index, PERF_EVENT_IOC_DISABLE, "be disabled");
}

struct sp_error *sp_meter_reset(struct sp_meter *meter, size_t index)
{
	return request_all(meter, index, PERF_EVENT_IOC_RESET, "be set to 0");
}

struct sp_error *sp_meter_refresh(struct sp_meter *meter, size_t index, uint32_t count)
{
	return request(meter, index, PERF_EVENT_IOC_REFRESH, count, "count down samples");
}

struct sp_error *sp_meter_set_period(struct sp_meter *meter, size_t index, uint64_t period)
{
	return request(meter, index, PERF_EVENT_IOC_PERIOD, (unsigned long)&period,
		       "have that period");
}

struct sp_error *sp_meter_set_output(struct sp_meter *meter, size_t index, struct sp_meter *output)
{
	/* -1 removes the program. */
	unsigned long fd = output ? (unsigned long)output->events[0].fd : (unsigned long)-1;
	return request(meter, index, PERF_EVENT_IOC_SET_OUTPUT, fd, "write to that ring");
}

struct sp_error *sp_meter_set_filter(struct sp_meter *meter, size_t index, const char *filter)
{
	struct sp_error *error = request(meter, index, PERF_EVENT_IOC_SET_FILTER,
					 (unsigned long)(uintptr_t)filter, "have that filter");
	if (error && sp_error_errno(error) == EEXIST)
		return error_set_remedy(error, "it has a BPF program already: open another event");
	if (!error || sp_error_errno(error) != EINVAL)
		return error;
	return error_set_remedy(error, "\"%s\": fields are those of the tracepoint's format file "
				       "(sprof list -v), address filters are of PMUs with AUX areas",
				filter);
}

struct sp_error *sp_meter_id(const struct sp_meter *meter, size_t index, uint64_t *ret)
{
	return request(meter, index, PERF_EVENT_IOC_ID, (unsigned long)(uintptr_t)ret, "tell its id");
}

struct sp_error *sp_meter_set_bpf(struct sp_meter *meter, size_t index, int program_fd)
{
	return request(meter, index, PERF_EVENT_IOC_SET_BPF, program_fd, "run that BPF program");
}

struct sp_error *sp_meter_query_bpf(const struct sp_meter *meter, size_t index, uint32_t *ids,
				    uint32_t capacity, uint32_t *count_ret)
{
	/* ids_len, prog_cnt, ids[] */
	CLEANUP_FREE struct perf_event_query_bpf *query =
		calloc(1, sizeof(*query) + capacity * sizeof(uint32_t));
	NEED(query);
	query->ids_len = capacity;
	const struct metered *event = meter_at(meter, index);
	/* ENOSPC: there are more; the kernel wrote as many as fit. */
	if (ioctl(event->fd, PERF_EVENT_IOC_QUERY_BPF, query) < 0 && errno != ENOSPC)
		return error_os(errno, "cannot query the BPF programs of %s", event->name);
	uint32_t copied = query->prog_cnt < capacity ? query->prog_cnt : capacity;
	if (copied)
		memcpy(ids, query->ids, copied * sizeof(*ids));
	*count_ret = query->prog_cnt;
	return NULL;
}

struct sp_error *sp_meter_pause_output(struct sp_meter *meter, size_t index, bool pause)
{
	return request(meter, index, PERF_EVENT_IOC_PAUSE_OUTPUT, pause, "pause its ring");
}

struct sp_error *sp_meter_modify(struct sp_meter *meter, size_t index,
				 const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	copy.size = event_attr_size(&copy);
	struct sp_error *error = request(meter, index, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
					 (unsigned long)&copy, "be modified");
	if (!error)
		meter->events[index].attr = copy;
	return error;
}

struct sp_error *sp_meter_disable_all(void)
{
	return prctl(PR_TASK_PERF_EVENTS_DISABLE) < 0
		       ? error_os(errno, "cannot disable the thread's events") : NULL;
}

struct sp_error *sp_meter_enable_all(void)
{
	return prctl(PR_TASK_PERF_EVENTS_ENABLE) < 0
		       ? error_os(errno, "cannot enable the thread's events") : NULL;
}

struct sp_error *sp_meter_set_signal(struct sp_meter *meter, size_t index, int signal_number, pid_t tid)
{
	const struct metered *event = meter_at(meter, index);
	const struct f_owner_ex owner = {.type = F_OWNER_TID,
					 .pid = tid ? tid : (pid_t)syscall(SYS_gettid)};
	int flags = fcntl(event->fd, F_GETFL);
	bool fine = flags >= 0;
	TRY(signal_number ? metered_check_signal(event) : NULL);
	if (signal_number) {
		/* First the receiver, then the signal, then the mode. */
		fine = fine && fcntl(event->fd, F_SETOWN_EX, &owner) == 0 &&
		       fcntl(event->fd, F_SETSIG, signal_number) == 0 &&
		       fcntl(event->fd, F_SETFL, flags | O_ASYNC) == 0;
	} else {
		fine = fine && fcntl(event->fd, F_SETFL, flags & ~O_ASYNC) == 0;
	}
	return fine ? NULL : error_os(errno, "%s: cannot send signal %d", event->name, signal_number);
}
