/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/thread_priority.h"

/* Number of proxies, and of keys that are refused. */
#define PROXIES_MAX 64
#define AVOIDED_MAX 256

/* Longest wait for a proxy that waits for a CPU, in PROXY_WAIT_MS. */
#define STARVED_FACTOR 8

/* Time that the parent waits for the end of the proxies. */
#define END_MS 50

/* Memory of one proxy. */
struct room {
	uint32_t pid;    /* the proxy, as it sees itself; 0: it has not begun */
	uint64_t cpu_ns; /* its CPU time */
	_Alignas(64) uint8_t bytes[PROXY_BYTES];
};

/* The caller that made it busy uses all members up to `fd` without the lock. */
struct proxy {
	struct room *room;
	uint64_t key;
	const uint64_t *key_place; /* place of the key that is served, in `room`; NULL: `key` */
	int cpu; /* CPU that its process is bound to, plus 1; 0: any */
	int fd; /* socket to its process; -1: it has none */
	bool is_busy;
	bool is_left; /* busy with a call that took too long */
};

struct proxies {
	pthread_mutex_t lock; /* protects the members from `parent` to `counts` */
	unsigned int users; /* atomic; written under the lock */
	pid_t parent;
	int control; /* socket to the parent; -1: there is none */
	struct room *rooms;
	struct proxy items[PROXIES_MAX];
	size_t left_count;
	uint64_t avoided[AVOIDED_MAX];
	size_t avoided_count;
	struct proxies_counts counts;
	/* Constant while there are users. */
	bool may_trace;
	bool simulated;
	bool (*hangs)(void *arg, uint64_t key);
	void *hangs_arg;
};

/* A message between recorder, parent and proxies. A descriptor may accompany it. */
struct message {
	proxy_work_fn *work; /* to a proxy */
	uint32_t index;      /* to the parent: the new proxy's number */
};

static bool send_message(int to, const struct message *message, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
	struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		all.msg_control = control.bytes;
		all.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	ssize_t sent;
	do
		sent = sendmsg(to, &all, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == sizeof(*message);
}

/* Returns 0 or an errno; EPIPE: the other end is closed. *fd_ret: -1 if none came. */
static int receive_message(int from, int flags, struct message *message, int *fd_ret)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {message, sizeof(*message)};
	struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t got;
	*fd_ret = -1;
	do
		got = recvmsg(from, &all, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&all);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd_ret, CMSG_DATA(header), sizeof(*fd_ret));
	return got == sizeof(*message) ? 0 : EPIPE;
}

/* -- In the other processes ------------------------------------------------------------ */

static void serve(int fd, struct room *room) __attribute__((noreturn));
static void serve(int fd, struct room *room)
{
	struct message message;
	int none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	room->pid = getpid();
	while (receive_message(fd, 0, &message, &none) == 0) {
		int result = message.work(room->bytes);
		room->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		bool sent = send_message(fd, &message, result);
		if (result >= 0)
			close(result);
		if (!sent)
			break;
	}
	_exit(0);
}

/*
 * Runs in the parent of the proxies: forks a proxy for each message, with the message's socket,
 * until `control` is closed. The kernel reaps the proxies. Closes all other descriptors, and raises
 * the priority. Only SIGKILL reaches these processes: the recorder's end closes the sockets.
 */
static void run_parent(int control, struct room *rooms) __attribute__((noreturn));
static void run_parent(int control, struct room *rooms)
{
	struct thread_priority before = {0};
	struct message message;
	sigset_t all;
	int fd;
	/* Proxies inherit it: they run before the thread that they read, which would run on. */
	sp_error_free(thread_priority_begin(&before, 0));
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_IGN); /* the kernel reaps */
	setpgid(0, 0);
	prctl(PR_SET_NAME, "sprof-proxy");
	dup2(control, 0);
	io_close_range(1, INT_MAX);
	while (receive_message(0, 0, &message, &fd) == 0) {
		if (fd >= 0 && fork() == 0) {
			close(0);
			serve(fd, &rooms[message.index % PROXIES_MAX]);
		}
		if (fd >= 0)
			close(fd);
	}
	/* The proxies end, too. One that is stuck becomes a child of init, which reaps it. */
	for (int ms = 0; ms < END_MS && waitpid(-1, NULL, WNOHANG) == 0; ms++)
		usleep(1000);
	_exit(0);
}

/* -- In the recorder --------------------------------------------------------------------- */

struct proxies *proxies_new(void)
{
	struct proxies *proxies = calloc(1, sizeof(*proxies));
	if (!proxies)
		return NULL;
	pthread_mutex_init(&proxies->lock, NULL);
	proxies->control = -1;
	for (size_t i = 0; i < PROXIES_MAX; i++)
		proxies->items[i].fd = -1;
	return proxies;
}

/* A forked process may have copies of the sockets: shutdown(2) ends them, too. */
static void close_socket(int fd)
{
	if (fd < 0)
		return;
	shutdown(fd, SHUT_RDWR);
	close(fd);
}

static void close_proxy(struct proxy *proxy)
{
	close_socket(proxy->fd);
	*proxy = (struct proxy){.fd = -1, .room = proxy->room};
}

static void end_processes(struct proxies *proxies)
{
	for (size_t i = 0; i < PROXIES_MAX; i++)
		close_proxy(&proxies->items[i]);
	proxies->left_count = 0;
	close_socket(proxies->control);
	proxies->control = -1;
	if (proxies->parent)
		waitpid(proxies->parent, NULL, 0);
	proxies->parent = 0;
}

void proxies_free(struct proxies *proxies)
{
	if (!proxies)
		return;
	end_processes(proxies);
	if (proxies->rooms)
		munmap(proxies->rooms, PROXIES_MAX * sizeof(*proxies->rooms));
	pthread_mutex_destroy(&proxies->lock);
	free(proxies);
}

/* Pages are used only when they are written. */
static bool map_rooms(struct proxies *proxies)
{
	if (proxies->rooms)
		return true;
	void *memory = mmap(NULL, PROXIES_MAX * sizeof(*proxies->rooms), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	proxies->rooms = memory;
	for (size_t i = 0; i < PROXIES_MAX; i++)
		proxies->items[i].room = &proxies->rooms[i];
	return true;
}

/* Returns whether a child has the recorder's rights to read memory of other processes. */
static bool child_may_trace(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
	CLEANUP_FREE char *scope = NULL;
	if (io_read_file("/proc/sys/kernel/yama/ptrace_scope", &scope, NULL) || *scope != '1')
		return true;
	return !syscall(SYS_capget, &header, sets) && sets[0].effective & 1U << CAP_SYS_PTRACE;
}

static struct sp_error *start_parent(struct proxies *proxies)
{
	int pair[2];
	NEED(map_rooms(proxies));
	proxies->may_trace = proxies->simulated || child_may_trace();
	if (proxies->simulated)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_os(errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0)
		run_parent(pair[1], proxies->rooms);
	int errnum = errno;
	close(pair[1]);
	proxies->control = pair[0];
	if (pid < 0) {
		cleanup_close(&proxies->control);
		proxies->control = -1;
		return error_os(errnum, "cannot fork");
	}
	proxies->parent = pid;
	return NULL;
}

struct sp_error *proxies_begin(struct proxies *proxies)
{
	if (proxies->simulated && !proxies->hangs)
		return NULL;
	pthread_mutex_lock(&proxies->lock);
	struct sp_error *error = proxies->users ? NULL : start_parent(proxies);
	if (!error)
		__atomic_add_fetch(&proxies->users, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&proxies->lock);
	return error;
}

void proxies_end(struct proxies *proxies)
{
	if (!proxies_are_on(proxies))
		return;
	pthread_mutex_lock(&proxies->lock);
	if (__atomic_sub_fetch(&proxies->users, 1, __ATOMIC_RELEASE) == 0)
		end_processes(proxies);
	pthread_mutex_unlock(&proxies->lock);
}

void proxies_simulate(struct proxies *proxies, bool (*hangs)(void *arg, uint64_t key), void *arg)
{
	proxies->simulated = true;
	proxies->hangs = hangs;
	proxies->hangs_arg = arg;
}

void proxies_after_fork(struct proxies *proxies)
{
	pthread_mutex_init(&proxies->lock, NULL);
	proxies->users = 0;
	proxies->parent = 0;
	/* The child has closed the recorder's descriptors. */
	proxies->control = -1;
	for (size_t i = 0; i < PROXIES_MAX; i++)
		proxies->items[i].fd = -1;
}

bool proxies_are_on(const struct proxies *proxies)
{
	return proxies && __atomic_load_n(&proxies->users, __ATOMIC_ACQUIRE);
}

struct proxies *proxies_for_memory(struct proxies *proxies)
{
	return proxies_are_on(proxies) && proxies->may_trace ? proxies : NULL;
}

/* Finds calls that have returned late. Their proxies serve again. */
static void collect_left(struct proxies *proxies)
{
	for (size_t i = 0; i < PROXIES_MAX; i++) {
		struct proxy *proxy = &proxies->items[i];
		struct message message;
		int fd = -1;
		if (!proxy->is_left || proxies->simulated)
			continue;
		int errnum = receive_message(proxy->fd, MSG_DONTWAIT, &message, &fd);
		cleanup_close(&fd);
		if (errnum == EAGAIN)
			continue;
		proxies->left_count--;
		proxy->is_left = proxy->is_busy = false;
		if (errnum)
			close_proxy(proxy);
	}
}

/* Returns whether calls of the key are refused. First collects calls that have returned late. */
static bool is_refused(struct proxies *proxies, uint64_t key)
{
	if (proxies->left_count)
		collect_left(proxies);
	if (!proxies->users || proxies->left_count >= PROXY_LEFT_MAX)
		return true;
	for (size_t i = 0; i < proxies->avoided_count && i < AVOIDED_MAX; i++)
		if (proxies->avoided[i] == key)
			return true;
	return false;
}

static bool start(struct proxies *proxies, struct proxy *proxy)
{
	struct message message = {.index = proxy - proxies->items};
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	proxy->room->pid = 0;
	proxy->fd = pair[0];
	bool sent = send_message(proxies->control, &message, pair[1]);
	close(pair[1]);
	if (!sent)
		close_proxy(proxy);
	return sent;
}

/* Returns a proxy that is not busy; NULL: there is none. */
static struct proxy *find_idle(struct proxies *proxies)
{
	int cpu = proxies->simulated ? 0 : sched_getcpu() + 1;
	for (size_t i = 0; i < PROXIES_MAX; i++)
		if (!proxies->items[i].is_busy && proxies->items[i].cpu == cpu &&
		    proxies->items[i].fd >= 0)
			return &proxies->items[i];
	for (size_t i = 0; i < PROXIES_MAX; i++) {
		struct proxy *proxy = &proxies->items[i];
		if (!proxy->is_busy)
			return proxy->fd >= 0 || proxies->simulated || start(proxies, proxy) ? proxy
											   : NULL;
	}
	return NULL;
}

struct proxy *proxy_get(struct proxies *proxies, uint64_t key)
{
	pthread_mutex_lock(&proxies->lock);
	struct proxy *proxy = is_refused(proxies, key) ? NULL : find_idle(proxies);
	proxies->counts.calls++;
	proxies->counts.refused += !proxy;
	if (proxy) {
		proxy->is_busy = true;
		proxy->key = key;
		proxy->key_place = NULL;
	}
	pthread_mutex_unlock(&proxies->lock);
	return proxy;
}

void proxy_watch_key(struct proxy *proxy, const uint64_t *key)
{
	proxy->key_place = key;
}

bool proxies_refuse(struct proxies *proxies, uint64_t key)
{
	pthread_mutex_lock(&proxies->lock);
	bool refuses = is_refused(proxies, key);
	pthread_mutex_unlock(&proxies->lock);
	return refuses;
}

void *proxy_bytes(struct proxy *proxy)
{
	return proxy->room->bytes;
}

/* Returns whether the proxy's process waits for a CPU: it is not stuck in a call. */
static bool is_starved(const struct proxy *proxy)
{
	char path[32], text[128];
	uint32_t pid = __atomic_load_n(&proxy->room->pid, __ATOMIC_RELAXED);
	size_t size = 0;
	if (!pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, &size))
		return false;
	text[size] = '\0';
	const char *state = strrchr(text, ')');
	return state && !strncmp(state, ") R", 3);
}

/* Waits for the reply to a message. Returns 0 or an errno; ETIMEDOUT: it takes too long. */
static int wait_for_reply(const struct proxy *proxy, int *fd_ret)
{
	struct pollfd poll_fd = {.fd = proxy->fd, .events = POLLIN};
	struct message message;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned int factor = 1; factor <= STARVED_FACTOR;) {
		int64_t waited_ms = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000;
		int64_t left_ms = PROXY_WAIT_MS * (int64_t)factor - waited_ms;
		int ready = poll(&poll_fd, 1, left_ms > 0 ? (int)left_ms : 0);
		if (ready > 0)
			return receive_message(proxy->fd, MSG_DONTWAIT, &message, fd_ret);
		if (ready < 0 && errno != EINTR)
			return errno;
		/* It may have got a CPU, and be done, after the wait. */
		if (ready == 0 && !is_starved(proxy) && poll(&poll_fd, 1, 0) == 0)
			break;
		factor += ready == 0;
	}
	return ETIMEDOUT;
}

/* The call takes too long: its proxy is left behind, and its key is refused from now on. */
static void leave(struct proxies *proxies, struct proxy *proxy)
{
	if (proxy->key_place)
		proxy->key = __atomic_load_n(proxy->key_place, __ATOMIC_RELAXED);
	proxy->is_left = true;
	proxies->left_count++;
	if (!proxies->counts.left++)
		proxies->counts.first_key = proxy->key;
	proxies->avoided[proxies->avoided_count++ % AVOIDED_MAX] = proxy->key;
}

/*
 * Binds the proxy to the caller's CPU: it runs as soon as the caller sleeps, before the thread
 * there that it is to read.
 */
static void bind_to_cpu(struct proxy *proxy)
{
	int cpu = sched_getcpu();
	uint32_t pid = __atomic_load_n(&proxy->room->pid, __ATOMIC_RELAXED);
	cpu_set_t set;
	if (cpu < 0 || cpu >= CPU_SETSIZE || cpu + 1 == proxy->cpu || !pid)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (!sched_setaffinity(pid, sizeof(set), &set))
		proxy->cpu = cpu + 1;
}

bool proxy_call(struct proxies *proxies, struct proxy *proxy, proxy_work_fn *work, int *fd_ret)
{
	const struct message message = {.work = work};
	int errnum = 0, fd = -1;
	if (!proxies->simulated)
		bind_to_cpu(proxy);
	if (proxies->simulated && proxies->hangs(proxies->hangs_arg, proxy->key))
		errnum = ETIMEDOUT;
	else if (proxies->simulated)
		fd = work(proxy->room->bytes);
	else if (!send_message(proxy->fd, &message, -1))
		errnum = EPIPE;
	else
		errnum = wait_for_reply(proxy, &fd);
	if (!errnum && fd_ret)
		*fd_ret = take_fd(&fd);
	cleanup_close(&fd);
	if (!errnum)
		return true;
	pthread_mutex_lock(&proxies->lock);
	if (errnum == ETIMEDOUT)
		leave(proxies, proxy);
	else
		close_proxy(proxy);
	pthread_mutex_unlock(&proxies->lock);
	return false;
}

void proxy_release(struct proxies *proxies, struct proxy *proxy)
{
	pthread_mutex_lock(&proxies->lock);
	proxy->is_busy = false;
	pthread_mutex_unlock(&proxies->lock);
}

bool proxy_run(struct proxies *proxies, uint64_t key, proxy_work_fn *work, void *args, size_t size,
	       int *fd_ret)
{
	if (!proxies_are_on(proxies)) {
		int fd = work(args);
		if (fd_ret)
			*fd_ret = fd;
		return true;
	}
	struct proxy *proxy = proxy_get(proxies, key);
	if (!proxy)
		return false;
	memcpy(proxy_bytes(proxy), args, size);
	if (!proxy_call(proxies, proxy, work, fd_ret))
		return false;
	memcpy(args, proxy_bytes(proxy), size);
	proxy_release(proxies, proxy);
	return true;
}

struct proxies_counts proxies_counts(struct proxies *proxies)
{
	pthread_mutex_lock(&proxies->lock);
	struct proxies_counts counts = proxies->counts;
	for (size_t i = 0; i < PROXIES_MAX && proxies->rooms; i++)
		if (proxies->items[i].fd >= 0)
			counts.cpu_ns += __atomic_load_n(&proxies->rooms[i].cpu_ns,
							 __ATOMIC_RELAXED);
	pthread_mutex_unlock(&proxies->lock);
	return counts;
}
