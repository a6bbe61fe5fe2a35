/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is
 *
 *	header  blocks  empty raw blocks, 3 bytes each  the last block, empty as well  checksum
 *
 * and is divided into records of at most 65,528 bytes. Empty blocks pad the frame, and so its last
 * record, to a multiple of 8. perf warns of records of other sizes, and other readers stop at them. Each
 * call ends with a whole frame, because perf's loop around ZSTD_decompressStream() fails if a frame ends
 * inside a record.
 */
#include "file/deflate.h"

#include <string.h>
#include <zstd.h>
#include "base/error.h"
#include "record/put.h"

#define HEADER_SIZE sizeof(struct perf_event_header)
#define PAYLOAD_MAX (RECORD_SIZE_MAX - HEADER_SIZE)

/* Size of an empty block: its header, 3 bytes of 0, states "raw, size 0, not the last". */
#define EMPTY_BLOCK 3

/* Most empty blocks that are needed to align a frame to 8 bytes: 3 and 8 have no common divisor. */
#define EMPTY_BLOCKS_MAX 7

struct deflater {
	ZSTD_CCtx *context;
	uint8_t *frame;
	size_t room;
};

struct sp_error *deflater_new(int level, struct deflater **ret)
{
	struct deflater *deflater = calloc(1, sizeof(*deflater));
	NEED(deflater);
	deflater->room = ZSTD_compressBound(DEFLATE_SIZE) + EMPTY_BLOCKS_MAX * EMPTY_BLOCK + 64;
	deflater->frame = malloc(deflater->room);
	deflater->context = ZSTD_createCCtx();
	if (level > ZSTD_maxCLevel())
		level = ZSTD_maxCLevel();
	if (!deflater->frame || !deflater->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(deflater->context, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(deflater->context, ZSTD_c_checksumFlag, 1))) {
		deflater_free(deflater);
		return error_no_memory();
	}
	*ret = deflater;
	return NULL;
}

void deflater_free(struct deflater *deflater)
{
	if (!deflater)
		return;
	ZSTD_freeCCtx(deflater->context);
	free(deflater->frame);
	free(deflater);
}

static struct sp_error *failed(size_t status)
{
	return error_new(SP_ERROR_INVALID, "zstd: %s", ZSTD_getErrorName(status));
}

/* Runs one step of the compressor. The output always fits, because there is room for the worst case. */
static struct sp_error *step(struct deflater *deflater, ZSTD_inBuffer *input,
			     ZSTD_EndDirective directive, size_t *size)
{
	ZSTD_outBuffer output = {deflater->frame, deflater->room, *size};
	size_t left = ZSTD_compressStream2(deflater->context, &output, input, directive);
	if (ZSTD_isError(left))
		return failed(left);
	if (left || input->pos < input->size)
		return error_new(SP_ERROR_INVALID, "zstd: output exceeds its bound");
	*size = output.pos;
	return NULL;
}

/* Makes a frame with a size that is a multiple of 8. */
static struct sp_error *make_frame(struct deflater *deflater, const void *bytes, size_t size,
				   size_t *frame_size)
{
	ZSTD_inBuffer input = {bytes, size, 0}, none = {NULL, 0, 0};
	size_t used = 0, end;
	size_t status = ZSTD_CCtx_setPledgedSrcSize(deflater->context, size);
	if (ZSTD_isError(status))
		return failed(status);
	TRY(step(deflater, &input, ZSTD_e_flush, &used));
	end = used;
	TRY(step(deflater, &none, ZSTD_e_end, &end));
	size_t last = end - used, blocks = 0;
	while ((end + blocks * EMPTY_BLOCK) % 8)
		blocks++;
	memmove(deflater->frame + used + blocks * EMPTY_BLOCK, deflater->frame + used, last);
	memset(deflater->frame + used, 0, blocks * EMPTY_BLOCK);
	*frame_size = end + blocks * EMPTY_BLOCK;
	return NULL;
}

struct sp_error *deflater_put(struct deflater *deflater, const void *bytes, size_t size,
			      struct record_buffer *records)
{
	struct put put = {.buffer = records};
	size_t frame_size = 0;
	struct sp_error *error = make_frame(deflater, bytes, size, &frame_size);
	if (error) {
		ZSTD_CCtx_reset(deflater->context, ZSTD_reset_session_only);
		return error;
	}
	for (size_t at = 0; at < frame_size;) {
		size_t piece = frame_size - at < PAYLOAD_MAX ? frame_size - at : PAYLOAD_MAX;
		put_u32(&put, SP_RECORD_COMPRESSED);
		put_u16(&put, 0);
		put_u16(&put, HEADER_SIZE + piece);
		put_bytes(&put, deflater->frame + at, piece);
		at += piece;
	}
	return put.no_memory ? error_no_memory() : NULL;
}
