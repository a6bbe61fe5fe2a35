/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EXPORT_REPORT_NOTES_H
#define EXPORT_REPORT_NOTES_H

#include "buffer.h"
#include "out/report.h"

/*
 * Appends notes about a report for formats that have a place for text: the recorded command, each
 * event's samples, losses and truncated stacks, and the findings with their remedies. Each is a line
 * without control characters, and ends in '\n'.
 */
void notes_put(const struct report *report, struct buffer *text);

/* Appends the recorded command, with blanks between its words; nothing if it is unknown. */
void notes_put_command(const struct report *report, struct buffer *text);

/* Returns how many stacks lack their outermost callers. */
uint64_t notes_truncated_stacks(const struct sp_profile *profile);

/* Appends an event's name, samples, losses and truncated stacks. */
void notes_put_event(const struct sp_profile *profile, struct buffer *text);

#endif
