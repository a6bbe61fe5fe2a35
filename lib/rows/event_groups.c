/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/event_groups.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "profile/ratio.h"
#include "reader/feature_payloads.h"
#include "reader/pmus.h"
#include "record/types.h"

/* perf's HEADER_GROUP_DESC: u32 count, and for each group {string name, u32 leader, u32 members}. */
#define FEATURE_GROUP_DESC 17

void event_groups_deinit(struct event_groups *groups)
{
	vec_deinit(groups);
}

/* Adds the ratios of the group's events, except those of events that different CPUs counted. */
static struct sp_error *add_ratios(const struct sp_reader *reader, struct arena *arena,
				   struct sp_group *group)
{
	size_t count = 0;
	CLEANUP_FREE const struct perf_event_attr **attrs =
		calloc(group->profile_count, sizeof(*attrs));
	NEED(attrs);
	for (size_t i = 0; i < group->profile_count; i++)
		attrs[i] = &sp_reader_event(reader, group->profiles[i])->attr;
	CLEANUP_FREE struct sp_ratio_kind *kinds =
		ratio_kinds(attrs, group->profile_count, &count);
	for (size_t i = 0; i < count; i++) {
		size_t above = group->profiles[kinds[i].numerator];
		size_t below = group->profiles[kinds[i].denominator];
		if (sp_reader_event(reader, above)->added_count ==
		    sp_reader_event(reader, below)->added_count)
			kinds[group->ratio_count++] = kinds[i];
	}
	size_t size = group->ratio_count * sizeof(*kinds);
	struct sp_ratio_kind *copy = kinds ? arena_alloc(arena, size + 1) : NULL;
	NEED(copy);
	memcpy(copy, kinds, size);
	group->ratios = copy;
	return NULL;
}

/* Events [first, first + count) of a file, as a group with a name. */
struct event_range {
	const char *name;
	size_t first, count;
};

static bool has_event(const struct sp_group *group, size_t event)
{
	for (size_t i = 0; i < group->profile_count; i++)
		if (group->profiles[i] == event)
			return true;
	return false;
}

/*
 * Returns whether there is a group of the same events. In the file, each kind of CPU has a group of
 * its own.
 */
static bool is_known(const struct event_groups *groups, const struct sp_group *group)
{
	vec_each (other, groups) {
		if (other->profile_count == group->profile_count &&
		    !memcmp(other->profiles, group->profiles,
			    group->profile_count * sizeof(*group->profiles)))
			return true;
	}
	return false;
}

/*
 * Adds the events of a range as a group, except those that only bring mappings. Adds none if fewer
 * than two are left, or the group is known.
 */
static struct sp_error *add_group(const struct sp_reader *reader, const struct event_range *range,
				  struct arena *arena, struct event_groups *groups)
{
	size_t *profiles = arena_alloc(arena, range->count * sizeof(*profiles));
	char *copy = arena_strdup(arena, range->name);
	struct sp_group group = {.name = copy, .profiles = profiles};
	NEED(profiles && copy);
	for (size_t i = range->first; i < range->first + range->count; i++) {
		size_t event = reader_sum_of(reader, i);
		const struct sp_event *of = sp_reader_event(reader, event);
		if (!record_is_dummy(&of->attr) && !(of->added_count && has_event(&group, event)))
			profiles[group.profile_count++] = event;
	}
	if (group.profile_count < 2 || is_known(groups, &group))
		return NULL;
	struct sp_error *error = add_ratios(reader, arena, &group);
	struct sp_group *slot = error ? NULL : vec_push(groups);
	if (slot)
		*slot = group;
	return error ? error : slot ? NULL : error_no_memory();
}

/* Reads a group. Returns false at the end of the readable part. */
static bool read_group(struct cursor *cursor, char name[256], uint32_t *leader, uint32_t *members)
{
	uint32_t size;
	const uint8_t *bytes;
	if (!cursor_u32(cursor, &size) || !cursor_bytes(cursor, size, &bytes))
		return false;
	size_t kept = size < 255 ? size : 255;
	memcpy(name, bytes, kept);
	name[kept] = '\0';
	if (!strcmp(name, "{anon_group}")) /* perf's name for groups without a name */
		*name = '\0';
	return cursor_u32(cursor, leader) && cursor_u32(cursor, members);
}

static struct sp_error *read_groups(const struct sp_reader *reader, struct arena *arena,
				    struct event_groups *groups)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	struct sp_bytes payload = reader_feature(reader, FEATURE_GROUP_DESC);
	bool swap = info->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct cursor cursor = cursor_make(payload.bytes, payload.size, swap, info->path, 0);
	size_t events = reader_event_count(reader), next = 0;
	uint32_t count, leader, members;
	char name[256];
	if (!payload.size || !cursor_u32(&cursor, &count))
		return NULL;
	/* Groups do not overlap, so more groups than events are an error. */
	while (count-- && read_group(&cursor, name, &leader, &members)) {
		if (leader < next || leader > events || members > events - leader)
			return NULL;
		TRY(add_group(reader, &(struct event_range){name, leader, members}, arena, groups));
		next = leader + members;
	}
	return NULL;
}

struct sp_error *event_groups_find(const struct sp_reader *reader, enum sp_grouping grouping,
				   struct arena *arena, struct event_groups *ret)
{
	*ret = (struct event_groups){0};
	if (grouping == SP_GROUPS_NONE)
		return NULL;
	if (grouping == SP_GROUPS_ALL)
		return add_group(reader, &(struct event_range){"", 0, reader_event_count(reader)},
				 arena, ret);
	return read_groups(reader, arena, ret);
}
