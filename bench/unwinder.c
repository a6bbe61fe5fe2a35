/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwinder [DEPTH [ROUNDS]]: ns per frame of sp_unwinder and of libunwind, on the same stack by turns.
 *
 * libunwind works on its local address space with a cache for each thread: unw_step() with the ip of each
 * frame, and unw_backtrace(), which returns ips alone. sp_unwinder reads memory by a callback that checks
 * bounds and copies, and by process_vm_readv(2), as for another process.
 *
 * framehop is no part of it. Its Readme.md (github.com/mstange/framehop, commit 0a1020ce6925) publishes no
 * time per frame: it states a hit rate of around 80 % of its cache of 509 rules on Firefox.
 */
#define UNW_LOCAL_ONLY
#include "config.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/unwinder.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(HAVE_LIBUNWIND) && defined(__x86_64__)
#include <libunwind.h>

#define FRAMES 1024
#define ROUNDS_MAX 1001
#define STACKS 200 /* in a round */
#define PERIOD 7   /* period of the functions' frame sizes */

/* Stack copies for all threads, and the expected results. */
struct stack {
	uint64_t low, high; /* the thread's whole stack */
	pid_t pid;
	struct sp_unwinder_thread *thread;
	struct sp_registers registers;
	uint64_t values[17];
	unw_context_t context;
	uint64_t ips[FRAMES];
	size_t rounds;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool copy(void *arg, uint64_t address, size_t size, void *ret)
{
	const struct stack *stack = arg;
	if (address < stack->low || address > stack->high || size > stack->high - address)
		return false;
	memcpy(ret, (const void *)(uintptr_t)address, size);
	return true;
}

static bool read_process(void *arg, uint64_t address, size_t size, void *ret)
{
	const struct stack *stack = arg;
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};
	return process_vm_readv(stack->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static size_t by_sprof(struct stack *stack, bool (*read)(void *, uint64_t, size_t, void *))
{
	static struct sp_unwinder_frame frames[FRAMES];
	const struct sp_unwinder_memory memory = {read, stack};
	const struct sp_unwinder_stack *found =
		sp_unwinder_unwind(stack->thread, &stack->registers, &memory, frames, FRAMES);
	for (size_t i = 0; i < found->count; i++)
		stack->ips[i] = frames[i].ip;
	return found->end == SP_UNWINDER_COMPLETE ? found->count : 0;
}

static size_t by_copy(struct stack *stack)
{
	return by_sprof(stack, copy);
}

static size_t by_system_call(struct stack *stack)
{
	return by_sprof(stack, read_process);
}

static size_t by_steps(struct stack *stack)
{
	unw_cursor_t cursor;
	size_t count = 0;
	unw_init_local(&cursor, &stack->context);
	do {
		unw_word_t ip = 0;
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (ip)
			stack->ips[count++] = ip;
	} while (count < FRAMES && unw_step(&cursor) > 0);
	return count;
}

static size_t by_backtrace(struct stack *stack)
{
	int count = unw_backtrace((void **)stack->ips, FRAMES);
	return count > 0 ? (size_t)count : 0;
}

static const struct {
	const char *name;
	size_t (*unwind)(struct stack *stack);
} methods[] = {
	{"sp_unwinder, memory copied", by_copy},
	{"sp_unwinder, process_vm_readv", by_system_call},
	{"libunwind, unw_step", by_steps},
	{"libunwind, unw_backtrace", by_backtrace},
};
#define METHODS (sizeof(methods) / sizeof(*methods))

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Unwinds by turns, and prints medians. The stacks must be equal, but for unw_backtrace()'s own frame. */
__attribute__((noinline)) static void measure(struct stack *stack)
{
	static double ns[METHODS][ROUNDS_MAX];
	static uint64_t first[FRAMES];
	unw_getcontext(&stack->context);
	const greg_t *r = stack->context.uc_mcontext.gregs;
	const uint64_t values[] = {
		(uint64_t)r[REG_RAX], (uint64_t)r[REG_RBX], (uint64_t)r[REG_RCX], (uint64_t)r[REG_RDX],
		(uint64_t)r[REG_RSI], (uint64_t)r[REG_RDI], (uint64_t)r[REG_RBP], (uint64_t)r[REG_RSP],
		(uint64_t)r[REG_RIP], (uint64_t)r[REG_R8],  (uint64_t)r[REG_R9],  (uint64_t)r[REG_R10],
		(uint64_t)r[REG_R11], (uint64_t)r[REG_R12], (uint64_t)r[REG_R13], (uint64_t)r[REG_R14],
		(uint64_t)r[REG_R15],
	};
	memcpy(stack->values, values, sizeof(values));
	stack->registers = (struct sp_registers){PERF_SAMPLE_REGS_ABI_64, 0xff01ff, stack->values, 17};
	size_t frames = by_copy(stack);
	memcpy(first, stack->ips, sizeof(first));
	for (size_t i = 0; i < METHODS; i++) {
		size_t count = methods[i].unwind(stack);
		bool same = methods[i].unwind == by_backtrace ||
			    (count == frames && !memcmp(first, stack->ips, frames * sizeof(*first)));
		if (!frames || !same)
			printf("  %s: another stack, of %zu frames\n", methods[i].name, count);
	}
	for (size_t round = 0; round < stack->rounds; round++)
		for (size_t i = 0; i < METHODS; i++) {
			uint64_t begin_ns = now_ns(), count = 0;
			for (size_t n = 0; n < STACKS; n++)
				count += methods[i].unwind(stack);
			ns[i][round] = (double)(now_ns() - begin_ns) / (double)(count ? count : 1);
		}
	printf("  %zu frames:\n", frames);
	for (size_t i = 0; i < METHODS; i++) {
		qsort(ns[i], stack->rounds, sizeof(*ns[i]), compare);
		printf("  %-46s %10.1f ns per frame, quartiles %.1f to %.1f\n", methods[i].name,
		       ns[i][stack->rounds / 2], ns[i][stack->rounds / 4], ns[i][stack->rounds * 3 / 4]);
	}
}

/* Frames of several sizes, by frame pointer as well as by stack pointer. */
__attribute__((noinline)) static unsigned int descend(unsigned int depth, struct stack *stack);

__attribute__((noinline)) static unsigned int pass(unsigned int depth, struct stack *stack)
{
	return descend(depth, stack) + 1;
}

static unsigned int descend(unsigned int depth, struct stack *stack)
{
	volatile char *room = __builtin_alloca(depth % PERIOD * 24 + 16);
	room[0] = (char)depth;
	if (depth > 1)
		return pass(depth - 2, stack) + (unsigned int)room[0];
	measure(stack);
	return (unsigned int)room[0];
}

static bool find_stack(struct stack *stack)
{
	pthread_attr_t attr;
	void *low;
	size_t size;
	if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &low, &size))
		return false;
	pthread_attr_destroy(&attr);
	stack->low = (uint64_t)(uintptr_t)low;
	stack->high = stack->low + size;
	return true;
}

int main(int argc, char **argv)
{
	static struct stack stack;
	const struct sp_unwinder_options options = {.size = sizeof(options)};
	struct sp_ctx *ctx;
	struct sp_unwinder *unwinder;
	int depth = argc > 1 ? atoi(argv[1]) : 40;
	stack.rounds = argc > 2 ? (size_t)atoi(argv[2]) : 101;
	if (!find_stack(&stack) || depth < 0 || !stack.rounds || stack.rounds > ROUNDS_MAX)
		return 2;
	stack.pid = getpid();
	struct sp_error *error = sp_ctx_new(&ctx);
	if (!error)
		error = sp_unwinder_new(ctx, &options, &unwinder);
	if (!error)
		error = sp_unwinder_add_process(unwinder);
	if (!error)
		error = sp_unwinder_thread_new(unwinder, &stack.thread);
	if (error) {
		fprintf(stderr, "%s\n", sp_error_message(error));
		return 1;
	}
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
	descend((unsigned int)depth, &stack);
	sp_unwinder_thread_free(stack.thread);
	sp_unwinder_free(unwinder);
	sp_ctx_free(ctx);
	return 0;
}
#else
int main(void)
{
	printf("  needs libunwind and x86-64\n");
	return 0;
}
#endif
