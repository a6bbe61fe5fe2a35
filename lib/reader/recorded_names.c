/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/recorded_names.h"

#include <stdio.h>
#include <string.h>
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "file/tracing_data.h"

#define NAME_MAX_SIZE 200

/* Key of simpleperf's event names in feature META_INFO. Each line is "NAME,TYPE,CONFIG". */
#define META_EVENTS "event_type_info"

struct reading {
	struct recorded_names *names;
	struct sp_reader *reader;
};

void recorded_names_deinit(struct recorded_names *names)
{
	vec_deinit(&names->names);
	u64map_deinit(&names->name_of);
}

static uint64_t key_of(uint32_t type, uint64_t config)
{
	return hash_pair(type, config);
}

/* Adds an event's name; of several names, the first is kept. Returns false when out of memory. */
static bool add_name(struct reading *reading, uint32_t type, uint64_t config, const char *name)
{
	struct recorded_names *names = reading->names;
	bool added;
	if (!vec_reserve(&names->names, names->names.count + 1))
		return false;
	const uint32_t *index = u64map_put(&names->name_of, key_of(type, config),
					   (uint32_t)names->names.count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&names->names) = reader_copy_text(reading->reader, name, strlen(name));
	return *vec_last(&names->names) != NULL;
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

static bool read_tracing_data(struct reading *reading)
{
	const struct feature_payload *feature = &reading->reader->features[FEATURE_TRACING_DATA];
	const struct trace_visitor visitor = {NULL, add_format, reading};
	if (!feature->present)
		return true;
	/* Damage in TRACING_DATA is reported later, when fields of tracepoints are shown. */
	struct sp_error *error = trace_container_read(&feature->bytes, "", &visitor);
	bool done = !error || sp_error_code(error) != SP_ERROR_NO_MEMORY;
	sp_error_free(error);
	return done;
}

/* Adds the names in `text`, which has lines "NAME,TYPE,CONFIG". */
static bool add_lines(struct reading *reading, const char *text)
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
static bool read_meta_info(struct reading *reading)
{
	const struct feature_payload *feature =
		&reading->reader->features[FEATURE_SIMPLEPERF_META_INFO];
	if (!feature->present || !feature->bytes.size)
		return true;
	const char *at = (const char *)feature->bytes.bytes, *end = at + feature->bytes.size;
	while (at < end) {
		const char *value = memchr(at, 0, (size_t)(end - at));
		const char *last = value ? memchr(value + 1, 0, (size_t)(end - value - 1)) : NULL;
		if (!last)
			break;
		if (!strcmp(at, META_EVENTS) && !add_lines(reading, value + 1))
			return false;
		at = last + 1;
	}
	return true;
}

bool recorded_names_read(struct recorded_names *names, struct sp_reader *reader)
{
	struct reading reading = {names, reader};
	return read_tracing_data(&reading) && read_meta_info(&reading);
}

const char *recorded_names_find(const struct recorded_names *names, uint32_t type, uint64_t config)
{
	const uint32_t *index = u64map_find(&names->name_of, key_of(type, config));
	return index ? names->names.items[*index] : NULL;
}
