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
#include "base/cleanup.h"
#include "base/error.h"
#include "capture/metadata/bpf.h"
#include "capture/metadata/host_features.h"
#include "file/file_format.h"

#define PROGRAMS_MAX 4096

/* Limit of perf 6.1, which takes a longer one for damage. */
#define INFO_SIZE_MAX 232
#define INFO_SIZE \
	(sizeof(struct bpf_prog_info) < INFO_SIZE_MAX ? sizeof(struct bpf_prog_info) : INFO_SIZE_MAX)

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
		CLEANUP(bpf_program_deinit) struct bpf_program program;
		if (!bpf_read_program(id, BPF_ALL_ARRAYS, &program))
			continue;
		put_u32(&put, INFO_SIZE);
		put_u32(&put, program.data_size);
		put_u64(&put, program.have);
		put_bytes(&put, &program.info, INFO_SIZE);
		put_bytes(&put, program.data, program.data_size);
		count++;
		if (program.info.btf_id && vec_reserve(types, types->count + 1))
			*vec_push(types) = program.info.btf_id;
	}
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count);
}

static bool put_types(struct put *put, uint32_t id)
{
	uint32_t size;
	CLEANUP_FREE uint8_t *types = bpf_read_types(id, &size);
	if (!types)
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
	vec_each (type, types)
		count += put_types(&put, *type);
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count);
}

struct sp_error *host_features_bpf(struct host_features *features, const struct sp_ctx *ctx)
{
	struct ids types = {0};
	/* System calls describe this machine, not the one below another root. */
	if (*ctx_root(ctx))
		return NULL;
	struct sp_error *error = add_programs(features, &types);
	if (!error)
		error = add_types(features, &types);
	vec_deinit(&types);
	return error;
}
