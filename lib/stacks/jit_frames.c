/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dump is read when a stack passes its code for the first time, and the bytes of a function's .eh_frame
 * when a row of it is made. So memory grows with the sampled code, not with the dump.
 */
#include "stacks/jit_frames.h"

#include "base/cleanup.h"
#include "base/error.h"

/* Alignment of .eh_frame after the code, in the ELF file that the addresses are made for. */
#define FRAMES_ALIGNMENT 8

/* Address of the code. An address of .eh_frame must not be negative. */
#define CODE_VADDR 0x1000

void jit_frames_init(struct jit_frames *frames, const struct jitdump_request *request)
{
	*frames = (struct jit_frames){.request = *request};
	pthread_mutex_init(&frames->lock, NULL);
}

void jit_frames_deinit(struct jit_frames *frames)
{
	if (!frames->request.ctx)
		return;
	vec_deinit(&frames->dumps);
	vec_deinit(&frames->bytes);
	u64map_deinit(&frames->asked);
	u64map_deinit(&frames->read);
	arena_deinit(&frames->arena);
	pthread_mutex_destroy(&frames->lock);
}

/* Returns the module's dump; NULL if there is none. The reason was noted when the sideband read it. */
static const struct jitdump *dump_of(struct jit_frames *frames, const struct module *module, uint32_t pid)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	bool added;
	const struct jitdump *dump = NULL;
	if (!u64map_put(&frames->asked, module->index, 0, &added))
		return NULL;
	if (!added)
		return module->index < frames->dumps.count ? frames->dumps.items[module->index] : NULL;
	struct jitdump_request request = frames->request;
	request.module = module;
	request.pid = pid;
	while (frames->dumps.count <= module->index) {
		const struct jitdump **slot = vec_push(&frames->dumps);
		if (!slot)
			return NULL;
		*slot = NULL;
	}
	sp_error_free(jitdump_open(&request, &why, &dump));
	return frames->dumps.items[module->index] = dump;
}

/* Returns the code's .eh_frame; NULL if it cannot be read. */
static const struct sp_bytes *bytes_of(struct jit_frames *frames, const struct module *module,
				       const struct jitdump *dump, const struct jitdump_code *code)
{
	bool added;
	if (!vec_reserve(&frames->bytes, frames->bytes.count + 1))
		return NULL;
	uint32_t *index = u64map_put(&frames->read, hash_pair(module->index, code->file_offset),
				     frames->bytes.count, &added);
	if (!index)
		return NULL;
	if (added) {
		uint8_t *bytes = arena_alloc(&frames->arena, code->frames_size);
		bool done = bytes && jitdump_read_frames(dump, code, bytes);
		*vec_push(&frames->bytes) = (struct sp_bytes){bytes, done ? code->frames_size : 0};
	}
	return &frames->bytes.items[*index];
}

static bool find(struct jit_frames *frames, const struct module *module, uint32_t pid, uint64_t offset,
		 struct unwind_generated *ret)
{
	const struct jitdump *dump = dump_of(frames, module, pid);
	const struct jitdump_code *code = dump ? jitdump_find(dump, offset) : NULL;
	if (!code || !code->frames_size)
		return false;
	const struct sp_bytes *bytes = bytes_of(frames, module, dump, code);
	if (!bytes || !bytes->size)
		return false;
	uint64_t size = (code->size + FRAMES_ALIGNMENT - 1) & ~(uint64_t)(FRAMES_ALIGNMENT - 1);
	*ret = (struct unwind_generated){
		.eh_frame = *bytes,
		.vaddr = CODE_VADDR + (offset - code->file_offset),
		.eh_frame_vaddr = CODE_VADDR + size,
		.machine = dump->machine,
	};
	return true;
}

bool jit_frames_find(void *arg, const struct module *module, uint32_t pid, uint64_t offset,
		     struct unwind_generated *ret)
{
	struct jit_frames *frames = arg;
	pthread_mutex_lock(&frames->lock);
	bool found = find(frames, module, pid, offset, ret);
	pthread_mutex_unlock(&frames->lock);
	return found;
}
