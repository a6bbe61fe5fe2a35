/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/python_frames.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/python/codes.h"
#include "capture/python/interpreter_files.h"
#include "capture/python/python_probe.h"
#include "capture/python/shots.h"

/* Number of processes with cached code objects in a worker. */
#define KNOWN_PROCESSES 16

/* The search for interpreters takes one such part of the time, counted from LOOK_UP_NS ago. */
#define LOOK_UP_PART 4
#define LOOK_UP_NS UINT64_C(4000000000)

/* Limit of threads that are read when samples arrive. */
#define ARRIVED_THREADS 4

struct python {
	const struct binary_env *binaries;
	struct live *live;
	struct python_processes processes;
	struct python_functions functions;
	struct python_files files;
	struct python_shots shots;
	struct python_probe *probe; /* for python_look_up() */
	size_t look_up_at;          /* the next process */
	uint64_t look_up_ns;        /* CLOCK_MONOTONIC: when more are searched */
};

struct known_process {
	uint32_t pid;
	uint64_t generation;
	uint64_t used_ns;
	uint64_t prefetched_ns; /* time of the last python_probe_prefetch() */
	struct python_codes codes;
};

/* Threads of arrived samples that were read; the last one's stack is in the probe. */
struct arrival {
	uint32_t tids[ARRIVED_THREADS];
	size_t count;
	uint64_t begin_ns, reader_ns; /* CPU time of the reader, and its part that no sample has */
	/* The last thread's result, and its sample's stack; `stack.bytes` is not used: */
	bool found, exact;
	struct stack_copy stack;
	uint8_t bytes[PYTHON_COMPARED_MAX];
};

struct python_worker {
	struct python *python;
	struct python_probe *probe;
	struct known_process processes[KNOWN_PROCESSES];
	struct python_counts counts;
	struct arrival arrival;
};

struct python *python_new(const struct binary_env *binaries, struct live *live)
{
	struct python *python = calloc(1, sizeof(*python));
	if (!python)
		return NULL;
	python->binaries = binaries;
	python->live = live;
	python->probe = python_probe_new(binaries->ctx);
	if (!python->probe) {
		free(python);
		return NULL;
	}
	python_processes_init(&python->processes);
	python_functions_init(&python->functions);
	python_files_init(&python->files);
	python_shots_init(&python->shots);
	return python;
}

void python_free(struct python *python)
{
	if (!python)
		return;
	python_shots_deinit(&python->shots);
	python_files_deinit(&python->files);
	python_functions_deinit(&python->functions);
	python_processes_deinit(&python->processes);
	free(python->probe);
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

void python_drop_files(struct python *python)
{
	python_files_drop(&python->files);
}

struct python_worker *python_worker_new(struct python *python)
{
	struct python_worker *worker = calloc(1, sizeof(*worker));
	if (!worker)
		return NULL;
	worker->python = python;
	worker->probe = python_probe_new(python->binaries->ctx);
	if (!worker->probe) {
		free(worker);
		return NULL;
	}
	return worker;
}

void python_worker_free(struct python_worker *worker)
{
	if (!worker)
		return;
	for (size_t i = 0; i < KNOWN_PROCESSES; i++)
		python_codes_deinit(&worker->processes[i].codes);
	free(worker->probe);
	free(worker);
}

void python_counts_add(struct python_counts *sum, const struct python_worker *worker)
{
	sum->samples += worker->counts.samples;
	sum->groups += worker->counts.groups;
	sum->dropped += worker->counts.dropped;
	sum->inserted += worker->counts.inserted;
	sum->unreadable += worker->counts.unreadable;
	sum->damaged += worker->counts.damaged;
	sum->damaged_pid = worker->counts.damaged_pid ?: sum->damaged_pid;
}

/* Finds the interpreter's data. Its memory may be unreadable while the program starts. */
static void look_up(struct python *python, struct python_process *process)
{
	uint32_t view = live_view(python->live, process->pid, UINT64_MAX);
	struct location at = live_locate(python->live, view, process->code_start);
	struct python_addresses addresses;
	struct python_memory *memory = &python->probe->memory;
	uint32_t version;
	python_probe_begin(python->probe, process->pid);
	/* Proxies may be late by 250 ms on a busy machine. Own processes are trusted. */
	struct binary_env binaries = *python->binaries;
	if (python->probe->is_own)
		binaries.proxies = NULL;
	process->state = PYTHON_UNUSABLE;
	if (!at.module || !python_files_find(&python->files, &binaries, &at, &addresses)) {
		/* The location is in another file, or in an interpreter without symbols. */
	} else if (!python_memory_get(memory, addresses.version, &version, sizeof(version))) {
		if (++process->failures < PYTHON_FAILURES_MAX)
			process->state = PYTHON_UNKNOWN;
	} else if (python_layout_make(memory, version, addresses.runtime,
				      &process->runtime.layout)) {
		process->runtime.runtime = addresses.runtime;
		process->runtime.code_type = addresses.code_type;
		process->eval_start = addresses.eval;
		process->eval_end = addresses.eval + addresses.eval_size;
		process->state = PYTHON_USABLE;
		process->failures = 0;
	}
	python_processes_set(&python->processes, process);
}

void python_look_up(struct python *python)
{
	struct python_process process;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns;
	if (python->look_up_ns + LOOK_UP_NS < begin_ns)
		python->look_up_ns = begin_ns - LOOK_UP_NS;
	/* Any user may map large files under ever new names: others wait for the next round. */
	while (python->look_up_ns < begin_ns) {
		if (!python_processes_next_unknown(&python->processes, &python->look_up_at,
						   &process)) {
			python->look_up_at = 0;
			break;
		}
		uint64_t before_ns = now_ns;
		look_up(python, &process);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		python->look_up_ns += LOOK_UP_PART * (now_ns - before_ns);
	}
}

static struct known_process *find_known(struct python_worker *worker,
					const struct python_process *process, uint64_t time_ns)
{
	struct known_process *oldest = &worker->processes[0];
	for (size_t i = 0; i < KNOWN_PROCESSES; i++) {
		struct known_process *known = &worker->processes[i];
		if (known->pid == process->pid && known->generation == process->generation) {
			known->used_ns = time_ns;
			return known;
		}
		if (known->used_ns < oldest->used_ns)
			oldest = known;
	}
	python_codes_deinit(&oldest->codes);
	oldest->pid = process->pid;
	oldest->generation = process->generation;
	oldest->used_ns = time_ns;
	oldest->prefetched_ns = 0;
	return oldest;
}

static bool is_eval(const struct python_process *process, uint64_t ip)
{
	return ip >= process->eval_start && ip < process->eval_end;
}

/* A native frame, and its part of the stack. */
struct native_frame {
	uint64_t ip, low, high;
};

/*
 * Returns whether the evaluation function's frame between two stack pointers is the same as in the
 * sample: the thread then executes the same Python frame there.
 */
static bool group_is_unchanged(struct python_worker *worker, const struct python_layout *layout,
			       const struct python_group *group, const struct python_sample *sample,
			       const struct native_frame *native)
{
	uint64_t from = native->low - sample->stack.low, size = native->high - native->low, frame;
	if (layout->has_cframe && group->count &&
	    (!stack_load(&sample->stack, group->place + layout->cframe_frame, &frame) ||
	     frame != worker->probe->stack.frames[group->first].frame))
		return false;
	if (from >= sample->stack.size || size > sample->stack.size - from)
		return false;
	const struct stack_copy part = {sample->stack.bytes + from, native->low, size};
	return python_probe_is_unchanged(worker->probe, &part);
}

struct inserting {
	struct python_worker *worker;
	const struct python_process *process;
	const struct python_sample *sample;
	bool exact;
	uint32_t group; /* the next one */
};

/* Writes the address of a function that stands for frames; returns the number of addresses. */
static size_t add_named(const struct inserting *inserting, const char *name, uint64_t *ip)
{
	const struct python_function function = {.name = name, .file = ""};
	uint64_t start;
	if (!python_functions_add(&inserting->worker->python->functions, &function, &start))
		return 0;
	*ip = python_address(start, 0);
	return 1;
}

/*
 * Appends the addresses of the group's frames, which find_lines() found; returns their number. For
 * a code object that could not be read, it is that of a function without a name: a caller must
 * not get its time. *whole_ret: all were read. Omitted frames have one address together.
 */
static size_t add_group(struct inserting *inserting, const struct python_group *group,
			uint64_t *ips, bool *whole_ret)
{
	const struct python_worker *worker = inserting->worker;
	size_t count = 0;
	*whole_ret = true;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct python_frame *frame = &worker->probe->stack.frames[group->first + i];
		if (frame->line) {
			ips[count++] = frame->line;
			continue;
		}
		*whole_ret &= !frame->frame;
		count += add_named(inserting, frame->frame ? PYTHON_UNRESOLVED :
				   "[omitted Python frames]", ips + count);
	}
	return count;
}

/* Returns the group of a native frame; NULL: it has none. */
static const struct python_group *next_group(struct inserting *inserting,
					     const struct native_frame *native)
{
	const struct python_stack *stack = &inserting->worker->probe->stack;
	for (; inserting->group < stack->group_count; inserting->group++) {
		const struct python_group *group = &stack->groups[inserting->group];
		if (group->place >= native->high)
			return NULL;
		if (group->place >= native->low) {
			inserting->group++;
			return group;
		}
	}
	return NULL;
}

/* Returns whether the group's frames are those of the time of the sample, and all are known. */
static bool is_valid(struct inserting *inserting, const struct python_group *group,
		     const struct native_frame *native)
{
	struct python_worker *worker = inserting->worker;
	const struct python_stack *stack = &worker->probe->stack;
	if (stack->truncated && inserting->group == stack->group_count)
		return false;
	return inserting->exact ||
	       group_is_unchanged(worker, &inserting->process->runtime.layout, group,
				  inserting->sample, native);
}

/*
 * Gets the addresses of a native frame's Python frames; returns their number. Compilers move parts
 * of the evaluation function elsewhere: the group's place shows that the frame is its, not the ip.
 */
static size_t find_frames(struct inserting *inserting, const struct native_frame *native,
			  uint64_t *ips)
{
	struct python_counts *counts = &inserting->worker->counts;
	const struct python_group *group = next_group(inserting, native);
	bool eval = is_eval(inserting->process, native->ip), whole = false;
	size_t count = 0;
	counts->groups += group || eval;
	if (group && is_valid(inserting, group, native)) {
		count = add_group(inserting, group, ips, &whole);
		counts->inserted += count != 0;
	}
	counts->dropped += group && !whole;
	/* An evaluation that has just begun has no frame yet: it is the caller's. */
	return count || !eval || whole || (!group && inserting->exact) ? count :
	       add_named(inserting, PYTHON_UNRESOLVED, ips);
}

/* First moves the native frames behind the room for all others, which is then filled. */
static size_t insert_all(struct inserting *inserting, uint64_t *ips)
{
	const struct python_sample *sample = inserting->sample;
	uint64_t inserted[PYTHON_FRAMES_MAX], *native_ips = ips + PYTHON_FRAMES_MAX;
	size_t total = 0, room = PYTHON_FRAMES_MAX;
	memmove(native_ips, ips, sample->count * sizeof(*ips));
	for (size_t i = 0; i < sample->count; i++) {
		const struct unwind_frame *frame = &sample->frames[i];
		ips[total++] = native_ips[i];
		if (i + 1 == sample->count)
			break;
		const struct native_frame native = {frame->ip, frame->sp, frame[1].sp};
		size_t added = find_frames(inserting, &native, inserted);
		/* Each call of a made-up interpreter may add a frame without a name. */
		if (added > room) {
			inserting->worker->counts.dropped++;
			added = room;
		}
		memcpy(ips + total, inserted, added * sizeof(*ips));
		total += added;
		room -= added;
	}
	return total;
}

/* A sample's thread, and its stack or the part to compare. */
struct sample_thread {
	uint32_t tid;
	uint64_t time_ns;
	const struct stack_copy *stack;
};

/* Before code objects are compared with memory again: reads those of the stack at a time. */
static void prefetch_codes(struct python_worker *worker, struct known_process *known,
			   uint64_t time_ns)
{
	const struct python_stack *stack = &worker->probe->stack;
	uint64_t addresses[PYTHON_PREFETCH_MAX];
	size_t count = 0;
	if (!worker->probe->proxies || time_ns <= known->prefetched_ns + PYTHON_CODES_CHECK_NS)
		return;
	for (uint32_t i = 0; i < stack->frame_count && count < PYTHON_PREFETCH_MAX; i++)
		addresses[count++] = stack->frames[i].code;
	known->prefetched_ns = time_ns;
	python_probe_prefetch(worker->probe, addresses, count);
}

/*
 * Finds the lines of the stack's frames. This happens at arrival, too: a worker may be late by
 * seconds on a busy machine, and the process has freed its code or ended.
 */
static void find_lines(struct python_worker *worker, const struct python_process *process,
		       uint64_t time_ns)
{
	struct python_stack *stack = &worker->probe->stack;
	struct known_process *known = find_known(worker, process, time_ns);
	const struct python_reader reader = {
		.memory = &worker->probe->memory, .runtime = &process->runtime,
		.functions = &worker->python->functions, .time_ns = time_ns,
	};
	python_memory_reset(&worker->probe->memory);
	prefetch_codes(worker, known, time_ns);
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		struct python_frame *frame = &stack->frames[i];
		const struct python_frame *inner = i ? frame - 1 : NULL;
		if (inner && inner->code == frame->code && inner->instr == frame->instr)
			frame->line = inner->line; /* recursion */
		else if (!frame->frame || !python_codes_find(&known->codes, &reader, frame->code,
							      frame->instr, &frame->line))
			frame->line = 0;
	}
}

static bool has_eval(const struct python_process *process, const struct python_sample *sample)
{
	for (size_t i = 0; i < sample->count; i++)
		if (is_eval(process, sample->frames[i].ip))
			return true;
	return false;
}

/* The sample's user registers and stack in the ring. */
static bool find_stack(const struct stack_dump_layout *layout, const struct ring *ring,
		       const struct record_values *sample, uint8_t *bytes, struct stack_copy *ret)
{
	struct stack_dump_parts parts;
	if (!stack_dump_find(layout, ring, sample->position, &sample->header, &parts) ||
	    parts.abi == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	*ret = (struct stack_copy){
		.bytes = bytes,
		.low = ring_u64(ring, parts.registers_at + 8 * layout->sp_index),
		.size = parts.stack_size < PYTHON_COMPARED_MAX ? parts.stack_size :
								 PYTHON_COMPARED_MAX,
	};
	ring_copy(ring, parts.stack_at, ret->size, bytes);
	return true;
}

/*
 * Reads a stack into the probe, unless the process is paused. *damaged_ret: the interpreter's
 * memory has no such stack. A thread that runs no Python is neither good nor damaged.
 */
static bool read_stack(struct python_worker *worker, const struct python_process *process,
		       const struct sample_thread *thread, bool *exact_ret, bool *damaged_ret)
{
	struct python_probe *probe = worker->probe;
	*damaged_ret = thread->time_ns < process->resume_ns;
	if (*damaged_ret)
		return false;
	python_probe_begin(probe, process->pid);
	bool found = python_probe_read(probe, process, thread->tid, thread->stack, exact_ret);
	*damaged_ret = probe->memory.damaged && (!found || probe->stack.truncated);
	if (found || *damaged_ret)
		python_processes_on_read(&worker->python->processes, process, thread->time_ns,
					 !*damaged_ret);
	if (found)
		find_lines(worker, process, thread->time_ns);
	return found;
}

void python_begin_arrival(struct python_worker *worker)
{
	struct arrival *arrival = &worker->arrival;
	uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	arrival->count = 0;
	arrival->reader_ns += arrival->begin_ns ? now_ns - arrival->begin_ns : 0;
	arrival->begin_ns = now_ns;
}

uint64_t python_take_reader_ns(struct python_worker *worker, uint64_t period_ns)
{
	struct arrival *arrival = &worker->arrival;
	uint64_t taken_ns = arrival->reader_ns < period_ns ? arrival->reader_ns : period_ns;
	arrival->reader_ns -= taken_ns;
	return taken_ns;
}

/*
 * Reads a thread's stack at its first sample of an arrival. Later samples get the result if no
 * other thread was read since and their copy is the same. Returns false if nothing is known of this
 * sample.
 */
static bool read_once(struct python_worker *worker, const struct python_process *process,
			 const struct sample_thread *thread)
{
	struct arrival *arrival = &worker->arrival;
	const struct stack_copy *stack = thread->stack;
	bool damaged;
	for (size_t i = 0; i < arrival->count; i++)
		if (arrival->tids[i] == thread->tid)
			return i == arrival->count - 1 && arrival->found &&
			       stack->low == arrival->stack.low &&
			       stack->size == arrival->stack.size &&
			       !memcmp(stack->bytes, arrival->bytes, stack->size);
	if (arrival->count == ARRIVED_THREADS)
		return false;
	arrival->tids[arrival->count++] = thread->tid;
	arrival->stack = *stack;
	memcpy(arrival->bytes, stack->bytes, stack->size);
	arrival->found = read_stack(worker, process, thread, &arrival->exact, &damaged);
	return arrival->found;
}

void python_on_sample(struct python_worker *worker, const struct stack_dump_layout *layout,
		      const struct ring *ring, const struct record_values *sample,
		      uint64_t reader_ns)
{
	struct python *python = worker->python;
	uint8_t bytes[PYTHON_COMPARED_MAX];
	struct stack_copy stack;
	struct python_process process;
	const struct sample_thread thread = {sample->tid, sample->time_ns, &stack};
	if (python_processes_find(&python->processes, sample->pid, &process) &&
	    process.state == PYTHON_USABLE && find_stack(layout, ring, sample, bytes, &stack) &&
	    read_once(worker, &process, &thread))
		python_shots_add(&python->shots, sample->tid, sample->time_ns,
				 &worker->probe->stack, worker->arrival.exact, reader_ns);
}

uint64_t python_reader_ns(struct python *python, uint32_t tid, uint64_t time_ns)
{
	return python_shots_reader_ns(&python->shots, tid, time_ns);
}

size_t python_insert(struct python_worker *worker, const struct python_sample *sample,
		     uint64_t *ips)
{
	struct python_process process;
	if (!python_processes_find(&worker->python->processes, sample->pid, &process))
		return sample->count;
	if (process.state != PYTHON_USABLE)
		return sample->count;
	python_probe_begin(worker->probe, sample->pid);
	worker->counts.samples++;
	const struct sample_thread thread = {sample->tid, sample->time_ns, &sample->stack};
	bool exact, damaged;
	if (!python_shots_take(&worker->python->shots, sample->tid, sample->time_ns,
			       &worker->probe->stack, &exact) &&
	    !read_stack(worker, &process, &thread, &exact, &damaged)) {
		bool missing = has_eval(&process, sample);
		worker->counts.unreadable += missing && !damaged;
		worker->counts.damaged += missing && damaged;
		if (missing && damaged)
			worker->counts.damaged_pid = sample->pid;
		worker->probe->stack.group_count = 0;
		exact = false;
	}
	struct inserting inserting = {
		.worker = worker,
		.process = &process,
		.sample = sample,
		.exact = exact,
	};
	return insert_all(&inserting, ips);
}
