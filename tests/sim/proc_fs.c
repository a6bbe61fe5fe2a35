/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include "tests/sched_waking.h"

/* Files with constant contents. */
static const struct {
	const char *path, *text;
} fixed[] = {
	{"/proc/sys/kernel/perf_event_mlock_kb", "516\n"},
	{"/proc/sys/kernel/perf_event_max_sample_rate", "100000\n"},
	{"/proc/sys/kernel/perf_event_max_stack", "127\n"},
	{"/proc/sys/kernel/perf_event_max_contexts_per_stack", "8\n"},
	{"/proc/sys/kernel/kptr_restrict", "0\n"},
	{"/proc/sys/kernel/osrelease", "6.1.0-sim\n"},
	{"/proc/sys/kernel/hostname", "simulated\n"},
	{"/proc/sys/fs/nr_open", "1048576\n"},
	{"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: Simulated\ncpu family\t: 6\nmodel\t\t: 1\n"
			  "model name\t: Simulated CPU\nstepping\t: 1\n\n"},
	{"/proc/meminfo", "MemTotal:       16000000 kB\nMemFree:        8000000 kB\n"
			  "MemAvailable:   8000000 kB\n"},
	{"/proc/filesystems", "nodev\tproc\n\text4\n"},
	{"/proc/iomem", "00000000-00000000 : Kernel code\n"},
	{"/proc/modules", ""},
	{"/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n"},
	{"/proc/kallsyms", "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
			   "ffffffff81001000 T do_syscall_64\nffffffff81008000 t schedule\n"
			   "ffffffff81010000 T _etext\n"},
	{"/sys/bus/event_source/devices/software/type", "1\n"},
	{"/sys/kernel/tracing/events/sched/sched_waking/id", SIM_TEXT(SIM_WAKING) "\n"},
	{"/sys/kernel/tracing/events/sched/sched_waking/format",
	 SCHED_WAKING_FORMAT(SIM_TEXT(SIM_WAKING))},
};

/* Folders with constant names, one per line. */
static const struct {
	const char *path, *names;
} folders[] = {
	{"/sys", ""},
	{"/sys/bus/event_source/devices", "software\n"},
	{"/sys/bus/event_source/devices/software", ""},
	{"/sys/kernel/tracing/events", "sched\n"},
	{"/sys/kernel/tracing/events/sched", "sched_waking\n"},
	{"/sys/kernel/tracing/events/sched/sched_waking", "format\nid\n"},
};

static const uint8_t kernel_note[] = {
	4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
	9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
};

/* Text that grows. */
struct text {
	char *bytes;
	size_t size;
	FILE *file;
};

static void begin_text(struct text *text)
{
	text->file = open_memstream(&text->bytes, &text->size);
	if (!text->file)
		abort();
}

static char *end_text(struct text *text, size_t *size_ret)
{
	fclose(text->file);
	*size_ret = text->size;
	return text->bytes;
}

static void list_online(FILE *file)
{
	const char *comma = "";
	for (unsigned int i = 0; i < sim_machine.cpu_count; i++) {
		unsigned int last = i;
		if (!sim_machine.cpus[i].online)
			continue;
		while (last + 1 < sim_machine.cpu_count && sim_machine.cpus[last + 1].online)
			last++;
		fprintf(file, last > i ? "%s%u-%u" : "%s%u", comma, i, last);
		comma = ",";
		i = last;
	}
	fputc('\n', file);
}

static void write_maps(FILE *file, const struct sim_process *process)
{
	for (unsigned int i = 0; i < process->map_count; i++) {
		const struct sim_map *map = &process->maps[i];
		fprintf(file, "%llx-%llx r-xp %08llx 08:01 %llu %s\n", (unsigned long long)map->start,
			(unsigned long long)(map->start + map->size), (unsigned long long)map->offset,
			(unsigned long long)map->ino, map->path);
	}
	if (process->map_count)
		fprintf(file, "%llx-%llx rw-p 00000000 00:00 0 [stack]\n",
			(unsigned long long)(SIM_STACK_TOP - 0x21000),
			(unsigned long long)SIM_STACK_TOP);
}

/* The file of a task that has ended is empty, although other threads still use the memory. */
static void read_maps(FILE *file, const struct sim_task *task)
{
	if (task->ended)
		return;
	sim_process_read(task->process);
	write_maps(file, task->process);
}

static void write_stat(FILE *file, const struct sim_task *task)
{
	if (task->process != sim_machine.recorder)
		sim.stat_ns = sim.now_ns;
	uint64_t ticks = task->used_ns / 10000000;
	fprintf(file, "%u (%s) %c %u 1 1 0 -1 %u 0 0 0 0 %llu 0 0 0 20 0 %u 0 %llu 0 0 0 0 0 0 0 0 0 "
		"0 0 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n", task->tid, task->comm,
		task->ended ? 'Z' : task->cpu >= 0 ? 'R' : 'S', task->process->ppid, 0,
		(unsigned long long)ticks, task->process->threads,
		(unsigned long long)(task->start_ns / 10000000),
		task->last_cpu < 0 ? 0 : task->last_cpu);
}

static void write_status(FILE *file, const struct sim_task *task)
{
	fprintf(file, "Name:\t%s\nTgid:\t%u\nPid:\t%u\nPPid:\t%u\nUid:\t%u\t%u\t%u\t%u\n"
		"NSpid:\t%u\nCapEff:\t%s\nSeccomp:\t0\n", task->comm,
		task->process->pid, task->tid, task->process->ppid, task->process->uid,
		task->process->uid, task->process->uid, task->process->uid, task->tid,
		task->process->uid ? "0000000000000000" : "000001ffffffffff");
}

/* Time on a CPU and time of waiting for one, as the kernel counts them. */
static void write_schedstat(FILE *file, struct sim_task *task)
{
	uint64_t sums[SIM_ENDED + 1] = {0}, slices = 0;
	for (size_t i = 0; i < task->span_count; i++) {
		const struct sim_span *span = &task->spans[i];
		uint64_t end_ns = i + 1 < task->span_count ? span[1].begin_ns : sim.now_ns;
		sums[span->state] += end_ns - span->begin_ns;
		slices += span->state == SIM_RUNNING;
	}
	task->first_schedstat_ns = task->first_schedstat_ns ?: sim.now_ns;
	task->last_schedstat_ns = sim.now_ns;
	fprintf(file, "%llu %llu %llu\n", (unsigned long long)sums[SIM_RUNNING],
		(unsigned long long)(sums[SIM_RUNNABLE] + sums[SIM_WOKEN]), (unsigned long long)slices);
}

static bool is_visible(const struct sim_task *task)
{
	return !task->ended || (task->tid == task->process->pid && !task->process->reaped &&
				(task->process->threads || task->process->ppid == SIM_PID));
}

/* A folder of tasks: of one process, or all processes. */
static void list_tasks(FILE *file, const struct sim_process *process)
{
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_task *task = sim_machine.tasks[i];
		bool wanted = process ? task->process == process : task->tid == task->process->pid;
		if (wanted && is_visible(task))
			fprintf(file, "%u\n", task->tid);
	}
}

/* Returns whether there is such a file of a task. */
static bool write_task(FILE *file, struct sim_task *task, const char *name)
{
	if (!strcmp(name, "stat"))
		write_stat(file, task);
	else if (!strcmp(name, "schedstat"))
		write_schedstat(file, task);
	else if (!strcmp(name, "status"))
		write_status(file, task);
	else if (!strcmp(name, "comm"))
		fprintf(file, "%s\n", task->comm);
	else if (!strcmp(name, "maps"))
		read_maps(file, task);
	else if (!strcmp(name, "cgroup"))
		fputs("0::/\n", file);
	else if (!strcmp(name, "uid_map"))
		fputs("         0          0 4294967295\n", file);
	else
		return !strncmp(name, "ns/", 3) || !strcmp(name, "syscall");
	return true;
}

/* Contents of "PID/REST" or "self/REST". */
static char *read_task(const char *rest, size_t *size_ret, bool *is_directory_ret)
{
	char *end;
	uint32_t pid = !strncmp(rest, "self", 4) && (!rest[4] || rest[4] == '/')
			       ? SIM_PID : (uint32_t)strtoul(rest, &end, 10);
	const char *name = strchr(rest, '/');
	struct sim_task *task = sim_task_find(pid);
	struct text text;
	if (!task || !is_visible(task))
		return NULL;
	begin_text(&text);
	bool found = true;
	*is_directory_ret = !name || !strcmp(name, "/task") || !strcmp(name, "/fd");
	if (!name)
		fputs("stat\nstatus\nmaps\n", text.file);
	else if (!strcmp(name, "/task"))
		list_tasks(text.file, task->process);
	else if (!strcmp(name, "/fd"))
		for (int fd = -1; (fd = sim_fd_next(fd)) >= 0;)
			fprintf(text.file, "%d\n", fd);
	else if (!strncmp(name, "/task/", 6)) {
		uint32_t tid = (uint32_t)strtoul(name + 6, &end, 10);
		struct sim_task *thread = sim_task_find(tid);
		found = thread && thread->process == task->process && is_visible(thread);
		*is_directory_ret = found && !*end;
		found = found && (!*end || write_task(text.file, thread, end + 1));
	} else
		found = write_task(text.file, task, name + 1);
	char *bytes = end_text(&text, size_ret);
	if (!found)
		free(bytes);
	return found ? bytes : NULL;
}

uint32_t sim_proc_uid(const char *path)
{
	const struct sim_process *process = NULL;
	if (!strncmp(path, "/proc/", 6))
		process = sim_process_find((uint32_t)strtoul(path + 6, NULL, 10));
	return process ? process->uid : 0;
}

bool sim_proc_has(const char *path)
{
	return !strncmp(path, "/proc", 5) || !strncmp(path, "/sys", 4);
}

static char *read_fixed(const char *path, size_t *size_ret)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (!strcmp(fixed[i].path, path)) {
			*size_ret = strlen(fixed[i].text);
			return strdup(fixed[i].text);
		}
	return NULL;
}

static char *read_folder(const char *path, size_t *size_ret, bool *is_directory_ret)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strcmp(folders[i].path, path)) {
			*is_directory_ret = true;
			*size_ret = strlen(folders[i].names);
			return strdup(folders[i].names);
		}
	return NULL;
}

char *sim_proc_read(const char *path, size_t *size_ret, bool *is_directory_ret)
{
	static const char cpu[] = "/sys/devices/system/cpu";
	struct text text;
	*is_directory_ret = false;
	char *bytes = read_fixed(path, size_ret);
	if (!bytes)
		bytes = read_folder(path, size_ret, is_directory_ret);
	if (bytes)
		return bytes;
	if (!strcmp(path, "/sys/kernel/notes")) {
		*size_ret = sizeof(kernel_note);
		bytes = malloc(sizeof(kernel_note));
		return bytes ? memcpy(bytes, kernel_note, sizeof(kernel_note)) : NULL;
	}
	if (!strncmp(path, "/proc/", 6) &&
	    (!strncmp(path + 6, "self", 4) || (path[6] >= '0' && path[6] <= '9')))
		return read_task(path + 6, size_ret, is_directory_ret);
	bool paranoid = !strcmp(path, "/proc/sys/kernel/perf_event_paranoid");
	bool yama = !strcmp(path, "/proc/sys/kernel/yama/ptrace_scope");
	bool online = !strncmp(path, cpu, sizeof(cpu) - 1) && !strcmp(path + sizeof(cpu) - 1, "/online");
	*is_directory_ret = !strcmp(path, "/proc");
	if (!paranoid && !yama && !online && !*is_directory_ret)
		return NULL;
	begin_text(&text);
	if (paranoid || yama)
		fprintf(text.file, "%d\n", paranoid ? sim.user.paranoid : sim.user.yama);
	else if (online)
		list_online(text.file);
	else
		list_tasks(text.file, NULL);
	return end_text(&text, size_ret);
}
