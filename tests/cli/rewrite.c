/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rewrite IN OUT [LEVEL]: a recording through the reader and the writer, for test_rewrite.sh.
 *
 * Records are not decoded: they are what the walker finds in the flat data. AUXTRACE records
 * are written with their trace behind them, whole, never compressed, and listed in the feature
 * of that name by where they begin in the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "record/types.h"
#include "walk/walker.h"
#include "writer/written_file.h"
#include "writer/spans.h"
#include "writer/writer.h"

#define COPY_SIZE ((size_t)1 << 20)

struct copy {
	struct sp_reader *reader;
	struct walker *walker;
	struct writer *writer;
	uint8_t *trace;
	uint64_t trace_room;
};

static void copy_deinit(struct copy *copy)
{
	walker_free(copy->walker);
	writer_free(copy->writer);
	free(copy->trace);
}

/* Features that the new file computes itself. */
static bool is_of_container(unsigned int bit)
{
	return bit == FEATURE_EVENT_DESC || bit == FEATURE_COMPRESSED ||
	       bit == FEATURE_DIR_FORMAT || bit == FEATURE_AUXTRACE;
}

static struct sp_error *open_writer(struct copy *copy, const char *path, int level)
{
	struct sp_reader *reader = copy->reader;
	struct writer_feature features[FILE_FEATURE_BITS];
	struct writer_info info = {.features = features, .compression_level = level};
	for (unsigned int bit = 0; bit < FILE_FEATURE_BITS; bit++)
		if (reader->features[bit].present && !is_of_container(bit))
			features[info.feature_count++] =
				(struct writer_feature){bit, reader->features[bit].bytes};
	return writer_open(path, reader->events.items, reader->events.count, &info,
			   &copy->writer);
}

/* Said by the header of the new file. */
static bool is_of_header(uint32_t type)
{
	return type == SP_RECORD_HEADER_ATTR || type == SP_RECORD_HEADER_FEATURE ||
	       type == SP_RECORD_HEADER_TRACING_DATA;
}

/* With the `size` bytes behind it. */
static struct sp_error *copy_trace(struct copy *copy, const struct raw_record *raw, uint64_t size)
{
	struct sp_reader *reader = copy->reader;
	size_t got;
	if (size > copy->trace_room) {
		free(copy->trace);
		copy->trace_room = 0;
		copy->trace = malloc(size);
		if (!copy->trace)
			return error_no_memory();
		copy->trace_room = size;
	}
	int errnum = io_pread(reader->data_fd, copy->trace, size, (off_t)(raw->offset + raw->size),
			      &got);
	if (errnum || got < size)
		return error_os(errnum ?: EIO, "cannot read %s", reader->path);
	struct iovec spans[] = {{(void *)(uintptr_t)raw->bytes, raw->size}, {copy->trace, size}};
	return raw->type == SP_RECORD_AUXTRACE ? writer_write_auxtrace(copy->writer, spans, 2)
					       : writer_write(copy->writer, spans, 2);
}

static struct sp_error *copy_record(struct copy *copy, const struct raw_record *raw)
{
	uint64_t behind = walker_offset(copy->walker) - (raw->offset + raw->size);
	struct iovec span = {(void *)(uintptr_t)raw->bytes, raw->size};
	if (is_of_header(raw->type))
		return NULL;
	if (behind || raw->type == SP_RECORD_AUXTRACE)
		return copy_trace(copy, raw, behind);
	return writer_write(copy->writer, &span, 1);
}

static struct sp_error *copy_records(struct copy *copy)
{
	struct sp_reader *reader = copy->reader;
	struct sp_error *error = walker_new(reader, reader->extent, &copy->walker);
	while (!error) {
		struct raw_record raw = {0};
		uint64_t offset = walker_offset(copy->walker);
		error = walker_next(copy->walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		if (!error)
			error = copy_record(copy, &raw);
		else if (sp_error_code(error) == SP_ERROR_FORMAT)
			reader_add_damage(reader, offset, take_ptr(error));
	}
	return error;
}

static struct sp_error *finish(struct copy *copy)
{
	const struct sp_file_info *info = &copy->reader->info;
	struct writer_end end = {
		.first_sample_ns = info->first_sample_ns,
		.last_sample_ns = info->last_sample_ns,
		.build_ids = info->build_ids,
		.build_id_count = info->build_id_count,
	};
	return writer_close(take_ptr(copy->writer), &end);
}

/* The bytes of the file, or of the stream. */
static struct sp_error *copy_verbatim(struct sp_reader *reader, const char *path)
{
	struct written_file output = {.fd = -1};
	CLEANUP_FREE uint8_t *buffer = malloc(COPY_SIZE);
	struct sp_error *error = buffer ? output_open(path, &output) : error_no_memory();
	for (uint64_t offset = 0; !error && offset < reader->file_size;) {
		size_t got = 0;
		uint64_t done;
		int errnum = io_pread(reader->fd, buffer, COPY_SIZE, (off_t)offset, &got);
		if (errnum || !got) {
			error = error_os(errnum ?: EIO, "cannot read %s", reader->path);
			break;
		}
		struct iovec span = {buffer, got};
		errnum = spans_write(output.fd, SPANS_APPEND, &(struct spans_part){&span, 1, 0, got}, &done);
		if (errnum)
			error = error_os(errnum, "cannot write to %s", path);
		offset += got;
	}
	if (!error)
		error = output_publish(&output);
	int errnum = output_close(&output);
	return error ?: errnum ? error_os(errnum, "cannot close %s", path) : NULL;
}

/*
 * Writes all that the reader can read to PATH ("-": standard output): events, features, and
 * each record byte by byte, with what lies behind it. Inflated, joined and spooled data come out
 * as one flat run, or compressed with `compression_level` (0: not). What says the same another
 * way is not kept: HEADER_ATTR, HEADER_FEATURE and HEADER_TRACING_DATA records become the
 * header, and the features COMPRESSED, DIR_FORMAT and AUXTRACE are those of the new file. What is
 * damaged is left out. The name of EVENT_DESC is what sp_reader_event() says.
 *
 * A recording of the other byte order is copied as it is, container and all; a directory then
 * fails, as does compressing it.
 */
static struct sp_error *recording_copy(struct sp_reader *reader, const char *path,
				       int compression_level)
{
	CLEANUP(copy_deinit) struct copy copy = {.reader = reader};
	if (reader->swap && !compression_level && reader->info.mode != SP_READER_DIRECTORY)
		return copy_verbatim(reader, path);
	if (reader->swap)
		return error_new(SP_ERROR_UNSUPPORTED, "%s: its records are of the other byte order, and "
				 "are not converted", reader->path);
	struct sp_error *error = open_writer(&copy, path, compression_level);
	if (!error)
		error = writer_publish(copy.writer);
	if (!error)
		error = copy_records(&copy);
	return error ?: finish(&copy);
}

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
	error = recording_copy(reader, argv[2], argc > 3 ? atoi(argv[3]) : 0);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return error ? fail(error) : 0;
}
