/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding through a hostile ELF file with a hostile stack: the last 1024 bytes are registers
 * and stack, the rest the file, mapped at its own offsets. The same bytes, as .eh_frame of generated
 * code, are mapped after it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "fuzz.h"
#include "unwind/unwind.h"

#define DUMP_SIZE 1024
#define REGISTERS 24
#define FRAMES 256
#define STARTS 16

struct input {
	const uint8_t *bytes;
	size_t size;
	struct module module, generated;
};

static struct sp_error *open_file(void *arg, const struct module *module, uint32_t pid,
				  struct image **ret)
{
	const struct input *input = arg;
	(void)module, (void)pid;
	void *copy = malloc(input->size + 1);
	memcpy(copy, input->bytes, input->size);
	return image_open_memory(copy, input->size, "fuzz", ret);
}

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	const struct input *input = arg;
	(void)view;
	return (struct location){
		.module = ip < input->size	 ? &input->module
			  : ip < 2 * input->size ? &input->generated
						 : NULL,
		.offset = ip,
		.ip = ip,
	};
}

static bool find_generated(void *arg, const struct module *module, uint32_t pid, uint64_t offset,
			   struct unwind_generated *ret)
{
	const struct input *input = arg;
	(void)pid;
	assert(module == &input->generated);
	*ret = (struct unwind_generated){
		.eh_frame = {input->bytes, input->size},
		.vaddr = offset - input->size,
	};
	return true;
}

static void walk(struct unwind_thread *thread, const struct input *input, const uint8_t *dump,
		 uint64_t ip)
{
	uint64_t values[REGISTERS];
	struct unwind_frame frames[FRAMES];
	memcpy(values, dump, sizeof(values));
	values[8] = ip;
	/* The frame pointer and what may hold a CFA point into the copy, for the most part. */
	for (size_t i = 0; i < REGISTERS; i++)
		if (i != 8 && i != 7)
			values[i] = values[7] + values[i] % (2 * DUMP_SIZE);
	struct unwind_sample sample = {
		.registers = {
			.abi = PERF_SAMPLE_REGS_ABI_64,
			.mask = (1u << REGISTERS) - 1,
			.values = values,
			.count = REGISTERS,
		},
		.stack = {dump, DUMP_SIZE},
		.ip_and_sp_only = dump[0] & 1,
	};
	struct unwind_result result = unwind_stack(thread, &sample, frames, FRAMES);
	assert(result.count >= 1 && result.count <= FRAMES);
	assert(frames[0].ip == ip && frames[0].exact);
	(void)input;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size <= DUMP_SIZE)
		return 0;
	struct input input = {
		.bytes = bytes,
		.size = size - DUMP_SIZE,
		.module = {.kind = MODULE_FILE, .path = "fuzz", .name = "fuzz"},
		.generated = {.kind = MODULE_JIT, .path = "fuzz", .name = "fuzz", .index = 1},
	};
	struct sp_ctx *ctx;
	struct unwinder *unwinder;
	if (sp_ctx_new(&ctx))
		return 0;
	struct unwind_options options = {
		.arch = "x86_64",
		.locator = {.locate = locate, .arg = &input},
		.files = {.open = open_file, .arg = &input, .generated = find_generated,
			  .generated_arg = &input},
	};
	struct sp_error *error = unwinder_new(ctx, &options, &unwinder);
	assert(!error);
	struct unwind_thread *thread = unwind_thread_new(unwinder);
	for (size_t i = 0; i < STARTS; i++)
		walk(thread, &input, bytes + input.size, 2 * i * input.size / STARTS);
	unwind_thread_free(thread);
	unwinder_free(unwinder);
	sp_ctx_free(ctx);
	return 0;
}
