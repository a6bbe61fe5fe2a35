/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes features as rows of names and values. Their layouts are those of perf
 * (tools/perf/Documentation/perf.data-file-format.txt and util/header.c).
 */
#include <sprof/private/describe.h>
#include <sprof/private/words.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "file/file_format.h"
#include "file/reader_io.h"
#include "info/describe_machine.h"
#include "reader/feature_payloads.h"

DEFINE_CLEANUP(struct sp_description *, sp_description_free)

static bool describe_string(struct cursor *cursor, struct sp_description *to)
{
	const char *text;
	if (!description_read_string(cursor, &text))
		return false;
	description_add(to, "", "%s", text);
	return true;
}

static bool describe_build_ids(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct sp_build_id *one = sp_file_build_id(info, i);
		char hex[2 * sizeof(one->build_id) + 1] = "";
		for (size_t j = 0; j < one->build_id_size; j++)
			snprintf(hex + 2 * j, 3, "%02x", one->build_id[j]);
		description_add(to, one->filename, "%s", hex);
	}
	return true;
}

static bool describe_list(struct cursor *cursor, struct sp_description *to, const char *name)
{
	uint32_t count;
	const char *text;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!description_read_string(cursor, &text))
			return false;
		description_add(to, name, "%s", text);
	}
	return true;
}

static bool describe_events(const struct sp_reader *reader, struct sp_description *to)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		description_add(to, event->name, "%zu id%s", event->id_count,
				event->id_count == 1 ? "" : "s");
	}
	return true;
}

static bool describe_groups(const struct sp_reader *reader, struct cursor *cursor,
			    struct sp_description *to)
{
	uint32_t count, leader, members;
	const char *name;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!description_read_string(cursor, &name) || !cursor_u32(cursor, &leader) ||
		    !cursor_u32(cursor, &members))
			return false;
		bool known = leader < sp_reader_event_count(reader);
		description_add(to, name, "led by %s, %u events",
				known ? sp_reader_event(reader, leader)->name : "an event that is not there",
		    members);
	}
	return true;
}

/* Describes AUXTRACE: a count and pairs of u64; simpleperf writes the pairs without a count. */
static bool describe_auxtrace(struct cursor *cursor, struct sp_description *to)
{
	uint64_t count = cursor_left(cursor) / 16, offset, size;
	if (cursor_left(cursor) % 16 && !cursor_u64(cursor, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!cursor_u64(cursor, &offset) || !cursor_u64(cursor, &size))
			return false;
		description_add(to, "", "offset %#" PRIx64 ", %" PRIu64 " bytes", offset, size);
	}
	return true;
}

static bool describe_times(struct cursor *cursor, struct sp_description *to)
{
	uint64_t first, last;
	if (!cursor_u64(cursor, &first) || !cursor_u64(cursor, &last))
		return false;
	description_add(to, "first", "%" PRIu64 ".%06" PRIu64, first / 1000000000, first % 1000000000 / 1000);
	description_add(to, "last", "%" PRIu64 ".%06" PRIu64, last / 1000000000, last % 1000000000 / 1000);
	description_add(to, "duration", "%.3f ms", (double)(last - first) / 1e6);
	return true;
}

static bool describe_clock_id(struct cursor *cursor, struct sp_description *to)
{
	uint64_t resolution;
	if (!cursor_u64(cursor, &resolution))
		return false;
	description_add(to, "resolution", "%" PRIu64 " ns", resolution);
	if (resolution)
		description_add(to, "frequency", "%" PRIu64 " MHz", 1000 / resolution);
	return true;
}

/* Returns NULL if the clock is unknown. */
static const char *clock_name(int32_t clock_id)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_PROCESS_CPUTIME_ID] = "process_cputime_id",
		[CLOCK_THREAD_CPUTIME_ID] = "thread_cputime_id",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_REALTIME_COARSE] = "realtime_coarse",
		[CLOCK_MONOTONIC_COARSE] = "monotonic_coarse",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	const int32_t count = count_of(names);
	return clock_id >= 0 && clock_id < count ? names[clock_id] : NULL;
}

static bool describe_clock(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, id;
	uint64_t wall, clock;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &id) ||
	    !cursor_u64(cursor, &wall) || !cursor_u64(cursor, &clock))
		return false;
	const char *name = clock_name(id);
	description_add(to, "clockid", "%s (%u)", name ? name : "unknown", id);
	description_add(to, "time of day", "%" PRIu64 ".%09" PRIu64, wall / 1000000000, wall % 1000000000);
	description_add(to, "is", "%" PRIu64 ".%09" PRIu64, clock / 1000000000, clock % 1000000000);
	return true;
}

/*
 * Describes BPF programs, each a struct perf_bpil: u32 info_len, u32 data_len, u64 arrays, struct
 * bpf_prog_info, data.
 */
static bool describe_programs(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count, info_size, data_size;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *tag, *name;
		uint32_t type, id, jited, translated;
		char text[17] = "", key[24];
		if (!cursor_u32(cursor, &info_size) || !cursor_u32(cursor, &data_size) ||
		    !cursor_skip(cursor, 8) || info_size > cursor_left(cursor))
			return false;
		struct cursor info = *cursor;
		info.end = info.pos + info_size;
		if (!cursor_u32(&info, &type) || !cursor_u32(&info, &id) ||
		    !cursor_bytes(&info, 8, &tag) || !cursor_u32(&info, &jited) ||
		    !cursor_u32(&info, &translated))
			return false;
		if (cursor_skip(&info, 40) && cursor_bytes(&info, 16, &name))
			memcpy(text, name, 16);
		snprintf(key, sizeof(key), "program %u", id);
		description_add(to, key,
				"%s, type %u, tag %02x%02x%02x%02x%02x%02x%02x%02x, %u bytes of code",
		    *text ? text : "without a name", type, tag[0], tag[1], tag[2], tag[3], tag[4],
		    tag[5], tag[6], tag[7], jited);
		if (!cursor_skip(cursor, info_size) || !cursor_skip(cursor, data_size))
			return false;
	}
	return true;
}

static bool describe_types(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count, id, size;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		char name[24];
		if (!cursor_u32(cursor, &id) || !cursor_u32(cursor, &size) ||
		    !cursor_skip(cursor, size))
			return false;
		snprintf(name, sizeof(name), "BTF %u", id);
		description_add(to, name, "%u bytes", size);
	}
	return true;
}

static bool describe_compression(struct cursor *cursor, struct sp_description *to)
{
	static const char *const names[] = {"version", "type", "level", "ratio", "mmap_len"};
	uint32_t value;
	for (size_t i = 0; i < count_of(names); i++) {
		if (!cursor_u32(cursor, &value))
			return false;
		description_add(to, names[i], i == 1 && value == 1 ? "%u (zstd)" : "%u", value);
	}
	return true;
}

static bool describe_meta_info(struct cursor *cursor, struct sp_description *to)
{
	const char *name, *value;
	while (cursor_left(cursor)) {
		if (!cursor_text(cursor, &name) || !cursor_text(cursor, &value))
			return false;
		description_add(to, name, "%s", value);
	}
	return true;
}

/*
 * Describes simpleperf's list of files: u32 size, path, u32 type, u64 address, u32 number of symbols, …
 */
static bool describe_files(struct cursor *cursor, struct sp_description *to)
{
	while (cursor_left(cursor)) {
		uint32_t size, type, symbols;
		uint64_t address;
		const char *path;
		if (!cursor_u32(cursor, &size) || size > cursor_left(cursor))
			return false;
		struct cursor file = *cursor;
		file.end = file.pos + size;
		if (!cursor_text(&file, &path) || !cursor_u32(&file, &type) ||
		    !cursor_u64(&file, &address) || !cursor_u32(&file, &symbols))
			return false;
		description_add(to, path, "%u symbols", symbols);
		if (!cursor_skip(cursor, size))
			return false;
	}
	return true;
}

static bool describe_number(struct cursor *cursor, struct sp_description *to)
{
	uint64_t number;
	if (!cursor_u64(cursor, &number))
		return false;
	description_add(to, "version", "%" PRIu64, number);
	return true;
}

/* Describes one feature. Returns false if its payload is damaged. */
static bool describe(const struct sp_reader *reader, unsigned int bit, struct cursor *cursor,
		     struct sp_description *to)
{
	switch (bit) {
	case FEATURE_BUILD_ID: return describe_build_ids(reader, to);
	case FEATURE_HOSTNAME:
	case FEATURE_OSRELEASE:
	case FEATURE_VERSION:
	case FEATURE_ARCH:
	case FEATURE_CPUDESC:
	case FEATURE_CPUID: return describe_string(cursor, to);
	case FEATURE_NRCPUS: return describe_cpus(cursor, to);
	case FEATURE_TOTAL_MEM: return describe_memory(cursor, to);
	case FEATURE_CMDLINE: return describe_list(cursor, to, "");
	case FEATURE_EVENT_DESC: return describe_events(reader, to);
	case FEATURE_CPU_TOPOLOGY: return describe_topology(reader, to);
	case FEATURE_NUMA_TOPOLOGY: return describe_numa_nodes(reader, to);
	case FEATURE_PMU_MAPPINGS: return describe_pmus(cursor, to);
	case FEATURE_GROUP_DESC: return describe_groups(reader, cursor, to);
	case FEATURE_AUXTRACE: return describe_auxtrace(cursor, to);
	case FEATURE_CACHE: return describe_caches(cursor, to);
	case FEATURE_SAMPLE_TIME: return describe_times(cursor, to);
	case FEATURE_MEM_TOPOLOGY: return describe_memory_topology(cursor, to);
	case FEATURE_CLOCKID: return describe_clock_id(cursor, to);
	case FEATURE_DIR_FORMAT: return describe_number(cursor, to);
	case FEATURE_BPF_PROG_INFO: return describe_programs(cursor, to);
	case FEATURE_BPF_BTF: return describe_types(cursor, to);
	case FEATURE_COMPRESSED: return describe_compression(cursor, to);
	case FEATURE_CPU_PMU_CAPS: return describe_caps(cursor, to);
	case FEATURE_CLOCK_DATA: return describe_clock(cursor, to);
	case FEATURE_HYBRID_TOPOLOGY: return describe_hybrid(cursor, to);
	case FEATURE_PMU_CAPS: return describe_pmu_caps(cursor, to);
	case FEATURE_CPU_DOMAIN_INFO: return describe_domains(cursor, to);
	case FEATURE_E_MACHINE: return describe_machine(cursor, to);
	case FEATURE_CLN_SIZE: return describe_cache_line(cursor, to);
	case FEATURE_SIMPLEPERF_FILE: return describe_files(cursor, to);
	case FEATURE_SIMPLEPERF_META_INFO: return describe_meta_info(cursor, to);
	default:
		/* BRANCH_STACK and STAT have no contents: that they are present is all they state. */
		if (cursor_left(cursor))
			description_add(to, "", "%zu bytes", cursor_left(cursor));
		return true;
	}
}

struct sp_error *sp_description_new(const struct sp_reader *reader, unsigned int bit,
				    struct sp_description **ret)
{
	*ret = NULL;
	if (!sp_reader_has_feature(reader, bit))
		return NULL;
	CLEANUP(cleanup_sp_description_free) struct sp_description *to = calloc(1, sizeof(*to));
	NEED(to);
	const struct sp_file_info *info = sp_reader_info(reader);
	struct sp_bytes payload = reader_feature(reader, bit);
	const char *name = sp_feature_name(bit);
	struct cursor cursor = cursor_make(payload.bytes, payload.size,
					   reader_layout(reader)->swap, info->path,
					   reader_feature_offset(reader, bit));
	/*
	 * A stream's features end with an empty one, of a bit that its version of perf does not know.
	 */
	bool whole = !payload.size || describe(reader, bit, &cursor, to);
	if (to->no_memory)
		return error_no_memory();
	struct sp_error *error = whole ? NULL :
		error_format(info->path, cursor_offset(&cursor), "feature %s is damaged here",
			     name ? name : "(unknown)");
	*ret = take_ptr(to);
	return error;
}
