/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "count/stat_file.h"

#include <stdlib.h>

void loaded_free(struct loaded *loaded)
{
	if (!loaded)
		return;
	for (size_t i = 0; i < loaded->unit_maps && loaded->units; i++)
		u64map_deinit(&loaded->units[i]);
	u64map_deinit(&loaded->places);
	u64map_deinit(&loaded->ids);
	free(loaded->units);
	free(loaded);
}
