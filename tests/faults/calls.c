/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter of seccomp(2) stops the process at the calls below alone, so that all others take
 * no time; its tracer then has them skipped (call number -1), with the errno as the result. What
 * the process starts inherits the filter, and so is traced as well, but only let go on.
 */
#include "inject.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <sys/user.h>

#define ERRNOS 5
#define SHORT (-1) /* no errno: a write of half the bytes, or of one */

struct call {
	int number;
	const char *name;
	int errnos[ERRNOS];
	int size_argument; /* SHORT: number of the argument with the size, 1 …; or 0: a vector */
};

static const struct call calls[] = {
	{SYS_openat, "openat", {EMFILE, EACCES, ENOMEM, EIO, EINTR}, 0},
	{SYS_openat2, "openat2", {ENOSYS, EPERM, EAGAIN, EMFILE, ENOENT}, 0},
	{SYS_fstatfs, "fstatfs", {EIO, ENOSYS}, 0},
	{SYS_read, "read", {EIO, EINTR, ENOMEM}, 0},
	{SYS_pread64, "pread64", {EIO, EINTR, ENOMEM}, 0},
	{SYS_write, "write", {ENOSPC, EIO, EINTR, EDQUOT, SHORT}, 3},
	{SYS_pwrite64, "pwrite64", {ENOSPC, EIO, EINTR, EDQUOT, SHORT}, 3},
	{SYS_writev, "writev", {ENOSPC, EIO, EINTR, EDQUOT}, 0},
	{SYS_pwritev, "pwritev", {ENOSPC, EIO, EINTR, EDQUOT}, 0},
	{SYS_fstat, "fstat", {ENOMEM, EIO}, 0},
	{SYS_newfstatat, "newfstatat", {EACCES, ENOMEM, EIO}, 0},
	{SYS_statx, "statx", {EACCES, ENOMEM}, 0},
	{SYS_lseek, "lseek", {ESPIPE, EINVAL}, 0},
	{SYS_mmap, "mmap", {ENOMEM, EAGAIN, EPERM}, 0},
	{SYS_perf_event_open, "perf_event_open", {EMFILE, ENOMEM, EACCES, EINVAL, EBUSY}, 0},
	{SYS_ioctl, "ioctl", {EINVAL, ENOMEM, EINTR}, 0},
	{SYS_fcntl, "fcntl", {EMFILE, EAGAIN}, 0},
	{SYS_poll, "poll", {EINTR, ENOMEM}, 0},
	{SYS_ppoll, "ppoll", {EINTR, ENOMEM}, 0},
	{SYS_epoll_wait, "epoll_wait", {EINTR}, 0},
	{SYS_epoll_create1, "epoll_create1", {EMFILE, ENOMEM}, 0},
	{SYS_epoll_ctl, "epoll_ctl", {ENOMEM, ENOSPC}, 0},
	{SYS_pipe2, "pipe2", {EMFILE, ENFILE}, 0},
	{SYS_dup, "dup", {EMFILE}, 0},
	{SYS_dup2, "dup2", {EMFILE, EINTR}, 0},
	{SYS_dup3, "dup3", {EMFILE, EINTR}, 0},
	{SYS_clone, "clone", {EAGAIN, ENOMEM}, 0},
	{SYS_clone3, "clone3", {EAGAIN, ENOMEM}, 0},
	{SYS_vfork, "vfork", {EAGAIN, ENOMEM}, 0},
	{SYS_wait4, "wait4", {EINTR}, 0},
	{SYS_rename, "rename", {EACCES, EIO, ENOSPC}, 0},
	{SYS_renameat2, "renameat2", {EACCES, EIO, ENOSPC, EINVAL}, 0},
	{SYS_unlink, "unlink", {EACCES, EIO}, 0},
	{SYS_mkdir, "mkdir", {EACCES, ENOSPC}, 0},
	{SYS_ftruncate, "ftruncate", {EIO, EINTR, EFBIG}, 0},
	{SYS_fallocate, "fallocate", {ENOSPC, EINTR, EOPNOTSUPP, EDQUOT, EIO}, 0},
	{SYS_getdents64, "getdents64", {EIO, ENOENT}, 0},
	{SYS_readlink, "readlink", {EACCES, EIO}, 0},
	{SYS_readlinkat, "readlinkat", {EACCES, EIO}, 0},
	{SYS_process_vm_readv, "process_vm_readv", {ESRCH, EPERM, EFAULT}, 0},
	{SYS_sched_setaffinity, "sched_setaffinity", {EINVAL, EPERM}, 0},
	{SYS_sched_getaffinity, "sched_getaffinity", {EINVAL, EPERM}, 0},
	{SYS_setpriority, "setpriority", {EPERM, EACCES}, 0},
	{SYS_prlimit64, "prlimit64", {EPERM, EINVAL}, 0},
	{SYS_eventfd2, "eventfd2", {EMFILE, ENOMEM}, 0},
	{SYS_timerfd_create, "timerfd_create", {EMFILE, ENOMEM}, 0},
	{SYS_timerfd_settime, "timerfd_settime", {EINVAL}, 0},
	{SYS_signalfd4, "signalfd4", {EMFILE, ENOMEM}, 0},
	{SYS_memfd_create, "memfd_create", {EMFILE, ENOMEM}, 0},
	{SYS_bpf, "bpf", {EPERM, ENOMEM}, 0},
	{SYS_pidfd_open, "pidfd_open", {EMFILE, ESRCH}, 0},
	{SYS_socketpair, "socketpair", {EMFILE}, 0},
	{SYS_uname, "uname", {EFAULT}, 0},
	{SYS_getrandom, "getrandom", {EAGAIN, EINTR}, 0},
	{SYS_access, "access", {EACCES, EIO}, 0},
};
#define CALLS (sizeof(calls) / sizeof(*calls))

bool inject_possible(void)
{
	return true;
}

/* Trace if it is one of `calls`, else allow. */
static void set_filter(void)
{
	struct sock_filter filter[CALLS * 2 + 2];
	size_t used = 0;
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						      offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CALLS; i++) {
		filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							      (uint32_t)calls[i].number, 0, 1);
		filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							      SECCOMP_RET_TRACE | (uint32_t)i);
	}
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = (unsigned short)used, .filter = filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(99);
}

void inject_begin(void)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(99);
	raise(SIGSTOP);
	set_filter();
}

/* Whether the task is of this process; a task's directory is there as long as it is stopped. */
static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return tid == pid || !access(path, F_OK);
}

/* Whether the dynamic linker is at this address: how it fails is not ours to mend. */
static bool is_linker(pid_t pid, unsigned long long ip)
{
	char path[64], line[512];
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end;
		found = sscanf(line, "%llx-%llx", &start, &end) == 2 && ip >= start && ip < end &&
			strstr(line, "/ld-");
	}
	if (maps)
		fclose(maps);
	return found;
}

static const char *errno_name(int errnum)
{
	static char text[64];
	snprintf(text, sizeof(text), "%s", strerror(errnum));
	return text;
}

static void skip_call(pid_t tid, struct user_regs_struct *registers, int errnum)
{
	registers->orig_rax = (unsigned long long)-1;
	registers->rax = (unsigned long long)-(long long)errnum;
	ptrace(PTRACE_SETREGS, tid, 0, registers);
}

static void fail_call(pid_t tid, const struct call *call, unsigned long choice,
		      struct inject_result *result)
{
	struct user_regs_struct registers;
	size_t count = 0;
	while (count < ERRNOS && call->errnos[count])
		count++;
	int errnum = call->errnos[choice % count];
	result->name = call->name;
	if (ptrace(PTRACE_GETREGS, tid, 0, &registers))
		return;
	if (is_linker(tid, registers.rip)) {
		result->how = "left to the dynamic linker";
		return;
	}
	if (errnum != SHORT) {
		result->how = errno_name(errnum);
		skip_call(tid, &registers, errnum);
		return;
	}
	result->how = "cut short";
	registers.rdx = registers.rdx > 1 ? registers.rdx / 2 : registers.rdx;
	ptrace(PTRACE_SETREGS, tid, 0, &registers);
}

struct tracing {
	pid_t pid;
	unsigned long number, seed;
	bool begun; /* the program runs that is meant */
	struct inject_result result;
};

static void at_call(struct tracing *tracing, pid_t tid)
{
	unsigned long index;
	if (!tracing->begun || ptrace(PTRACE_GETEVENTMSG, tid, 0, &index) || index >= CALLS ||
	    !is_thread_of(tid, tracing->pid))
		return;
	if (++tracing->result.calls == tracing->number)
		fail_call(tid, &calls[index], tracing->seed + tracing->number, &tracing->result);
}

/* The signal to go on with. */
static int at_stop(struct tracing *tracing, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	if (event == PTRACE_EVENT_SECCOMP)
		at_call(tracing, tid);
	if (event == PTRACE_EVENT_EXEC && tid == tracing->pid)
		tracing->begun = true;
	if (event == PTRACE_EVENT_STOP || event)
		return 0;
	/* A new task begins with it. */
	return signal == SIGSTOP || signal == SIGTRAP ? 0 : signal;
}

struct inject_result inject_trace(pid_t pid, unsigned long number, unsigned long seed, int limit_s)
{
	struct tracing tracing = {.pid = pid, .number = number, .seed = seed,
				  .result = {.name = "", .how = ""}};
	struct timespec begun, now;
	int status;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0,
	       PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
	       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	ptrace(PTRACE_CONT, pid, 0, 0);
	time_t end = begun.tv_sec + limit_s;
	for (bool over = false;;) {
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
		if (tid < 0)
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end) {
			/* The caller finds processes that are left. */
			if (over)
				break;
			tracing.result.timed_out = true;
			kill(pid, SIGKILL);
		}
		if (!tid) {
			usleep(20);
		} else if (WIFSTOPPED(status)) {
			int signal = at_stop(&tracing, tid, status);
			ptrace(PTRACE_CONT, tid, 0, signal);
		} else if (tid == pid) {
			tracing.result.status = WIFEXITED(status) ? WEXITSTATUS(status)
								  : 128 + WTERMSIG(status);
			/* Its children may be about to exit, and stop on exit. */
			over = true;
			end = now.tv_sec + 2;
		}
	}
	return tracing.result;
}

#else

bool inject_possible(void)
{
	return false;
}

void inject_begin(void)
{
}

struct inject_result inject_trace(pid_t pid, unsigned long number, unsigned long seed, int limit_s)
{
	(void)pid, (void)number, (void)seed, (void)limit_s;
	return (struct inject_result){.name = "", .how = ""};
}
#endif
