/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/notes/notes.h"

#include <sprof/private/command.h>

static void free_note(struct kept_note *note)
{
	free(note->line);
	free(note->object);
}

void notes_deinit(struct notes *notes)
{
	vec_each (note, notes)
		free_note(note);
	vec_deinit(notes);
}

/* Allocates and composes the sentence. */
static char *compose(const struct sp_note *note)
{
	size_t size = sp_note_text(note, NULL, 0) + 1;
	char *line = malloc(size);
	if (line)
		sp_note_text(note, line, size);
	return line;
}

struct sp_error *notes_add_copy(struct notes *notes, const struct sp_note *note)
{
	struct kept_note made = {.line = compose(note), .note = *note};
	struct kept_note *slot = NULL;
	if (note->object)
		made.object = strndup(note->object, note->object_size);
	if (made.line && (made.object || !note->object))
		slot = vec_push(notes);
	if (!slot) {
		free_note(&made);
		return error_no_memory();
	}
	made.note.object = made.object;
	made.note.text = made.line;
	made.note.size = strlen(made.line);
	*slot = made;
	return NULL;
}

struct sp_error *notes_add_text(struct notes *notes, uint32_t kind, const char *text)
{
	const struct sp_note note = {.kind = kind, .text = text, .size = strlen(text)};
	return notes_add_copy(notes, &note);
}

struct sp_error *notes_add_planned(struct notes *notes, const struct event_notes *planned)
{
	vec_each (item, planned)
		TRY(notes_add_text(notes, NOTE_EVENT, item->line));
	return NULL;
}

struct sp_error *notes_write(struct notes *notes, uint64_t time_ns, struct record_buffer *records)
{
	struct sp_error *error = NULL;
	for (; notes->written < notes->count && !error; notes->written++) {
		struct kept_note *kept = &notes->items[notes->written];
		kept->note.time_ns = time_ns;
		if (!kept->is_derived)
			error = record_encode_note(records, &kept->note);
	}
	return error;
}

struct sp_error *notes_write_once(const struct note_records *to, struct sp_note note)
{
	note.time_ns = to->time_ns;
	return record_encode_note(to->records, &note);
}
