/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes the records that perf and other tools make (types 64 and above), by struct perf_record_* of
 * perf's tools/lib/perf/include/perf/event.h. Fields that older versions lack at the end are 0.
 */
#include "record/attr.h"
#include "record/decode_internal.h"
#include "record/fixed_fields.h"

/* Limit of CPUs in a mask, so that they fit the buffer. No machine has as many. */
#define CPUS_MOST 65536

/* Reads id[20], size, 3 bytes, name. Before Linux 5.12 there was no size: it is 20. */
static bool decode_build_id(struct cursor *cursor, struct sp_record *record)
{
	struct sp_build_id *build_id = &record->build_id;
	const uint8_t *bytes;
	uint8_t size;
	if (!cursor_bytes(cursor, sizeof(build_id->build_id), &bytes) ||
	    !cursor_u8(cursor, &size) || !cursor_skip(cursor, 3) ||
	    !cursor_text(cursor, &build_id->filename))
		return false;
	if (!(record->misc & RECORD_MISC_BUILD_ID_SIZE) || size > sizeof(build_id->build_id))
		size = sizeof(build_id->build_id);
	memcpy(build_id->build_id, bytes, size);
	build_id->build_id_size = size;
	build_id->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return true;
}

/* Reads `count` rows of several words each, as an array of structs. */
static bool read_rows(struct decoder *decoder, struct cursor *cursor, uint64_t count, size_t width,
		      const uint64_t **ret)
{
	return count <= cursor_left(cursor) / (8 * width) &&
	       read_words(decoder, cursor, count * width, ret);
}

static bool decode_id_index(struct decoder *decoder, struct cursor *cursor,
			    struct sp_id_index *index)
{
	_Static_assert(sizeof(struct sp_id_index_entry) == 32, "four words, as in the record");
	_Static_assert(sizeof(struct sp_id_machine) == 16, "two words, as in the record");
	uint64_t count;
	const uint64_t *words;
	if (!cursor_u64(cursor, &count) || !read_rows(decoder, cursor, count, 4, &words))
		return false;
	index->entries = (const struct sp_id_index_entry *)words;
	index->count = count;
	if (count && read_rows(decoder, cursor, count, 2, &words))
		index->machines = (const struct sp_id_machine *)words;
	return true;
}

/* Format 1 (Linux 5.1) has the time, format 2 (6.0) the guest's fields. */
static bool decode_auxtrace_error(struct cursor *cursor, struct sp_auxtrace_error *error)
{
	if (error->fmt && !cursor_u64(cursor, &error->time_ns))
		return false;
	if (error->fmt < 2)
		return cursor_text(cursor, &error->msg);
	return cursor_string(cursor, 64, &error->msg) && cursor_u32(cursor, &error->machine_pid) &&
	       cursor_u32(cursor, &error->vcpu);
}

static bool decode_thread_map(struct decoder *decoder, struct cursor *cursor,
			      struct sp_thread_map *map)
{
	uint64_t count;
	const uint8_t *comm;
	if (!cursor_u64(cursor, &count) || count > cursor_left(cursor) / 24)
		return false;
	struct sp_thread_map_entry *entries = scratch_take(decoder, count * sizeof(*entries));
	for (uint64_t i = 0; i < count; i++) {
		if (!cursor_u64(cursor, &entries[i].pid) ||
		    !cursor_bytes(cursor, sizeof(entries[i].comm), &comm))
			return false;
		memcpy(entries[i].comm, comm, sizeof(entries[i].comm));
		entries[i].comm[sizeof(entries[i].comm) - 1] = '\0';
	}
	map->entries = entries;
	map->count = count;
	return true;
}

/* Reads a list of CPUs: u16 count, u16 cpu[]; 0xffff means "any". */
static bool decode_cpu_list(struct cursor *cursor, uint32_t *cpus, struct sp_cpu_map *map)
{
	uint16_t count, cpu;
	if (!cursor_u16(cursor, &count) || count > cursor_left(cursor) / 2)
		return false;
	for (uint16_t i = 0; i < count; i++) {
		if (!cursor_u16(cursor, &cpu))
			return false;
		if (cpu == UINT16_MAX)
			map->any = true;
		else
			cpus[map->count++] = cpu;
	}
	return true;
}

/*
 * Reads a mask of CPUs: u16 count, u16 size of a word, words. Words of 4 bytes follow at once. Words of
 * 8 bytes are aligned to 8, counted from the kind; before Linux 6.1, 2 bytes later.
 */
static bool decode_cpu_mask(struct cursor *cursor, uint32_t *cpus, struct sp_cpu_map *map)
{
	uint16_t count, size;
	if (!cursor_u16(cursor, &count) || !cursor_u16(cursor, &size) || (size != 4 && size != 8))
		return false;
	if (size == 8 && !cursor_skip(cursor, cursor_left(cursor) > 2 + count * (size_t)8 ? 4 : 2))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t word;
		uint32_t half;
		if (size == 8 ? !cursor_u64(cursor, &word) : !cursor_u32(cursor, &half))
			return false;
		if (size == 4)
			word = half;
		for (uint32_t bit = 0; bit < size * 8U; bit++) {
			if (!(word >> bit & 1))
				continue;
			if (map->count == CPUS_MOST)
				return false;
			cpus[map->count++] = i * size * 8 + bit;
		}
	}
	return true;
}

/* Reads a range of CPUs: u8 any, u8, u16 first, u16 last. */
static bool decode_cpu_range(struct cursor *cursor, uint32_t *cpus, struct sp_cpu_map *map)
{
	uint8_t any;
	uint16_t first, last;
	if (!cursor_u8(cursor, &any) || !cursor_skip(cursor, 1) || !cursor_u16(cursor, &first) ||
	    !cursor_u16(cursor, &last) || last < first)
		return false;
	map->any = any;
	for (uint32_t cpu = first; cpu <= last; cpu++)
		cpus[map->count++] = cpu;
	return true;
}

static bool decode_cpu_map(struct decoder *decoder, struct cursor *cursor, struct sp_cpu_map *map)
{
	if (!cursor_u16(cursor, &map->kind))
		return false;
	uint32_t *cpus = scratch_take(decoder, CPUS_MOST * sizeof(*cpus));
	map->cpus = cpus;
	switch (map->kind) {
	case 0:
		return decode_cpu_list(cursor, cpus, map);
	case 1:
		return decode_cpu_mask(cursor, cpus, map);
	case 2:
		return decode_cpu_range(cursor, cpus, map);
	default:
		/* Kinds of later versions of perf stay empty. */
		return true;
	}
}

static bool decode_event_update(struct decoder *decoder, struct cursor *cursor,
				struct sp_event_update *update)
{
	uint64_t bits;
	update->data = (struct sp_bytes){cursor->pos, cursor_left(cursor)};
	switch (update->kind) {
	case SP_EVENT_UPDATE_UNIT:
	case SP_EVENT_UPDATE_NAME:
		return cursor_text(cursor, &update->text);
	case SP_EVENT_UPDATE_SCALE:
		if (!cursor_u64(cursor, &bits))
			return false;
		memcpy(&update->scale, &bits, sizeof(update->scale));
		return true;
	case SP_EVENT_UPDATE_CPUS:
		return decode_cpu_map(decoder, cursor, &update->cpus);
	default:
		return true;
	}
}

static bool decode_stat_config(struct decoder *decoder, struct cursor *cursor,
			       struct sp_stat_config *config)
{
	_Static_assert(sizeof(struct sp_stat_config_entry) == 16, "two words, as in the record");
	uint64_t count;
	const uint64_t *words;
	if (!cursor_u64(cursor, &count) || !read_rows(decoder, cursor, count, 2, &words))
		return false;
	config->entries = (const struct sp_stat_config_entry *)words;
	config->count = count;
	return true;
}

static bool decode_time_conv(struct cursor *cursor, struct sp_time_conv *conv)
{
	uint8_t zero, is_short;
	if (cursor_left(cursor) < 18)
		return true;
	bool good = cursor_u64(cursor, &conv->cycles) && cursor_u64(cursor, &conv->mask) &&
		    cursor_u8(cursor, &zero) && cursor_u8(cursor, &is_short);
	conv->cap_user_time_zero = good && zero;
	conv->cap_user_time_short = good && is_short;
	return good;
}

#define BPF_PROG_NAME_SIZE 512
#define BPF_KEY_SIZE 64
#define BPF_VALUE_SIZE 256

static bool decode_bpf_metadata(struct decoder *decoder, struct cursor *cursor,
				struct sp_bpf_metadata *metadata)
{
	uint64_t count;
	if (!cursor_string(cursor, BPF_PROG_NAME_SIZE, &metadata->prog_name) ||
	    !cursor_u64(cursor, &count) ||
	    count > cursor_left(cursor) / (BPF_KEY_SIZE + BPF_VALUE_SIZE))
		return false;
	struct sp_bpf_metadata_entry *entries = scratch_take(decoder, count * sizeof(*entries));
	for (uint64_t i = 0; i < count; i++)
		if (!cursor_string(cursor, BPF_KEY_SIZE, &entries[i].key) ||
		    !cursor_string(cursor, BPF_VALUE_SIZE, &entries[i].value))
			return false;
	metadata->entries = entries;
	metadata->count = count;
	return true;
}

static bool decode_schedstat_domain(struct decoder *decoder, struct cursor *cursor,
				    struct sp_schedstat_domain *stat)
{
	stat->count = cursor_left(cursor) / 4;
	uint32_t *counts = scratch_take(decoder, stat->count * sizeof(*counts));
	for (size_t i = 0; i < stat->count; i++)
		if (!cursor_u32(cursor, &counts[i]))
			return false;
	stat->counts = counts;
	return true;
}

static struct sp_error *decode_header_attr(struct decoder *decoder, struct cursor *cursor,
					   struct sp_header_attr *attr)
{
	TRY(attr_decode(cursor, cursor_left(cursor), &attr->attr, &attr->tail));
	size_t count = cursor_left(cursor) / 8;
	if (read_words(decoder, cursor, count, &attr->ids))
		attr->id_count = count;
	return NULL;
}

/* Reads a char[64], which a name of 64 bytes fills without a NUL. Returns false if it is empty. */
static bool read_array_name(struct decoder *decoder, struct cursor *cursor, const char **ret)
{
	size_t left = cursor_left(cursor);
	if (!left || cursor_text(cursor, ret))
		return left;
	char *name = scratch_take(decoder, left + 1);
	const uint8_t *bytes = cursor->pos;
	memcpy(name, bytes, left);
	name[left] = '\0';
	*ret = name;
	return cursor_skip(cursor, left);
}

/* Decodes the fields. Returns false if they do not fit. */
static bool decode_user_fields(struct decoder *decoder, struct cursor *cursor, struct sp_record *record)
{
	if (!decode_fixed_fields(cursor, record))
		return false;
	switch (record->type) {
	case SP_RECORD_HEADER_EVENT_TYPE:
		return read_array_name(decoder, cursor, &record->event_type.name);
	case SP_RECORD_HEADER_BUILD_ID:
		return decode_build_id(cursor, record);
	case SP_RECORD_HEADER_FEATURE:
		record->feature.payload = (struct sp_bytes){cursor->pos, cursor_left(cursor)};
		return true;
	case SP_RECORD_ID_INDEX:
		return decode_id_index(decoder, cursor, &record->id_index);
	case SP_RECORD_AUXTRACE_INFO:
		record->auxtrace_info.count = cursor_left(cursor) / 8;
		return read_words(decoder, cursor, record->auxtrace_info.count,
				  &record->auxtrace_info.priv);
	case SP_RECORD_AUXTRACE_ERROR:
		return decode_auxtrace_error(cursor, &record->auxtrace_error);
	case SP_RECORD_THREAD_MAP:
		return decode_thread_map(decoder, cursor, &record->thread_map);
	case SP_RECORD_CPU_MAP:
		return decode_cpu_map(decoder, cursor, &record->cpu_map);
	case SP_RECORD_STAT_CONFIG:
		return decode_stat_config(decoder, cursor, &record->stat_config);
	case SP_RECORD_EVENT_UPDATE:
		return decode_event_update(decoder, cursor, &record->event_update);
	case SP_RECORD_TIME_CONV:
		return decode_time_conv(cursor, &record->time_conv);
	case SP_RECORD_BPF_METADATA:
		return decode_bpf_metadata(decoder, cursor, &record->bpf_metadata);
	case SP_RECORD_SCHEDSTAT_DOMAIN:
		return decode_schedstat_domain(decoder, cursor, &record->schedstat_domain);
	default:
		return true;
	}
}

struct sp_error *decode_user_record(struct decoder *decoder, struct cursor *cursor,
				    struct sp_record *record)
{
	if (record->type == SP_RECORD_HEADER_ATTR)
		return decode_header_attr(decoder, cursor, &record->attr);
	if (!decode_user_fields(decoder, cursor, record))
		return cursor_error(cursor, "%s of %zu bytes is cut short",
				    sp_record_type_name(record->type), record->size);
	return NULL;
}
