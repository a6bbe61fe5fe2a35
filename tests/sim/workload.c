/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <stdio.h>
#include <string.h>
#include "blocked.h"

/* CPU time of a task's end after a fatal signal. */
#define END_NS 2000

static const char *const names[] = {"worker", "sh", "a b)c", "make", "cc1"};

static void wake_later(void *arg, uint64_t number)
{
	(void)number;
	sim_task_wake(arg);
}

static void rest(struct sim_task *task)
{
	uint64_t sleep_ns = 1000 + sim_random(SIM_WORLD,
					      (uint64_t)sim_machine.workload.sleep_us * 2000 + 1);
	const struct sim_workload *workload = &sim_machine.workload;
	bool forever = task != sim_machine.command && sim_chance(SIM_WORLD, workload->forever);
	if (sim_chance(SIM_WORLD, workload->long_sleep))
		sleep_ns *= 100;
	sim_task_off(task);
	if (!forever)
		sim_at(sim.now_ns + sleep_ns, wake_later, task, 0);
}

static void make_child(struct sim_task *task, bool thread)
{
	const struct sim_workload *workload = &sim_machine.workload;
	if (sim_machine.alive >= workload->most)
		return;
	struct sim_task *child = sim_task_new(task, thread);
	sim_at(sim.now_ns + 1000 + sim_random(SIM_WORLD, 100000), wake_later, child, 0);
	if (!thread && sim_chance(SIM_WORLD, workload->exec))
		child->waits_exec = true;
}

/* The command goes on until its time has come. */
static bool ends(const struct sim_task *task)
{
	return task != sim_machine.command && sim_chance(SIM_WORLD, sim_machine.workload.end);
}

void sim_task_act(struct sim_task *task)
{
	const struct sim_workload *workload = &sim_machine.workload;
	if (task->killed) {
		sim_task_end(task, 0);
		return;
	}
	if (task->waits_exec) {
		task->waits_exec = false;
		sim_task_exec(task, names[sim_random(SIM_WORLD, 5)]);
	}
	if (sim_chance(SIM_WORLD, workload->map))
		sim_task_map(task, true);
	if (sim_chance(SIM_WORLD, workload->comm)) {
		snprintf(task->comm, sizeof(task->comm), "name-%u", task->tid);
		sim_record_comm(task, false);
	}
	if (sim_chance(SIM_WORLD, workload->thread))
		make_child(task, true);
	if (sim_chance(SIM_WORLD, workload->fork))
		make_child(task, false);
	if (ends(task))
		sim_task_end(task, 0);
	else
		rest(task);
}

/* All threads of the command end with it. Those off the CPU run once more, as after a fatal signal. */
static void end_command(void *arg, uint64_t number)
{
	struct sim_task *command = arg;
	(void)number;
	for (size_t i = sim_machine.task_count; i-- > 0;) {
		struct sim_task *task = sim_machine.tasks[i];
		if (task->process != command->process)
			continue;
		task->killed = true;
		task->burst_ns = END_NS;
		if (task->cpu >= 0)
			sim_task_end(task, 0);
		else
			sim_task_wake(task);
	}
}

/* Another task renames itself on the command's CPU until a record is lost. */
static void fill_rings(const struct sim_task *command)
{
	struct sim_task *other = sim_task_new(NULL, false);
	other->last_cpu = command->cpu >= 0 ? command->cpu : command->last_cpu;
	do
		sim_record_comm(other, false);
	while (sim_perf.truth_count && sim_perf.truth[sim_perf.truth_count - 1].fate == SIM_PUT);
}

void sim_command_begin(struct sim_task *task)
{
	sim_machine.command = task;
	if (sim_machine.workload.lost_exec)
		fill_rings(task);
	sim_task_exec(task, "worker");
	sim_task_wake(task);
	if (sim_machine.workload.life_ms)
		sim_at(sim.now_ns + sim_machine.workload.life_ms * SIM_MS, end_command, task, 0);
}

static void switch_cpu(void *arg, uint64_t number)
{
	(void)arg;
	(void)number;
	unsigned int count = sim_machine.cpu_count;
	unsigned int cpu = count > 1 ? 1 + (unsigned int)sim_random(SIM_WORLD, count - 1) : 0;
	if (cpu)
		sim_cpu_switch(cpu, !sim_machine.cpus[cpu].online);
	sim_at(sim.now_ns + sim_machine.workload.hotplug_ms * SIM_MS, switch_cpu, NULL, 0);
}

void sim_workload_begin(void)
{
	const struct sim_workload *workload = &sim_machine.workload;
	for (unsigned int i = 0; i < workload->tasks; i++) {
		struct sim_task *task = sim_task_new(NULL, false);
		bool in_kernel = workload->others && i % 3 == 2;
		if (!in_kernel)
			sim_task_exec(task, names[i % 5]);
		task->waits[0].maps = task->process->map_count;
		task->process->ppid = 1;
		task->process->uid = workload->others && i % 3 ? 0 : sim.user.uid;
		for (unsigned int k = 0; workload->thread && k < i % 3; k++)
			make_child(task, true);
		if (i >= workload->sleepers)
			sim_at(sim.now_ns + sim_random(SIM_WORLD, 5 * SIM_MS), wake_later, task, 0);
	}
	if (workload->hotplug_ms)
		sim_at(sim.now_ns + workload->hotplug_ms * SIM_MS, switch_cpu, NULL, 0);
}
