/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/unwind.h"

#include <pthread.h>
#include <string.h>
#include "base/vec.h"
#include "unwind/engine.h"

/* The first engine that supports a recording is its default. */
static const struct unwind_engine *const engines[] = {
	&engine_cfi,
	&engine_libunwind,
};
#define ENGINE_COUNT (count_of(engines))

/* Bytes of a stack to prefetch: the inner frames, where most are. */
#define PREFETCH_SIZE 1024
#define LINE 64

struct unwinder {
	struct unwind_shared shared;
	const struct unwind_engine *engine;
	char *arch;
	pthread_mutex_t lock;
	VEC(struct unwind_thread *) threads;
};

struct unwind_thread {
	struct unwinder *unwinder;
	void *state; /* the engine's state */
	const struct unwind_arch *arch; /* description of `abi` */
	uint64_t abi;
};

DEFINE_CLEANUP(struct unwinder *, unwinder_free)
DEFINE_CLEANUP(struct unwind_thread *, unwind_thread_free)

static struct sp_error *choose_engine(const struct unwind_options *options,
				      const struct unwind_engine **ret)
{
	const char *why = NULL;
	for (size_t i = 0; i < ENGINE_COUNT; i++) {
		if (options->engine && strcmp(options->engine, engines[i]->name))
			continue;
		const char *refused = engines[i]->refuse(options->arch);
		if (!refused) {
			*ret = engines[i];
			return NULL;
		}
		why = why ?: refused;
	}
	if (!why)
		return error_new(SP_ERROR_UNSUPPORTED, "unknown unwinder '%s'",
				 options->engine);
	return error_new(SP_ERROR_UNSUPPORTED, "cannot unwind stacks of %s%s%s: %s",
			 options->arch, options->engine ? " with " : "", options->engine ?: "", why);
}

struct sp_error *unwinder_new(struct sp_ctx *ctx, const struct unwind_options *options,
			      struct unwinder **ret)
{
	const struct unwind_engine *engine = NULL;
	TRY(choose_engine(options, &engine));
	CLEANUP(cleanup_unwinder_free) struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	NEED(unwinder);
	pthread_mutex_init(&unwinder->lock, NULL);
	unwinder->engine = engine;
	unwinder->arch = strdup(options->arch);
	unwinder->shared = (struct unwind_shared){
		.ctx = ctx,
		.arch = unwinder->arch,
		.locator = options->locator,
		.files = options->files,
		.code_cache = code_cache_new(ctx, options->arch, &options->files),
	};
	NEED(unwinder->arch && unwinder->shared.code_cache);
	*ret = take_ptr(unwinder);
	return NULL;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	vec_deinit(&unwinder->threads);
	code_cache_free(unwinder->shared.code_cache);
	pthread_mutex_destroy(&unwinder->lock);
	free(unwinder->arch);
	free(unwinder);
}

static bool enlist(struct unwind_thread *thread)
{
	struct unwinder *unwinder = thread->unwinder;
	pthread_mutex_lock(&unwinder->lock);
	struct unwind_thread **slot = vec_push(&unwinder->threads);
	if (slot)
		*slot = thread;
	pthread_mutex_unlock(&unwinder->lock);
	return slot;
}

struct unwind_thread *unwind_thread_new(struct unwinder *unwinder)
{
	CLEANUP(cleanup_unwind_thread_free) struct unwind_thread *thread =
		calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->unwinder = unwinder;
	thread->state = unwinder->engine->thread_new(&unwinder->shared);
	if (!thread->state || !enlist(thread))
		return NULL;
	return take_ptr(thread);
}

void unwind_thread_free(struct unwind_thread *thread)
{
	if (!thread)
		return;
	struct unwinder *unwinder = thread->unwinder;
	pthread_mutex_lock(&unwinder->lock);
	for (size_t i = 0; i < unwinder->threads.count; i++) {
		if (unwinder->threads.items[i] != thread)
			continue;
		unwinder->threads.items[i] = *vec_last(&unwinder->threads);
		unwinder->threads.count--;
		break;
	}
	pthread_mutex_unlock(&unwinder->lock);
	if (thread->state)
		thread->unwinder->engine->thread_free(thread->state);
	free(thread);
}

bool unwinder_keeps_much(const struct unwinder *unwinder)
{
	return code_cache_is_large(unwinder->shared.code_cache);
}

bool unwinder_is_full(const struct unwinder *unwinder)
{
	return code_cache_is_full(unwinder->shared.code_cache);
}

size_t unwinder_drop_files(struct unwinder *unwinder, bool all)
{
	pthread_mutex_lock(&unwinder->lock);
	vec_each (thread, &unwinder->threads)
		unwinder->engine->drop_code((*thread)->state);
	size_t count = code_cache_drop(unwinder->shared.code_cache, all);
	pthread_mutex_unlock(&unwinder->lock);
	return count;
}

const char *unwinder_problem(struct unwinder *unwinder, const struct module *module)
{
	return code_cache_problem(unwinder->shared.code_cache, module);
}

uint16_t unwind_misc(const struct unwind_result *result)
{
	static const enum sp_misc_end ends[UNWIND_END_COUNT] = {
		[UNWIND_COMPLETE] = SP_MISC_END_COMPLETE,
		[UNWIND_TRUNCATED] = SP_MISC_END_TRUNCATED,
		[UNWIND_NO_INFO] = SP_MISC_END_NO_UNWIND_INFO,
		[UNWIND_BAD_MEMORY] = SP_MISC_END_BAD_MEMORY,
		[UNWIND_DEPTH_LIMIT] = SP_MISC_END_DEPTH_LIMIT,
	};
	enum sp_misc_end end = result->switched ? SP_MISC_END_SWITCHED : ends[result->end];
	return end << SP_MISC_END_SHIFT | (result->frame_pointers ? SP_MISC_GUESSED : 0) |
	       (result->system_stack ? SP_MISC_SYSTEM_STACK : 0);
}

/* Sets registers by column, from perf's list. Returns false if sp or ip is missing. */
static bool take_registers(const struct sp_registers *from, struct unwind_start *ret)
{
	const struct unwind_arch *arch = ret->arch;
	uint64_t mask = from->mask;
	bool has_ip = false;
	for (size_t i = 0; mask && i < from->count; i++, mask &= mask - 1) {
		unsigned int number = __builtin_ctzll(mask);
		if (number >= ARCH_PERF_COUNT)
			break;
		if (number == arch->perf_ip) {
			has_ip = true;
			ret->ip = from->values[i] & arch->ip_mask;
		}
		uint8_t column = arch->column_of[number];
		if (column == ARCH_NONE)
			continue;
		ret->registers.values[column] = from->values[i];
		ret->registers.known |= (uint64_t)1 << column;
	}
	ret->sp = ret->registers.values[arch->sp];
	return has_ip;
}

/*
 * Returns whether execve(2) has replaced the process's memory, but not yet its registers: the old
 * code and stack are not mapped. The new program has no frames yet.
 */
static bool is_replaced(const struct unwind_thread *thread, const struct unwind_sample *sample,
			uint64_t ip)
{
	const struct unwind_locator *locator = &thread->unwinder->shared.locator;
	return sample->in_kernel && sample->stack.size == 0 &&
	       !locator->locate(locator->arg, sample->view, ip).module;
}

struct unwind_result unwind_stack(struct unwind_thread *thread, const struct unwind_sample *sample,
				  struct unwind_frame *frames, size_t limit)
{
	struct unwind_result nothing = {.end = UNWIND_NO_INFO};
	struct unwind_start start = {0};
	if (thread->abi != sample->registers.abi) {
		thread->abi = sample->registers.abi;
		thread->arch = arch_find(thread->unwinder->shared.arch, sample->registers.abi);
	}
	start.arch = thread->arch;
	if (!start.arch || limit == 0 || !take_registers(&sample->registers, &start))
		return nothing;
	if (is_replaced(thread, sample, start.ip))
		return (struct unwind_result){.end = UNWIND_COMPLETE};
	if (sample->ip_and_sp_only)
		start.registers.known &= (uint64_t)1 << start.arch->sp;
	start.ip_and_sp_only = sample->ip_and_sp_only;
	if (!register_known(&start.registers, start.arch->sp)) {
		frames[0] = (struct unwind_frame){.ip = start.ip, .exact = true};
		nothing.count = 1;
		return nothing;
	}
	start.view = sample->view;
	start.callers = sample->callers;
	start.caller_count = sample->caller_count;
	start.stack = (struct stack_copy){
		.bytes = sample->stack.bytes,
		.low = start.sp,
		.size = sample->stack.size,
		.source = sample->source,
	};
	return thread->unwinder->engine->walk(thread->state, &start, frames, limit);
}

void unwind_prefetch(const struct unwind_sample *sample)
{
	__builtin_prefetch(sample->registers.values);
	__builtin_prefetch(sample->registers.values + 8);
	__builtin_prefetch(sample->registers.values + 16);
	size_t size = sample->stack.size < PREFETCH_SIZE ? sample->stack.size : PREFETCH_SIZE;
	for (size_t at = 0; at < size; at += LINE)
		__builtin_prefetch(sample->stack.bytes + at);
}
