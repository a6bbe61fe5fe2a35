/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define FDS_MAX 65536
#define EPOLLS_MAX 1200

static struct {
	struct sim_open *items[FDS_MAX];
	size_t count;
	int lowest;              /* all below are in use */
	int end;                 /* none from here on is */
	struct sim_open *epolls[EPOLLS_MAX], *sockets[16];
	size_t epoll_count, socket_count;
} fds;

/* The command's process, as long as it waits. */
static struct {
	struct sim_task *task;
	struct sim_open *go, *failed;
	bool starts;
} child;

struct sim_open *sim_open_new(enum sim_kind kind, int flags)
{
	struct sim_open *open = calloc(1, sizeof(*open));
	if (!open)
		abort();
	open->kind = kind;
	open->flags = flags;
	if (kind == SIM_EPOLL && fds.epoll_count < EPOLLS_MAX)
		fds.epolls[fds.epoll_count++] = open;
	if (kind == SIM_SOCKET && fds.socket_count < 16)
		fds.sockets[fds.socket_count++] = open;
	return open;
}

int sim_fd_new(struct sim_open *open, int lowest)
{
	int fd = lowest > fds.lowest ? lowest : fds.lowest;
	while (fd < FDS_MAX && (fd < 3 || fds.items[fd]))
		fd++;
	if (fd == FDS_MAX) {
		errno = EMFILE;
		return -1;
	}
	if (lowest <= fds.lowest)
		fds.lowest = fd + 1;
	fds.items[fd] = open;
	fds.end = fd < fds.end ? fds.end : fd + 1;
	fds.count++;
	open->references++;
	if (open->inode)
		open->inode->opens++;
	return fd;
}

struct sim_open *sim_fd_peek(int fd)
{
	return fd >= 0 && fd < FDS_MAX ? fds.items[fd] : NULL;
}

struct sim_open *sim_fd(int fd)
{
	struct sim_open *open = sim_fd_peek(fd);
	if (!open) {
		sim_violation("call with descriptor %d, which is not open", fd);
		errno = EBADF;
	}
	return open;
}

size_t sim_fd_count(void)
{
	return fds.count;
}

int sim_fd_next(int fd)
{
	for (fd++; fd < fds.end; fd++)
		if (fds.items[fd])
			return fd;
	return -1;
}

static void remove_from(struct sim_open **list, size_t *count, const struct sim_open *open)
{
	for (size_t i = 0; i < *count; i++)
		if (list[i] == open) {
			list[i] = list[--*count];
			return;
		}
}

static void unwatch(const struct sim_open *open)
{
	for (size_t e = 0; e < fds.epoll_count; e++) {
		struct sim_open *epoll = fds.epolls[e];
		for (size_t i = 0; i < epoll->watch_count; i++)
			if (epoll->watches[i].open == open) {
				memmove(epoll->watches + i, epoll->watches + i + 1,
					(--epoll->watch_count - i) * sizeof(*epoll->watches));
				i--;
			}
	}
}

bool sim_is_watched(const struct sim_open *open)
{
	for (size_t e = 0; e < fds.epoll_count; e++)
		for (size_t i = 0; i < fds.epolls[e]->watch_count; i++)
			if (fds.epolls[e]->watches[i].open == open)
				return true;
	return false;
}

static void release(struct sim_open *open)
{
	if (--open->references)
		return;
	unwatch(open);
	if (open->kind == SIM_EVENT)
		sim_perf_close(open->event);
	if (open->kind == SIM_EPOLL)
		remove_from(fds.epolls, &fds.epoll_count, open);
	if (open->kind == SIM_SOCKET)
		remove_from(fds.sockets, &fds.socket_count, open);
	if (open->peer) {
		open->peer->peer = NULL;
		sim_changed(open->peer);
	}
	open->generation++;
	sim_child_step();
}

int sim_fd_close(int fd)
{
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	fds.items[fd] = NULL;
	fds.count--;
	if (fd < fds.lowest)
		fds.lowest = fd;
	if (open->inode) {
		open->inode->opens--;
		sim_file_release(open->inode);
	}
	release(open);
	return 0;
}

void sim_changed(struct sim_open *open)
{
	open->changes++;
	sim.changes++;
}

void sim_event_changed(const struct sim_event *event)
{
	if (event->open)
		sim_changed(event->open);
}

void sim_process_changed(const struct sim_process *process)
{
	for (int fd = -1; (fd = sim_fd_next(fd)) >= 0;)
		if (fds.items[fd]->kind == SIM_PIDFD && fds.items[fd]->process == process)
			sim_changed(fds.items[fd]);
	sim.changes++;
}

void sim_hotplug_changed(void)
{
	for (size_t i = 0; i < fds.socket_count; i++) {
		fds.sockets[i]->messages++;
		sim_changed(fds.sockets[i]);
	}
}

/* -- Readiness ------------------------------------------------------------- */

unsigned int sim_poll(struct sim_open *open, bool peek)
{
	struct sim_watch one;
	switch (open->kind) {
	case SIM_EVENT:
		return sim_perf_poll(open->event, peek);
	case SIM_EPOLL:
		return sim_epoll_ready(open, &one, 1, peek) ? EPOLLIN : 0;
	case SIM_COUNTER:
	case SIM_TIMER:
		return open->value ? EPOLLIN : 0;
	case SIM_PIPE:
		return (open->filled ? EPOLLIN : 0) | (open->peer ? 0 : EPOLLHUP);
	case SIM_PIDFD:
		return open->process->ended ? EPOLLIN : 0;
	case SIM_SOCKET:
		return open->messages ? EPOLLIN : 0;
	default:
		return EPOLLIN | EPOLLOUT;
	}
}

int sim_epoll_ready(struct sim_open *epoll, struct sim_watch *ret, int most, bool peek)
{
	int count = 0;
	for (size_t i = 0; i < epoll->watch_count && count < most; i++) {
		struct sim_watch *watch = &epoll->watches[i];
		bool edge = watch->events & EPOLLET;
		if (edge && watch->seen_changes == watch->open->changes)
			continue;
		uint32_t events = sim_poll(watch->open, peek) & (watch->events | EPOLLHUP | EPOLLERR);
		if (edge && !peek)
			watch->seen_changes = watch->open->changes;
		if (!events)
			continue;
		ret[count] = *watch;
		ret[count++].events = events;
	}
	return count;
}

static struct sim_watch *find_watch(struct sim_open *epoll, int fd)
{
	for (size_t i = 0; i < epoll->watch_count; i++)
		if (epoll->watches[i].fd == fd && epoll->watches[i].open == fds.items[fd])
			return &epoll->watches[i];
	return NULL;
}

static void add_watch(struct sim_open *epoll, int fd, uint32_t events, uint64_t data)
{
	if ((epoll->watch_count & (epoll->watch_count - 1)) == 0) {
		size_t room = epoll->watch_count ? 2 * epoll->watch_count : 1;
		epoll->watches = realloc(epoll->watches, room * sizeof(*epoll->watches));
		if (!epoll->watches)
			abort();
	}
	epoll->watches[epoll->watch_count++] = (struct sim_watch){
		.fd = fd, .open = fds.items[fd], .events = events, .data = data,
		.seen_changes = fds.items[fd]->changes,
	};
}

int sim_epoll_control(struct sim_open *epoll, int request, int fd, uint32_t events, uint64_t data)
{
	if (!sim_fd(fd))
		return EBADF;
	struct sim_watch *watch = find_watch(epoll, fd);
	if (request == EPOLL_CTL_ADD) {
		if (watch)
			return EEXIST;
		add_watch(epoll, fd, events, data);
		/* ep_insert() does the same; a readable descriptor triggers an edge at once. */
		if (sim_poll(fds.items[fd], false))
			epoll->watches[epoll->watch_count - 1].seen_changes--;
		return 0;
	}
	if (!watch)
		return ENOENT;
	if (request == EPOLL_CTL_MOD) {
		watch->events = events;
		watch->data = data;
		return 0;
	}
	size_t index = (size_t)(watch - epoll->watches);
	memmove(watch, watch + 1, (--epoll->watch_count - index) * sizeof(*watch));
	return 0;
}

/* -- Timers, counters, pipes ----------------------------------------------- */

static void timer_fires(void *arg, uint64_t generation)
{
	struct sim_open *timer = arg;
	if (timer->generation != generation)
		return;
	timer->value++;
	sim_changed(timer);
	timer->next_ns += timer->each_ns;
	if (timer->each_ns)
		sim_at(timer->next_ns, timer_fires, timer, generation);
}

void sim_timer_set(struct sim_open *timer, uint64_t first_ns, uint64_t each_ns)
{
	timer->generation++;
	timer->value = 0;
	timer->each_ns = each_ns;
	timer->next_ns = sim.now_ns + first_ns;
	if (first_ns)
		sim_at(timer->next_ns, timer_fires, timer, timer->generation);
}

static bool has_input(void *arg)
{
	const struct sim_open *open = arg;
	return open->value || open->filled || (open->kind == SIM_PIPE && !open->peer);
}

static ssize_t read_pipe(struct sim_open *open, void *buffer, size_t size)
{
	size_t got = open->filled < size ? open->filled : size;
	memcpy(buffer, open->bytes, got);
	open->filled -= got;
	memmove(open->bytes, open->bytes + got, open->filled);
	return (ssize_t)got;
}

ssize_t sim_descriptor_read(struct sim_open *open, void *buffer, size_t size)
{
	if (open->kind != SIM_PIPE && open->kind != SIM_COUNTER && open->kind != SIM_TIMER) {
		errno = EINVAL;
		return -1;
	}
	if (!has_input(open) && open->flags & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	if (!has_input(open))
		sim_wait(has_input, open, UINT64_MAX);
	if (open->kind == SIM_PIPE)
		return read_pipe(open, buffer, size);
	memcpy(buffer, &open->value, sizeof(open->value));
	open->value = 0;
	return sizeof(open->value);
}

ssize_t sim_descriptor_write(struct sim_open *open, const void *buffer, size_t size)
{
	uint64_t value;
	if (open->kind == SIM_COUNTER) {
		memcpy(&value, buffer, sizeof(value));
		open->value += value;
		sim_changed(open);
		return sizeof(value);
	}
	if (open->kind != SIM_PIPE || !open->peer) {
		errno = open->kind == SIM_PIPE ? EPIPE : EINVAL;
		return -1;
	}
	struct sim_open *to = open->peer;
	size_t room = sizeof(to->bytes) - to->filled, put = size < room ? size : room;
	memcpy(to->bytes + to->filled, buffer, put);
	to->filled += put;
	sim_changed(to);
	sim_child_step();
	return (ssize_t)put;
}

int sim_pipe(int ret[2])
{
	struct sim_open *ends[2] = {sim_open_new(SIM_PIPE, 0), sim_open_new(SIM_PIPE, 0)};
	for (int i = 0; i < 2; i++) {
		ends[i]->peer = ends[!i];
		ret[i] = sim_fd_new(ends[i], 3);
	}
	return 0;
}

/* -- The command before its exec ------------------------------------------- */

/* It holds the pipes that were made last: a pair of sockets, then a pipe. */
int sim_fork(void)
{
	struct sim_open *ends[4] = {NULL};
	for (int fd = -1; (fd = sim_fd_next(fd)) >= 0;)
		if (fds.items[fd]->kind == SIM_PIPE) {
			memmove(ends, ends + 1, 3 * sizeof(*ends));
			ends[3] = fds.items[fd];
		}
	struct sim_task *task = sim_task_new(sim_task_find(SIM_PID), false);
	child.task = task;
	task->followed = true;
	child.go = ends[0];
	child.failed = ends[3];
	child.go->references++;
	child.failed->references++;
	return (int)task->tid;
}

static void leave_pipes(void)
{
	struct sim_open *ends[] = {child.go, child.failed};
	child.go = child.failed = NULL;
	for (int i = 0; i < 2; i++)
		release(ends[i]);
}

static void start_child(void *arg, uint64_t number)
{
	struct sim_task *task = arg;
	(void)number;
	if (!task->ended) {
		sim_command_begin(task);
		leave_pipes();
	}
}

void sim_child_step(void)
{
	struct sim_task *task = child.task;
	if (!task || child.starts || !child.go)
		return;
	if (task->ended) {
		child.task = NULL;
		leave_pipes();
	} else if (child.go->filled) {
		child.starts = true;
		sim_at(sim.now_ns + 1000 + sim_random(SIM_WORLD, SIM_MS), start_child, task, 0);
	} else if (!child.go->peer) {
		child.task = NULL;
		leave_pipes();
		sim_task_end(task, 0);
	}
}
