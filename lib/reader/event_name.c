/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Derives the names of events from their attrs and from features of the file. */
#include "reader/event_name.h"

#include <stdio.h>
#include "file/reader_io.h"
#include "file/reader_struct.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

static void name_cache(const struct perf_event_attr *attr, char *name, size_t size)
{
	uint64_t cache = attr->config & 0xff, operation = attr->config >> 8 & 0xff;
	uint64_t result = attr->config >> 16 & 0xff;
	if (cache >= COUNT(cache_names) || operation >= COUNT(cache_operations) || result > 1 ||
	    attr->config >> 24)
		snprintf(name, size, "cache-0x%llx", (unsigned long long)attr->config);
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
	const char *recorded = recorded_names_find(names, attr->type, attr->config);
	if (recorded)
		snprintf(name, size, "%s", recorded);
	else
		snprintf(name, size, "tracepoint:%llu", (unsigned long long)attr->config);
}

static void name_base(const struct sp_reader *reader, const struct perf_event_attr *attr,
		      const struct recorded_names *names, char *name, size_t size)
{
	/* On hybrid machines, the upper half of a hardware event's config is the type of the PMU. */
	uint32_t config = (uint32_t)attr->config;
	char pmu[EVENT_PMU_NAME];
	if (attr->type == PERF_TYPE_HARDWARE && config < COUNT(hardware_names))
		snprintf(name, size, "%s", hardware_names[config]);
	else if (attr->type == PERF_TYPE_SOFTWARE && attr->config < COUNT(software_names))
		snprintf(name, size, "%s", software_names[attr->config]);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		name_tracepoint(attr, names, name, size);
	else if (attr->type == PERF_TYPE_HW_CACHE)
		name_cache(attr, name, size);
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

/*
 * Writes the modifiers of the privilege levels that are counted. H ("not the guests") is omitted,
 * because perf's default for it changed in 6.13.
 */
static void name_modifiers(const struct perf_event_attr *attr, char *modifiers)
{
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
}

const char *event_name_derive(struct sp_reader *reader, const struct perf_event_attr *attr,
			      const struct recorded_names *names)
{
	char base[512], modifiers[12], name[524];
	name_base(reader, attr, names, base, sizeof(base));
	name_modifiers(attr, modifiers);
	int size = snprintf(name, sizeof(name), "%s%s", base, modifiers);
	return reader_copy_text(reader, name, (size_t)size);
}
