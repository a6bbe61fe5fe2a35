/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python.h"

#include <string.h>
#include <sys/uio.h>
#include "base/cleanup.h"
#include "capture/python_codes.h"
#include "capture/python_files.h"

/* Processes whose code objects a worker remembers. */
#define KNOWN_PROCESSES 16

/* Threads whose state's address a worker remembers. */
#define KNOWN_THREADS 256

/* Largest part of the stack copy that is compared with memory. */
#define COMPARED_MAX 1024

struct python {
	const struct binary_env *binaries;
	struct live *live;
	struct python_processes processes;
	struct python_functions functions;
	struct python_files files;
};

struct known_process {
	uint32_t pid;
	uint64_t generation;
	uint64_t used_ns;
	struct python_codes codes;
};

struct python_worker {
	struct python *python;
	struct python_memory memory;
	uint32_t read_pid;
	struct python_stack stack;
	struct known_process processes[KNOWN_PROCESSES];
	struct {
		uint32_t tid, number; /* number: in the process's PID namespace */
		uint64_t thread;
	} threads[KNOWN_THREADS];
	struct python_counts counts;
};

DEFINE_CLEANUP(struct python *, python_free)

struct python *python_new(const struct binary_env *binaries, struct live *live)
{
	struct python *python = calloc(1, sizeof(*python));
	if (!python)
		return NULL;
	python->binaries = binaries;
	python->live = live;
	python_processes_init(&python->processes);
	python_functions_init(&python->functions);
	python_files_init(&python->files);
	return python;
}

void python_free(struct python *python)
{
	if (!python)
		return;
	python_files_deinit(&python->files);
	python_functions_deinit(&python->functions);
	python_processes_deinit(&python->processes);
	free(python);
}

struct sp_error *python_on_record(struct python *python, const struct sp_record *record)
{
	return python_processes_on_record(&python->processes, record) ? NULL : error_no_memory();
}

struct sp_error *python_encode(struct python *python, struct record_buffer *buffer)
{
	return python_functions_encode(&python->functions, buffer);
}

void python_restart(struct python *python)
{
	python_functions_restart(&python->functions);
}

static bool read_process(void *arg, uint64_t address, void *ret, size_t size)
{
	const struct python_worker *worker = arg;
	struct iovec local = {ret, size}, remote = {(void *)(uintptr_t)address, size};
	return process_vm_readv((pid_t)worker->read_pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

struct python_worker *python_worker_new(struct python *python)
{
	struct python_worker *worker = calloc(1, sizeof(*worker));
	if (!worker)
		return NULL;
	worker->python = python;
	worker->memory.read = read_process;
	worker->memory.arg = worker;
	return worker;
}

void python_worker_free(struct python_worker *worker)
{
	if (!worker)
		return;
	for (size_t i = 0; i < KNOWN_PROCESSES; i++)
		python_codes_deinit(&worker->processes[i].codes);
	free(worker);
}

void python_counts_add(struct python_counts *sum, const struct python_worker *worker)
{
	sum->samples += worker->counts.samples;
	sum->groups += worker->counts.groups;
	sum->exact += worker->counts.exact;
	sum->inserted += worker->counts.inserted;
	sum->unreadable += worker->counts.unreadable;
}

/* Finds the interpreter's data, once for each program. */
static void look_up(struct python_worker *worker, uint32_t view, struct python_process *process)
{
	struct python *python = worker->python;
	struct location at = live_locate(python->live, view, process->code_start);
	struct python_addresses addresses;
	uint32_t version;
	if (!at.module)
		return; /* the mapping is newer than the sample */
	process->state = PYTHON_UNUSABLE;
	if (python_files_find(&python->files, python->binaries, &at, &addresses) &&
	    python_memory_get(&worker->memory, addresses.version, &version, sizeof(version)) &&
	    python_layout_make(&worker->memory, version, addresses.runtime,
			       &process->runtime.layout)) {
		process->runtime.runtime = addresses.runtime;
		process->runtime.code_type = addresses.code_type;
		process->eval_start = addresses.eval;
		process->eval_end = addresses.eval + addresses.eval_size;
		process->state = PYTHON_USABLE;
	}
	python_processes_set(&python->processes, process);
}

static struct python_codes *find_codes(struct python_worker *worker,
				       const struct python_process *process, uint64_t time_ns)
{
	struct known_process *oldest = &worker->processes[0];
	for (size_t i = 0; i < KNOWN_PROCESSES; i++) {
		struct known_process *known = &worker->processes[i];
		if (known->pid == process->pid && known->generation == process->generation) {
			known->used_ns = time_ns;
			return &known->codes;
		}
		if (known->used_ns < oldest->used_ns)
			oldest = known;
	}
	python_codes_deinit(&oldest->codes);
	oldest->pid = process->pid;
	oldest->generation = process->generation;
	oldest->used_ns = time_ns;
	return &oldest->codes;
}

/* Reads the thread's Python stack as it is now. */
static bool read_stack(struct python_worker *worker, const struct python_process *process,
		       uint32_t tid)
{
	size_t place = tid % KNOWN_THREADS;
	if (worker->threads[place].tid != tid) {
		worker->threads[place].tid = tid;
		worker->threads[place].number = python_thread_number(worker->python->binaries->ctx, tid);
		worker->threads[place].thread = 0;
	}
	if (!python_thread_find(&worker->memory, &process->runtime, worker->threads[place].number,
				&worker->threads[place].thread))
		return false;
	python_stack_read(&worker->memory, &process->runtime.layout, worker->threads[place].thread,
			  &worker->stack);
	return true;
}

/* Returns whether the stack from its pointer on is as it was in the sample. */
static bool is_unchanged(const struct python_sample *sample)
{
	uint8_t now[COMPARED_MAX];
	size_t size = sample->stack.size < sizeof(now) ? (size_t)sample->stack.size : sizeof(now);
	struct iovec local = {now, size};
	struct iovec remote = {(void *)(uintptr_t)sample->stack.low, size};
	return size && process_vm_readv((pid_t)sample->pid, &local, 1, &remote, 1, 0) == (ssize_t)size &&
	       !memcmp(now, sample->stack.bytes, size);
}

static bool is_eval(const struct python_process *process, uint64_t ip)
{
	return ip >= process->eval_start && ip < process->eval_end;
}

/*
 * Finds the first frame of the group that ran at the time of the sample. With a _PyCFrame, the stack copy
 * states it. Returns the index among the group's frames, or its count if the group has changed too much.
 */
static uint32_t first_frame(const struct python_worker *worker, const struct python_layout *layout,
			    const struct python_group *group, const struct python_sample *sample)
{
	uint64_t frame;
	uint32_t i = 0;
	if (!layout->has_cframe)
		return 0;
	if (!stack_load(&sample->stack, group->place + layout->cframe_frame, &frame))
		return group->count;
	while (i < group->count && worker->stack.frames[group->first + i].frame != frame)
		i++;
	return i;
}

struct inserting {
	struct python_worker *worker;
	const struct python_process *process;
	const struct python_sample *sample;
	struct python_reader reader;
	struct python_codes *codes;
	bool exact;
	uint32_t group; /* the next one */
};

/* Appends the addresses of the group's frames; returns their number. */
static size_t add_group(struct inserting *inserting, const struct python_group *group, uint64_t *ips)
{
	const struct python_worker *worker = inserting->worker;
	const struct python_layout *layout = &inserting->process->runtime.layout;
	uint32_t i = inserting->exact ? 0 : first_frame(worker, layout, group, inserting->sample);
	size_t count = 0;
	for (; i < group->count; i++) {
		const struct python_frame *frame = &worker->stack.frames[group->first + i];
		if (python_codes_find(inserting->codes, &inserting->reader, frame->code,
				      frame->instr, &ips[count]))
			count++;
	}
	return count;
}

/* Returns the group of the native frame between two stack pointers; NULL: it has none. */
static const struct python_group *next_group(struct inserting *inserting, uint64_t low, uint64_t high)
{
	const struct python_stack *stack = &inserting->worker->stack;
	for (; inserting->group < stack->group_count; inserting->group++) {
		const struct python_group *group = &stack->groups[inserting->group];
		if (group->place >= high)
			return NULL;
		if (group->place >= low) {
			inserting->group++;
			return group;
		}
	}
	return NULL;
}

static size_t insert_all(struct inserting *inserting, uint64_t *ips)
{
	struct python_counts *counts = &inserting->worker->counts;
	const struct python_sample *sample = inserting->sample;
	uint64_t inserted[PYTHON_FRAMES_MAX];
	size_t total = sample->count;
	for (size_t i = 0, at = 0; i + 1 < sample->count; i++, at++) {
		if (!is_eval(inserting->process, sample->frames[i].ip))
			continue;
		const struct python_group *group =
			next_group(inserting, sample->frames[i].sp, sample->frames[i + 1].sp);
		size_t added = group ? add_group(inserting, group, inserted) : 0;
		counts->groups++;
		counts->exact += inserting->exact;
		counts->inserted += added != 0;
		memmove(ips + at + 1 + added, ips + at + 1, (total - at - 1) * sizeof(*ips));
		memcpy(ips + at + 1, inserted, added * sizeof(*ips));
		total += added;
		at += added;
	}
	return total;
}

static bool has_eval(const struct python_process *process, const struct python_sample *sample)
{
	for (size_t i = 0; i < sample->count; i++)
		if (is_eval(process, sample->frames[i].ip))
			return true;
	return false;
}

size_t python_insert(struct python_worker *worker, const struct python_sample *sample, uint64_t *ips)
{
	struct python_process process;
	if (!python_processes_find(&worker->python->processes, sample->pid, &process))
		return sample->count;
	worker->read_pid = sample->pid;
	python_memory_reset(&worker->memory);
	if (process.state == PYTHON_UNKNOWN)
		look_up(worker, sample->view, &process);
	if (process.state != PYTHON_USABLE || !has_eval(&process, sample))
		return sample->count;
	worker->counts.samples++;
	if (!read_stack(worker, &process, sample->tid)) {
		worker->counts.unreadable++;
		return sample->count;
	}
	struct inserting inserting = {
		.worker = worker,
		.process = &process,
		.sample = sample,
		.reader = {
			.memory = &worker->memory, .runtime = &process.runtime,
			.functions = &worker->python->functions, .time_ns = sample->time_ns,
		},
		.codes = find_codes(worker, &process, sample->time_ns),
		.exact = is_unchanged(sample),
	};
	return insert_all(&inserting, ips);
}
