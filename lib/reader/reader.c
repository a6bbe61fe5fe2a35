/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens a recording. Files, streams, compressed files and directories all become the same: one flat run
 * of records in one file (data_fd), the events and the features. Damage is listed and skipped. Opening
 * fails only if no event is found.
 */
#include <sprof/reader.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/feature_table.h"
#include "reader/features.h"
#include "reader/flatten.h"
#include "reader/header.h"
#include "reader/scan.h"
#include "reader/source.h"
#include "stored/chunks.h"
#include "walk/walker.h"

/*
 * Number of bytes at the start of the data that are searched for events and features, if the file has
 * no feature table.
 */
#define SCAN_SIZE ((uint64_t)1 << 20)

/* Offset of data.size in the file header. */
#define DATA_SIZE_AT 48

DEFINE_CLEANUP(struct sp_reader *, sp_reader_free)

/* Copies compressed records, or the files of a directory, to one flat run of records. */
static struct sp_error *flatten(struct sp_reader *reader)
{
	struct source_parts parts = {0};
	struct sp_error *error = NULL;
	struct flat_source first = {reader->fd, reader->extent, reader->path};
	reader->lengths = lengths_of(reader->events.items, reader->events.count);
	if (reader->info.mode == SP_READER_DIRECTORY)
		error = source_list_parts(reader, &parts);
	bool needed = reader->info.compressed || parts.count;
	if (!error && needed)
		error = reader_flatten(reader, &first, &parts);
	source_parts_deinit(&parts);
	if (error || !needed)
		return error;
	/* Offsets in messages are of the flat copy, so messages name the copy. */
	CLEANUP_FREE char *name = format_text("%s (%s)", reader->path,
					      reader->info.compressed ? "inflated" : "joined");
	reader->data_path = name ? reader_copy_text(reader, name, strlen(name)) : NULL;
	return reader->data_path ? NULL : error_no_memory();
}

/*
 * Searches for a compressed record. `perf stat record` sets the feature COMPRESSED without writing any.
 */
static struct sp_error *find_compressed(struct sp_reader *reader)
{
	struct walker *walker;
	struct raw_record raw = {0};
	const struct walker_file file = {reader->fd, reader->path, reader->swap, reader->extent.end};
	struct sp_error *error = walker_new_at(&file, reader->extent, &walker);
	if (error)
		return error;
	walker_check_sizes(walker, &reader->lengths, NULL);
	while (!reader->info.compressed) {
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		reader->info.compressed = !error && (raw.type == SP_RECORD_COMPRESSED ||
						     raw.type == SP_RECORD_COMPRESSED2);
		sp_error_free(error);
	}
	walker_free(walker);
	return NULL;
}

static struct sp_error *scan_beginning(struct sp_reader *reader)
{
	struct reader_extent beginning = reader->extent;
	if (beginning.end - beginning.begin > SCAN_SIZE)
		beginning.end = beginning.begin + SCAN_SIZE;
	return reader_scan(reader, beginning);
}

/*
 * Returns whether the recorder was killed or still writes. A recorder that ends writes the feature
 * payloads after the data. Until then, sprof has payloads before the data, and perf has no data.size.
 */
static bool is_unfinished(const struct sp_reader *reader, const struct header_info *header)
{
	if (reader->cut_at || reader->info.mode != SP_READER_FILE)
		return false;
	if (header->data_never_ended)
		return !reader->features_behind;
	bool no_table = !reader->features_in_front && !reader->features_behind;
	return (reader->features_in_front && !reader->features_behind) ||
	       (no_table && reader->has_feature_records);
}

/*
 * Lists that data.size is missing. perf writes it last, with the features: if these are present, only
 * the size is wrong.
 */
static void add_no_size(struct sp_reader *reader, const struct header_info *header)
{
	if (!header->data_never_ended || header->data.offset == reader->file_size)
		return;
	reader_add_no_data_size(reader, DATA_SIZE_AT, is_unfinished(reader, header));
}

/* Lists that chunks begin after the features, but do not end with the file. */
static void check_chunks(struct sp_reader *reader)
{
	uint64_t end = reader->features_end;
	if (reader->features_behind && end < reader->file_size && chunks_begin_at(reader->fd, end))
		reader_add_damage_text(reader, end, "the stored names are incomplete");
}

static struct sp_error *open_with_header(struct sp_reader *reader)
{
	struct header_info header;
	CLEANUP(cleanup_sp_error_free) struct sp_error *no_events = NULL;
	TRY(header_read(reader, &header));
	reader->extent = (struct reader_extent){header.data.offset,
						header.data.offset + header.data.size};
	no_events = header_read_events(reader, &header);
	if (no_events && sp_error_code(no_events) != SP_ERROR_FORMAT)
		return take_ptr(no_events);
	TRY(feature_table_read(reader, &header));
	TRY(scan_beginning(reader));
	struct sp_error *error = features_interpret(reader);
	if (error)
		return error;
	if (no_events && !reader->events.count)
		return take_ptr(no_events);
	if (no_events)
		reader_add_file_damage(reader, 24, take_ptr(no_events));
	if (feature_bits_have(&header.features, FEATURE_COMPRESSED))
		error = find_compressed(reader);
	if (error)
		return error;
	reader->info.unfinished = is_unfinished(reader, &header);
	add_no_size(reader, &header);
	check_chunks(reader);
	return flatten(reader);
}

static struct sp_error *open_stream(struct sp_reader *reader)
{
	reader->extent = (struct reader_extent){FILE_PIPE_HEADER_SIZE, reader->file_size};
	if (reader->info.mode == SP_READER_FILE)
		reader->info.mode = SP_READER_PIPE;
	TRY(reader_scan(reader, reader->extent));
	TRY(features_interpret(reader));
	if (!reader->events.count)
		return error_format(reader->path, reader->file_size,
				    "the stream ends without an event description");
	return flatten(reader);
}

static struct sp_error *identify(struct sp_reader *reader)
{
	uint8_t bytes[FILE_PIPE_HEADER_SIZE];
	size_t got;
	uint64_t header_size = 0;
	bool swap;
	int errnum = io_pread(reader->fd, bytes, sizeof(bytes), 0, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->path);
	if (!source_is_recording(bytes, got, &swap))
		return error_format(reader->path, 0,
				    "not a perf.data file: it does not begin with PERFILE2");
	reader_set_swap(reader, swap);
	struct cursor cursor = reader_cursor(reader, bytes, got, 0);
	if (!cursor_skip(&cursor, 8) || !cursor_u64(&cursor, &header_size))
		return cursor_error(&cursor, "the file header is cut short");
	reader->pipe_format = header_size == FILE_PIPE_HEADER_SIZE;
	return NULL;
}

/* Finds the chunks at the file's end, which the rest of the reader does not see. */
static struct sp_error *find_chunks(struct sp_reader *reader)
{
	CLEANUP(chunks_deinit) struct stored_chunks chunks = {0};
	reader->whole_size = reader->file_size;
	struct sp_error *error = chunks_list(reader->fd, reader->file_size, reader->path, &chunks);
	if (!error)
		reader->file_size = chunks.begin;
	return error;
}

static struct sp_error *reader_fill(struct sp_reader *reader)
{
	TRY(source_open(reader));
	TRY(find_chunks(reader));
	TRY(identify(reader));
	struct sp_error *error =
		reader->pipe_format ? open_stream(reader) : open_with_header(reader);
	if (error)
		return error;
	if (reader->data_fd < 0)
		reader->data_fd = reader->fd;
	reader->layout = (struct record_layout){
		.events = reader->events.items,
		.event_count = reader->events.count,
		.swap = reader->swap,
		.path = reader->data_path,
	};
	return NULL;
}

/* Opens the file at `path`, or a duplicate of fd if it is not -1. */
static struct sp_error *open_reader(struct sp_ctx *ctx, int fd, const char *path, const char *shown,
				    struct sp_reader **ret)
{
	CLEANUP(cleanup_sp_reader_free) struct sp_reader *reader = calloc(1, sizeof(*reader));
	NEED(reader);
	reader->ctx = ctx;
	reader->fd = reader->data_fd = reader->directory_fd = -1;
	damage_list_init(&reader->damage);
	mapping_init(&reader->mapping);
	reader->lengths = lengths_of_any();
	reader->info.path = reader_copy_text(reader, path, strlen(path));
	NEED(reader->info.path);
	reader->path = shown ?: reader->info.path;
	reader->data_path = reader->path;
	if (fd >= 0) {
		reader->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (reader->fd < 0)
			return error_os(errno, "cannot open %s", reader->path);
	}
	TRY(reader_fill(reader));
	*ret = take_ptr(reader);
	return NULL;
}

struct sp_error *sp_reader_open(struct sp_ctx *ctx, const char *path, struct sp_reader **ret)
{
	if (!strcmp(path, "-"))
		return open_reader(ctx, STDIN_FILENO, path, "standard input", ret);
	return open_reader(ctx, -1, path, NULL, ret);
}

struct sp_error *sp_reader_open_fd(struct sp_ctx *ctx, int fd, const char *name,
				   struct sp_reader **ret)
{
	if (fd < 0)
		return error_os(EBADF, "cannot open %s", name);
	return open_reader(ctx, fd, name, NULL, ret);
}

struct sp_error *sp_reader_open_memory(struct sp_ctx *ctx, const void *bytes, size_t size,
				       const char *name, struct sp_reader **ret)
{
	CLEANUP_CLOSE int fd = memfd_create("sprof", MFD_CLOEXEC);
	int errnum = fd < 0 ? errno : io_write(fd, bytes, size, NULL);
	if (errnum)
		return error_os(errnum, "cannot copy %s", name);
	return sp_reader_open_fd(ctx, fd, name, ret);
}

void sp_reader_free(struct sp_reader *reader)
{
	if (!reader)
		return;
	walker_free(reader->walker);
	mapping_deinit(&reader->mapping);
	decoder_free(reader->decoder);
	if (reader->data_fd >= 0 && reader->data_fd != reader->fd)
		close(reader->data_fd);
	if (reader->fd >= 0)
		close(reader->fd);
	if (reader->directory_fd >= 0)
		close(reader->directory_fd);
	damage_list_deinit(&reader->damage);
	vec_deinit(&reader->events);
	arena_deinit(&reader->arena);
	free(reader);
}

static struct sp_error *start(struct sp_reader *reader)
{
	struct sp_error *error = NULL;
	if (!reader->decoder)
		error = decoder_new(&reader->layout, &reader->decoder);
	if (!error && !reader->walker)
		error = walker_new(reader, reader->extent, &reader->walker);
	return error;
}

/* Lists an error as damage, and also returns it. */
static struct sp_error *list_damage(struct sp_reader *reader, uint64_t offset,
				    struct sp_error *error)
{
	enum sp_error_code code = sp_error_code(error);
	if (code != SP_ERROR_NO_MEMORY && code != SP_ERROR_CANCELLED)
		reader_list_damage(reader, offset, error);
	return error;
}

struct sp_error *sp_reader_next(struct sp_reader *reader, const struct sp_record **ret)
{
	struct raw_record raw = {0};
	TRY(start(reader));
	uint64_t offset = walker_offset(reader->walker);
	struct sp_error *error = walker_next(reader->walker, &raw);
	if (!error && raw.bytes) {
		offset = raw.offset;
		error = decoder_decode(reader->decoder, &raw, &reader->record);
		if (!error)
			walker_note_excess(reader->walker, &raw, decoder_excess(reader->decoder));
	}
	if (error)
		return list_damage(reader, offset, error);
	*ret = raw.bytes ? &reader->record : NULL;
	return NULL;
}

void sp_reader_rewind(struct sp_reader *reader)
{
	walker_free(reader->walker);
	reader->walker = NULL;
}

const struct sp_file_info *sp_reader_info(const struct sp_reader *reader)
{
	return &reader->info;
}

