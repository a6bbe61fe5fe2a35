/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof info` prints the header, events, records, losses and damage of a recording. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/common/recordings.h"
#include "cmd/info/info.h"
#include "cmd/info/cpu_time_bins.h"
#include "diag.h"
#include "input.h"
#include "memory.h"
#include "options.h"
#include "pager.h"
#include "progress.h"

/* Kind of a note, as in doc/FILE.md. */
#define SCHEDSTAT_NOTE 53
#define LOST_OWN_NOTE 44

enum info_format { INFO_TEXT, INFO_JSON };

/*
 * Counts a record of a type without a name. Each type has a counter, ordered by type; after
 * INFO_OTHER_TYPES types, further ones are counted together.
 */
static void count_unnamed_type(struct info *info, uint32_t type)
{
	size_t place = 0;
	while (place < info->other_count && info->others[place].type < type)
		place++;
	if (place < info->other_count && info->others[place].type == type) {
		info->others[place].count++;
		return;
	}
	if (info->other_count == INFO_OTHER_TYPES) {
		info->rest++;
		return;
	}
	memmove(&info->others[place + 1], &info->others[place],
		(info->other_count++ - place) * sizeof(*info->others));
	info->others[place] = (struct type_count){type, 1};
}

/* Counts a sample. */
static void count_sample(struct info *info, const struct sp_record *record)
{
	if (record->event < info->event_count)
		info->samples[record->event]++;
	else
		info->unknown++;
	if (record->sample.present & PERF_SAMPLE_TIME && input_has_own_time(&record->sample)) {
		if (!info->timed || record->sample.time_ns < info->first_ns)
			info->first_ns = record->sample.time_ns;
		if (!info->timed || record->sample.time_ns > info->last_ns)
			info->last_ns = record->sample.time_ns;
		info->timed = true;
	}
	if (info->slices)
		time_bins_add_sample(info->slices, &record->sample);
}

/* Adds a note with its text. Notes of each thread are data for reports. */
static void add_note(struct info *info, const struct sp_note *note)
{
	if (note->kind == SCHEDSTAT_NOTE)
		return;
	size_t size = sp_note_text(note, NULL, 0) + 1;
	char *text = xmalloc(size);
	sp_note_text(note, text, size);
	/* The last estimate of losses counts. */
	for (size_t i = 0; i < info->notes.count && note->kind == LOST_OWN_NOTE; i++) {
		struct info_note *earlier = &info->notes.items[i];
		if (earlier->note.kind != LOST_OWN_NOTE)
			continue;
		/* A file's first round may end with the note of its begin, which has no losses. */
		bool newer = note->values[0];
		free(newer ? earlier->text : text);
		if (newer)
			*earlier = (struct info_note){.text = text, .note = *note};
		return;
	}
	*list_push(&info->notes) = (struct info_note){.text = text, .note = *note};
}

static void count_record(struct info *info, const struct sp_record *record)
{
	struct sp_note note;
	if (record->type < INFO_PLAIN_TYPES && sp_record_type_name(record->type))
		info->plain[record->type]++;
	else
		count_unnamed_type(info, record->type);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		count_sample(info, record);
		break;
	case PERF_RECORD_THROTTLE:
		info->throttled++;
		break;
	case SP_RECORD_EVENT_UPDATE:
		if (sp_record_note(record, &note))
			add_note(info, &note);
		break;
	default:
		break;
	}
}

/*
 * Counts all records. The reader saves damaged offsets for later output. Returns false after printing
 * an error.
 */
static bool count_records(struct info *info, struct sp_reader *reader)
{
	for (;;) {
		const struct sp_record *record;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY) {
			diag_error(error);
			return false;
		}
		if (error) {
			sp_error_free(error);
			continue;
		}
		if (!record)
			return true;
		error = sp_losses_add(info->losses, record);
		if (error) {
			diag_error(error);
			return false;
		}
		count_record(info, record);
	}
}

/* Reads the recording into `info`. Returns false after printing the error. */
static bool info_read(struct info *info, struct sp_reader *reader)
{
	struct sp_error *error = sp_losses_new(reader, &info->losses);
	if (!error)
		error = sp_archive_read(reader, &info->stored);
	if (error) {
		diag_error(error);
		return false;
	}
	info->samples = xcalloc(info->event_count + 1, sizeof(*info->samples));
	return count_records(info, reader);
}

static void info_deinit(struct info *info)
{
	for (size_t i = 0; i < info->notes.count; i++)
		free(info->notes.items[i].text);
	free(info->notes.items);
	free(info->samples);
	sp_losses_free(info->losses);
}

/* Values of the command line. */
struct info_options {
	const char *path, *symfs;
	enum info_format format;
	bool verbose, losses, findings, debuginfod;
};

/* Analyzes the recording as `sprof report` does. Returns NULL after printing the error. */
static struct sp_analysis *analyze(struct sp_ctx *ctx, struct sp_reader *reader,
				   const struct info_options *options)
{
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .children = true};
	const struct sp_recording recording = {.reader = reader};
	const struct sp_files files = {.size = sizeof(files), .symfs = options->symfs};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples),
		.mode = recordings_have_waits(&recording, 1) ? SP_MODE_WALL : SP_MODE_CPU,
	};
	const struct sp_analysis_options wanted = {.size = sizeof(wanted), .rows = &rows,
						   .samples = &samples, .files = &files};
	struct sp_analysis *analysis = NULL;
	sp_ctx_set_debuginfod(ctx, options->debuginfod);
	sp_reader_rewind(reader);
	struct progress progress;
	progress_begin(&progress, ctx, !options->verbose);
	struct sp_error *error = sp_reader_add_up_pmus(reader, (struct sp_string_list){0});
	if (!error)
		error = sp_analysis_run(ctx, reader, &wanted, &analysis);
	sp_reader_split_pmus(reader);
	progress_end(&progress);
	if (error)
		diag_error(error);
	return analysis;
}

/* Collects the findings in a list, which the caller frees. */
static const struct sp_finding **list_findings(struct info *info,
					       const struct sp_analysis *analysis)
{
	info->finding_count = sp_analysis_finding_count(analysis);
	const struct sp_finding **list = xcalloc(info->finding_count + 1, sizeof(*list));
	for (size_t i = 0; i < info->finding_count; i++)
		list[i] = sp_analysis_finding(analysis, i);
	info->findings = list;
	return list;
}

static int write_info(const struct info *info, enum info_format format)
{
	struct pager pager = pager_open(NULL, format == INFO_TEXT);
	if (format == INFO_JSON)
		info_write_json(info, pager.out);
	else
		info_write_text(info, pager.out);
	return pager_close(&pager);
}

static int show(struct sp_ctx *ctx, struct sp_reader *reader, const struct info_options *options)
{
	struct cpu_time_bins slices = {0};
	struct info info = {
		.slices = options->losses ? &slices : NULL,
		.reader = reader,
		.file = sp_reader_info(reader),
		.verbose = options->verbose,
		.event_count = sp_reader_event_count(reader),
	};
	struct sp_analysis *analysis = NULL;
	const struct sp_finding **findings = NULL;
	bool done = info_read(&info, reader);
	if (done && options->losses)
		time_bins_add_losses(&slices, info.losses);
	if (done && options->findings) {
		analysis = analyze(ctx, reader, options);
		done = analysis;
		findings = done ? list_findings(&info, analysis) : NULL;
	}
	int status = done ? write_info(&info, options->format) : 1;
	free(findings);
	sp_analysis_free(analysis);
	info_deinit(&info);
	time_bins_deinit(&slices);
	return status;
}

static int info_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct info_options info = {.format = INFO_TEXT};
	const struct option options[] = {
		OPTION_STRING('i', "input", "FILE", &info.path,
			      "read FILE (default: sprof.data; -: stdin)"),
		OPTION_FLAG(0, "findings", &info.findings,
			    "print all limits of the profile, with remedies, and recorder notes"),
		OPTION_FLAG(0, "losses", &info.losses,
			    "print lost samples and throttling by CPU, time and thread"),
		OPTION_WORD(0, "format", "FORMAT", &info.format, "text or json",
			    "print text or json"),
		OPTION_FLAG('v', "verbose", &info.verbose,
			    "print all event attributes and all header features"),
		OPTION_STRING(0, "symfs", "DIR", &info.symfs,
			      "with --findings: look for recorded files below DIR"),
		OPTION_FLAG(0, "debuginfod", &info.debuginfod,
			    "with --findings: download missing files from $DEBUGINFOD_URLS"),
		OPTION_END,
	};
	static const char *const synopses[] = {"sprof info [OPTION]... [FILE]", NULL};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Shows a recording's machine, events, record counts, lost samples and damage.",
		.example = "sprof info --losses",
		.options = options,
	};
	int operand;
	int status = options_parse(&usage, argc, argv, &operand);
	if (status >= 0)
		return status;
	if (!input_operand(&info.path, argc, argv, operand))
		return EXIT_USAGE;
	struct sp_reader *reader = input_open(ctx, info.path);
	if (!reader)
		return 1;
	status = show(ctx, reader, &info);
	/* With -v, damage was already printed with each feature. */
	status |= input_feature_damage(reader, !info.verbose);
	/* The damage was already printed; only the exit status is set. */
	if (sp_reader_damage_count(reader))
		status = 1;
	sp_reader_free(reader);
	return status;
}

const struct command command_info = {
	.name = "info",
	.summary = "show the header, events, losses and damage of a recording",
	.run = info_run,
};
