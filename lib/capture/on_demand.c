/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files and traces that are requested while recording. */
#include "capture/recorder.h"

struct sp_error *sp_capture_switch(struct sp_capture *capture)
{
	if (!capture->out.rotation.tracks)
		return error_new(SP_ERROR_INVALID,
				 "the recording does not switch files: use --switch-output");
	if (capture->overwrite.on)
		return capture_dump(capture, false);
	/* Drained records go to the file that ends. */
	struct sp_error *error = capture_round(capture, false);
	return error ? error : capture_change_file(capture);
}

struct sp_error *sp_capture_snapshot(struct sp_capture *capture)
{
	if (capture->overwrite.on)
		return sp_capture_switch(capture);
	if (!capture->out.aux_areas.snapshot)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "nothing to snapshot: no overwrite "
						  "mode"), "record with --overwrite, or a tracing event "
					"with --snapshot");
	struct sp_error *error = event_control_pause(&capture->control);
	/* The AUX records that say how far each area was written. */
	if (!error)
		error = capture_round(capture, false);
	if (!error)
		error = capture_drain_all_aux(capture);
	return error_first(error, event_control_resume(&capture->control));
}
