/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_rings.h"

#include "tests/sched_waking.h"

#define CHAIN_WORDS (SIM_DEPTH_MAX + 8)

/* PERF_REG_X86_* */
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_IP = 8 };

/* -- Samples --------------------------------------------------------------- */

static void put_chain(struct composed *record, const struct sim_stack *stack)
{
	const struct perf_event_attr *attr = &record->event->attr;
	uint64_t chain[CHAIN_WORDS];
	size_t count = 0;
	if (stack->kernel_depth && !attr->exclude_callchain_kernel) {
		chain[count++] = PERF_CONTEXT_KERNEL;
		for (unsigned int i = 0; i < stack->kernel_depth; i++)
			chain[count++] = stack->kernel_chain[i];
	}
	if (stack->depth && !attr->exclude_callchain_user) {
		chain[count++] = PERF_CONTEXT_USER;
		for (unsigned int i = 0; i < stack->depth; i++)
			chain[count++] = stack->chain[i];
	}
	put64(record, count);
	put(record, chain, count * sizeof(*chain));
}

static void put_registers(struct composed *record, const struct sim_stack *stack, uint64_t mask)
{
	put64(record, stack->depth ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (unsigned int i = 0; stack->depth && i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		put64(record, i == REGISTER_IP ? stack->chain[0] : i == REGISTER_SP ? stack->sp
			      : i == REGISTER_BP ? stack->bp : i);
	}
}

static void put_stack(struct composed *record, const struct sim_stack *stack, uint32_t asked)
{
	uint64_t size = stack->depth ? asked : 0, before = record->size + 2 * sizeof(uint64_t);
	if (before + size > UINT16_MAX) /* same as perf_sample_ustack_size() */
		size = (UINT16_MAX - before - sizeof(uint64_t) + 7) / 8 * 8;
	uint64_t copied = size < stack->size ? size : stack->size;
	put64(record, size);
	if (!size)
		return;
	memset(record->bytes + record->size, 0, size);
	memcpy(record->bytes + record->size, stack->bytes, copied);
	record->size += size;
	put64(record, copied);
}

/* The task that a sample of sched:sched_waking is about, and the number of wake-ups so far. */
static const struct sim_task *woken_task;
static uint32_t wakeups;

/* Fields of sched:sched_waking, as its format states; other events have none. */
static void put_waking(struct composed *record)
{
	uint8_t fields[SCHED_WAKING_SIZE] = {SIM_WAKING & 0xff, SIM_WAKING >> 8};
	uint32_t size = record->event->attr.type == PERF_TYPE_TRACEPOINT ? sizeof(fields) : 4;
	const uint32_t numbers[] = {woken_task ? woken_task->tid : 0, 120, record->truth.cpu};
	memcpy(fields + 4, &record->truth.tid, 4);
	if (woken_task)
		memcpy(fields + 8, woken_task->comm, sizeof(woken_task->comm));
	memcpy(fields + SCHED_WAKING_PID, numbers, sizeof(numbers));
	put(record, &size, sizeof(size));
	put(record, fields, size);
}

static void put_sample(struct composed *record, const struct sim_stack *stack, uint64_t period)
{
	const struct perf_event_attr *attr = &record->event->attr;
	const struct sim_truth *truth = &record->truth;
	uint64_t type = attr->sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		put64(record, truth->id);
	if (type & PERF_SAMPLE_IP)
		put64(record, stack->ip);
	if (type & PERF_SAMPLE_TID)
		put32s(record, truth->pid, truth->tid);
	if (type & PERF_SAMPLE_TIME)
		put64(record, truth->time_ns);
	if (type & PERF_SAMPLE_ADDR)
		put64(record, 0);
	if (type & PERF_SAMPLE_ID)
		put64(record, truth->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put64(record, truth->id);
	if (type & PERF_SAMPLE_CPU)
		put32s(record, truth->cpu, 0);
	if (type & PERF_SAMPLE_PERIOD)
		put64(record, period);
	if (type & PERF_SAMPLE_CALLCHAIN)
		put_chain(record, stack);
	if (type & PERF_SAMPLE_RAW)
		put_waking(record);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(record, stack, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(record, stack, attr->sample_stack_user);
	if (type & PERF_SAMPLE_CGROUP)
		put64(record, 1);
}

void sim_record_sample(struct sim_event *event, struct sim_task *task, unsigned int cpu,
		       uint64_t period)
{
	static struct composed record;
	static struct sim_stack stack;
	const struct perf_event_attr *attr = &event->attr;
	bool is_first = event->is_changed;
	event->is_changed = false;
	sim_stack_make(task, &stack);
	if ((stack.kernel && attr->exclude_kernel) || (!stack.kernel && attr->exclude_user) ||
	    (stack.idle && attr->exclude_idle))
		return;
	sim_begin(&record, event, PERF_RECORD_SAMPLE,
		  stack.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		  task ? task->process->pid : 0, task ? task->tid : 0, cpu);
	record.truth.ip = stack.ip;
	if (attr->exclude_callchain_user && attr->sample_stack_user <= 8)
		stack.depth = 0;
	record.truth.chain_hash = sim_stack_hash(&stack);
	record.truth.woken = woken_task ? woken_task->tid : 0;
	record.truth.wakeup = woken_task ? wakeups : 0;
	record.truth.is_first = is_first;
	record.truth.period_ns = event->running ? event->changed_ns ?: period : 0;
	put_sample(&record, &stack, period);
	sim_end(&record);
	if (task)
		task->samples++;
}

void sim_record_throttle(struct sim_event *event, unsigned int cpu, bool on)
{
	static struct composed record;
	const struct sim_task *task = sim_machine.cpus[cpu].current;
	sim_begin(&record, event, on ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0,
		  task ? task->process->pid : 0, task ? task->tid : 0, cpu);
	put64(&record, record.truth.time_ns);
	put64(&record, event->id);
	put64(&record, event->id);
	put_sample_id(&record);
	sim_end(&record);
}

/* -- Side-band ------------------------------------------------------------- */

/* Calls `visit` for each event that gets side-band of the task, on the CPU where it runs. */
static void for_events(struct sim_task *task, void (*visit)(struct sim_event *event, void *arg),
		       void *arg)
{
	int cpu = task->cpu >= 0 ? task->cpu : task->last_cpu >= 0 ? task->last_cpu : 0;
	const struct sim_context *contexts[] = {sim_machine.cpus[cpu].context, task->context};
	for (size_t c = 0; c < 2; c++)
		for (size_t i = 0; contexts[c] && i < contexts[c]->count; i++) {
			struct sim_event *event = contexts[c]->events[i];
			if (event->enabled && !event->closed && !event->detached &&
			    (event->cpu < 0 || event->cpu == cpu))
				visit(event, arg);
		}
}

struct sideband {
	struct sim_task *from, *task;
	uint32_t type;
	uint16_t misc; /* misc of SWITCH records */
	bool exec;
	const struct sim_map *map;
};

static void begin_sideband(struct composed *record, struct sim_event *event,
			   const struct sideband *sideband, uint16_t misc)
{
	const struct sim_task *from = sideband->from;
	int cpu = from->cpu >= 0 ? from->cpu : from->last_cpu >= 0 ? from->last_cpu : 0;
	sim_begin(record, event, sideband->type, misc, from->process->pid, from->tid, (unsigned int)cpu);
}

static void visit_task(struct sim_event *event, void *arg)
{
	static struct composed record;
	const struct sideband *sideband = arg;
	const struct sim_task *task = sideband->task, *from = sideband->from;
	bool fork = sideband->type == PERF_RECORD_FORK;
	if (!event->attr.task)
		return;
	begin_sideband(&record, event, sideband, 0);
	bool thread = task->process == from->process;
	uint32_t ppid = fork ? from->process->pid : task->process->ppid;
	put32s(&record, task->process->pid, ppid);
	put32s(&record, task->tid, fork ? from->tid : thread ? task->process->ppid : ppid);
	put64(&record, record.truth.time_ns);
	put_sample_id(&record);
	record.truth.ip = task->tid;
	sim_end(&record);
}

void sim_record_task(struct sim_task *from, struct sim_task *task, uint32_t type)
{
	struct sideband sideband = {.from = from, .task = task, .type = type};
	for_events(from, visit_task, &sideband);
}

static void visit_comm(struct sim_event *event, void *arg)
{
	static struct composed record;
	const struct sideband *sideband = arg;
	const struct sim_task *task = sideband->task;
	if (!event->attr.comm)
		return;
	begin_sideband(&record, event, sideband,
		       sideband->exec && event->attr.comm_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put32s(&record, task->process->pid, task->tid);
	put_string(&record, task->comm);
	put_sample_id(&record);
	sim_end(&record);
}

void sim_record_comm(struct sim_task *task, bool exec)
{
	struct sideband sideband = {.from = task, .task = task, .type = PERF_RECORD_COMM, .exec = exec};
	for_events(task, visit_comm, &sideband);
}

static void visit_map(struct sim_event *event, void *arg)
{
	static struct composed record;
	const struct sideband *sideband = arg;
	const struct sim_map *map = sideband->map;
	const struct sim_task *task = sideband->task;
	bool with_id = event->attr.build_id && map->build_id;
	if (!event->attr.mmap2)
		return;
	begin_sideband(&record, event, sideband,
		       (uint16_t)(PERF_RECORD_MISC_USER |
				  (with_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0)));
	put32s(&record, task->process->pid, task->tid);
	put64(&record, map->start);
	put64(&record, map->size);
	put64(&record, map->offset);
	if (with_id) {
		put32s(&record, 20, 0);
		record.size -= 4;
		put(&record, map->build_id, 20);
	} else {
		put32s(&record, 8, 1);
		put64(&record, map->ino);
		put64(&record, 0);
	}
	put32s(&record, map->prot, 2 /* MAP_PRIVATE */);
	put_string(&record, map->path);
	put_sample_id(&record);
	record.truth.ip = map->start;
	sim_end(&record);
}

void sim_record_map(struct sim_task *task, const struct sim_map *map)
{
	struct sideband sideband = {.from = task, .task = task, .type = PERF_RECORD_MMAP2, .map = map};
	for_events(task, visit_map, &sideband);
}

static void visit_switch(struct sim_event *event, void *arg)
{
	static struct composed record;
	struct sideband sideband = *(const struct sideband *)arg;
	bool whole = event->pid < 0;
	if (!event->attr.context_switch)
		return;
	sideband.type = whole ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH;
	begin_sideband(&record, event, &sideband, sideband.misc);
	if (whole)
		put32s(&record, 0, 0);
	put_sample_id(&record);
	sim_end(&record);
}

static void visit_context_switch(struct sim_event *event, void *arg)
{
	const struct sideband *sideband = arg;
	const struct perf_event_attr *attr = &event->attr;
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	    attr->sample_period)
		sim_record_sample(event, sideband->task, (unsigned int)sideband->task->cpu, 1);
}

void sim_record_switch(struct sim_task *task, uint16_t misc)
{
	struct sideband sideband = {.from = task, .task = task, .misc = misc};
	if (misc & PERF_RECORD_MISC_SWITCH_OUT)
		for_events(task, visit_context_switch, &sideband);
	for_events(task, visit_switch, &sideband);
}

/* Samples of one wake-up, by the context's events on that CPU. */
static void record_waking(const struct sim_context *context, struct sim_task *waker, unsigned int cpu)
{
	for (size_t i = 0; context && i < context->count; i++) {
		struct sim_event *event = context->events[i];
		if (event->attr.type == PERF_TYPE_TRACEPOINT && event->enabled && !event->closed &&
		    !event->detached && (event->cpu < 0 || (unsigned int)event->cpu == cpu))
			sim_record_sample(event, waker, cpu, 1);
	}
}

/* Events of the woken thread take no sample. Whether the CPU's or the waker's are first is not defined. */
void sim_record_waking(const struct sim_task *woken, unsigned int cpu)
{
	const struct sim_cpu *at = &sim_machine.cpus[cpu];
	const struct sim_context *contexts[] = {at->context, at->current ? at->current->context : NULL};
	bool swapped = sim_chance(SIM_WORLD, 50);
	woken_task = woken;
	wakeups++;
	for (size_t i = 0; i < 2; i++)
		record_waking(contexts[swapped ? 1 - i : i], at->current, cpu);
	woken_task = NULL;
}
