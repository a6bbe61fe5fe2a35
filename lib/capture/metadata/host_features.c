/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads as perf writes them (tools/perf/util/header.c):
 *
 *	CACHE             u32 version 1, u32 n, {u32 level, line, sets, ways; text type, size, CPUs}
 *	MEM_TOPOLOGY      u64 version 1, u64 size of a block, u64 n, {u64 node, u64 bits, bitmap}
 *	CPU_PMU_CAPS      u32 n, {text name, text value}
 *	PMU_CAPS          u32 n, {u32 n, {text name, text value}, text PMU}
 *	HYBRID_TOPOLOGY   u32 n, {text PMU, text CPUs}
 */
#include "capture/metadata/host_features.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "file/file_format.h"
#include "proc/sysfs.h"
#include "writer/features_write.h"

#define CPU_PATH "/sys/devices/system/cpu"
#define NODE_PATH "/sys/devices/system/node"
#define MEMORY_PATH "/sys/devices/system/memory"
#define PMU_PATH "/sys/bus/event_source/devices"

#define CACHES_OF_CPU 10   /* above the number of levels and kinds of any CPU */
#define BLOCKS_MAX (1u << 24)

/* -- Payloads -------------------------------------------------------------- */

void host_features_deinit(struct host_features *features)
{
	vec_deinit(&features->bytes);
	*features = (struct host_features){0};
}

struct put host_feature_begin(struct host_features *features, unsigned int bit)
{
	assert(features->count < HOST_FEATURES_MAX);
	features->items[features->count].bit = bit;
	features->items[features->count].begin = features->bytes.count;
	return (struct put){.buffer = &features->bytes};
}

struct sp_error *host_feature_end(struct host_features *features, const struct put *put)
{
	features->items[features->count++].end = features->bytes.count;
	return put->no_memory ? error_no_memory() : NULL;
}

void host_feature_drop(struct host_features *features)
{
	features->bytes.count = features->items[features->count].begin;
}

struct sp_error *host_feature_end_or_drop(struct host_features *features, const struct put *put,
					  bool keep)
{
	if (keep)
		return host_feature_end(features, put);
	host_feature_drop(features);
	return put->no_memory ? error_no_memory() : NULL;
}

void host_feature_set_count(struct host_features *features, size_t at, uint32_t count)
{
	if (at + sizeof(count) <= features->bytes.count)
		memcpy(features->bytes.items + at, &count, sizeof(count));
}

void host_features_done(struct host_features *features)
{
	for (size_t i = 0; i < features->count; i++)
		features->features[i] = (struct writer_feature){
			.bit = features->items[i].bit,
			.payload = {
				.bytes = features->bytes.items + features->items[i].begin,
				.size = features->items[i].end - features->items[i].begin,
			},
		};
}

/* -- sysfs ----------------------------------------------------------------- */

/* Reads one line without its end. The caller frees it. Returns NULL if it is missing or empty. */
static char *line_of(const struct sp_ctx *ctx, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static char *line_of(const struct sp_ctx *ctx, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *path = format_text_va(format, args);
	va_end(args);
	return path ? sysfs_line(ctx, path) : NULL;
}

static uint32_t number_of(const char *text)
{
	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static DIR *folder_of(const struct sp_ctx *ctx, const char *path)
{
	CLEANUP_FREE char *whole = format_text("%s%s", ctx_root(ctx), path);
	return whole ? opendir(whole) : NULL;
}

/* -- CACHE ----------------------------------------------------------------- */

struct cache {
	uint32_t level, line, sets, ways;
	char *type, *size, *cpus;
};

struct caches {
	VEC(struct cache);
};

static void cache_deinit(struct cache *cache)
{
	free(cache->type);
	free(cache->size);
	free(cache->cpus);
}

static void caches_deinit(struct caches *caches)
{
	vec_each (item, caches)
		cache_deinit(item);
	vec_deinit(caches);
}

static bool same_cache(const struct cache *a, const struct cache *b)
{
	return a->level == b->level && a->line == b->line && a->sets == b->sets &&
	       a->ways == b->ways && !strcmp(a->type, b->type) && !strcmp(a->size, b->size) &&
	       !strcmp(a->cpus, b->cpus);
}

static bool read_cache(const struct sp_ctx *ctx, uint32_t cpu, int index, struct cache *ret)
{
	static const char format[] = CPU_PATH "/cpu%u/cache/index%d/%s";
	CLEANUP_FREE char *level = line_of(ctx, format, cpu, index, "level");
	CLEANUP_FREE char *line = line_of(ctx, format, cpu, index, "coherency_line_size");
	CLEANUP_FREE char *sets = line_of(ctx, format, cpu, index, "number_of_sets");
	CLEANUP_FREE char *ways = line_of(ctx, format, cpu, index, "ways_of_associativity");
	*ret = (struct cache){
		number_of(level), number_of(line), number_of(sets), number_of(ways),
		line_of(ctx, format, cpu, index, "type"), line_of(ctx, format, cpu, index, "size"),
		line_of(ctx, format, cpu, index, "shared_cpu_list"),
	};
	if (level && ret->type && ret->size && ret->cpus)
		return true;
	cache_deinit(ret);
	return false;
}

static struct sp_error *read_caches(const struct sp_ctx *ctx, uint32_t cpus, struct caches *caches)
{
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		struct cache cache;
		for (int index = 0; index < CACHES_OF_CPU && read_cache(ctx, cpu, index, &cache);
		     index++) {
			bool known = false;
			for (size_t i = 0; i < caches->count && !known; i++)
				known = same_cache(&caches->items[i], &cache);
			if (known || !vec_reserve(caches, caches->count + 1)) {
				cache_deinit(&cache);
				NEED(known);
				continue;
			}
			*vec_push(caches) = cache;
		}
	}
	return NULL;
}

/* Ordered by level, then as found. */
static struct sp_error *add_caches(struct host_features *features, const struct sp_ctx *ctx,
				   uint32_t cpus)
{
	CLEANUP(caches_deinit) struct caches caches = {0};
	struct sp_error *error = read_caches(ctx, cpus, &caches);
	if (error || !caches.count)
		return error;
	struct put put = host_feature_begin(features, FEATURE_CACHE);
	put_u32(&put, 1);
	put_u32(&put, caches.count);
	for (uint32_t level = 0; level <= CACHES_OF_CPU; level++)
		vec_each (cache, &caches) {
			uint32_t at = cache->level < CACHES_OF_CPU ? cache->level : CACHES_OF_CPU;
			if (at != level)
				continue;
			put_u32(&put, cache->level);
			put_u32(&put, cache->line);
			put_u32(&put, cache->sets);
			put_u32(&put, cache->ways);
			feature_put_string(&put, cache->type);
			feature_put_string(&put, cache->size);
			feature_put_string(&put, cache->cpus);
		}
	return host_feature_end(features, &put);
}

/* -- MEM_TOPOLOGY ---------------------------------------------------------- */

struct bits {
	VEC(uint64_t);
};

/* Reads a node's blocks of memory. *bits_ret is the highest number + 1. */
static struct sp_error *read_blocks(const struct sp_ctx *ctx, uint32_t node, struct bits *bits,
				    uint64_t *bits_ret)
{
	char path[64];
	snprintf(path, sizeof(path), NODE_PATH "/node%u", node);
	CLEANUP(cleanup_closedir) DIR *dir = folder_of(ctx, path);
	const struct dirent *entry;
	*bits_ret = 0;
	while (dir && (entry = readdir(dir))) {
		unsigned int block;
		if (sscanf(entry->d_name, "memory%u", &block) != 1 || block >= BLOCKS_MAX)
			continue;
		NEED(vec_reserve(bits, (size_t)block / 64 + 1));
		for (; bits->count <= block / 64; bits->count++)
			bits->items[bits->count] = 0;
		bits->items[block / 64] |= UINT64_C(1) << block % 64;
		if (block >= *bits_ret)
			*bits_ret = (uint64_t)block + 1;
	}
	return NULL;
}

static struct sp_error *add_memory(struct host_features *features, const struct sp_ctx *ctx,
				   const struct writer_info *info)
{
	CLEANUP_FREE char *block_size = line_of(ctx, MEMORY_PATH "/block_size_bytes");
	struct sp_error *error = NULL;
	uint64_t size = block_size ? strtoull(block_size, NULL, 16) : 0;
	if (!size || !info->numa_node_count)
		return NULL;
	struct put put = host_feature_begin(features, FEATURE_MEM_TOPOLOGY);
	put_u64(&put, 1);
	put_u64(&put, size);
	put_u64(&put, info->numa_node_count);
	for (size_t i = 0; i < info->numa_node_count && !error; i++) {
		struct bits bits = {0};
		uint64_t count;
		error = read_blocks(ctx, info->numa_nodes[i].node, &bits, &count);
		put_u64(&put, info->numa_nodes[i].node);
		put_u64(&put, count);
		put_u64(&put, count);
		put_bytes(&put, bits.items, bits.count * sizeof(*bits.items));
		vec_deinit(&bits);
	}
	return error_first(error, host_feature_end(features, &put));
}

/* -- PMUs ------------------------------------------------------------------ */

/* Writes the number of files in the PMU's folder caps, and the files. Returns the number. */
static uint32_t put_caps(struct host_features *features, struct put *put, const struct sp_ctx *ctx,
			 const char *pmu)
{
	CLEANUP_FREE char *path = format_text(PMU_PATH "/%s/caps", pmu);
	CLEANUP(cleanup_closedir) DIR *dir = path ? folder_of(ctx, path) : NULL;
	const struct dirent *entry;
	size_t at = features->bytes.count;
	uint32_t count = 0;
	put_u32(put, 0);
	while (dir && (entry = readdir(dir))) {
		CLEANUP_FREE char *value = entry->d_name[0] == '.'
						   ? NULL
						   : line_of(ctx, "%s/%s", path, entry->d_name);
		if (!value)
			continue;
		feature_put_string(put, entry->d_name);
		feature_put_string(put, value);
		count++;
	}
	host_feature_set_count(features, at, count);
	return count;
}

static struct sp_error *add_caps(struct host_features *features, const struct sp_ctx *ctx,
				 const struct writer_info *info)
{
	struct put put = host_feature_begin(features, FEATURE_PMU_CAPS);
	size_t at = features->bytes.count;
	uint32_t count = 0;
	put_u32(&put, 0);
	for (size_t i = 0; i < info->pmu_count; i++) {
		size_t begin = features->bytes.count;
		if (strcmp(info->pmus[i].name, "cpu") != 0 &&
		    put_caps(features, &put, ctx, info->pmus[i].name)) {
			feature_put_string(&put, info->pmus[i].name);
			count++;
		} else {
			features->bytes.count = begin;
		}
	}
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count);
}

/* CPUs of several kinds have a PMU for each kind: cpu_core, cpu_atom. */
static struct sp_error *add_hybrid(struct host_features *features, const struct sp_ctx *ctx,
				   const struct writer_info *info)
{
	struct put put = host_feature_begin(features, FEATURE_HYBRID_TOPOLOGY);
	size_t at = features->bytes.count;
	uint32_t count = 0;
	put_u32(&put, 0);
	for (size_t i = 0; i < info->pmu_count; i++) {
		const char *name = info->pmus[i].name;
		CLEANUP_FREE char *cpus = strncmp(name, "cpu_", 4)
						  ? NULL
						  : line_of(ctx, PMU_PATH "/%s/cpus", name);
		if (!cpus)
			continue;
		feature_put_string(&put, name);
		feature_put_string(&put, cpus);
		count++;
	}
	host_feature_set_count(features, at, count);
	return host_feature_end_or_drop(features, &put, count > 1);
}

struct sp_error *host_features_machine(struct host_features *features, const struct sp_ctx *ctx,
				       const struct writer_info *info)
{
	TRY(add_caches(features, ctx, info->cpus_available));
	TRY(add_memory(features, ctx, info));
	struct put put = host_feature_begin(features, FEATURE_CPU_PMU_CAPS);
	bool any = put_caps(features, &put, ctx, "cpu");
	TRY(host_feature_end_or_drop(features, &put, any));
	TRY(add_caps(features, ctx, info));
	return add_hybrid(features, ctx, info);
}
