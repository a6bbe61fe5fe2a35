/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about damage of the recording, and its notes. */
#include "file/reader_damage.h"
#include "findings/sources.h"

/* Adds that the recording is unfinished: its recorder still ran at the last sample. */
static bool add_unfinished(struct run *run, enum sp_finding_kind kind, const char *what)
{
	const struct sp_finding finding = {.kind = kind, .cause = "unfinished"};
	char time[FINDING_TEXT];
	bool timed = run->last_ns > 0;
	return finding_add(run, &finding, "%s%s%s", what, timed ? " — last sample after " : "",
			   timed ? time_text(run->last_ns - run->first_ns, time) : "");
}

static bool find_places(struct run *run)
{
	const struct sp_damage *unfinished = reader_unfinished_damage(run->reader);
	size_t places = sp_reader_damage_count(run->reader), first = 0;
	if (unfinished && !add_unfinished(run, SP_FINDING_DAMAGE, unfinished->what))
		return false;
	if (unfinished && sp_reader_damage(run->reader, 0) == unfinished)
		first++;
	places -= unfinished != NULL;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "damage",
		.remedy = places > 1 ? "list all places: sprof info" : NULL,
	};
	return !places ||
	       finding_add(run, &finding, "the recording is damaged in %zu place%s; the rest is shown: %s",
			   places, plural(places), sp_reader_damage(run->reader, first)->what);
}

bool find_damage(struct run *run)
{
	uint64_t unknown = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		unknown += run->workers[i].counted.unknown_event;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "unknown_event", .samples = unknown,
	};
	char count[FINDING_TEXT];
	if (unknown && !finding_add(run, &finding, "%s sample%s of an event that the recording does not "
				    "describe: omitted", count_text(unknown, count), plural(unknown)))
		return false;
	return find_places(run);
}

bool find_unfinished(struct run *run)
{
	const char *unfinished = sp_reader_unfinished(run->reader);
	return !unfinished || add_unfinished(run, SP_FINDING_NOTE, unfinished);
}

bool find_notes(struct run *run)
{
	for (size_t i = 0; i < run->sideband.notes.count; i++) {
		const struct note *note = &run->sideband.notes.items[i];
		char time[FINDING_TEXT];
		bool timed = note->time_ns >= run->first_ns && run->last_ns;
		const struct sp_finding finding = {
			.kind = SP_FINDING_NOTE,
			.cause = i < run->sideband.recorded_notes ? "recorder" : "analysis",
		};
		if (!finding_add(run, &finding, "%s%s%s", note->text, timed ? " — after " : "",
				 timed ? time_text(note->time_ns - run->first_ns, time) :
					 ""))
			return false;
	}
	return true;
}
