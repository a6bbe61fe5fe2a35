/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's record is an MMAP of process -1. Its file_offset is the address of the symbol at the
 * end of its name. A reader compares that to _text in its kernel image, and gets the offset of
 * KASLR.
 *
 * The end of the code is on the third last line of kallsyms, too far away. /proc/iomem has it for
 * root; else it follows from the layout of the address space.
 */
#include "capture/metadata/synth_internal.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "proc/kallsyms.h"
#include "proc/loaded_modules.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"
#include "record/types.h"

#define KERNEL_PID UINT32_MAX

/* Addresses of the kernel alone, up to the modules, on 64-bit x86 and RISC-V. */
#define IMAGE_START UINT64_C(0xffffffff80000000)
#define IMAGE_END_FIXED UINT64_C(0xffffffffa0000000)
#define IMAGE_END_MOVED UINT64_C(0xffffffffc0000000)
#define START_FIXED UINT64_C(0xffffffff81000000)

/* Returns the size of "START-END : Kernel code" in /proc/iomem; 0 if it is hidden. */
static uint64_t code_size(const struct sp_ctx *ctx)
{
	static const char what[] = "Kernel code";
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (sysfs_read(ctx, "/proc/iomem", &text, &size))
		return 0;
	struct cursor cursor = cursor_make(text, size, false, NULL, 0), line;
	while (text_line(&cursor, &line)) {
		uint64_t start, end;
		text_blanks(&line);
		if (!text_hex(&line, &start) || !text_char(&line, '-') || !text_hex(&line, &end))
			continue;
		text_blanks(&line);
		text_char(&line, ':');
		text_blanks(&line);
		if (cursor_left(&line) == sizeof(what) - 1 &&
		    memcmp(line.pos, what, sizeof(what) - 1) == 0 && end > start)
			return end - start + 1;
	}
	return 0;
}

/* Finds the end of the code in kallsyms, which is slow. */
static struct sp_error *end_by_symbols(const struct sp_ctx *ctx,
				       const struct kernel_reference *reference, uint64_t *ret)
{
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *kallsyms = NULL;
	struct kallsyms_symbol symbol;
	TRY(kallsyms_read(ctx, NULL, &kallsyms));
	*ret = reference->address + 1;
	if (kallsyms_find_name(kallsyms, "_etext", &symbol) && symbol.address > *ret) {
		*ret = symbol.address;
		return NULL;
	}
	/* In a kernel without that symbol, the last symbol is the end. */
	for (size_t i = kallsyms_count(kallsyms); i > 0; i--) {
		symbol = kallsyms_symbol(kallsyms, i - 1);
		if (!symbol.module && symbol.address > *ret) {
			*ret = symbol.end;
			break;
		}
	}
	return NULL;
}

static struct sp_error *kernel_end(const struct sp_ctx *ctx,
				   const struct kernel_reference *reference, uint64_t *ret)
{
	uint64_t size = code_size(ctx), start = reference->stext ?: reference->address;
	if (size && size <= UINT64_MAX - start) {
		*ret = start + size;
		return NULL;
	}
	if (reference->address < IMAGE_START || reference->address >= IMAGE_END_MOVED)
		return end_by_symbols(ctx, reference, ret);
	*ret = reference->address == START_FIXED ? IMAGE_END_FIXED : IMAGE_END_MOVED;
	return NULL;
}

static struct sp_error *put_map(struct synth *synth, uint64_t start, uint64_t end,
				uint64_t file_offset, const char *name)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap =
			{
				.pid = KERNEL_PID,
				.start = start,
				.size = end - start,
				.file_offset = file_offset,
				.filename = name,
			},
	};
	return synth_put(synth, &record, 0, 0);
}

static struct sp_error *put_build_id(struct synth *synth, const uint8_t *build_id, size_t size,
				     const char *name)
{
	struct sp_record record = {
		.type = SP_RECORD_HEADER_BUILD_ID,
		.misc = PERF_RECORD_MISC_KERNEL | RECORD_MISC_BUILD_ID_SIZE,
		.build_id = {.pid = KERNEL_PID, .build_id_size = size, .filename = name},
	};
	if (!size)
		return NULL;
	memcpy(record.build_id.build_id, build_id, size);
	return synth_put(synth, &record, 0, 0);
}

static struct sp_error *put_kernel(struct synth *synth, const struct kernel_reference *reference,
				   const struct kernel_modules *modules)
{
	char name[64];
	uint64_t end;
	TRY(kernel_end(synth->ctx, reference, &end));
	vec_each (module, modules)
		if (module->start > reference->address && module->start < end)
			end = module->start;
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", reference->name);
	return put_map(synth, reference->address, end, reference->address, name);
}

static struct sp_error *put_modules(struct synth *synth, const struct kernel_modules *modules)
{
	vec_each (module, modules) {
		TRY(put_build_id(synth, module->build_id, module->build_id_size, module->path));
		if (module->start && module->size)
			TRY(put_map(synth, module->start, module->start + module->size, 0,
				    module->path));
	}
	return NULL;
}

struct sp_error *synth_kernel(struct synth *synth, bool *hidden_ret)
{
	CLEANUP(kernel_modules_deinit) struct kernel_modules modules = {0};
	struct kernel_reference reference;
	uint8_t build_id[20];
	size_t build_id_size = 0;
	struct sp_error *error = sysfs_kernel_build_id(synth->ctx, build_id, &build_id_size);
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	sp_error_free(error);
	error = put_build_id(synth, build_id, build_id_size, "[kernel.kallsyms]");
	if (!error)
		error = kernel_modules_read(synth->ctx, NULL, &modules);
	if (error)
		return error;
	*hidden_ret = !kallsyms_reference(synth->ctx, &reference);
	if (!*hidden_ret)
		error = put_kernel(synth, &reference, &modules);
	return error ? error : put_modules(synth, &modules);
}
