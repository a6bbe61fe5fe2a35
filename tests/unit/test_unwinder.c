/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The public unwinder: own stacks and a stopped child's, compared with libunwind; a made-up Go program of
 * two architectures; generated code; and memory that fails or never ends.
 */
#include "test.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sprof/unwinder.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "config.h"
#include "made_go.h"

#define FRAMES 200
#define LOADED 0x10000000 /* start of the made-up program's code */
#define SP 0x7fff0000

struct world {
	struct sp_ctx *ctx;
	struct sp_unwinder *unwinder;
	struct sp_unwinder_thread *thread;
	struct sp_unwinder_frame frames[FRAMES];
};

static void world_start(struct world *world, const char *arch, pid_t pid)
{
	const struct sp_unwinder_options options = {.size = sizeof(options), .arch = arch, .pid = pid};
	ok_or_fail(sp_ctx_new(&world->ctx));
	ok_or_fail(sp_unwinder_new(world->ctx, &options, &world->unwinder));
	ok_or_fail(sp_unwinder_thread_new(world->unwinder, &world->thread));
}

static void world_stop(struct world *world)
{
	sp_unwinder_thread_free(world->thread);
	sp_unwinder_free(world->unwinder);
	sp_ctx_free(world->ctx);
}

/* Registers by perf's numbers. */
struct registers {
	uint64_t values[33];
	struct sp_registers set;
};

static void set_register(struct registers *registers, unsigned int number, uint64_t value)
{
	registers->set.abi = PERF_SAMPLE_REGS_ABI_64;
	registers->set.mask |= (uint64_t)1 << number;
	registers->set.values = registers->values;
	registers->values[registers->set.count++] = value; /* in ascending order */
}

/* Memory with limits and a count of reads. */
struct memory {
	uint64_t start;
	const uint8_t *bytes; /* NULL: `word` is everywhere */
	size_t size;
	uint64_t word, reads;
	unsigned int seed; /* not 0: random bytes */
};

static bool read_made(void *arg, uint64_t address, size_t size, void *ret)
{
	struct memory *memory = arg;
	memory->reads++;
	ck_assert_uint_le(size, SP_UNWINDER_READ_MAX);
	ck_assert_uint_gt(size, 0);
	if (memory->bytes) {
		if (address < memory->start || address - memory->start > memory->size ||
		    size > memory->size - (address - memory->start))
			return false;
		memcpy(ret, memory->bytes + (address - memory->start), size);
		return true;
	}
	for (size_t i = 0; i < size; i++)
		((uint8_t *)ret)[i] = memory->seed ? (uint8_t)rand_r(&memory->seed)
						   : (uint8_t)(memory->word >> (address + i) % 8 * 8);
	return true;
}

static struct sp_unwinder_stack unwind(struct world *world, const struct registers *registers,
				       struct memory *memory)
{
	const struct sp_unwinder_memory reader = {read_made, memory};
	return *sp_unwinder_unwind(world->thread, &registers->set, &reader, world->frames, FRAMES);
}

static void add_made_program(struct world *world, const struct made_go *made)
{
	int fd = memfd_create("made", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, made->bytes.at, made->bytes.size), (ssize_t)made->bytes.size);
	const struct sp_unwinder_module module = {
		.size = sizeof(module), .path = "/made/program", .use_fd = true, .fd = fd,
		.start = LOADED, .end = LOADED + MADE_GO_TEXT_SIZE, .file_offset = made->text,
	};
	ok_or_fail(sp_unwinder_add(world->unwinder, &module));
	close(fd);
}

static void expect_go(const struct world *world, const struct sp_unwinder_stack *stack)
{
	ck_assert_int_eq(stack->end, SP_UNWINDER_COMPLETE);
	ck_assert_uint_eq(stack->count, 3);
	ck_assert_uint_eq(world->frames[0].ip, LOADED + 0x10);
	ck_assert_uint_eq(world->frames[1].ip, LOADED + 0x80);
	ck_assert_uint_eq(world->frames[2].ip, LOADED + 0x101);
	ck_assert_int_eq(world->frames[0].method, SP_UNWINDER_BY_REGISTERS);
	ck_assert_int_eq(world->frames[1].method, SP_UNWINDER_BY_GO);
	ck_assert_int_eq(world->frames[2].method, SP_UNWINDER_BY_GO);
}

TEST(go_programs_by_descriptor)
{
	static struct made_go made;
	static uint64_t words[512];
	struct world world;
	struct memory memory = {.start = SP, .bytes = (const uint8_t *)words, .size = sizeof(words)};
	made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = EM_X86_64};
	made_go_init(&made);
	world_start(&world, "x86_64", 0);
	add_made_program(&world, &made);
	words[3] = LOADED + 0x80;
	words[4 + 2000 / 8] = LOADED + 0x101;
	struct registers x86 = {0};
	set_register(&x86, 7, SP);
	set_register(&x86, 8, LOADED + 0x10);
	struct sp_unwinder_stack stack = unwind(&world, &x86, &memory);
	expect_go(&world, &stack);
	ck_assert_uint_eq(world.frames[1].sp, SP + 32);
	ck_assert_str_eq(sp_unwinder_reason(world.thread), "start of the thread");
	ck_assert_str_eq(sp_unwinder_path(world.unwinder, LOADED), "/made/program");
	ck_assert_ptr_null(sp_unwinder_path(world.unwinder, LOADED - 1));
	world_stop(&world);

	made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = EM_AARCH64};
	made_go_init(&made);
	world_start(&world, "aarch64", 0);
	add_made_program(&world, &made);
	memset(words, 0, sizeof(words));
	words[0] = LOADED + 0x80;
	words[3] = LOADED + 0x101;
	struct registers arm64 = {0};
	set_register(&arm64, 31, SP);
	set_register(&arm64, 32, LOADED + 0x10);
	stack = unwind(&world, &arm64, &memory);
	expect_go(&world, &stack);
	world_stop(&world);
}

TEST(ends_have_reasons)
{
	static struct made_go made;
	static uint64_t words[4];
	struct world world;
	struct memory memory = {.start = SP, .bytes = (const uint8_t *)words, .size = sizeof(words)};
	struct registers registers = {0};
	made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = EM_X86_64};
	made_go_init(&made);
	world_start(&world, "x86_64", 0);
	set_register(&registers, 7, SP);
	set_register(&registers, 8, LOADED + 0x10);
	struct sp_unwinder_stack stack = unwind(&world, &registers, &memory);
	ck_assert_uint_eq(stack.count, 1);
	ck_assert_int_eq(stack.end, SP_UNWINDER_NO_INFO);
	ck_assert_str_eq(sp_unwinder_reason(world.thread), "no module has the code at 0x10000010");
	add_made_program(&world, &made);
	words[3] = LOADED + 0x80;
	stack = unwind(&world, &registers, &memory);
	ck_assert_int_eq(stack.end, SP_UNWINDER_TRUNCATED);
	ck_assert_uint_eq(stack.count, 2);
	ck_assert_uint_eq(stack.missing, SP + 32 + 2000);
	ck_assert_str_eq(sp_unwinder_reason(world.thread), "memory at 0x7fff07f0 cannot be read");
	words[3] = 17;
	stack = unwind(&world, &registers, &memory);
	ck_assert_int_eq(stack.end, SP_UNWINDER_BAD_MEMORY);
	ck_assert_str_eq(sp_unwinder_reason(world.thread),
			 "impossible return address or stack pointer in the frame of 0x10000010");
	registers = (struct registers){0};
	stack = unwind(&world, &registers, &memory);
	ck_assert_uint_eq(stack.count, 0);
	ck_assert_str_eq(sp_unwinder_reason(world.thread), "the registers lack the instruction pointer");
	world_stop(&world);
}

/* Code without a module is followed to known code, over more pages than are kept. */
TEST(long_chains_of_frame_pointers_are_whole)
{
	enum { COUNT = 37, DISTANCE = 1024, JIT = 0x500000 };
	static struct made_go made;
	static uint64_t words[(COUNT + 1) * DISTANCE / 8];
	struct world world;
	struct memory memory = {.start = SP, .bytes = (const uint8_t *)words,
				.size = sizeof(words)};
	struct registers registers = {0};
	made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = EM_X86_64};
	made_go_init(&made);
	world_start(&world, "x86_64", 0);
	add_made_program(&world, &made);
	for (unsigned int i = 0; i < COUNT; i++) {
		words[i * DISTANCE / 8 + 2] = SP + 16 + (i + 1) * DISTANCE;
		words[i * DISTANCE / 8 + 3] = i + 1 < COUNT ? JIT + i + 1 : LOADED + 0x101;
	}
	set_register(&registers, 6, SP + 16);
	set_register(&registers, 7, SP);
	set_register(&registers, 8, JIT);
	struct sp_unwinder_stack stack = unwind(&world, &registers, &memory);
	ck_assert_int_eq(stack.end, SP_UNWINDER_COMPLETE);
	ck_assert_uint_eq(stack.count, COUNT + 1);
	for (unsigned int i = 0; i < COUNT; i++)
		ck_assert_uint_eq(world.frames[i].ip, JIT + i);
	ck_assert_uint_eq(world.frames[COUNT].ip, LOADED + 0x101);
	world_stop(&world);
}

/* Each frame costs a limited number of reads, whatever is read. */
TEST(hostile_memory_is_bounded)
{
	static struct made_go made;
	struct world world;
	struct registers registers = {0};
	made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = EM_X86_64};
	made_go_init(&made);
	world_start(&world, NULL, 0);
	add_made_program(&world, &made);
	ok_or_fail(sp_unwinder_add_process(world.unwinder));
	set_register(&registers, 6, SP + 64);
	set_register(&registers, 7, SP);
	set_register(&registers, 8, LOADED + 0x10);
	struct memory failing = {.bytes = (const uint8_t *)"", .size = 0};
	struct sp_unwinder_stack stack = unwind(&world, &registers, &failing);
	ck_assert_uint_eq(stack.count, 1);
	ck_assert_int_eq(stack.end, SP_UNWINDER_TRUNCATED);
	ck_assert_uint_le(failing.reads, 10);
	/* All words are a return address into the same function: the stack has no end. */
	struct memory endless = {.word = LOADED + 0x80};
	stack = unwind(&world, &registers, &endless);
	ck_assert_uint_eq(stack.count, FRAMES);
	ck_assert_int_eq(stack.end, SP_UNWINDER_DEPTH_LIMIT);
	ck_assert_str_eq(sp_unwinder_reason(world.thread), "more than 200 frames");
	ck_assert_uint_le(endless.reads, 2 * FRAMES);
	for (unsigned int seed = 1; seed < 500; seed++) {
		struct memory wild = {.seed = seed};
		stack = unwind(&world, &registers, &wild);
		ck_assert_uint_le(stack.count, FRAMES);
		ck_assert_uint_le(wild.reads, FRAMES * 200);
	}
	world_stop(&world);
}

TEST(modules_are_checked)
{
	struct world world;
	struct sp_unwinder_module module = {.size = sizeof(module), .path = "relative", .end = 1};
	const struct sp_unwinder_options options = {.size = sizeof(options), .arch = "riscv64"};
	struct sp_unwinder *unwinder;
	world_start(&world, NULL, 0);
	fails_with(SP_ERROR_INVALID, sp_unwinder_add(world.unwinder, &module));
	module.path = "/bin/sh";
	module.start = 1;
	fails_with(SP_ERROR_INVALID, sp_unwinder_add(world.unwinder, &module));
	module.end = 2;
	module.use_fd = true;
	module.fd = -1;
	fails_with(SP_ERROR_OS, sp_unwinder_add(world.unwinder, &module));
	fails_with(SP_ERROR_UNSUPPORTED, sp_unwinder_new(world.ctx, &options, &unwinder));
	world_stop(&world);
}

#if defined(__x86_64__) && defined(HAVE_LIBUNWIND)
#define UNW_LOCAL_ONLY
#include <libunwind.h>

/* Memory of a process; `arg` is its pid. */
static bool read_process(void *arg, uint64_t address, size_t size, void *ret)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};
	return process_vm_readv(*(pid_t *)arg, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* A stack by libunwind. */
struct expected {
	uint64_t ips[FRAMES], sps[FRAMES];
	size_t count;
};

static void take_expected(unw_context_t *context, struct expected *ret)
{
	unw_cursor_t cursor;
	unw_init_local(&cursor, context);
	ret->count = 0;
	do {
		unw_word_t ip = 0, sp = 0;
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		if (!ip)
			break;
		ret->ips[ret->count] = ip;
		ret->sps[ret->count++] = sp;
	} while (ret->count < FRAMES && unw_step(&cursor) > 0);
}

static void take_registers(const ucontext_t *context, struct registers *ret)
{
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				    REG_RIP, -1, -1, -1, -1, -1, -1, -1, REG_R8, REG_R9, REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15};
	*ret = (struct registers){0};
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i] >= 0)
			set_register(ret, i, (uint64_t)context->uc_mcontext.gregs[order[i]]);
}

static void compare(const struct expected *expected, const struct sp_unwinder_frame *frames,
		    const struct sp_unwinder_stack *stack)
{
	ck_assert_int_eq(stack->end, SP_UNWINDER_COMPLETE);
	ck_assert_uint_eq(stack->count, expected->count);
	for (size_t i = 0; i < stack->count; i++) {
		ck_assert_uint_eq(frames[i].ip, expected->ips[i]);
		ck_assert_uint_eq(frames[i].sp, expected->sps[i]);
	}
}

/* Input of a function at the end of a chain of calls. */
struct leaf {
	struct sp_unwinder_thread *thread;
	struct sp_unwinder_frame frames[FRAMES];
	struct sp_unwinder_stack stack;
	struct expected expected;
	pid_t pid;
};

__attribute__((noinline)) static void unwind_here(struct leaf *leaf)
{
	unw_context_t context;
	struct registers registers;
	const struct sp_unwinder_memory memory = {read_process, &leaf->pid};
	unw_getcontext(&context);
	take_registers(&context, &registers);
	take_expected(&context, &leaf->expected);
	leaf->stack =
		*sp_unwinder_unwind(leaf->thread, &registers.set, &memory, leaf->frames, FRAMES);
	compare(&leaf->expected, leaf->frames, &leaf->stack);
}

/* Frames of various sizes. */
__attribute__((noinline)) static unsigned int descend(unsigned int depth, void (*end)(struct leaf *),
						      struct leaf *leaf)
{
	volatile char *room = __builtin_alloca(depth * 37 % 600 + 1);
	room[0] = (char)depth;
	if (depth == 0)
		end(leaf);
	else
		depth = descend(depth - 1, end, leaf) + 1;
	return depth + (unsigned int)(room[0] & 0);
}

TEST(own_stack_as_libunwind)
{
	struct world world;
	world_start(&world, NULL, 0);
	ok_or_fail(sp_unwinder_add_process(world.unwinder));
	struct leaf leaf = {.thread = world.thread, .pid = getpid()};
	for (unsigned int depth = 0; depth < 120; depth += 7) {
		descend(depth, unwind_here, &leaf);
		ck_assert_uint_gt(leaf.stack.count, depth);
		for (size_t i = 1; i < leaf.stack.count; i++)
			ck_assert_int_eq(leaf.frames[i].method, SP_UNWINDER_BY_CFI);
	}
	world_stop(&world);
}

static void *unwind_often(void *arg)
{
	struct leaf leaf = {.pid = getpid()};
	ok_or_fail(sp_unwinder_thread_new(arg, &leaf.thread));
	for (unsigned int i = 0; i < 400; i++)
		descend(i % 60, unwind_here, &leaf);
	sp_unwinder_thread_free(leaf.thread);
	return NULL;
}

/* Modules are added meanwhile. libunwind initializes itself in the first thread. */
TEST(threads_in_parallel)
{
	struct world world;
	pthread_t threads[4];
	world_start(&world, NULL, 0);
	ok_or_fail(sp_unwinder_add_process(world.unwinder));
	struct leaf first = {.thread = world.thread, .pid = getpid()};
	descend(1, unwind_here, &first);
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, unwind_often, world.unwinder), 0);
	struct sp_unwinder_module module = {.size = sizeof(module), .path = "/made/up", .start = 4096};
	for (unsigned int i = 0; i < 50; i++) {
		module.end = module.start + 4096 * (i % 3 + 1);
		ok_or_fail(sp_unwinder_add(world.unwinder, &module));
		ok_or_fail(sp_unwinder_add_process(world.unwinder));
	}
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	world_stop(&world);
}

/* The child leaves libunwind's answer in shared memory. */
__attribute__((noinline)) static void stop_child(struct leaf *leaf)
{
	unw_context_t context;
	unw_getcontext(&context);
	take_expected(&context, &leaf->expected);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	__asm__ volatile("" ::: "memory");
}

static void take_user_registers(const struct user_regs_struct *user, struct registers *ret)
{
	const uint64_t low[] = {user->rax, user->rbx, user->rcx, user->rdx, user->rsi,
				user->rdi, user->rbp, user->rsp, user->rip};
	const uint64_t high[] = {user->r8, user->r9, user->r10, user->r11,
				 user->r12, user->r13, user->r14, user->r15};
	*ret = (struct registers){0};
	for (unsigned int i = 0; i < 9; i++)
		set_register(ret, i, low[i]);
	for (unsigned int i = 0; i < 8; i++)
		set_register(ret, 16 + i, high[i]);
}

/* Unwinds a child that `end` stopped 40 calls deep, where libunwind found the same frames. */
static void unwind_child(void (*end)(struct leaf *), size_t signal_frames)
{
	struct world world;
	struct user_regs_struct user;
	struct registers registers;
	int status;
	struct leaf *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				   -1, 0);
	ck_assert(shared != MAP_FAILED);
	pid_t pid = fork();
	if (pid == 0) {
		descend(40, end, shared);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		skip_test("ptrace is not allowed");
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &user), 0);
	take_user_registers(&user, &registers);
	world_start(&world, NULL, pid);
	ok_or_fail(sp_unwinder_add_process(world.unwinder));
	const struct sp_unwinder_memory memory = {read_process, &pid};
	struct sp_unwinder_stack stack =
		*sp_unwinder_unwind(world.thread, &registers.set, &memory, world.frames, FRAMES);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(stack.end, SP_UNWINDER_COMPLETE);
	/* The first of libunwind's frames, and those of raise(), are at other places. */
	size_t count = shared->expected.count - 1, inner = stack.count - count, marked = 0;
	ck_assert_uint_gt(stack.count, count);
	ck_assert_uint_ge(count, 40);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(world.frames[inner + i].ip, shared->expected.ips[1 + i]);
	for (size_t i = 1; i < stack.count; i++) {
		bool by_signal = world.frames[i].method == SP_UNWINDER_BY_SIGNAL;
		ck_assert_int_eq(world.frames[i].exact, by_signal);
		marked += by_signal;
	}
	ck_assert_uint_eq(marked, signal_frames);
	munmap(shared, sizeof(*shared));
	world_stop(&world);
}

TEST(stopped_child_as_libunwind)
{
	unwind_child(stop_child, 0);
}

static struct leaf *interrupted;

static void on_signal(int number)
{
	(void)number;
	stop_child(interrupted);
}

static void raise_signal(struct leaf *leaf)
{
	interrupted = leaf;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

TEST(signal_frames_are_marked)
{
	unwind_child(raise_signal, 1);
}

static struct leaf *called;

static void unwind_called(void)
{
	unw_context_t context;
	struct registers registers;
	const struct sp_unwinder_memory memory = {read_process, &called->pid};
	unw_getcontext(&context);
	take_registers(&context, &registers);
	called->stack = *sp_unwinder_unwind(called->thread, &registers.set, &memory, called->frames,
					    FRAMES);
}

TEST(generated_code_by_frame_pointer)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	struct world world;
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	if (page == MAP_FAILED)
		skip_test("memory cannot be writable and executable");
	memcpy(page, code, sizeof(code));
	world_start(&world, NULL, 0);
	ok_or_fail(sp_unwinder_add_process(world.unwinder));
	struct leaf leaf = {.thread = world.thread, .pid = getpid()};
	called = &leaf;
	((void (*)(void (*)(void)))(uintptr_t)page)(unwind_called);
	ck_assert_int_eq(leaf.stack.end, SP_UNWINDER_COMPLETE);
	ck_assert_uint_eq(leaf.frames[1].ip, (uint64_t)(uintptr_t)page + 6);
	ck_assert_int_eq(leaf.frames[1].method, SP_UNWINDER_BY_CFI);
	ck_assert_int_eq(leaf.frames[2].method, SP_UNWINDER_BY_FRAME_POINTER);
	munmap(page, 4096);
	world_stop(&world);
}
#endif
