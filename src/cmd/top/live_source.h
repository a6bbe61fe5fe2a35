/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording of the last seconds, in memory. A thread records into files without names, which
 * rotate: the oldest ones are closed when the window has passed them. The other functions are for
 * one thread, which reads what is recorded up to now.
 */
#ifndef CMD_TOP_LIVE_SOURCE_H
#define CMD_TOP_LIVE_SOURCE_H

#include <sprof/capture.h>
#include "cmd/common/recordings.h"

/* Most bytes of all files; the window is shorter if they do not suffice. */
#define LIVE_BYTES ((uint64_t)256 << 20)

struct live_source_options {
	struct sp_ctx *ctx;
	uint64_t window_ns;
	/*
	 * The files end when they are read. The waits of threads that are still blocked are in a
	 * file only then.
	 */
	bool ends_files;
};

struct live_source;

/* Sets the options of output that the capture of live_source_start() needs. */
void live_source_set_output(struct sp_capture_output *output);

/*
 * Starts the capture, and a thread that runs it; the capture must outlive *ret. *error_ret is set
 * if the command cannot be executed. NULL after an error, and without one when out of memory.
 */
struct live_source *live_source_start(const struct live_source_options *options,
				      struct sp_capture *capture, struct sp_error **error_ret);

/* Ends the recording. What was recorded can still be read. */
void live_source_stop(struct live_source *live);

/* Returns a descriptor that is readable when the recording has ended. */
int live_source_end_fd(const struct live_source *live);

/* Returns whether the recording has ended. Moves its error, if it failed, to *error_ret. */
bool live_source_has_ended(struct live_source *live, struct sp_error **error_ret);

/*
 * A window begins with the oldest file that reaches into its time, so that it is up to a third
 * longer. Times are of the recording's clock, which is CLOCK_MONOTONIC.
 */
struct window_times {
	uint64_t begin_ns, end_ns;
};

/*
 * Opens what the window holds now, or held when the recording ended. The caller closes it by
 * recordings_close(), which may be done after live_source_free(). *ret has one recording, or none
 * if nothing is recorded yet.
 */
struct sp_error *live_source_open(struct live_source *live, struct recordings *ret,
				  struct window_times *window_ret);

/* Stops the recording, if that was not done. NULL is allowed. */
void live_source_free(struct live_source *live);

#endif
