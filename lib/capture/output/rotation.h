/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotation: decides when a file ends. Limits are checked before a round is written. The round's
 * largest size is known then, so that no file exceeds its limit:
 *
 *	--switch-output=SIZE: of each ring an equal part is taken, as much as fits, and the rest goes
 *	to the next file, or files. One that has no room for a record takes the rest of the round.
 *	--max-size: the same, and recording ends.
 *
 * A file begins with what lives (live_state.h), as of the oldest sample that can still come, so
 * that samples need nothing of the file before.
 */
#ifndef CAPTURE_OUTPUT_ROTATION_H
#define CAPTURE_OUTPUT_ROTATION_H

#include "capture/output/files.h"
#include "capture/config/options.h"

struct rotation {
	uint64_t max_bytes, switch_bytes, switch_ns; /* 0: none */
	bool on_demand;   /* files end by sp_capture_switch(), too */
	bool dated;       /* all files get names with their dates, the last one, too */
	bool tracks;      /* `live_state` is maintained: another file may follow */
	bool full;        /* by max_bytes: nothing more is taken */
	bool cut;         /* a part of this round was not drained */
	uint64_t cut_ns;  /* if waits are recorded: time of the first record that was not drained */
	bool ends;        /* metadata of this round was left out: no sample of it may follow */
	struct live_state live_state;
	struct file_maker *maker;
	uint64_t begin_bytes;     /* size of each file before the live state */
	uint64_t first_bytes;     /* size of this file before its samples */
	uint64_t begun_ns;        /* CLOCK_MONOTONIC */
	uint64_t samples_before;  /* in all files before this one */
};

/* Fails where limits and path do not go together. Before events are planned. */
struct sp_error *rotation_init(struct rotation *rotation,
			       const struct capture_options *options) SP_MUST_CHECK;
void rotation_deinit(struct rotation *rotation);

#endif
