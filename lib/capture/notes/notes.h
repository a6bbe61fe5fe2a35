/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes of a recording: sentences about how it was made. Each is kept, shown to the user, and
 * written to each file. struct notes owns its strings. All functions fail only when out of memory.
 */
#pragma once

#include <string.h>
#include "base/vec.h"
#include "event/open.h"
#include "record/note.h"

struct kept_note {
	char *line, *object; /* the note's strings, owned */
	struct sp_note note;
	bool is_derived;     /* not written: reports derive it from the event's attributes */
};

/* Zeroed, it is empty. */
struct notes {
	VEC(struct kept_note);
	size_t written; /* number of notes in the current file */
};

void notes_deinit(struct notes *notes);

/* Adds a note; copies its text and object. */
struct sp_error *notes_add_copy(struct notes *notes, const struct sp_note *note) SP_MUST_CHECK;
struct sp_error *notes_add_text(struct notes *notes, uint32_t kind, const char *text) SP_MUST_CHECK;

/* Adds all notes about how events were planned. */
struct sp_error *notes_add_planned(struct notes *notes, const struct event_notes *planned) SP_MUST_CHECK;

/* Makes a note: enum note_kind, object (a string or NULL), and the kind's values. */
#define NOTE_OF(kind_, object_, ...)                                                               \
	(struct sp_note){.kind = (kind_), .object = (object_),                                     \
			 .object_size = (object_) ? strlen((object_) ?: "") : 0,                    \
			 .value_count = note_value_count(kind_), .values = {__VA_ARGS__}}
#define notes_add(notes, kind_, object_, ...) notes_add_copy(notes, &NOTE_OF(kind_, object_, __VA_ARGS__))

/* Appends the records of the notes that the current file lacks. Their time is `time_ns`. */
struct sp_error *notes_write(struct notes *notes, uint64_t time_ns,
			     struct record_buffer *records) SP_MUST_CHECK;

/* Receives notes for the current file only. The time is by the recording's clock. */
struct note_records {
	struct record_buffer *records; /* borrowed; records are appended */
	uint64_t time_ns;
};

/* Writes a note at once; it is not kept. */
struct sp_error *notes_write_once(const struct note_records *to, struct sp_note note) SP_MUST_CHECK;

/* Begins a new file: it lacks all notes. */
static inline void notes_restart(struct notes *notes)
{
	notes->written = 0;
}
