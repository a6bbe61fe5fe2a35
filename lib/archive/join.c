/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins consecutive files of a rotation. Each repeats the tasks and mappings that live when it
 * begins: only those of the first file are written. The joined file has the first one's header and
 * features, and the build-ids of all.
 */
#include <sprof/archive.h>

#include <errno.h>
#include <sprof/private/command.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "file/reader_struct.h"
#include "record/note.h"
#include "record/put.h"
#include "walk/walker.h"
#include "writer/written_file.h"

/* Bytes that are written at once. */
#define PART_BYTES ((size_t)1 << 20)

struct join {
	struct written_file file;
	struct record_buffer bytes; /* not yet written */
	uint64_t size;              /* bytes of the file so far, with these */
	struct record_buffer table, payloads, payload; /* features; `payload`: of one */
};

static void join_deinit(struct join *join)
{
	vec_deinit(&join->bytes);
	vec_deinit(&join->table);
	vec_deinit(&join->payloads);
	vec_deinit(&join->payload);
	output_close(&join->file);
}

static struct sp_error *join_flush(struct join *join)
{
	int errnum = io_write(join->file.fd, join->bytes.items, join->bytes.count);
	join->bytes.count = 0;
	return errnum ? error_os(errnum, "cannot write to %s", join->file.path) : NULL;
}

static struct sp_error *join_add(struct join *join, const void *bytes, size_t size)
{
	struct put put = {.buffer = &join->bytes};
	put_bytes(&put, bytes, size);
	NEED(!put.no_memory);
	join->size += size;
	return join->bytes.count < PART_BYTES ? NULL : join_flush(join);
}

/* Returns whether a file may begin with such records for what lives then. */
static bool is_of_state(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
		return true;
	default:
		return false;
	}
}

/*
 * Copies a file's records, without those that repeat the state at *begin_ns; 0: of the first file,
 * all. `join` NULL: only finds *begin_ns, which stays 0 before its note is written: after the
 * records of the first round.
 */
static struct sp_error *read_records(struct sp_reader *reader, struct join *join, bool last,
				     uint64_t *begin_ns)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	TRY(walker_new(reader, reader->extent, &walker));
	TRY(decoder_new(&reader->layout, &decoder));
	for (;;) {
		struct raw_record raw = {0};
		struct sp_record record;
		struct sp_note note;
		TRY(walker_next(walker, &raw));
		if (!raw.bytes)
			return NULL;
		bool skipped = *begin_ns && raw.type == SP_RECORD_HEADER_FEATURE;
		if (raw.type == SP_RECORD_EVENT_UPDATE || (*begin_ns && is_of_state(raw.type))) {
			TRY(decoder_decode(decoder, &raw, &record));
			bool noted = sp_record_note(&record, &note);
			if (!join && noted && note.kind == NOTE_FILE_BEGINS) {
				*begin_ns = note.time_ns;
				return NULL;
			}
			skipped = noted ? (note.kind == NOTE_FILE_ENDS && !last) ||
						  (note.kind == NOTE_FILE_BEGINS && *begin_ns)
					: is_of_state(raw.type) && record.id.time_ns <= *begin_ns;
		}
		if (join && !skipped)
			TRY(join_add(join, raw.bytes, raw.size));
	}
}

/* Returns the payload of a feature in the joined file; `buffer` may hold it. */
static struct sp_error *join_feature(struct sp_reader *const *readers, size_t count,
				     unsigned int bit, struct record_buffer *buffer,
				     struct sp_bytes *ret)
{
	const struct sp_reader *last = readers[count - 1];
	struct put put = {.buffer = buffer};
	buffer->count = 0;
	*ret = readers[0]->features[bit].bytes;
	if (bit == FEATURE_SAMPLE_TIME && last->features[bit].present) {
		put_u64(&put, readers[0]->info.first_sample_ns);
		put_u64(&put, last->info.last_sample_ns);
	} else if (bit == FEATURE_BUILD_ID) {
		for (size_t i = 0; i < count; i++)
			put_bytes(&put, readers[i]->features[bit].bytes.bytes,
				  readers[i]->features[bit].bytes.size);
	} else {
		return NULL;
	}
	NEED(!put.no_memory);
	*ret = (struct sp_bytes){buffer->items, buffer->count};
	return NULL;
}

/* Returns whether the joined file has the feature. That of compression is of files before it. */
static bool has_feature(struct sp_reader *const *readers, size_t count, unsigned int bit)
{
	bool any = readers[0]->features[bit].present;
	for (size_t i = 0; i < count && bit == FEATURE_BUILD_ID; i++)
		any |= readers[i]->features[bit].present;
	if (bit == FEATURE_SAMPLE_TIME)
		return any && readers[count - 1]->features[bit].present;
	return any && bit != FEATURE_COMPRESSED;
}

/* Writes the table of features and their payloads, then the header that counts them. */
static struct sp_error *finish(struct join *join, struct sp_reader *const *readers, size_t count)
{
	struct file_header header;
	struct feature_bits bits = {0};
	struct put to_table = {.buffer = &join->table}, to_payloads = {.buffer = &join->payloads};
	uint64_t entries = 0, begin = join->size, at;
	for (unsigned int bit = 0; bit < FILE_FEATURE_BITS; bit++)
		entries += has_feature(readers, count, bit);
	for (unsigned int bit = 0; bit < FILE_FEATURE_BITS; bit++) {
		struct sp_bytes payload;
		if (!has_feature(readers, count, bit))
			continue;
		TRY(join_feature(readers, count, bit, &join->payload, &payload));
		feature_bits_add(&bits, bit);
		at = begin + entries * sizeof(struct file_section) + join->payloads.count;
		put_u64(&to_table, at);
		put_u64(&to_table, payload.size);
		put_bytes(&to_payloads, payload.bytes, payload.size);
	}
	NEED(!to_table.no_memory && !to_payloads.no_memory);
	TRY(join_add(join, join->table.items, join->table.count));
	TRY(join_add(join, join->payloads.items, join->payloads.count));
	TRY(join_flush(join));
	memcpy(&header, readers[0]->header, sizeof(header));
	header.data.size = begin - header.data.offset;
	memcpy(header.features, bits.words, sizeof(header.features));
	int errnum = io_pwrite(join->file.fd, &header, sizeof(header), 0);
	return errnum ? error_os(errnum, "cannot write to %s", join->file.path) : NULL;
}

struct sp_error *sp_recordings_join(struct sp_reader *const *readers, size_t count,
				    const char *path, int *memory_fd_ret)
{
	CLEANUP(join_deinit) struct join join = {.file.fd = -1};
	TRY(memory_fd_ret ? output_open_memory(path, &join.file)
			  : output_open(path, &join.file));
	if (join.file.stream)
		return error_new(SP_ERROR_INVALID, "%s is not a regular file", path);
	const struct sp_reader *reader = readers[0];
	size_t size = reader->extent.begin, got;
	CLEANUP_FREE uint8_t *bytes = malloc(size);
	NEED(bytes);
	int errnum = io_pread(reader->fd, bytes, size, 0, &got);
	if (errnum || got < size)
		return error_os(errnum ?: EIO, "cannot read %s", reader->path);
	TRY(join_add(&join, bytes, size));
	for (size_t i = 0; i < count; i++) {
		uint64_t begin_ns = 0;
		if (i)
			TRY(read_records(readers[i], NULL, false, &begin_ns));
		/* The last file may have just begun. */
		if (i && !begin_ns && i + 1 == count)
			break;
		if (i && !begin_ns)
			return error_new(SP_ERROR_INVALID, "%s is not a file of a rotation",
					 readers[i]->path);
		TRY(read_records(readers[i], &join, i + 1 == count, &begin_ns));
	}
	TRY(finish(&join, readers, count));
	if (!memory_fd_ret)
		return output_publish(&join.file);
	*memory_fd_ret = join.file.fd;
	join.file.fd = -1;
	return NULL;
}
