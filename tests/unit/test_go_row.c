/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of a made-up Go program. Their chain is always: main.leaf, main.outer, runtime.goexit. */
#include <linux/perf_event.h>
#include "made_go.h"
#include "test.h"
#include "unwind/unwind.h"

#define LOADED 0x10000000 /* start of the mapping of the code */
#define SP 0x7fff0000
#define FRAMES 16

/* Addresses of the program when it runs, by their distance from MADE_GO_TEXT. */
#define AT(distance) (LOADED + (uint64_t)(distance))

struct go {
	struct made_go made;
	struct module module;
	struct sp_ctx *ctx;
	struct unwinder *unwinder;
	struct unwind_thread *thread;
	uint64_t stack[512];
	struct unwind_frame frames[FRAMES];
	const uint64_t *callers; /* the kernel's call chain */
	size_t caller_count;
};

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	struct go *go = arg;
	struct location location = {.ip = ip};
	(void)view;
	if (ip >= LOADED && ip < LOADED + MADE_GO_TEXT_SIZE) {
		location.module = &go->module;
		location.offset = ip - LOADED + go->made.text;
	}
	return location;
}

static struct sp_error *open_program(void *arg, const struct module *module, uint32_t pid,
				     struct image **ret)
{
	struct go *go = arg;
	(void)module, (void)pid;
	return made_go_open(&go->made, ret);
}

static void start(struct go *go, const char *arch, uint16_t machine)
{
	go->made = (struct made_go){.layout = PCLNTAB_1_20, .word = 8, .machine = machine};
	made_go_init(&go->made);
	go->module = (struct module){.kind = MODULE_FILE, .path = "made", .name = "made",
				     .is_64bit = true};
	ok_or_fail(sp_ctx_new(&go->ctx));
	const struct unwind_options options = {
		.engine = "cfi",
		.arch = arch,
		.locator = {.locate = locate, .arg = go},
		.files = {.open = open_program, .arg = go},
	};
	ok_or_fail(unwinder_new(go->ctx, &options, &go->unwinder));
	go->thread = unwind_thread_new(go->unwinder);
	ck_assert(go->thread);
}

static void stop(struct go *go)
{
	unwind_thread_free(go->thread);
	unwinder_free(go->unwinder);
	sp_ctx_free(go->ctx);
}

/* Registers by perf's numbers. */
struct registers {
	uint64_t values[34], mask;
};

static void set(struct registers *registers, unsigned int number, uint64_t value)
{
	registers->values[number] = value;
	registers->mask |= (uint64_t)1 << number;
}

static struct unwind_result unwind(struct go *go, const struct registers *registers)
{
	uint64_t values[34];
	size_t count = 0;
	for (unsigned int i = 0; i < 34; i++)
		if (registers->mask >> i & 1)
			values[count++] = registers->values[i];
	struct unwind_sample sample = {
		.registers = {.abi = PERF_SAMPLE_REGS_ABI_64, .mask = registers->mask,
			      .values = values, .count = count},
		.stack = {(const uint8_t *)go->stack, sizeof(go->stack)},
		.callers = go->callers,
		.caller_count = go->caller_count,
	};
	return unwind_stack(go->thread, &sample, go->frames, FRAMES);
}

static struct unwind_result unwind_x86(struct go *go, uint64_t ip)
{
	struct registers registers = {.mask = 0};
	set(&registers, 7, SP);
	set(&registers, 8, ip);
	return unwind(go, &registers);
}

static struct unwind_result unwind_arm64(struct go *go, uint64_t ip, uint64_t lr)
{
	struct registers registers = {.mask = 0};
	set(&registers, 30, lr);
	set(&registers, 31, SP);
	set(&registers, 32, ip);
	return unwind(go, &registers);
}

static void expect(const struct go *go, const struct unwind_result *result, size_t count,
		   const uint64_t *ips)
{
	ck_assert_int_eq(result->end, UNWIND_COMPLETE);
	ck_assert_uint_eq(result->count, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(go->frames[i].ip, ips[i]);
}

/* The return address is in main.outer, and its own after its 2,000 bytes. */
static void put_callers_x86(struct go *go, size_t at)
{
	go->stack[at] = AT(0x80);
	go->stack[at + 1 + 2000 / 8] = AT(0x101);
}

TEST(go_frames_of_x86_64)
{
	static struct go go;
	start(&go, "x86_64", EM_X86_64);
	const size_t frame_words[] = {0, 3, 0};
	const uint64_t ips[] = {AT(0x0), AT(0x10), AT(0x3c)};
	for (size_t i = 0; i < 3; i++) {
		memset(go.stack, 0, sizeof(go.stack));
		put_callers_x86(&go, frame_words[i]);
		struct unwind_result result = unwind_x86(&go, ips[i]);
		expect(&go, &result, 3, (const uint64_t[]){ips[i], AT(0x80), AT(0x101)});
		ck_assert(!result.system_stack);
		ck_assert_uint_eq(result.frame_pointers, 0);
	}
	stop(&go);
}

TEST(go_frames_of_arm64)
{
	static struct go go;
	start(&go, "aarch64", EM_AARCH64);
	/* Without a frame: the return address is in x30. */
	go.stack[0] = AT(0x101);
	struct unwind_result result = unwind_arm64(&go, AT(0x0), AT(0x80));
	expect(&go, &result, 3, (const uint64_t[]){AT(0x0), AT(0x80), AT(0x101)});
	/* With one: at the stack pointer. */
	go.stack[0] = AT(0x80);
	go.stack[3] = AT(0x101);
	result = unwind_arm64(&go, AT(0x10), 0);
	expect(&go, &result, 3, (const uint64_t[]){AT(0x10), AT(0x80), AT(0x101)});
	ck_assert(!result.system_stack);
	stop(&go);
}

TEST(go_stacks_end_at_a_switch)
{
	static struct go go;
	start(&go, "x86_64", EM_X86_64);
	go.stack[0] = AT(0x130);
	go.stack[1] = AT(0x101);
	struct unwind_result result = unwind_x86(&go, AT(0x0));
	expect(&go, &result, 2, (const uint64_t[]){AT(0x0), AT(0x130)});
	ck_assert(result.system_stack);
	ck_assert_uint_eq(unwind_misc(&result),
			  SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT | SP_MISC_SYSTEM_STACK);
	stop(&go);
}

static void put_code(struct go *go, size_t at, const uint8_t *code, size_t size)
{
	memcpy(go->made.bytes.at + go->made.text + at, code, size);
}

/* Unwinds main.leaf, which runtime.systemstack calls, with a call chain of the kernel. */
static struct unwind_result unwind_on_g0(struct go *go, const uint64_t *callers, size_t count)
{
	struct registers registers = {.mask = 0};
	memset(go->stack, 0, sizeof(go->stack));
	go->stack[0] = AT(0x130);
	go->callers = callers;
	go->caller_count = count;
	set(&registers, 6, 0xc000);
	set(&registers, 7, SP);
	set(&registers, 8, AT(0x0));
	return unwind(go, &registers);
}

/* main.outer passes main.leaf to runtime.systemstack, and calls itself. */
static void start_with_switch(struct go *go)
{
	/* They are at 0x60, 0x70 and 0x90. */
	static const uint8_t load_leaf[] = {0x48, 0x8d, 0x05, 0x99, 0xff, 0xff, 0xff};
	static const uint8_t call_switch[] = {0xe8, 0xab, 0x00, 0x00, 0x00};
	static const uint8_t call_outer[] = {0xe8, 0xab, 0xff, 0xff, 0xff};
	start(go, "x86_64", EM_X86_64);
	put_code(go, 0x60, load_leaf, sizeof(load_leaf));
	put_code(go, 0x70, call_switch, sizeof(call_switch));
	put_code(go, 0x90, call_outer, sizeof(call_outer));
}

/* The kernel's chain lacks main.outer, which calls runtime.systemstack. */
TEST(go_callers_are_those_of_the_goroutine)
{
	static struct go go;
	start_with_switch(&go);
	const uint64_t first[] = {AT(0x0), AT(0x130), AT(0x101)};
	struct unwind_result result = unwind_on_g0(&go, first, 3);
	expect(&go, &result, 4, (const uint64_t[]){AT(0x0), AT(0x130), AT(0x75), AT(0x101)});
	ck_assert(!result.system_stack);
	ck_assert_uint_eq(result.frame_pointers, 0);
	/* Called by main.outer, and without main.leaf's frame: by the frame pointer alone. */
	const uint64_t called[] = {AT(0x0), AT(0x95), AT(0x101)};
	result = unwind_on_g0(&go, called, 3);
	expect(&go, &result, 5,
	       (const uint64_t[]){AT(0x0), AT(0x130), AT(0x75), AT(0x95), AT(0x101)});
	ck_assert(!result.system_stack);
	stop(&go);
}

TEST(go_callers_need_a_chain_that_fits_the_code)
{
	static struct go go;
	/* From 0xa0 to main.leaf, which does not call runtime.systemstack. */
	static const uint8_t call_leaf[] = {0xe8, 0x5b, 0xff, 0xff, 0xff};
	const uint64_t chains[][4] = {
		{AT(0x0), AT(0x130), AT(0xa5), AT(0x101)},      /* not by its caller */
		{AT(0x0), AT(0x130), AT(0x95), AT(0x85)},       /* no first function */
		{AT(0x0), AT(0x130), AT(0x95), 0x1234},         /* no code */
		{AT(0x4), AT(0x130), AT(0x95), AT(0x101)},      /* another sample's */
	};
	start_with_switch(&go);
	put_code(&go, 0xa0, call_leaf, sizeof(call_leaf));
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		struct unwind_result result = unwind_on_g0(&go, chains[i], 4);
		expect(&go, &result, 2, (const uint64_t[]){AT(0x0), AT(0x130)});
		ck_assert(result.system_stack);
	}
	stop(&go);
}

/* If no call fits, a caller may be missing. */
TEST(go_callers_may_lack_one)
{
	static struct go go;
	start(&go, "x86_64", EM_X86_64);
	const uint64_t chain[] = {AT(0x0), AT(0x130), AT(0x101)};
	struct unwind_result result = unwind_on_g0(&go, chain, 3);
	expect(&go, &result, 3, (const uint64_t[]){AT(0x0), AT(0x130), AT(0x101)});
	ck_assert_uint_eq(unwind_misc(&result),
			  SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT | SP_MISC_GUESSED);
	stop(&go);
}

/* Place and contents of the made-up goroutine's stack when main.leaf's frame needed space. */
#define GOROUTINE 0xc000123000
#define GROWN_SP 0xc000200000
#define GROWN_FP (GROWN_SP + 2000 - 8)

/* Words of runtime.newstack's frame: m.morebuf's copy, the goroutine, and the frame pointer. */
enum { MOREBUF = 2, SAVED_G = 9, SAVED_FP = 10, FRAME_END = 11 };

/* main.outer calls main.leaf, which calls runtime.morestack_noctxt. */
static void start_with_growth(struct go *go)
{
	/* They are at 0x20 and 0x90. */
	static const uint8_t call_more[] = {0xe8, 0x5b, 0x01, 0x00, 0x00};
	static const uint8_t call_leaf[] = {0xe8, 0x6b, 0xff, 0xff, 0xff};
	start(go, "x86_64", EM_X86_64);
	put_code(go, 0x20, call_more, sizeof(call_more));
	put_code(go, 0x90, call_leaf, sizeof(call_leaf));
	memset(go->stack, 0, sizeof(go->stack));
	go->stack[0] = AT(0x1b0);
	go->stack[1] = GOROUTINE;
	go->stack[MOREBUF] = GROWN_SP;
	go->stack[MOREBUF + 1] = AT(0x95);
	go->stack[MOREBUF + 2] = go->stack[SAVED_G] = GOROUTINE;
	go->stack[SAVED_FP] = GROWN_FP;
	go->stack[FRAME_END] = AT(0x170);
}

/* Unwinds main.leaf, which runtime.newstack calls. */
static struct unwind_result unwind_growth(struct go *go)
{
	struct registers registers = {.mask = 0};
	set(&registers, 6, 0xc000);
	set(&registers, 7, SP);
	set(&registers, 8, AT(0x0));
	return unwind(go, &registers);
}

/* The kernel's chain lacks main.leaf and main.outer. */
TEST(go_growth_has_callers)
{
	static struct go go;
	const uint64_t chain[] = {AT(0x0), AT(0x1b0), AT(0x170), AT(0x101)};
	start_with_growth(&go);
	go.callers = chain;
	go.caller_count = 4;
	struct unwind_result result = unwind_growth(&go);
	const uint64_t all[] = {AT(0x0), AT(0x1b0), AT(0x170), AT(0x25), AT(0x95), AT(0x101)};
	expect(&go, &result, 6, all);
	ck_assert(!result.system_stack);
	ck_assert_uint_eq(result.frame_pointers, 0);
	/* The chain is another function's or the g0's, or absent: two callers are known. */
	go.stack[SAVED_FP] = GROWN_FP + 8;
	for (size_t i = 0; i < 3; i++) {
		go.caller_count = 4 - 2 * i;
		result = unwind_growth(&go);
		expect(&go, &result, 5, all);
		ck_assert(result.system_stack);
	}
	stop(&go);
}

/* main.outer calls by a register: the function that it calls is unknown, and may be missing. */
TEST(go_growth_of_a_closure_lacks_its_frame)
{
	static struct go go;
	static const uint8_t call_register[] = {0x90, 0x90, 0x90, 0xff, 0xd2};
	start_with_growth(&go);
	put_code(&go, 0x90, call_register, sizeof(call_register));
	struct unwind_result result = unwind_growth(&go);
	expect(&go, &result, 4, (const uint64_t[]){AT(0x0), AT(0x1b0), AT(0x170), AT(0x95)});
	ck_assert_uint_eq(unwind_misc(&result), SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT |
						SP_MISC_GUESSED | SP_MISC_SYSTEM_STACK);
	stop(&go);
}

TEST(go_growth_needs_a_copy_of_the_registers)
{
	static struct go go;
	static const struct {
		size_t word;
		uint64_t value;
	} changes[] = {
		{MOREBUF, SP + 256},         /* the stack pointer is the g0's */
		{MOREBUF, GROWN_SP + 1},
		{MOREBUF + 1, 0x1234},       /* no code */
		{MOREBUF + 2, 0},
		{MOREBUF + 3, 1},            /* not cleared */
		{MOREBUF + 5, 1},
	};
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		start_with_growth(&go);
		go.stack[changes[i].word] = changes[i].value;
		struct unwind_result result = unwind_growth(&go);
		expect(&go, &result, 3, (const uint64_t[]){AT(0x0), AT(0x1b0), AT(0x170)});
		ck_assert(result.system_stack);
		stop(&go);
	}
	/* The goroutine is nowhere else in the frame. */
	start_with_growth(&go);
	go.stack[1] = go.stack[SAVED_G] = 0;
	struct unwind_result result = unwind_growth(&go);
	expect(&go, &result, 3, (const uint64_t[]){AT(0x0), AT(0x1b0), AT(0x170)});
	stop(&go);
	/* main.leaf never calls runtime.morestack. */
	start_with_growth(&go);
	put_code(&go, 0x20, (const uint8_t[5]){0}, 5);
	result = unwind_growth(&go);
	expect(&go, &result, 3, (const uint64_t[]){AT(0x0), AT(0x1b0), AT(0x170)});
	stop(&go);
}

/* A signal interrupted main.leaf at its first instruction: the byte before is no code of it. */
TEST(go_preempted_code_is_exact)
{
	static struct go go;
	start(&go, "x86_64", EM_X86_64);
	go.stack[496 / 8] = AT(0x0);
	put_callers_x86(&go, 496 / 8 + 1);
	struct unwind_result result = unwind_x86(&go, AT(0x150));
	expect(&go, &result, 4, (const uint64_t[]){AT(0x150), AT(0x0), AT(0x80), AT(0x101)});
	ck_assert(go.frames[1].exact);
	stop(&go);
	/* On arm64 the runtime pushes x30, as its callee saves the interrupted address there. */
	start(&go, "aarch64", EM_AARCH64);
	memset(go.stack, 0, sizeof(go.stack));
	go.stack[0] = AT(0x0);
	go.stack[496 / 8] = AT(0x80);
	go.stack[496 / 8 + 2] = AT(0x101);
	result = unwind_arm64(&go, AT(0x150), 0);
	expect(&go, &result, 4, (const uint64_t[]){AT(0x150), AT(0x0), AT(0x80), AT(0x101)});
	ck_assert(go.frames[1].exact);
	stop(&go);
}
