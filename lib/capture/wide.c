/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/wide.h"

#include <sprof/capture.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A second on each CPU, and not more than so many of all others. */
#define RATE_HZ 249
#define RATE_SHARE 4

/* So many copies find room in a ring; and they are so much larger, or of no use. */
#define RING_SHARE 16
#define LARGER 2

/* It stays on so long after the last stack that was cut. */
#define ON_NS 1000000000

/* As the others, but for the rate and the size. */
static struct perf_event_attr wide_attr(const struct event_plan *plan, uint32_t size)
{
	struct perf_event_attr attr = plan->samples[0].attr;
	uint64_t most = plan->freq_hz ? plan->freq_hz / RATE_SHARE : RATE_HZ;
	attr.freq = 1;
	attr.sample_freq = most && most < RATE_HZ ? most : RATE_HZ;
	attr.sample_stack_user = size;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	attr.size = event_attr_size(&attr);
	return attr;
}

static struct sp_error *open_one(const struct wide_options *options,
				 const struct perf_event_attr *attr, size_t index,
				 struct wide *wide)
{
	const struct event_kernel *kernel = event_kernel_real();
	uint64_t id;
	int output = event_set_ring_fd(options->set, index, EVENT_ROLE_SAMPLES);
	int fd = kernel->open(kernel->arg, attr, options->tid, (int32_t)options->cpus[index], output,
			      PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	if (fd < 0)
		return NULL;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
		close(fd);
		return NULL;
	}
	wide->fds[wide->count++] = fd;
	return u64map_put(&wide->ids, id, 0, NULL) ? NULL : error_no_memory();
}

struct sp_error *wide_open(const struct wide_options *options, struct wide *ret)
{
	uint64_t size = options->ring_bytes / RING_SHARE & ~(uint64_t)7;
	if (size > SP_STACK_BYTES_MAX)
		size = SP_STACK_BYTES_MAX;
	if (size < (uint64_t)LARGER * options->plan->samples[0].attr.sample_stack_user)
		return NULL;
	struct wide wide = {.fds = calloc(options->cpu_count, sizeof(*wide.fds))};
	struct sp_error *error = wide.fds ? NULL : error_no_memory();
	const struct perf_event_attr attr = wide_attr(options->plan, (uint32_t)size);
	for (size_t i = 0; i < options->cpu_count && !error; i++)
		error = open_one(options, &attr, i, &wide);
	if (error)
		wide_close(&wide);
	else
		*ret = wide;
	return error;
}

void wide_close(struct wide *wide)
{
	for (size_t i = 0; i < wide->count; i++)
		close(wide->fds[i]);
	free(wide->fds);
	u64map_deinit(&wide->ids);
	*wide = (struct wide){0};
}

static void enable(struct wide *wide, bool on)
{
	if (wide->enabled == on)
		return;
	wide->enabled = on;
	/* A task that has ended needs none: nothing else can be wrong. */
	for (size_t i = 0; i < wide->count; i++)
		(void)!ioctl(wide->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void wide_start(struct wide *wide, uint64_t now_ns)
{
	wide->until_ns = now_ns + ON_NS;
	enable(wide, true);
}

void wide_update(struct wide *wide, uint64_t cuts, uint64_t now_ns)
{
	if (cuts != wide->cuts)
		wide->until_ns = now_ns + ON_NS;
	wide->cuts = cuts;
	if (wide->until_ns)
		enable(wide, now_ns < wide->until_ns);
}
