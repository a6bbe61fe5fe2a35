/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/inflate.h"

#include <stdlib.h>
#include <zstd.h>

struct inflater {
	ZSTD_DStream *stream;
	size_t wanted; /* number of bytes that zstd expects next */
};

struct sp_error *inflater_new(struct inflater **ret)
{
	struct inflater *inflater = calloc(1, sizeof(*inflater));
	NEED(inflater);
	/*
	 * zstd limits the window to 128 MiB (ZSTD_WINDOWLOG_LIMIT_DEFAULT). Frames that need more fail.
	 */
	inflater->stream = ZSTD_createDStream();
	if (!inflater->stream) {
		free(inflater);
		return error_no_memory();
	}
	inflater_reset(inflater);
	*ret = inflater;
	return NULL;
}

void inflater_free(struct inflater *inflater)
{
	if (!inflater)
		return;
	ZSTD_freeDStream(inflater->stream);
	free(inflater);
}

void inflater_reset(struct inflater *inflater)
{
	ZSTD_initDStream(inflater->stream);
	inflater->wanted = 0;
}

/* Input ends inside a block unless zstd expects 0 bytes (a new frame) or 3 (a block's header). */
bool inflater_unfinished(const struct inflater *inflater)
{
	return inflater->wanted != 0 && inflater->wanted != 3;
}

const char *inflater_step(struct inflater *inflater, struct inflate_input *input, uint8_t *out,
			  size_t room, size_t *got_ret)
{
	ZSTD_inBuffer in = {.src = input->pos, .size = input->end - input->pos};
	ZSTD_outBuffer to = {.dst = out, .size = room};
	size_t status = ZSTD_decompressStream(inflater->stream, &to, &in);
	if (ZSTD_isError(status))
		return ZSTD_getErrorName(status);
	if (!in.pos && !to.pos && in.size)
		return "the decompressor makes no progress";
	inflater->wanted = status;
	input->pos += in.pos;
	*got_ret = to.pos;
	return NULL;
}
