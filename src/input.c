/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include <sprof/private/describe.h>
#include "diag.h"
#include "memory.h"
#include "text.h"

/* Number of damaged offsets that are printed; further ones are only counted. */
#define SHOWN_DAMAGE 3

const char *input_path(const char *given)
{
	if (given)
		return given;
	if (access("sprof.data", F_OK) && !access("perf.data", F_OK))
		return "perf.data";
	return "sprof.data";
}

char *input_command(const char *command, const char *path)
{
	char *text = xstrdup(command);
	return !path || !strcmp(path, input_path(NULL))
		       ? text
		       : text_append_word(text_append_word(text, "-i"), path);
}

bool input_operand(const char **given, int argc, char **argv, int operand)
{
	if (operand == argc)
		return true;
	const char *extra = *given || operand + 1 < argc ? argv[argc - 1] : NULL;
	if (extra)
		diag_print("more than one recording: '%s' and '%s'", *given ?: argv[operand],
			   extra);
	else
		*given = argv[operand];
	return !extra;
}

struct sp_reader *input_open(struct sp_ctx *ctx, const char *given)
{
	const char *path = input_path(given);
	struct sp_reader *reader;
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (!error)
		return reader;
	bool absent = sp_error_code(error) == SP_ERROR_NOT_FOUND;
	bool remedy = sp_error_remedy(error);
	diag_error(error);
	if (absent && !remedy)
		diag_more(given ? "To make a recording: sprof record -o FILE -- COMMAND"
				: "Record first: sprof record -- COMMAND");
	return NULL;
}

const char *input_missing_time_text(struct sp_reader *reader, size_t index, char text[INPUT_TEXT])
{
	uint64_t from_ns, to_ns;
	sp_reader_damage_time(reader, index, &from_ns, &to_ns);
	double from = (double)from_ns / 1e9, to = (double)to_ns / 1e9;
	text[0] = 0;
	if (from_ns && to_ns)
		snprintf(text, INPUT_TEXT, " (records between %.6f s and %.6f s are missing)",
			 from < to ? from : to, from < to ? to : from);
	else if (from_ns)
		snprintf(text, INPUT_TEXT, " (records after %.6f s are missing)", from);
	else if (to_ns)
		snprintf(text, INPUT_TEXT, " (records before %.6f s are missing)", to);
	return text;
}

int input_feature_damage(const struct sp_reader *reader, bool say)
{
	struct sp_error *formats = sp_trace_check(reader);
	int status = formats != NULL;
	if (formats)
		diag_error(formats);
	for (unsigned int bit = 0; bit < INPUT_FEATURES; bit++) {
		struct sp_description *description;
		struct sp_error *error = sp_description_new(reader, bit, &description);
		status |= error != NULL;
		if (error && say)
			diag_error(error);
		else
			sp_error_free(error);
		sp_description_free(description);
	}
	return status;
}

int input_print_damage(struct sp_reader *reader)
{
	size_t count = sp_reader_damage_count(reader);
	const char *path = sp_reader_info(reader)->path;
	for (size_t i = 0; i < count && i < SHOWN_DAMAGE; i++) {
		const struct sp_damage *damage = sp_reader_damage(reader, i);
		char time[INPUT_TEXT];
		diag_print("%s: offset 0x%" PRIx64 ": %s%s", path, damage->offset, damage->what,
			   input_missing_time_text(reader, i, time));
	}
	if (count > SHOWN_DAMAGE)
		diag_print("%s: damaged at %zu more offsets", path, count - SHOWN_DAMAGE);
	int damaged = input_feature_damage(reader, true) | (count != 0);
	if (damaged)
		diag_more("The readable part is shown.");
	return damaged;
}

const char *input_unfinished(struct sp_reader *reader, char text[INPUT_TEXT])
{
	const struct sp_file_info *info = sp_reader_info(reader);
	const char *unfinished = sp_reader_unfinished(reader);
	char wall[32] = "";
	struct tm tm;
	if (!unfinished)
		return NULL;
	uint64_t last_ns = sp_reader_last_ns(reader);
	time_t seconds = (time_t)((info->clock_wall_ns + (last_ns - info->clock_ns)) / 1000000000);
	if (last_ns && info->has_clock && localtime_r(&seconds, &tm))
		strftime(wall, sizeof(wall), "%Y-%m-%d %H:%M:%S, ", &tm);
	int used = snprintf(text, INPUT_TEXT, "%s", unfinished);
	if (last_ns && used > 0)
		snprintf(text + used, INPUT_TEXT - (size_t)used, " (last record: %s%.6f s)",
			 wall, (double)last_ns / 1e9);
	return text;
}

bool input_has_own_time(const struct sp_sample *sample)
{
	return sample->time_ns >> 32 != UINT32_MAX;
}

/* Extends the span *first_ns to *last_ns so that it contains the sample's time. */
static void include_time(const struct sp_record *record, uint64_t *first_ns, uint64_t *last_ns)
{
	if (record->type != PERF_RECORD_SAMPLE || !input_has_own_time(&record->sample))
		return;
	uint64_t time_ns = record->sample.time_ns;
	if (!*last_ns || time_ns < *first_ns)
		*first_ns = time_ns;
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

struct sp_error *input_time(struct sp_reader *reader, uint64_t *first_ns, uint64_t *last_ns)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	*first_ns = info->first_sample_ns;
	*last_ns = info->last_sample_ns;
	while (!info->last_sample_ns) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		if (!error && !record)
			break;
		if (record)
			include_time(record, first_ns, last_ns);
		sp_error_free(error); /* damage: the reader continues after it */
	}
	sp_reader_rewind(reader);
	return NULL;
}

bool recordings_have_waits(const struct sp_recording *recordings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < sp_reader_event_count(recordings[i].reader); j++)
			if (!strcmp(sp_reader_event(recordings[i].reader, j)->name, "offcpu-time"))
				return true;
	return false;
}

bool event_is_of_switches(const char *event)
{
	return !strcmp(event, "offcpu-time") || !strcmp(event, "preempted-time");
}
