/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/report_notes.h"

#include <inttypes.h>

void notes_put_command(const struct report *report, struct buffer *text)
{
	const char *const *words = report->info->cmdline;
	for (size_t i = 0; words && words[i]; i++) {
		if (i)
			buffer_char(text, ' ');
		buffer_name(text, words[i]);
	}
}

uint64_t notes_truncated_stacks(const struct sp_profile *profile)
{
	return sp_profile_stack_count(profile) - profile->stacks[SP_STACK_COMPLETE] -
	       profile->stacks[SP_STACK_NONE];
}

static void put_count(struct buffer *text, uint64_t count, const char *what)
{
	if (count)
		buffer_format(text, ", %" PRIu64 " %s", count, what);
}

void notes_put_event(const struct sp_profile *profile, struct buffer *text)
{
	buffer_name(text, profile->event);
	buffer_format(text, ": %" PRIu64 " samples", profile->samples);
	if (profile->shown_samples != profile->samples)
		put_count(text, profile->shown_samples, "of them pass the filters");
	put_count(text, profile->lost_own, "samples lost");
	put_count(text, profile->lost_unknown, "samples lost, of the target or of others");
	put_count(text, profile->throttled_count, "times throttled");
	put_count(text, profile->stacks[SP_STACK_COMPLETE], "complete stacks");
	put_count(text, notes_truncated_stacks(profile), "truncated stacks");
	put_count(text, profile->idle_threads, "idle threads left out");
}

void notes_put(const struct report *report, struct buffer *text)
{
	text->form = TEXT_SHOWN;
	if (report->info->cmdline && *report->info->cmdline) {
		buffer_string(text, "command: ");
		notes_put_command(report, text);
		buffer_char(text, '\n');
	}
	for (size_t i = 0; i < report->profile_count; i++) {
		notes_put_event(report->profiles[i], text);
		buffer_char(text, '\n');
	}
	for (size_t i = 0; i < report->finding_count; i++) {
		buffer_name(text, report->findings[i]->what);
		if (report->findings[i]->remedy) {
			buffer_string(text, "; ");
			buffer_name(text, report->findings[i]->remedy);
		}
		buffer_char(text, '\n');
	}
}
