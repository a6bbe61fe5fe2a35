/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/annotate/annotate.h"
#include "cmd/annotate/jump_lanes.h"
#include "input.h"
#include "memory.h"
#include "out/format_value.h"
#include "text.h"

#define INDENT 2

/* Hottest instructions in the head, and number of instructions from which it has them. */
#define HOTTEST 3
#define SCREEN_LINES 15

/* Widths of the columns "100.00%" and of numbers of samples. */
#define SHARE_WIDTH 7
#define SAMPLES_WIDTH 8

/* Longest source line, in bytes; and bytes of an instruction that are shown. */
#define LINE_BYTES 400
#define CODE_BYTES 11

struct annotate_writer {
	const struct annotated *annotated;
	const struct sp_annotation *annotation;
	const struct sp_annotation_info *info;
	const struct term *term;
	struct jump_lanes lanes;
	int decimals; /* decimals of intervals */
	int address_width;
	FILE *out;
};

/* Writes a warning and its remedy, in the form of a report's findings. */
static void put_problem(const struct annotate_writer *writer, const char *problem,
			const char *remedy)
{
	if (!problem || writer->annotated->quiet)
		return;
	term_begin(writer->term, TERM_WARNING, writer->out);
	fputs("! ", writer->out);
	term_wrap(writer->term, problem, 2, 2, 0, writer->out);
	term_end(writer->term, TERM_WARNING, writer->out);
	if (!remedy)
		return;
	fprintf(writer->out, "%*s%s ", INDENT, "", term_glyph(writer->term, "→", "->"));
	int column = INDENT + 3 - writer->term->utf8;
	term_wrap(writer->term, remedy, column, column, 0, writer->out);
}

static void put_problem_format(const struct annotate_writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put_problem_format(const struct annotate_writer *writer, const char *format, ...)
{
	char text[640];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put_problem(writer, text, NULL);
}

static bool has_places(const struct sp_annotation *annotation)
{
	for (size_t i = 0; i < sp_annotation_count(annotation); i++)
		if (sp_annotation_code(annotation, i)->place)
			return true;
	return false;
}

static void put_problems(const struct annotate_writer *writer)
{
	const struct sp_annotation_info *info = writer->info;
	char count[FORMAT_SIZE];
	put_problem(writer, info->file_problem, info->file_remedy);
	put_problem(writer, info->text_problem, info->text_remedy);
	if (writer->annotated->sources && !has_places(writer->annotation))
		put_problem(writer,
			    info->line_problem ?: "no source lines: there is no debug information",
			    info->line_remedy);
	if (info->other_samples)
		put_problem_format(
			writer, "%s samples are in other code with this name, which is not shown",
			format_count(info->other_samples, count));
	if (info->overlapping)
		put_problem_format(writer,
				   "%zu sampled addresses are inside of an instruction: the "
				   "code is data, or not the code that ran",
				   info->overlapping);
}

/* Writes the addresses of the hottest instructions, if they may be below the first screen. */
static void put_hottest(const struct annotate_writer *writer)
{
	const struct sp_annotation *annotation = writer->annotated->annotation;
	const struct sp_code_instruction *hottest[HOTTEST] = {NULL};
	char text[HOTTEST * 2 * FORMAT_SIZE] = "hottest:", share[FORMAT_SIZE];
	for (size_t i = 0; i < sp_annotation_count(annotation); i++) {
		const struct sp_code_instruction *one = sp_annotation_code(annotation, i);
		for (size_t j = 0; j < HOTTEST && one && one->row; j++) {
			const struct sp_code_instruction *other = hottest[j];
			if (other && other->row->self.weight >= one->row->self.weight)
				continue;
			hottest[j] = one;
			one = other;
		}
	}
	size_t used = strlen(text);
	for (size_t i = 0; i < HOTTEST && hottest[i]; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %" PRIx64 " %s",
					 i ? "," : "", hottest[i]->address,
					 format_share(hottest[i]->row->self.share.value, share));
	if (sp_annotation_count(annotation) > SCREEN_LINES && hottest[0])
		term_wrap(writer->term, text, 0, 2, 0, writer->out);
}

/* Formats a share, its interval and its samples in parts: "35.58% (30.9–40.5)", "132 samples". */
static void format_weight(const struct annotate_writer *writer, const struct sp_weight *weight,
			  char share_ret[2 * FORMAT_SIZE], char samples_ret[2 * FORMAT_SIZE])
{
	char share[FORMAT_SIZE], range[FORMAT_SIZE], count[FORMAT_SIZE];
	format_range(writer->term, &weight->share, writer->decimals, range);
	snprintf(share_ret, 2 * FORMAT_SIZE, "%s (%s)", format_share(weight->share.value, share),
		 remove_padding(range));
	snprintf(samples_ret, 2 * FORMAT_SIZE, "%s sample%s", format_count(weight->samples, count),
		 weight->samples == 1 ? "" : "s");
}

/* Writes the weight of the function's row in the report, if it is not that of the code. */
static bool put_reported(const struct annotate_writer *writer)
{
	const struct sp_weight *code = &writer->annotated->function->self;
	const struct sp_row *row = writer->annotated->reported;
	const char *dso = writer->annotated->function->dso;
	const char *event = writer->annotated->profile->event;
	bool python = !strncmp(dso, "libpython3.", 11) || !strncmp(dso, "python3", 7);
	bool more = row && row->self.weight > code->weight;
	char share[2 * FORMAT_SIZE], samples[2 * FORMAT_SIZE], text[512];
	/* Code made at run time may have another name in the report. */
	if (row ? row->self.weight == code->weight : !writer->annotated->function->identity)
		return false;
	const char *why =
		more && python ? "it includes its copies, and what Python's collector calls"
		: more	       ? "it includes its clones and inlined copies"
		: python       ? "inlined and Python functions have own rows"
			       : "inlined functions have own rows";
	if (row) {
		format_weight(writer, &row->self, share, samples);
		snprintf(text, sizeof(text), "%s of %s in the report's row, %s: %s", share, event,
			 samples, why);
	} else {
		snprintf(text, sizeof(text), "no row in the report: %s", why);
	}
	term_wrap(writer->term, text, 0, 0, 0, writer->out);
	return true;
}

/* Writes that the code has CPU time only, and the command that shows the waits of its callees. */
static void put_waits(const struct annotate_writer *writer)
{
	char *command = input_command("sprof report", writer->annotated->recording);
	char *text = xasprintf("CPU time only; its waits: %s --callees", command);
	text = text_append_word(text, writer->annotated->function->symbol);
	term_wrap(writer->term, text, 0, 0, 0, writer->out);
	free(text);
	free(command);
}

static void put_head(const struct annotate_writer *writer)
{
	const struct annotated *annotated = writer->annotated;
	char share[2 * FORMAT_SIZE], samples[2 * FORMAT_SIZE], text[512];
	term_begin(writer->term, TERM_TITLE, writer->out);
	int used =
		term_put(writer->term, writer->info->row->symbol, writer->term->width, writer->out);
	term_end(writer->term, TERM_TITLE, writer->out);
	int room = writer->term->width ? writer->term->width - used - INDENT : 0;
	if (room > 0 || !writer->term->width) {
		fprintf(writer->out, "%*s", INDENT, "");
		term_put(writer->term, writer->info->row->dso_path, room, writer->out);
	}
	putc('\n', writer->out);
	if (annotated->quiet)
		return;
	bool differs = put_reported(writer);
	format_weight(writer, &annotated->function->self, share, samples);
	snprintf(text, sizeof(text), "%s of %s%s, %s; %" PRIu64 " bytes of code", share,
		 annotated->profile->event, differs ? " in this code" : "", samples,
		 writer->info->bytes);
	term_wrap(writer->term, text, 0, 0, 0, writer->out);
	if (annotated->waits)
		put_waits(writer);
	put_hottest(writer);
	put_problems(writer);
	term_begin(writer->term, TERM_DIM, writer->out);
	term_wrap(writer->term, annotate_skid(annotated->event), 0, 0, 0, writer->out);
	snprintf(text, sizeof(text), "Percentages are of %s; %s is the 95%% confidence interval.%s",
		 annotated->is_global ? "the event's total" : "this function",
		 term_glyph(writer->term, "low–high", "low-high"),
		 writer->info->is_relative ? " Addresses are distances from the function's begin."
					   : "");
	term_wrap(writer->term, text, 0, 0, 0, writer->out);
	term_end(writer->term, TERM_DIM, writer->out);
}

static void put_titles(const struct annotate_writer *writer)
{
	term_begin(writer->term, TERM_TITLE, writer->out);
	fprintf(writer->out, "\n%*s", SHARE_WIDTH, "self");
	if (writer->annotated->samples)
		fprintf(writer->out, " %*s", SAMPLES_WIDTH, "samples");
	fprintf(writer->out, " %*s%s %*s", range_width(writer->decimals) - 8, "",
		term_glyph(writer->term, "low–high", "low-high"), writer->address_width, "address");
	fprintf(writer->out, "  %*s%s\n", jump_lanes_width(&writer->lanes), "", "instruction");
	term_end(writer->term, TERM_TITLE, writer->out);
}

/*
 * Writes text of unknown origin up to the terminal's right edge, with blanks for tabs, and a line
 * feed.
 */
static void put_rest(const struct annotate_writer *writer, int column, const char *text)
{
	char copy[LINE_BYTES + TEXT_TAB + 1];
	text_expand_tabs(text, strlen(text), LINE_BYTES, copy);
	int room = writer->term->width ? writer->term->width - column : 0;
	if (room > 0 || !writer->term->width)
		term_put(writer->term, copy, room, writer->out);
	putc('\n', writer->out);
}

static bool is_same_function(const struct sp_code_place *a, const struct sp_code_place *b)
{
	return a && b && a->caller == b->caller && text_is_same(a->function, b->function);
}

static void put_dim(const struct annotate_writer *writer, const char *text)
{
	term_begin(writer->term, TERM_DIM, writer->out);
	put_rest(writer, 0, text);
	term_end(writer->term, TERM_DIM, writer->out);
}

static void put_gap(const struct annotate_writer *writer, uint64_t size)
{
	char count[FORMAT_SIZE], text[2 * FORMAT_SIZE];
	snprintf(text, sizeof(text), "  %s %s bytes without samples",
		 term_glyph(writer->term, "…", "..."), format_count(size, count));
	put_dim(writer, text);
}

/* Writes the function, if it is another one than before, and the source line. */
static void put_place(const struct annotate_writer *writer, const struct sp_code_place *before,
		      const struct sp_code_place *place)
{
	const struct annotated *annotated = writer->annotated;
	const char *symbol = writer->info->row->symbol;
	char text[LINE_BYTES];
	if (!place) {
		put_dim(writer, "(source unknown)");
		return;
	}
	if (!is_same_function(before, place) && (before || place->caller)) {
		const struct sp_code_place *caller = place->caller;
		term_begin(writer->term, TERM_TITLE, writer->out);
		if (caller)
			snprintf(text, sizeof(text),
				 "%s, inlined at %s:%u into %s:", place->function ?: "?",
				 text_base_name(caller->file ?: "?"), caller->line,
				 caller->function ?: symbol);
		else
			snprintf(text, sizeof(text), "%s:", place->function ?: symbol);
		put_rest(writer, 0, text);
		term_end(writer->term, TERM_TITLE, writer->out);
	}
	if (!place->file)
		return;
	const char *line = annotate_source_line(annotated->sources, place->file, place->line);
	term_begin(writer->term, TERM_DIM, writer->out);
	if (place->line)
		snprintf(text, sizeof(text), "%s:%u", text_base_name(place->file), place->line);
	else
		snprintf(text, sizeof(text), "%s (no line)", text_base_name(place->file));
	int used = term_put(writer->term, text, writer->term->width, writer->out);
	term_pad(line ? INDENT : 0, writer->out);
	put_rest(writer, used + INDENT, line ?: "");
	term_end(writer->term, TERM_DIM, writer->out);
}

/* Writes the columns of numbers; returns their width. */
static int put_numbers(const struct annotate_writer *writer,
		       const struct sp_code_instruction *instruction)
{
	char share[FORMAT_SIZE], range[FORMAT_SIZE], count[FORMAT_SIZE];
	int range_columns = range_width(writer->decimals);
	int samples = writer->annotated->samples ? SAMPLES_WIDTH + 1 : 0;
	int width = SHARE_WIDTH + samples + 1 + range_columns;
	if (!instruction->row) {
		term_pad(width, writer->out);
		return width;
	}
	const struct sp_weight *self = &instruction->row->self;
	enum term_style style = share_style(self->share.value);
	term_begin(writer->term, style, writer->out);
	fprintf(writer->out, "%*s", SHARE_WIDTH, format_share(self->share.value, share));
	term_end(writer->term, style, writer->out);
	if (samples)
		fprintf(writer->out, " %*s", SAMPLES_WIDTH, format_count(self->samples, count));
	fprintf(writer->out, " %s",
		format_range(writer->term, &self->share, writer->decimals, range));
	return width;
}

static void put_instruction(const struct annotate_writer *writer, size_t index,
			    const struct sp_code_instruction *instruction)
{
	char code[3 * SP_CODE_MAX + 1] = "", text[LINE_BYTES];
	int column = put_numbers(writer, instruction);
	fprintf(writer->out, " %*" PRIx64 "  ", writer->address_width, instruction->address);
	column += writer->address_width + 3 + jump_lanes_width(&writer->lanes);
	jump_lanes_put(&writer->lanes, index, writer->term, writer->out);
	for (size_t i = 0; i < instruction->size && i < SP_CODE_MAX; i++)
		snprintf(code + 3 * i, 4, "%02x ", instruction->code[i]);
	if (writer->annotated->codes)
		column += fprintf(writer->out, "%-*s ", 3 * CODE_BYTES - 1, code);
	if (!instruction->text)
		snprintf(text, sizeof(text), "%s%s", writer->info->text_problem ? "" : "(bad) ",
			 writer->annotated->codes ? "" : code);
	else if (instruction->target_name)
		snprintf(text, sizeof(text), "%s <%s>", instruction->text,
			 instruction->target_name);
	else
		snprintf(text, sizeof(text), "%s", instruction->text);
	put_rest(writer, column, text);
}

/* Returns the number of digits of the highest address. */
static int address_width(const struct sp_annotation *annotation)
{
	size_t count = sp_annotation_count(annotation);
	int width =
		snprintf(NULL, 0, "%" PRIx64, sp_annotation_code(annotation, count - 1)->address);
	return width < (int)sizeof("address") - 1 ? (int)sizeof("address") - 1 : width;
}

void annotate_write_text(const struct annotated *annotated, FILE *out)
{
	const struct sp_annotation *annotation = annotated->annotation;
	const struct sp_code_place *place = NULL;
	struct annotate_writer writer = {
		.annotated = annotated,
		.annotation = annotation,
		.info = sp_annotation_info(annotation),
		.term = &annotated->term,
		.decimals = range_decimals(sp_annotation_info(annotation)->samples),
		.address_width = address_width(annotation),
		.out = out,
	};
	jump_lanes_init(&writer.lanes, annotation);
	put_head(&writer);
	put_titles(&writer);
	uint64_t end = writer.info->address;
	for (size_t i = 0; i < sp_annotation_count(annotation); i++) {
		const struct sp_code_instruction *one = sp_annotation_code(annotation, i);
		if (one->follows_gap)
			put_gap(&writer, one->address - end);
		if (annotated->sources && one->place != place)
			put_place(&writer, place, one->place);
		place = one->place;
		if (annotated->offsets)
			annotated->offsets[i] = ftell(out);
		put_instruction(&writer, i, one);
		end = one->address + one->size;
	}
	if (end - writer.info->address < writer.info->bytes)
		put_gap(&writer, writer.info->address + writer.info->bytes - end);
	jump_lanes_deinit(&writer.lanes);
}
