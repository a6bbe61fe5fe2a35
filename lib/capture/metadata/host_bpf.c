/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BPF programs as perf keeps them, by which it annotates their code:
 *
 *	BPF_PROG_INFO  u32 n, {u32 size of info, u32 size of arrays, u64 which arrays,
 *	               struct bpf_prog_info, arrays, each padded to 8 bytes}
 *	BPF_BTF        u32 n, {u32 id, u32 size, types}
 *
 * A pointer of the info is where its array begins among those behind it.
 */
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "capture/metadata/bpf.h"
#include "capture/metadata/host_features.h"
#include "file/file_format.h"

#define PROGRAMS_MAX 4096
#define ARRAYS_MAX (UINT32_C(1) << 24)
#define TYPES_MAX (UINT32_C(1) << 26)

/* perf 6.1's: a longer one it takes for damage. */
#define INFO_SIZE_MAX 232
#define INFO_SIZE \
	(sizeof(struct bpf_prog_info) < INFO_SIZE_MAX ? sizeof(struct bpf_prog_info) : INFO_SIZE_MAX)

/* By the bit that says it is there (enum perf_bpil_array_types): those that perf asks for. */
static const struct array {
	unsigned int bit;
	size_t pointer, count;
	int size; /* an item's size; negative: its offset in the info */
} arrays[] = {
#define FIELD(name) offsetof(struct bpf_prog_info, name)
	{0, FIELD(jited_prog_insns), FIELD(jited_prog_len), 1},
	{3, FIELD(jited_ksyms), FIELD(nr_jited_ksyms), 8},
	{4, FIELD(jited_func_lens), FIELD(nr_jited_func_lens), 4},
	{5, FIELD(func_info), FIELD(nr_func_info), -(int)FIELD(func_info_rec_size)},
	{6, FIELD(line_info), FIELD(nr_line_info), -(int)FIELD(line_info_rec_size)},
	{7, FIELD(jited_line_info), FIELD(nr_jited_line_info), -(int)FIELD(jited_line_info_rec_size)},
	{8, FIELD(prog_tags), FIELD(nr_prog_tags), 8},
#undef FIELD
};

#define ARRAY_COUNT (sizeof(arrays) / sizeof(*arrays))

static uint32_t u32_at(const struct bpf_prog_info *info, size_t at)
{
	uint32_t value;
	memcpy(&value, (const uint8_t *)info + at, sizeof(value));
	return value;
}

static void set_at(struct bpf_prog_info *info, size_t at, const void *value, size_t size)
{
	memcpy((uint8_t *)info + at, value, size);
}

static uint64_t size_of(const struct bpf_prog_info *info, const struct array *array)
{
	uint64_t item = array->size < 0 ? u32_at(info, (size_t)-array->size) : (uint64_t)array->size;
	return item * u32_at(info, array->count);
}

struct host_bpf_program {
	struct bpf_prog_info info;
	uint8_t *data;
	uint32_t data_size;
	uint64_t have; /* bits of arrays */
};

/* Allocates room for each array, by the counts of the first query, and requests them. */
static bool request_arrays(struct host_bpf_program *program, const struct bpf_prog_info *counts)
{
	uint64_t offsets[ARRAY_COUNT], size = 0;
	for (size_t i = 0; i < ARRAY_COUNT; i++) {
		offsets[i] = size;
		size += (size_of(counts, &arrays[i]) + 7) & ~UINT64_C(7);
	}
	if (size > ARRAYS_MAX)
		return false;
	program->data = calloc(1, size + 1);
	program->data_size = (uint32_t)size;
	for (size_t i = 0; program->data && i < ARRAY_COUNT; i++) {
		uint32_t count = u32_at(counts, arrays[i].count);
		uint64_t pointer = (uint64_t)(uintptr_t)(program->data + offsets[i]);
		if (!size_of(counts, &arrays[i]))
			continue;
		set_at(&program->info, arrays[i].pointer, &pointer, sizeof(pointer));
		set_at(&program->info, arrays[i].count, &count, sizeof(count));
		if (arrays[i].size < 0) {
			uint32_t item = u32_at(counts, (size_t)-arrays[i].size);
			set_at(&program->info, (size_t)-arrays[i].size, &item, sizeof(item));
		}
		program->have |= UINT64_C(1) << arrays[i].bit;
	}
	return program->data;
}

/* False where it is gone, may not be asked, or has changed meanwhile. */
static bool read_program(int fd, struct host_bpf_program *program)
{
	struct bpf_prog_info counts = {0};
	if (bpf_object_info(fd, &counts, sizeof(counts)) < 0 || !counts.nr_jited_ksyms ||
	    !request_arrays(program, &counts) ||
	    bpf_object_info(fd, &program->info, sizeof(program->info)) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT; i++) {
		uint64_t pointer;
		if (size_of(&program->info, &arrays[i]) > size_of(&counts, &arrays[i]))
			return false;
		memcpy(&pointer, (uint8_t *)&program->info + arrays[i].pointer, sizeof(pointer));
		pointer -= program->have >> arrays[i].bit & 1 ? (uintptr_t)program->data : pointer;
		set_at(&program->info, arrays[i].pointer, &pointer, sizeof(pointer));
	}
	return true;
}

static void put_program(struct put *put, const struct host_bpf_program *program)
{
	put_u32(put, (uint32_t)INFO_SIZE);
	put_u32(put, program->data_size);
	put_u64(put, program->have);
	put_bytes(put, &program->info, INFO_SIZE);
	put_bytes(put, program->data, program->data_size);
}

struct ids {
	VEC(uint32_t);
};

static struct sp_error *add_programs(struct host_features *features, struct ids *types)
{
	struct put put = host_feature_begin(features, FEATURE_BPF_PROG_INFO);
	size_t at = features->bytes.count;
	uint32_t count = 0, id = 0;
	put_u32(&put, 0);
	while (count < PROGRAMS_MAX && bpf_next_program(&id) >= 0) {
		struct host_bpf_program program = {0};
		CLEANUP_CLOSE int fd = bpf_open_program(id);
		if (fd >= 0 && read_program(fd, &program)) {
			put_program(&put, &program);
			count++;
			if (program.info.btf_id && vec_reserve(types, types->count + 1))
				*vec_push(types) = program.info.btf_id;
		}
		free(program.data);
	}
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count);
}

static bool put_types(struct put *put, uint32_t id)
{
	struct bpf_btf_info info = {0};
	CLEANUP_CLOSE int fd = bpf_open_types(id);
	if (fd < 0 || bpf_object_info(fd, &info, sizeof(info)) < 0 || !info.btf_size ||
	    info.btf_size > TYPES_MAX)
		return false;
	uint32_t size = info.btf_size;
	CLEANUP_FREE uint8_t *types = malloc(size);
	info = (struct bpf_btf_info){.btf = (uint64_t)(uintptr_t)types, .btf_size = size};
	if (!types || bpf_object_info(fd, &info, sizeof(info)) < 0 || info.btf_size != size)
		return false;
	put_u32(put, id);
	put_u32(put, size);
	put_bytes(put, types, size);
	return true;
}

static struct sp_error *add_types(struct host_features *features, struct ids *types)
{
	uint32_t count = 0;
	if (types->count)
		types->count = u32_sort_unique(types->items, types->count);
	struct put put = host_feature_begin(features, FEATURE_BPF_BTF);
	size_t at = features->bytes.count;
	put_u32(&put, 0);
	for (size_t i = 0; i < types->count; i++)
		count += put_types(&put, types->items[i]);
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count);
}

struct sp_error *host_features_bpf(struct host_features *features, const struct sp_ctx *ctx)
{
	struct ids types = {0};
	/* System calls speak of this machine, not of one below another root. */
	if (*ctx_root(ctx))
		return NULL;
	struct sp_error *error = add_programs(features, &types);
	if (!error)
		error = add_types(features, &types);
	vec_deinit(&types);
	return error;
}
