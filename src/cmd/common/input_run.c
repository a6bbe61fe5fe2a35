/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/input_run.h"

#include "cmd/info/info.h"
#include "pager.h"

static int print_headers(const struct selection *selection, const struct recordings *recordings)
{
	struct pager pager = pager_open(selection->pager != 0);
	for (size_t i = 0; i < recordings->count; i++)
		info_print_header(recordings->items[i].reader, pager.out);
	int status = pager_close(&pager);
	return recordings_print_damage(recordings) | status;
}

int input_run(const struct input_run *run, struct sp_ctx *ctx)
{
	struct recordings recordings;
	int status = 1;
	input_options_apply(run->selection, ctx);
	if (recordings_open(&recordings, run->selection, ctx))
		status = run->header_only ? print_headers(run->selection, &recordings)
					  : run->read(ctx, run->arguments, &recordings);
	recordings_close(&recordings);
	return status;
}
