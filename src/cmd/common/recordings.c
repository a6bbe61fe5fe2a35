/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/recordings.h"

#include <stdlib.h>
#include <string.h>
#include "diag.h"
#include "input.h"

static bool open_next(struct recordings *recordings, struct sp_ctx *ctx, const char *path)
{
	struct sp_reader *reader = input_open(ctx, path);
	if (reader)
		recordings->items[recordings->count++].reader = reader;
	return reader;
}

bool recordings_open(struct recordings *recordings, const struct selection *selection,
		     struct sp_ctx *ctx)
{
	size_t most = selection->operand_count + 1;
	bool fine = true;
	*recordings = (struct recordings){
		.items = calloc(most, sizeof(*recordings->items)),
		.times = calloc(most, TIME_RANGES * sizeof(*recordings->times)),
	};
	if (!recordings->items || !recordings->times) {
		diag_say("out of memory");
		return false;
	}
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

/* Returns whether each event of -e is in at least one recording. Prints the first missing one. */
static bool have_events(const struct recordings *recordings, const struct selection *selection)
{
	if (recordings->count == 1)
		return input_has_events(recordings->items[0].reader, &selection->events);
	for (size_t i = 0; i < selection->events.count; i++) {
		bool found = false;
		for (size_t j = 0; j < recordings->count && !found; j++)
			found = input_has_event(recordings->items[j].reader,
						selection->events.items[i]);
		if (!found) {
			diag_say("no recording has an event '%s'; 'sprof info -i FILE' lists a "
				 "recording's events", selection->events.items[i]);
			return false;
		}
	}
	return true;
}

bool recordings_resolve_times(struct recordings *recordings, const struct selection *selection)
{
	if (!have_events(recordings, selection))
		return false;
	for (size_t i = 0; i < recordings->count; i++) {
		struct sp_recording *recording = &recordings->items[i];
		struct sp_time_span *times = recordings->times + i * TIME_RANGES;
		if (!time_ranges_settle(&selection->times, recording->reader, times))
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
	       selection->events.count;
}

static void print_span(const struct selection *selection, struct sp_reader *reader, bool named)
{
	uint64_t first_ns = 0, last_ns = 0;
	struct sp_error *error = input_time(reader, &first_ns, &last_ns);
	if (!error && last_ns)
		diag_say("no sample %s; %s spans %.3f s to %.3f s (+0 to +%.3f s)",
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
