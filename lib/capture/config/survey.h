/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binaries of the target: whether they keep frame pointers, and whether Python runs in it. */
#pragma once

#include "base/ctx.h"
#include "capture/config/capture_options.h"
#include "elf/image.h"

/* Zeroed: nothing is known. */
struct target_survey {
	bool frame_pointers; /* the command, or the processes, and their C library keep them */
	bool is_python;      /* Python probably runs from the start */
	char *note;          /* a line on frame_pointers; NULL: not surveyed. malloc'ed */
};

void target_survey_deinit(struct target_survey *survey);

/*
 * Surveys as far as the options leave open how stacks are recorded. Takes a few milliseconds at most.
 * Ignores files that cannot be read: fails only when out of memory.
 */
struct sp_error *target_survey(const struct sp_ctx *ctx, const struct capture_options *options,
			       struct target_survey *ret) SP_MUST_CHECK;

/*
 * Returns whether at least half of the functions set up a frame pointer, by their call frame
 * information. False without this information.
 */
bool image_keeps_frame_pointers(struct image *image);

/*
 * find_python.c: returns whether a process of the target has mapped Python, or the command probably
 * runs it. False if files or memory maps cannot be read, or when out of memory.
 */
bool target_runs_python(const struct sp_ctx *ctx, const struct capture_options *options);
