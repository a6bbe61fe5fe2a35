/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bpf(2) lists programs by id; each says where its functions lie, how long they
 * are, and the types (BTF) that name them. The kernel's own name for a function
 * is "bpf_prog_TAG_NAME", as in kallsyms and in its KSYMBOL records.
 */
#include "capture/metadata/synth_internal.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "capture/metadata/bpf.h"
#include "proc/kallsyms.h"

/* More functions than a program may have. */
#define FUNCTION_LIMIT 4096u
#define BTF_LIMIT (UINT32_C(1) << 26)
#define TAG_SIZE 8

DEFINE_CLEANUP(struct kallsyms *, kallsyms_free)

/* A program's functions, as far as they could be had. */
struct bpf_functions {
	struct bpf_prog_info info;
	uint32_t count;
	uint64_t *starts;
	uint32_t *sizes;
	uint8_t (*tags)[TAG_SIZE];
	uint8_t *function_info; /* records of info.func_info_rec_size */
	uint8_t *btf;
	uint32_t btf_size;
};

static void program_deinit(struct bpf_functions *program)
{
	free(program->starts);
	free(program->sizes);
	free(program->tags);
	free(program->function_info);
	free(program->btf);
}

/* The counts that the kernel said are the room that it is given the next time. */
static bool make_room(struct bpf_functions *program)
{
	const struct bpf_prog_info *info = &program->info;
	program->count = info->nr_jited_ksyms;
	program->starts = calloc(program->count + 1, sizeof(*program->starts));
	program->sizes = calloc(program->count + 1, sizeof(*program->sizes));
	program->tags = calloc(program->count + 1, sizeof(*program->tags));
	program->function_info = calloc((size_t)program->count + 1, info->func_info_rec_size + 1);
	return program->starts && program->sizes && program->tags && program->function_info;
}

/* *ret: whether there is something to tell. */
static struct sp_error *read_functions(int fd, struct bpf_functions *program, bool *ret)
{
	*ret = false;
	if (bpf_object_info(fd, &program->info, sizeof(program->info)) < 0)
		return NULL;
	const struct bpf_prog_info counts = program->info;
	if (!counts.nr_jited_ksyms || counts.nr_jited_ksyms > FUNCTION_LIMIT ||
	    counts.func_info_rec_size > 256)
		return NULL;
	NEED(make_room(program));
	struct bpf_prog_info *info = &program->info;
	uint32_t count = program->count;
	*info = (struct bpf_prog_info){
		.nr_jited_ksyms = count,
		.jited_ksyms = (uint64_t)(uintptr_t)program->starts,
		.nr_jited_func_lens = count,
		.jited_func_lens = (uint64_t)(uintptr_t)program->sizes,
		.nr_prog_tags = counts.nr_prog_tags < count ? counts.nr_prog_tags : count,
		.prog_tags = (uint64_t)(uintptr_t)program->tags,
		.nr_func_info = counts.nr_func_info < count ? counts.nr_func_info : count,
		.func_info_rec_size = counts.func_info_rec_size,
		.func_info = (uint64_t)(uintptr_t)program->function_info,
	};
	*ret = bpf_object_info(fd, info, sizeof(*info)) >= 0 && info->nr_jited_ksyms >= count &&
	       info->nr_jited_func_lens >= count;
	return NULL;
}

/* Without it functions have the program's short name. */
static struct sp_error *read_btf(struct bpf_functions *program)
{
	CLEANUP_CLOSE int fd = program->info.btf_id
				       ? bpf_open_types(program->info.btf_id)
				       : -1;
	struct bpf_btf_info info = {0};
	if (fd < 0 || bpf_object_info(fd, &info, sizeof(info)) < 0 || !info.btf_size ||
	    info.btf_size > BTF_LIMIT)
		return NULL;
	uint32_t size = info.btf_size;
	program->btf = malloc(size);
	NEED(program->btf);
	info = (struct bpf_btf_info){.btf = (uint64_t)(uintptr_t)program->btf, .btf_size = size};
	if (bpf_object_info(fd, &info, sizeof(info)) >= 0 && info.btf_size == size)
		program->btf_size = size;
	return NULL;
}

/*
 * The name by types. Without them the first function has the program's short name
 * (which may be ""), and the kernel calls all others "F".
 */
static const char *function_name(const struct bpf_functions *program, uint32_t index)
{
	const struct bpf_prog_info *info = &program->info;
	const char *name = NULL;
	uint32_t type;
	if (index < info->nr_func_info && info->func_info_rec_size >= 2 * sizeof(type)) {
		memcpy(&type, program->function_info + (size_t)index * info->func_info_rec_size + 4,
		       sizeof(type));
		name = btf_type_name(program->btf, program->btf_size, type);
	}
	if (name)
		return name;
	return index ? "F" : info->name;
}

static struct sp_error *put_function(struct synth *synth, const struct bpf_functions *program,
				     uint32_t index)
{
	char tag[2 * TAG_SIZE + 1];
	const uint8_t *bytes =
		index < program->info.nr_prog_tags ? program->tags[index] : program->info.tag;
	bytes_to_hex(bytes, TAG_SIZE, tag);
	const char *name = function_name(program, index);
	CLEANUP_FREE char *whole = format_text("bpf_prog_%s%s%s", tag, *name ? "_" : "", name);
	NEED(whole);
	return synth_put_ksymbol(synth, program->starts[index], program->sizes[index], whole);
}

static struct sp_error *put_program(struct synth *synth, uint32_t id)
{
	CLEANUP(program_deinit) struct bpf_functions program = {0};
	/* It may have been unloaded meanwhile. */
	CLEANUP_CLOSE int fd = bpf_open_program(id);
	bool readable = false;
	struct sp_error *error = fd < 0 ? NULL : read_functions(fd, &program, &readable);
	if (error || !readable)
		return error;
	error = read_btf(&program);
	for (uint32_t i = 0; i < program.count && !error; i++)
		if (program.starts[i])
			error = put_function(synth, &program, i);
	return error;
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
	/* System calls speak of this machine, not of one below another root. */
	struct sp_error *error = *ctx_root(synth->ctx) ? NULL : put_programs(synth, &allowed);
	if (error || allowed || !kallsyms_reference(synth->ctx, &reference))
		return error;
	return put_symbols(synth);
}
