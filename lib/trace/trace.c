/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtraceevent makes the text. It believes formats and goes where they say that fields are:
 * so they are held to the sample's size first, and printed from a copy with zeros behind.
 */
#include <sprof/trace.h>

#include <errno.h>
#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <trace-seq.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/io.h"
#include "base/vec.h"
#include "trace/container.h"

/* Zeros behind a copy of a sample's bytes, where strings need not end. */
#define SPARE 64

struct sp_trace {
	struct tep_handle *tep;
	struct trace_seq text;
	VEC(char) raw;
	struct trace_header header;
	/* The sample that was taken: its bytes are `raw`, behind which are zeros. */
	struct tep_event *format; /* NULL: none */
	struct tep_record record;
	VEC(char) quiet; /* the same without blanks in strings */
	VEC(char) told;  /* its text, made of those when a field is first asked for */
};

DEFINE_CLEANUP(struct sp_trace *, sp_trace_free)

static bool take_header(void *arg, const struct trace_header *header)
{
	struct sp_trace *trace = arg;
	trace->header = *header;
	tep_set_file_bigendian(trace->tep, header->big_endian ? TEP_BIG_ENDIAN :
								TEP_LITTLE_ENDIAN);
	tep_set_long_size(trace->tep, header->long_size);
	tep_set_page_size(trace->tep, (int)header->page_size);
	return true;
}

/* What cannot be understood of one file leaves that out, and no more. */
static bool take_file(void *arg, enum trace_file kind, const char *system, const char *text,
		      size_t size)
{
	struct sp_trace *trace = arg;
	CLEANUP_FREE char *copy = malloc(size + 1);
	if (!copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	size = strlen(copy);
	switch (kind) {
	case TRACE_HEADER_PAGE:
		(void)tep_parse_header_page(trace->tep, copy, size, trace->header.long_size);
		break;
	case TRACE_FTRACE_FORMAT:
		(void)tep_parse_event(trace->tep, copy, size, "ftrace");
		break;
	case TRACE_FORMAT:
		(void)tep_parse_event(trace->tep, copy, size, system);
		break;
	case TRACE_KALLSYMS:
		(void)tep_parse_kallsyms(trace->tep, copy);
		break;
	case TRACE_PRINTK_FORMATS:
		(void)tep_parse_printk_formats(trace->tep, copy);
		break;
	case TRACE_TASKS:
		(void)tep_parse_saved_cmdlines(trace->tep, copy);
		break;
	case TRACE_HEADER_EVENT:
		break;
	}
	return true;
}

/* Whether the recording was made here, under the kernel that runs. */
static bool is_from_here(const struct sp_file_info *info)
{
	struct utsname here;
	return !uname(&here) && info->osrelease && info->hostname &&
	       !strcmp(info->osrelease, here.release) && !strcmp(info->hostname, here.nodename);
}

/* A format that the recording lacks, from tracefs; not finding it is no failure. */
static struct sp_error *read_live(struct sp_trace *trace, const char *root,
				  const struct sp_event *event)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *colon = strchr(event->name, ':');
	if (!colon || strchr(event->name, '/'))
		return NULL;
	size_t length = strcspn(colon + 1, ":");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char path[512], system[128];
		CLEANUP_FREE char *text = NULL;
		size_t size;
		snprintf(system, sizeof(system), "%.*s", (int)(colon - event->name), event->name);
		snprintf(path, sizeof(path), "%s%s/events/%s/%.*s/format", root, places[i], system,
			 (int)length, colon + 1);
		int errnum = io_read_file(path, &text, &size);
		if (errnum == ENOMEM)
			return error_no_memory();
		if (!errnum)
			return take_file(trace, TRACE_FORMAT, system, text, size) ?
				       NULL : error_no_memory();
	}
	return NULL;
}

/* What is not in the recording, if it was made here. */
static struct sp_error *read_missing(struct sp_trace *trace, struct sp_ctx *ctx,
				     const struct sp_reader *reader)
{
	struct sp_error *error = NULL;
	if (!is_from_here(sp_reader_info(reader)))
		return NULL;
	for (size_t i = 0; !error && i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		if (event->attr.type == PERF_TYPE_TRACEPOINT &&
		    !tep_find_event(trace->tep, (int)event->attr.config))
			error = read_live(trace, ctx_root(ctx), event);
	}
	return error;
}

static void set_endian(struct sp_trace *trace, bool big_endian)
{
	tep_set_local_bigendian(trace->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ?
						    TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(trace->tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(trace->tep, sizeof(long));
}

struct sp_error *sp_trace_new(struct sp_ctx *ctx, const struct sp_reader *reader,
			      struct sp_trace **ret)
{
	CLEANUP(cleanup_sp_trace_free) struct sp_trace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return error_no_memory();
	tep_set_loglevel(TEP_LOG_NONE);
	trace->tep = tep_alloc();
	if (!trace->tep)
		return error_no_memory();
	trace_seq_init(&trace->text);
	set_endian(trace, sp_reader_info(reader)->big_endian);
	const struct trace_visitor visitor = {take_header, take_file, trace};
	struct sp_bytes blob = sp_reader_feature(reader, TRACE_FEATURE);
	struct sp_error *error = NULL;
	if (blob.size)
		error = trace_container_read(&blob, sp_reader_info(reader)->path, &visitor);
	if (!error)
		error = read_missing(trace, ctx, reader);
	if (!error)
		*ret = take_ptr(trace);
	return error;
}

void sp_trace_free(struct sp_trace *trace)
{
	if (!trace)
		return;
	if (trace->tep) {
		trace_seq_destroy(&trace->text);
		tep_free(trace->tep);
	}
	vec_deinit(&trace->raw);
	vec_deinit(&trace->quiet);
	vec_deinit(&trace->told);
	free(trace);
}

static uint32_t word_at(const struct sp_trace *trace, size_t offset)
{
	uint32_t word;
	bool swap = tep_is_file_bigendian(trace->tep) != tep_is_local_bigendian(trace->tep);
	memcpy(&word, trace->raw.items + offset, sizeof(word));
	return swap ? __builtin_bswap32(word) : word;
}

/* Whether a field, and what it points to behind the others, lies in the sample. */
static bool field_fits(const struct sp_trace *trace, const struct tep_format_field *field,
		       size_t size)
{
	if (field->offset < 0 || field->size < 0 || (size_t)field->offset > size ||
	    (size_t)field->size > size - (size_t)field->offset)
		return false;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size != 4)
		return true;
	uint32_t word = word_at(trace, (size_t)field->offset);
	size_t offset = word & 0xffff, length = word >> 16;
	if (field->flags & TEP_FIELD_IS_RELATIVE)
		offset += (size_t)field->offset + (size_t)field->size;
	return offset <= size && length <= size - offset;
}

static bool fields_fit(const struct sp_trace *trace, const struct tep_format_field *field,
		       size_t size)
{
	for (; field; field = field->next)
		if (!field_fits(trace, field, size))
			return false;
	return true;
}

bool sp_trace_take(struct sp_trace *trace, const struct sp_event *event,
		   const struct sp_sample *sample)
{
	struct tep_event *format = tep_find_event(trace->tep, (int)event->attr.config);
	size_t size = sample->raw.size;
	trace->format = NULL;
	trace->told.count = 0;
	if (!format || event->attr.type != PERF_TYPE_TRACEPOINT || !size ||
	    !vec_reserve(&trace->raw, size + SPARE))
		return false;
	memcpy(trace->raw.items, sample->raw.bytes, size);
	memset(trace->raw.items + size, 0, SPARE);
	if (!fields_fit(trace, format->format.common_fields, size) ||
	    !fields_fit(trace, format->format.fields, size))
		return false;
	trace->record = (struct tep_record){.cpu = (int)sample->cpu, .size = (int)size,
					    .data = trace->raw.items};
	trace->format = format;
	return true;
}

/* Valid until the next is made; NULL when out of memory. */
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
	const struct tep_event *format = tep_find_event(trace->tep, (int)event->attr.config);
	return format && event->attr.type == PERF_TYPE_TRACEPOINT ?
		       (size_t)format->format.nr_fields : 0;
}

const char *sp_trace_field_name(struct sp_trace *trace, const struct sp_event *event, size_t index)
{
	const struct tep_event *format = tep_find_event(trace->tep, (int)event->attr.config);
	const struct tep_format_field *field = format->format.fields;
	while (index--)
		field = field->next;
	return field->name;
}

bool sp_trace_has_field(struct sp_trace *trace, const struct sp_event *event, const char *name)
{
	struct tep_event *format = tep_find_event(trace->tep, (int)event->attr.config);
	return format && event->attr.type == PERF_TYPE_TRACEPOINT &&
	       tep_find_any_field(format, name);
}

/* Where a field's bytes are in the sample, which they fit; how many. */
static size_t find_bytes(const struct sp_trace *trace, const struct tep_format_field *field,
			 size_t *offset_ret)
{
	*offset_ret = (size_t)field->offset;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size != 4)
		return (size_t)field->size;
	uint32_t word = word_at(trace, (size_t)field->offset);
	size_t behind = field->flags & TEP_FIELD_IS_RELATIVE ?
				(size_t)field->offset + (size_t)field->size : 0;
	*offset_ret = (word & 0xffff) + behind;
	return word >> 16;
}

/*
 * The text of which fields are taken, "NAME=WORD" each: names that others chose, and that may have
 * blanks, must not look like other fields. NULL when out of memory.
 */
static const char *told_of(struct sp_trace *trace)
{
	size_t size = (size_t)trace->record.size;
	if (trace->told.count)
		return trace->told.items;
	if (!vec_reserve(&trace->quiet, size + SPARE))
		return NULL;
	memcpy(trace->quiet.items, trace->raw.items, size + SPARE);
	for (const struct tep_format_field *field = trace->format->format.fields; field;
	     field = field->next) {
		size_t offset, count = find_bytes(trace, field, &offset);
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

/* What is behind "NAME=" at the beginning of a word, up to a blank; NULL: it is not there. */
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
