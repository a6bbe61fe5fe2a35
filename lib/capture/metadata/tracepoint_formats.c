/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Format of trace-cmd and perf (version 0.6), numbers in the machine's byte order:
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
#include "capture/metadata/tracepoint_formats.h"

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

struct tracepoint_formats {
	struct tracefs tracefs;
	struct { VEC(struct tracepoint); } points;
	struct put put;
};

/* -- Selection ----------------------------------------------------------------- */

static bool has_id(const struct tracepoint_formats *tracepoint_formats, const char *system, const char *name,
		   uint64_t id)
{
	uint64_t found;
	return !tracefs_id(&tracepoint_formats->tracefs, system, name, &found) && found == id;
}

static bool add_point(struct tracepoint_formats *tracepoint_formats, const char *system, const char *name)
{
	struct tracepoint point;
	snprintf(point.system, sizeof(point.system), "%s", system);
	snprintf(point.name, sizeof(point.name), "%s", name);
	vec_each (item, &tracepoint_formats->points)
		if (!strcmp(item->system, point.system) && !strcmp(item->name, point.name))
			return true;
	return vec_append(&tracepoint_formats->points, point);
}

/* Parses "SYSTEM:NAME", perhaps with modifiers. Returns whether the event is that tracepoint. */
static bool point_of_name(const struct tracepoint_formats *tracepoint_formats, const struct sp_event *event,
			  struct tracepoint *ret)
{
	return event->name && sscanf(event->name, "%127[^:/]:%127[^:/]", ret->system, ret->name) == 2 &&
	       has_id(tracepoint_formats, ret->system, ret->name, event->attr.config);
}

/* Finds the tracepoint with that id in one system. */
static bool point_of_system(const struct tracepoint_formats *tracepoint_formats, const char *system,
			    uint64_t id, struct tracepoint *ret)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	(void)tracefs_names(&tracepoint_formats->tracefs, system, &names);
	vec_each (item, &names) {
		if (!has_id(tracepoint_formats, system, *item, id))
			continue;
		snprintf(ret->system, sizeof(ret->system), "%s", system);
		snprintf(ret->name, sizeof(ret->name), "%s", *item);
		return true;
	}
	return false;
}

/* Finds the tracepoint with that id in all systems. */
static bool point_of_id(const struct tracepoint_formats *tracepoint_formats, uint64_t id,
			struct tracepoint *ret)
{
	CLEANUP(name_list_deinit) struct name_list systems = {0};
	bool found = false;
	(void)tracefs_names(&tracepoint_formats->tracefs, NULL, &systems);
	for (size_t i = 0; i < systems.count && !found; i++)
		found = point_of_system(tracepoint_formats, systems.items[i], id, ret);
	return found;
}

static struct sp_error *find_points(struct tracepoint_formats *tracepoint_formats,
				    const struct sp_event *events, size_t count, size_t *missing_ret)
{
	for (size_t i = 0; i < count; i++) {
		struct tracepoint point;
		if (events[i].attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		if (!tracepoint_formats->tracefs.path ||
		    (!point_of_name(tracepoint_formats, &events[i], &point) &&
		     !point_of_id(tracepoint_formats, events[i].attr.config, &point)))
			++*missing_ret;
		else if (!add_point(tracepoint_formats, point.system, point.name))
			return error_no_memory();
	}
	return NULL;
}

/* -- TRACING_DATA -------------------------------------------------------------- */

/* Writes the text's size as an integer of `size_bytes` bytes, and the text. */
static void put_text(struct tracepoint_formats *tracepoint_formats, size_t size_bytes, const char *text,
		     size_t size)
{
	uint64_t alternate = size;
	uint32_t narrow = size;
	put_bytes(&tracepoint_formats->put, size_bytes == 8 ? (void *)&alternate : &narrow, size_bytes);
	put_bytes(&tracepoint_formats->put, text, size);
}

/* Unreadable files are empty. */
static void put_file(struct tracepoint_formats *tracepoint_formats, size_t size_bytes, const char *file)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	if (tracefs_read(&tracepoint_formats->tracefs, file, &text, &size))
		size = 0;
	put_text(tracepoint_formats, size_bytes, text, size);
}

static void put_format(struct tracepoint_formats *tracepoint_formats, const struct tracepoint *point)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	if (tracefs_format(&tracepoint_formats->tracefs, point->system, point->name, &text, &size))
		size = 0;
	put_text(tracepoint_formats, 8, text, size);
}

/* Returns the number of tracepoints of that system, and writes them after the number. */
static void put_events(struct tracepoint_formats *tracepoint_formats, const char *system)
{
	uint32_t count = 0;
	vec_each (point, &tracepoint_formats->points)
		count += !strcmp(point->system, system);
	put_u32(&tracepoint_formats->put, count);
	vec_each (item, &tracepoint_formats->points)
		if (!strcmp(item->system, system))
			put_format(tracepoint_formats, item);
}

/* Returns whether a tracepoint is the first of its system. ftrace's own are written elsewhere. */
static bool begins_system(const struct tracepoint_formats *tracepoint_formats, size_t index)
{
	const struct tracepoint *points = tracepoint_formats->points.items;
	for (size_t i = 0; i < index; i++)
		if (!strcmp(points[i].system, points[index].system))
			return false;
	return strcmp(points[index].system, "ftrace") != 0;
}

static void put_all(struct tracepoint_formats *tracepoint_formats)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	static const char page[] = "header_page", event[] = "header_event";
	struct put *put = &tracepoint_formats->put;
	put_bytes(put, magic, sizeof(magic));
	put_u8(put, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_u8(put, sizeof(long));
	put_u32(put, sysconf(_SC_PAGESIZE));
	put_bytes(put, page, sizeof(page));
	put_file(tracepoint_formats, 8, "events/header_page");
	put_bytes(put, event, sizeof(event));
	put_file(tracepoint_formats, 8, "events/header_event");
	put_events(tracepoint_formats, "ftrace");

	uint32_t count = 0;
	for (size_t i = 0; i < tracepoint_formats->points.count; i++)
		count += begins_system(tracepoint_formats, i);
	put_u32(&tracepoint_formats->put, count);
	for (size_t i = 0; i < tracepoint_formats->points.count; i++) {
		const char *system = tracepoint_formats->points.items[i].system;
		if (!begins_system(tracepoint_formats, i))
			continue;
		put_bytes(&tracepoint_formats->put, system, strlen(system) + 1);
		put_events(tracepoint_formats, system);
	}

	put_u32(put, 0);
	put_file(tracepoint_formats, 4, "printk_formats");
	put_file(tracepoint_formats, 8, "saved_cmdlines");
}

struct sp_error *tracepoint_formats_describe(const struct sp_ctx *ctx, const struct sp_event *events,
					     size_t count, struct record_buffer *ret, size_t *missing_ret)
{
	struct tracepoint_formats tracepoint_formats = {.put = {.buffer = ret}};
	*missing_ret = 0;
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any |= events[i].attr.type == PERF_TYPE_TRACEPOINT;
	if (!any)
		return NULL;
	struct sp_error *error = tracefs_init(&tracepoint_formats.tracefs, ctx);
	if (!error)
		error = find_points(&tracepoint_formats, events, count, missing_ret);
	if (!error && tracepoint_formats.points.count)
		put_all(&tracepoint_formats);
	vec_deinit(&tracepoint_formats.points);
	tracefs_deinit(&tracepoint_formats.tracefs);
	return error ?: tracepoint_formats.put.no_memory ? error_no_memory() : NULL;
}
