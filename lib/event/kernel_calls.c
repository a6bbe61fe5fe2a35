/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel refuses unknown attribute bits with EINVAL, and a larger attr with E2BIG. So all features
 * are tried at once, and each one alone only if that is refused.
 */
#include "event/kernel_calls.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/hw_breakpoint.h>
#include "base/vec.h"
#include "record/attr.h"

/*
 * ARM drivers ignore precise_ip, and none of their counters is precise. So precise events are refused
 * here, as other drivers do.
 */
#if defined(__aarch64__) || defined(__arm__)
static bool is_precise_counter(const struct perf_event_attr *attr)
{
	return attr->precise_ip && attr->type != PERF_TYPE_SOFTWARE &&
	       attr->type != PERF_TYPE_TRACEPOINT && attr->type != PERF_TYPE_BREAKPOINT;
}
#else
static bool is_precise_counter(const struct perf_event_attr *attr)
{
	(void)attr;
	return false;
}
#endif

/* Implements event_kernel.open. */
static int real_open(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		     int group_fd, unsigned long flags)
{
	(void)arg;
	if (is_precise_counter(attr))
		return -EOPNOTSUPP;
	/* If the kernel refuses the attr's size, it writes its own size into the attr. */
	const struct sp_attr_tail none = {0};
	struct long_attr copy = attr_whole(attr, &none);
	if (attr->size > sizeof(*attr) && attr->size <= sizeof(copy))
		memcpy(copy.bytes, (const char *)attr, attr->size);
	long fd = syscall(SYS_perf_event_open, &copy, pid, cpu, group_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static void real_close(void *arg, int fd)
{
	(void)arg;
	close(fd);
}

static int real_set_filter(void *arg, int fd, const char *filter)
{
	(void)arg;
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? errno : 0;
}

static int64_t real_try_breakpoint(void *arg)
{
	volatile int watched = 0;
	uint64_t count = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	attr.size = event_attr_size(&attr);
	int fd = real_open(arg, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	watched = 1;
	ssize_t got = read(fd, &count, sizeof(count));
	close(fd);
	return got == sizeof(count) ? (int64_t)count : -EIO;
}

static const struct event_kernel real_kernel = {
	.open = real_open, .close = real_close, .set_filter = real_set_filter,
	.try_breakpoint = real_try_breakpoint};

const struct event_kernel *event_kernel_real(void)
{
	return &real_kernel;
}

int event_set_filter(const struct event_kernel *kernel, int fd, const char *filter)
{
	return kernel->set_filter ? kernel->set_filter(kernel->arg, fd, filter) : EINVAL;
}

bool event_breakpoints_fail(const struct event_kernel *kernel)
{
	return kernel->try_breakpoint && kernel->try_breakpoint(kernel->arg) == 0;
}

/* Returns the smallest size of attr in any kernel version that holds all bytes that are not 0. */
static uint32_t smallest_size(const struct long_attr *whole)
{
	/* A smaller attr means zeros in the missing fields. */
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
	size_t used = sizeof(*whole);
	while (used > sizes[0] && !whole->bytes[used - 1])
		used--;
	size_t i = 0;
	while (sizes[i] < used && i + 1 < count_of(sizes))
		i++;
	return sizes[i];
}

uint32_t event_attr_size(const struct perf_event_attr *attr)
{
	const struct sp_attr_tail none = {0};
	const struct long_attr whole = attr_whole(attr, &none);
	return smallest_size(&whole);
}

int event_open_attr(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		    const struct sp_attr_tail *tail, const struct event_target *target)
{
	struct long_attr whole = attr_whole(attr, tail);
	whole.attr.size = smallest_size(&whole);
	return kernel->open(kernel->arg, &whole.attr, target->pid, target->cpu, target->group_fd,
			    target->flags);
}

/* Returns the simplest attr: an event on the own task that counts nothing. */
static struct perf_event_attr plainest(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static void request_comm_exec(struct perf_event_attr *attr)
{
	attr->comm = 1;
	attr->comm_exec = 1;
}

static void request_mmap2(struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
}

static void request_clock_id(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void request_format_lost(struct perf_event_attr *attr)
{
	attr->read_format = PERF_FORMAT_ID | EVENT_FORMAT_LOST;
}

static void request_build_id(struct perf_event_attr *attr)
{
	request_mmap2(attr);
	attr->build_id = 1;
}

static void request_ksymbol(struct perf_event_attr *attr)
{
	attr->ksymbol = 1;
}

static void request_bpf_event(struct perf_event_attr *attr)
{
	attr->bpf_event = 1;
}

static void request_text_poke(struct perf_event_attr *attr)
{
	attr->text_poke = 1;
}

static void request_weight_struct(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
}

static const struct feature {
	size_t offset; /* offset in struct event_support */
	void (*request)(struct perf_event_attr *attr);
} features[] = {
	{offsetof(struct event_support, comm_exec), request_comm_exec},
	{offsetof(struct event_support, mmap2), request_mmap2},
	{offsetof(struct event_support, clock_id), request_clock_id},
	{offsetof(struct event_support, format_lost), request_format_lost},
	{offsetof(struct event_support, build_id), request_build_id},
	{offsetof(struct event_support, ksymbol), request_ksymbol},
	{offsetof(struct event_support, bpf_event), request_bpf_event},
	{offsetof(struct event_support, text_poke), request_text_poke},
	{offsetof(struct event_support, weight_struct), request_weight_struct},
};
#define FEATURE_COUNT (count_of(features))

/* Tries an attr. Returns 0, or the errno. */
static int try_open(const struct event_kernel *kernel, struct perf_event_attr *attr)
{
	attr->size = event_attr_size(attr);
	int fd = kernel->open(kernel->arg, attr, 0, -1, -1, 0);
	if (fd < 0)
		return -fd;
	kernel->close(kernel->arg, fd);
	return 0;
}

int event_support_probe(const struct event_kernel *kernel, struct event_support *ret)
{
	struct event_support support = {0};
	struct perf_event_attr everything = plainest();
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		features[i].request(&everything);
	bool all = try_open(kernel, &everything) == 0;
	if (!all) {
		struct perf_event_attr plain = plainest();
		int errnum = try_open(kernel, &plain);
		if (errnum)
			return errnum;
	}
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		struct perf_event_attr attr = plainest();
		features[i].request(&attr);
		*(bool *)((char *)&support + features[i].offset) =
			all || try_open(kernel, &attr) == 0;
	}
	*ret = support;
	return 0;
}
