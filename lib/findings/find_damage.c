/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about damage of the recording, and its notes. */
#include "file/reader_damage.h"
#include "findings/sources.h"

/* Adds that the recording is unfinished: its recorder still ran at the last sample. */
static void add_unfinished(const struct analysis_view *view, enum sp_finding_kind kind,
			   const char *what)
{
	const struct sp_finding finding = {.kind = kind, .cause = "unfinished"};
	char time[FINDING_TEXT];
	const struct sp_time_span span = view->recording->span;
	bool timed = span.end_ns > 0;
	finding_add(view, &finding, "%s%s%s", what, timed ? " — last sample after " : "",
		    timed ? time_text(span.end_ns - span.begin_ns, time) : "");
}

static void find_places(const struct analysis_view *view)
{
	const struct sp_damage *unfinished = reader_unfinished_damage(view->read->reader);
	size_t places = sp_reader_damage_count(view->read->reader), first = 0;
	if (unfinished)
		add_unfinished(view, SP_FINDING_DAMAGE, unfinished->what);
	if (unfinished && sp_reader_damage(view->read->reader, 0) == unfinished)
		first++;
	places -= unfinished != NULL;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "damage",
		.remedy = places > 1 ? "list all places: sprof info" : NULL,
	};
	if (places)
		finding_add(view, &finding,
			    "the recording is damaged in %zu place%s; the rest is shown: %s",
			    places, plural(places),
			    sp_reader_damage(view->read->reader, first)->what);
}

void find_damage(const struct analysis_view *view)
{
	uint64_t unknown = 0;
	vec_each (worker, view->workers)
		unknown += worker->counted.unknown_event;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "unknown_event", .samples = unknown,
	};
	char count[FINDING_TEXT];
	if (unknown)
		finding_add(view, &finding,
			    "%s sample%s of an event that the recording does not "
			    "describe: omitted",
			    count_text(unknown, count), plural(unknown));
	find_places(view);
}

void find_unfinished(const struct analysis_view *view)
{
	const char *unfinished = sp_reader_unfinished(view->read->reader);
	if (unfinished)
		add_unfinished(view, SP_FINDING_NOTE, unfinished);
}

void find_notes(const struct analysis_view *view)
{
	const struct sp_time_span span = view->recording->span;
	for (size_t i = 0; i < view->read->sideband.notes.count; i++) {
		const struct note *note = &view->read->sideband.notes.items[i];
		char time[FINDING_TEXT];
		bool timed = note->time_ns >= span.begin_ns && span.end_ns;
		const struct sp_finding finding = {
			.kind = SP_FINDING_NOTE,
			.cause = i < view->read->sideband.recorded_notes ? "recorder" : "analysis",
		};
		finding_add(view, &finding, "%s%s%s", note->text, timed ? " — after " : "",
			    timed ? time_text(note->time_ns - span.begin_ns, time) : "");
	}
}
