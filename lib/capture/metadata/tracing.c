/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As trace-cmd and perf have it (version 0.6), numbers in the machine's byte order:
 *
 *	23 8 68 "tracing" "0.6\0"  u8 big-endian  u8 size of long  u32 size of page
 *	"header_page\0"   u64 size, text
 *	"header_event\0"  u64 size, text
 *	u32 count of ftrace's own events, of each u64 size, text
 *	u32 count of systems, of each: name, NUL, u32 count of events, of each u64 size, text
 *	u32 size of kallsyms: 0, which perf never looks at
 *	u32 size, text of printk_formats
 *	u64 size, text of saved_cmdlines
 */
#include "capture/metadata/tracing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "proc/tracefs.h"
#include "record/put.h"

#define NAME_MAX_ 128

struct tracepoint {
	char system[NAME_MAX_], name[NAME_MAX_];
};

struct tracing {
	struct tracefs tracefs;
	struct { VEC(struct tracepoint); } points;
	struct put put;
};

/* -- Which they are -------------------------------------------------------- */

static bool has_id(const struct tracing *tracing, const char *system, const char *name,
		   uint64_t id)
{
	uint64_t found;
	return !tracefs_id(&tracing->tracefs, system, name, &found) && found == id;
}

static bool add_point(struct tracing *tracing, const char *system, const char *name)
{
	struct tracepoint point;
	snprintf(point.system, sizeof(point.system), "%s", system);
	snprintf(point.name, sizeof(point.name), "%s", name);
	for (size_t i = 0; i < tracing->points.count; i++)
		if (!strcmp(tracing->points.items[i].system, point.system) &&
		    !strcmp(tracing->points.items[i].name, point.name))
			return true;
	struct tracepoint *slot = vec_push(&tracing->points);
	if (slot)
		*slot = point;
	return slot;
}

/* "SYSTEM:NAME" and perhaps modifiers, if it is that one. */
static bool point_of_name(const struct tracing *tracing, const struct sp_event *event,
			  struct tracepoint *ret)
{
	return event->name && sscanf(event->name, "%127[^:/]:%127[^:/]", ret->system, ret->name) == 2 &&
	       has_id(tracing, ret->system, ret->name, event->attr.config);
}

/* Whoever of the system has that id. */
static bool point_of_system(const struct tracing *tracing, const char *system, uint64_t id,
			    struct tracepoint *ret)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	(void)tracefs_names(&tracing->tracefs, system, &names);
	for (size_t i = 0; i < names.count; i++) {
		if (!has_id(tracing, system, names.items[i], id))
			continue;
		snprintf(ret->system, sizeof(ret->system), "%s", system);
		snprintf(ret->name, sizeof(ret->name), "%s", names.items[i]);
		return true;
	}
	return false;
}

/* Whoever has that id: looked for in all there are. */
static bool point_of_id(const struct tracing *tracing, uint64_t id, struct tracepoint *ret)
{
	CLEANUP(name_list_deinit) struct name_list systems = {0};
	bool found = false;
	(void)tracefs_names(&tracing->tracefs, NULL, &systems);
	for (size_t i = 0; i < systems.count && !found; i++)
		found = point_of_system(tracing, systems.items[i], id, ret);
	return found;
}

static struct sp_error *find_points(struct tracing *tracing, const struct sp_event *events,
				    size_t count, size_t *missing_ret)
{
	for (size_t i = 0; i < count; i++) {
		struct tracepoint point;
		if (events[i].attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		if (!tracing->tracefs.path || (!point_of_name(tracing, &events[i], &point) &&
					 !point_of_id(tracing, events[i].attr.config, &point)))
			++*missing_ret;
		else if (!add_point(tracing, point.system, point.name))
			return error_no_memory();
	}
	return NULL;
}

/* -- What is said of them -------------------------------------------------- */

/* The text's size, in so many bytes, and the text. */
static void put_text(struct tracing *tracing, size_t size_bytes, const char *text, size_t size)
{
	uint64_t wide = size;
	uint32_t narrow = (uint32_t)size;
	put_bytes(&tracing->put, size_bytes == 8 ? (void *)&wide : &narrow, size_bytes);
	put_bytes(&tracing->put, text, size);
}

/* What cannot be read is empty. */
static void put_file(struct tracing *tracing, size_t size_bytes, const char *file)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	if (tracefs_read(&tracing->tracefs, file, &text, &size))
		size = 0;
	put_text(tracing, size_bytes, text, size);
}

static void put_format(struct tracing *tracing, const struct tracepoint *point)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	if (tracefs_format(&tracing->tracefs, point->system, point->name, &text, &size))
		size = 0;
	put_text(tracing, 8, text, size);
}

/* How many are of that system; they are put behind it. */
static void put_events(struct tracing *tracing, const char *system)
{
	uint32_t count = 0;
	for (size_t i = 0; i < tracing->points.count; i++)
		count += !strcmp(tracing->points.items[i].system, system);
	put_u32(&tracing->put, count);
	for (size_t i = 0; i < tracing->points.count; i++)
		if (!strcmp(tracing->points.items[i].system, system))
			put_format(tracing, &tracing->points.items[i]);
}

/* Whether no one before is of the same system; ftrace's own have a place of their own. */
static bool begins_system(const struct tracing *tracing, size_t index)
{
	const struct tracepoint *points = tracing->points.items;
	for (size_t i = 0; i < index; i++)
		if (!strcmp(points[i].system, points[index].system))
			return false;
	return strcmp(points[index].system, "ftrace") != 0;
}

static void put_systems(struct tracing *tracing)
{
	uint32_t count = 0;
	for (size_t i = 0; i < tracing->points.count; i++)
		count += begins_system(tracing, i);
	put_u32(&tracing->put, count);
	for (size_t i = 0; i < tracing->points.count; i++) {
		const char *system = tracing->points.items[i].system;
		if (!begins_system(tracing, i))
			continue;
		put_bytes(&tracing->put, system, strlen(system) + 1);
		put_events(tracing, system);
	}
}

static void put_all(struct tracing *tracing)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	static const char page[] = "header_page", event[] = "header_event";
	struct put *put = &tracing->put;
	put_bytes(put, magic, sizeof(magic));
	put_u8(put, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_u8(put, sizeof(long));
	put_u32(put, (uint32_t)sysconf(_SC_PAGESIZE));
	put_bytes(put, page, sizeof(page));
	put_file(tracing, 8, "events/header_page");
	put_bytes(put, event, sizeof(event));
	put_file(tracing, 8, "events/header_event");
	put_events(tracing, "ftrace");
	put_systems(tracing);
	put_u32(put, 0);
	put_file(tracing, 4, "printk_formats");
	put_file(tracing, 8, "saved_cmdlines");
}

struct sp_error *tracing_describe(const struct sp_ctx *ctx, const struct sp_event *events,
				  size_t count, struct record_buffer *ret, size_t *missing_ret)
{
	struct tracing tracing = {.put = {.buffer = ret}};
	*missing_ret = 0;
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any |= events[i].attr.type == PERF_TYPE_TRACEPOINT;
	if (!any)
		return NULL;
	struct sp_error *error = tracefs_init(&tracing.tracefs, ctx);
	if (!error)
		error = find_points(&tracing, events, count, missing_ret);
	if (!error && tracing.points.count)
		put_all(&tracing);
	vec_deinit(&tracing.points);
	tracefs_deinit(&tracing.tracefs);
	return error ?: tracing.put.no_memory ? error_no_memory() : NULL;
}
