/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/python_probe.h"

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/clock.h"
#include "capture/python/interpreter_files.h"
#include "proc/proc_tasks.h"

/* Time after which a process's user is checked again. */
#define OWNER_NS UINT64_C(1000000000)

/* Requests to a proxy, and their results. */
struct part_job {
	uint32_t pid;
	bool is_good;
	uint64_t address, size;
	uint8_t bytes[PYTHON_PAGE];
};

struct stack_job {
	uint32_t pid;
	struct python_runtime runtime;
	uint64_t number, thread;
	struct stack_copy compared; /* without its bytes, which are: */
	uint8_t bytes[PYTHON_COMPARED_MAX];
	bool is_found, is_unchanged;
	size_t prefetch_count; /* addresses, for a job without a stack */
	uint64_t prefetched[PYTHON_PREFETCH_MAX];
	struct python_memory memory;
	struct python_stack stack;
};
_Static_assert(sizeof(struct stack_job) <= PROXY_BYTES, "a job fits the memory of a proxy");

static bool read_memory(uint32_t pid, uint64_t address, void *ret, size_t size)
{
	struct iovec local = {ret, size}, remote = {(void *)(uintptr_t)address, size};
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static int read_part(void *bytes)
{
	struct part_job *job = bytes;
	job->is_good = read_memory(job->pid, job->address, job->bytes, job->size);
	return -1;
}

static bool read_process(void *arg, uint64_t address, void *ret, size_t size)
{
	const struct python_probe *probe = arg;
	if (!probe->proxies)
		return read_memory(probe->pid, address, ret, size);
	struct proxy *proxy = proxy_get(probe->proxies, probe->pid);
	struct part_job *job = proxy ? proxy_bytes(proxy) : NULL;
	if (!job)
		return false;
	job->pid = probe->pid;
	job->address = address;
	job->size = size;
	if (!proxy_call(probe->proxies, proxy, read_part, NULL))
		return false;
	bool good = job->is_good;
	memcpy(ret, job->bytes, size);
	proxy_release(probe->proxies, proxy);
	return good;
}

static bool read_for_job(void *arg, uint64_t address, void *ret, size_t size)
{
	const struct stack_job *job = arg;
	return read_memory(job->pid, address, ret, size);
}

static bool compare(python_read_fn *read, void *arg, const struct stack_copy *copy)
{
	uint8_t now[PYTHON_COMPARED_MAX];
	size_t size = copy->size < sizeof(now) ? (size_t)copy->size : sizeof(now);
	return size && read(arg, copy->low, now, size) && !memcmp(now, copy->bytes, size);
}

static int run_stack_job(void *bytes)
{
	struct stack_job *job = bytes;
	uint8_t byte;
	job->memory.read = read_for_job;
	job->memory.arg = job;
	python_memory_reset(&job->memory);
	job->stack.frame_count = job->stack.group_count = 0;
	for (size_t i = 0; i < job->prefetch_count; i++)
		python_memory_get(&job->memory, job->prefetched[i], &byte, 1);
	job->is_found = !job->prefetch_count &&
			python_thread_find(&job->memory, &job->runtime, job->number, &job->thread);
	if (!job->is_found)
		return -1;
	python_stack_read(&job->memory, &job->runtime.layout, job->thread, &job->stack);
	job->compared.bytes = job->bytes;
	/* Checked after the frames: they are of a time before which the thread did not continue. */
	job->is_unchanged = compare(read_for_job, job, &job->compared);
	return -1;
}

/* Copies the job's pages and, if found, its stack to the probe. */
static void copy_results(struct python_probe *probe, const struct stack_job *job)
{
	struct python_memory *memory = &probe->memory;
	const struct python_stack *stack = &job->stack;
	memcpy(memory, &job->memory, offsetof(struct python_memory, bytes));
	memory->read = read_process;
	memory->arg = probe;
	memcpy(memory->bytes, job->memory.bytes, memory->count * sizeof(*memory->bytes));
	if (!job->is_found)
		return;
	memcpy(&probe->stack, stack, offsetof(struct python_stack, frames));
	memcpy(probe->stack.frames, stack->frames, stack->frame_count * sizeof(*stack->frames));
}

static struct stack_job *get_stack_job(struct python_probe *probe, struct proxy **proxy_ret)
{
	*proxy_ret = proxy_get(probe->proxies, probe->pid);
	struct stack_job *job = *proxy_ret ? proxy_bytes(*proxy_ret) : NULL;
	if (job) {
		job->pid = probe->pid;
		job->prefetch_count = 0;
	}
	return job;
}

/* Reads by a proxy, in one call. */
static bool read_stack(struct python_probe *probe, const struct python_process *process,
		       size_t place, const struct stack_copy *sampled, bool *exact_ret)
{
	struct proxy *proxy;
	struct stack_job *job = get_stack_job(probe, &proxy);
	if (!job)
		return false;
	job->runtime = process->runtime;
	job->number = probe->threads[place].number;
	job->thread = probe->threads[place].thread;
	job->compared = *sampled;
	memcpy(job->bytes, sampled->bytes,
	       sampled->size < sizeof(job->bytes) ? (size_t)sampled->size : sizeof(job->bytes));
	if (!proxy_call(probe->proxies, proxy, run_stack_job, NULL))
		return false;
	bool found = job->is_found;
	probe->threads[place].thread = job->thread;
	*exact_ret = found && job->is_unchanged;
	copy_results(probe, job);
	proxy_release(probe->proxies, proxy);
	return found;
}

void python_probe_prefetch(struct python_probe *probe, const uint64_t *addresses, size_t count)
{
	struct proxy *proxy;
	struct stack_job *job = probe->proxies && count ? get_stack_job(probe, &proxy) : NULL;
	if (!job)
		return;
	job->prefetch_count = count;
	memcpy(job->prefetched, addresses, count * sizeof(*addresses));
	if (!proxy_call(probe->proxies, proxy, run_stack_job, NULL))
		return;
	copy_results(probe, job);
	proxy_release(probe->proxies, proxy);
}

struct python_probe *python_probe_new(const struct sp_ctx *ctx)
{
	struct python_probe *probe = calloc(1, sizeof(*probe));
	if (!probe)
		return NULL;
	probe->ctx = ctx;
	probe->memory.read = read_process;
	probe->memory.arg = probe;
	return probe;
}

/*
 * Whether the process is the recorder's user's. A thread runs on while a proxy gets a CPU, so that
 * most stacks read by proxies do not fit the samples on a busy machine. This process is not
 * hostile: it is read here.
 */
static bool is_own(struct python_probe *probe, uint32_t pid)
{
	size_t place = pid % PYTHON_OWNERS_KNOWN;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t uid;
	if (probe->owners[place].pid != pid || now_ns > probe->owners[place].until_ns) {
		probe->owners[place].pid = pid;
		probe->owners[place].until_ns = now_ns + OWNER_NS;
		probe->owners[place].is_own = tasks_owner(probe->ctx, pid, &uid) &&
					      uid == geteuid();
	}
	return probe->owners[place].is_own;
}

void python_probe_begin(struct python_probe *probe, uint32_t pid)
{
	probe->pid = pid;
	probe->is_own = is_own(probe, pid);
	probe->proxies = probe->is_own ? NULL : proxies_for_memory(ctx_proxies(probe->ctx));
	python_memory_reset(&probe->memory);
}

bool python_probe_read(struct python_probe *probe, const struct python_process *process,
		       uint32_t tid, const struct stack_copy *sampled, bool *exact_ret)
{
	size_t place = tid % PYTHON_THREADS_KNOWN;
	if (probe->threads[place].tid != tid) {
		probe->threads[place].tid = tid;
		probe->threads[place].number = tasks_inner_id(probe->ctx, tid);
		probe->threads[place].thread = 0;
	}
	if (probe->proxies)
		return read_stack(probe, process, place, sampled, exact_ret);
	if (!python_thread_find(&probe->memory, &process->runtime, probe->threads[place].number,
				&probe->threads[place].thread))
		return false;
	python_stack_read(&probe->memory, &process->runtime.layout, probe->threads[place].thread,
			  &probe->stack);
	/* Checked after the frames: they are of a time before which the thread did not continue. */
	*exact_ret = python_probe_is_unchanged(probe, sampled);
	return true;
}

bool python_probe_is_unchanged(struct python_probe *probe, const struct stack_copy *copy)
{
	return compare(read_process, probe, copy);
}
