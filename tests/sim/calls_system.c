/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf events, epoll, timers, sockets, and calls by number. */
#include "sim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "calls.h"
#include "enter.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static const int making[] = {EMFILE, ENFILE, ENOMEM, 0};
static const int opening_events[] = {EMFILE, ENOMEM, EACCES, EBUSY, 0};
static const int controlling[] = {EIO, ENOMEM, 0};
static const int watching[] = {ENOMEM, ENOSPC, 0};
static const int waiting[] = {EINTR, 0};
static const int sending[] = {EPIPE, 0};

static int open_event(const long *arguments)
{
	ENTER("perf_event_open", opening_events);
	/* The kernel interrupts CPUs to do that. */
	sim_advance(sim.now_ns + 1000 + sim_random(SIM_SCHEDULE, 4000));
	int fd = sim_perf_open((struct perf_event_attr *)arguments[0], (int32_t)arguments[1],
			       (int32_t)arguments[2], (int)arguments[3],
			       (unsigned long)arguments[4]);
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

static int open_process(uint32_t pid)
{
	ENTER("pidfd_open", making);
	struct sim_process *process = sim_process_find(pid);
	if (!process) {
		errno = ESRCH;
		return -1;
	}
	struct sim_open *open = sim_open_new(SIM_PIDFD, 0);
	open->process = process;
	return sim_fd_new(open, 3);
}

static int look_for_task(uint32_t tid)
{
	const struct sim_task *task = sim_task_find(tid);
	ENTER("tgkill", NULL);
	if (task && !task->ended)
		return 0;
	errno = ESRCH;
	return -1;
}

static long call_number(long number, const long *arguments)
{
	switch (number) {
	case SYS_perf_event_open:
		return open_event(arguments);
	case SYS_pidfd_open:
		return open_process((uint32_t)arguments[0]);
	case SYS_tgkill:
		return look_for_task((uint32_t)arguments[1]);
	case SYS_gettid:
		return SIM_PID + (long)sim_thread_index();
	case SYS_openat2:
		return sim_openat2((int)arguments[0], (const char *)arguments[1], 0);
	case SYS_close_range:
		return 0;
	case SYS_sched_getattr:
		ENTER("sched_getattr", NULL);
		memset((void *)arguments[1], 0, (size_t)arguments[2]);
		return 0;
	case SYS_sched_setattr:
		ENTER("sched_setattr", NULL);
		return 0;
	case SYS_bpf:
		ENTER("bpf", NULL);
		errno = EPERM;
		return -1;
	case SYS_cachestat:
		errno = ENOSYS;
		return -1;
	default:
		sim_fatal("system call %ld is not simulated", number);
	}
}

long __wrap_syscall(long number, ...)
{
	long values[6];
	va_list arguments;
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(arguments, long);
	va_end(arguments);
	PASS(syscall, number, values[0], values[1], values[2], values[3], values[4], values[5]);
	return call_number(number, values);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	unsigned long value = va_arg(arguments, unsigned long);
	va_end(arguments);
	PASS(ioctl, fd, request, value);
	ENTER("ioctl", controlling);
	const struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	int errnum = open->kind == SIM_EVENT ? sim_perf_ioctl(open->event, request, value) : ENOTTY;
	errno = errnum;
	return errnum ? -1 : 0;
}

/* -- epoll ----------------------------------------------------------------- */

int __wrap_epoll_create1(int flags)
{
	PASS(epoll_create1, flags);
	ENTER("epoll_create1", making);
	return sim_fd_new(sim_open_new(SIM_EPOLL, 0), 3);
}

int __wrap_epoll_ctl(int epoll, int request, int fd, struct epoll_event *event)
{
	PASS(epoll_ctl, epoll, request, fd, event);
	ENTER("epoll_ctl", watching);
	struct sim_open *open = sim_fd(epoll);
	if (!open)
		return -1;
	int errnum = sim_epoll_control(open, request, fd, event ? event->events : 0,
				       event ? event->data.u64 : 0);
	errno = errnum;
	return errnum ? -1 : 0;
}

struct epoll_wait {
	struct sim_open *epoll;
	uint64_t seen;
};

static bool may_be_ready(void *arg)
{
	struct epoll_wait *wait = arg;
	struct sim_watch one;
	if (sim.changes == wait->seen)
		return false;
	wait->seen = sim.changes;
	if (!sim_epoll_ready(wait->epoll, &one, 1, true))
		return false;
	wait->seen--; /* true again until it has been taken */
	return true;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	struct sim_watch taken[64];
	PASS(epoll_wait, epoll, events, most, timeout_ms);
	ENTER("epoll_wait", waiting);
	struct epoll_wait wait = {sim_fd(epoll), sim.changes - 1};
	if (!wait.epoll)
		return -1;
	if (timeout_ms && !may_be_ready(&wait))
		sim_wait(may_be_ready, &wait, timeout_ms < 0 ? UINT64_MAX
						: sim.now_ns + (uint64_t)timeout_ms * SIM_MS);
	int count = sim_epoll_ready(wait.epoll, taken, most < 64 ? most : 64, false);
	for (int i = 0; i < count; i++) {
		events[i].events = taken[i].events;
		events[i].data.u64 = taken[i].data;
	}
	return count;
}

/* Does the same as poll(2) of one descriptor. */
bool sim_wait_for(int fd, uint64_t until_ns)
{
	struct epoll_wait wait = {sim_fd(fd), sim.changes - 1};
	bool ready = wait.epoll && (may_be_ready(&wait) || sim_wait(may_be_ready, &wait, until_ns));
	/* poll(2) of an epoll consumes wake-ups of rings, as epoll_wait(2) does. */
	if (ready)
		sim_poll(wait.epoll, false);
	return ready;
}

/* Waits for the first descriptor; the others are negative, which poll(2) ignores. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	PASS(poll, fds, count, timeout_ms);
	for (nfds_t i = 0; i < count; i++)
		fds[i].revents = 0;
	ENTER("poll", waiting);
	uint64_t until_ns = timeout_ms < 0 ? UINT64_MAX : sim.now_ns + (uint64_t)timeout_ms * SIM_MS;
	if (!sim_wait_for(fds[0].fd, until_ns))
		return 0;
	fds[0].revents = POLLIN;
	return 1;
}

/* -- Counters and timers --------------------------------------------------- */

int __wrap_eventfd(unsigned int value, int flags)
{
	PASS(eventfd, value, flags);
	ENTER("eventfd", making);
	struct sim_open *open = sim_open_new(SIM_COUNTER, flags & EFD_NONBLOCK ? O_NONBLOCK : 0);
	open->value = value;
	return sim_fd_new(open, 3);
}

int __wrap_eventfd_read(int fd, eventfd_t *ret)
{
	PASS(eventfd_read, fd, ret);
	ENTER("eventfd_read", NULL);
	struct sim_open *open = sim_fd(fd);
	return open && sim_descriptor_read(open, ret, sizeof(*ret)) > 0 ? 0 : -1;
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
	PASS(eventfd_write, fd, value);
	ENTER("eventfd_write", NULL);
	struct sim_open *open = sim_fd(fd);
	return open && sim_descriptor_write(open, &value, sizeof(value)) > 0 ? 0 : -1;
}

int __wrap_timerfd_create(clockid_t clock, int flags)
{
	PASS(timerfd_create, clock, flags);
	ENTER("timerfd_create", making);
	struct sim_open *open = sim_open_new(SIM_TIMER, flags & TFD_NONBLOCK ? O_NONBLOCK : 0);
	open->offset = clock == CLOCK_REALTIME ? SIM_REALTIME_NS : 0;
	return sim_fd_new(open, 3);
}

static uint64_t to_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *before)
{
	PASS(timerfd_settime, fd, flags, value, before);
	ENTER("timerfd_settime", controlling);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	uint64_t first_ns = to_ns(value->it_value), now_ns = sim.now_ns + open->offset;
	if (flags & TFD_TIMER_ABSTIME && first_ns)
		first_ns = first_ns > now_ns ? first_ns - now_ns : 1;
	sim_timer_set(open, first_ns, to_ns(value->it_interval));
	return 0;
}

/* -- Pipes and sockets ----------------------------------------------------- */

int __wrap_pipe2(int fds[2], int flags)
{
	PASS(pipe2, fds, flags);
	ENTER("pipe2", making);
	return sim_pipe(fds);
}

int __wrap_socketpair(int domain, int type, int protocol, int fds[2])
{
	PASS(socketpair, domain, type, protocol, fds);
	ENTER("socketpair", making);
	return sim_pipe(fds);
}

int __wrap_socket(int domain, int type, int protocol)
{
	PASS(socket, domain, type, protocol);
	ENTER("socket", making);
	return sim_fd_new(sim_open_new(SIM_SOCKET, O_NONBLOCK), 3);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
	PASS(bind, fd, address, size);
	ENTER("bind", making);
	return sim_fd(fd) ? 0 : -1;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	PASS(setsockopt, fd, level, name, value, size);
	ENTER("setsockopt", making);
	return sim_fd(fd) ? 0 : -1;
}

static ssize_t receive(int fd, void *buffer, size_t size)
{
	static const char message[] = "online@/devices/system/cpu";
	ENTER("recv", NULL);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	if (!open->messages) {
		errno = EAGAIN;
		return -1;
	}
	open->messages--;
	memcpy(buffer, message, sizeof(message) < size ? sizeof(message) : size);
	return sizeof(message);
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
	PASS(recv, fd, buffer, size, flags);
	return receive(fd, buffer, size);
}

ssize_t __wrap___recv_chk(int fd, void *buffer, size_t size, size_t most, int flags)
{
	(void)most;
	PASS(recv, fd, buffer, size, flags);
	return receive(fd, buffer, size);
}

ssize_t __wrap_send(int fd, const void *buffer, size_t size, int flags)
{
	PASS(send, fd, buffer, size, flags);
	ENTER("send", sending);
	struct sim_open *open = sim_fd(fd);
	return open ? sim_descriptor_write(open, buffer, size) : -1;
}
