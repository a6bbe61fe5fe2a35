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
#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/event_name.h"
#include "reader/feature_payloads.h"
#include "reader/header.h"
#include "reader/recording_source.h"
#include "record/encode.h"
#include "record/types.h"
#include "stored/chunks.h"
#include "walk/walker.h"

/*
 * Reads events and features from records of the data. A stream in perf's pipe format has no header:
 * records HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and HEADER_TRACING_DATA replace it. They may be
 * anywhere, so all records are visited. sprof's own files begin with HEADER_FEATURE records, too,
 * in case their recorder is killed.
 */

#define TRACING_DATA_MAX (UINT64_C(1) << 30)

/* Returns the number of ids in a full HEADER_ATTR record. */
static size_t ids_of_full_record(const struct perf_event_attr *attr)
{
	size_t used = sizeof(struct perf_event_header) + attr->size;
	return used < RECORD_SIZE_MAX ? (RECORD_SIZE_MAX - used) / sizeof(uint64_t) : 0;
}

/*
 * Returns the event to which this record adds ids, or NULL if it is a new event. sprof writes
 * several records for an event with many ids; all but the last are full.
 */
static struct sp_event *event_continued(struct sp_reader *reader, const struct sp_header_attr *attr)
{
	size_t full = ids_of_full_record(&attr->attr);
	struct sp_event *last = reader->events.count ? vec_last(&reader->events) : NULL;
	if (!full || !last || !last->id_count || last->id_count % full ||
	    memcmp(&last->attr, &attr->attr, sizeof(attr->attr)) != 0)
		return NULL;
	return last;
}

static size_t next_power_of_two(size_t count)
{
	size_t power = 1;
	while (power < count)
		power *= 2;
	return power;
}

/*
 * Adds ids to an event. The room for ids doubles, so that many records take at most twice the size
 * of the ids.
 */
static struct sp_error *continue_ids(struct sp_reader *reader, struct sp_event *event,
				     const struct sp_header_attr *attr)
{
	size_t before = event->id_count, count = before + attr->id_count;
	bool first = before == ids_of_full_record(&event->attr);
	uint64_t *ids = (uint64_t *)(uintptr_t)event->ids;
	if (first || count > next_power_of_two(before)) {
		ids = arena_alloc(&reader->arena, next_power_of_two(count) * sizeof(*ids));
		NEED(ids);
		memcpy(ids, event->ids, before * sizeof(*ids));
	}
	if (attr->id_count)
		memcpy(ids + before, attr->ids, attr->id_count * sizeof(*ids));
	event->ids = ids;
	event->id_count = count;
	return NULL;
}

static struct sp_error *scan_attr(struct sp_reader *reader, const struct sp_header_attr *attr)
{
	struct sp_event *event = event_continued(reader, attr);
	if (event)
		return continue_ids(reader, event, attr);
	uint64_t *ids = arena_alloc(&reader->arena, attr->id_count * sizeof(*ids));
	NEED(ids);
	if (attr->id_count)
		memcpy(ids, attr->ids, attr->id_count * sizeof(*ids));
	return events_add(reader, &(struct sp_event){.attr = attr->attr,
						     .tail = attr->tail,
						     .ids = ids,
						     .id_count = attr->id_count});
}

struct event_scan {
	struct sp_reader *reader;
	struct decoder *decoder;
	struct u64map ids;    /* id -> index, for the events before index `mapped` */
	size_t mapped;
};

static void scan_deinit(struct event_scan *scan)
{
	decoder_free(scan->decoder);
	u64map_deinit(&scan->ids);
}

/* Returns the event with that id; NULL if there is none, or when out of memory. */
static struct sp_event *event_of_id(struct event_scan *scan, uint64_t id)
{
	for (; scan->mapped < scan->reader->events.count; scan->mapped++) {
		const struct sp_event *event = &scan->reader->events.items[scan->mapped];
		for (size_t i = 0; i < event->id_count; i++)
			if (!u64map_put(&scan->ids, event->ids[i], scan->mapped, NULL))
				scan->reader->no_memory = true;
	}
	/* Id 0 stands for the first event, as in perf. */
	if (!id && scan->reader->events.count)
		return &scan->reader->events.items[0];
	const uint32_t *index = u64map_find(&scan->ids, id);
	return index ? &scan->reader->events.items[*index] : NULL;
}

/* Reads an EVENT_UPDATE record: u64 kind, u64 id of the event, and for kind NAME a name. */
static void scan_event_update(struct event_scan *scan, const struct raw_record *raw)
{
	struct cursor cursor = reader_cursor(scan->reader, raw->bytes, raw->size, raw->offset);
	uint64_t kind, id;
	if (!cursor_skip(&cursor, 8) || !cursor_u64(&cursor, &kind) || !cursor_u64(&cursor, &id) ||
	    kind != SP_EVENT_UPDATE_NAME)
		return;
	struct sp_event *event = event_of_id(scan, id);
	size_t left = cursor_left(&cursor), size = strnlen((const char *)cursor.pos, left);
	if (event && size)
		event->name = reader_copy_text(scan->reader, cursor.pos, size);
}

/*
 * Reads a HEADER_TRACING_DATA record. The record states the size of its payload, which follows it.
 */
static struct sp_error *scan_tracing_data(struct sp_reader *reader, const struct raw_record *raw,
					  uint64_t end)
{
	uint64_t begin = raw->offset + raw->size;
	const uint8_t *bytes;
	if (end <= begin || end - begin > TRACING_DATA_MAX ||
	    reader->features[FEATURE_TRACING_DATA].present)
		return NULL;
	TRY(reader_load(reader, begin, end - begin, &bytes));
	features_put(reader, FEATURE_TRACING_DATA, (struct sp_bytes){bytes, end - begin}, begin);
	return NULL;
}

static struct sp_error *scan_record(struct event_scan *scan, const struct raw_record *raw,
				    uint64_t end)
{
	struct sp_reader *reader = scan->reader;
	struct sp_record record;
	struct sp_error *error;
	switch (raw->type) {
	case SP_RECORD_HEADER_ATTR:
		/* A file's header lists the events, so HEADER_ATTR is ignored there. */
		if (!reader->pipe_format)
			return NULL;
		error = decoder_decode(scan->decoder, raw, &record);
		return error ?: scan_attr(reader, &record.attr);
	case SP_RECORD_HEADER_FEATURE:
		reader->has_feature_records = true;
		error = decoder_decode(scan->decoder, raw, &record);
		return error ?: features_add(reader, record.feature.feature, record.feature.payload,
					     raw->offset + 16);
	case SP_RECORD_EVENT_UPDATE:
		scan_event_update(scan, raw);
		return NULL;
	case SP_RECORD_HEADER_TRACING_DATA:
		return scan_tracing_data(reader, raw, end);
	case SP_RECORD_COMPRESSED:
	case SP_RECORD_COMPRESSED2:
		reader->info.compressed = true;
		return NULL;
	default:
		return NULL;
	}
}

static struct sp_error *scan_walk(struct event_scan *scan, struct walker *walker)
{
	for (;;) {
		struct raw_record raw = {0};
		struct sp_error *error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		if (error) {
			/* The damage is listed later, when the records are read. */
			sp_error_free(error);
			continue;
		}
		if (raw.type < RECORD_USER_TYPES)
			continue;
		error = scan_record(scan, &raw, walker_offset(walker));
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		if (error)
			reader_add_file_damage(scan->reader, raw.offset, error);
	}
}

/*
 * Adds events and features, and names of events (EVENT_UPDATE), from the records that begin in the
 * extent. A file's events are not added, because its header has them. Also notes compression, and
 * ends a stream before an incomplete last record.
 */
static struct sp_error *reader_scan(struct sp_reader *reader, struct reader_extent extent)
{
	struct record_layout layout = {.swap = reader->swap, .path = reader->path};
	const struct walker_file file = {reader->fd, reader->path, reader->swap,
					 reader->extent.end};
	CLEANUP(scan_deinit) struct event_scan scan = {.reader = reader};
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	TRY(decoder_new(&layout, &scan.decoder));
	TRY(walker_new_at(&file, extent, &walker));
	walker_check_sizes(walker, &reader->lengths, NULL);
	TRY(scan_walk(&scan, walker));
	/*
	 * An incomplete last record of a stream is no damage: its writer was killed or still
	 * writes.
	 */
	if (reader->pipe_format && walker_truncated_at(walker)) {
		reader->extent.end = walker_truncated_at(walker);
		reader->info.unfinished = true;
	}
	return NULL;
}

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
	struct reader_extent beginning = reader->extent;
	if (beginning.end - beginning.begin > SCAN_SIZE)
		beginning.end = beginning.begin + SCAN_SIZE;
	TRY(reader_scan(reader, beginning));
	TRY(features_interpret(reader));
	if (no_events && !reader->events.count)
		return take_ptr(no_events);
	if (no_events)
		reader_add_file_damage(reader, 24, take_ptr(no_events));
	if (feature_bits_have(&header.features, FEATURE_COMPRESSED))
		TRY(find_compressed(reader));
	reader->info.unfinished = is_unfinished(reader, &header);
	add_no_size(reader, &header);

	/* Lists that chunks begin after the features, but do not end with the file. */
	uint64_t end = reader->features_end;
	if (reader->features_behind && end < reader->file_size && chunks_begin_at(reader->fd, end))
		reader_add_damage_text(reader, end, "the stored names are incomplete");
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
	TRY(chunks_list(reader->fd, reader->file_size, reader->path, &chunks));
	reader->file_size = chunks.begin;
	return NULL;
}

static struct sp_error *reader_fill(struct sp_reader *reader)
{
	TRY(source_open(reader));
	TRY(find_chunks(reader));
	TRY(identify(reader));
	TRY(reader->pipe_format ? open_stream(reader) : open_with_header(reader));
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

static struct sp_error *open_once(struct sp_ctx *ctx, int fd, const char *path,
				  const char *shown, bool *changed_ret, struct sp_reader **ret)
{
	CLEANUP(cleanup_sp_reader_free) struct sp_reader *reader = calloc(1, sizeof(*reader));
	NEED(reader);
	reader->ctx = ctx;
	reader->fd = reader->data_fd = reader->directory_fd = -1;
	damage_list_init(&reader->damage);
	file_mapping_init(&reader->mapping);
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
	struct sp_error *error = reader_fill(reader);
	*changed_ret = reader->fd >= 0 && header_has_changed(reader);
	if (!error)
		*ret = take_ptr(reader);
	return error;
}

/* Attempts to open a file that a recorder writes. It changes up to five times a second. */
#define TRIES 10

/*
 * Opens the file at `path`, or a duplicate of fd if it is not -1. Its recorder may have replaced
 * the feature table since the header was read: it is opened again then.
 */
static struct sp_error *open_reader(struct sp_ctx *ctx, int fd, const char *path,
				    const char *shown, struct sp_reader **ret)
{
	struct sp_reader *reader = NULL;
	struct sp_error *error = NULL;
	bool changed = true;
	for (int tries = 0; changed && tries < TRIES; tries++) {
		sp_reader_free(reader);
		sp_error_free(error);
		reader = NULL;
		changed = false;
		error = open_once(ctx, fd, path, shown, &changed, &reader);
	}
	if (!error)
		*ret = reader;
	return error;
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
	int errnum = fd < 0 ? errno : io_write(fd, bytes, size);
	if (errnum)
		return error_os(errnum, "cannot copy %s", name);
	return sp_reader_open_fd(ctx, fd, name, ret);
}

void sp_reader_free(struct sp_reader *reader)
{
	if (!reader)
		return;
	walker_free(reader->walker);
	file_mapping_deinit(&reader->mapping);
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
			walker_set_excess(reader->walker, &raw, decoder_excess(reader->decoder));
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
