/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/script/place_text.h"

#include <stdlib.h>
#include <string.h>

static void put_offset(struct buffer *out, uint64_t offset)
{
	buffer_put(out, "+0x", 3);
	buffer_hex(out, offset, 0);
}

void place_put_dso(struct buffer *out, const struct sp_place *place, uint64_t fields)
{
	buffer_char(out, '(');
	buffer_name(out, place->dso);
	if (fields & FIELD(DSOFF) && place->is_mapped)
		put_offset(out, place->file_offset);
	buffer_char(out, ')');
}

void place_put_symbol(struct buffer *out, const struct sp_place_frame *frame, bool offset)
{
	buffer_name(out, frame->name ? frame->name : "[unknown]");
	if (offset && frame->name)
		put_offset(out, frame->offset);
}

static void put_line(struct printer *printer, struct buffer *out, const struct sp_place *place,
		     const struct sp_place_frame *frame)
{
	if (!place->is_mapped)
		return;
	buffer_put(out, "\n  ", 3);
	if (!frame->file || !frame->line) {
		buffer_name(out, place->dso_name);
		buffer_format(out, "[%llx]", (unsigned long long)place->file_offset);
		return;
	}
	const char *slash = strrchr(frame->file, '/');
	bool whole = printer->view->arguments->selection.whole_paths || !slash;
	buffer_name(out, whole ? frame->file : slash + 1);
	buffer_format(out, ":%u", frame->line);
}

/* Writes a line for each function at a place of code, inlined functions first. */
static void put_call(struct printer *printer, struct buffer *out, const struct sp_place *place,
		     uint64_t fields)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct sp_place_frame *frame = &place->frames[i];
		if (fields & FIELD(IP)) {
			buffer_char(out, '\t');
			buffer_hex(out, place->ip, 16);
		}
		if (fields & FIELD(SYM)) {
			buffer_char(out, ' ');
			place_put_symbol(out, frame, fields & FIELD(SYMOFF));
		}
		if (fields & FIELD(DSO) && !frame->inlined) {
			buffer_char(out, ' ');
			place_put_dso(out, place, fields);
		}
		if (fields & FIELD(SRCLINE))
			put_line(printer, out, place, frame);
		if (frame->inlined)
			buffer_string(out, " (inlined)");
		buffer_char(out, '\n');
	}
}

#define PLACE_FIELDS                                                                        \
	(FIELD(IP) | FIELD(SYM) | FIELD(SYMOFF) | FIELD(DSO) | FIELD(DSOFF) | FIELD(SRCLINE))

/*
 * Returns the lines for a place in a call chain. They are made once and then reused. Returns NULL when
 * out of memory.
 */
static const struct place_text *text_of(struct printer *printer, const struct sp_place *place,
					uint64_t fields)
{
	uint32_t wanted = (uint32_t)(fields & PLACE_FIELDS);
	if (place->number >= printer->place_count) {
		size_t count = (place->number + 1024) * 2;
		struct place_text *more = realloc(printer->places, count * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + printer->place_count, 0,
		       (count - printer->place_count) * sizeof(*more));
		printer->places = more;
		printer->place_count = count;
	}
	struct place_text *text = &printer->places[place->number];
	if (text->text && text->fields == wanted)
		return text;
	printer->scratch.count = 0;
	put_call(printer, &printer->scratch, place, fields);
	if (printer->scratch.failed)
		return NULL;
	free(text->text);
	*text = (struct place_text){malloc(printer->scratch.count + 1),
				    (uint32_t)printer->scratch.count, wanted};
	if (!text->text)
		return NULL;
	memcpy(text->text, printer->scratch.text, printer->scratch.count);
	return text;
}

/* Returns true if --stop-bt names a function of the place: the call chain ends there. */
static bool stops_at(const struct printer *printer, const struct sp_place *place)
{
	const struct option_strings *stops = &printer->view->arguments->stops;
	for (size_t i = 0; i < stops->count; i++)
		for (size_t j = 0; j < place->frame_count; j++)
			if (place->frames[j].name && !strcmp(place->frames[j].name, stops->items[i]))
				return true;
	return false;
}

void place_put_chain(struct printer *printer, const struct sp_script_item *item, uint64_t fields)
{
	buffer_char(&printer->out, '\n');
	for (size_t i = 0; i < item->chain_count; i++) {
		const struct place_text *text = text_of(printer, item->chain[i], fields);
		if (text)
			buffer_put(&printer->out, text->text, text->size);
		else
			printer->out.failed = true;
		if (stops_at(printer, item->chain[i]))
			break;
	}
}

void place_put(struct printer *printer, const struct sp_place *place, uint64_t fields)
{
	struct buffer *out = &printer->out;
	const struct sp_place_frame *frame = &place->frames[place->frame_count - 1];
	buffer_char(out, ' ');
	buffer_hex(out, place->ip, 16);
	if (fields & FIELD(SYM)) {
		buffer_char(out, ' ');
		place_put_symbol(out, frame, fields & FIELD(SYMOFF));
	}
	if (fields & FIELD(DSO)) {
		buffer_char(out, ' ');
		place_put_dso(out, place, fields);
	}
	if (fields & FIELD(SRCLINE))
		put_line(printer, out, place, &place->frames[0]);
}
