/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rewrite IN OUT [LEVEL]: a recording through the reader and the writer, for test_rewrite.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>
#include "file/copy.h"

static int fail(struct sp_error *error)
{
	fprintf(stderr, "%s\n", sp_error_message(error));
	sp_error_free(error);
	return 1;
}

int main(int argc, char **argv)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	if (argc < 3)
		return 99;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error)
		return fail(error);
	error = sp_reader_open(ctx, argv[1], &reader);
	if (error)
		return fail(error);
	error = recording_copy(ctx, reader, argv[2], argc > 3 ? atoi(argv[3]) : 0);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return error ? fail(error) : 0;
}
