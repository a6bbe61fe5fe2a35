/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "diag.h"
#include "disassembly.h"
#include "html/source.h"
#include "json.h"

/* Lines of text before and after each sampled line. */
#define AROUND 25

/* Longest line, in bytes. */
#define LINE_MAX_BYTES 400

/* Most text of all files, in bytes. */
#define TEXT_MAX_BYTES (4 << 20)

#define TAB 8

struct listing {
	const struct report *report;
	struct head *head;
	struct source_roots roots;
	struct unique paths;
	char **texts; /* by path; NULL: not readable */
	size_t read;  /* number of texts */
	struct json json;
	struct buffer buffer;
	struct disassembly disassembly;
	size_t room; /* bytes of text that may still be written */
};

/* Reads the files of all sampled lines. Returns false when out of memory. */
static bool read_files(struct listing *listing)
{
	const struct report *report = listing->report;
	for (size_t i = 0; i < report->profile_count; i++)
		for (size_t j = 0; j < report->lines[i]->row_count; j++) {
			const struct sp_row *row = &report->lines[i]->rows[j];
			/* Rows are ordered by weight, so that the files of the heaviest lines are first. */
			if (row->srcpath && row->line &&
			    unique_add_text(&listing->paths, row->srcpath) == UNIQUE_NONE)
				return false;
		}
	listing->texts = calloc(listing->paths.count + 1, sizeof(*listing->texts));
	for (size_t i = 0; listing->texts && i < listing->paths.count; i++) {
		if (listing->read < SOURCE_FILES_MAX)
			listing->texts[i] = source_read(&listing->roots, listing->paths.texts[i]);
		listing->read += listing->texts[i] != NULL;
	}
	return listing->texts;
}

/* Returns the part of the head's functions that a row of lines belongs to; -1: none. */
static int64_t function_of(struct listing *listing, const struct sp_row *row)
{
	size_t before = listing->head->functions.count;
	uint32_t function = head_add_row(listing->head, row);
	return function < before ? (int64_t)function : -1;
}

/* Marks lines within AROUND lines of a sampled one. `marks` has `count` items; the first is unused. */
static void mark_lines(const struct listing *listing, uint32_t file, bool *marks, size_t count)
{
	const struct report *report = listing->report;
	for (size_t i = 0; i < report->profile_count; i++)
		for (size_t j = 0; j < report->lines[i]->row_count; j++) {
			const struct sp_row *row = &report->lines[i]->rows[j];
			if (!row->srcpath || !row->line || row->line >= count ||
			    strcmp(row->srcpath, listing->paths.texts[file]) != 0)
				continue;
			size_t first = row->line > AROUND ? row->line - AROUND : 1;
			for (size_t line = first; line <= row->line + AROUND && line < count; line++)
				marks[line] = true;
		}
}

/* Writes a text without characters that are unsafe to show. */
static void put_shown(struct listing *listing, const char *key, const char *text)
{
	listing->buffer.count = 0;
	buffer_name(&listing->buffer, text);
	buffer_char(&listing->buffer, '\0');
	json_string(&listing->json, key, listing->buffer.failed ? "" : listing->buffer.text);
}

/* Writes a line with blanks for tabs, without characters that are unsafe to show. */
static void put_line(struct listing *listing, const char *line, size_t size)
{
	char copy[LINE_MAX_BYTES + TAB + 1];
	size_t at = 0;
	for (size_t i = 0; i < size && at < LINE_MAX_BYTES; i++) {
		if (line[i] == '\r')
			continue;
		if (line[i] != '\t') {
			copy[at++] = line[i];
			continue;
		}
		do
			copy[at++] = ' ';
		while (at % TAB);
	}
	copy[at] = '\0';
	put_shown(listing, NULL, copy);
	listing->room -= listing->room < at + 4 ? listing->room : at + 4;
}

static void put_parts(struct listing *listing, const char *text, const bool *marks, size_t count)
{
	struct json *json = &listing->json;
	bool open = false;
	for (size_t line = 1; line < count; line++) {
		const char *end = strchr(text, '\n') ?: text + strlen(text);
		bool shown = marks[line] && listing->room;
		if (open && !shown) {
			json_end(json, ']');
			json_end(json, ']');
		}
		if (shown && !open) {
			json_begin(json, NULL, '[');
			json_unsigned(json, NULL, line);
			json_begin(json, NULL, '[');
		}
		open = shown;
		if (shown)
			put_line(listing, text, (size_t)(end - text));
		text = *end ? end + 1 : end;
	}
	if (open) {
		json_end(json, ']');
		json_end(json, ']');
	}
}

/* Returns the number of lines and one. */
static size_t line_count(const char *text)
{
	size_t count = 2;
	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Returns false when out of memory. */
static bool put_file(struct listing *listing, uint32_t file)
{
	struct json *json = &listing->json;
	const char *text = listing->texts[file];
	size_t count = text ? line_count(text) : 0;
	bool *marks = calloc(count + 1, sizeof(*marks));
	if (!marks)
		return false;
	json_begin(json, NULL, '{');
	put_shown(listing, "path", listing->paths.texts[file]);
	json_begin(json, "parts", '[');
	if (text) {
		mark_lines(listing, file, marks, count);
		put_parts(listing, text, marks, count);
	}
	json_end(json, ']');
	json_end(json, '}');
	free(marks);
	return true;
}

/* Writes "function+0x12" and the instruction's text, if its code can be read and capstone is installed. */
static void put_instruction(struct listing *listing, const struct sp_instruction *instruction)
{
	char place[32];
	size_t length;
	const struct sp_bytes code = {instruction->code, instruction->size};
	const char *text = instruction->size ? disassembly_text(&listing->disassembly, instruction->machine,
								instruction->offset, code, &length) : NULL;
	if (!text)
		return;
	snprintf(place, sizeof(place), "+0x%" PRIx64,
		 instruction->symbol ? instruction->distance : instruction->offset);
	listing->buffer.count = 0;
	buffer_name(&listing->buffer, instruction->symbol ?: "");
	buffer_string(&listing->buffer, place);
	buffer_char(&listing->buffer, '\0');
	json_string(&listing->json, NULL, listing->buffer.failed ? "" : listing->buffer.text);
	put_shown(listing, NULL, text);
}

static void put_rows(struct listing *listing, const struct sp_profile *profile)
{
	struct json *json = &listing->json;
	json_begin(json, NULL, '[');
	for (size_t i = 0; i < profile->row_count && i < HEAD_ROWS_MAX; i++) {
		const struct sp_row *row = &profile->rows[i];
		int64_t function = row->srcpath && row->line ? function_of(listing, row) : -1;
		if (function < 0)
			continue;
		json_begin(json, NULL, '[');
		json_signed(json, NULL, function);
		json_unsigned(json, NULL, unique_add_text(&listing->paths, row->srcpath));
		json_unsigned(json, NULL, row->line);
		json_unsigned(json, NULL, row->self.samples);
		json_unsigned(json, NULL, row->self.weight);
		if (row->instruction)
			put_instruction(listing, row->instruction);
		json_end(json, ']');
	}
	json_end(json, ']');
}

static bool put_all(struct listing *listing)
{
	struct json *json = &listing->json;
	bool done = read_files(listing);
	json_begin(json, NULL, '{');
	json_begin_lines(json, "files", '[');
	for (uint32_t i = 0; done && i < listing->paths.count; i++)
		done = put_file(listing, i);
	json_end_lines(json, ']');
	json_begin_lines(json, "events", '[');
	for (size_t i = 0; done && i < listing->report->profile_count; i++)
		put_rows(listing, listing->report->lines[i]);
	json_end_lines(json, ']');
	json_end(json, '}');
	return done && !listing->buffer.failed;
}

/* Warns before the page is shared: debug information chose the files. */
static void print_count(const struct listing *listing)
{
	size_t private = listing->roots.private_count;
	const char *plural = listing->read == 1 ? "" : "s";
	if (private)
		diag_say("the page contains %zu source file%s, without %zu private or hidden "
			 "(for all: --source=.)", listing->read, plural, private);
	else
		diag_say("the page contains %zu source file%s", listing->read, plural);
}

bool listing_write(const struct report *report, struct head *head, FILE *out)
{
	struct listing listing = {.report = report, .head = head, .json.out = out, .room = TEXT_MAX_BYTES,
				  .buffer.form = TEXT_SHOWN,
				  .disassembly.big_endian = report->info->big_endian};
	bool done = source_roots_open(&listing.roots, report->source_directories,
				      report->source_directory_count) && put_all(&listing);
	if (done && !report->quiet)
		print_count(&listing);
	for (size_t i = 0; listing.texts && i < listing.paths.count; i++)
		free(listing.texts[i]);
	free(listing.texts);
	unique_deinit(&listing.paths);
	source_roots_deinit(&listing.roots);
	buffer_deinit(&listing.buffer);
	disassembly_deinit(&listing.disassembly);
	return done;
}
