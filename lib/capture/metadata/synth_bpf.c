/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bpf(2) lists programs by id. Each has the addresses and sizes of its functions, and the types
 * (BTF) that name them. The kernel's own name for a function is "bpf_prog_TAG_NAME", as in kallsyms
 * and in its KSYMBOL records.
 */
#include "capture/metadata/synth_internal.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "capture/metadata/bpf.h"
#include "proc/kallsyms.h"

#define TAG_SIZE 8

/* Returns an item of a program's array at `offset`; NULL: there are fewer than `count` items. */
static const uint8_t *item_at(const struct bpf_program *program, uint64_t offset, uint32_t index,
			      uint32_t count, uint32_t size)
{
	return index < count ? program->data + offset + (size_t)index * size : NULL;
}

/*
 * Returns the function's name by its type. Without types, the first function has the program's
 * short name (which may be ""), and the kernel calls all others "F".
 */
static const char *function_name(const struct bpf_program *program, uint32_t index,
				 const uint8_t *types, uint32_t types_size)
{
	const struct bpf_prog_info *info = &program->info;
	const uint8_t *function = NULL;
	const char *name = NULL;
	uint32_t type;
	if (program->have & BPF_FUNC_INFO && info->func_info_rec_size >= 2 * sizeof(type))
		function = item_at(program, info->func_info, index, info->nr_func_info,
				   info->func_info_rec_size);
	if (function && types) {
		memcpy(&type, function + 4, sizeof(type));
		name = btf_type_name(types, types_size, type);
	}
	if (name)
		return name;
	return index ? "F" : info->name;
}

static struct sp_error *put_program(struct synth *synth, uint32_t id)
{
	const uint64_t wanted = BPF_KSYMS | BPF_FUNC_LENS | BPF_FUNC_INFO | BPF_PROG_TAGS;
	CLEANUP(bpf_program_deinit) struct bpf_program program;
	uint32_t types_size = 0;
	/* The program may have been unloaded. */
	if (!bpf_read_program(id, wanted, &program) || ~program.have & (BPF_KSYMS | BPF_FUNC_LENS))
		return NULL;
	const struct bpf_prog_info *info = &program.info;
	/* Without types, functions have the program's short name. */
	CLEANUP_FREE uint8_t *types =
		info->btf_id ? bpf_read_types(info->btf_id, &types_size) : NULL;
	for (uint32_t i = 0; i < info->nr_jited_ksyms && i < info->nr_jited_func_lens; i++) {
		uint64_t start;
		uint32_t size;
		char hex[2 * TAG_SIZE + 1];
		const uint8_t *tag = NULL;
		memcpy(&start, program.data + info->jited_ksyms + 8 * i, sizeof(start));
		memcpy(&size, program.data + info->jited_func_lens + 4 * i, sizeof(size));
		if (!start)
			continue;
		if (program.have & BPF_PROG_TAGS)
			tag = item_at(&program, info->prog_tags, i, info->nr_prog_tags, TAG_SIZE);
		bytes_to_hex(tag ?: info->tag, TAG_SIZE, hex);
		const char *name = function_name(&program, i, types, types_size);
		CLEANUP_FREE char *whole =
			format_text("bpf_prog_%s%s%s", hex, *name ? "_" : "", name);
		NEED(whole);
		TRY(synth_put_ksymbol(synth, start, size, whole));
	}
	return NULL;
}

/* *allowed_ret: whether bpf(2) listed all programs. */
static struct sp_error *put_programs(struct synth *synth, bool *allowed_ret)
{
	uint32_t id = 0;
	for (;;) {
		int status = bpf_next_program(&id);
		*allowed_ret = status >= 0 || status == -ENOENT || status == -ENOSYS;
		if (status < 0)
			return NULL;
		TRY(put_program(synth, id));
	}
}

static struct sp_error *put_symbols(struct synth *synth)
{
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *kallsyms = NULL;
	struct sp_error *error = kallsyms_read(synth->ctx, NULL, &kallsyms);
	size_t count = error || kallsyms_hidden(kallsyms) ? 0 : kallsyms_count(kallsyms);
	for (size_t i = 0; i < count && !error; i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i);
		if (symbol.module && strcmp(symbol.module, "bpf") == 0)
			error = synth_put_ksymbol(synth, symbol.address,
						  symbol.end - symbol.address, symbol.name);
	}
	return error;
}

struct sp_error *synth_bpf(struct synth *synth)
{
	struct kernel_reference reference;
	bool allowed = false;
	/* System calls describe this machine, not the one below another root. */
	struct sp_error *error = *ctx_root(synth->ctx) ? NULL : put_programs(synth, &allowed);
	if (error || allowed || !kallsyms_reference(synth->ctx, &reference))
		return error;
	return put_symbols(synth);
}
