/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the payloads of features as perf does. A string is a u32 size and that many bytes, with a NUL
 * and padding to a multiple of 64.
 */
#include "writer/features_write.h"

#include <string.h>
#include "base/error.h"
#include "file/deflate.h"
#include "record/types.h"

#define STRING_ALIGN 64
/* Largest payload of a HEADER_FEATURE record, which has a header and the feature's number. */
#define FEATURE_RECORD_MAX (RECORD_SIZE_MAX - 16)
/* pid of a build-id of this machine, not of a guest; perf's HOST_KERNEL_ID. */
#define HOST_PID UINT32_MAX

void feature_set_deinit(struct feature_set *set)
{
	vec_deinit(&set->bytes);
	*set = (struct feature_set){0};
}

static struct put feature_begin(struct feature_set *set, enum file_feature feature)
{
	set->at[feature].begin = set->bytes.count;
	return (struct put){.buffer = &set->bytes};
}

static struct sp_error *feature_end(struct feature_set *set, enum file_feature feature,
				    const struct put *put)
{
	set->at[feature].end = set->bytes.count;
	set->at[feature].present = true;
	return put->no_memory ? error_no_memory() : NULL;
}

static void put_padded_name(struct put *put, const char *text)
{
	size_t size = strlen(text) + 1;
	put_bytes(put, text, size);
	put_zeros(put, -size & (STRING_ALIGN - 1));
}

void feature_put_string(struct put *put, const char *text)
{
	size_t size = strlen(text) + 1;
	put_u32(put, (size + STRING_ALIGN - 1) & ~(size_t)(STRING_ALIGN - 1));
	put_padded_name(put, text);
}

static struct sp_error *add_string(struct feature_set *set, enum file_feature feature,
				   const char *text)
{
	if (!text)
		return NULL;
	struct put put = feature_begin(set, feature);
	feature_put_string(&put, text);
	return feature_end(set, feature, &put);
}

static struct sp_error *add_payloads(struct feature_set *set, const struct writer_feature *features,
				     size_t count)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < count; i++) {
		const struct writer_feature *feature = &features[i];
		if (set->at[feature->bit].present)
			continue;
		struct put put = feature_begin(set, feature->bit);
		put_bytes(&put, feature->payload.bytes, feature->payload.size);
		error = feature_end(set, feature->bit, &put);
	}
	return error;
}

static struct sp_error *add_strings(struct feature_set *set, const struct writer_info *info)
{
	const struct {
		enum file_feature feature;
		const char *text;
	} strings[] = {
		{FEATURE_HOSTNAME, info->hostname}, {FEATURE_OSRELEASE, info->osrelease},
		{FEATURE_VERSION, info->version},   {FEATURE_ARCH, info->arch},
		{FEATURE_CPUDESC, info->cpudesc},   {FEATURE_CPUID, info->cpuid},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < count_of(strings); i++)
		error = add_string(set, strings[i].feature, strings[i].text);
	return error;
}

static struct sp_error *add_numbers(struct feature_set *set, const struct writer_info *info)
{
	if (info->cpus_available) {
		struct put put = feature_begin(set, FEATURE_NRCPUS);
		put_u32(&put, info->cpus_available);
		put_u32(&put, info->cpus_online);
		TRY(feature_end(set, FEATURE_NRCPUS, &put));
	}
	if (!info->total_memory_kb)
		return NULL;
	struct put put = feature_begin(set, FEATURE_TOTAL_MEM);
	put_u64(&put, info->total_memory_kb);
	return feature_end(set, FEATURE_TOTAL_MEM, &put);
}

static struct sp_error *add_cmdline(struct feature_set *set, const char *const *cmdline)
{
	if (!cmdline || !*cmdline)
		return NULL;
	uint32_t count = 0;
	while (cmdline[count])
		count++;
	struct put put = feature_begin(set, FEATURE_CMDLINE);
	put_u32(&put, count);
	for (uint32_t i = 0; i < count; i++)
		feature_put_string(&put, cmdline[i]);
	return feature_end(set, FEATURE_CMDLINE, &put);
}

static void put_list(struct put *put, const char *const *list)
{
	uint32_t count = 0;
	while (list[count])
		count++;
	put_u32(put, count);
	for (uint32_t i = 0; i < count; i++)
		feature_put_string(put, list[i]);
}

/* Readers expect as many items as NRCPUS counts. */
static struct sp_error *add_cpu_topology(struct feature_set *set, const struct writer_info *info)
{
	const struct sp_cpu_topology *topology = &info->topology;
	if (!topology->packages || !topology->cores ||
	    topology->place_count != info->cpus_available)
		return NULL;
	struct put put = feature_begin(set, FEATURE_CPU_TOPOLOGY);
	put_list(&put, topology->packages);
	put_list(&put, topology->cores);
	for (size_t i = 0; i < topology->place_count; i++) {
		put_u32(&put, topology->places[i].core);
		put_u32(&put, topology->places[i].package);
	}
	if (topology->dies) {
		put_list(&put, topology->dies);
		for (size_t i = 0; i < topology->place_count; i++)
			put_u32(&put, topology->places[i].die);
	}
	return feature_end(set, FEATURE_CPU_TOPOLOGY, &put);
}

static struct sp_error *add_numa_topology(struct feature_set *set, const struct writer_info *info)
{
	if (!info->numa_node_count)
		return NULL;
	struct put put = feature_begin(set, FEATURE_NUMA_TOPOLOGY);
	put_u32(&put, info->numa_node_count);
	for (size_t i = 0; i < info->numa_node_count; i++) {
		put_u32(&put, info->numa_nodes[i].node);
		put_u64(&put, info->numa_nodes[i].total_kb);
		put_u64(&put, info->numa_nodes[i].free_kb);
		feature_put_string(&put, info->numa_nodes[i].cpus);
	}
	return feature_end(set, FEATURE_NUMA_TOPOLOGY, &put);
}

static struct sp_error *add_pmus(struct feature_set *set, const struct writer_info *info)
{
	if (!info->pmu_count)
		return NULL;
	struct put put = feature_begin(set, FEATURE_PMU_MAPPINGS);
	put_u32(&put, info->pmu_count);
	for (size_t i = 0; i < info->pmu_count; i++) {
		put_u32(&put, info->pmus[i].type);
		feature_put_string(&put, info->pmus[i].name);
	}
	return feature_end(set, FEATURE_PMU_MAPPINGS, &put);
}

static struct sp_error *add_clock(struct feature_set *set, const struct writer_info *info)
{
	if (info->clock_resolution_ns) {
		struct put put = feature_begin(set, FEATURE_CLOCKID);
		put_u64(&put, info->clock_resolution_ns);
		TRY(feature_end(set, FEATURE_CLOCKID, &put));
	}
	if (!info->clock_wall_ns)
		return NULL;
	struct put put = feature_begin(set, FEATURE_CLOCK_DATA);
	put_u32(&put, 1);
	put_u32(&put, info->clock_id);
	put_u64(&put, info->clock_wall_ns);
	put_u64(&put, info->clock_ns);
	return feature_end(set, FEATURE_CLOCK_DATA, &put);
}

/*
 * Size of the buffer that readers need: the decompressed bytes of a record, and an incomplete record
 * before them.
 */
#define INFLATED_MAX ((uint32_t)(2 * DEFLATE_SIZE))

#define COMPRESSED_VERSION 1
#define COMPRESSED_ZSTD 1
#define COMPRESSED_RATIO_AT 12

static struct sp_error *add_compressed(struct feature_set *set, int level)
{
	if (!level)
		return NULL;
	struct put put = feature_begin(set, FEATURE_COMPRESSED);
	put_u32(&put, COMPRESSED_VERSION);
	put_u32(&put, COMPRESSED_ZSTD);
	put_u32(&put, level);
	put_u32(&put, 1);
	put_u32(&put, INFLATED_MAX);
	return feature_end(set, FEATURE_COMPRESSED, &put);
}

void feature_set_ratio(struct feature_set *set, uint32_t ratio)
{
	memcpy(set->bytes.items + set->at[FEATURE_COMPRESSED].begin + COMPRESSED_RATIO_AT, &ratio,
	       sizeof(ratio));
}

struct sp_error *feature_set_auxtrace(struct feature_set *set, const void *places, size_t count)
{
	struct put put = feature_begin(set, FEATURE_AUXTRACE);
	put_u64(&put, count);
	put_bytes(&put, places, 16 * count);
	return feature_end(set, FEATURE_AUXTRACE, &put);
}

struct sp_error *feature_set_start(struct feature_set *set, const struct writer_info *info,
				   const struct sp_event *events, size_t event_count,
				   uint32_t attr_size)
{
	TRY(add_strings(set, info));
	TRY(add_numbers(set, info));
	TRY(add_cmdline(set, info->cmdline));
	struct put put = feature_begin(set, FEATURE_EVENT_DESC);
	put_u32(&put, event_count);
	put_u32(&put, attr_size);
	for (size_t i = 0; i < event_count; i++) {
		put_attr(&put, &events[i].attr, &events[i].tail, attr_size);
		put_u32(&put, events[i].id_count);
		feature_put_string(&put, events[i].name ?: "");
		put_bytes(&put, events[i].ids, 8 * events[i].id_count);
	}
	TRY(feature_end(set, FEATURE_EVENT_DESC, &put));
	TRY(add_cpu_topology(set, info));
	TRY(add_numa_topology(set, info));
	TRY(add_pmus(set, info));
	TRY(add_clock(set, info));
	TRY(add_compressed(set, info->compression_level));
	return add_payloads(set, info->features, info->feature_count);
}

/*
 * Returns the CPU mode of a build-id. perf tells kernel files from user files by it, or by the name if
 * it is not set.
 */
static uint16_t build_id_cpumode(const struct sp_build_id *build_id)
{
	const char *filename = build_id->filename, *base = strrchr(filename, '/');
	const char *module = strstr(base ?: filename, ".ko");
	bool kernel = (filename[0] == '[' && strcmp(filename, "[vdso]") != 0) ||
		      (module && (module[3] == 0 || module[3] == '.'));
	if (build_id->cpumode)
		return build_id->cpumode;
	return kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

uint64_t feature_build_id_bytes(const char *filename)
{
	size_t size = strlen(filename) + 1;
	size = (size + STRING_ALIGN - 1) & ~(size_t)(STRING_ALIGN - 1);
	return sizeof(struct perf_event_header) + 28 + size;
}

static void put_build_id(struct put *put, const struct sp_build_id *build_id)
{
	struct perf_event_header header = {.misc = RECORD_MISC_BUILD_ID_SIZE};
	uint64_t size = feature_build_id_bytes(build_id->filename);
	if (size > UINT16_MAX)
		return; /* The name is longer than any path. */
	header.misc |= build_id_cpumode(build_id);
	header.size = size;
	put_bytes(put, &header, sizeof(header));
	put_u32(put, build_id->pid ?: HOST_PID);
	put_bytes(put, build_id->build_id, sizeof(build_id->build_id));
	put_u8(put, build_id->build_id_size);
	put_zeros(put, 3);
	put_padded_name(put, build_id->filename);
}

struct sp_error *feature_set_end(struct feature_set *set, const struct writer_end *end)
{
	if (end->build_id_count && !set->at[FEATURE_BUILD_ID].present) {
		struct put put = feature_begin(set, FEATURE_BUILD_ID);
		for (size_t i = 0; i < end->build_id_count; i++)
			put_build_id(&put, &end->build_ids[i]);
		TRY(feature_end(set, FEATURE_BUILD_ID, &put));
	}
	if ((end->first_sample_ns || end->last_sample_ns) && !set->at[FEATURE_SAMPLE_TIME].present) {
		struct put put = feature_begin(set, FEATURE_SAMPLE_TIME);
		put_u64(&put, end->first_sample_ns);
		put_u64(&put, end->last_sample_ns);
		TRY(feature_end(set, FEATURE_SAMPLE_TIME, &put));
	}
	return add_payloads(set, end->features, end->feature_count);
}

/* Returns a feature's payload, valid until the set changes; size 0 if the set has none. */
static struct sp_bytes payload_of(const struct feature_set *set, enum file_feature feature)
{
	size_t size = set->at[feature].end - set->at[feature].begin;
	return (struct sp_bytes){
		.bytes = size ? set->bytes.items + set->at[feature].begin : NULL,
		.size = size,
	};
}

/*
 * Returns whether a record can have the feature. perf cannot print EVENT_DESC from a file's record, and
 * would list groups and BPF programs twice. TRACING_DATA has a record type of its own. perf warns of
 * unknown bits.
 */
static bool has_record(enum file_feature feature, enum feature_place place)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
	case FEATURE_BUILD_ID:
	case FEATURE_AUXTRACE:
	case FEATURE_DIR_FORMAT:
		return false;
	case FEATURE_EVENT_DESC:
	case FEATURE_GROUP_DESC:
	case FEATURE_BPF_PROG_INFO:
	case FEATURE_BPF_BTF:
		return place == FEATURES_OF_STREAM;
	default:
		return true;
	}
}

struct sp_error *feature_set_records(const struct feature_set *set, enum feature_place place,
				     struct record_buffer *buffer)
{
	for (unsigned int feature = 0; feature < FEATURE_COUNT; feature++) {
		struct sp_record record = {
			.type = SP_RECORD_HEADER_FEATURE,
			.feature = {.feature = feature, .payload = payload_of(set, feature)},
		};
		size_t size = record.feature.payload.size;
		if (!size || size > FEATURE_RECORD_MAX || !has_record(feature, place))
			continue;
		/*
		 * perf takes padding at the end of CPU_TOPOLOGY for a list of dies, and rejects the
		 * record.
		 */
		if (feature == FEATURE_CPU_TOPOLOGY && size % 8)
			continue;
		TRY(record_encode(buffer, &record, NULL));
	}
	return NULL;
}

/*
 * The record has 16 bytes, so that records after it are aligned to 8; perf writes 12, and reads both.
 */
struct sp_error *feature_set_tracing(const struct feature_set *set, struct record_buffer *buffer)
{
	struct sp_bytes payload = payload_of(set, FEATURE_TRACING_DATA);
	struct put put = {.buffer = buffer};
	if (!payload.size)
		return NULL;
	put_u32(&put, SP_RECORD_HEADER_TRACING_DATA);
	put_u16(&put, 0);
	put_u16(&put, 16);
	put_u32(&put, (payload.size + 7) & ~(size_t)7);
	put_u32(&put, 0);
	size_t begin = buffer->count;
	put_bytes(&put, payload.bytes, payload.size);
	put_align(&put, begin);
	return put.no_memory ? error_no_memory() : NULL;
}

struct sp_error *feature_set_sections(const struct feature_set *set, uint64_t payloads_offset,
				      struct record_buffer *buffer, struct feature_bits *bits_ret)
{
	struct put put = {.buffer = buffer};
	struct feature_bits bits = {0};
	for (unsigned int feature = 0; feature < FILE_FEATURE_BITS; feature++) {
		if (!set->at[feature].present)
			continue;
		feature_bits_add(&bits, feature);
		put_u64(&put, payloads_offset + set->at[feature].begin);
		put_u64(&put, set->at[feature].end - set->at[feature].begin);
	}
	*bits_ret = bits;
	return put.no_memory ? error_no_memory() : NULL;
}

struct sp_error *feature_build_id_record(const struct sp_build_id *build_id,
					 struct record_buffer *buffer)
{
	struct sp_record record = {
		.type = SP_RECORD_HEADER_BUILD_ID,
		.misc = RECORD_MISC_BUILD_ID_SIZE | build_id_cpumode(build_id),
		.build_id = *build_id,
	};
	record.build_id.pid = build_id->pid ?: HOST_PID;
	return record_encode(buffer, &record, NULL);
}
