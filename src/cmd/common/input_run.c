/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/input_run.h"

#include "cmd/info/info.h"
#include "input.h"
#include "pager.h"

static int print_header(const struct selection *selection, struct sp_reader *reader)
{
	struct pager pager = pager_open(selection->pager != 0);
	info_put_header(reader, pager.out);
	int status = pager_close(&pager);
	return input_damage(reader) | status;
}

int input_run(const struct input_run *run, struct sp_ctx *ctx)
{
	selection_apply(run->selection, ctx);
	struct sp_reader *reader = input_open(ctx, run->selection->input);
	if (!reader)
		return 1;
	int status = run->header_only ? print_header(run->selection, reader)
				      : run->read(ctx, run->arguments, reader);
	sp_reader_free(reader);
	return status;
}
