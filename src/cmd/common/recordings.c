/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/recordings.h"

#include <stdlib.h>
#include <string.h>
#include "cmd/info/info.h"
#include "diag.h"
#include "input.h"
#include "memory.h"
#include "pager.h"

static bool open_next(struct recordings *recordings, struct sp_ctx *ctx, const char *path)
{
	struct sp_reader *reader = input_open(ctx, path);
	if (reader)
		recordings->items[recordings->count++].reader = reader;
	return reader;
}

/*
 * Opens the recordings that -i and the operands name, or the default. Returns false after printing
 * why one cannot be opened. Call recordings_close() in either case.
 */
static bool recordings_open(struct recordings *recordings, const struct selection *selection,
			    struct sp_ctx *ctx)
{
	size_t most = selection->operand_count + 1;
	bool fine = true;
	*recordings = (struct recordings){.items = xcalloc(most, sizeof(*recordings->items))};
	if (selection->input || !selection->operand_count)
		fine = open_next(recordings, ctx, selection->input);
	for (size_t i = 0; fine && i < selection->operand_count; i++)
		fine = open_next(recordings, ctx, selection->operands[i]);
	return fine;
}

void recordings_close(struct recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++)
		sp_reader_free(recordings->items[i].reader);
	free(recordings->items);
	free(recordings->times);
}

/* Adds the names of events that match the pattern. */
static void match_events(const struct sp_reader *reader, const char *pattern,
			 struct option_strings *names, bool *found)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		if (!sp_event_matches(event, pattern))
			continue;
		*found = true;
		if (!option_strings_has(names, event->name))
			option_strings_push(names, event->name, strlen(event->name));
	}
}

/* Adds the names of all events that match -e. Returns false after printing the error. */
static bool match_all(const struct recordings *recordings, const struct option_strings *patterns,
		      struct option_strings *names)
{
	for (size_t i = 0; i < patterns->count; i++) {
		const struct sp_reader *reader = recordings->items[0].reader;
		const char *pattern = patterns->items[i];
		bool found = false;
		for (size_t j = 0; j < recordings->count; j++)
			match_events(recordings->items[j].reader, pattern, names, &found);
		if (found)
			continue;
		if (recordings->count > 1) {
			diag_print("no recording has an event '%s'; 'sprof info -i FILE' lists a "
				   "recording's events", pattern);
			return false;
		}
		const char *path = sp_reader_info(reader)->path;
		char *command = input_command("sprof info", path);
		diag_print("%s has no event '%s'; '%s' lists its events", path, pattern,
			   command);
		free(command);
		return false;
	}
	return true;
}

/* Adds names of a recording's events: those in `matched`, and those of sums of such events. */
static void name_events(const struct sp_reader *reader, const struct option_strings *matched,
			struct option_strings *names)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		if ((event->added_count || option_strings_has(matched, event->name)) &&
		    !option_strings_has(names, event->name))
			option_strings_push(names, event->name, strlen(event->name));
	}
}

/* Adds up events of hybrid CPUs. Returns false after printing the error. */
static bool add_up_pmus(const struct recordings *recordings, const struct option_strings *names)
{
	for (size_t i = 0; i < recordings->count; i++) {
		struct sp_error *error = sp_reader_add_up_pmus(recordings->items[i].reader,
							       option_strings_list(names));
		if (!error)
			continue;
		diag_error(error);
		return false;
	}
	return true;
}

bool recordings_select_events(const struct recordings *recordings, struct selection *selection,
			      bool add_up)
{
	struct option_strings matched = {0}, names = {0};
	bool done = match_all(recordings, &selection->events, &matched) &&
		    (!add_up || add_up_pmus(recordings, &matched));
	for (size_t i = 0; done && i < recordings->count && matched.count; i++)
		name_events(recordings->items[i].reader, &matched, &names);
	option_strings_deinit(&matched);
	option_strings_deinit(&selection->events);
	selection->events = names;
	return done;
}

bool recordings_resolve_times(struct recordings *recordings, const struct selection *selection)
{
	if (!recordings->times)
		recordings->times =
			xcalloc(recordings->count, TIME_RANGES * sizeof(*recordings->times));
	for (size_t i = 0; i < recordings->count; i++) {
		struct sp_recording *recording = &recordings->items[i];
		struct sp_time_span *times = recordings->times + i * TIME_RANGES;
		if (!time_ranges_resolve(&selection->times, recording->reader, times))
			return false;
		recording->times = times;
		recording->time_count = selection->times.count;
	}
	return true;
}

/* Returns whether any filter other than --time is set. */
static bool has_names(const struct selection *selection)
{
	return selection->comms.count || selection->dsos.count || selection->symbols.count ||
	       selection->pids.count || selection->tids.count || selection->cpus.count ||
	       selection->events.count || selection->arguments.count ||
	       selection->command_lines.count;
}

static void print_span(const struct selection *selection, struct sp_reader *reader, bool named)
{
	uint64_t first_ns = 0, last_ns = 0;
	struct sp_error *error = input_time(reader, &first_ns, &last_ns);
	if (!error && last_ns)
		diag_print("no sample %s; %s spans %.3f s to %.3f s (+0 to +%.3f s)",
			   has_names(selection) ? "passes the filters" : "is in the given time",
			   named ? sp_reader_info(reader)->path : "the recording",
			   (double)first_ns / 1e9, (double)last_ns / 1e9,
			   (double)(last_ns - first_ns) / 1e9);
	sp_error_free(error);
}

void recordings_print_span(const struct recordings *recordings, const struct selection *selection)
{
	if (!selection->times.count || selection->quiet)
		return;
	for (size_t i = 0; i < recordings->count; i++)
		print_span(selection, recordings->items[i].reader, recordings->count > 1);
}

int recordings_print_damage(const struct recordings *recordings)
{
	int status = 0;
	for (size_t i = 0; i < recordings->count; i++)
		status |= input_print_damage(recordings->items[i].reader);
	return status;
}

static int print_headers(const struct selection *selection, const struct recordings *recordings)
{
	struct pager pager = pager_open(NULL, selection->pager != 0);
	for (size_t i = 0; i < recordings->count; i++)
		info_print_header(recordings->items[i].reader, pager.out);
	int status = pager_close(&pager);
	return recordings_print_damage(recordings) | status;
}

int recordings_run(const struct recordings_run *run, struct sp_ctx *ctx)
{
	struct recordings recordings;
	int status = 1;
	input_options_apply(run->selection, ctx);
	if (recordings_open(&recordings, run->selection, ctx))
		status = run->header_only ? print_headers(run->selection, &recordings)
					  : run->read(ctx, run->arguments, &recordings);
	recordings_close(&recordings);
	return status;
}
