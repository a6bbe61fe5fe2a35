/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's layout and order of writes are in commit.h; its space is allocated ahead (preallocate.h).
 *
 * A stream (pipe, device, standard output) is perf's pipe format: a header of 16
 * bytes, then HEADER_ATTR, HEADER_FEATURE and EVENT_UPDATE records, then the data.
 *
 * With compression, the recorder's records become COMPRESSED records. Each round has its own frames,
 * so that a killed recording can be read up to its last round. The start is not compressed.
 */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "writer/spans.h"
#include "writer/writer_struct.h"

/* Smaller writes are gathered in `pending`. */
#define SMALL_SIZE ((size_t)8192)
#define PENDING_SIZE ((size_t)65536)

/* Space that closing needs besides features: for the note about a full disk, and for SAMPLE_TIME. */
#define CLOSING_RESERVE ((uint64_t)512)

DEFINE_CLEANUP(struct writer *, writer_free)

/* -- Errors ---------------------------------------------------------------- */

const char *writer_remedy(int errnum)
{
	switch (errnum) {
	case ENOSPC:
		return "free space there, write to another file system with -o, or record less "
		       "(a lower -F, no -g)";
	case EDQUOT:
		return "the disk quota is used up: free space, write elsewhere with -o, or record "
		       "less (a lower -F, no -g)";
	case EFBIG:
		return "raise the limit on the size of files (ulimit -f), or record less "
		       "(a lower -F, no -g)";
	case EPIPE:
		return "see why the reading program ended; to keep a recording, use -o FILE";
	default:
		return "write elsewhere with -o";
	}
}

/* Returns the error of the write that failed. */
static struct sp_error *failed(const struct writer *writer)
{
	struct sp_error *error;
	if (!writer->end)
		error = error_os(writer->errnum, "cannot write to %s", writer->name);
	else if (writer->output.stream)
		error = error_os(writer->errnum, "writing to %s stopped after %" PRIu64 " bytes",
				 writer->name, writer->end);
	else
		error = error_os(writer->errnum,
				 "writing to %s stopped at %" PRIu64 " bytes, which are readable",
				 writer->name, writer->end);
	return error_set_remedy(error, "%s", writer_remedy(writer->errnum));
}

/* -- Data ------------------------------------------------------------------ */

/* Returns how many of `size` bytes fit, like preallocate_room(). In a stream all fit. */
static uint64_t room_for(struct writer *writer, uint64_t size, int *errnum_ret)
{
	*errnum_ret = 0;
	return writer->output.stream ? size :
				       preallocate_room(&writer->space, writer->end, size, errnum_ret);
}

/* Makes the file valid up to writer->end. Returns 0 or the errno. */
static int commit(struct writer *writer)
{
	return writer->output.stream ? 0 : commit_data(&writer->commit, writer->end);
}

/* Removes the last `surplus` bytes of the file, which are part of an incomplete record. */
static void cut(struct writer *writer, uint64_t surplus)
{
	struct stat st;
	if (!writer->output.stream) {
		preallocate_cut(&writer->space, commit_end(&writer->commit));
		return;
	}
	/* Standard output may be a file that had contents before. */
	off_t at = lseek(writer->output.fd, 0, SEEK_CUR);
	if (at >= 0 && fstat(writer->output.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == at)
		preallocate_cut(&writer->space, (uint64_t)at - surplus);
}

/*
 * Writes the first `size` bytes of the spans at writer->end, which the caller advances. Bytes that
 * would overwrite the feature table are held back until the next commit. Returns 0 or the errno;
 * *done_ret is the number of bytes written or held.
 */
static int put_data(struct writer *writer, const struct iovec *spans, int count, uint64_t size,
		    uint64_t *done_ret)
{
	uint64_t held = 0, done;
	if (!writer->output.stream)
		held = commit_hold_back(&writer->commit, writer->end, spans, size);
	int64_t offset = writer->output.stream ? SPANS_APPEND : (int64_t)(writer->end + held);
	const struct spans_part part = {spans, count, held, size - held};
	int errnum = spans_write(writer->output.fd, offset, &part, &done);
	*done_ret = held + done;
	return errnum;
}

/* Counts the samples after the first `written` bytes as not written. */
static void refuse(struct writer *writer, const struct iovec *spans, int count, uint64_t written)
{
	writer->unwritten += spans_count_samples(spans, count, written);
}

/*
 * Returns how many bytes to keep if only the first `size` bytes of the spans were written: the whole
 * records, or 0 if `undivided`.
 */
static uint64_t whole_of(const struct iovec *spans, int count, uint64_t size, bool undivided)
{
	return undivided ? 0 : spans_whole_records(spans, count, size);
}

/*
 * Writes the records that fit; if `undivided`, all or none. *whole_ret is the number of bytes of whole
 * records.
 */
static struct sp_error *append_some(struct writer *writer, const struct iovec *spans, int count,
				    bool undivided, uint64_t *whole_ret)
{
	int no_room;
	uint64_t size = spans_size(spans, count), done;
	uint64_t room = room_for(writer, size, &no_room);
	if (room < size)
		room = whole_of(spans, count, room, undivided);
	int errnum = put_data(writer, spans, count, room, &done);
	uint64_t whole = errnum ? whole_of(spans, count, done, undivided) : done;
	*whole_ret = whole;
	writer->end += whole;
	writer->errnum = errnum ?: no_room;
	if (!writer->errnum)
		return NULL;
	commit_drop(&writer->commit, writer->end);
	/* Errors are ignored: part of a record may stay in the file, where readers do not look. */
	if (commit(writer) == 0 && whole < done)
		cut(writer, done - whole);
	return failed(writer);
}

struct sp_error *writer_append(struct writer *writer, const struct iovec *spans, int count)
{
	uint64_t whole;
	struct sp_error *error = append_some(writer, spans, count, false, &whole);
	if (error)
		refuse(writer, spans, count, whole);
	return error;
}

/* Compresses and writes records until fewer than `most` bytes are left in the buffer; 0: until none is. */
static struct sp_error *pack(struct writer *writer, size_t most)
{
	struct packing *packing = &writer->packing;
	struct sp_error *error = NULL;
	while (!error && packing->raw.count >= most && packing->raw.count) {
		uint64_t samples, whole;
		error = packing_next(packing, &samples);
		struct iovec both[] = {{packing->packed.items, packing->packed.count},
				       {packing->plain.items, packing->plain.count}};
		if (!error)
			error = append_some(writer, both, 2, true, &whole);
		writer->unwritten += error ? samples : 0;
	}
	if (error)
		writer->unwritten += packing_drop(packing);
	return error;
}

static struct sp_error *flush(struct writer *writer)
{
	if (writer->packing.deflater)
		return pack(writer, 0);
	if (!writer->pending.count)
		return NULL;
	struct iovec span = {writer->pending.items, writer->pending.count};
	writer->pending.count = 0;
	return writer_append(writer, &span, 1);
}

struct sp_error *writer_write(struct writer *writer, const struct iovec *spans, int count)
{
	uint64_t size = spans_size(spans, count), gathered = writer->pending.count + size;
	struct sp_error *error = NULL;
	int no_room;
	writer->samples += spans_count_samples(spans, count, 0);
	if (writer->packing.deflater && !writer->errnum) {
		error = packing_add(&writer->packing, spans, count);
		return error ?: pack(writer, DEFLATE_SIZE);
	}
	/* Space for pending records is already allocated, so a full disk does not lose them. */
	bool small = !writer->errnum && size <= SMALL_SIZE &&
		     room_for(writer, gathered, &no_room) == gathered;
	if (!writer->errnum && (!small || gathered > PENDING_SIZE))
		error = flush(writer);
	if (writer->errnum) {
		refuse(writer, spans, count, 0);
		return error ?: failed(writer);
	}
	if (!small)
		return writer_append(writer, spans, count);

	/* Copies the spans to `pending`, which has room for them. */
	for (int i = 0; i < count; i++) {
		if (!spans[i].iov_len)
			continue;
		memcpy(writer->pending.items + writer->pending.count, spans[i].iov_base,
		       spans[i].iov_len);
		writer->pending.count += spans[i].iov_len;
	}

	return NULL;
}

struct sp_error *writer_write_auxtrace(struct writer *writer, const struct iovec *spans,
				       int count)
{
	struct perf_event_header header;
	uint64_t whole;
	TRY(writer->errnum ? failed(writer) : flush(writer));
	NEED(vec_reserve(&writer->traces, writer->traces.count + 1));
	spans_copy(spans, &header, sizeof(header));
	uint64_t offset = writer->end;
	TRY(append_some(writer, spans, count, true, &whole));
	*vec_push(&writer->traces) = (struct auxtrace_place){offset, header.size};
	writer->space.reserve += sizeof(struct auxtrace_place);
	return NULL;
}

/* Returns the error of a failed sync. */
static struct sp_error *writer_sync_error(const struct writer *writer, int errnum)
{
	return error_set_remedy(error_os(errnum, "cannot sync %s to disk", writer->name), "%s",
				writer_remedy(errnum));
}

struct sp_error *writer_commit(struct writer *writer)
{
	struct sp_error *error = writer->errnum ? NULL : flush(writer);
	int errnum = error ? 0 : commit(writer);
	/* The next commit or closing will sync the data. */
	if (errnum && !writer->errnum && writer->commit.durability)
		error = writer_sync_error(writer, errnum);
	else if (errnum && !writer->errnum)
		error = error_set_remedy(error_os(errnum, "cannot write the header of %s",
						  writer->name), "%s", writer_remedy(errnum));
	return error ?: writer->errnum ? failed(writer) : NULL;
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->end + writer->pending.count;
}

uint64_t writer_closing_bytes(const struct writer *writer)
{
	return writer->features.bytes.count + FILE_FEATURE_BITS * sizeof(struct file_section) + 64;
}

bool writer_is_stream(const struct writer *writer)
{
	return writer->output.stream;
}

void writer_reserve(struct writer *writer, uint64_t build_id_bytes)
{
	if (writer->output.stream)
		return;
	writer->space.reserve += build_id_bytes - writer->build_id_bytes;
	writer->build_id_bytes = build_id_bytes;
}

int writer_reopen(const struct writer *writer)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", writer->output.fd);
	return writer->output.stream ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t writer_samples(const struct writer *writer)
{
	return writer->samples - writer->unwritten;
}

uint64_t writer_unwritten_samples(const struct writer *writer)
{
	return writer->unwritten;
}

/* -- Opening --------------------------------------------------------------- */

static struct sp_error *start_file(struct writer *writer, const struct sp_event *events,
				   size_t count, uint32_t attr_size)
{
	struct file_start *start = &writer->commit.start;
	TRY(file_start_make(start, events, count, attr_size, &writer->features));
	(void)room_for(writer, start->bytes.count, &writer->errnum);
	if (!writer->errnum)
		writer->errnum = commit_begin(&writer->commit);
	if (writer->errnum)
		return failed(writer);
	writer->end = start->bytes.count;
	vec_deinit(&start->bytes);
	return NULL;
}

static struct sp_error *start_stream(struct writer *writer, const struct sp_event *events,
				     size_t count, uint32_t attr_size)
{
	struct record_buffer bytes = {0};
	struct sp_error *error =
		stream_start_make(&bytes, events, count, attr_size, &writer->features);
	if (!error) {
		struct iovec span = {bytes.items, bytes.count};
		writer->errnum = spans_write(writer->output.fd, SPANS_APPEND,
					     &(struct spans_part){&span, 1, 0, bytes.count},
					     &writer->end);
		error = writer->errnum ? failed(writer) : NULL;
	}
	vec_deinit(&bytes);
	return error;
}

struct sp_error *writer_sync_name(const struct writer *writer)
{
	if (writer->output.stream)
		return NULL;
	int errnum = durable_sync_name(writer->commit.durability, writer->output.path);
	return errnum ? writer_sync_error(writer, errnum) : NULL;
}

static struct sp_error *start(struct writer *writer, const struct sp_event *events, size_t count,
			      const struct writer_info *info)
{
	uint32_t attr_size = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t needed = attr_size_needed(&events[i].attr, &events[i].tail);
		attr_size = needed > attr_size ? needed : attr_size;
	}
	TRY(feature_set_start(&writer->features, info, events, count, attr_size));
	NEED(vec_reserve(&writer->pending, PENDING_SIZE));
	TRY(packing_init(&writer->packing, info->compression_level));
	writer->commit.durability = info->durability;
	if (writer->output.stream && info->durability)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot sync %s: it is not a regular "
						  "file", writer->name), "use -o FILE");
	if (writer->output.stream)
		return start_stream(writer, events, count, attr_size);
	writer->space.reserve = CLOSING_RESERVE + writer->features.bytes.count +
				FILE_FEATURE_BITS * sizeof(struct file_section);
	TRY(start_file(writer, events, count, attr_size));
	int errnum = commit_sync(&writer->commit);
	return errnum ? writer_sync_error(writer, errnum) : NULL;
}

struct sp_error *writer_open(const char *path, const struct sp_event *events, size_t event_count,
			     const struct writer_info *info, struct writer **ret)
{
	CLEANUP(cleanup_writer_free) struct writer *writer = calloc(1, sizeof(*writer));
	NEED(writer);
	writer->output.fd = -1;
	writer->name = strdup(strcmp(path, "-") != 0 ? path : "standard output");
	NEED(writer->name);
	struct sp_error *error = info->in_memory ? output_open_memory(path, &writer->output)
						 : output_open(path, &writer->output);
	writer->space.fd = writer->commit.fd = writer->output.fd;
	if (!error)
		error = start(writer, events, event_count, info);
	if (error)
		return error;
	*ret = take_ptr(writer);
	return NULL;
}

struct sp_error *writer_publish(struct writer *writer)
{
	TRY(output_publish(&writer->output));
	return writer_sync_name(writer);
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	if (writer->output.fd >= 0 && writer->commit.bits_set)
		preallocate_cut(&writer->space, commit_end(&writer->commit));
	output_close(&writer->output);
	file_start_deinit(&writer->commit.start);
	feature_set_deinit(&writer->features);
	vec_deinit(&writer->pending);
	packing_deinit(&writer->packing);
	vec_deinit(&writer->traces);
	free(writer->name);
	free(writer);
}
