/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SYSTEM:NAME, where both may be globs. Each matching tracepoint is one event. */
#include "event/parser.h"

#include <errno.h>
#include <fnmatch.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/event_names.h"

/* Limit of tracepoints for a glob. A glob for all matches about 2,000. */
#define TRACEPOINTS_MOST 4096

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

struct tracepoints {
	struct parser *parser;
	const char *system, *name; /* the parts of the event string */
};

static struct sp_error *add(struct tracepoints *tracepoints, const char *system, const char *name,
			    uint64_t id)
{
	struct event_spec spec = event_spec_make(tracepoints->parser);
	CLEANUP_FREE char *whole = format_text("%s:%s", system, name);
	if (tracepoints->parser->specs->count > TRACEPOINTS_MOST)
		return error_set_remedy(error_new(SP_ERROR_INVALID,
						  "\"%s:%s\" matches more than %d tracepoints",
						  tracepoints->system, tracepoints->name,
						  TRACEPOINTS_MOST), "use a narrower pattern");
	spec.attr.type = PERF_TYPE_TRACEPOINT;
	spec.attr.config = id;
	if (whole)
		spec.name = parser_copy_slice(tracepoints->parser,
					      (struct text_slice){whole, strlen(whole)});
	return spec.name ? parser_add(tracepoints->parser, &spec) : error_no_memory();
}

/* Returns the error for a tracepoint with an id that this user cannot read. */
static struct sp_error *forbid(struct tracepoints *tracepoints)
{
	tracepoints->parser->tracefs.state = TRACEFS_FORBIDDEN;
	return tracefs_error(&tracepoints->parser->tracefs, "a tracepoint");
}

static struct sp_error *add_system(struct tracepoints *tracepoints, const char *system)
{
	const struct tracefs *tracefs = &tracepoints->parser->tracefs;
	CLEANUP(name_list_deinit) struct name_list names = {0};
	uint64_t id;
	if (!is_glob(tracepoints->name)) {
		int errnum = tracefs_id(tracefs, system, tracepoints->name, &id);
		return errnum == EACCES ? forbid(tracepoints)
		       : errnum		? NULL
					: add(tracepoints, system, tracepoints->name, id);
	}
	if (tracefs_names(tracefs, system, &names) == ENOMEM)
		return error_no_memory();
	vec_each (item, &names) {
		if (fnmatch(tracepoints->name, *item, 0) != 0)
			continue;
		int errnum = tracefs_id(tracefs, system, *item, &id);
		if (errnum == EACCES)
			return forbid(tracepoints);
		if (errnum)
			continue;
		TRY(add(tracepoints, system, *item, id));
	}
	return NULL;
}

static struct sp_error *add_all(struct tracepoints *tracepoints)
{
	CLEANUP(name_list_deinit) struct name_list systems = {0};
	if (!is_glob(tracepoints->system))
		return add_system(tracepoints, tracepoints->system);
	if (tracefs_names(&tracepoints->parser->tracefs, NULL, &systems) == ENOMEM)
		return error_no_memory();
	struct sp_error *error = NULL;
	for (size_t i = 0; i < systems.count && !error; i++)
		/* The system "ftrace" has formats of the tracers' own records, which are no events. */
		if (fnmatch(tracepoints->system, systems.items[i], 0) == 0 &&
		    strcmp(systems.items[i], "ftrace") != 0)
			error = add_system(tracepoints, systems.items[i]);
	return error;
}

/* Suggest a similar name: an event of the system, else a system. */
static struct sp_error *unknown(struct tracepoints *tracepoints, const char *place,
				const char *name_place)
{
	struct parser *parser = tracepoints->parser;
	CLEANUP(name_list_deinit) struct name_list names = {0};
	CLEANUP_FREE char *near = NULL;
	bool globs = is_glob(tracepoints->system) || is_glob(tracepoints->name);
	bool has_system = !is_glob(tracepoints->system) &&
			  tracefs_names(&parser->tracefs, tracepoints->system, &names) == 0;
	if (!has_system && tracefs_names(&parser->tracefs, NULL, &names) == ENOMEM)
		return error_no_memory();
	struct sp_error *error =
		names_near(has_system ? tracepoints->name : tracepoints->system, &names, &near);
	if (error)
		return error;
	if (globs || has_system)
		error = parser_error(parser, has_system ? name_place : place,
				     globs ? "no tracepoint is like '%s:%s'" :
				     "unknown tracepoint '%s:%s'", tracepoints->system,
				     tracepoints->name);
	else
		error = parser_error(parser, place, "unknown event '%s:%s', and no tracepoint",
				     tracepoints->system, tracepoints->name);
	if (near && has_system)
		return error_set_remedy(error, "did you mean %s:%s?", tracepoints->system, near);
	if (near)
		return error_set_remedy(error, "did you mean %s:%s?", near, tracepoints->name);
	if (has_system)
		return error_set_remedy(error, "`sprof list '%s:*'` lists those of %s",
					tracepoints->system, tracepoints->system);
	return error_set_remedy(error, "`sprof list tracepoint` lists them");
}

struct sp_error *tracepoint_system_exists(struct parser *parser, struct text_slice system,
					  bool *ret)
{
	struct sp_error *error = parser_find_tracefs(parser);
	*ret = false;
	if (error || !parser->tracefs.path)
		return error;
	const char *name = parser_copy_slice(parser, system);
	NEED(name);
	CLEANUP_FREE char *path = format_text("%s/events/%s", parser->tracefs.path, name);
	NEED(path);
	*ret = is_glob(name) || access(path, F_OK) == 0;
	return NULL;
}

struct sp_error *parse_tracepoint(struct parser *parser, struct text_slice system)
{
	struct text_slice name = parser_read_word(parser);
	size_t before = parser->specs->count;
	struct tracepoints tracepoints = {
		.parser = parser,
		.system = parser_copy_slice(parser, system),
		.name = parser_copy_slice(parser, name),
	};
	NEED(tracepoints.system && tracepoints.name);
	if (!name.size)
		return error_set_remedy(parser_error(parser, name.text, "invalid tracepoint name"),
					"`sprof list '%s:*'` lists them", tracepoints.system);
	TRY(parser_find_tracefs(parser));
	if (!parser->tracefs.path)
		return parser_prefix_error(parser, system.text,
					   tracefs_error(&parser->tracefs, "a tracepoint"));
	struct sp_error *error = add_all(&tracepoints);
	if (error && parser->tracefs.state == TRACEFS_FORBIDDEN)
		return parser_prefix_error(parser, system.text, error);
	if (error || parser->specs->count > before)
		return error;
	return unknown(&tracepoints, system.text, name.text);
}
