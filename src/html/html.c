/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTML file that shows a report without a network. Its data are three blocks, each compressed
 * by gzip and encoded in base64, because names of unknown origin must not reach the browser's HTML
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
 *	           self in billionths, its low and its high bound; the same of total; 1 if
 *	           self has a between-run interval, 2 if it varies, but has a within-run one,
 *	           plus 4 or 8 for total's; in modes of time, the number of waits of self, and
 *	           the longest in ns
 *
 * In mode wakers, each event of the head has "pairs", see put_pairs(). A comparison has one event:
 * its nodes' samples are the weight of the base, and it has no cells (diff_html.c).
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
#include "memory.h"
#include "source_files.h"
#include "json.h"
#include "out/output.h"

/* Lines of text before and after each sampled line. */
#define AROUND 25

/* Longest line, in bytes. */
#define LINE_MAX_BYTES 400

/* Most text of all files, in bytes. */
#define TEXT_MAX_BYTES (4 << 20)

struct listing {
	const struct report *report;
	struct head *head;
	struct source_roots roots;
	struct unique paths;
	char **texts; /* by path; NULL: not readable */
	size_t read;  /* number of texts */
	struct head_writing writing;
	struct disassembly disassembly;
	size_t room; /* bytes of text that may still be written */
};

static void read_files(struct listing *listing)
{
	const struct report *report = listing->report;
	for (size_t i = 0; i < report->profile_count; i++)
		for (size_t j = 0; j < report->lines[i]->row_count; j++) {
			const struct sp_row *row = sp_profile_row(report->lines[i], j);
			/*
			 * Rows are ordered by weight, so that the files of the heaviest lines are
			 * first.
			 */
			if (row->srcpath && row->line)
				unique_add_text(&listing->paths, row->srcpath);
		}
	listing->texts = xcalloc(listing->paths.count + 1, sizeof(*listing->texts));
	for (size_t i = 0; i < listing->paths.count; i++) {
		if (listing->read < SOURCE_FILES_MAX)
			listing->texts[i] = source_read(&listing->roots, listing->paths.texts[i]);
		listing->read += listing->texts[i] != NULL;
	}
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

/* Writes a line with blanks for tabs, without characters that are unsafe to show. */
static void put_line(struct listing *listing, const char *line, size_t size)
{
	char copy[LINE_MAX_BYTES + TEXT_TAB + 1];
	size_t at = text_expand_tabs(line, size, LINE_MAX_BYTES, copy);
	head_put_text(&listing->writing, NULL, copy);
	listing->room -= listing->room < at + 4 ? listing->room : at + 4;
}

static void put_parts(struct listing *listing, const char *text, const bool *marks, size_t count)
{
	struct json *json = &listing->writing.json;
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

static void put_file(struct listing *listing, uint32_t file)
{
	struct json *json = &listing->writing.json;
	const char *text = listing->texts[file];
	size_t count = text ? line_count(text) : 0;
	bool *marks = xcalloc(count + 1, sizeof(*marks));
	json_begin(json, NULL, '{');
	head_put_text(&listing->writing, "path", listing->paths.texts[file]);
	json_begin(json, "parts", '[');
	if (text) {
		mark_lines(listing, file, marks, count);
		put_parts(listing, text, marks, count);
	}
	json_end(json, ']');
	json_end(json, '}');
	free(marks);
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
	struct buffer *buffer = &listing->writing.text;
	buffer->count = 0;
	buffer_name(buffer, instruction->symbol ?: "");
	buffer_string(buffer, place);
	buffer_char(buffer, '\0');
	json_string(&listing->writing.json, NULL, buffer->text);
	head_put_text(&listing->writing, NULL, text);
}

static void put_source_lines(struct listing *listing, const struct sp_profile *profile)
{
	struct json *json = &listing->writing.json;
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

static void put_all(struct listing *listing)
{
	struct json *json = &listing->writing.json;
	read_files(listing);
	json_begin(json, NULL, '{');
	json_begin_lines(json, "files", '[');
	for (uint32_t i = 0; i < listing->paths.count; i++)
		put_file(listing, i);
	json_end_lines(json, ']');
	json_begin_lines(json, "events", '[');
	for (size_t i = 0; i < listing->report->profile_count; i++)
		put_source_lines(listing, listing->report->lines[i]);
	json_end_lines(json, ']');
	json_end(json, '}');
}

/* Block "source" of a page: sampled lines of functions, and the text around them. */

/*
 * Writes JSON: {"files": [{"path", "parts": [[first line, [text, ...]], ...]}, ...], "events":
 * [[[function, file, line, samples, weight, "function+0x12", "addl $1, %eax"], ...], ...]}. Each
 * row is of one instruction. Its place and text are missing without the program's file or capstone.
 * Rows are those of report->lines, by index of the head's functions; functions that the head lacks
 * are left out. Files are read below report->source_directories. Returns false after printing an
 * error.
 */
static bool listing_write(const struct report *report, struct head *head, FILE *out)
{
	struct listing listing = {.report = report,
				  .head = head,
				  .writing.json.out = out,
				  .room = TEXT_MAX_BYTES,
				  .writing.text.form = TEXT_SHOWN,
				  .disassembly.big_endian = report->info->big_endian};
	bool done = source_roots_open(&listing.roots, report->source_directories,
				      report->source_directory_count);
	if (done)
		put_all(&listing);
	if (done && !report->quiet) {
		/* Warns before the page is shared: debug information chose the files. */
		size_t private = listing.roots.private_count;
		const char *plural = listing.read == 1 ? "" : "s";
		if (private)
			diag_print("the page contains %zu source file%s, without %zu private or "
				   "hidden (for all: --source=.)",
				   listing.read, plural, private);
		else
			diag_print("the page contains %zu source file%s", listing.read, plural);
	}
	for (size_t i = 0; i < listing.paths.count; i++)
		free(listing.texts[i]);
	free(listing.texts);
	unique_deinit(&listing.paths);
	source_roots_deinit(&listing.roots);
	buffer_deinit(&listing.writing.text);
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
 * and leaves `out` open, which has the write errors.
 */
static FILE *base64_open(FILE *out)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_stream};
	struct base64 *base64 = xcalloc(1, sizeof(*base64));
	base64->out = out;
	FILE *stream = fopencookie(base64, "w", functions);
	if (!stream)
		memory_end();
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

static void block_open(struct data_block *block, FILE *out)
{
	*block = (struct data_block){.encoded = base64_open(out)};
	block->stream = gzip_open(block->encoded);
}

static void block_flush(struct data_block *block)
{
	fwrite(block->text.text, 1, block->text.count, block->stream);
	block->text.count = 0;
}

/* Write errors stay in the file. */
static void block_close(struct data_block *block)
{
	block_flush(block);
	fclose(block->stream);
	fclose(block->encoded);
	buffer_deinit(&block->text);
}

static void put(struct data_block *block, uint64_t number)
{
	protobuf_varint(&block->text, number);
	if (block->text.count > 64 << 10)
		block_flush(block);
}

/* Writes the head after its size. */
static void put_head(struct data_block *block, const struct head *head)
{
	char *text;
	size_t size;
	FILE *stream = text_stream_open(&text, &size);
	head_write(head, stream);
	text_stream_close(stream, &text);
	if (size > UINT32_MAX)
		memory_end();
	for (unsigned int i = 0; i < 4; i++)
		buffer_char(&block->text, (char)(size >> 8 * i & 255));
	block_flush(block);
	fwrite(text, 1, size, block->stream);
	free(text);
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

/* Returns the number of an interval's mark in the page's data. */
static uint64_t mark_number(char mark)
{
	return mark == MARK_BETWEEN ? 1 : mark == MARK_WITHIN ? 2 : 0;
}

static void put_rows(struct data_block *block, const struct report *report,
		     const struct sp_profile *profile, const uint32_t *functions, size_t count)
{
	char marks[2];
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
			const struct sp_share shares[] = {
				report_interval(report, &row->self.share, row->self_between,
						&marks[0]),
				report_interval(report, &row->total.share, row->total_between,
						&marks[1]),
			};
			const struct sp_share *of = &shares[column / 3];
			const double values[] = {of->value, of->low, of->high};
			double share = values[column % 3];
			put(block, share > 0 ? (uint64_t)llround(share * SHARE_UNITS) : 0);
		}
	}
	for (size_t i = 0; i < count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		report_interval(report, &row->self.share, row->self_between, &marks[0]);
		report_interval(report, &row->total.share, row->total_between, &marks[1]);
		put(block, mark_number(marks[0]) + 4 * mark_number(marks[1]));
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

static void put_tree_block(const struct head *head, FILE *out)
{
	const struct page *page = head->page;
	struct data_block block;
	block_open(&block, out);
	put_head(&block, head);
	for (size_t column = FUNCTION_NAME; column < FUNCTION_ADDRESS; column++)
		for (size_t i = 0; i < head->functions.count; i++)
			put(&block, unique_number(&head->functions, i, column));
	for (size_t i = 0; i < page->event_count; i++) {
		put_nodes(&block, &page->events[i]);
		put_rows(&block, page->report, page->events[i].profile, head->row_functions[i],
			 head->row_counts[i]);
		if (page->report->mode != SP_MODE_CPU)
			put_waits(&block, page->events[i].profile, head->row_counts[i]);
	}
	block_close(&block);
}

static void put_cells_block(const struct page *page, FILE *out)
{
	struct data_block block;
	block_open(&block, out);
	for (size_t i = 0; i < page->event_count; i++)
		if (!page->events[i].two_sides)
			put_cells(&block, &page->events[i]);
	block_close(&block);
}

static bool put_source_block(struct head *head, FILE *out)
{
	struct data_block block;
	block_open(&block, out);
	bool done = listing_write(head->page->report, head, block.stream);
	block_close(&block);
	return done;
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

static void blocks_make(struct blocks *blocks, struct head *head)
{
	page_finish(head->page);
	FILE *tree = text_stream_open(&blocks->tree, &blocks->tree_size);
	put_tree_block(head, tree);
	text_stream_close(tree, &blocks->tree);
	FILE *cells = text_stream_open(&blocks->cells, &blocks->cells_size);
	put_cells_block(head->page, cells);
	text_stream_close(cells, &blocks->cells);
}

/* Returns how many items are left if their block may have `limit` of its `size` bytes. */
static size_t items_of(size_t count, size_t size, size_t limit)
{
	double part = (double)limit / (double)size;
	return part < 1 ? (size_t)((double)count * 0.95 * part) : SIZE_MAX;
}

/* Makes the blocks, with less content until they have the limit of bytes. */
static void make_limited(struct blocks *blocks, struct head *head)
{
	struct page_limits limits = page_limits;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		blocks_deinit(blocks);
		page_reduce(head, &limits);
		blocks_make(blocks, head);
		if (blocks->tree_size + blocks->cells_size <= BYTES_MAX)
			break;
		/* A block may have what the other one does not need of its half. */
		size_t half = BYTES_MAX / 2, tree = blocks->tree_size, cells = blocks->cells_size;
		limits.nodes = items_of(page_node_count(head->page), tree,
					BYTES_MAX - (cells < half ? cells : half));
		limits.cells = items_of(page_cell_count(head->page), cells,
					BYTES_MAX - (tree < half ? tree : half));
	}
}

bool page_write(struct page *page, FILE *out)
{
	struct head head;
	struct blocks blocks = {0};
	head_init(&head, page);
	make_limited(&blocks, &head);
	put_markup(&markup_before_tree, out);
	fwrite(blocks.tree, 1, blocks.tree_size, out);
	put_markup(&markup_before_cells, out);
	fwrite(blocks.cells, 1, blocks.cells_size, out);
	put_markup(&markup_before_source, out);
	bool done = !page->report->lines || put_source_block(&head, out);
	put_markup(&markup_end, out);
	blocks_deinit(&blocks);
	head_deinit(&head);
	return done;
}

static bool write_html(const struct report *report, FILE *out)
{
	struct page page;
	page_init(&page, report);
	bool done = page_write(&page, out);
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
	.intervals = true,
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
