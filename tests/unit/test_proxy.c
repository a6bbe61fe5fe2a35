/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

/* A FIFO: opening it for reading waits for a writer, like a file of a dead server. */
struct fifo {
	char folder[32], path[64];
};

static void fifo_make(struct fifo *fifo)
{
	strcpy(fifo->folder, "/tmp/sprof-proxy-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fifo->folder));
	snprintf(fifo->path, sizeof(fifo->path), "%s/f", fifo->folder);
	ck_assert_int_eq(mkfifo(fifo->path, 0600), 0);
}

/* Ends all waits. */
static void fifo_open(const struct fifo *fifo)
{
	int fd = open(fifo->path, O_WRONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void fifo_remove(const struct fifo *fifo)
{
	unlink(fifo->path);
	rmdir(fifo->folder);
}

static int open_path(void *bytes)
{
	return open(bytes, O_RDONLY | O_CLOEXEC);
}

struct sum {
	int a, b, result, pid;
};

static int add(void *bytes)
{
	struct sum *sum = bytes;
	sum->result = sum->a + sum->b;
	sum->pid = getpid();
	return -1;
}

static int end_itself(void *bytes)
{
	(void)bytes;
	raise(SIGKILL);
	return -1;
}

static bool adds(struct proxies *proxies, uint64_t key, int *pid_ret)
{
	struct sum sum = {.a = 2, .b = 3};
	if (!proxy_run(proxies, key, add, &sum, sizeof(sum), NULL))
		return false;
	ck_assert_int_eq(sum.result, 5);
	*pid_ret = sum.pid;
	return true;
}

TEST(calls_run_in_another_process)
{
	struct proxies *proxies = proxies_new();
	int pid = 0, again = 0, here = 0;
	ck_assert(!proxies_are_on(proxies) && !proxies_are_on(NULL));
	ck_assert(adds(proxies, 1, &here));
	ck_assert_int_eq(here, getpid());
	ok_or_fail(proxies_begin(proxies));
	ck_assert(proxies_are_on(proxies));
	ck_assert(adds(proxies, 1, &pid) && adds(proxies, 2, &again));
	ck_assert_int_ne(pid, getpid());
	ck_assert_int_eq(pid, again);
	struct proxies_counts counts = proxies_counts(proxies);
	ck_assert_uint_eq(counts.calls, 2);
	ck_assert_uint_eq(counts.refused + counts.left, 0);
	proxies_end(proxies);
	ck_assert(!proxies_are_on(proxies));
	proxies_free(proxies);
}

TEST(descriptors_come_back)
{
	struct proxies *proxies = proxies_new();
	char path[32] = "/proc/self/comm", text[32] = "";
	int fd = -1;
	ok_or_fail(proxies_begin(proxies));
	ck_assert(proxy_run(proxies, 1, open_path, path, sizeof(path), &fd));
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, "sprof-proxy\n");
	close(fd);
	/* The proxies have no descriptor of this process, such as the end of a pipe. */
	strcpy(path, "/proc/self/fd/3");
	ck_assert(proxy_run(proxies, 1, open_path, path, sizeof(path), &fd));
	ck_assert_int_eq(fd, -1);
	proxies_end(proxies);
	proxies_free(proxies);
}

TEST(stuck_proxies_are_left_behind_and_serve_later)
{
	struct proxies *proxies = proxies_new();
	struct fifo fifo;
	int pid, waiting = 0;
	fifo_make(&fifo);
	ok_or_fail(proxies_begin(proxies));
	ck_assert(!proxy_run(proxies, 7, open_path, fifo.path, sizeof(fifo.path), NULL));
	/* This process costs no second proxy; others are read. */
	ck_assert(!adds(proxies, 7, &pid));
	ck_assert(adds(proxies, 8, &pid));
	for (uint64_t key = 10; key < 10 + PROXY_LEFT_MAX - 1; key++)
		ck_assert(!proxy_run(proxies, key, open_path, fifo.path, sizeof(fifo.path), NULL));
	ck_assert(!adds(proxies, 8, &pid));
	struct proxies_counts counts = proxies_counts(proxies);
	ck_assert_uint_eq(counts.left, PROXY_LEFT_MAX);
	ck_assert_uint_eq(counts.first_key, 7);
	ck_assert_uint_eq(counts.refused, 2);
	fifo_open(&fifo);
	while (!adds(proxies, 8, &pid) && waiting++ < 5000)
		usleep(1000);
	ck_assert_int_lt(waiting, 5000);
	ck_assert(!adds(proxies, 7, &pid));
	proxies_end(proxies);
	proxies_free(proxies);
	fifo_remove(&fifo);
}

/* A process that was forked meanwhile has copies of the sockets. */
TEST(the_end_does_not_wait_for_other_processes)
{
	struct proxies *proxies = proxies_new();
	int status;
	ok_or_fail(proxies_begin(proxies));
	ck_assert(adds(proxies, 8, &status));
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	proxies_end(proxies);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	proxies_free(proxies);
}

/* Nothing waits for a proxy that is stuck. */
TEST(the_end_leaves_stuck_proxies)
{
	struct proxies *proxies = proxies_new();
	struct fifo fifo;
	int status;
	fifo_make(&fifo);
	ok_or_fail(proxies_begin(proxies));
	ck_assert(!proxy_run(proxies, 7, open_path, fifo.path, sizeof(fifo.path), NULL));
	proxies_end(proxies);
	ck_assert_int_eq(waitpid(-1, &status, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
	/* It may begin again. */
	ok_or_fail(proxies_begin(proxies));
	ok_or_fail(proxies_begin(proxies));
	proxies_end(proxies);
	ck_assert(adds(proxies, 8, &status));
	proxies_end(proxies);
	proxies_free(proxies);
	fifo_remove(&fifo);
}

TEST(a_proxy_that_ends_is_replaced)
{
	struct proxies *proxies = proxies_new();
	char none = 0;
	int pid;
	ok_or_fail(proxies_begin(proxies));
	ck_assert(!proxy_run(proxies, 7, end_itself, &none, 1, NULL));
	ck_assert(adds(proxies, 7, &pid));
	ck_assert_uint_eq(proxies_counts(proxies).left, 0);
	proxies_end(proxies);
	proxies_free(proxies);
}

#define CALLERS 8
#define CALLS 200

static void *call_often(void *arg)
{
	int pid;
	for (int i = 0; i < CALLS; i++)
		if (!adds(arg, 8, &pid))
			return arg;
	return NULL;
}

TEST(threads_call_at_a_time)
{
	struct proxies *proxies = proxies_new();
	pthread_t threads[CALLERS];
	void *failed = NULL;
	ok_or_fail(proxies_begin(proxies));
	for (int i = 0; i < CALLERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, proxies), 0);
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	ck_assert_uint_eq(proxies_counts(proxies).calls, CALLERS * CALLS);
	proxies_end(proxies);
	proxies_free(proxies);
}

static bool is_seven(void *arg, uint64_t key)
{
	(void)arg;
	return key == 7;
}

TEST(simulated_proxies_run_here)
{
	struct proxies *proxies = proxies_new();
	int pid;
	proxies_simulate(proxies, is_seven, NULL);
	ok_or_fail(proxies_begin(proxies));
	ck_assert(adds(proxies, 8, &pid));
	ck_assert_int_eq(pid, getpid());
	ck_assert(!adds(proxies, 7, &pid));
	ck_assert_uint_eq(proxies_counts(proxies).left, 1);
	proxies_end(proxies);
	proxies_free(proxies);
}
