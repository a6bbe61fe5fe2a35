/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/rights.h"

/* Interns a copy; NULL stays NULL. False when out of memory. */
static bool keep(struct event_notes *notes, const char *text, const char **ret)
{
	*ret = text ? arena_copy_string(&notes->arena, text, strlen(text)) : NULL;
	return *ret || !text;
}

struct sp_error *event_notes_add(struct event_notes *notes, const char *asked, const char *done,
				 const char *why, const char *remedy)
{
	struct event_note note, *last = notes->count ? vec_last(notes) : NULL;
	bool same = last && !strcmp(last->asked, asked);
	CLEANUP_FREE char *line = format_text("%s%s %s; %s%s%s%s", same ? last->line : asked,
					      same ? ";" : ":", why, done, remedy ? " (" : "",
					      remedy ?: "", remedy ? ")" : "");
	NEED(line);
	NEED(keep(notes, asked, &note.asked) && keep(notes, done, &note.done) &&
	     keep(notes, why, &note.why) && keep(notes, remedy, &note.remedy) &&
	     keep(notes, line, &note.line));
	/* Another note of the event lengthens its line. */
	struct event_note *slot = same ? last : vec_push(notes);
	NEED(slot);
	*slot = note;
	return NULL;
}

void event_notes_deinit(struct event_notes *notes)
{
	vec_deinit(notes);
	arena_deinit(&notes->arena);
}
