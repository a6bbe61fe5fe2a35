/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTML file that shows a report without a network. Its data are two blocks, each compressed by
 * gzip and encoded in base64, because names of unknown origin must not reach the browser's HTML
 * parser.
 *
 * Block "tree": the size of the head as 4 bytes, the least significant first; the head as JSON
 * (head.c); then columns. A column has one varint for each item.
 *
 *	functions  name, dso and path as indexes of strings; kind
 *
 * and for each event:
 *
 *	nodes      distance to the parent's index, 0 for the root; function; 1 if inlined;
 *	           own samples; own weight, or 0 if all samples have one period
 *	rows       function; 1 if inlined; samples and weight of self, then of total; share of
 *	           self in billionths, its low and its high bound; the same of total; in modes
 *	           of time, the number of waits of self, and the longest in ns
 *
 * In mode wakers, each event of the head has "pairs", see put_pairs().
 *
 * Block "source" is JSON (listing_write()), and empty without --source. Block "cells", for each
 * event:
 *
 *	groups     of cells with one bin and thread: bin, as the difference to the group before;
 *	           thread; number of cells
 *	cells      node, as the difference to the cell before in the group; samples; weight,
 *	           unless all samples have one period
 *	lanes      of each thread in "lanes" of the head: for each state (enum lane_state) its
 *	           share of each bin, in LANE_UNITS
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "diag.h"
#include "disassembly.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "html/head.h"
#include "html/markup.h"
#include "html/page.h"
#include "html/reduce.h"
#include "source_files.h"
#include "json.h"
#include "out/output.h"

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
			const struct sp_row *row = sp_profile_row(report->lines[i], j);
			/*
			 * Rows are ordered by weight, so that the files of the heaviest lines are
			 * first.
			 */
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

/*
 * Marks lines within AROUND lines of a sampled one. `marks` has `count` items; the first is unused.
 */
static void mark_lines(const struct listing *listing, uint32_t file, bool *marks, size_t count)
{
	const struct report *report = listing->report;
	for (size_t i = 0; i < report->profile_count; i++)
		for (size_t j = 0; j < report->lines[i]->row_count; j++) {
			const struct sp_row *row = sp_profile_row(report->lines[i], j);
			if (!row->srcpath || !row->line || row->line >= count ||
			    strcmp(row->srcpath, listing->paths.texts[file]) != 0)
				continue;
			size_t first = row->line > AROUND ? row->line - AROUND : 1;
			for (size_t line = first; line <= row->line + AROUND && line < count;
			     line++)
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

/*
 * Writes "function+0x12" and the instruction's text, if its code can be read and capstone is
 * installed.
 */
static void put_instruction(struct listing *listing, const struct sp_instruction *instruction)
{
	char place[32];
	size_t length;
	const struct sp_bytes code = {instruction->code, instruction->size};
	const char *text = instruction->size
				   ? disassembly_text(&listing->disassembly, instruction->machine,
						      instruction->offset, code, &length)
				   : NULL;
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

static void put_source_lines(struct listing *listing, const struct sp_profile *profile)
{
	struct json *json = &listing->json;
	json_begin(json, NULL, '[');
	for (size_t i = 0; i < profile->row_count && i < HEAD_ROWS_MAX; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
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
		put_source_lines(listing, listing->report->lines[i]);
	json_end_lines(json, ']');
	json_end(json, '}');
	return done && !listing->buffer.failed;
}

/* Block "source" of a page: sampled lines of functions, and the text around them. */

/*
 * Writes JSON: {"files": [{"path", "parts": [[first line, [text, ...]], ...]}, ...], "events":
 * [[[function, file, line, samples, weight, "function+0x12", "addl $1, %eax"], ...], ...]}. Each
 * row is of one instruction. Its place and text are missing without the program's file or capstone.
 * Rows are those of report->lines, by index of the head's functions; functions that the head lacks
 * are left out. Files are read below report->source_directories. Returns false when out of memory,
 * or after printing an error.
 */
static bool listing_write(const struct report *report, struct head *head, FILE *out)
{
	struct listing listing = {.report = report,
				  .head = head,
				  .json.out = out,
				  .room = TEXT_MAX_BYTES,
				  .buffer.form = TEXT_SHOWN,
				  .disassembly.big_endian = report->info->big_endian};
	bool done = source_roots_open(&listing.roots, report->source_directories,
				      report->source_directory_count) && put_all(&listing);
	if (done && !report->quiet) {
		/* Warns before the page is shared: debug information chose the files. */
		size_t private = listing.roots.private_count;
		const char *plural = listing.read == 1 ? "" : "s";
		if (private)
			diag_say("the page contains %zu source file%s, without %zu private or "
				 "hidden (for all: --source=.)",
				 listing.read, plural, private);
		else
			diag_say("the page contains %zu source file%s", listing.read, plural);
	}
	for (size_t i = 0; listing.texts && i < listing.paths.count; i++)
		free(listing.texts[i]);
	free(listing.texts);
	unique_deinit(&listing.paths);
	source_roots_deinit(&listing.roots);
	buffer_deinit(&listing.buffer);
	disassembly_deinit(&listing.disassembly);
	return done;
}

struct base64 {
	FILE *out;
	uint32_t bits; /* bytes that do not fill a group of three yet */
	unsigned int count;
};

/* Writes `digits` digits of 24 bits. */
static void put_digits(FILE *out, uint32_t bits, unsigned int digits)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (unsigned int i = 0; i < digits; i++)
		putc(alphabet[bits >> (18 - 6 * i) & 63], out);
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct base64 *base64 = cookie;
	for (size_t i = 0; i < size; i++) {
		base64->bits = base64->bits << 8 | (unsigned char)bytes[i];
		if (++base64->count < 3)
			continue;
		put_digits(base64->out, base64->bits, 4);
		base64->bits = 0;
		base64->count = 0;
	}
	return ferror(base64->out) ? 0 : (ssize_t)size;
}

static int close_stream(void *cookie)
{
	struct base64 *base64 = cookie;
	FILE *out = base64->out;
	if (base64->count) {
		put_digits(out, base64->bits << 8 * (3 - base64->count), base64->count + 1);
		fputs(base64->count == 1 ? "==" : "=", out);
	}
	free(base64);
	return ferror(out) ? EOF : 0;
}

/*
 * Returns a stream that encodes to `out` in base64, without line breaks. fclose() ends the format
 * and leaves `out` open, which has the write errors. NULL when out of memory.
 */
static FILE *base64_open(FILE *out)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_stream};
	struct base64 *base64 = calloc(1, sizeof(*base64));
	if (!base64)
		return NULL;
	base64->out = out;
	FILE *stream = fopencookie(base64, "w", functions);
	if (!stream)
		free(base64);
	return stream;
}

/* Shares are stored in units of this part. */
#define SHARE_UNITS 1e9

/* Limit of the blocks "tree" and "cells", and of the attempts to get there. */
#define BYTES_MAX 4800000
#define ROUNDS_MAX 6

/* A block of data: compressed text in an HTML file. */
struct data_block {
	FILE *encoded, *stream;
	struct buffer text; /* not written to the stream yet */
};

static bool block_open(struct data_block *block, FILE *out)
{
	*block = (struct data_block){.encoded = base64_open(out)};
	block->stream = block->encoded ? gzip_open(block->encoded) : NULL;
	return block->stream;
}

static void block_flush(struct data_block *block)
{
	fwrite(block->text.text, 1, block->text.count, block->stream);
	block->text.count = 0;
}

/* Returns false if memory ran out. Write errors stay in the file. */
static bool block_close(struct data_block *block)
{
	if (block->stream) {
		block_flush(block);
		fclose(block->stream);
	}
	if (block->encoded)
		fclose(block->encoded);
	bool done = !block->text.failed;
	buffer_deinit(&block->text);
	return done;
}

static void put(struct data_block *block, uint64_t number)
{
	protobuf_varint(&block->text, number);
	if (block->text.count > 64 << 10)
		block_flush(block);
}

/* Writes the head after its size. Returns false when out of memory. */
static bool put_head(struct data_block *block, const struct head *head)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return false;
	bool done = head_write(head, stream);
	done = !fclose(stream) && done && size <= UINT32_MAX;
	for (unsigned int i = 0; done && i < 4; i++)
		buffer_char(&block->text, (char)(size >> 8 * i & 255));
	block_flush(block);
	if (done)
		fwrite(text, 1, size, block->stream);
	free(text);
	return done;
}

static void put_nodes(struct data_block *block, const struct page_event *event)
{
	const struct page_node *nodes = event->nodes.items;
	size_t count = event->nodes.count;
	for (size_t i = 0; i < count; i++)
		put(block, i - nodes[i].parent);
	for (size_t i = 0; i < count; i++)
		put(block, nodes[i].function);
	for (size_t i = 0; i < count; i++)
		put(block, i && nodes[i].node && nodes[i].node->inlined);
	for (size_t i = 0; i < count; i++)
		put(block, nodes[i].samples);
	for (size_t i = 0; i < count; i++)
		put(block, event->period ? 0 : nodes[i].weight);
}

static void put_rows(struct data_block *block, const struct sp_profile *profile,
		     const uint32_t *functions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(block, functions[i]);
	for (size_t i = 0; i < count; i++)
		put(block, sp_profile_row(profile, i)->inlined);
	for (size_t i = 0; i < count; i++)
		put(block, sp_profile_row(profile, i)->self.samples);
	for (size_t i = 0; i < count; i++)
		put(block, sp_profile_row(profile, i)->self.weight);
	for (size_t i = 0; i < count; i++)
		put(block, sp_profile_row(profile, i)->total.samples);
	for (size_t i = 0; i < count; i++)
		put(block, sp_profile_row(profile, i)->total.weight);
	for (int column = 0; column < 6; column++) {
		for (size_t i = 0; i < count; i++) {
			const struct sp_row *row = sp_profile_row(profile, i);
			const struct sp_weight *weight = column < 3 ? &row->self : &row->total;
			const double values[] = {
				weight->share.value, weight->share.low, weight->share.high};
			double share = values[column % 3];
			put(block, share > 0 ? (uint64_t)llround(share * SHARE_UNITS) : 0);
		}
	}
}

static void put_cells(struct data_block *block, const struct page_event *event)
{
	const struct page_cell *cells = event->cells.items;
	size_t count = event->cells.count;
	uint32_t bin = 0;
	for (size_t i = 0; i < count; i++) {
		if (!page_begins_group(event, i))
			continue;
		put(block, cells[i].bin - bin);
		bin = cells[i].bin;
	}
	for (size_t i = 0; i < count; i++)
		if (page_begins_group(event, i))
			put(block, cells[i].thread);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !page_begins_group(event, end);)
			end++;
		put(block, end - i);
	}
	for (size_t i = 0; i < count; i++)
		put(block, page_begins_group(event, i) ? cells[i].node : cells[i].node - cells[i - 1].node);
	for (size_t i = 0; i < count; i++)
		put(block, cells[i].samples);
	for (size_t i = 0; !event->period && i < count; i++)
		put(block, cells[i].weight);
	for (size_t i = 0; i < event->lanes.shares.count; i++)
		put(block, event->lanes.shares.items[i]);
}

static void put_waits(struct data_block *block, const struct sp_profile *profile, size_t count)
{
	const struct sp_times *times;
	for (size_t i = 0; i < count; i++)
		put(block, (times = sp_profile_row(profile, i)->self_times) ? times->waits : 0);
	for (size_t i = 0; i < count; i++)
		put(block,
		    (times = sp_profile_row(profile, i)->self_times) ? times->longest_wait_ns : 0);
}

static bool put_tree_block(const struct head *head, FILE *out)
{
	const struct page *page = head->page;
	struct data_block block;
	bool done = block_open(&block, out) && put_head(&block, head);
	if (done) {
		for (size_t column = FUNCTION_NAME; column < FUNCTION_ADDRESS; column++)
			for (size_t i = 0; i < head->functions.count; i++)
				put(&block, unique_number(&head->functions, i, column));
	}
	for (size_t i = 0; done && i < page->event_count; i++) {
		put_nodes(&block, &page->events[i]);
		put_rows(&block, page->events[i].profile, head->row_functions[i], head->row_counts[i]);
		if (page->report->mode != SP_MODE_CPU)
			put_waits(&block, page->events[i].profile, head->row_counts[i]);
	}
	return block_close(&block) && done;
}

static bool put_cells_block(const struct page *page, FILE *out)
{
	struct data_block block;
	bool done = block_open(&block, out);
	for (size_t i = 0; done && i < page->event_count; i++)
		put_cells(&block, &page->events[i]);
	return block_close(&block) && done;
}

static bool put_source_block(struct head *head, FILE *out)
{
	struct data_block block;
	bool done = block_open(&block, out) && listing_write(head->page->report, head, block.stream);
	return block_close(&block) && done;
}

static void put_markup(const struct markup *markup, FILE *out)
{
	fwrite(markup->text, 1, markup->size, out);
}

/* The two large blocks in memory. */
struct blocks {
	char *tree, *cells;
	size_t tree_size, cells_size;
};

static void blocks_deinit(struct blocks *blocks)
{
	free(blocks->tree);
	free(blocks->cells);
	*blocks = (struct blocks){0};
}

/* Returns false when out of memory; call blocks_deinit() in either case. */
static bool blocks_make(struct blocks *blocks, struct head *head)
{
	bool done = page_finish(head->page);
	FILE *tree = open_memstream(&blocks->tree, &blocks->tree_size);
	done = done && tree && put_tree_block(head, tree);
	done = !(tree && fclose(tree)) && done;
	FILE *cells = open_memstream(&blocks->cells, &blocks->cells_size);
	done = done && cells && put_cells_block(head->page, cells);
	return !(cells && fclose(cells)) && done;
}

/* Returns how many items are left if their block may have `limit` of its `size` bytes. */
static size_t items_of(size_t count, size_t size, size_t limit)
{
	double part = (double)limit / (double)size;
	return part < 1 ? (size_t)((double)count * 0.95 * part) : SIZE_MAX;
}

/*
 * Makes the blocks, with less content until they have the limit of bytes. Returns false when out
 * of memory; call blocks_deinit() in either case.
 */
static bool make_limited(struct blocks *blocks, struct head *head)
{
	struct page_limits limits = page_limits;
	*blocks = (struct blocks){0};
	for (int round = 0; round < ROUNDS_MAX; round++) {
		blocks_deinit(blocks);
		if (!page_reduce(head, &limits) || !blocks_make(blocks, head))
			return false;
		if (blocks->tree_size + blocks->cells_size <= BYTES_MAX)
			break;
		/* A block may have what the other one does not need of its half. */
		size_t half = BYTES_MAX / 2, tree = blocks->tree_size, cells = blocks->cells_size;
		limits.nodes = items_of(page_node_count(head->page), tree,
					BYTES_MAX - (cells < half ? cells : half));
		limits.cells = items_of(page_cell_count(head->page), cells,
					BYTES_MAX - (tree < half ? tree : half));
	}
	return true;
}

static bool write_html(const struct report *report, FILE *out)
{
	struct page page;
	struct head head = {0};
	struct blocks blocks = {0};
	bool done = page_init(&page, report) && head_init(&head, &page) &&
		    make_limited(&blocks, &head);
	if (done) {
		put_markup(&markup_before_tree, out);
		fwrite(blocks.tree, 1, blocks.tree_size, out);
		put_markup(&markup_before_cells, out);
		fwrite(blocks.cells, 1, blocks.cells_size, out);
		put_markup(&markup_before_source, out);
		if (report->lines)
			done = put_source_block(&head, out);
		put_markup(&markup_end, out);
	}
	blocks_deinit(&blocks);
	head_deinit(&head);
	page_deinit(&page);
	return done;
}

/* Directories of --source must be readable. */
static bool check_source(const struct report *report)
{
	struct source_roots roots = {0};
	bool done = source_roots_open(&roots, report->source_directories, report->source_directory_count);
	source_roots_deinit(&roots);
	return done;
}

const struct output_format output_html = {
	.name = "html",
	.files = (const char *const[]){"*.html", "*.htm", NULL},
	.binary = true,
	.stacks = true,
	.functions = true,
	.folds_python = true,
	.timeline = true,
	.pairs = true,
	.check = check_source,
	.write = write_html,
};
