/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of tracepoints as recordings hold them (TRACING_DATA), and a sample of each that they
 * are said to describe. The last two bytes say how many before them are the sample; all before
 * those are the formats. The sample begins with the number of the event that it is taken for,
 * as it would not be looked at otherwise.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "trace/trace.h"

#define MOST_IDS 64

struct seen {
	const char *begin, *end;
	uint64_t ids[MOST_IDS];
	size_t id_count;
	bool big_endian;
};

static bool see_header(void *arg, const struct trace_header *header)
{
	struct seen *seen = arg;
	seen->big_endian = header->big_endian;
	assert(header->long_size == 4 || header->long_size == 8);
	return true;
}

static void see_format(struct seen *seen, const char *text, size_t size)
{
	const char *id = memmem(text, size, "ID:", 3);
	char number[16] = "";
	if (!id || seen->id_count == MOST_IDS)
		return;
	id += 3;
	size_t left = (size_t)(text + size - id);
	memcpy(number, id, left < sizeof(number) - 1 ? left : sizeof(number) - 1);
	seen->ids[seen->id_count++] = strtoul(number, NULL, 0);
}

static bool see_file(void *arg, enum trace_file kind, const char *system, const char *text,
		     size_t size)
{
	struct seen *seen = arg;
	assert(!system || (system >= seen->begin && system < seen->end));
	assert(text >= seen->begin && size <= (size_t)(seen->end - text));
	if (kind == TRACE_FORMAT || kind == TRACE_FTRACE_FORMAT)
		see_format(seen, text, size);
	return true;
}

static void ask_fields(struct sp_trace *trace, const struct sp_event *event)
{
	size_t count = sp_trace_field_count(trace, event);
	for (size_t i = 0; i < count && i < 64; i++) {
		const char *name = sp_trace_field_name(trace, event, i);
		assert(sp_trace_has_field(trace, event, name));
		(void)sp_trace_field(trace, name, i % 2);
	}
}

/* Twice, as what one sample's text was must not be in the way of the next. */
static void print_sample(struct sp_trace *trace, uint64_t id, const uint8_t *bytes, size_t size,
			 bool big_endian)
{
	const struct sp_event event = {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = id}};
	uint8_t *copy = malloc(size);
	assert(copy);
	memcpy(copy, bytes, size);
	copy[big_endian] = (uint8_t)id;
	copy[!big_endian] = (uint8_t)(id >> 8);
	const struct sp_sample sample = {.raw = {copy, size}};
	for (int i = 0; i < 2; i++) {
		const char *text = sp_trace_text(trace, &event, &sample);
		/* No more than there is of a format and of samples that hold several times. */
		assert(!text || strlen(text) < (64 << 20));
		(void)sp_trace_raw_text(trace, &event, &sample);
		if (sp_trace_take(trace, &event, &sample))
			ask_fields(trace, &event);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t sample = size >= 2 ? bytes[size - 2] | (size_t)bytes[size - 1] << 8 : 0;
	if (sample < 2 || sample > size - 2)
		sample = 0;
	else
		size -= 2;
	struct seen seen = {.begin = (const char *)bytes,
			    .end = (const char *)bytes + size - sample};
	const struct trace_visitor visitor = {see_header, see_file, &seen};
	struct trace_source source = {.blob = {bytes, size - sample}, .path = "fuzz",
				      .ids = seen.ids};
	struct sp_trace *trace = NULL;
	sp_error_free(trace_container_read(&source.blob, source.path, &visitor));
	source.id_count = seen.id_count;
	sp_error_free(trace_new(&source, &trace));
	for (size_t i = 0; trace && sample && i < seen.id_count; i++)
		print_sample(trace, seen.ids[i], bytes + size - sample, sample, seen.big_endian);
	sp_trace_free(trace);
	return 0;
}
