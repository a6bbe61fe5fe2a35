/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes, limits and clocks. */
#include "sim.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "blocked.h"
#include "calls.h"
#include "enter.h"

static const int forking[] = {EAGAIN, ENOMEM, 0};
static const int waiting[] = {EINTR, 0};
static const int reading[] = {EPERM, ESRCH, EFAULT, 0};

pid_t __wrap_fork(void)
{
	if (!sim_inside())
		return __real_fork();
	ENTER("fork", forking);
	return sim_fork();
}

int __wrap_kill(pid_t pid, int number)
{
	PASS(kill, pid, number);
	ENTER("kill", NULL);
	struct sim_task *task = sim_task_find((uint32_t)pid);
	if (!task) {
		errno = ESRCH;
		return -1;
	}
	if (number)
		sim_task_end(task, number);
	sim_child_step();
	return 0;
}

static bool has_ended(void *arg)
{
	return ((const struct sim_process *)arg)->ended;
}

static pid_t wait_process(pid_t pid, int *status, int options, struct rusage *usage)
{
	ENTER("wait", waiting);
	struct sim_process *process = sim_process_find((uint32_t)pid);
	if (!process || process->reaped) {
		errno = ECHILD;
		return -1;
	}
	if (options & WNOHANG && !process->ended)
		return 0;
	if (!process->ended)
		sim_wait(has_ended, process, UINT64_MAX);
	process->reaped = true;
	if (status)
		*status = process->status;
	if (usage) {
		const struct sim_task *task = sim_task_find((uint32_t)pid);
		memset(usage, 0, sizeof(*usage));
		usage->ru_utime.tv_sec = (time_t)(task->used_ns / 1000000000);
		usage->ru_utime.tv_usec = (suseconds_t)(task->used_ns / 1000 % 1000000);
	}
	return pid;
}

pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	PASS(wait4, pid, status, options, usage);
	return wait_process(pid, status, options, usage);
}

/* Only of the process itself, which stays. */
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *ret, int options)
{
	PASS(waitid, type, id, ret, options);
	const struct sim_process *process = sim_process_find((uint32_t)id);
	if (!process || process->reaped) {
		errno = ECHILD;
		return -1;
	}
	ret->si_pid = process->ended ? (pid_t)id : 0;
	return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	PASS(waitpid, pid, status, options);
	return wait_process(pid, status, options, NULL);
}

pid_t __wrap_getpid(void)
{
	return sim_inside() ? SIM_PID : __real_getpid();
}

uid_t __wrap_geteuid(void)
{
	return sim_inside() ? sim.user.uid : __real_geteuid();
}

int __wrap_getrlimit(int resource, struct rlimit *ret)
{
	PASS(getrlimit, resource, ret);
	*ret = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	if (resource == RLIMIT_NOFILE)
		*ret = (struct rlimit){1024, 65536};
	return 0;
}

int __wrap_setrlimit(int resource, const struct rlimit *limit)
{
	PASS(setrlimit, resource, limit);
	return 0;
}

/* The kernel copies each span as a whole or not at all. */
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
				const struct iovec *remote, unsigned long remote_count,
				unsigned long flags)
{
	size_t size = 0;
	PASS(process_vm_readv, pid, local, local_count, remote, remote_count, flags);
	ENTER("process_vm_readv", reading);
	int errnum = sim_memory_open((uint32_t)pid);
	if (errnum) {
		errno = errnum;
		return -1;
	}
	for (unsigned long i = 0; i < remote_count; i++) {
		uint8_t *to = (uint8_t *)local->iov_base + size;
		if (size + remote[i].iov_len > local->iov_len ||
		    sim_memory_read((uint32_t)pid, (uintptr_t)remote[i].iov_base, to, remote[i].iov_len))
			break;
		size += remote[i].iov_len;
	}
	errno = EFAULT;
	return size ? (ssize_t)size : -1;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
	PASS(sched_getaffinity, pid, size, ret);
	memset(ret, 0, size);
	for (unsigned int i = 0; i < sim_machine.cpu_count; i++)
		CPU_SET_S(i, size, ret);
	return 0;
}

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	PASS(sched_setaffinity, pid, size, set);
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	PASS(clock_gettime, clock, ret);
	sim_enter("clock_gettime", NULL);
	uint64_t ns = sim.now_ns;
	if (clock == CLOCK_REALTIME)
		ns += SIM_REALTIME_NS;
	if (clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID)
		ns = 0;
	*ret = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	if (clock == CLOCK_MONOTONIC)
		sim_clock_was_read(ns);
	return 0;
}

/* Sleeps for a relative time. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *left_ret)
{
	PASS(clock_nanosleep, clock, flags, time, left_ret);
	sim_enter("clock_nanosleep", NULL);
	sim_sleep((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
	return 0;
}

int __wrap_clock_getres(clockid_t clock, struct timespec *ret)
{
	PASS(clock_getres, clock, ret);
	*ret = (struct timespec){0, clock == CLOCK_MONOTONIC_COARSE ? 4000000 : 1};
	return 0;
}

int __wrap_uname(struct utsname *ret)
{
	PASS(uname, ret);
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->sysname, "Linux");
	strcpy(ret->nodename, "simulated");
	strcpy(ret->release, "6.1.0-sim");
	strcpy(ret->version, "#1");
	strcpy(ret->machine, "x86_64");
	return 0;
}

long __wrap_sysconf(int name)
{
	PASS(sysconf, name);
	if (name == _SC_PAGESIZE)
		return 4096;
	if (name == _SC_CLK_TCK)
		return 100;
	if (name == _SC_NPROCESSORS_CONF)
		return sim_machine.cpu_count;
	if (name == _SC_NPROCESSORS_ONLN) {
		long online = 0;
		for (unsigned int i = 0; i < sim_machine.cpu_count; i++)
			online += sim_machine.cpus[i].online;
		return online;
	}
	return __real_sysconf(name);
}

/* No vDSO: the machine's own would be in the recording. */
unsigned long __wrap_getauxval(unsigned long type)
{
	return sim_inside() ? 0 : __real_getauxval(type);
}
