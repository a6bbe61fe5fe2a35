/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds up events that hybrid CPUs count by one PMU for each kind of CPU: cpu_core/cycles/ and
 * cpu_atom/cycles/. Their sum has the ids of all of them, so that decoders and counts of losses
 * assign it their records.
 */
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/event_name.h"
#include "reader/feature_payloads.h"
#include "reader/pmus.h"

/* Limit of PMUs in a sum. */
#define PMUS_MAX 16

/* Parts of a name with a PMU: "cpu_core/cycles/Pu", "cpu_core/cycles:Pu/". */
struct name_parts {
	int pmu_length;
	const char *event;
	int event_length;
	const char *modifiers;
};

/* Event of one kind of CPU. */
struct cpu_kind_event {
	size_t index;        /* in the file */
	uint32_t type;       /* number of its PMU */
	const char *general; /* interned name without the PMU */
	const char *pmu;     /* the PMU's name */
};

/* Events with one name, each of another PMU, in ascending order of the PMUs' numbers. */
struct pmu_set {
	size_t first; /* lowest index of its events */
	size_t count;
	struct cpu_kind_event events[PMUS_MAX];
};

struct pmu_sets {
	VEC(struct pmu_set);
	struct strtab strings; /* names without PMUs, and the names of the CPUs' PMUs */
	struct u64map count_of; /* name and PMU -> number of events */
	struct u64map set_of;   /* name, and number of earlier events with it -> index of the set */
};

static void pmu_sets_deinit(struct pmu_sets *sets)
{
	vec_deinit(sets);
	strtab_deinit(&sets->strings);
	u64map_deinit(&sets->count_of);
	u64map_deinit(&sets->set_of);
}

static bool split_name(const char *name, struct name_parts *ret)
{
	const char *begin = strchr(name, '/'), *end = strrchr(name, '/');
	if (!begin || begin == name || end - begin < 2 || end - name > INT_MAX ||
	    memchr(begin + 1, '/', end - begin - 1))
		return false;
	*ret = (struct name_parts){(int)(begin - name), begin + 1, (int)(end - begin - 1), end + 1};
	return true;
}

/* Returns the name without a PMU: "cycles:Pu". The caller frees it. NULL when out of memory. */
static char *general_name(const char *name)
{
	struct name_parts parts;
	if (!split_name(name, &parts))
		return format_text("%s", name);
	return format_text("%.*s%s%s", parts.event_length, parts.event, *parts.modifiers ? ":" : "",
			   parts.modifiers);
}

static bool matches(const char *name, const char *pattern)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

/* Returns whether a text is the name of a sum: the name without the PMU, and the PMUs. */
static bool is_name_of_sum(const char *text, const char *general)
{
	size_t length = strlen(general);
	return !strncmp(text, general, length) && !strncmp(text + length, " (", 2);
}

bool sp_event_matches(const struct sp_event *event, const char *pattern)
{
	struct name_parts parts;
	if (matches(event->name, pattern))
		return true;
	if (!split_name(event->name, &parts))
		return false;
	CLEANUP_FREE char *general = general_name(event->name);
	return general && (matches(general, pattern) || is_name_of_sum(pattern, general));
}

/* Interns the names of PMUs in feature HYBRID_TOPOLOGY: u32 count, {text PMU, text CPUs}. */
static struct sp_error *read_pmus(struct sp_reader *reader, struct pmu_sets *sets)
{
	struct cursor cursor = feature_cursor(reader, FEATURE_HYBRID_TOPOLOGY);
	uint32_t count;
	const char *pmu, *cpus;
	if (!cursor_u32(&cursor, &count))
		return NULL;
	while (count-- && feature_text(reader, &cursor, &pmu) &&
	       feature_text(reader, &cursor, &cpus))
		NEED(strtab_add(&sets->strings, pmu));
	return reader->no_memory ? error_no_memory() : NULL;
}

/* Returns whether the event has a name, as "mem-loads,ldlat=30", not only a code: "event=0xd0". */
static bool is_named(const struct name_parts *parts)
{
	const char *comma = memchr(parts->event, ',', parts->event_length);
	size_t length = comma ? (size_t)(comma - parts->event) : (size_t)parts->event_length;
	return !memchr(parts->event, '=', length);
}

/*
 * Returns whether the event is one of hybrid CPUs. The kernel's own events have the PMU in config's
 * upper half. Others are the same on all CPUs only if they have a name, because codes differ.
 */
static bool is_of_pmu(const struct pmu_sets *sets, const struct sp_event *event, uint32_t *type_ret)
{
	const struct perf_event_attr *attr = &event->attr;
	struct name_parts parts;
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) {
		*type_ret = attr->config >> 32;
		return *type_ret;
	}
	*type_ret = attr->type;
	if (!split_name(event->name, &parts) || !is_named(&parts))
		return false;
	CLEANUP_FREE char *pmu = strndup(event->name, parts.pmu_length);
	return pmu && strtab_find(&sets->strings, pmu);
}

/* Names the PMU by the event's name, the recording's list of PMUs, or its number. */
static const char *name_pmu(struct sp_reader *reader, const struct sp_event *event, uint32_t type)
{
	char name[EVENT_PMU_NAME];
	struct name_parts parts;
	if (split_name(event->name, &parts))
		return reader_copy_text(reader, event->name, parts.pmu_length);
	if (!event_pmu_name(reader, type, name))
		snprintf(name, sizeof(name), "type%u", type);
	return reader_copy_text(reader, name, strlen(name));
}

/* Returns whether one attr decodes the records of both events. */
static bool same_records(const struct sp_event *a, const struct sp_event *b)
{
	struct perf_event_attr attrs[] = {a->attr, b->attr};
	for (size_t i = 0; i < 2; i++) {
		attrs[i].type = 0;
		attrs[i].config = attrs[i].config1 = attrs[i].config2 = 0;
		attrs[i].precise_ip = 0;
		attrs[i].disabled = attrs[i].enable_on_exec = 0;
	}
	return !memcmp(&attrs[0], &attrs[1], sizeof(attrs[0]));
}

/* Adds an event to a set, unless the set is full or of other records. */
static void add_to_set(struct pmu_set *set, const struct sp_event *events,
		       const struct cpu_kind_event *event)
{
	if (set->count == PMUS_MAX || !same_records(&events[set->first], &events[event->index]))
		return;
	size_t at = set->count++;
	for (; at && set->events[at - 1].type > event->type; at--)
		set->events[at] = set->events[at - 1];
	set->events[at] = *event;
}

/*
 * Finds the sets. If a PMU has several events of a name, they are in different sets, matched by
 * their order.
 */
static struct sp_error *find_sets(struct sp_reader *reader, struct pmu_sets *sets)
{
	const struct sp_event *events = reader->events.items;
	for (size_t i = 0; i < reader->events.count; i++) {
		struct cpu_kind_event event = {.index = i};
		if (!is_of_pmu(sets, &events[i], &event.type))
			continue;
		CLEANUP_FREE char *general = general_name(events[i].name);
		event.general = general ? strtab_add(&sets->strings, general) : NULL;
		event.pmu = name_pmu(reader, &events[i], event.type);
		NEED(event.general && event.pmu);
		uint64_t name = (uintptr_t)event.general;
		uint32_t *before =
			u64map_put(&sets->count_of, hash_pair(name, event.type), 0, NULL);
		NEED(before);
		struct pmu_set *set =
			u64map_item(&sets->set_of, hash_pair(name, (*before)++), sets);
		NEED(set);
		if (!set->count)
			set->first = i;
		add_to_set(set, events, &event);
	}
	return NULL;
}

/* Returns whether the list has the name, or is empty. */
static bool is_wanted(const char *name, const struct sp_string_list *names)
{
	vec_each (item, names)
		if (!strcmp(*item, name))
			return true;
	return !names->count;
}

static bool are_wanted(const struct pmu_set *set, const struct sp_event *events,
		       const struct sp_string_list *names)
{
	for (size_t i = 0; i < set->count; i++)
		if (!is_wanted(events[set->events[i].index].name, names))
			return false;
	return true;
}

/* Returns the name of a set's sum, in the reader's arena: "cycles:Pu (cpu_core + cpu_atom)". */
static const char *name_sum(struct sp_reader *reader, const struct pmu_set *set)
{
	CLEANUP_FREE char *name = format_text("%s (%s", set->events[0].general, set->events[0].pmu);
	for (size_t i = 1; name && i < set->count; i++) {
		char *longer = format_text("%s + %s", name, set->events[i].pmu);
		free(name);
		name = longer;
	}
	CLEANUP_FREE char *whole = name ? format_text("%s)", name) : NULL;
	return whole ? reader_copy_text(reader, whole, strlen(whole)) : NULL;
}

/* Makes the sum of a set's events. */
static struct sp_error *add_up(struct sp_reader *reader, const struct pmu_set *set,
			       struct sp_event *ret)
{
	const struct sp_event *events = reader->events.items;
	const char **names = arena_alloc(&reader->arena, set->count * sizeof(*names));
	size_t id_count = 0;
	for (size_t i = 0; i < set->count; i++)
		id_count += events[set->events[i].index].id_count;
	uint64_t *ids = arena_alloc(&reader->arena, (id_count + 1) * sizeof(*ids));
	*ret = events[set->first];
	ret->name = name_sum(reader, set);
	NEED(names && ids && ret->name);
	ret->ids = ids;
	ret->id_count = id_count;
	ret->added_names = names;
	ret->added_count = set->count;
	for (size_t i = 0; i < set->count; i++) {
		const struct sp_event *event = &events[set->events[i].index];
		names[i] = event->name;
		for (size_t j = 0; j < event->id_count; j++)
			*ids++ = event->ids[j];
	}
	/* The sum counts all CPUs. */
	if (ret->attr.type == PERF_TYPE_HARDWARE || ret->attr.type == PERF_TYPE_HW_CACHE)
		ret->attr.config &= UINT32_MAX;
	return NULL;
}

/* Sets the shown events. The next decoder is made anew, with their ids. */
static void show(struct sp_reader *reader, const struct sp_event *events, size_t count)
{
	reader->layout.events = events;
	reader->layout.event_count = count;
	decoder_free(reader->decoder);
	reader->decoder = NULL;
}

/* Shows the sums of sets, each in the place of its first event, and the other events. */
static struct sp_error *show_sums(struct sp_reader *reader, const struct pmu_sets *sets,
				  const struct sp_string_list *names)
{
	const struct sp_event *events = reader->events.items;
	size_t count = reader->events.count, shown = 0;
	CLEANUP_FREE const struct pmu_set **set_of = calloc(count, sizeof(*set_of));
	struct sp_event *list = arena_alloc(&reader->arena, count * sizeof(*list));
	uint16_t *sum_of = arena_alloc(&reader->arena, count * sizeof(*sum_of));
	NEED(set_of && list && sum_of);
	vec_each (set, sets) {
		bool wanted = set->count > 1 && are_wanted(set, events, names);
		for (size_t j = 0; wanted && j < set->count; j++)
			set_of[set->events[j].index] = set;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pmu_set *set = set_of[i];
		sum_of[i] = set && set->first < i ? sum_of[set->first] : (uint16_t)shown++;
		if (!set)
			list[sum_of[i]] = events[i];
		else if (set->first == i)
			TRY(add_up(reader, set, &list[sum_of[i]]));
	}
	show(reader, list, shown);
	reader->sum_of = sum_of;
	return NULL;
}

struct sp_error *sp_reader_add_up_pmus(struct sp_reader *reader, struct sp_string_list names)
{
	CLEANUP(pmu_sets_deinit) struct pmu_sets sets = {0};
	sp_reader_split_pmus(reader);
	TRY(read_pmus(reader, &sets));
	TRY(find_sets(reader, &sets));
	vec_each (item, &sets)
		if (item->count > 1)
			return show_sums(reader, &sets, &names);
	return NULL;
}

void sp_reader_split_pmus(struct sp_reader *reader)
{
	if (reader->sum_of)
		show(reader, reader->events.items, reader->events.count);
	reader->sum_of = NULL;
}

size_t reader_event_count(const struct sp_reader *reader)
{
	return reader->events.count;
}

size_t reader_sum_of(const struct sp_reader *reader, size_t index)
{
	return reader->sum_of ? reader->sum_of[index] : index;
}
