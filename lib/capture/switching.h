/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a file ends. Limits are looked at before a round is written, of which it is known then how
 * large it can be, so that no file becomes larger than was asked for:
 *
 *	--switch-output=SIZE: of each ring an equal part is taken, as much as fits, and the rest goes
 *	to the next file, or files. One that has no room for a record takes the rest of the round.
 *	--max-size: the same, and recording ends.
 *
 * A file begins with what lives (roster.h), as of the oldest sample that can still come, so that
 * samples need nothing of the file before.
 */
#ifndef CAPTURE_SWITCHING_H
#define CAPTURE_SWITCHING_H

#include "capture/output/files.h"
#include "capture/config/options.h"

struct sp_capture;

struct switching {
	uint64_t max_bytes, switch_bytes, switch_ns; /* 0: none */
	bool on_demand;   /* files end by sp_capture_switch(), too */
	bool dated;       /* all files get names with their dates, the last one, too */
	bool tracks;      /* `roster` is kept: there may be another file */
	bool full;        /* by max_bytes: nothing more is taken */
	bool cut;         /* of this round, not all has been taken */
	uint64_t *wanted; /* then: how far that would be, of each ring */
	struct roster roster;
	struct file_maker *maker;
	uint64_t begin_bytes;     /* of each file, before what lives */
	uint64_t first_bytes;     /* of this one, before samples */
	uint64_t begun_ns;        /* CLOCK_MONOTONIC */
	/* What all files before this one had. */
	uint64_t samples_before, told_before;
	uint64_t *lost_before;    /* of each planned event; NULL: none */
};

/* Fails where limits and path do not go together. Before events are planned. */
struct sp_error *switching_init(struct switching *switching,
				const struct capture_options *options) SP_MUST_CHECK;
void switching_deinit(struct switching *switching);

/* Adds the files that these records map to the table of build-ids, and reserves space for it. */
struct sp_error *capture_note_files(struct sp_capture *capture, const uint8_t *bytes,
				    size_t size) SP_MUST_CHECK;

/* Side-band that has been seen: whole records. */
struct sp_error *capture_remember(struct sp_capture *capture, const uint8_t *bytes,
				  size_t size) SP_MUST_CHECK;

/*
 * Between draining the side-band and writing: where the round might not fit, makes
 * `capture->heads` less. Then, once these have been written, it is asked again and again for more of
 * them, until it says that there is no more: what others' samples have of the rings does not go to
 * the file, nor do copies of stacks that have been unwound. In between it may begin another file.
 */
struct sp_error *capture_keep_limits(struct sp_capture *capture) SP_MUST_CHECK;
struct sp_error *capture_take_more(struct sp_capture *capture, bool *more_ret) SP_MUST_CHECK;

/* Behind that: where there was more than --max-size allows, this was the last round. */
struct sp_error *capture_end_cut(struct sp_capture *capture) SP_MUST_CHECK;

/* Writes what lives, as of the oldest sample that may come. */
struct sp_error *capture_write_roster(struct sp_capture *capture) SP_MUST_CHECK;

/* Ends the file and begins the next. */
struct sp_error *capture_change_file(struct sp_capture *capture) SP_MUST_CHECK;

/* What is known of the file that ends now; takes over which modules are in it. */
struct file_end capture_file_end(struct sp_capture *capture, bool dated);

#endif
