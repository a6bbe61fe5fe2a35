/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/commit.h"

#include "base/error.h"
#include "record/put.h"

/*
 * Writes the events' names as EVENT_UPDATE records. A file without a feature table has no EVENT_DESC,
 * and in a stream EVENT_DESC may be too large for a record.
 */
static struct sp_error *put_names(struct record_buffer *buffer, const struct sp_event *events,
				  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* Without an id, the record names the first event. */
		if (!events[i].name || (!events[i].id_count && i))
			continue;
		struct sp_record record = {
			.type = SP_RECORD_EVENT_UPDATE,
			.event_update = {
				.kind = SP_EVENT_UPDATE_NAME,
				.id = events[i].id_count ? events[i].ids[0] : 0,
				.data = {.bytes = (const uint8_t *)events[i].name,
					 .size = strlen(events[i].name) + 1},
			},
		};
		TRY(record_encode(buffer, &record, NULL));
	}
	return NULL;
}

/* Writes the events' ids and attrs. Returns the place of the attrs for the header. */
static struct file_section put_attrs(struct put *put, const struct sp_event *events, size_t count,
				     uint32_t attr_size)
{
	uint64_t ids_offset = put->buffer->count;
	for (size_t i = 0; i < count; i++)
		put_bytes(put, events[i].ids, 8 * events[i].id_count);
	uint64_t attrs_offset = put->buffer->count;
	for (size_t i = 0; i < count; i++) {
		put_attr(put, &events[i].attr, &events[i].tail, attr_size);
		put_u64(put, ids_offset);
		put_u64(put, 8 * events[i].id_count);
		ids_offset += 8 * events[i].id_count;
	}
	return (struct file_section){attrs_offset, put->buffer->count - attrs_offset};
}

struct sp_error *file_start_make(struct file_start *start, const struct sp_event *events,
				 size_t count, uint32_t attr_size,
				 const struct feature_set *features)
{
	struct put put = {.buffer = &start->bytes};
	put_zeros(&put, sizeof(struct file_header));
	struct file_section attrs = put_attrs(&put, events, count, attr_size);
	uint64_t payloads_offset = start->bytes.count;
	put_bytes(&put, features->bytes.items, features->bytes.count);
	put_align(&put, 0);
	if (put.no_memory)
		return error_no_memory();
	start->data_offset = start->bytes.count;

	TRY(feature_set_records(features, FEATURES_OF_FILE, &start->bytes));
	TRY(put_names(&start->bytes, events, count));
	TRY(feature_set_sections(features, payloads_offset, &start->table, &start->bits));
	struct file_header header = {
		.magic = FILE_MAGIC,
		.size = sizeof(header),
		.attr_size = attr_size + sizeof(struct file_section),
		.attrs = attrs,
		.data = {start->data_offset, start->bytes.count - start->data_offset},
	};
	memcpy(header.features, start->bits.words, sizeof(header.features));
	memcpy(start->bytes.items, &header, sizeof(header));
	return NULL;
}

void file_start_deinit(struct file_start *start)
{
	vec_deinit(&start->bytes);
	vec_deinit(&start->table);
}

/*
 * Writes HEADER_ATTR records. The first has as many ids as fit; more records with the same attr have
 * the rest, which other readers take for other events. A single event needs no ids, so only its first
 * record is written.
 */
static struct sp_error *put_attr_records(struct record_buffer *buffer,
					 const struct sp_event *event, bool alone,
					 uint32_t attr_size)
{
	size_t most = (RECORD_SIZE_MAX - sizeof(struct perf_event_header) - attr_size) / 8;
	size_t done = 0;
	do {
		size_t count = event->id_count - done < most ? event->id_count - done : most;
		struct sp_record record = {
			.type = SP_RECORD_HEADER_ATTR,
			.attr = {.attr = event->attr,
				 .tail = event->tail,
				 .ids = count ? event->ids + done : NULL,
				 .id_count = count},
		};
		record.attr.attr.size = attr_size;
		TRY(record_encode(buffer, &record, NULL));
		done += count;
	} while (done < event->id_count && !alone);
	return NULL;
}

struct sp_error *stream_start_make(struct record_buffer *bytes, const struct sp_event *events,
				   size_t count, uint32_t attr_size,
				   const struct feature_set *features)
{
	struct put put = {.buffer = bytes};
	struct sp_error *error = NULL;
	put_u64(&put, FILE_MAGIC);
	put_u64(&put, FILE_PIPE_HEADER_SIZE);
	if (put.no_memory)
		return error_no_memory();
	for (size_t i = 0; !error && i < count; i++)
		error = put_attr_records(bytes, &events[i], count == 1, attr_size);
	if (error)
		return error;
	TRY(feature_set_records(features, FEATURES_OF_STREAM, bytes));
	error = put_names(bytes, events, count);
	return error ?: feature_set_tracing(features, bytes);
}
