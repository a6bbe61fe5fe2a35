/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of all attrs and features, for `sprof info -v` and `sprof script --header`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sprof/private/describe.h>
#include <sprof/private/words.h>
#include "cmd/info/info.h"
#include "input.h"
#include "json.h"
#include "text.h"

static const char *const mode_names[] = {
	[SP_READER_FILE] = "file", [SP_READER_PIPE] = "pipe", [SP_READER_DIRECTORY] = "directory",
};

const char *info_mode(const struct info *info)
{
	return mode_names[info->file->mode];
}

const char *info_feature(unsigned int bit, char *buffer, size_t size)
{
	const char *name = sp_feature_name(bit);
	if (name)
		return name;
	snprintf(buffer, size, "%u", bit);
	return buffer;
}

static void put_attr(const struct sp_event *event, const struct term *term, FILE *out)
{
	char value[SP_WORDS_SIZE];
	const char *name;
	unsigned int at = 0;
	fputs("  ", out);
	term_put(term, event->name, 0, out);
	fputs(": ", out);
	for (bool first = true; sp_attr_next(&event->attr, &event->tail, &at, &name, value); first = false)
		fprintf(out, "%s%s: %s", first ? "" : ", ", name, value);
	putc('\n', out);
	for (size_t i = 0; i < event->id_count; i++)
		fprintf(out, "%s %" PRIu64, i ? "," : "    ids", event->ids[i]);
	if (event->id_count)
		putc('\n', out);
}

static void put_feature(const struct sp_reader *reader, unsigned int bit, const struct term *term,
			FILE *out)
{
	char number[16];
	struct sp_description *description;
	struct sp_error *error = sp_description_new(reader, bit, &description);
	size_t count = description ? sp_description_count(description) : 0;
	if (!description && !error)
		return;
	fprintf(out, "  %s\n", info_feature(bit, number, sizeof(number)));
	for (size_t i = 0; i < count; i++) {
		const struct sp_description_row *row = sp_description_row(description, i);
		fputs("    ", out);
		if (*row->name) {
			term_put(term, row->name, 0, out);
			fputs(": ", out);
		}
		term_put(term, row->value, 0, out);
		putc('\n', out);
	}
	if (error) {
		fputs("    ", out);
		term_put(term, sp_error_message(error), 0, out);
		putc('\n', out);
	}
	sp_error_free(error);
	sp_description_free(description);
}

void info_print_details(const struct info *info, const struct term *term, FILE *out)
{
	fputs("\nAttributes of events\n\n", out);
	for (size_t i = 0; i < info->event_count; i++)
		put_attr(sp_reader_event(info->reader, i), term, out);
	fputs("\nFeatures\n\n", out);
	for (unsigned int bit = 0; bit < INPUT_FEATURES; bit++)
		put_feature(info->reader, bit, term, out);
}

static void json_attr(struct json *json, const struct sp_event *event)
{
	char value[SP_WORDS_SIZE];
	const char *name;
	unsigned int at = 0;
	json_begin(json, NULL, '{');
	json_string(json, "name", event->name);
	json_begin(json, "ids", '[');
	for (size_t i = 0; i < event->id_count; i++)
		json_unsigned(json, NULL, event->ids[i]);
	json_end(json, ']');
	json_begin(json, "attr", '{');
	while (sp_attr_next(&event->attr, &event->tail, &at, &name, value))
		json_string(json, name, value);
	json_end(json, '}');
	json_end(json, '}');
}

static void json_feature(struct json *json, const struct sp_reader *reader, unsigned int bit)
{
	char number[16];
	struct sp_description *description;
	struct sp_error *error = sp_description_new(reader, bit, &description);
	size_t count = description ? sp_description_count(description) : 0;
	if (!description && !error)
		return;
	json_begin(json, info_feature(bit, number, sizeof(number)), '[');
	for (size_t i = 0; i < count; i++) {
		const struct sp_description_row *row = sp_description_row(description, i);
		json_begin(json, NULL, '{');
		if (*row->name)
			json_string(json, "name", row->name);
		json_string(json, "value", row->value);
		json_end(json, '}');
	}
	if (error) {
		json_begin(json, NULL, '{');
		json_string(json, "damage", sp_error_message(error));
		json_end(json, '}');
	}
	json_end(json, ']');
	sp_error_free(error);
	sp_description_free(description);
}

void info_json_details(const struct info *info, struct json *json)
{
	json_begin_lines(json, "attrs", '[');
	for (size_t i = 0; i < info->event_count; i++)
		json_attr(json, sp_reader_event(info->reader, i));
	json_end_lines(json, ']');
	json_begin_lines(json, "details", '{');
	for (unsigned int bit = 0; bit < INPUT_FEATURES; bit++)
		json_feature(json, info->reader, bit);
	json_end_lines(json, '}');
}

static void put_header_event(const struct sp_event *event, enum text_form form, FILE *out)
{
	char value[SP_WORDS_SIZE];
	const char *name;
	unsigned int at = 0;
	fputs("# event : name = ", out);
	text_write(event->name, form, out);
	fputs(", ", out);
	for (size_t i = 0; i < event->id_count; i++)
		fprintf(out, "%s%" PRIu64 "%s", i ? ", " : ", id = { ", event->ids[i],
			i + 1 == event->id_count ? " }" : "");
	while (sp_attr_next(&event->attr, &event->tail, &at, &name, value))
		fprintf(out, ", %s = %s", name, value);
	putc('\n', out);
}

/* Prints the readable part of a feature. The caller reports damage at the end. */
static void put_header_feature(const struct sp_reader *reader, unsigned int bit,
			       enum text_form form, FILE *out)
{
	char number[16];
	struct sp_description *description;
	sp_error_free(sp_description_new(reader, bit, &description));
	size_t count = description ? sp_description_count(description) : 0;
	static const char *const names[] = {
		[3] = "hostname", [4] = "os release", [5] = "perf version", [6] = "arch",
		[8] = "cpudesc", [9] = "cpuid", [10] = "total memory",
	};
	const char *plain = bit < sizeof(names) / sizeof(*names) ? names[bit] : NULL;
	if (!description)
		return;
	if (bit == 11)
		fputs("# cmdline :", out);
	else if (!plain)
		fprintf(out, "# %s:", info_feature(bit, number, sizeof(number)));
	for (size_t i = 0; i < count; i++) {
		const struct sp_description_row *row = sp_description_row(description, i);
		if (plain)
			fprintf(out, "# %s : ", plain);
		else
			fputs(i && *row->name ? ", " : " ", out);
		if (!plain && *row->name) {
			text_write(row->name, form, out);
			fputs(" = ", out);
		}
		text_write(row->value, form, out);
	}
	putc('\n', out);
	sp_description_free(description);
}

void info_print_header(const struct sp_reader *reader, FILE *out)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	enum text_form form = text_form_of(STDOUT_FILENO);
	fputs("# ========\n", out);
	for (unsigned int bit = 3; bit < INPUT_FEATURES; bit++) {
		if (bit == 7 && info->cpus_available) {
			fprintf(out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32
				"\n", info->cpus_online, info->cpus_available);
		} else if (bit == 12) {
			for (size_t i = 0; i < sp_reader_event_count(reader); i++)
				put_header_event(sp_reader_event(reader, i), form, out);
		} else if (bit != 7) {
			put_header_feature(reader, bit, form, out);
		}
	}
	fputs("# ========\n#\n", out);
}
