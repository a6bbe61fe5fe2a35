/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/stack_prefault.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/hash.h"
#include "proc/maps.h"

/* Limits: jobs in a period, and time between two jobs for one page. */
#define PERIOD_NS 100000000
#define TIMES_MAX 50
#define AGAIN_NS 50000000

#define PAGES_MAX 40
#define PAGES_BELOW 32

/* Least range above SP: the next copies may be the largest. */
#define ABOVE_BYTES 65536

/* Pages to read in a process's stack. */
struct prefault_job {
	uint32_t pid;
	uint64_t page_size;
	uint64_t page, count; /* from the first missing one upwards */
	uint64_t sp_page;     /* pages below it are read, too */
	int errnum;           /* result of reading `page` */
};

void stack_prefault_init(struct stack_prefault *stack_prefault, struct proxies *proxies)
{
	*stack_prefault = (struct stack_prefault){
		.proxies = proxies_for_memory(proxies),
		.page_size = sysconf(_SC_PAGESIZE),
	};
}

/* Returns whether the limits permit a job for the page, and then counts it. */
static bool may_prefault(struct stack_prefault *stack_prefault, const struct prefault_stack *stack,
			 uint64_t page)
{
	size_t place = hash_pair(stack->pid, page) % PREFAULT_PLACES;
	if (stack_prefault->places[place].pid == stack->pid && stack_prefault->places[place].page == page &&
	    stack->time_ns - stack_prefault->places[place].time_ns < AGAIN_NS)
		return false;
	/* Samples of several CPUs come out of order: an older one is of this period, too. */
	if (stack->time_ns > stack_prefault->began_ns + PERIOD_NS) {
		stack_prefault->began_ns = stack->time_ns;
		stack_prefault->times = 0;
	}
	if (stack_prefault->times++ >= TIMES_MAX)
		return false;
	stack_prefault->places[place].pid = stack->pid;
	stack_prefault->places[place].page = page;
	stack_prefault->places[place].time_ns = stack->time_ns;
	return true;
}

/*
 * Reads a byte of each of `count` pages, from `page` upwards or downwards. Returns 0, or the errno.
 */
static int read_pages(uint32_t pid, uint64_t page, size_t count, int64_t step)
{
	uint8_t thrown_away[PAGES_MAX];
	struct iovec remote[PAGES_MAX];
	struct iovec local = {thrown_away, count};
	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){(void *)(uintptr_t)(page + (uint64_t)((int64_t)i * step)), 1};
	/* Stops at a page that is not of the stack. */
	return process_vm_readv(pid, &local, 1, remote, count, 0) < 0 ? errno : 0;
}

/*
 * Returns the number of pages below the stack pointer to read. From Linux 6.5 on, a read below a
 * main thread's stack fails with a warning in the kernel's log. Before 6.11, no cheap call returns
 * the stack's start; then the number is PAGES_BELOW.
 */
static size_t pages_below(const struct prefault_job *job)
{
	uint64_t start;
	if (maps_start_of(job->pid, job->sp_page, &start) != 0)
		return PAGES_BELOW;
	uint64_t pages = (job->sp_page - start) / job->page_size;
	return pages < PAGES_BELOW ? pages : PAGES_BELOW;
}

/* Does a job in the proxy, and sets its errnum. Returns -1: no descriptor. */
static int prefault(void *bytes)
{
	struct prefault_job *job = bytes;
	job->errnum = read_pages(job->pid, job->page, job->count, job->page_size);
	if (job->errnum != EPERM)
		read_pages(job->pid, job->sp_page - job->page_size, pages_below(job),
			   -(int64_t)job->page_size);
	return -1;
}

bool stack_prefault_page(struct stack_prefault *stack_prefault, const struct prefault_stack *stack)
{
	size_t page_size = stack_prefault->page_size;
	uint64_t mask = ~(uint64_t)(page_size - 1);
	uint32_t above = stack->asked > ABOVE_BYTES ? stack->asked : ABOVE_BYTES;
	uint64_t page = (stack->sp + stack->good) & mask, last = (stack->sp + above) & mask;
	if (stack->good >= stack->asked || last < page || !may_prefault(stack_prefault, stack, page))
		return false;
	size_t count = (size_t)((last - page) / page_size) + 1;
	struct prefault_job job = {
		.pid = stack->pid, .page_size = page_size, .page = page,
		.count = count < PAGES_MAX ? count : PAGES_MAX, .sp_page = stack->sp & mask,
	};
	if (!proxy_run(stack_prefault->proxies, stack->pid, prefault, &job, sizeof(job), NULL))
		return false;
	if (job.errnum != EPERM)
		stack_prefault->prefaulted++;
	else if (!stack_prefault->refused++)
		stack_prefault->refused_pid = stack->pid;
	return true;
}
