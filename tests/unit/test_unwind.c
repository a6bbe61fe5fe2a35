/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding: of this process's own stack, held to what libgcc says in it; of made-up stacks of
 * an arm64 program; and how stacks end.
 */
#include "test.h"

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "base/ctx.h"
#include "unwind/code_cache.h"
#include "unwind/unwind.h"

#define FRAMES 400
#define OBJECTS 32
#define REGISTERS 33

/* Inputs of an unwinder: this process, or a file at a fixed place. */
struct world {
	struct sp_ctx *ctx;
	struct unwinder *unwinder;
	struct unwind_thread *thread;
	struct module modules[OBJECTS];
	struct {
		uint64_t start, end, file_offset; /* executable segments */
		unsigned int module;
	} ranges[OBJECTS];
	char paths[OBJECTS][512];
	unsigned int module_count, range_count;
	unsigned int opened;
	bool blind; /* no file is at hand */
};

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	const struct world *world = arg;
	(void)view;
	for (unsigned int i = 0; i < world->range_count; i++)
		if (ip >= world->ranges[i].start && ip < world->ranges[i].end)
			return (struct location){
				.module = &world->modules[world->ranges[i].module],
				.offset = ip - world->ranges[i].start +
					  world->ranges[i].file_offset,
				.ip = ip,
			};
	return (struct location){.ip = ip};
}

static struct sp_error *open_file(void *arg, const struct module *module, uint32_t pid,
				  struct image **ret)
{
	struct world *world = arg;
	(void)pid;
	__atomic_fetch_add(&world->opened, 1, __ATOMIC_RELAXED);
	return world->blind ? NULL : image_open(module->path, ret);
}

static struct module *add_module(struct world *world, const char *path)
{
	unsigned int index = world->module_count++;
	ck_assert_uint_lt(index, OBJECTS);
	snprintf(world->paths[index], sizeof(world->paths[index]), "%s", path);
	world->modules[index] = (struct module){
		.index = index,
		.kind = MODULE_FILE,
		.path = world->paths[index],
		.name = world->paths[index],
		.is_64bit = true,
	};
	return &world->modules[index];
}

static void add_range(struct world *world, const struct module *module, uint64_t start,
		      uint64_t size, uint64_t file_offset)
{
	unsigned int index = world->range_count++;
	ck_assert_uint_lt(index, OBJECTS);
	world->ranges[index].start = start;
	world->ranges[index].end = start + size;
	world->ranges[index].file_offset = file_offset;
	world->ranges[index].module = module->index;
}

static void world_start(struct world *world, const char *arch, const char *engine)
{
	ok_or_fail(sp_ctx_new(&world->ctx));
	struct unwind_options options = {
		.engine = engine,
		.arch = arch,
		.locator = {.locate = locate, .arg = world},
		.files = {.open = open_file, .arg = world},
	};
	ok_or_fail(unwinder_new(world->ctx, &options, &world->unwinder));
	world->thread = unwind_thread_new(world->unwinder);
	ck_assert(world->thread);
}

static void world_stop(struct world *world)
{
	unwind_thread_free(world->thread);
	unwinder_free(world->unwinder);
	sp_ctx_free(world->ctx);
}

/* A stack of this process, as perf would have dumped it, and libgcc's answer. */
struct dump {
	uint64_t values[REGISTERS];
	struct unwind_sample sample;
	_Alignas(8) uint8_t stack[1 << 16];
	void *expected[FRAMES];
	int expected_count;
};

#if defined(__x86_64__)
#define HOST "x86_64"
#define HOST_MASK 0xff01ff

static void take_registers(struct dump *dump, const ucontext_t *context)
{
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_RIP, REG_R8,	REG_R9,	 REG_R10,
				    REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		dump->values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	dump->sample.registers.count = sizeof(order) / sizeof(*order);
}

static uint64_t stack_pointer(const struct dump *dump)
{
	return dump->values[7];
}

static void set_ip(struct dump *dump, uint64_t ip)
{
	dump->values[8] = ip;
}

static void set_sp(struct dump *dump, uint64_t sp)
{
	dump->values[7] = sp;
}
#elif defined(__aarch64__)
#define HOST "aarch64"
#define HOST_MASK 0x1ffffffff

static void take_registers(struct dump *dump, const ucontext_t *context)
{
	for (size_t i = 0; i < 31; i++)
		dump->values[i] = context->uc_mcontext.regs[i];
	dump->values[31] = context->uc_mcontext.sp;
	dump->values[32] = context->uc_mcontext.pc;
	dump->sample.registers.count = 33;
}

static uint64_t stack_pointer(const struct dump *dump)
{
	return dump->values[31];
}

static void set_ip(struct dump *dump, uint64_t ip)
{
	dump->values[32] = ip;
}

static void set_sp(struct dump *dump, uint64_t sp)
{
	dump->values[31] = sp;
}
#endif

#ifdef HOST
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	struct world *world = arg;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	if (path[0] != '/')
		return 0;
	struct module *module = add_module(world, path);
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		if (header->p_type == PT_LOAD && (header->p_flags & PF_X))
			add_range(world, module, info->dlpi_addr + header->p_vaddr,
				  header->p_filesz, header->p_offset);
	}
	return 0;
}

static struct dump *wanted;

/* Word by word: what lies between the locals of others is no business of a sanitizer here. */
__attribute__((no_sanitize("address"))) static void copy_stack(uint8_t *to, uint64_t from,
							       size_t size)
{
	const volatile uint64_t *words = (const uint64_t *)(uintptr_t)from;
	for (size_t i = 0; i < size / sizeof(*words); i++)
		((volatile uint64_t *)(void *)to)[i] = words[i];
}

/* In a handler, so that the registers are those of the interrupted code. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	struct dump *dump = wanted;
	take_registers(dump, context);
	dump->sample.registers.abi = PERF_SAMPLE_REGS_ABI_64;
	dump->sample.registers.mask = HOST_MASK;
	dump->sample.registers.values = dump->values;
	uint64_t size = sizeof(dump->stack), at = stack_pointer(dump);
	/* No farther than to where the environment is, near the stack's end. */
	uint64_t top = (uint64_t)(uintptr_t)environ;
	if (top > at && top - at < size)
		size = top - at;
	copy_stack(dump->stack, at, size);
	dump->sample.stack = (struct sp_bytes){dump->stack, size};
	dump->expected_count = backtrace(dump->expected, FRAMES);
}

__attribute__((noinline)) static int deepen(int depth, int (*last)(void))
{
	if (depth == 0)
		return last();
	int result = deepen(depth - 1, last);
	__asm__ volatile("" : "+r"(result));
	return result + 1;
}

__attribute__((noinline)) static int take(void)
{
	return raise(SIGUSR1);
}

__attribute__((noinline)) static int take_with_alloca(void)
{
	volatile int size = 300;
	volatile char *grown = __builtin_alloca((size_t)size);
	grown[0] = 1;
	return raise(SIGUSR1) + grown[0];
}

static int compare(const void *a, const void *b)
{
	static int calls;
	if (++calls == 50)
		raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int take_in_qsort(void)
{
	int values[100];
	for (int i = 0; i < 100; i++)
		values[i] = i * 7919 % 101;
	qsort(values, 100, sizeof(*values), compare);
	return values[0];
}

/* Overwrites what calls before left on the stack: a search may take it for a return address. */
__attribute__((noinline)) static void clear_stack(void)
{
	volatile char bytes[1 << 16];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

static struct dump *dump_of(int depth, int (*last)(void))
{
	static struct dump dump;
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	/* libgcc must be loaded before it is needed in a handler. */
	backtrace(dump.expected, 1);
	wanted = &dump;
	sigaction(SIGUSR1, &action, NULL);
	clear_stack();
	deepen(depth, last);
	return &dump;
}

/* Ours begins where the signal came; libgcc's has the handler and the trampoline before that. */
static void expect_backtrace(const struct dump *dump, const struct unwind_frame *frames,
			     const struct unwind_result *result)
{
	int skipped = 0;
	while (skipped < dump->expected_count &&
	       (uint64_t)(uintptr_t)dump->expected[skipped] != frames[0].ip)
		skipped++;
	ck_assert_int_lt(skipped, dump->expected_count);
	ck_assert_uint_eq(result->count, (size_t)(dump->expected_count - skipped));
	ck_assert(frames[0].exact);
	for (size_t i = 0; i < result->count; i++)
		ck_assert_msg(frames[i].ip ==
				      (uint64_t)(uintptr_t)dump->expected[(size_t)skipped + i],
			      "frame %zu: 0x%lx, libgcc has %p", i, (long)frames[i].ip,
			      dump->expected[(size_t)skipped + i]);
	for (size_t i = 1; i < result->count; i++)
		ck_assert(!frames[i].exact && frames[i].sp > frames[i - 1].sp);
}

static void expect_as_libgcc(const char *engine, int depth, int (*last)(void))
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, engine);
	const struct dump *dump = dump_of(depth, last);
	struct unwind_frame frames[FRAMES];
	for (int again = 0; again < 2; again++) {
		struct unwind_result result =
			unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		ck_assert_int_eq(result.end, UNWIND_COMPLETE);
		expect_backtrace(dump, frames, &result);
	}
	world_stop(&world);
}

TEST(unwind_own_stack_as_libgcc)
{
	expect_as_libgcc(NULL, 3, take);
	expect_as_libgcc("cfi", 100, take);
	expect_as_libgcc("cfi", 1, take_with_alloca);
	expect_as_libgcc("cfi", 5, take_in_qsort);
}

/*
 * Unwinds from each frame of a whole stack on, as if a system call had blocked there: only ip and sp are
 * known. Returns the number of frame pointers that were searched.
 */
static uint32_t expect_as_snapshots(int depth, int (*last)(void))
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	const struct dump *dump = dump_of(depth, last);
	struct unwind_frame whole[FRAMES], frames[FRAMES];
	struct unwind_result all = unwind_stack(world.thread, &dump->sample, whole, FRAMES);
	ck_assert_int_eq(all.end, UNWIND_COMPLETE);
	static struct dump from;
	uint32_t searched = 0;
	for (size_t first = 0; first < all.count; first++) {
		size_t skipped = (size_t)(whole[first].sp - whole[0].sp);
		memset(from.values, 0x5a, sizeof(from.values));
		from.sample = dump->sample;
		from.sample.registers.values = from.values;
		from.sample.stack.bytes += skipped;
		from.sample.stack.size -= skipped;
		from.sample.ip_and_sp_only = true;
		set_ip(&from, whole[first].ip);
		set_sp(&from, whole[first].sp);
		struct unwind_result result = unwind_stack(world.thread, &from.sample, frames, FRAMES);
		ck_assert_int_eq(result.end, UNWIND_COMPLETE);
		ck_assert_uint_eq(result.count, all.count - first);
		for (size_t i = 0; i < result.count; i++)
			ck_assert_msg(frames[i].ip == whole[first + i].ip, "frame %zu of %zu: 0x%lx", i,
				      first, (long)frames[i].ip);
		searched += result.searches;
	}
	world_stop(&world);
	return searched;
}

/* Generated code: one function, with a costly program of call frame instructions. */
#define COSTLY 0x700000
#define COSTLY_PROGRAM 60000

static bool find_costly(void *arg, const struct module *module, uint32_t pid, uint64_t offset,
			struct unwind_generated *ret)
{
	static const uint8_t cie[24] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0,
					0x0c, 7, 8, 0x90, 1}; /* CFA = rsp + 8; ra at CFA - 8 */
	static uint8_t bytes[sizeof(cie) + 25 + COSTLY_PROGRAM];
	const uint32_t size = sizeof(bytes) - sizeof(cie) - 4, distance = sizeof(cie) + 4;
	const uint64_t start = COSTLY, code_size = 0x10000;
	(void)arg, (void)module, (void)pid;
	memcpy(bytes, cie, sizeof(cie));
	memcpy(bytes + sizeof(cie), &size, 4);
	memcpy(bytes + sizeof(cie) + 4, &distance, 4);
	memcpy(bytes + sizeof(cie) + 8, &start, 8);
	memcpy(bytes + sizeof(cie) + 16, &code_size, 8);
	*ret = (struct unwind_generated){.eh_frame = {bytes, sizeof(bytes)}, .vaddr = offset,
					 .eh_frame_vaddr = 0x100000};
	return true;
}

TEST(unwind_bounds_the_work_for_a_stack)
{
	enum { COUNT = 100 };
	struct world world = {0};
	struct module *module = add_module(&world, "jitted-1-1.so");
	struct unwind_options options = {
		.arch = "x86_64", .locator = {.locate = locate, .arg = &world},
		.files = {.open = open_file, .generated = find_costly, .arg = &world},
	};
	uint64_t words[COUNT], values[2] = {0x7ffc00000000, COSTLY};
	struct unwind_frame frames[FRAMES];
	const struct unwind_sample sample = {
		.registers = {.abi = PERF_SAMPLE_REGS_ABI_64, .mask = 0x180, .values = values,
			      .count = 2},
		.stack = {(const uint8_t *)words, sizeof(words)}};
	module->kind = MODULE_JIT;
	add_range(&world, module, COSTLY, 0x10000, COSTLY);
	for (size_t i = 0; i < COUNT; i++)
		words[i] = i + 1 < COUNT ? COSTLY + 16 * (i + 1) : 0;
	ok_or_fail(sp_ctx_new(&world.ctx));
	ok_or_fail(unwinder_new(world.ctx, &options, &world.unwinder));
	world.thread = unwind_thread_new(world.unwinder);
	struct unwind_result first = unwind_stack(world.thread, &sample, frames, FRAMES);
	ck_assert_int_eq(first.end, UNWIND_NO_INFO);
	ck_assert_uint_ge(first.count, 10);
	ck_assert_uint_lt(first.count, 20);
	/* Known rows cost nothing more. */
	struct unwind_result next = unwind_stack(world.thread, &sample, frames, FRAMES);
	ck_assert_uint_gt(next.count, first.count);
	world_stop(&world);
}

#ifdef __x86_64__
static uint64_t probe_returns;

__attribute__((noinline)) static int probed(void)
{
	probe_returns = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return raise(0);
}

__attribute__((noinline)) static int call_probed(void)
{
	return probed() + 1;
}

/* A recording may claim that the called function is in the page with copies of probed code. */
TEST(unwind_ends_at_a_call_into_the_page_of_probes)
{
	struct world world = {0};
	uint64_t start = (uint64_t)(uintptr_t)probed, words[64] = {0};
	ck_assert_int_eq(call_probed(), 1);
	words[0] = probe_returns;
	struct module *page = add_module(&world, "[uprobes]");
	page->kind = MODULE_ANONYMOUS;
	add_range(&world, page, start, 8, 0);
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct dump dump = {.sample = {.registers = {.abi = PERF_SAMPLE_REGS_ABI_64,
						     .mask = HOST_MASK, .count = 17},
				       .stack = {(const uint8_t *)words, sizeof(words)}}};
	dump.sample.registers.values = dump.values;
	set_ip(&dump, start + 4);
	set_sp(&dump, 0x7ffc00000000);
	struct unwind_frame frames[FRAMES];
	struct unwind_result result = unwind_stack(world.thread, &dump.sample, frames, FRAMES);
	ck_assert_uint_ge(result.count, 1);
	ck_assert_uint_eq(frames[0].ip, start);
	world_stop(&world);
}
#endif

/* Keeps a frame pointer for alloca(3), and has records of earlier calls between its local variables. */
__attribute__((noinline)) static int take_with_leftovers(void)
{
	volatile int size = 5;
	volatile char unused[2000];
	unused[0] = (char)deepen(size, getpagesize);
	volatile char *grown = __builtin_alloca((size_t)size * 1000);
	grown[0] = (char)deepen(size, getpagesize);
	return raise(SIGUSR1) + grown[0] + unused[0];
}

/* Callers by direct calls: a jump would hide the function that was called. */
__attribute__((noinline)) static int call_with_alloca(void)
{
	return take_with_alloca() + 1;
}

__attribute__((noinline)) static int call_with_leftovers(void)
{
	return take_with_leftovers() + 1;
}

static int compare_values(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Keeps a frame pointer. Return addresses of an earlier qsort() are between its local variables. */
__attribute__((noinline)) static int take_with_frame(void)
{
	volatile char unused[4000];
	unused[0] = __builtin_frame_address(0) != NULL;
	return raise(SIGUSR1) + unused[0];
}

__attribute__((used)) static int (*volatile called_by_register)(void) = take_with_frame;

/* Its return address does not name the called function. */
__attribute__((noinline)) static int call_with_frame(void)
{
	int values[100];
	for (int i = 0; i < 100; i++)
		values[i] = i * 7919 % 101;
	qsort(values, 100, sizeof(*values), compare_values);
	return called_by_register() + values[1];
}

#ifdef __x86_64__
/* Before the call *%rax are bytes that look like the begin of a direct call, e8 37 00 ff d0. */
int call_after_e8(void);
__asm__(".text\n"
	"call_after_e8:\n"
	"	.cfi_startproc\n"
	"	pushq %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq called_by_register(%rip), %rax\n"
	"	testl $0x37e883, %ecx\n"
	"	call *%rax\n"
	"	popq %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n");

__attribute__((noinline)) static int call_with_operand(void)
{
	int values[100];
	for (int i = 0; i < 100; i++)
		values[i] = i * 7919 % 101;
	qsort(values, 100, sizeof(*values), compare_values);
	return call_after_e8() + values[1];
}
#endif

#ifdef __has_feature
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define HAS_SANITIZER 0
#endif

TEST(stack_snapshots_need_no_other_registers)
{
	if (HAS_SANITIZER)
		skip_test("sanitizers align frames: their sizes are unknown");
	expect_as_snapshots(3, take);
	expect_as_snapshots(2, take_in_qsort);
	uint32_t searched = expect_as_snapshots(1, call_with_alloca);
	searched += expect_as_snapshots(2, call_with_leftovers);
	searched += expect_as_snapshots(1, call_with_frame);
#ifdef __x86_64__
	searched += expect_as_snapshots(1, call_with_operand);
#endif
	/* On arm64, rows are relative to the stack pointer, or the frame pointer is saved before. */
	if (!strcmp(HOST, "x86_64"))
		ck_assert_uint_ge(searched, 3);
}

/* Whether this build has it. */
static bool has_engine(const char *engine)
{
	struct world world = {0};
	struct unwind_options options = {
		.engine = engine,
		.arch = HOST,
		.locator = {.locate = locate, .arg = &world},
		.files = {.open = open_file, .arg = &world},
	};
	ok_or_fail(sp_ctx_new(&world.ctx));
	struct sp_error *error = unwinder_new(world.ctx, &options, &world.unwinder);
	bool have = !error;
	sp_error_free(error);
	unwinder_free(world.unwinder);
	sp_ctx_free(world.ctx);
	return have;
}

TEST(unwind_own_stack_by_libunwind)
{
	if (!has_engine("libunwind"))
		skip_test("built without libunwind");
	expect_as_libgcc("libunwind", 3, take);
	expect_as_libgcc("libunwind", 1, take_with_alloca);
}

TEST(unwind_says_what_is_missing)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct unwind_frame whole[FRAMES], frames[FRAMES];
	struct dump *dump = dump_of(30, take);
	struct unwind_result all = unwind_stack(world.thread, &dump->sample, whole, FRAMES);
	size_t size = dump->sample.stack.size, ends[UNWIND_END_COUNT] = {0};
	for (size_t cut = 0; cut < size; cut += 8) {
		struct unwind_sample sample = dump->sample;
		sample.stack.size = cut;
		struct unwind_result result = unwind_stack(world.thread, &sample, frames, FRAMES);
		ck_assert_uint_ge(result.count, 1);
		ck_assert_uint_le(result.count, all.count);
		for (size_t i = 0; i < result.count; i++)
			ck_assert_uint_eq(frames[i].ip, whole[i].ip);
		ends[result.end]++;
		if (result.end == UNWIND_COMPLETE) {
			ck_assert_uint_eq(result.count, all.count);
			continue;
		}
		ck_assert_int_eq(result.end, UNWIND_TRUNCATED);
		ck_assert_uint_ge(result.missing + 8, stack_pointer(dump) + cut);
	}
	ck_assert_uint_gt(ends[UNWIND_TRUNCATED], 10);
	ck_assert_uint_gt(ends[UNWIND_COMPLETE], 0);
	world_stop(&world);
}

TEST(unwind_stops_at_the_limit)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct unwind_frame frames[FRAMES];
	struct dump *dump = dump_of(50, take);
	struct unwind_result whole = unwind_stack(world.thread, &dump->sample, frames, FRAMES);
	for (size_t limit = 1; limit <= whole.count + 1; limit++) {
		struct unwind_result result =
			unwind_stack(world.thread, &dump->sample, frames, limit);
		ck_assert_uint_eq(result.count, limit < whole.count ? limit : whole.count);
		ck_assert_int_eq(result.end, limit < whole.count ? UNWIND_DEPTH_LIMIT
								  : UNWIND_COMPLETE);
	}
	world_stop(&world);
}

/* Without files, only frame pointers remain; they are counted as guesses. */
TEST(unwind_without_files)
{
	struct world world = {.blind = true};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct unwind_frame frames[FRAMES];
	struct dump *dump = dump_of(3, take);
	struct unwind_result result = unwind_stack(world.thread, &dump->sample, frames, FRAMES);
	ck_assert_uint_ge(result.count, 1);
	ck_assert(result.count == 1 || result.frame_pointers > 0);
	if (result.end == UNWIND_NO_INFO)
		ck_assert(result.blind);
	const struct module *module = locate(&world, 0, frames[0].ip).module;
	const char *problem = unwinder_problem(world.unwinder, module);
	ck_assert_msg(problem && strstr(problem, module->path), "%s", problem);
	world_stop(&world);
}

#ifdef __has_feature
#define DELAYS_SIGNALS __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define DELAYS_SIGNALS 1
#else
#define DELAYS_SIGNALS 0
#endif

#if !DELAYS_SIGNALS /* ThreadSanitizer handles them later, on the stack that is current then. */
/* The signal stack lies below the thread's stack, as with most mmap(2) calls. */
#define ALTERNATE_SIZE ((size_t)1 << 18)
#define THREAD_STACK ((size_t)1 << 23)
#define BETWEEN_STACKS ((size_t)1 << 24)

struct alternate {
	struct dump dump;
	uint8_t *memory;
};

static void on_alternate(int number)
{
	(void)number;
	deepen(3, take);
}

static void *take_on_alternate(void *arg)
{
	struct alternate *alternate = arg;
	struct dump *dump = &alternate->dump;
	stack_t stack = {.ss_sp = alternate->memory, .ss_size = ALTERNATE_SIZE};
	struct sigaction outer = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
	struct sigaction inner = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t before;
	if (sigaltstack(&stack, &before))
		return NULL;
	backtrace(dump->expected, 1);
	wanted = dump;
	sigaction(SIGUSR2, &outer, NULL);
	sigaction(SIGUSR1, &inner, NULL);
	raise(SIGUSR2);
	sigaltstack(&before, NULL);
	return dump;
}

static void take_in_thread(struct alternate *alternate)
{
	pthread_t thread;
	pthread_attr_t attr;
	void *taken;
	size_t below = ALTERNATE_SIZE + BETWEEN_STACKS;
	alternate->memory = mmap(NULL, below + THREAD_STACK, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(alternate->memory, MAP_FAILED);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, alternate->memory + below, THREAD_STACK);
	ck_assert_int_eq(pthread_create(&thread, &attr, take_on_alternate, alternate), 0);
	ck_assert_int_eq(pthread_join(thread, &taken), 0);
	ck_assert_ptr_nonnull(taken);
	pthread_attr_destroy(&attr);
	munmap(alternate->memory, below + THREAD_STACK);
}

/* The thread's own stack is in no copy of the other, however large. */
TEST(unwind_stops_where_a_signal_changed_stacks)
{
	static struct alternate alternate;
	static const char *const engines[] = {"cfi", "libunwind"};
	take_in_thread(&alternate);
	struct dump *dump = &alternate.dump;
	/* More was copied than there is of it. */
	uint64_t size = (uint64_t)(uintptr_t)alternate.memory + ALTERNATE_SIZE - stack_pointer(dump);
	ck_assert_uint_lt(size, sizeof(dump->stack));
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		struct world world = {0};
		struct unwind_frame frames[FRAMES];
		dl_iterate_phdr(add_object, &world);
		if (!has_engine(engines[i]))
			continue;
		world_start(&world, HOST, engines[i]);
		dump->sample.stack.size = size;
		struct unwind_result result =
			unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		ck_assert_int_eq(result.end, UNWIND_TRUNCATED);
		ck_assert(result.switched);
		ck_assert_int_eq(unwind_misc(&result) & SP_MISC_END_MASK,
				 SP_MISC_END_SWITCHED << SP_MISC_END_SHIFT);
		ck_assert_uint_eq(result.signals, 1);
		/* One that ends before the signal's frame may go on in a larger one. */
		dump->sample.stack.size = 64;
		result = unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		ck_assert_int_eq(result.end, UNWIND_TRUNCATED);
		ck_assert(!result.switched);
		world_stop(&world);
	}
}
#endif

TEST(unwind_calls_of_nowhere)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct unwind_frame frames[FRAMES];
	struct dump *dump = dump_of(3, take);
	const uint64_t nowhere[] = {0, 1, 0x1000, 0x7fffffffffff, 0xffffffffffffffff};
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		set_ip(dump, nowhere[i]);
		struct unwind_result result =
			unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		ck_assert_uint_ge(result.count, 1);
		ck_assert_int_ne(result.end, UNWIND_DEPTH_LIMIT);
	}
	world_stop(&world);
}

/* Puts another return address in the place of one, wherever that is in a stack. */
static void replace_words(uint8_t *stack, uint64_t size, uint64_t old, uint64_t new)
{
	for (uint64_t at = 0; at + sizeof(old) <= size; at += sizeof(old))
		if (!memcmp(stack + at, &old, sizeof(old)))
			memcpy(stack + at, &new, sizeof(new));
}

/* Damaged stacks do not affect the results of later ones. */
TEST(unwind_beside_spoilt_stacks)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	static uint8_t spoilt[sizeof(((struct dump *)0)->stack)];
	struct unwind_frame frames[FRAMES];
	struct dump *dump = dump_of(3, take);
	uint64_t size = dump->sample.stack.size;
	struct unwind_sample bad = dump->sample;
	bad.stack.bytes = spoilt;
	unsigned int bits[] = {62, 63};
	for (size_t i = 0; i < 2; i++) {
		unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		uint64_t ip = frames[0].ip, caller = frames[1].ip;
		memcpy(spoilt, dump->stack, size);
		replace_words(spoilt, size, caller, (ip | UINT64_C(1) << bits[i]) + 1);
		struct unwind_result result = unwind_stack(world.thread, &bad, frames, FRAMES);
		ck_assert(result.count == 1 || frames[1].ip != caller);
		result = unwind_stack(world.thread, &dump->sample, frames, FRAMES);
		ck_assert_int_eq(result.end, UNWIND_COMPLETE);
		expect_backtrace(dump, frames, &result);
	}
	world_stop(&world);
}

TEST(unwind_without_registers)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	struct unwind_frame frames[FRAMES];
	struct unwind_sample sample = {0};
	struct unwind_result result = unwind_stack(world.thread, &sample, frames, FRAMES);
	ck_assert_uint_eq(result.count, 0);
	ck_assert_int_eq(result.end, UNWIND_NO_INFO);
	/* The instruction pointer alone, without a stack pointer. */
	struct dump *dump = dump_of(1, take);
	uint64_t ip = locate(&world, 0, (uint64_t)(uintptr_t)take).ip;
	sample = dump->sample;
	sample.registers.mask = strcmp(HOST, "x86_64") ? 1ull << 32 : 1 << 8;
	sample.registers.values = &ip;
	sample.registers.count = 1;
	result = unwind_stack(world.thread, &sample, frames, FRAMES);
	ck_assert_uint_eq(result.count, 1);
	ck_assert_uint_eq(frames[0].ip, ip);
	ck_assert_int_eq(result.end, UNWIND_NO_INFO);
	world_stop(&world);
}

TEST(files_that_were_forgotten_are_read_again)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	const struct dump *dump = dump_of(20, take);
	struct unwind_frame first[FRAMES], again[FRAMES];
	struct unwind_result before = unwind_stack(world.thread, &dump->sample, first, FRAMES);
	size_t opened = world.opened;
	ck_assert(!unwinder_keeps_much(world.unwinder));
	/* In use until now; but not any more. */
	ck_assert_uint_eq(unwinder_drop_files(world.unwinder, false), 0);
	ck_assert_uint_gt(unwinder_drop_files(world.unwinder, false), 0);
	struct unwind_result after = unwind_stack(world.thread, &dump->sample, again, FRAMES);
	ck_assert_uint_eq(after.count, before.count);
	struct unwind_thread *fresh = unwind_thread_new(world.unwinder);
	after = unwind_stack(fresh, &dump->sample, again, FRAMES);
	ck_assert_uint_eq(after.count, before.count);
	ck_assert_int_eq(after.end, before.end);
	for (size_t i = 0; i < after.count; i++)
		ck_assert_uint_eq(again[i].ip, first[i].ip);
	ck_assert_uint_gt(world.opened, opened);
	unwind_thread_free(fresh);
	world_stop(&world);
}

static struct sp_error *open_none(void *arg, const struct module *module, uint32_t pid,
				  struct image **ret)
{
	(void)arg, (void)module, (void)pid;
	*ret = NULL;
	return NULL;
}

/* Each with a file of its own, and one file that all have in common. */
TEST(files_of_programs_that_ended_are_dropped)
{
	enum { PROGRAMS = 20000, FILES_MOST = 258 };
	const struct unwind_files files = {.open = open_none};
	const struct module library = {.kind = MODULE_FILE, .path = "/lib/some.so"};
	struct module *programs = calloc(PROGRAMS, sizeof(*programs));
	struct sp_ctx *ctx;
	ok_or_fail(sp_ctx_new(&ctx));
	struct code_cache *cache = code_cache_new(ctx, HOST, &files);
	const struct code *kept = code_cache_get(cache, &library, 1);
	size_t live = 1, most = 0;
	for (uint32_t i = 0; i < PROGRAMS; i++, live++) {
		programs[i] = (struct module){.kind = MODULE_FILE, .index = i + 1, .path = "/bin/some"};
		code_cache_get(cache, &programs[i], 2 + i);
		ck_assert_ptr_eq(code_cache_get(cache, &library, 2 + i), kept);
		if (code_cache_is_large(cache))
			live -= code_cache_drop(cache, false);
		most = live > most ? live : most;
	}
	ck_assert_uint_le(most, 3 * FILES_MOST);
	ck_assert_uint_eq(code_cache_drop(cache, false) + code_cache_drop(cache, false), live);
	code_cache_free(cache);
	sp_ctx_free(ctx);
	free(programs);
}

TEST(modules_are_numbered_anew_when_all_files_are_dropped)
{
	const struct unwind_files files = {.open = open_none};
	const struct module old = {.kind = MODULE_FILE, .index = 7, .path = "/lib/old.so"};
	const struct module new = {.kind = MODULE_FILE, .index = 7, .path = "/lib/new.so"};
	struct sp_ctx *ctx;
	ok_or_fail(sp_ctx_new(&ctx));
	struct code_cache *cache = code_cache_new(ctx, HOST, &files);
	code_cache_get(cache, &old, 1);
	ck_assert_uint_eq(code_cache_drop(cache, true), 1);
	code_cache_get(cache, &new, 1);
	ck_assert_ptr_nonnull(strstr(code_cache_problem(cache, &new), "/lib/new.so"));
	code_cache_free(cache);
	sp_ctx_free(ctx);
}

struct job {
	struct world *world;
	const struct dump *dump;
	size_t count;
};

static void *unwind_often(void *arg)
{
	struct job *job = arg;
	struct unwind_frame frames[FRAMES];
	for (int i = 0; i < 4; i++) {
		struct unwind_thread *thread = unwind_thread_new(job->world->unwinder);
		for (int j = 0; thread && j < 50; j++)
			job->count += unwind_stack(thread, &job->dump->sample, frames, FRAMES).count;
		unwind_thread_free(thread);
	}
	return NULL;
}

TEST(unwind_in_threads)
{
	struct world world = {0};
	dl_iterate_phdr(add_object, &world);
	world_start(&world, HOST, NULL);
	const struct dump *dump = dump_of(20, take);
	pthread_t threads[4];
	struct job jobs[4];
	for (size_t i = 0; i < 4; i++) {
		jobs[i] = (struct job){.world = &world, .dump = dump};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, unwind_often, &jobs[i]), 0);
	}
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(jobs[i].count, jobs[0].count);
	/* Each module once; its instructions perhaps. */
	ck_assert_uint_le(world.opened, 3 * world.module_count);
	world_stop(&world);
}
#endif /* HOST */

TEST(unwind_refuses_what_it_cannot)
{
	struct sp_ctx *ctx;
	struct unwinder *unwinder;
	ok_or_fail(sp_ctx_new(&ctx));
	struct unwind_options options = {.arch = "m68k"};
	fails_with(SP_ERROR_UNSUPPORTED, unwinder_new(ctx, &options, &unwinder));
	options = (struct unwind_options){.arch = "x86_64", .engine = "magic"};
	fails_with(SP_ERROR_UNSUPPORTED, unwinder_new(ctx, &options, &unwinder));
	options = (struct unwind_options){.arch = "s390x", .engine = "libunwind"};
	fails_with(SP_ERROR_UNSUPPORTED, unwinder_new(ctx, &options, &unwinder));
	sp_ctx_free(ctx);
}

/*
 * tests/data/arm64: _start calls saved, that grown, that leaf. Return addresses are signed:
 * their upper bits are not part of the address.
 */
enum {
	LEAF = 0x201304,
	GROWN = 0x20130c,
	IN_GROWN = 0x20133c, /* return address of its call */
	IN_SAVED = 0x20136c,
	START = 0x201380,
	IN_START = 0x201390,
	ARM_SP = 0x10000,
};
#define SIGNED(ip) ((ip) | 0x0023000000000000)

struct arm {
	struct world world;
	uint64_t values[33], stack[64];
	struct unwind_frame frames[FRAMES];
};

static void arm_start(struct arm *arm)
{
	char path[512];
	const char *source = getenv("top_srcdir");
	snprintf(path, sizeof(path), "%s/tests/data/arm64", source ? source : ".");
	/* Text begins at 0x304 of the file. */
	add_range(&arm->world, add_module(&arm->world, path), 0x201304, 0x90, 0x304);
	world_start(&arm->world, "aarch64", NULL);
	arm->values[31] = ARM_SP;
}

static struct unwind_result arm_unwind_sample(struct arm *arm, uint64_t ip, bool ip_and_sp_only)
{
	arm->values[32] = ip;
	struct unwind_sample sample = {
		.ip_and_sp_only = ip_and_sp_only,
		.registers = {
			.abi = PERF_SAMPLE_REGS_ABI_64,
			.mask = 0x1ffffffff,
			.values = arm->values,
			.count = 33,
		},
		.stack = {(const uint8_t *)arm->stack, sizeof(arm->stack)},
	};
	return unwind_stack(arm->world.thread, &sample, arm->frames, FRAMES);
}

static struct unwind_result arm_unwind(struct arm *arm, uint64_t ip)
{
	return arm_unwind_sample(arm, ip, false);
}

static void arm_expect(const struct arm *arm, const struct unwind_result *result, size_t count,
		       const uint64_t *ips)
{
	ck_assert_int_eq(result->end, UNWIND_COMPLETE);
	ck_assert_uint_eq(result->count, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(arm->frames[i].ip == ips[i], "frame %zu: 0x%lx, not 0x%lx", i,
			      (long)arm->frames[i].ip, (long)ips[i]);
}

/* The frame of grown with x29 at word `at`; that of saved and of _start behind it. */
static void arm_frames(struct arm *arm, size_t at)
{
	arm->stack[at + 0] = 0xf00; /* x29 */
	arm->stack[at + 1] = SIGNED(IN_SAVED);
	arm->stack[at + 2] = 21;
	arm->stack[at + 4] = 20;
	arm->stack[at + 5] = 19;
	arm->stack[at + 6] = SIGNED(IN_START); /* saved: x30, x21, x20, x19 */
	arm->stack[at + 10] = 0; /* _start */
}

TEST(unwind_arm64)
{
	static struct arm arm;
	const uint64_t from_leaf[] = {LEAF, IN_GROWN, IN_SAVED, IN_START};
	const uint64_t from_grown[] = {GROWN + 4, IN_SAVED, IN_START};
	arm_start(&arm);
	/* A leaf: the return address is in its register, and x29 leads on. */
	arm.values[30] = IN_GROWN;
	arm.values[29] = ARM_SP + 8 * 8;
	arm_frames(&arm, 8);
	struct unwind_result result = arm_unwind(&arm, LEAF);
	arm_expect(&arm, &result, 4, from_leaf);
	ck_assert_uint_eq(result.frame_pointers, 0);
	ck_assert_uint_eq(arm.frames[1].sp, ARM_SP);
	ck_assert_uint_eq(arm.frames[2].sp, ARM_SP + 8 * 14);
	/* After paciasp, before any register is saved: signed, in its register. */
	memset(arm.stack, 0, sizeof(arm.stack));
	arm.values[30] = SIGNED(IN_SAVED);
	arm.values[29] = 0xf00;
	arm.stack[0] = SIGNED(IN_START);
	result = arm_unwind(&arm, GROWN + 4);
	arm_expect(&arm, &result, 3, from_grown);
	world_stop(&arm.world);
}

TEST(stack_snapshots_of_arm64)
{
	static struct arm arm;
	const uint64_t from_grown[] = {IN_GROWN, IN_SAVED, IN_START};
	arm_start(&arm);
	memset(arm.values, 0x5a, 31 * sizeof(*arm.values));
	/* A return address of a call to another function, after a word that points up the stack. */
	arm.stack[2] = ARM_SP + 8 * 8;
	arm.stack[3] = IN_START;
	arm_frames(&arm, 8);
	struct unwind_result result = arm_unwind_sample(&arm, IN_GROWN, true);
	arm_expect(&arm, &result, 3, from_grown);
	ck_assert_uint_eq(result.searches, 1);
	ck_assert_uint_eq(result.frame_pointers, 0); /* the call is to this function: no guess */
	/* A leaf: its return address is in a register, and its caller is missing. */
	arm.stack[3] = 0;
	arm.stack[8] = ARM_SP + sizeof(arm.stack);
	result = arm_unwind_sample(&arm, LEAF, true);
	ck_assert_uint_eq(result.count, 2);
	ck_assert_uint_eq(arm.frames[1].ip, IN_SAVED);
	ck_assert_uint_eq(result.end, UNWIND_TRUNCATED);
	world_stop(&arm.world);
}

/* The few instructions that tests/data/arm64 is made of. */
struct machine {
	uint64_t x[32], pc; /* x[31]: sp */
	uint8_t memory[1 << 12];
	uint64_t calls[8]; /* return addresses */
	size_t depth;
};

/* Only full words and bytes of the stack are accessed. */
static uint8_t *memory_at(struct machine *machine, uint64_t address)
{
	ck_assert(address >= ARM_SP && address <= ARM_SP + sizeof(machine->memory) - 16);
	return machine->memory + (address - ARM_SP);
}

static void run_access(struct machine *machine, uint32_t word, size_t count, bool load,
		       int64_t offset, unsigned int mode)
{
	uint64_t *base = &machine->x[word >> 5 & 31];
	uint8_t *at = memory_at(machine, *base + (mode == 1 ? 0 : (uint64_t)offset));
	const unsigned int registers[] = {word & 31, word >> 10 & 31};
	for (size_t i = 0; i < count; i++) {
		uint64_t *value = &machine->x[registers[i]];
		memcpy(load ? (void *)value : at + 8 * i, load ? at + 8 * i : (void *)value, 8);
	}
	*base += mode == 2 ? 0 : (uint64_t)offset;
}

static int64_t field_of(uint32_t word, unsigned int low, unsigned int count)
{
	return (int64_t)((uint64_t)word << (64 - low - count)) >> (64 - count);
}

static void run_branch(struct machine *machine, uint32_t word)
{
	if (word == 0xd65f03c0) { /* ret */
		machine->pc = machine->x[30] - 4;
		machine->depth--;
		return;
	}
	if (word >> 31) { /* bl */
		machine->x[30] = machine->pc + 4;
		machine->calls[machine->depth++] = machine->pc + 4;
	}
	machine->pc += 4 * (uint64_t)field_of(word, 0, 26) - 4;
}

static void run(struct machine *machine, uint32_t word)
{
	uint64_t *to = &machine->x[word & 31], from = machine->x[word >> 5 & 31];
	uint64_t other = machine->x[word >> 16 & 31];
	if (word == 0xd503233f) /* paciasp */
		machine->x[30] = SIGNED(machine->x[30]);
	else if (word == 0xd50323bf) /* autiasp */
		machine->x[30] &= (UINT64_C(1) << 48) - 1;
	else if (word == 0xd65f03c0 || (word & 0x7c000000) == 0x14000000)
		run_branch(machine, word);
	else if ((word & 0xfe000000) == 0xa8000000) /* stp, ldp */
		run_access(machine, word, 2, word >> 22 & 1, 8 * field_of(word, 15, 7),
			   word >> 23 & 3);
	else if ((word & 0xffe00c00) == 0xf8000c00) /* str, with a new sp */
		run_access(machine, word, 1, false, field_of(word, 12, 9), 3);
	else if ((word & 0xff800000) == 0xf9000000) /* str, ldr */
		run_access(machine, word, 1, word >> 22 & 1, 8 * (word >> 10 & 0xfff), 2);
	else if ((word & 0x7f800000) == 0x11000000) /* add of an immediate */
		*to = from + (word >> 10 & 0xfff);
	else if (word == 0x927c7108) /* and of one: the only */
		*to = from & UINT64_C(0x1fffffff0);
	else if ((word & 0x7fe00000) == 0x4b000000) /* sub */
		*to = from - other;
	else if ((word & 0x7fe00000) == 0x0b000000) /* add */
		*to = from + (other << (word >> 10 & 63));
	else if ((word & 0xffe0ffe0) == 0x2a0003e0) /* mov */
		*to = other;
	else if ((word & 0xffc00000) == 0x39400000) /* ldrb */
		*to = *memory_at(machine, from + (word >> 10 & 0xfff));
	else if ((word & 0xff800000) != 0x52800000) /* mov of an immediate */
		ck_abort_msg("0x%x at 0x%lx", word, (long)machine->pc);
	else
		*to = word >> 5 & 0xffff;
	machine->pc += 4;
}

static void expect_calls(struct arm *arm, const struct machine *machine)
{
	uint64_t values[33], sp = machine->x[31];
	memcpy(values, machine->x, sizeof(machine->x));
	values[32] = machine->pc;
	struct unwind_sample sample = {
		.registers = {.abi = PERF_SAMPLE_REGS_ABI_64, .mask = 0x1ffffffff,
			      .values = values, .count = 33},
		.stack = {machine->memory + (sp - ARM_SP), ARM_SP + sizeof(machine->memory) - sp},
	};
	struct unwind_result result =
		unwind_stack(arm->world.thread, &sample, arm->frames, FRAMES);
	ck_assert_msg(result.end == UNWIND_COMPLETE && result.count == machine->depth + 1,
		      "at 0x%lx: %zu frames, end %d", (long)machine->pc, result.count, result.end);
	for (size_t i = 0; i < machine->depth; i++)
		ck_assert_msg(arm->frames[i + 1].ip == machine->calls[machine->depth - 1 - i],
			      "at 0x%lx: frame %zu is 0x%lx", (long)machine->pc, i + 1,
			      (long)arm->frames[i + 1].ip);
}

/* Wherever it is interrupted, though its tables describe no more than whole frames. */
TEST(unwind_arm64_at_each_instruction)
{
	static struct arm arm;
	static struct machine machine;
	uint8_t text[0x90];
	size_t steps = 0;
	arm_start(&arm);
	FILE *file = fopen(arm.world.modules[0].path, "rb");
	ck_assert_ptr_nonnull(file);
	ck_assert(!fseek(file, 0x304, SEEK_SET) && fread(text, sizeof(text), 1, file));
	fclose(file);
	/* Words on the stack lead elsewhere, if they are taken for a frame. */
	for (size_t at = 0; at < sizeof(machine.memory); at += 8)
		memcpy(machine.memory + at, &(uint64_t){at % 16 ? IN_SAVED : IN_GROWN}, 8);
	machine.x[31] = ARM_SP + sizeof(machine.memory) - 256;
	machine.pc = START;
	for (; machine.pc != IN_START; steps++) {
		uint32_t word;
		expect_calls(&arm, &machine);
		memcpy(&word, text + (machine.pc - LEAF), sizeof(word));
		run(&machine, le32toh(word));
	}
	ck_assert_uint_eq(steps, 35);
	ck_assert_uint_eq(machine.depth, 0);
	world_stop(&arm.world);
}

/* Impossible results: a leaf that returns to itself, a stack that does not grow. */
TEST(unwind_arm64_makes_progress_or_ends)
{
	static struct arm arm;
	arm_start(&arm);
	arm.values[30] = LEAF;
	struct unwind_result result = arm_unwind(&arm, LEAF);
	ck_assert_int_eq(result.end, UNWIND_BAD_MEMORY);
	/* Not by a call: the caller would have had to save it. */
	arm.values[30] = LEAF + 4;
	result = arm_unwind(&arm, LEAF);
	ck_assert_int_eq(result.end, UNWIND_BAD_MEMORY);
	ck_assert_uint_le(result.count, 2);
	/* No code. */
	arm.values[30] = 0x500000;
	result = arm_unwind(&arm, LEAF);
	ck_assert_int_eq(result.end, UNWIND_BAD_MEMORY);
	ck_assert_uint_eq(result.count, 1);
	world_stop(&arm.world);
}

/* JIT code: frame records lead through it, marked as guesses. */
TEST(unwind_arm64_jit)
{
	static struct arm arm;
	static const struct module jit = {.index = 1, .kind = MODULE_ANONYMOUS, .path = "//anon",
					  .name = "//anon"};
	/* Not after saved's call, since its target is a different function. */
	const uint64_t ips[] = {0x900010, 0x900100, IN_SAVED + 4, IN_START};
	arm_start(&arm);
	arm.world.modules[1] = jit;
	add_range(&arm.world, &arm.world.modules[1], 0x900000, 0x1000, 0x900000);
	arm.values[29] = ARM_SP + 16;
	arm.stack[2] = ARM_SP + 32; /* a record: x29, x30 */
	arm.stack[3] = 0x900100;
	arm.stack[4] = ARM_SP + 64;
	arm.stack[5] = IN_SAVED + 4;
	/* saved keeps no frame pointer, and its stack pointer is not known: x29 must help. */
	arm.stack[8] = 0;
	arm.stack[9] = IN_START;
	struct unwind_result result = arm_unwind(&arm, 0x900010);
	arm_expect(&arm, &result, 4, ips);
	ck_assert_uint_ge(result.frame_pointers, 3);
	/* There it is: the frame pointer is not the JIT code's. */
	arm.stack[5] = IN_SAVED;
	result = arm_unwind(&arm, 0x900010);
	ck_assert_int_eq(result.end, UNWIND_NO_INFO);
	ck_assert_uint_eq(result.count, 2);
	ck_assert_ptr_eq(result.blind, &arm.world.modules[1]);
	world_stop(&arm.world);
}
