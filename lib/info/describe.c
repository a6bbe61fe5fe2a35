/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Features by their layouts (perf's tools/perf/Documentation/perf.data-file-format.txt and
 * util/header.c), as rows of names and values.
 */
#include <sprof/describe.h>
#include <sprof/words.h>

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/format.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "reader/feature_payloads.h"

struct sp_description {
	struct arena arena;
	VEC(struct sp_description_row) rows;
	bool no_memory;
};

DEFINE_CLEANUP(struct sp_description *, sp_description_free)

void sp_description_free(struct sp_description *description)
{
	if (!description)
		return;
	arena_deinit(&description->arena);
	vec_deinit(&description->rows);
	free(description);
}

size_t sp_description_count(const struct sp_description *description)
{
	return description->rows.count;
}

const struct sp_description_row *sp_description_row(const struct sp_description *description,
						    size_t index)
{
	assert(index < description->rows.count);
	return &description->rows.items[index];
}

/* Adds a row. What fails for want of memory is left out, and told at the end. */
__attribute__((format(printf, 3, 4))) static void add(struct sp_description *to, const char *name,
						       const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *text = format_text_va(format, args);
	va_end(args);
	char *value = text ? arena_copy_string(&to->arena, text, strlen(text)) : NULL;
	char *key = arena_copy_string(&to->arena, name, strlen(name));
	struct sp_description_row *row = value && key ? vec_push(&to->rows) : NULL;
	if (row)
		*row = (struct sp_description_row){key, value};
	else
		to->no_memory = true;
}

/* u32 size, bytes with a NUL. */
static bool read_string(struct cursor *cursor, const char **ret)
{
	uint32_t size;
	return cursor_u32(cursor, &size) && cursor_string(cursor, size, ret);
}

/* Behind each its name and NUL, without a size. */
static bool read_plain(struct cursor *cursor, const char **ret)
{
	size_t left = cursor_left(cursor);
	const uint8_t *nul = left ? memchr(cursor->pos, 0, left) : NULL;
	return nul && cursor_string(cursor, (size_t)(nul - cursor->pos) + 1, ret);
}

static bool describe_string(struct cursor *cursor, struct sp_description *to)
{
	const char *text;
	if (!read_string(cursor, &text))
		return false;
	add(to, "", "%s", text);
	return true;
}

static bool describe_build_ids(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct sp_build_id *one = &info->build_ids[i];
		char hex[2 * sizeof(one->build_id) + 1] = "";
		for (size_t j = 0; j < one->build_id_size; j++)
			snprintf(hex + 2 * j, 3, "%02x", one->build_id[j]);
		add(to, one->filename, "%s", hex);
	}
	return true;
}

static bool describe_cpus(struct cursor *cursor, struct sp_description *to)
{
	uint32_t available, online;
	if (!cursor_u32(cursor, &available) || !cursor_u32(cursor, &online))
		return false;
	add(to, "available", "%u", available);
	add(to, "online", "%u", online);
	return true;
}

static bool describe_memory(struct cursor *cursor, struct sp_description *to)
{
	uint64_t kilobytes;
	if (!cursor_u64(cursor, &kilobytes))
		return false;
	add(to, "", "%" PRIu64 " kB", kilobytes);
	return true;
}

static bool describe_list(struct cursor *cursor, struct sp_description *to, const char *name)
{
	uint32_t count;
	const char *text;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!read_string(cursor, &text))
			return false;
		add(to, name, "%s", text);
	}
	return true;
}

static bool describe_events(const struct sp_reader *reader, struct sp_description *to)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		add(to, event->name, "%zu id%s", event->id_count, event->id_count == 1 ? "" : "s");
	}
	return true;
}

static bool describe_topology(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_cpu_topology *topology = &sp_reader_info(reader)->topology;
	for (size_t i = 0; topology->packages && topology->packages[i]; i++)
		add(to, "sibling sockets", "%s", topology->packages[i]);
	for (size_t i = 0; topology->dies && topology->dies[i]; i++)
		add(to, "sibling dies", "%s", topology->dies[i]);
	for (size_t i = 0; topology->cores && topology->cores[i]; i++)
		add(to, "sibling threads", "%s", topology->cores[i]);
	for (size_t i = 0; i < topology->place_count; i++) {
		const struct sp_cpu_place *place = &topology->places[i];
		char name[32];
		snprintf(name, sizeof(name), "CPU %zu", i);
		add(to, name, "core %d, die %d, socket %d", place->core, place->die, place->package);
	}
	return true;
}

static bool describe_nodes(const struct sp_reader *reader, struct sp_description *to)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	for (size_t i = 0; i < info->numa_node_count; i++) {
		const struct sp_numa_node *node = &info->numa_nodes[i];
		char name[24];
		snprintf(name, sizeof(name), "node %u", node->node);
		add(to, name, "total %" PRIu64 " kB, free %" PRIu64 " kB, CPUs %s", node->total_kb,
		    node->free_kb, node->cpus);
	}
	return true;
}

static bool describe_pmus(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count, type;
	const char *name;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!cursor_u32(cursor, &type) || !read_string(cursor, &name))
			return false;
		add(to, name, "%u", type);
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
		if (!read_string(cursor, &name) || !cursor_u32(cursor, &leader) ||
		    !cursor_u32(cursor, &members))
			return false;
		bool known = leader < sp_reader_event_count(reader);
		add(to, name, "led by %s, %u events",
		    known ? sp_reader_event(reader, leader)->name : "an event that is not there",
		    members);
	}
	return true;
}

/* A count and pairs; simpleperf writes the pairs alone. */
static bool describe_auxtrace(struct cursor *cursor, struct sp_description *to)
{
	uint64_t count = cursor_left(cursor) / 16, offset, size;
	if (cursor_left(cursor) % 16 && !cursor_u64(cursor, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!cursor_u64(cursor, &offset) || !cursor_u64(cursor, &size))
			return false;
		add(to, "", "offset %#" PRIx64 ", %" PRIu64 " bytes", offset, size);
	}
	return true;
}

static bool describe_caches(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, count, level, line, sets, ways;
	const char *type, *size, *map;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		char name[64];
		if (!cursor_u32(cursor, &level) || !cursor_u32(cursor, &line) ||
		    !cursor_u32(cursor, &sets) || !cursor_u32(cursor, &ways) ||
		    !read_string(cursor, &type) || !read_string(cursor, &size) ||
		    !read_string(cursor, &map))
			return false;
		snprintf(name, sizeof(name), "L%u %s", level, type);
		add(to, name, "%s [%s], %u sets of %u lines of %u bytes", size, map, sets, ways, line);
	}
	return true;
}

static bool describe_times(struct cursor *cursor, struct sp_description *to)
{
	uint64_t first, last;
	if (!cursor_u64(cursor, &first) || !cursor_u64(cursor, &last))
		return false;
	add(to, "first", "%" PRIu64 ".%06" PRIu64, first / 1000000000, first % 1000000000 / 1000);
	add(to, "last", "%" PRIu64 ".%06" PRIu64, last / 1000000000, last % 1000000000 / 1000);
	add(to, "duration", "%.3f ms", (double)(last - first) / 1e6);
	return true;
}

static bool describe_memory_topology(struct cursor *cursor, struct sp_description *to)
{
	uint64_t version, block, count, node, size, bits, word;
	if (!cursor_u64(cursor, &version) || !cursor_u64(cursor, &block) ||
	    !cursor_u64(cursor, &count))
		return false;
	add(to, "block size", "%#" PRIx64, block);
	for (uint64_t i = 0; i < count; i++) {
		char name[32];
		uint64_t blocks = 0;
		if (!cursor_u64(cursor, &node) || !cursor_u64(cursor, &size) ||
		    !cursor_u64(cursor, &bits))
			return false;
		for (uint64_t at = 0; at < bits; at += 64) {
			if (!cursor_u64(cursor, &word))
				return false;
			blocks += (uint64_t)__builtin_popcountll(word);
		}
		snprintf(name, sizeof(name), "node %" PRIu64, node);
		add(to, name, "%" PRIu64 " blocks, %" PRIu64 " MB", blocks, (blocks * block) >> 20);
	}
	return true;
}

static bool describe_clock_id(struct cursor *cursor, struct sp_description *to)
{
	uint64_t resolution;
	if (!cursor_u64(cursor, &resolution))
		return false;
	add(to, "resolution", "%" PRIu64 " ns", resolution);
	if (resolution)
		add(to, "frequency", "%" PRIu64 " MHz", 1000 / resolution);
	return true;
}

static bool describe_clock(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, id;
	uint64_t wall, clock;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &id) ||
	    !cursor_u64(cursor, &wall) || !cursor_u64(cursor, &clock))
		return false;
	const char *name = sp_clock_name((int32_t)id);
	add(to, "clockid", "%s (%u)", name ? name : "unknown", id);
	add(to, "time of day", "%" PRIu64 ".%09" PRIu64, wall / 1000000000, wall % 1000000000);
	add(to, "is", "%" PRIu64 ".%09" PRIu64, clock / 1000000000, clock % 1000000000);
	return true;
}

/* struct perf_bpil: u32 info_len, u32 data_len, u64 arrays, struct bpf_prog_info, data. */
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
		add(to, key, "%s, type %u, tag %02x%02x%02x%02x%02x%02x%02x%02x, %u bytes of code",
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
		add(to, name, "%u bytes", size);
	}
	return true;
}

static bool describe_compression(struct cursor *cursor, struct sp_description *to)
{
	static const char *const names[] = {"version", "type", "level", "ratio", "mmap_len"};
	uint32_t value;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!cursor_u32(cursor, &value))
			return false;
		add(to, names[i], i == 1 && value == 1 ? "%u (zstd)" : "%u", value);
	}
	return true;
}

/* u32 count, {name, value}; all in one row of a PMU, or a row each. */
static bool describe_caps(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count;
	const char *name, *value;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!read_string(cursor, &name) || !read_string(cursor, &value))
			return false;
		add(to, name, "%s", value);
	}
	return true;
}

static bool describe_pmu_caps(struct cursor *cursor, struct sp_description *to)
{
	uint32_t pmus;
	const char *pmu;
	if (!cursor_u32(cursor, &pmus))
		return false;
	for (uint32_t i = 0; i < pmus; i++) {
		size_t begin = to->rows.count;
		if (!describe_caps(cursor, to) || !read_string(cursor, &pmu))
			return false;
		for (size_t j = begin; j < to->rows.count; j++) {
			CLEANUP_FREE char *name = format_text("%s/%s", pmu, to->rows.items[j].name);
			const char *kept = name ? arena_copy_string(&to->arena, name, strlen(name)) :
						  NULL;
			to->no_memory |= !kept;
			if (kept)
				to->rows.items[j].name = kept;
		}
	}
	return true;
}

static bool describe_hybrid(struct cursor *cursor, struct sp_description *to)
{
	uint32_t count;
	const char *pmu, *cpus;
	if (!cursor_u32(cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!read_string(cursor, &pmu) || !read_string(cursor, &cpus))
			return false;
		add(to, pmu, "CPUs %s", cpus);
	}
	return true;
}

/* Linux 7.0's perf: of each CPU the domains that the scheduler balances. */
static bool describe_domains(struct cursor *cursor, struct sp_description *to)
{
	uint32_t version, most, cpu, count, domain;
	const char *name = "", *mask, *list;
	if (!cursor_u32(cursor, &version) || !cursor_u32(cursor, &most))
		return false;
	add(to, "schedstat version", "%u", version);
	add(to, "most domains", "%u", most);
	while (cursor_left(cursor) >= 8) {
		char key[24];
		if (!cursor_u32(cursor, &cpu) || !cursor_u32(cursor, &count))
			return false;
		snprintf(key, sizeof(key), "CPU %u", cpu);
		for (uint32_t i = 0; i < count; i++) {
			if (!cursor_u32(cursor, &domain) ||
			    (version >= 17 && !read_string(cursor, &name)) ||
			    !read_string(cursor, &mask) || !read_string(cursor, &list))
				return false;
			add(to, key, "domain %u %s: CPUs %s", domain, name, list);
		}
	}
	return true;
}

/* Of the program that was recorded, by its ELF header. */
static bool describe_machine(struct cursor *cursor, struct sp_description *to)
{
	uint32_t machine, flags;
	if (!cursor_u32(cursor, &machine) || !cursor_u32(cursor, &flags))
		return false;
	add(to, "e_machine", "%u", machine);
	add(to, "e_flags", "%u", flags);
	return true;
}

static bool describe_cache_line(struct cursor *cursor, struct sp_description *to)
{
	uint32_t size;
	if (!cursor_u32(cursor, &size))
		return false;
	add(to, "cacheline size", "%u", size);
	return true;
}

static bool describe_meta_info(struct cursor *cursor, struct sp_description *to)
{
	const char *name, *value;
	while (cursor_left(cursor)) {
		if (!read_plain(cursor, &name) || !read_plain(cursor, &value))
			return false;
		add(to, name, "%s", value);
	}
	return true;
}

/* simpleperf's files: u32 size, path, u32 type, u64 address, u32 count of symbols, … */
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
		if (!read_plain(&file, &path) || !cursor_u32(&file, &type) ||
		    !cursor_u64(&file, &address) || !cursor_u32(&file, &symbols))
			return false;
		add(to, path, "%u symbols", symbols);
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
	add(to, "version", "%" PRIu64, number);
	return true;
}

/* False where it is damaged. */
static bool describe(const struct sp_reader *reader, unsigned int bit, struct cursor *cursor,
		     struct sp_description *to)
{
	switch (bit) {
	case 2: return describe_build_ids(reader, to);
	case 3: case 4: case 5: case 6: case 8: case 9: return describe_string(cursor, to);
	case 7: return describe_cpus(cursor, to);
	case 10: return describe_memory(cursor, to);
	case 11: return describe_list(cursor, to, "");
	case 12: return describe_events(reader, to);
	case 13: return describe_topology(reader, to);
	case 14: return describe_nodes(reader, to);
	case 16: return describe_pmus(cursor, to);
	case 17: return describe_groups(reader, cursor, to);
	case 18: return describe_auxtrace(cursor, to);
	case 20: return describe_caches(cursor, to);
	case 21: return describe_times(cursor, to);
	case 22: return describe_memory_topology(cursor, to);
	case 23: return describe_clock_id(cursor, to);
	case 24: return describe_number(cursor, to);
	case 25: return describe_programs(cursor, to);
	case 26: return describe_types(cursor, to);
	case 27: return describe_compression(cursor, to);
	case 28: return describe_caps(cursor, to);
	case 29: return describe_clock(cursor, to);
	case 30: return describe_hybrid(cursor, to);
	case 31: return describe_pmu_caps(cursor, to);
	case 32: return describe_domains(cursor, to);
	case 33: return describe_machine(cursor, to);
	case 34: return describe_cache_line(cursor, to);
	case 128: return describe_files(cursor, to);
	case 129: return describe_meta_info(cursor, to);
	default:
		/* BRANCH_STACK and STAT are words by themselves. */
		if (cursor_left(cursor))
			add(to, "", "%zu bytes", cursor_left(cursor));
		return true;
	}
}

struct sp_error *sp_describe_feature(const struct sp_reader *reader, unsigned int bit,
				     struct sp_description **ret)
{
	*ret = NULL;
	if (!sp_reader_has_feature(reader, bit))
		return NULL;
	CLEANUP(cleanup_sp_description_free) struct sp_description *to = calloc(1, sizeof(*to));
	if (!to)
		return error_no_memory();
	const struct sp_file_info *info = sp_reader_info(reader);
	struct sp_bytes payload = sp_reader_feature(reader, bit);
	const char *name = sp_feature_name(bit);
	struct cursor cursor = cursor_make(payload.bytes, payload.size,
					   reader_layout(reader)->swap, info->path,
					   reader_feature_offset(reader, bit));
	/* Pipes end their features by an empty one of a kind that perf then had not. */
	bool whole = !payload.size || describe(reader, bit, &cursor, to);
	if (to->no_memory)
		return error_no_memory();
	struct sp_error *error = whole ? NULL :
		error_format(info->path, cursor_offset(&cursor), "feature %s is damaged here",
			     name ? name : "(unknown)");
	*ret = take_ptr(to);
	return error;
}
