/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/options.h"

#include "base/error.h"
#include "base/sized.h"

struct sp_error *capture_options_copy(struct capture_options *ret,
				      const struct sp_capture_options *options)
{
	struct sp_capture_options given;
	TRY(sized_copy(&given, sizeof(given), options));
	const struct sized_group groups[] = {
		{&ret->target, sizeof(ret->target), given.target, "target"},
		{&ret->sampling, sizeof(ret->sampling), given.sampling, "sampling"},
		{&ret->fields, sizeof(ret->fields), given.fields, "fields"},
		{&ret->chains, sizeof(ret->chains), given.chains, "chains"},
		{&ret->buffers, sizeof(ret->buffers), given.buffers, "buffers"},
		{&ret->output, sizeof(ret->output), given.output, "output"},
		{&ret->schedule, sizeof(ret->schedule), given.schedule, "schedule"},
	};
	return sized_copy_groups(groups, sizeof(groups) / sizeof(*groups));
}
