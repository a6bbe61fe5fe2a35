/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/go_callers.h"

#include <endian.h>
#include <string.h>
#include "base/hash.h"
#include "go/frame_sizes.h"

/* Limit of a function's size, and of the distance of a closure from the function that makes it. */
#define FUNCTION_BYTES ((uint64_t)64 << 10)
#define CLOSURE_BYTES ((uint64_t)256 << 10)

/* A closure's address is loaded shortly before the call that it is passed to. */
#define LOAD_BYTES 64

/* lea disp32(%rip), %reg */
#define LEA_BYTES 7
#define CALL_BYTES 5

/* Limit of the words searched in a frame of runtime.newstack: 54 in Go 1.19, 38 in Go 1.24. */
#define MOREBUF_WORDS_MAX 128

/* Limit of the outermost frames of a g0, above the place to which the runtime changes. */
#define G0_FIRST_BYTES 512

/* Calls of a function in a range of code. */
struct calls_found {
	uint64_t callee, inner; /* starts of the function and of the closure that is its argument */
	uint64_t ip, with_inner; /* return addresses: the last one, the last with the closure */
	size_t count, count_with_inner;
};

static uint64_t relative(const uint8_t *bytes, uint64_t end)
{
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	return end + (uint64_t)(int64_t)(int32_t)le32toh(word);
}

/* Returns whether code loads the closure's address within the `size` bytes before `vaddr`. */
static bool loads(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t closure)
{
	for (size_t at = 0; at + LEA_BYTES <= size; at++)
		if ((bytes[at] & 0xfb) == 0x48 && bytes[at + 1] == 0x8d &&
		    (bytes[at + 2] & 0xc7) == 5 &&
		    relative(bytes + at + 3, vaddr - size + at + LEA_BYTES) == closure)
			return true;
	return false;
}

/* Searches calls in bytes[from..size); `vaddr` is the address of the first byte. */
static void search(struct calls_found *found, const uint8_t *bytes, size_t from, size_t size,
		   uint64_t vaddr)
{
	for (size_t at = from; at + CALL_BYTES <= size; at++) {
		uint64_t ip = vaddr + at + CALL_BYTES;
		if (bytes[at] != 0xe8 || relative(bytes + at + 1, ip) != found->callee)
			continue;
		size_t before = at < LOAD_BYTES ? at : LOAD_BYTES;
		found->ip = ip;
		found->count++;
		if (!loads(bytes + at - before, before, vaddr + at, found->inner))
			continue;
		found->with_inner = ip;
		found->count_with_inner++;
	}
}

static void search_range(struct calls_found *found, const struct code *code, uint64_t start,
			 uint64_t end)
{
	uint8_t bytes[16384];
	for (uint64_t at = start; at + CALL_BYTES <= end;) {
		uint64_t before = at - start < LOAD_BYTES ? at - start : LOAD_BYTES;
		uint64_t size = end - at + before;
		if (size > sizeof(bytes))
			size = sizeof(bytes);
		if (!code_read(code, at - before, size, bytes))
			return;
		search(found, bytes, before, size, at - before);
		at += size - before - (CALL_BYTES - 1);
	}
}

/* Returns the return address in the function at `start`, which calls the callee; 0: it does not. */
static uint64_t call_in(struct calls_found *found, const struct code *code, uint64_t start)
{
	const struct frame_sizes_function *function = frame_sizes_find(code_go_frames(code), start);
	if (!function || function->start != start || function[1].start - start > FUNCTION_BYTES)
		return 0;
	search_range(found, code, start, function[1].start);
	if (found->count_with_inner == 1)
		return found->with_inner;
	/* If there are several calls, the function is known, but not the line. */
	return found->count == 1 ? found->ip : found->count ? start + 1 : 0;
}

/* Returns the return address of the only call with the closure in the code near it, or 0. */
static uint64_t call_near(struct calls_found *found, const struct code *code)
{
	const struct frame_sizes *sizes = code_go_frames(code);
	uint64_t low = sizes->functions.items[0].start;
	uint64_t high = sizes->functions.items[sizes->functions.count - 1].start;
	uint64_t inner = found->inner;
	if (inner < low || inner >= high)
		return 0;
	low = inner - low > CLOSURE_BYTES ? inner - CLOSURE_BYTES : low;
	high = high - inner > CLOSURE_BYTES ? inner + CLOSURE_BYTES : high;
	search_range(found, code, low, high);
	return found->count_with_inner == 1 ? found->with_inner : 0;
}

/*
 * Finds the missing function's return address: the callee's caller, which was called before the
 * return address `outer`.
 */
static const struct go_call *missing_call(const struct go_callers *callers, uint64_t callee,
					  uint64_t inner, uint64_t outer)
{
	const struct code *code = callers->code;
	uint64_t hash = hash_pair(hash_pair(callee, inner), outer);
	struct go_call *call = &callers->calls[hash % GO_CALLS];
	if (call->code == code && call->callee == callee && call->inner == inner &&
	    call->outer == outer)
		return call;
	const struct code_place place = {callers->arch, code, outer - 1, outer};
	struct calls_found found = {.callee = callee, .inner = inner};
	uint64_t target;
	*call = (struct go_call){code, callee, inner, outer, 0, guess_call_target(&place, &target)};
	if (!call->direct)
		call->ip = call_near(&found, code);
	else if (target == callee)
		call->ip = outer;
	else
		call->ip = call_in(&found, code, target);
	const struct frame_sizes_function *function =
		frame_sizes_find(code_go_frames(code), callee);
	if (call->direct && !call->ip && function->flags & function[1].flags & GO_GROWS) {
		/* Functions that are no closures call the next one, which jumps to the callee. */
		found.callee = function[1].start;
		call->ip = call_in(&found, code, target);
	}
	return call;
}

/* Callers that are being added. */
struct go_caller_list {
	const struct go_callers *callers;
	const struct frame_sizes *sizes;
	struct unwind_frame *frames;
	size_t count, limit, next; /* `next`: index in the chain */
	bool guessed;              /* a caller may be missing */
};

static const struct frame_sizes_function *function_of(const struct go_caller_list *adding,
						      const struct unwind_frame *frame)
{
	return frame_sizes_find(adding->sizes, frame->ip - !frame->exact - adding->callers->bias);
}

static bool add_frame(struct go_caller_list *adding, uint64_t ip, bool exact)
{
	if (adding->count == adding->limit)
		return false;
	/* The stack pointer is unknown: it remains that of the thread's own stack. */
	adding->frames[adding->count] = (struct unwind_frame){
		.ip = ip, .sp = adding->frames[adding->count - 1].sp, .exact = exact,
		.method = UNWIND_BY_FRAME_POINTER};
	adding->count++;
	return true;
}

/*
 * Adds the caller of the last frame, which changes stacks, if the chain lacks it. Returns false if
 * the chain contradicts the code.
 */
static bool add_missing(struct go_caller_list *adding, const struct frame_sizes_function *last)
{
	const struct go_callers *callers = adding->callers;
	const struct unwind_frame *frame = &adding->frames[adding->count - 1];
	const struct frame_sizes_function *inner =
		adding->count > 1 ? function_of(adding, frame - 1) : NULL;
	uint64_t vaddr = frame->ip - !frame->exact - callers->bias;
	uint64_t outer = callers->chain[adding->next] - callers->bias;
	int32_t moved;
	const struct go_call *call =
		missing_call(callers, last->start, inner ? inner->start : 0, outer);
	/* A function with a frame has saved the frame pointer: no caller is missing. */
	bool saved = frame_sizes_at(adding->sizes, last, vaddr, &moved) &&
		     moved >= callers->arch->word;
	if (call->direct)
		return call->ip && (call->ip == outer ||
				    add_frame(adding, call->ip + callers->bias, false));
	if (saved)
		return true;
	adding->guessed |= !call->ip;
	return !call->ip || add_frame(adding, call->ip + callers->bias, false);
}

/*
 * Adds frames up to the next function that ends a stack, and gets it. Returns false if there is
 * none, or if an address is not of the program's code.
 */
static bool add_until_end(struct go_caller_list *adding,
			  const struct frame_sizes_function **last_ret)
{
	const struct go_callers *callers = adding->callers;
	bool exact = false;
	while (adding->next < callers->chain_count) {
		if (!add_frame(adding, callers->chain[adding->next++], exact))
			return false;
		const struct frame_sizes_function *function =
			function_of(adding, &adding->frames[adding->count - 1]);
		if (!function)
			return false;
		*last_ret = function;
		if (function->flags & (GO_TOP_FRAME | GO_SP_WRITE))
			return true;
		/* Its return address is where a signal interrupted the code. */
		exact = function->flags & GO_INJECTED;
	}
	return false;
}

/*
 * Returns whether the words of a frame of runtime.newstack from words[i] on are its copy of
 * m.morebuf: a stack pointer, a return address, the goroutine, and 3 or 4 zeros. The frame has the
 * goroutine once more. Remains of other functions' frames are there, too.
 */
static bool is_morebuf(const struct go_caller_list *adding, const uint64_t *words, size_t count,
		       size_t i)
{
	const uint64_t sp = words[i], g = words[i + 2], low = adding->callers->stack->low;
	const uint64_t high = adding->frames[adding->count - 1].sp + G0_FIRST_BYTES;
	const struct unwind_frame caller = {.ip = words[i + 1]};
	size_t same = 0;
	for (size_t j = 0; j < count; j++)
		same += words[j] == g;
	return same >= 2 && g && !((g | sp) % sizeof(*words)) && (sp < low || sp >= high) &&
	       !(words[i + 3] | words[i + 4] | words[i + 5]) && function_of(adding, &caller);
}

/* Finds the copy of m.morebuf in the frame of runtime.newstack. */
static bool find_morebuf(const struct go_caller_list *adding, uint64_t *sp_ret, uint64_t *ip_ret)
{
	const struct unwind_frame *last = &adding->frames[adding->count - 1];
	uint64_t words[MOREBUF_WORDS_MAX];
	size_t count = 0;
	for (uint64_t at = last[-1].sp; at < last->sp && count < MOREBUF_WORDS_MAX; at += 8)
		if (!stack_load(adding->callers->stack, at, &words[count++]))
			return false;
	for (size_t i = 0; i + 5 < count; i++) {
		if (!is_morebuf(adding, words, count, i))
			continue;
		*sp_ret = words[i];
		*ip_ret = words[i + 1];
		return true;
	}
	return false;
}

/*
 * Adds the function that called runtime.morestack, `last`, and its caller, which becomes `last`.
 * *linked_ret: the chain has the caller's callers.
 */
static bool add_grown(struct go_caller_list *adding, const struct frame_sizes_function **last,
		      bool *linked_ret)
{
	const struct go_callers *callers = adding->callers;
	const uint8_t word = callers->arch->word, fp = callers->arch->fp;
	uint64_t sp, ip;
	int32_t moved;
	/* runtime.newstack makes the copy before it calls a function. */
	if (adding->count < 3 || !find_morebuf(adding, &sp, &ip))
		return false;
	const struct go_call *call = missing_call(callers, (*last)->start, 0, ip - callers->bias);
	if (call->direct && !call->ip)
		return false;
	if ((call->direct && !add_frame(adding, call->ip + callers->bias, false)) ||
	    !add_frame(adding, ip, false))
		return false;
	adding->guessed |= !call->direct;
	*last = function_of(adding, &adding->frames[adding->count - 1]);
	*linked_ret = callers->chain_count && register_known(callers->registers, fp) &&
		      frame_sizes_at(adding->sizes, *last, ip - 1 - callers->bias, &moved) &&
		      moved >= word && callers->registers->values[fp] == sp + moved - word;
	return true;
}

static void set_result(struct go_caller_list *adding, const struct frame_sizes_function *last,
		       struct unwind_result *result)
{
	result->count = adding->count;
	result->system_stack = !(last->flags & GO_TOP_FRAME);
	result->frame_pointers += adding->guessed;
	adding->guessed = false;
}

void go_callers_add(const struct go_callers *callers, struct unwind_frame *frames, size_t limit,
		    struct unwind_result *result)
{
	struct go_caller_list adding = {
		.callers = callers, .sizes = code_go_frames(callers->code),
		.frames = frames, .count = result->count, .limit = limit,
	};
	if (callers->arch->machine != EM_X86_64 || !adding.sizes)
		return;
	const struct frame_sizes_function *last = function_of(&adding, &frames[result->count - 1]);
	if (!last)
		return;
	if (last->flags & GO_GROWS) {
		bool linked;
		if (!add_grown(&adding, &last, &linked))
			return;
		set_result(&adding, last, result);
		if (last->flags & GO_TOP_FRAME || !linked || !add_until_end(&adding, &last))
			return;
	}
	while (!(last->flags & GO_TOP_FRAME) && last->flags & GO_WAITED_FOR)
		if (adding.next == callers->chain_count || !add_missing(&adding, last) ||
		    !add_until_end(&adding, &last))
			return;
	set_result(&adding, last, result);
}
