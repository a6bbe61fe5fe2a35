/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/switching.h"

#include <string.h>

struct sp_error *switching_init(struct switching *switching,
				const struct capture_options *options)
{
	const struct sp_capture_output *output = &options->output;
	*switching = (struct switching){
		.max_bytes = output->max_bytes,
		.switch_bytes = output->switch_bytes,
		.switch_ns = output->switch_ns,
		.on_demand = output->switch_on_demand || options->buffers.overwrite,
		.dated = output->timestamp_name || output->switch_bytes || output->switch_ns ||
			 output->switch_on_demand,
	};
	bool switches = switching->switch_bytes || switching->switch_ns || switching->on_demand;
	switching->tracks = switches;
	if (output->keep_files && !switches)
		return error_new(SP_ERROR_INVALID, "--keep needs --switch-output: only one file is written");
	if (output->path && !strcmp(output->path, "-") && (switches || switching->dated))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot split or rename standard "
						  "output"), "name a file with -o");
	return NULL;
}

void switching_deinit(struct switching *switching)
{
	roster_deinit(&switching->roster);
	file_maker_free(switching->maker);
	free(switching->lost_before);
	*switching = (struct switching){0};
}
