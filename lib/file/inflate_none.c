/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/inflate.h"

struct sp_error *inflater_new(struct inflater **ret)
{
	(void)ret;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "cannot read compressed records: this build has no zstd"),
				"build sprof with libzstd, or record without compression");
}

void inflater_free(struct inflater *inflater)
{
	(void)inflater;
}

void inflater_reset(struct inflater *inflater)
{
	(void)inflater;
}

bool inflater_unfinished(const struct inflater *inflater)
{
	(void)inflater;
	return false;
}

const char *inflater_step(struct inflater *inflater, struct inflate_input *input, uint8_t *out,
			  size_t room, size_t *got_ret)
{
	(void)inflater;
	(void)input;
	(void)out;
	(void)room;
	(void)got_ret;
	return "this build has no zstd";
}
