/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/probe.h"

#include <string.h>
#include <sys/uio.h>
#include "capture/python/files.h"

static bool read_process(void *arg, uint64_t address, void *ret, size_t size)
{
	const struct python_probe *probe = arg;
	struct iovec local = {ret, size}, remote = {(void *)(uintptr_t)address, size};
	return process_vm_readv((pid_t)probe->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
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

void python_probe_begin(struct python_probe *probe, uint32_t pid)
{
	probe->pid = pid;
	python_memory_reset(&probe->memory);
}

bool python_probe_read(struct python_probe *probe, const struct python_process *process, uint32_t tid,
		       const struct stack_copy *sampled, bool *exact_ret)
{
	size_t place = tid % PYTHON_THREADS_KNOWN;
	if (probe->threads[place].tid != tid) {
		probe->threads[place].tid = tid;
		probe->threads[place].number = python_thread_number(probe->ctx, tid);
		probe->threads[place].thread = 0;
	}
	if (!python_thread_find(&probe->memory, &process->runtime, probe->threads[place].number,
				&probe->threads[place].thread))
		return false;
	python_stack_read(&probe->memory, &process->runtime.layout, probe->threads[place].thread,
			  &probe->stack);
	/* After the frames: they are of a time before which the thread did not run on. */
	*exact_ret = python_probe_is_unchanged(probe, sampled);
	return true;
}

bool python_probe_is_unchanged(struct python_probe *probe, const struct stack_copy *copy)
{
	uint8_t now[PYTHON_COMPARED_MAX];
	size_t size = copy->size < sizeof(now) ? (size_t)copy->size : sizeof(now);
	return size && read_process(probe, copy->low, now, size) && !memcmp(now, copy->bytes, size);
}
