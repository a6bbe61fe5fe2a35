/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of a recording, with the defaults of groups that were not given. */
#pragma once

#include <sprof/capture.h>

/* Pointers in the groups are the caller's. */
struct capture_options {
	struct sp_capture_target target;
	struct sp_capture_sampling sampling;
	struct sp_capture_fields fields;
	struct sp_capture_chains chains;
	struct sp_capture_buffers buffers;
	struct sp_capture_output output;
	struct sp_capture_schedule schedule;
};

/* Copies the groups. Fails as sized_copy(). */
struct sp_error *capture_options_copy(struct capture_options *ret,
				      const struct sp_capture_options *options) SP_MUST_CHECK;
