/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include "blocked.h"

/* A task runs that long before another one of its CPU, by default. */
#define SLICE_NS (4 * SIM_MS)

struct sim_machine sim_machine;

static void schedule_cpu(unsigned int cpu);

/* Adds to the scheduler's account. */
static void set_state(struct sim_task *task, enum sim_state state)
{
	if (task->span_count == task->span_room) {
		task->span_room = task->span_room ? 2 * task->span_room : 16;
		task->spans = realloc(task->spans, task->span_room * sizeof(*task->spans));
		if (!task->spans)
			abort();
	}
	if (task->span_count && task->spans[task->span_count - 1].state == SIM_BLOCKED)
		sim_wait_end(task);
	task->spans[task->span_count++] = (struct sim_span){sim.now_ns, state};
	if (state == SIM_BLOCKED)
		sim_wait_begin(task);
}

static enum sim_state state_of(const struct sim_task *task)
{
	return task->spans[task->span_count - 1].state;
}

struct sim_process *sim_process_find(uint32_t pid)
{
	struct sim_task *task = sim_task_find(pid);
	if (task)
		return task->process;
	for (size_t i = 0; i < sim_machine.task_count; i++)
		if (sim_machine.tasks[i]->process->pid == pid)
			return sim_machine.tasks[i]->process;
	return NULL;
}

/* Identifiers ascend with the index. */
struct sim_task *sim_task_find(uint32_t tid)
{
	size_t low = 0, high = sim_machine.task_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (sim_machine.tasks[middle]->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sim_machine.task_count && sim_machine.tasks[low]->tid == tid
		       ? sim_machine.tasks[low] : NULL;
}

static struct sim_task *add_task(struct sim_process *process)
{
	struct sim_task *task = calloc(1, sizeof(*task));
	if (sim_machine.task_count % 1024 == 0)
		sim_machine.tasks = realloc(sim_machine.tasks, (sim_machine.task_count + 1024) *
					    sizeof(struct sim_task *));
	if (!task || !sim_machine.tasks)
		abort();
	sim_machine.tasks[sim_machine.task_count++] = task;
	sim_machine.alive++;
	task->tid = sim_machine.next_pid++;
	task->cpu = task->last_cpu = -1;
	task->start_ns = sim.now_ns;
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			abort();
		process->pid = task->tid;
		process->ppid = 1;
	}
	process->threads++;
	task->process = process;
	set_state(task, SIM_BLOCKED);
	return task;
}

/* Records of the task's changes go to no event of its CPU. */
static void note_unknown(const struct sim_task *task, struct sim_process *process)
{
	int cpu = task->cpu >= 0 ? task->cpu : task->last_cpu;
	if (cpu < 0 || !sim_machine.cpus[cpu].reopens)
		return;
	process->unknown_until_ns = UINT64_MAX;
	process->unknown_cpu = cpu;
}

void sim_cpu_reopened(unsigned int cpu)
{
	if (!sim_machine.cpus[cpu].reopens)
		return;
	sim_machine.cpus[cpu].reopens = false;
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		struct sim_process *process = sim_machine.tasks[i]->process;
		if (process->unknown_cpu == (int)cpu)
			process->unknown_cpu = -1;
	}
}

void sim_process_read(struct sim_process *process)
{
	process->was_read = true;
	if (process->unknown_until_ns == UINT64_MAX && process->unknown_cpu < 0)
		process->unknown_until_ns = sim.now_ns;
}

struct sim_task *sim_task_new(struct sim_task *parent, bool thread)
{
	struct sim_task *task = add_task(thread ? parent->process : NULL);
	if (parent) {
		memcpy(task->comm, parent->comm, sizeof(task->comm));
		parent->children++;
		task->followed = parent->followed;
		task->uncertain = parent->uncertain;
	} else {
		strcpy(task->comm, "init");
	}
	if (parent && !thread) {
		struct sim_process *from = parent->process, *to = task->process;
		memcpy(to->maps, from->maps, sizeof(to->maps));
		to->map_count = from->map_count;
		to->exe = from->exe;
		to->uid = from->uid;
		to->ppid = from->pid;
		to->unknown_until_ns = from->unknown_until_ns;
		to->unknown_cpu = from->unknown_cpu;
		note_unknown(parent, to);
	}
	if (parent) {
		sim_perf_fork(parent, task, thread);
		sim_record_task(parent, task, PERF_RECORD_FORK);
		set_state(task, SIM_RUNNABLE);
	}
	return task;
}

static void put_map(struct sim_process *process, const struct sim_image *image, uint64_t start)
{
	process->maps[process->map_count++] = (struct sim_map){
		.start = start, .size = (image->size + 4095) / 4096 * 4096, .prot = 5,
		.ino = image->ino, .path = image->path, .build_id = image->build_id,
	};
}

void sim_task_map(struct sim_task *task, bool library)
{
	struct sim_process *process = task->process;
	if (process->map_count == sizeof(process->maps) / sizeof(*process->maps))
		return;
	uint64_t base = library ? UINT64_C(0x7f0000000000) + ((uint64_t)process->map_count << 24)
				: UINT64_C(0x555500000000);
	put_map(process, &sim_images[library], base + (sim_random(SIM_WORLD, 256) << 12));
	note_unknown(task, process);
	sim_record_map(task, &process->maps[process->map_count - 1]);
}

void sim_task_exec(struct sim_task *task, const char *comm)
{
	struct sim_process *process = task->process;
	process->map_count = 0;
	process->exe = sim_images[0].path;
	if (!process->was_read)
		process->replaced_ns = sim.now_ns;
	strncpy(task->comm, comm, sizeof(task->comm) - 1);
	sim_perf_exec(task);
	note_unknown(task, process);
	sim_record_comm(task, true);
	sim_task_map(task, false);
	sim_task_map(task, true);
}

/* -- CPUs ------------------------------------------------------------------ */

static void leave(struct sim_task *task, bool preempted)
{
	unsigned int cpu = (unsigned int)task->cpu;
	sim_record_switch(task, (uint16_t)(PERF_RECORD_MISC_SWITCH_OUT |
					   (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)));
	set_state(task, task->ended ? SIM_ENDED : preempted ? SIM_RUNNABLE : SIM_BLOCKED);
	sim_perf_switch(task, cpu, false);
	uint64_t ran_ns = sim.now_ns - task->on_since_ns;
	task->used_ns += ran_ns;
	task->burst_ns = task->burst_ns > ran_ns ? task->burst_ns - ran_ns : 0;
	task->cpu = -1;
	task->generation++;
	sim_machine.cpus[cpu].current = NULL;
}

void sim_task_off(struct sim_task *task)
{
	if (task->cpu < 0)
		return;
	unsigned int cpu = (unsigned int)task->cpu;
	leave(task, false);
	schedule_cpu(cpu);
}

static void enqueue(unsigned int cpu, struct sim_task *task)
{
	struct sim_cpu *to = &sim_machine.cpus[cpu];
	if (to->queued == to->room) {
		to->room = to->room ? 2 * to->room : 8;
		to->queue = realloc(to->queue, to->room * sizeof(struct sim_task *));
		if (!to->queue)
			abort();
	}
	task->queued = true;
	if (state_of(task) == SIM_BLOCKED)
		set_state(task, SIM_WOKEN);
	to->queue[to->queued++] = task;
}

static void end_slice(void *arg, uint64_t generation)
{
	struct sim_task *task = arg;
	if (task->ended || task->cpu < 0 || task->generation != generation)
		return;
	unsigned int cpu = (unsigned int)task->cpu;
	if (sim.now_ns - task->on_since_ns >= task->burst_ns) {
		sim_task_act(task);
		return;
	}
	leave(task, true);
	enqueue(cpu, task);
	schedule_cpu(cpu);
}

static void schedule_cpu(unsigned int cpu)
{
	struct sim_cpu *at = &sim_machine.cpus[cpu];
	while (at->online && !at->current && at->queued) {
		struct sim_task *task = at->queue[0];
		memmove(at->queue, at->queue + 1, --at->queued * sizeof(*at->queue));
		task->queued = false;
		if (task->ended)
			continue;
		at->current = task;
		task->cpu = task->last_cpu = (int)cpu;
		task->on_since_ns = sim.now_ns;
		task->generation++;
		sim_perf_switch(task, cpu, true);
		sim_record_switch(task, 0);
		set_state(task, SIM_RUNNING);
		uint64_t slice_ns = sim_machine.workload.slice_us * UINT64_C(1000) ?: SLICE_NS;
		uint64_t ns = task->burst_ns < slice_ns ? task->burst_ns : slice_ns;
		sim_at(sim.now_ns + ns, end_slice, task, task->generation);
	}
}

static unsigned int choose_cpu(const struct sim_task *task)
{
	const struct sim_cpu *cpus = sim_machine.cpus;
	unsigned int cpu = (unsigned int)task->last_cpu;
	if (task->last_cpu >= 0 && cpus[cpu].online && sim_chance(SIM_WORLD, 70))
		return cpu;
	do
		cpu = (unsigned int)sim_random(SIM_WORLD, sim_machine.cpu_count);
	while (!cpus[cpu].online);
	return cpu;
}

void sim_task_wake(struct sim_task *task)
{
	const struct sim_workload *workload = &sim_machine.workload;
	if (task->ended || task->cpu >= 0 || task->queued)
		return;
	if (!task->burst_ns)
		task->burst_ns = 1000 + sim_random(SIM_WORLD, (uint64_t)workload->burst_us * 2000);
	unsigned int cpu = choose_cpu(task);
	if (state_of(task) == SIM_BLOCKED)
		sim_record_waking(task, cpu);
	enqueue(cpu, task);
	schedule_cpu(cpu);
}

void sim_task_end(struct sim_task *task, int status)
{
	struct sim_process *process = task->process;
	if (task->ended)
		return;
	sim_record_task(task, task, PERF_RECORD_EXIT);
	set_state(task, SIM_ENDED);
	sim_perf_exit(task);
	task->ended = true;
	sim_machine.alive--;
	sim_task_off(task);
	if (--process->threads)
		return;
	process->ended = true;
	process->status = status;
	sim_process_changed(process);
}

void sim_cpu_switch(unsigned int cpu, bool online)
{
	struct sim_cpu *at = &sim_machine.cpus[cpu];
	if (at->online == online)
		return;
	struct sim_task *moved = at->current;
	if (moved)
		leave(moved, true);
	at->online = online;
	sim_perf_cpu(cpu, online);
	if (!online && moved)
		sim_task_wake(moved);
	while (!online && at->queued) {
		struct sim_task *task = at->queue[--at->queued];
		task->queued = false;
		sim_task_wake(task);
	}
	sim_hotplug_changed();
}

void sim_tasks_begin(unsigned int cpus, const struct sim_workload *workload)
{
	sim_machine.cpu_count = cpus;
	sim_machine.workload = *workload;
	for (unsigned int i = 0; i < cpus; i++)
		sim_machine.cpus[i].online = true;
	sim_machine.next_pid = SIM_PID;
	struct sim_task *recorder = add_task(NULL);
	recorder->process->exe = "/usr/bin/sprof";
	recorder->process->uid = sim.user.uid;
	sim_machine.recorder = recorder->process;
	strcpy(recorder->comm, "sprof");
	sim_machine.next_pid = SIM_PID + 100;
}
