/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks of one thread. Memory is read by pages into a small cache, because a read may be a system call.
 * The page of the stack pointer is the engine's stack copy.
 */
#include "unwinder/unwinder.h"

#include <inttypes.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "unwind/memory.h"

#define PAGE ((uint64_t)SP_UNWINDER_READ_MAX)
#define WINDOWS 8
#define NO_PAGE UINT64_MAX

/* Bytes [low, high) of a page; none if the page could not be read. */
struct window {
	uint64_t number; /* address / PAGE; NO_PAGE: empty */
	uint32_t low, high;
	uint8_t bytes[SP_UNWINDER_READ_MAX];
};

struct sp_unwinder_thread {
	struct sp_unwinder *unwinder;
	struct unwind_thread *thread;
	const struct sp_unwinder_memory *memory; /* the current call's */
	uint64_t sp;                             /* its first stack pointer */
	VEC(struct unwind_frame) frames;
	struct unwind_result last;
	uint64_t last_ip; /* address of the code in which the last stack ended */
	size_t limit;
	char *reason;
	struct window windows[WINDOWS];
};

DEFINE_CLEANUP(struct sp_unwinder_thread *, sp_unwinder_thread_free)

static void read_window(const struct sp_unwinder_thread *thread, uint64_t number, struct window *window)
{
	const struct sp_unwinder_memory *memory = thread->memory;
	uint64_t begin = number * PAGE;
	window->number = number;
	window->high = PAGE;
	window->low = 0;
	if (memory->read(memory->arg, begin, PAGE, window->bytes))
		return;
	/* Copies of stacks begin at the stack pointer. */
	window->low = thread->sp / PAGE == number ? (uint32_t)(thread->sp % PAGE) : 0;
	if (!window->low ||
	    !memory->read(memory->arg, thread->sp, PAGE - window->low, window->bytes + window->low))
		window->low = window->high = 0;
}

static const struct window *window_of(struct sp_unwinder_thread *thread, uint64_t address)
{
	uint64_t number = address / PAGE;
	struct window *window = &thread->windows[number % WINDOWS];
	if (window->number != number)
		read_window(thread, number, window);
	return window;
}

static bool read_memory(void *arg, uint64_t address, size_t size, void *ret)
{
	struct sp_unwinder_thread *thread = arg;
	const struct window *window = window_of(thread, address);
	uint64_t at = address % PAGE;
	if (at < window->low || at + size > window->high)
		return thread->memory->read(thread->memory->arg, address, size, ret);
	memcpy(ret, window->bytes + at, size);
	return true;
}

static bool find_register(const struct sp_registers *registers, unsigned int number, uint64_t *ret)
{
	uint64_t bit = (uint64_t)1 << number;
	size_t index = (size_t)__builtin_popcountll(registers->mask & (bit - 1));
	if (!(registers->mask & bit) || index >= registers->count)
		return false;
	*ret = registers->values[index];
	return true;
}

/* Begins a new stack: returns the bytes that are at hand, from the stack pointer up. */
static struct sp_bytes begin(struct sp_unwinder_thread *thread, const struct sp_registers *registers,
			     const struct sp_unwinder_memory *memory)
{
	thread->memory = memory;
	for (size_t i = 0; i < WINDOWS; i++)
		thread->windows[i].number = NO_PAGE;
	if (!find_register(registers, thread->unwinder->sp_number, &thread->sp))
		return (struct sp_bytes){0};
	const struct window *window = window_of(thread, thread->sp);
	uint64_t at = thread->sp % PAGE;
	return window->high ? (struct sp_bytes){window->bytes + at, window->high - at} : (struct sp_bytes){0};
}

static struct sp_unwinder_frame frame_of(const struct unwind_frame *frame)
{
	static const enum sp_unwinder_method methods[] = {
		[UNWIND_BY_REGISTERS] = SP_UNWINDER_BY_REGISTERS,
		[UNWIND_BY_CFI] = SP_UNWINDER_BY_CFI,
		[UNWIND_BY_GO] = SP_UNWINDER_BY_GO,
		[UNWIND_BY_SIGNAL] = SP_UNWINDER_BY_SIGNAL,
		[UNWIND_BY_FRAME_POINTER] = SP_UNWINDER_BY_FRAME_POINTER,
	};
	return (struct sp_unwinder_frame){.ip = frame->ip, .sp = frame->sp, .exact = frame->exact,
					  .method = methods[frame->method]};
}

struct sp_unwinder_stack sp_unwinder_unwind(struct sp_unwinder_thread *thread,
					    const struct sp_registers *registers,
					    const struct sp_unwinder_memory *memory,
					    struct sp_unwinder_frame *frames, size_t limit)
{
	static const enum sp_unwinder_end ends[UNWIND_END_COUNT] = {
		[UNWIND_COMPLETE] = SP_UNWINDER_COMPLETE,
		[UNWIND_TRUNCATED] = SP_UNWINDER_TRUNCATED,
		[UNWIND_NO_INFO] = SP_UNWINDER_NO_INFO,
		[UNWIND_BAD_MEMORY] = SP_UNWINDER_BAD_MEMORY,
		[UNWIND_DEPTH_LIMIT] = SP_UNWINDER_DEPTH_LIMIT,
	};
	const struct memory_source source = {read_memory, thread};
	struct unwind_sample sample = {
		.view = atomic_load(&thread->unwinder->view),
		.registers = *registers,
		.stack = begin(thread, registers, memory),
		.source = &source,
	};
	/* Without memory for `limit` frames, reduce the limit. */
	if (!vec_reserve(&thread->frames, limit) && limit > thread->frames.capacity)
		limit = thread->frames.capacity;
	thread->last = unwind_stack(thread->thread, &sample, thread->frames.items, limit);
	thread->limit = limit;
	size_t count = thread->last.count;
	for (size_t i = 0; i < count; i++)
		frames[i] = frame_of(&thread->frames.items[i]);
	thread->last_ip = count ? frames[count - 1].ip - !frames[count - 1].exact : 0;
	return (struct sp_unwinder_stack){.count = count, .end = ends[thread->last.end],
					  .missing = thread->last.missing};
}

static char *format_no_info(const struct sp_unwinder_thread *thread)
{
	const struct module *blind = thread->last.blind;
	const char *problem = blind ? unwinder_problem(thread->unwinder->unwinder, blind) : NULL;
	if (!thread->last.count)
		return format_text("the registers lack the instruction pointer");
	if (!blind)
		return format_text("no module has the code at 0x%" PRIx64, thread->last_ip);
	return format_text("no unwind information for the code at 0x%" PRIx64 " in %s%s%s", thread->last_ip,
			   blind->path, problem ? ": " : "", problem ?: "");
}

static char *format_reason(const struct sp_unwinder_thread *thread)
{
	const struct unwind_result *last = &thread->last;
	switch (last->end) {
	case UNWIND_COMPLETE:
		return format_text(last->system_stack ? "start of the system stack of a Go thread"
						      : "start of the thread");
	case UNWIND_TRUNCATED:
		return format_text("memory at 0x%" PRIx64 " cannot be read", last->missing);
	case UNWIND_BAD_MEMORY:
		return format_text("impossible return address or stack pointer in the frame of 0x%" PRIx64,
				   thread->last_ip);
	case UNWIND_DEPTH_LIMIT:
		return format_text("more than %zu frames", thread->limit);
	default:
		return format_no_info(thread);
	}
}

const char *sp_unwinder_reason(struct sp_unwinder_thread *thread)
{
	free(thread->reason);
	thread->reason = format_reason(thread);
	return thread->reason ?: "out of memory";
}

struct sp_error *sp_unwinder_thread_new(struct sp_unwinder *unwinder, struct sp_unwinder_thread **ret)
{
	CLEANUP(cleanup_sp_unwinder_thread_free) struct sp_unwinder_thread *thread =
		calloc(1, sizeof(*thread));
	NEED(thread);
	thread->unwinder = unwinder;
	thread->thread = unwind_thread_new(unwinder->unwinder);
	NEED(thread->thread);
	*ret = take_ptr(thread);
	return NULL;
}

void sp_unwinder_thread_free(struct sp_unwinder_thread *thread)
{
	if (!thread)
		return;
	unwind_thread_free(thread->thread);
	vec_deinit(&thread->frames);
	free(thread->reason);
	free(thread);
}
