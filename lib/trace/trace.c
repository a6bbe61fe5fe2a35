/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text of tracepoint samples by libtraceevent. It trusts formats and samples, but a recording may be
 * hostile. So it gets only the formats that are needed and valid (trace/format.h), and only samples
 * that fit their formats (trace/validate.h), in a copy with zeros after it. For other samples the text
 * is libtraceevent's for a failure: "[FAILED TO PARSE]", and the fields.
 */
#include "trace/trace.h"

#include <errno.h>
#include <event-parse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <trace-seq.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/vec.h"
#include "proc/tracefs.h"
#include "trace/format.h"
#include "trace/lines.h"
#include "trace/validate.h"

/* A tracepoint of the recording. */
struct known {
	int id;
	struct tep_event *format; /* NULL: not known */
	bool printable;           /* its print format is valid; each sample is checked, too */
};

struct sp_trace {
	struct tep_handle *tep;
	VEC(struct known) known; /* sorted by id, without duplicates */
	struct trace_seq text;
	VEC(char) raw;
	/* The current sample: its bytes are in `raw`, followed by zeros. */
	struct tep_event *format; /* NULL: none. Its flag FAILED is set for this sample */
	struct tep_record record;
	VEC(char) quiet; /* the sample's bytes with '_' for blanks in strings */
	VEC(char) told;  /* text printed from `quiet`, made for the first sp_trace_field() */
};

DEFINE_CLEANUP(struct sp_trace *, sp_trace_free)

static bool take_header(void *arg, const struct trace_header *header)
{
	struct sp_trace *trace = arg;
	tep_set_file_bigendian(trace->tep, header->big_endian ? TEP_BIG_ENDIAN :
								TEP_LITTLE_ENDIAN);
	tep_set_long_size(trace->tep, header->long_size);
	return true;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static struct known *find_known(const struct sp_trace *trace, uint64_t id)
{
	struct known key = {.id = (int)id};
	return id > INT_MAX || !trace->known.count ? NULL :
	       bsearch(&key, trace->known.items, trace->known.count, sizeof(key), compare_known);
}

/* Returns the tracepoint of an event; NULL if its format is unknown. */
static const struct known *find_event(const struct sp_trace *trace, const struct sp_event *event)
{
	const struct known *known = event->attr.type == PERF_TYPE_TRACEPOINT ?
					    find_known(trace, event->attr.config) : NULL;
	return known && known->format ? known : NULL;
}

static struct tep_event *find_format(const struct sp_trace *trace, const struct sp_event *event)
{
	const struct known *known = find_event(trace, event);
	return known ? known->format : NULL;
}

/* Adds a format, the first one of each id. An invalid print format is left out. */
static void take_format(struct sp_trace *trace, char *text, size_t size, const char *system)
{
	struct format_facts facts;
	if (!format_read(text, size, (unsigned int)tep_get_long_size(trace->tep), &facts))
		return;
	struct known *known = find_known(trace, (uint64_t)facts.id);
	if (!known || known->format)
		return;
	(void)tep_parse_event(trace->tep, text, facts.printable ? size : facts.print, system);
	known->format = tep_find_event(trace->tep, facts.id);
	known->printable = known->format && validate_event(known->format);
	if (known->format && !known->printable)
		known->format->flags |= (int)TEP_EVENT_FL_FAILED;
}

/* Adds a file. One that cannot be parsed is left out; the other files are still used. */
static bool take_file(void *arg, enum trace_file kind, const char *system, const char *text,
		      size_t size)
{
	struct sp_trace *trace = arg;
	bool is_format = kind == TRACE_FORMAT || kind == TRACE_FTRACE_FORMAT;
	if (!trace->known.count ||
	    (!is_format && kind != TRACE_KALLSYMS && kind != TRACE_PRINTK_FORMATS))
		return true;
	CLEANUP_FREE char *copy = malloc(size + 1);
	if (!copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (is_format)
		take_format(trace, copy, strlen(copy), system ? system : "ftrace");
	else if (kind == TRACE_PRINTK_FORMATS)
		lines_take_printk(trace->tep, copy);
	else
		lines_take_kallsyms(trace->tep, copy);
	return true;
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

static void set_endian(struct sp_trace *trace, bool big_endian)
{
	tep_set_local_bigendian(trace->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ?
						    TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(trace->tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(trace->tep, sizeof(long));
}

/* Adds ids without duplicates. */
static bool take_ids(struct sp_trace *trace, const uint64_t *ids, size_t count)
{
	if (!vec_reserve(&trace->known, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (ids[i] <= INT_MAX)
			*vec_push(&trace->known) = (struct known){.id = (int)ids[i]};
	if (!trace->known.count)
		return true;
	qsort(trace->known.items, trace->known.count, sizeof(*trace->known.items), compare_known);
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
	tep_set_loglevel(TEP_LOG_NONE);
	trace->tep = tep_alloc();
	NEED(trace->tep);
	trace_seq_init(&trace->text);
	set_endian(trace, source->big_endian);
	NEED(take_ids(trace, source->ids, source->id_count));
	const struct trace_visitor visitor = {take_header, take_file, trace};
	struct sp_error *error = NULL;
	if (source->blob.size)
		error = trace_container_read(&source->blob, source->path, &visitor);
	if (!error)
		*ret = take_ptr(trace);
	return error;
}

struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
			      struct sp_trace **ret)
{
	CLEANUP(cleanup_sp_trace_free) struct sp_trace *trace = NULL;
	size_t count = sp_reader_event_count(reader);
	CLEANUP_FREE uint64_t *ids = calloc(count + 1, sizeof(*ids));
	struct trace_source source = {
		.blob = sp_reader_feature(reader, TRACE_FEATURE),
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

void sp_trace_free(struct sp_trace *trace)
{
	if (!trace)
		return;
	if (trace->tep) {
		trace_seq_destroy(&trace->text);
		tep_free(trace->tep);
	}
	vec_deinit(&trace->known);
	vec_deinit(&trace->raw);
	vec_deinit(&trace->quiet);
	vec_deinit(&trace->told);
	free(trace);
}

/* Returns the current sample, for validate_extent() and others. */
static struct validate_sample taken(const struct sp_trace *trace, size_t size)
{
	return (struct validate_sample){
		.bytes = (const uint8_t *)trace->raw.items,
		.size = size,
		.swap = tep_is_file_bigendian(trace->tep) != tep_is_local_bigendian(trace->tep),
	};
}

/*
 * Whether the sample's first two bytes are the format's id, because libtraceevent finds the format by
 * them.
 */
static bool is_of(const struct validate_sample *sample, const struct tep_event *format)
{
	uint16_t id;
	if (sample->size < sizeof(id))
		return false;
	memcpy(&id, sample->bytes, sizeof(id));
	return (sample->swap ? __builtin_bswap16(id) : id) == format->id;
}

bool sp_trace_take(struct sp_trace *trace, const struct sp_event *event,
		   const struct sp_sample *sample)
{
	const struct known *known = find_event(trace, event);
	size_t size = sample->raw.size;
	trace->format = NULL;
	trace->told.count = 0;
	if (!known || !size || !vec_reserve(&trace->raw, size + VALIDATE_SPARE))
		return false;
	memcpy(trace->raw.items, sample->raw.bytes, size);
	memset(trace->raw.items + size, 0, VALIDATE_SPARE);
	struct validate_sample bytes = taken(trace, size);
	if (!is_of(&bytes, known->format) || !validate_fields(&bytes, known->format))
		return false;
	if (known->printable && validate_print(&bytes, known->format))
		known->format->flags &= ~(int)TEP_EVENT_FL_FAILED;
	else
		known->format->flags |= (int)TEP_EVENT_FL_FAILED;
	trace->record = (struct tep_record){.cpu = (int)sample->cpu, .size = (int)size,
					    .data = trace->raw.items};
	trace->format = known->format;
	return true;
}

/* Prints a sample. Valid until the next call; NULL when out of memory. */
static const char *print(struct sp_trace *trace, struct tep_record *record)
{
	trace_seq_reset(&trace->text);
	tep_print_event(trace->tep, &trace->text, record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&trace->text);
	return trace->text.state == TRACE_SEQ__GOOD ? trace->text.buffer : NULL;
}

const char *sp_trace_text(struct sp_trace *trace, const struct sp_event *event,
			  const struct sp_sample *sample)
{
	return sp_trace_take(trace, event, sample) ? print(trace, &trace->record) : NULL;
}

const char *sp_trace_raw_text(struct sp_trace *trace, const struct sp_event *event,
			      const struct sp_sample *sample)
{
	if (!sp_trace_take(trace, event, sample))
		return NULL;
	trace_seq_reset(&trace->text);
	tep_record_print_fields(&trace->text, &trace->record, trace->format);
	trace_seq_terminate(&trace->text);
	return trace->text.state == TRACE_SEQ__GOOD ? trace->text.buffer : NULL;
}

size_t sp_trace_field_count(struct sp_trace *trace, const struct sp_event *event)
{
	const struct tep_event *format = find_format(trace, event);
	return format ? (size_t)format->format.nr_fields : 0;
}

const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event, size_t index)
{
	const struct tep_event *format = find_format(trace, event);
	const struct tep_format_field *field = format->format.fields;
	while (index--)
		field = field->next;
	return field->name;
}

bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event, const char *name)
{
	struct tep_event *format = find_format(trace, event);
	return format && tep_find_any_field(format, name);
}

/*
 * Prints the sample for a search of fields, as "NAME=WORD" each. Blanks in the sample's strings become
 * '_', so that a string cannot imitate another field. NULL when out of memory.
 */
static const char *told_of(struct sp_trace *trace)
{
	size_t size = (size_t)trace->record.size;
	if (trace->told.count)
		return trace->told.items;
	if (!vec_reserve(&trace->quiet, size + VALIDATE_SPARE))
		return NULL;
	memcpy(trace->quiet.items, trace->raw.items, size + VALIDATE_SPARE);
	const struct validate_sample bytes = taken(trace, size);
	for (const struct tep_format_field *field = trace->format->format.fields; field;
	     field = field->next) {
		size_t offset = 0, count = 0;
		(void)validate_extent(&bytes, field, &offset, &count); /* sp_trace_take() checked it */
		for (size_t i = offset; field->flags & TEP_FIELD_IS_STRING && i < offset + count; i++)
			if (trace->quiet.items[i] == ' ')
				trace->quiet.items[i] = '_';
	}
	struct tep_record record = trace->record;
	record.data = trace->quiet.items;
	const char *text = print(trace, &record);
	if (!text || !vec_reserve(&trace->told, strlen(text) + 1))
		return NULL;
	strcpy(trace->told.items, text);
	trace->told.count = strlen(text) + 1;
	return trace->told.items;
}

/* Returns the value after "NAME=" at the beginning of a word, up to a blank; NULL: not found. */
static const char *find_told(struct sp_trace *trace, const char *name)
{
	size_t length = strlen(name);
	for (const char *word = told_of(trace); word && *word; word += strspn(word, " ")) {
		size_t size = strcspn(word, " ");
		if (size > length + 1 && !strncmp(word, name, length) && word[length] == '=') {
			trace_seq_reset(&trace->text);
			trace_seq_printf(&trace->text, "%.*s", (int)(size - length - 1),
					 word + length + 1);
			trace_seq_terminate(&trace->text);
			return trace->text.buffer;
		}
		word += size;
	}
	return NULL;
}

const char *sp_trace_field(struct sp_trace *trace, const char *name, bool raw)
{
	struct tep_format_field *field = trace->format ? tep_find_any_field(trace->format, name)
						       : NULL;
	if (!field)
		return NULL;
	const char *told = raw || field->flags & TEP_FIELD_IS_STRING ? NULL : find_told(trace, name);
	if (told)
		return told;
	trace_seq_reset(&trace->text);
	tep_print_field(&trace->text, trace->record.data, field);
	trace_seq_terminate(&trace->text);
	return trace->text.state == TRACE_SEQ__GOOD ? trace->text.buffer : NULL;
}
