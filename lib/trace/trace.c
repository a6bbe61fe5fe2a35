/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text and fields of tracepoint samples, by the formats that the recording or tracefs has. */
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "proc/tracefs.h"
#include "reader/feature_payloads.h"
#include "trace/kernel_names.h"
#include "trace/trace_text.h"

/* A tracepoint of the recording. */
struct known_tracepoint {
	uint64_t id;
	struct format *format; /* NULL: not known */
};

struct sp_trace {
	struct arena arena;	 /* formats */
	VEC(struct known_tracepoint) known; /* sorted by id, without duplicates */
	struct kernel_names names;
	struct trace_text text;
	bool big_endian;
	/* The current sample: its bytes are in `raw`. */
	const struct format *format; /* NULL: none */
	struct trace_sample sample;
	VEC(uint8_t) raw;
	/*
	 * The sample's bytes with '_' for blanks in strings, so that no string imitates a field,
	 * and the text printed from them, made for the first sp_trace_field().
	 */
	VEC(uint8_t) quiet;
	struct trace_text quiet_text;
};

DEFINE_CLEANUP(struct sp_trace *, sp_trace_free)

static bool take_header(void *arg, const struct trace_header *header)
{
	struct sp_trace *trace = arg;
	trace->big_endian = header->big_endian;
	trace->sample.long_size = header->long_size;
	return true;
}

DEFINE_ORDER(compare_known, struct known_tracepoint, id)

static struct known_tracepoint *find_known(const struct sp_trace *trace, uint64_t id)
{
	struct known_tracepoint key = {.id = id};
	return !trace->known.count ? NULL
				   : bsearch(&key, trace->known.items, trace->known.count,
					     sizeof(key), compare_known);
}

/* Returns an event's format; NULL if it is unknown. */
static const struct format *find_format(const struct sp_trace *trace, const struct sp_event *event)
{
	const struct known_tracepoint *known = event->attr.type == PERF_TYPE_TRACEPOINT
					    ? find_known(trace, event->attr.config)
					    : NULL;
	return known ? known->format : NULL;
}

/* Adds a wanted format, the first one of each id. An invalid one is left out. False: no memory. */
static bool take_format(struct sp_trace *trace, const char *text, size_t size)
{
	uint64_t id;
	struct known_tracepoint *known = format_id(text, size, &id) ? find_known(trace, id) : NULL;
	bool no_memory = false;
	if (!known || known->format)
		return true;
	struct format *format = arena_alloc(&trace->arena, sizeof(*format));
	if (format &&
	    format_read(text, size, trace->sample.long_size, &trace->arena, format, &no_memory))
		known->format = format;
	return format && !no_memory;
}

/* Adds a file. One that cannot be parsed is left out; the other files are still used. */
static bool take_file(void *arg, enum trace_file kind, const char *system, const char *text,
		      size_t size)
{
	struct sp_trace *trace = arg;
	bool is_format = kind == TRACE_FORMAT || kind == TRACE_FTRACE_FORMAT;
	(void)system;
	if (!trace->known.count ||
	    (!is_format && kind != TRACE_KALLSYMS && kind != TRACE_PRINTK_FORMATS))
		return true;
	CLEANUP_FREE char *copy = malloc(size + 1);
	if (!copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (is_format)
		return take_format(trace, copy, strlen(copy));
	return kind == TRACE_PRINTK_FORMATS ? kernel_names_add_strings(&trace->names, copy)
					    : kernel_names_add_symbols(&trace->names, copy);
}

/* Whether the recording was made on this host under a kernel of the running release. */
static bool is_from_here(const struct sp_file_info *info)
{
	struct utsname here;
	return !uname(&here) && info->osrelease && info->hostname &&
	       !strcmp(info->osrelease, here.release) && !strcmp(info->hostname, here.nodename);
}

/* Reads a format that the recording lacks from tracefs. A missing one is not an error. */
static struct sp_error *read_live(struct sp_trace *trace, const struct tracefs *tracefs,
				  const struct sp_event *event)
{
	char system[128], name[128];
	/* No system or event has a name with a dot first, and ".." would leave the directory. */
	if (!event->name || sscanf(event->name, "%127[^:/]:%127[^:/]", system, name) != 2 ||
	    *system == '.' || *name == '.')
		return NULL;
	CLEANUP_FREE char *text = NULL;
	size_t size;
	int errnum = tracefs_format(tracefs, system, name, &text, &size);
	if (errnum == ENOMEM || (!errnum && !take_file(trace, TRACE_FORMAT, system, text, size)))
		return error_no_memory();
	return NULL;
}

static bool is_missing(const struct sp_trace *trace, const struct sp_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && !find_format(trace, event);
}

/* Reads formats that the recording lacks from this machine, if it was recorded here. */
static struct sp_error *read_missing(struct sp_trace *trace, struct sp_ctx *ctx,
				     const struct sp_reader *reader)
{
	CLEANUP(tracefs_deinit) struct tracefs tracefs = {.mount_fd = -1};
	size_t count = sp_reader_event_count(reader), at = 0;
	while (at < count && !is_missing(trace, sp_reader_event(reader, at)))
		at++;
	if (at == count || !is_from_here(sp_reader_info(reader)))
		return NULL;
	struct sp_error *error = tracefs_init(&tracefs, ctx);
	for (; !error && tracefs.path && at < count; at++)
		if (is_missing(trace, sp_reader_event(reader, at)))
			error = read_live(trace, &tracefs, sp_reader_event(reader, at));
	return error;
}

/* Adds ids without duplicates. */
static bool take_ids(struct sp_trace *trace, const uint64_t *ids, size_t count)
{
	if (!vec_reserve(&trace->known, count))
		return false;
	for (size_t i = 0; i < count; i++)
		*vec_push(&trace->known) = (struct known_tracepoint){.id = ids[i]};
	if (!trace->known.count)
		return true;
	vec_sort(&trace->known, compare_known);
	size_t kept = 1;
	for (size_t i = 1; i < trace->known.count; i++)
		if (trace->known.items[i].id != trace->known.items[kept - 1].id)
			trace->known.items[kept++] = trace->known.items[i];
	trace->known.count = kept;
	return true;
}

struct sp_error *trace_new(const struct trace_source *source, struct sp_trace **ret)
{
	CLEANUP(cleanup_sp_trace_free) struct sp_trace *trace = calloc(1, sizeof(*trace));
	NEED(trace);
	trace->big_endian = source->big_endian;
	trace->sample.long_size = sizeof(long);
	NEED(take_ids(trace, source->ids, source->id_count));
	const struct trace_visitor visitor = {take_header, take_file, trace};
	if (source->blob.size)
		TRY(trace_container_read(&source->blob, source->path, &visitor));
	NEED(kernel_names_sort(&trace->names));
	*ret = take_ptr(trace);
	return NULL;
}

struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
			      struct sp_trace **ret)
{
	CLEANUP(cleanup_sp_trace_free) struct sp_trace *trace = NULL;
	size_t count = sp_reader_event_count(reader);
	CLEANUP_FREE uint64_t *ids = calloc(count + 1, sizeof(*ids));
	struct trace_source source = {
		.blob = reader_feature(reader, TRACE_FEATURE),
		.path = sp_reader_info(reader)->path,
		.big_endian = sp_reader_info(reader)->big_endian,
		.ids = ids,
	};
	NEED(ids);
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (attr->type == PERF_TYPE_TRACEPOINT)
			ids[source.id_count++] = attr->config;
	}
	TRY(trace_new(&source, &trace));
	TRY(read_missing(trace, ctx, reader));
	*ret = take_ptr(trace);
	return NULL;
}

struct sp_error *sp_trace_check(const struct sp_reader *reader)
{
	const struct trace_visitor visitor = {NULL, NULL, NULL};
	struct sp_bytes blob = reader_feature(reader, TRACE_FEATURE);
	return blob.size ? trace_container_read(&blob, sp_reader_info(reader)->path, &visitor)
			 : NULL;
}

void sp_trace_free(struct sp_trace *trace)
{
	if (!trace)
		return;
	arena_deinit(&trace->arena);
	kernel_names_deinit(&trace->names);
	vec_deinit(&trace->known);
	vec_deinit(&trace->text.chars);
	vec_deinit(&trace->quiet_text.chars);
	vec_deinit(&trace->raw);
	vec_deinit(&trace->quiet);
	free(trace);
}

bool sp_trace_take(struct sp_trace *trace, const struct sp_event *event,
		   const struct sp_sample *sample)
{
	const struct format *format = find_format(trace, event);
	size_t size = sample->raw.size;
	trace->format = NULL;
	trace->quiet_text.chars.count = 0;
	if (!format || !size || !vec_reserve(&trace->raw, size))
		return false;
	memcpy(trace->raw.items, sample->raw.bytes, size);
	trace->sample.bytes = trace->raw.items;
	trace->sample.size = size;
	trace->sample.swap = trace->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	trace->sample.names = &trace->names;
	/* The first field is the format's id. */
	if (!value_fields_fit(&trace->sample, format) ||
	    value_read(&trace->sample, trace->sample.bytes, 2) != event->attr.config)
		return false;
	trace->format = format;
	return true;
}

static const char *made(const struct trace_text *text)
{
	return text->no_memory ? NULL : text->chars.items;
}

const char *sp_trace_text(struct sp_trace *trace, const struct sp_event *event,
			  const struct sp_sample *sample)
{
	if (!sp_trace_take(trace, event, sample))
		return NULL;
	text_begin(&trace->text, trace->sample.size);
	text_add_sample(&trace->text, &trace->sample, trace->format);
	return made(&trace->text);
}

const char *sp_trace_raw_text(struct sp_trace *trace, const struct sp_event *event,
			      const struct sp_sample *sample)
{
	if (!sp_trace_take(trace, event, sample))
		return NULL;
	text_begin(&trace->text, trace->sample.size);
	text_add_fields(&trace->text, &trace->sample, trace->format, true);
	return made(&trace->text);
}

size_t sp_trace_field_count(struct sp_trace *trace, const struct sp_event *event)
{
	const struct format *format = find_format(trace, event);
	return format ? format->field_count - format->common_count : 0;
}

const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event, size_t index)
{
	const struct format *format = find_format(trace, event);
	return format->fields[format->common_count + index].name;
}

bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event, const char *name)
{
	const struct format *format = find_format(trace, event);
	return format && format_field(format, name);
}

/* Prints the sample by its format, for a search of NAME=WORD. NULL when out of memory. */
static const char *quiet_text(struct sp_trace *trace)
{
	const struct format *format = trace->format;
	struct trace_sample quiet = trace->sample;
	if (trace->quiet_text.chars.count)
		return trace->quiet_text.chars.items;
	if (!vec_reserve(&trace->quiet, quiet.size))
		return NULL;
	memcpy(trace->quiet.items, quiet.bytes, quiet.size);
	for (size_t i = format->common_count; i < format->field_count; i++) {
		struct extent extent = {0};
		if (format->fields[i].flags & FIELD_STRING)
			(void)value_extent(&trace->sample, &format->fields[i],
					   &extent); /* it fits */
		uint8_t *bytes =
			trace->quiet.items + (extent.size ? extent.bytes - quiet.bytes : 0);
		for (size_t at = 0; at < extent.size; at++)
			if (bytes[at] == ' ')
				bytes[at] = '_';
	}
	quiet.bytes = trace->quiet.items;
	text_begin(&trace->quiet_text, quiet.size);
	text_add_sample(&trace->quiet_text, &quiet, format);
	return made(&trace->quiet_text);
}

/* Returns the value after "NAME=" at the beginning of a word, up to a blank; NULL: not found. */
static const char *find_in_quiet_text(struct sp_trace *trace, const char *name)
{
	size_t length = strlen(name);
	for (const char *word = quiet_text(trace); word && *word; word += strspn(word, " ")) {
		size_t size = strcspn(word, " ");
		if (size > length + 1 && !strncmp(word, name, length) && word[length] == '=') {
			text_begin(&trace->text, trace->sample.size);
			text_add(&trace->text, "%.*s", (int)(size - length - 1), word + length + 1);
			return made(&trace->text);
		}
		word += size;
	}
	return NULL;
}

const char *sp_trace_field(struct sp_trace *trace, const char *name, bool raw)
{
	const struct format_field *field = trace->format ? format_field(trace->format, name) : NULL;
	if (!field)
		return NULL;
	const char *text =
		raw || field->flags & FIELD_STRING ? NULL : find_in_quiet_text(trace, name);
	if (text)
		return text;
	text_begin(&trace->text, trace->sample.size);
	text_add_field(&trace->text, &trace->sample, trace->format, field, NULL);
	return made(&trace->text);
}
