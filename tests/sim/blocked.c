/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

#define STACK_BYTES UINT64_C(0x10000) /* size of the mapped part of a stack */
#define PAUSE_NS (2 * SIM_MS)

struct sim_looks sim_looks;

/* Time that the recorder's main thread read last, and whether its attempt has not ended. */
static uint64_t clock_ns;
static bool looks;

/* -- Waits ----------------------------------------------------------------- */

void sim_wait_begin(struct sim_task *task)
{
	if (task->wait_count == task->wait_room) {
		task->wait_room = task->wait_room ? 2 * task->wait_room : 16;
		task->waits = realloc(task->waits, task->wait_room * sizeof(*task->waits));
		if (!task->waits)
			abort();
	}
	task->waits[task->wait_count++] = (struct sim_wait){
		.begin_ns = sim.now_ns, .maps = task->process->map_count,
	};
}

void sim_wait_end(struct sim_task *task)
{
	task->waits[task->wait_count - 1].end_ns = sim.now_ns;
}

static struct sim_wait *current_wait(const struct sim_task *task)
{
	const struct sim_span *last = &task->spans[task->span_count - 1];
	return last->state == SIM_BLOCKED ? &task->waits[task->wait_count - 1] : NULL;
}

/* Threads of a process have different stacks. */
static uint64_t top_of(const struct sim_task *task)
{
	return SIM_STACK_TOP - ((uint64_t)task->tid << 20);
}

int sim_wait_stack(const struct sim_task *task, const struct sim_wait *wait, struct sim_stack *stack)
{
	static const int calls[] = {202, 7, 0, 230, 232, 61, 74, -1};
	uint64_t seed = hash_pair(task->tid, (uint64_t)(wait - task->waits));
	memset(stack, 0, sizeof(*stack));
	if (!wait->maps)
		return -1;
	sim_seed_stream(SIM_WAITS, seed);
	sim_stack_make_user(task->process, wait->maps, top_of(task), SIM_WAITS, stack);
	return calls[seed % 8];
}

/* -- Rights ---------------------------------------------------------------- */

/* Returns the same as task_is_descendant() of Yama: false for an orphan. */
static bool descends(const struct sim_process *process)
{
	while (process && process->pid != SIM_PID) {
		process = sim_process_find(process->ppid);
		if (process && process->ended)
			return false;
	}
	return process;
}

bool sim_is_refused(const struct sim_process *process)
{
	return sim.user.uid && (process->uid != sim.user.uid || (sim.user.yama && !descends(process)));
}

/* Counts attempts of the main thread: others copy stacks, too. */
static bool is_refused(const struct sim_task *task)
{
	bool refused = sim_is_refused(task->process);
	sim_looks.denied += refused && !sim_thread_index();
	return refused;
}

/* -- /proc/PID/task/TID/syscall ---------------------------------------------- */

bool sim_is_syscall(const char *path)
{
	const char *name = strrchr(path, '/');
	return name && !strcmp(name, "/syscall") && !strncmp(path, "/proc/", 6);
}

static struct sim_task *task_of(const char *path)
{
	const char *threads = strstr(path, "/task/");
	return threads ? sim_task_find((uint32_t)strtoul(threads + 6, NULL, 10)) : NULL;
}

/* The file is readable for its owner only. Yama refuses reading, not opening. */
int sim_syscall_open(const char *path)
{
	const struct sim_task *task = task_of(path);
	if (!task || task->ended)
		return ENOENT;
	bool others = sim.user.uid && task->process->uid != sim.user.uid;
	sim_looks.denied += others;
	return others ? EACCES : 0;
}

static void begin_look(const struct sim_task *task, const struct sim_wait *wait)
{
	if (!(sim_looks.count & (sim_looks.count - 1))) {
		size_t room = sim_looks.count ? 2 * sim_looks.count : 1;
		sim_looks.items = realloc(sim_looks.items, room * sizeof(*sim_looks.items));
		if (!sim_looks.items)
			abort();
	}
	sim_looks.items[sim_looks.count++] = (struct sim_look){
		.tid = task->tid, .begin_ns = clock_ns, .wait = wait->begin_ns,
	};
	looks = true;
}

void sim_clock_was_read(uint64_t ns)
{
	if (sim_thread_index())
		return;
	clock_ns = ns;
	if (looks && sim_looks.items[sim_looks.count - 1].copied)
		sim_looks.items[sim_looks.count - 1].end_ns = ns;
	looks = false;
}

int sim_syscall_read(const char *path, char *text, size_t size)
{
	static struct sim_stack stack;
	const struct sim_task *task = task_of(path);
	if (!task || task->ended)
		return ESRCH;
	if (is_refused(task))
		return EPERM;
	struct sim_wait *wait = current_wait(task);
	if (sim.verbose > 1)
		printf("# %.3f ms: thread %u %s\n", (double)sim.now_ns / (double)SIM_MS, task->tid,
		       wait ? "waits" : "runs");
	if (!wait) {
		snprintf(text, size, "running\n");
		return 0;
	}
	int call = sim_wait_stack(task, wait, &stack);
	unsigned long long sp = stack.sp, ip = stack.depth ? stack.chain[0] : 0;
	if (call < 0)
		snprintf(text, size, "-1 0x%llx 0x%llx\n", sp, ip);
	else
		snprintf(text, size, "%d 0x3 0x%llx 0x400 0x0 0xffffffffffffffff 0x0 0x%llx 0x%llx\n", call,
			 sp + 8, sp, ip);
	if (stack.depth)
		begin_look(task, wait);
	return 0;
}

/* -- process_vm_readv(2) ------------------------------------------------------- */

/* A thread that has ended has no memory, although others of its process do. */
int sim_memory_open(uint32_t tid)
{
	const struct sim_task *task = sim_task_find(tid);
	if (!task || task->ended)
		return ESRCH;
	return is_refused(task) ? EPERM : 0;
}

/* Returns the thread that has its stack there; NULL: none. */
static const struct sim_task *owner_of(uint32_t tid, uint64_t address)
{
	const struct sim_task *task = sim_task_find(tid);
	const struct sim_process *process = task ? task->process : NULL;
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_task *owner = sim_machine.tasks[i];
		if (owner->process == process && top_of(owner) - 1 - address < STACK_BYTES)
			return owner;
	}
	return NULL;
}

/* Memory that is no stack reads as zeros; beyond a stack's end there is nothing. */
int sim_memory_read(uint32_t tid, uint64_t address, void *to, size_t size)
{
	static struct sim_stack stack;
	if (sim_chance(SIM_SCHEDULE, sim.pauses))
		sim_sleep(sim_random(SIM_SCHEDULE, PAUSE_NS));
	const struct sim_task *owner = owner_of(tid, address);
	if (!owner && owner_of(tid, address + 1 - STACK_BYTES))
		return EFAULT;
	memset(to, 0, size);
	if (!owner)
		return 0;
	if (looks && !sim_thread_index())
		sim_looks.items[sim_looks.count - 1].copied = true;
	/* A running thread overwrites its stack. */
	memset(to, 0xa5, size);
	enum sim_state state = owner->spans[owner->span_count - 1].state;
	if (state != SIM_BLOCKED && state != SIM_WOKEN)
		return 0;
	sim_wait_stack(owner, &owner->waits[owner->wait_count - 1], &stack);
	for (size_t i = 0; i < size; i++)
		if (address + i - stack.sp < stack.size)
			((uint8_t *)to)[i] = stack.bytes[address + i - stack.sp];
	return 0;
}
