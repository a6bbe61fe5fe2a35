/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the stack of a running process, which is stopped meanwhile.
 *
 *	cc -o example-unwinder example-unwinder.c $(pkg-config --cflags --libs libsprof)
 *	./example-unwinder PID [FILE START END OFFSET]
 *
 * FILE is used for the addresses from START to END, which are mapped from its OFFSET (all in hex): a
 * copy, if the mapped file was deleted or replaced.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

static bool read_memory(void *arg, uint64_t address, size_t size, void *ret)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};
	return process_vm_readv(*(pid_t *)arg, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* Registers of a stopped process by perf's numbers. */
static struct sp_registers read_registers(pid_t pid, uint64_t values[33])
{
#ifdef __x86_64__
	struct user_regs_struct r;
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	const uint64_t order[] = {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.rip,
				  r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
	for (size_t i = 0; i < 17; i++)
		values[i] = order[i];
	return (struct sp_registers){PERF_SAMPLE_REGS_ABI_64, 0xff01ff, values, 17};
#else /* arm64: the kernel has perf's order */
	struct iovec io = {values, 33 * sizeof(*values)};
	ptrace(PTRACE_GETREGSET, pid, (void *)1, &io); /* NT_PRSTATUS */
	return (struct sp_registers){PERF_SAMPLE_REGS_ABI_64, 0x1ffffffff, values, 33};
#endif
}

static struct sp_error *add_file(struct sp_unwinder *unwinder, char **words)
{
	const struct sp_unwinder_module module = {
		.size = sizeof(module), .path = words[0], .start = strtoull(words[1], NULL, 16),
		.end = strtoull(words[2], NULL, 16), .file_offset = strtoull(words[3], NULL, 16),
	};
	return sp_unwinder_add(unwinder, &module);
}

int main(int argc, char **argv)
{
	static const char *const methods[] = {"registers", "CFI", "Go", "signal", "frame pointer"};
	pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	if (pid <= 0 || ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, NULL, 0) != pid)
		return 1;
	const struct sp_unwinder_options options = {.size = sizeof(options), .pid = pid};
	const struct sp_unwinder_memory memory = {read_memory, &pid};
	struct sp_unwinder_frame frames[100];
	struct sp_unwinder_thread *thread;
	struct sp_unwinder *unwinder;
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error || (error = sp_unwinder_new(ctx, &options, &unwinder)) ||
	    (error = sp_unwinder_add_process(unwinder)) ||
	    (argc > 5 && (error = add_file(unwinder, argv + 2))) ||
	    (error = sp_unwinder_thread_new(unwinder, &thread))) {
		fprintf(stderr, "%s\n", sp_error_message(error));
		return 1;
	}
	uint64_t values[33];
	struct sp_registers registers = read_registers(pid, values);
	const struct sp_unwinder_stack *stack =
		sp_unwinder_unwind(thread, &registers, &memory, frames, 100);
	for (size_t i = 0; i < stack->count; i++) {
		const char *path = sp_unwinder_path(unwinder, frames[i].ip - !frames[i].exact);
		printf("%#18" PRIx64 " by %s in %s\n", frames[i].ip, methods[frames[i].method],
		       path ? path : "?");
	}
	printf("%s\n", sp_unwinder_reason(thread));
	sp_unwinder_thread_free(thread);
	sp_unwinder_free(unwinder);
	sp_ctx_free(ctx);
	return 0; /* The process continues when its tracer ends. */
}
