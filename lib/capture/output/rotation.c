/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/rotation.h"

#include <string.h>

struct sp_error *rotation_init(struct rotation *rotation,
			       const struct capture_options *options)
{
	const struct sp_capture_output *output = &options->output;
	*rotation = (struct rotation){
		.max_bytes = output->max_bytes,
		.switch_bytes = output->switch_bytes,
		.switch_ns = output->switch_ns,
		.on_demand = output->switch_on_demand || options->buffers.overwrite,
		.dated = output->timestamp_name || output->switch_bytes || output->switch_ns ||
			 output->switch_on_demand,
	};
	bool switches = rotation->switch_bytes || rotation->switch_ns || rotation->on_demand;
	rotation->tracks = switches;
	if (output->keep_files && !switches)
		return error_new(SP_ERROR_INVALID, "--keep needs --switch-output: only one file is written");
	if (output->path && !strcmp(output->path, "-") && (switches || rotation->dated))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot split or rename standard "
						  "output"), "name a file with -o");
	return NULL;
}

void rotation_deinit(struct rotation *rotation)
{
	live_state_deinit(&rotation->live_state);
	file_maker_free(rotation->maker);
	*rotation = (struct rotation){0};
}
