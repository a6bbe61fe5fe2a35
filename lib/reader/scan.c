/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads events and features from records of the data. A stream in perf's pipe format has no header:
 * records HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and HEADER_TRACING_DATA replace it. They may be
 * anywhere, so all records are visited. sprof's own files begin with HEADER_FEATURE records, too, in
 * case their recorder is killed.
 */
#include "reader/scan.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/events.h"
#include "reader/feature_payloads.h"
#include "record/encode.h"
#include "record/types.h"
#include "walk/walker.h"

#define EVENT_UPDATE_NAME 2
#define TRACING_DATA_MAX (UINT64_C(1) << 30)

/* Returns the number of ids in a full HEADER_ATTR record. */
static size_t ids_of_full_record(const struct perf_event_attr *attr)
{
	size_t used = sizeof(struct perf_event_header) + attr->size;
	return used < RECORD_SIZE_MAX ? (RECORD_SIZE_MAX - used) / sizeof(uint64_t) : 0;
}

/*
 * Returns the event to which this record adds ids, or NULL if it is a new event. sprof writes several
 * records for an event with many ids; all but the last are full.
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
 * Adds ids to an event. The room for ids doubles, so that many records take at most twice the size of
 * the ids.
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
	return events_add(reader, &(struct sp_event){.attr = attr->attr, .tail = attr->tail, .ids = ids,
						     .id_count = attr->id_count});
}

struct scan {
	struct sp_reader *reader;
	struct decoder *decoder;
	struct u64map ids;    /* id -> index, for the events before index `mapped` */
	size_t mapped;
};

DEFINE_CLEANUP(struct walker *, walker_free)

static void scan_deinit(struct scan *scan)
{
	decoder_free(scan->decoder);
	u64map_deinit(&scan->ids);
}

/* Returns the event with that id; NULL if there is none, or when out of memory. */
static struct sp_event *event_of_id(struct scan *scan, uint64_t id)
{
	for (; scan->mapped < scan->reader->events.count; scan->mapped++) {
		const struct sp_event *event = &scan->reader->events.items[scan->mapped];
		for (size_t i = 0; i < event->id_count; i++)
			if (!u64map_put(&scan->ids, event->ids[i], (uint32_t)scan->mapped, NULL))
				scan->reader->no_memory = true;
	}
	/* Id 0 stands for the first event, as in perf. */
	if (!id && scan->reader->events.count)
		return &scan->reader->events.items[0];
	const uint32_t *index = u64map_find(&scan->ids, id);
	return index ? &scan->reader->events.items[*index] : NULL;
}

/* Reads an EVENT_UPDATE record: u64 kind, u64 id of the event, and for EVENT_UPDATE_NAME a name. */
static void scan_event_update(struct scan *scan, const struct raw_record *raw)
{
	struct cursor cursor = reader_cursor(scan->reader, raw->bytes, raw->size, raw->offset);
	uint64_t kind, id;
	if (!cursor_skip(&cursor, 8) || !cursor_u64(&cursor, &kind) || !cursor_u64(&cursor, &id) ||
	    kind != EVENT_UPDATE_NAME)
		return;
	struct sp_event *event = event_of_id(scan, id);
	size_t left = cursor_left(&cursor), size = strnlen((const char *)cursor.pos, left);
	if (event && size)
		event->name = reader_copy_text(scan->reader, cursor.pos, size);
}

/* Reads a HEADER_TRACING_DATA record. The record states the size of its payload, which follows it. */
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

static struct sp_error *scan_record(struct scan *scan, const struct raw_record *raw, uint64_t end)
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

static struct sp_error *scan_walk(struct scan *scan, struct walker *walker)
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

struct sp_error *reader_scan(struct sp_reader *reader, struct reader_extent extent)
{
	struct record_layout layout = {.swap = reader->swap, .path = reader->path};
	const struct walker_file file = {reader->fd, reader->path, reader->swap, reader->extent.end};
	CLEANUP(scan_deinit) struct scan scan = {.reader = reader};
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	TRY(decoder_new(&layout, &scan.decoder));
	TRY(walker_new_at(&file, extent, &walker));
	walker_check_sizes(walker, &reader->lengths, NULL);
	TRY(scan_walk(&scan, walker));
	/* An incomplete last record of a stream is no damage: its writer was killed or still writes. */
	if (reader->pipe_format && walker_truncated_at(walker)) {
		reader->extent.end = walker_truncated_at(walker);
		reader->info.unfinished = true;
	}
	return NULL;
}
