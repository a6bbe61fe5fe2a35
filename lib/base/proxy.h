/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Proxies: processes that make calls for the recorder that may never return. A page of another
 * process or a file may be on a file system that does not answer (FUSE, NFS). No signal interrupts
 * this call, and a process with a thread in it cannot be reaped. Another process makes the call,
 * and is left behind if it takes too long.
 *
 * recorder --fork--> parent of proxies --fork--> proxy 0, 1, ...
 *     |                                             |
 *     +------------- a socket for each -------------+
 *
 * The parent is forked while the recorder is small, and has no other descriptor than its socket.
 * All of them end with the recorder, except a proxy in a call that cannot be interrupted.
 *
 * At most PROXY_LEFT_MAX proxies are left behind at a time: further calls are refused at once. A
 * proxy serves again after its call has returned. A key (a process, or a folder of files) that cost
 * a proxy is refused from then on. All functions may be called by any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* Size of the memory that a proxy shares with the recorder. */
#define PROXY_BYTES (((size_t)1 << 20) - 64)

/* Proxies that may be left behind at a time. */
#define PROXY_LEFT_MAX 8

/* Longest time to wait for a call. A proxy that waits for a CPU gets eight times as much. */
#define PROXY_WAIT_MS 250

/*
 * Runs in a proxy. `bytes` holds the arguments and receives the results; it must not point to other
 * memory of the recorder. Returns a descriptor to pass to the recorder, or -1.
 */
typedef int proxy_work_fn(void *bytes);

struct proxies_counts {
	uint64_t calls, refused;
	uint64_t left;      /* calls that took too long */
	uint64_t first_key; /* key of the first of these */
	uint64_t cpu_ns;    /* CPU time of all proxies */
};

/* Returns NULL when out of memory. There is no process before proxies_begin(). */
struct proxies *proxies_new(void);
void proxies_free(struct proxies *proxies);

/* Starts the parent, unless there is one already; each call needs a proxies_end(). */
struct sp_error *proxies_begin(struct proxies *proxies) SP_MUST_CHECK;
/* After the last one, ends the processes. */
void proxies_end(struct proxies *proxies);

/*
 * For tests and simulations: there are no processes. Calls run in the caller's thread; those for
 * which hangs(arg, key) is true take too long. NULL: proxies_begin() does nothing.
 */
void proxies_simulate(struct proxies *proxies, bool (*hangs)(void *arg, uint64_t key), void *arg);

/* Call it in a forked child, where the proxies cannot be used. */
void proxies_after_fork(struct proxies *proxies);

/* Returns whether calls need a proxy: between proxies_begin() and proxies_end(). NULL: no. */
bool proxies_are_on(const struct proxies *proxies);

/*
 * Returns the proxies if they may read memory of other processes as the recorder may; else NULL.
 * Yama's scope 1 permits it to ancestors only: an unprivileged recorder reads the memory of its own
 * command itself.
 */
struct proxies *proxies_for_memory(struct proxies *proxies);

/*
 * Runs the work on a copy of args[0..size), in a proxy if proxies_are_on(), else here, and copies
 * the result back. *fd_ret: as in proxy_call(). False: refused, or it takes too long.
 */
bool proxy_run(struct proxies *proxies, uint64_t key, proxy_work_fn *work, void *args, size_t size,
	       int *fd_ret);

/*
 * Gets a proxy for one call; NULL: refused. The caller owns the proxy until proxy_release() or
 * until proxy_call() fails.
 */
struct proxy *proxy_get(struct proxies *proxies, uint64_t key);
void *proxy_bytes(struct proxy *proxy);

/*
 * Sets a place in proxy_bytes() where work for several keys keeps the one that it serves, for the
 * case that it takes too long.
 */
void proxy_watch_key(struct proxy *proxy, const uint64_t *key);

/* Returns whether proxy_get() would refuse the key. */
bool proxies_refuse(struct proxies *proxies, uint64_t key);

/*
 * Runs the work and waits for it. *fd_ret (NULL: none is expected) gets its descriptor or -1.
 * False: it takes too long, or the proxy has ended; the caller must not use the proxy any more.
 */
bool proxy_call(struct proxies *proxies, struct proxy *proxy, proxy_work_fn *work, int *fd_ret);
void proxy_release(struct proxies *proxies, struct proxy *proxy);

struct proxies_counts proxies_counts(struct proxies *proxies);
