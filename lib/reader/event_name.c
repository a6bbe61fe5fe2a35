/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Derives the names of events from their attrs and from features of the file. */
#include "reader/event_name.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/diagnosis.h"
#include "base/hash.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "file/tracing_data.h"

struct sp_error *events_add(struct sp_reader *reader, const struct sp_event *event)
{
	if (reader->events.count >= EVENTS_MAX)
		return error_new(SP_ERROR_LIMIT, "%s: more than %d events",
				 reader->path, EVENTS_MAX);
	NEED(vec_append(&reader->events, *event));
	return NULL;
}

size_t sp_reader_event_count(const struct sp_reader *reader)
{
	return reader->layout.event_count;
}

const struct sp_event *sp_reader_event(const struct sp_reader *reader, size_t index)
{
	assert(index < reader->layout.event_count);
	return &reader->layout.events[index];
}

#define NAME_MAX_SIZE 200

/* Key of simpleperf's event names in feature META_INFO. Each line is "NAME,TYPE,CONFIG". */
#define META_EVENTS "event_type_info"

/* Names of tracepoints that other features have. A zeroed struct has none. */
struct recorded_names {
	VEC(const char *) names; /* names, in the reader's arena */
	struct u64map name_of;   /* type and config -> index in names */
};

struct names_reader {
	struct recorded_names *names;
	struct sp_reader *reader;
};

static void recorded_names_deinit(struct recorded_names *names)
{
	vec_deinit(&names->names);
	u64map_deinit(&names->name_of);
}

static uint64_t key_of(uint32_t type, uint64_t config)
{
	return hash_pair(type, config);
}

/* Adds an event's name; of several names, the first is kept. Returns false when out of memory. */
static bool add_name(struct names_reader *reading, uint32_t type, uint64_t config, const char *name)
{
	struct recorded_names *names = reading->names;
	const char **kept = u64map_item(&names->name_of, key_of(type, config), &names->names);
	if (kept && !*kept)
		*kept = reader_copy_text(reading->reader, name, strlen(name));
	return kept && *kept;
}

/* Adds the name of a tracepoint from its format, as "name: sched_switch\nID: 314\n…". */
static bool add_format(void *arg, enum trace_file kind, const char *system, const char *text,
		       size_t size)
{
	char head[NAME_MAX_SIZE], name[NAME_MAX_SIZE], full[2 * NAME_MAX_SIZE];
	unsigned long long id;
	if (kind != TRACE_FORMAT && kind != TRACE_FTRACE_FORMAT)
		return true;
	size = size < sizeof(head) ? size : sizeof(head);
	snprintf(head, sizeof(head), "%.*s", (int)size, text);
	if (sscanf(head, "name: %199s ID: %llu", name, &id) != 2)
		return true;
	snprintf(full, sizeof(full), "%.199s:%s", system ?: "ftrace", name);
	return add_name(arg, PERF_TYPE_TRACEPOINT, id, full);
}

static bool read_tracing_data(struct names_reader *reading)
{
	const struct feature_payload *feature = &reading->reader->features[FEATURE_TRACING_DATA];
	const struct trace_visitor visitor = {NULL, add_format, reading};
	if (!feature->present)
		return true;
	/* Damage in TRACING_DATA is reported later, when fields of tracepoints are shown. */
	return !error_if_no_memory(trace_container_read(&feature->bytes, "", &visitor));
}

/* Adds the names in `text`, which has lines "NAME,TYPE,CONFIG". */
static bool add_lines(struct names_reader *reading, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		char line[NAME_MAX_SIZE], name[NAME_MAX_SIZE];
		unsigned int type;
		unsigned long long config;
		size_t used = size < sizeof(line) ? size : sizeof(line);
		snprintf(line, sizeof(line), "%.*s", (int)used, text);
		if (sscanf(line, "%199[^,],%u,%llu", name, &type, &config) == 3 &&
		    !add_name(reading, type, config, name))
			return false;
		text += size + (text[size] == '\n');
	}
	return true;
}

/* Reads feature META_INFO of simpleperf: pairs of NUL-terminated strings, key and value. */
static bool read_meta_info(struct names_reader *reading)
{
	const struct feature_payload *feature =
		&reading->reader->features[FEATURE_SIMPLEPERF_META_INFO];
	if (!feature->present || !feature->bytes.size)
		return true;
	const char *at = (const char *)feature->bytes.bytes, *end = at + feature->bytes.size;
	while (at < end) {
		const char *value = memchr(at, 0, end - at);
		const char *last = value ? memchr(value + 1, 0, end - value - 1) : NULL;
		if (!last)
			break;
		if (!strcmp(at, META_EVENTS) && !add_lines(reading, value + 1))
			return false;
		at = last + 1;
	}
	return true;
}

/*
 * Reads feature TRACING_DATA (the name of each tracepoint's format) and simpleperf's META_INFO.
 * Skips damaged entries. Returns false when out of memory.
 */
static bool read_recorded(struct recorded_names *names, struct sp_reader *reader)
{
	struct names_reader reading = {names, reader};
	return read_tracing_data(&reading) && read_meta_info(&reading);
}

static const char *const hardware_names[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches",
	"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const char *const cache_operations[] = {"load", "store", "prefetch"};

static void name_cache(uint32_t config, char *name, size_t size)
{
	uint32_t cache = config & 0xff, operation = config >> 8 & 0xff;
	uint32_t result = config >> 16 & 0xff;
	if (cache >= count_of(cache_names) || operation >= count_of(cache_operations) ||
	    result > 1 || config >> 24)
		snprintf(name, size, "cache-0x%x", config);
	else if (result)
		snprintf(name, size, "%s-%s-misses", cache_names[cache],
			 cache_operations[operation]);
	else
		snprintf(name, size, "%s-%s%s", cache_names[cache], cache_operations[operation],
			 operation == 2 ? "es" : "s");
}

static void name_breakpoint(const struct perf_event_attr *attr, char *name, size_t size)
{
	snprintf(name, size, "mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr,
		 attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
		 attr->bp_type & 4 ? "x" : "");
}

/* Feature PMU_MAPPINGS has u32 count, then for each PMU u32 type and its name. */
bool event_pmu_name(const struct sp_reader *reader, uint32_t wanted, char name[EVENT_PMU_NAME])
{
	const struct feature_payload *feature = &reader->features[FEATURE_PMU_MAPPINGS];
	struct cursor cursor = reader_cursor(reader, feature->bytes.bytes, feature->bytes.size,
					     feature->offset);
	uint32_t count, type, length;
	const uint8_t *text;
	if (!feature->present || !cursor_u32(&cursor, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!cursor_u32(&cursor, &type) || !cursor_u32(&cursor, &length) ||
		    !cursor_bytes(&cursor, length, &text))
			return false;
		if (type != wanted)
			continue;
		size_t most = length < EVENT_PMU_NAME - 1 ? length : EVENT_PMU_NAME - 1;
		snprintf(name, EVENT_PMU_NAME, "%.*s", (int)strnlen((const char *)text, most),
			 (const char *)text);
		return true;
	}
	return false;
}

/*
 * Names a tracepoint by the recorded names, because its number is valid only on the recording machine.
 */
static void name_tracepoint(const struct perf_event_attr *attr, const struct recorded_names *names,
			    char *name, size_t size)
{
	const uint32_t *index = u64map_find(&names->name_of, key_of(attr->type, attr->config));
	const char *recorded = index ? names->names.items[*index] : NULL;
	if (recorded)
		snprintf(name, size, "%s", recorded);
	else
		snprintf(name, size, "tracepoint:%llu", (unsigned long long)attr->config);
}

static void name_base(const struct sp_reader *reader, const struct perf_event_attr *attr,
		      const struct recorded_names *names, char *name, size_t size)
{
	/* On hybrid machines, the upper half of a generic event's config is the type of the PMU. */
	uint32_t config = attr->config;
	char pmu[EVENT_PMU_NAME];
	if (attr->type == PERF_TYPE_HARDWARE && config < count_of(hardware_names))
		snprintf(name, size, "%s", hardware_names[config]);
	else if (attr->type == PERF_TYPE_SOFTWARE && attr->config < count_of(software_names))
		snprintf(name, size, "%s", software_names[attr->config]);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		name_tracepoint(attr, names, name, size);
	else if (attr->type == PERF_TYPE_HW_CACHE)
		name_cache(config, name, size);
	else if (attr->type == PERF_TYPE_RAW)
		snprintf(name, size, "r%llx", (unsigned long long)attr->config);
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		name_breakpoint(attr, name, size);
	else if (event_pmu_name(reader, attr->type, pmu))
		snprintf(name, size, "%s/config=0x%llx/", pmu, (unsigned long long)attr->config);
	else
		snprintf(name, size, "type%u/config=0x%llx/", attr->type,
			 (unsigned long long)attr->config);
}

/* Returns the name that perf shows for an attr, in the reader's arena; NULL when out of memory. */
static const char *derive_name(struct sp_reader *reader, const struct perf_event_attr *attr,
			       const struct recorded_names *names)
{
	char base[512], modifiers[12], name[524];
	name_base(reader, attr, names, base, sizeof(base));

	/*
	 * Writes the modifiers of the privilege levels that are counted. H ("not the guests") is
	 * omitted, because perf's default for it changed in 6.13.
	 */
	char *at = modifiers;
	bool rings = attr->exclude_kernel || attr->exclude_user;
	*at++ = ':';
	if (rings && !attr->exclude_kernel)
		*at++ = 'k';
	if (rings && !attr->exclude_user)
		*at++ = 'u';
	for (unsigned int i = 0; i < attr->precise_ip; i++)
		*at++ = 'p';
	if (attr->exclude_host && !attr->exclude_guest)
		*at++ = 'G';
	*at = 0;
	if (at == modifiers + 1)
		*modifiers = 0;
	int size = snprintf(name, sizeof(name), "%s%s", base, modifiers);
	return reader_copy_text(reader, name, size);
}

struct sp_error *events_name(struct sp_reader *reader)
{
	CLEANUP(recorded_names_deinit) struct recorded_names names = {0};
	bool wanted = false;
	vec_each (item, &reader->events)
		wanted |= !item->name;
	if (wanted && !read_recorded(&names, reader))
		return error_no_memory();
	vec_each (event, &reader->events) {
		if (!event->name)
			event->name = derive_name(reader, &event->attr, &names);
		NEED(event->name);
		if (event_is_raw_wait(event))
			event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	}
	return NULL;
}
