/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control that comes and goes by other ways than calls: signals, coroutines, threads, exec. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "stacks.h"

/* A signal's handler, on the stack of what it interrupts or on one of its own. */
static OWN void handler_leaf(uint64_t value)
{
	BUSY(value, 300000);
	STAY();
}

static OWN void handler(int number)
{
	handler_leaf((uint64_t)number);
	STAY();
}

static OWN uint64_t interrupted_3(uint64_t value)
{
	return value * 5;
}

#define INTERRUPTED(n, next)                                                                       \
	static OWN uint64_t interrupted_##n(uint64_t value)                                        \
	{                                                                                          \
		uint64_t a = value + n, b = value ^ n;                                             \
		__asm__ volatile("" : "+r"(a), "+r"(b));                                           \
		value = next(value);                                                               \
		STAY();                                                                            \
		return value + a + b;                                                              \
	}
INTERRUPTED(2, interrupted_3)
INTERRUPTED(1, interrupted_2)
INTERRUPTED(0, interrupted_1)

static void ring_often(int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	struct itimerval often = {{0, 1500}, {0, 1500}};
	setitimer(ITIMER_REAL, &often, NULL);
}

static OWN void run_signal(void)
{
	ring_often(0);
	while (!is_over())
		for (unsigned int i = 0; i < 50000; i++)
			interrupted_0(i);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

static OWN void run_altstack(void)
{
	size_t size = 64 * 1024;
	stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		exit(1);
	ring_often(SA_ONSTACK);
	while (!is_over())
		for (unsigned int i = 0; i < 50000; i++)
			interrupted_0(i);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

/* Coroutines, each with a stack of its own: their chains begin where they do. */
static ucontext_t home, routines[2];

static OWN void coroutine_leaf(uint64_t value)
{
	BUSY(value, 20000);
	STAY();
}

static OWN void coroutine_mid(uint64_t value, unsigned int own)
{
	coroutine_leaf(value);
	swapcontext(&routines[own], own ? &home : &routines[1]);
	STAY();
}

static void coroutine(int own)
{
	for (uint64_t i = 0;; i++) {
		coroutine_mid(i, (unsigned int)own);
		STAY();
	}
}

static OWN void run_coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		size_t size = 256 * 1024;
		getcontext(&routines[i]);
		routines[i].uc_stack.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (routines[i].uc_stack.ss_sp == MAP_FAILED)
			exit(1);
		routines[i].uc_stack.ss_size = size;
		routines[i].uc_link = &home;
		makecontext(&routines[i], (void (*)(void))coroutine, 1, i);
	}
	while (!is_over())
		swapcontext(&home, &routines[0]);
}

/* Called back by the C library. */
static OWN int compare_leaf(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	BUSY(x, 200);
	BUSY(y, 200);
	return x < y ? -1 : x > y;
}

static OWN void sort_mid(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_leaf);
	STAY();
}

static OWN void run_sort(void)
{
	uint64_t values[256];
	for (uint64_t turn = 0; !is_over(); turn++) {
		for (size_t i = 0; i < 256; i++)
			values[i] = i * 2654435761u + turn;
		sort_mid(values, 256);
	}
}

/* Threads: their chains begin at clone. */
static OWN void thread_leaf(uint64_t value)
{
	BUSY(value, 200000);
	STAY();
}

static OWN void *thread_root(void *argument)
{
	while (!is_over())
		thread_leaf(2);
	return argument;
}

static OWN void run_threads(void)
{
	pthread_t threads[3];
	for (size_t i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, thread_root, NULL))
			exit(1);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* A child that still runs on its parent's memory, and one that has become another program. */
static OWN void vforked_leaf(uint64_t value)
{
	BUSY(value, 300000);
	STAY();
}

static OWN pid_t vfork_mid(void)
{
	pid_t pid = vfork();
	if (!pid) {
		vforked_leaf(3);
		char path[] = "/proc/self/exe", name[] = "stacks", what[] = "tail", time[] = "0.01";
		execve(path, (char *[]){name, what, time, NULL}, (char *[]){NULL});
		_exit(127);
	}
	return pid;
}

static OWN void run_vfork(void)
{
	while (!is_over()) {
		pid_t pid = vfork_mid();
		int status;
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			exit(1);
	}
}

const struct scenario control_scenarios[] = {
	{.name = "signal",
	 .run = run_signal,
	 .truth = "main run_signal interrupted_0! interrupted_1! interrupted_2! interrupted_3!\n"
		  "main run_signal interrupted_0 interrupted_1 interrupted_2 interrupted_3 "
		  "* handler! handler_leaf!\n"
		  "main run_signal interrupted_0 interrupted_1 interrupted_2 * handler! "
		  "handler_leaf!\n"
		  "main run_signal interrupted_0 interrupted_1 * handler! handler_leaf!\n"
		  "main run_signal interrupted_0 * handler! handler_leaf!\n"
		  "main run_signal * handler! handler_leaf!"},
	{.name = "altstack",
	 .run = run_altstack,
	 .honest = true,
	 .truth = "main run_altstack interrupted_0! interrupted_1! interrupted_2! interrupted_3!\n"
		  "main run_altstack interrupted_0 interrupted_1 interrupted_2 interrupted_3 "
		  "* handler! handler_leaf!\n"
		  "main run_altstack interrupted_0 interrupted_1 interrupted_2 "
		  "* handler! handler_leaf!\n"
		  "main run_altstack interrupted_0 interrupted_1 * handler! handler_leaf!\n"
		  "main run_altstack interrupted_0 * handler! handler_leaf!\n"
		  "main run_altstack * handler! handler_leaf!"},
	{.name = "coroutines",
	 .run = run_coroutines,
	 .truth = "coroutine coroutine_mid coroutine_leaf!\nmain run_coroutines"},
	{.name = "sort", .run = run_sort, .truth = "main run_sort sort_mid * compare_leaf!"},
	{.name = "threads",
	 .run = run_threads,
	 .truth = "thread_root thread_leaf!\nmain run_threads"},
	{.name = "vfork",
	 .run = run_vfork,
	 .truth = "main run_vfork vfork_mid vforked_leaf!\nmain run_tail tail_first!\n"
		  "main run_tail tail_second!\nmain run_tail tail_last!"},
	{0},
};
