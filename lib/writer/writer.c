/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file is made as seal.h says, on space that is ours ahead of the data (space.h).
 *
 * A stream (pipe, device, standard output) is perf's pipe format: a header of 16
 * bytes, then HEADER_ATTR, HEADER_FEATURE and EVENT_UPDATE records, then the data.
 *
 * Compressed, what the recorder writes is COMPRESSED records, each round a frame or more of
 * their own: a killed recording can be read up to its last round. The start stays as it is.
 */
#include "writer/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "record/note.h"
#include "writer/output.h"
#include "writer/packing.h"
#include "writer/seal.h"
#include "writer/space.h"
#include "writer/spans.h"
#include "writer/start.h"

/* Writes up to this size are gathered in `pending`, which holds PENDING_SIZE. */
#define SMALL_SIZE ((size_t)8192)
#define PENDING_SIZE ((size_t)65536)

/* Space that closing needs beside features: the note of a full disk, and SAMPLE_TIME. */
#define CLOSING_RESERVE ((uint64_t)512)

/* As the feature has it: where the record begins, and its size without the trace. */
struct auxtrace_place {
	uint64_t offset, size;
};

struct writer {
	struct output output;
	char *name; /* for messages */
	struct feature_set features;
	struct record_buffer pending; /* of PENDING_SIZE bytes */
	struct packing packing;       /* then nothing is pending */
	struct { VEC(struct auxtrace_place); } traces; /* AUXTRACE records that are in the file */
	uint64_t end;         /* of the last whole record that is in the file */
	uint64_t build_id_bytes; /* of the reserve */
	struct seal seal;     /* of a file */
	struct space space;   /* of a file */
	int errnum;           /* of the first write that failed; 0: none */
	uint64_t samples;     /* that were handed over */
	uint64_t unwritten;   /* of these: since the failure, and those that failed */
};

DEFINE_CLEANUP(struct writer *, writer_free)

/* -- Errors ---------------------------------------------------------------- */

static const char *remedy_of(int errnum)
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

/* The error of the write that failed. */
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
	return error_set_remedy(error, "%s", remedy_of(writer->errnum));
}

/* -- Data ------------------------------------------------------------------ */

/* As space_take(); a stream has room for all. */
static uint64_t room_for(struct writer *writer, uint64_t size, int *errnum_ret)
{
	*errnum_ret = 0;
	return writer->output.stream ? size :
				       space_take(&writer->space, writer->end, size, errnum_ret);
}

/* Makes the file valid up to `end`; 0 or the errno. */
static int seal(struct writer *writer)
{
	return writer->output.stream ? 0 : seal_round(&writer->seal, writer->end);
}

/* Takes back `surplus` bytes behind the last whole record. */
static void cut(struct writer *writer, uint64_t surplus)
{
	struct stat st;
	if (!writer->output.stream) {
		space_cut(&writer->space, seal_end(&writer->seal));
		return;
	}
	/* Standard output may be a file, and may not have begun at its start. */
	off_t at = lseek(writer->output.fd, 0, SEEK_CUR);
	if (at >= 0 && fstat(writer->output.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == at)
		space_cut(&writer->space, (uint64_t)at - surplus);
}

/* Writes the first `size` bytes of the spans at `end`; 0 or the errno. */
static int put_data(struct writer *writer, const struct iovec *spans, int count, uint64_t size,
		    uint64_t *done_ret)
{
	uint64_t held = 0, done;
	if (!writer->output.stream)
		held = seal_hold(&writer->seal, writer->end, spans, size);
	int64_t offset = writer->output.stream ? SPANS_APPEND : (int64_t)(writer->end + held);
	int errnum = spans_write(writer->output.fd, offset, spans, count, held, size - held, &done);
	*done_ret = held + done;
	return errnum;
}

/* Counts the samples behind the first `written` bytes. */
static void refuse(struct writer *writer, const struct iovec *spans, int count, uint64_t written)
{
	writer->unwritten += spans_count_records(spans, count, written, PERF_RECORD_SAMPLE);
}

/* What may stay of spans that are not in the file to their end. */
static uint64_t whole_of(const struct iovec *spans, int count, uint64_t size, bool undivided)
{
	return undivided ? 0 : spans_whole_records(spans, count, size);
}

/* As many of the records as fit, or all of them or none; *whole_ret is how many bytes. */
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
	seal_drop(&writer->seal, writer->end);
	/* What of a record is in the file would not be read: no error if it stays. */
	if (seal(writer) == 0 && whole < done)
		cut(writer, done - whole);
	return failed(writer);
}

static struct sp_error *append(struct writer *writer, const struct iovec *spans, int count)
{
	uint64_t whole;
	struct sp_error *error = append_some(writer, spans, count, false, &whole);
	if (error)
		refuse(writer, spans, count, whole);
	return error;
}

/* What is gathered goes out compressed until less than `most` bytes are left of it. */
static struct sp_error *pack(struct writer *writer, size_t most)
{
	struct packing *packing = &writer->packing;
	struct sp_error *error = NULL;
	while (!error && packing->raw.count >= most && packing->raw.count) {
		uint64_t samples, whole;
		error = packing_next(packing, &samples);
		struct iovec span = {packing->packed.items, packing->packed.count};
		if (!error)
			error = append_some(writer, &span, 1, true, &whole);
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
	return append(writer, &span, 1);
}

/* Into `pending`, where there is room for it. */
static void gather(struct writer *writer, const struct iovec *spans, int count)
{
	for (int i = 0; i < count; i++) {
		if (!spans[i].iov_len)
			continue;
		memcpy(writer->pending.items + writer->pending.count, spans[i].iov_base,
		       spans[i].iov_len);
		writer->pending.count += spans[i].iov_len;
	}
}

struct sp_error *writer_write(struct writer *writer, const struct iovec *spans, int count)
{
	uint64_t size = spans_size(spans, count), gathered = writer->pending.count + size;
	struct sp_error *error = NULL;
	int no_room;
	writer->samples += spans_count_records(spans, count, 0, PERF_RECORD_SAMPLE);
	if (writer->packing.deflater && !writer->errnum) {
		error = packing_add(&writer->packing, spans, count);
		return error ?: pack(writer, DEFLATE_SIZE);
	}
	/* What is gathered has its space already: it is not lost to a full disk. */
	bool small = !writer->errnum && size <= SMALL_SIZE &&
		     room_for(writer, gathered, &no_room) == gathered;
	if (!writer->errnum && (!small || gathered > PENDING_SIZE))
		error = flush(writer);
	if (writer->errnum) {
		refuse(writer, spans, count, 0);
		return error ?: failed(writer);
	}
	if (!small)
		return append(writer, spans, count);
	gather(writer, spans, count);
	return NULL;
}

struct sp_error *writer_write_auxtrace(struct writer *writer, const struct iovec *spans,
				       int count)
{
	struct perf_event_header header;
	uint64_t whole;
	struct sp_error *error = writer->errnum ? failed(writer) : flush(writer);
	if (error)
		return error;
	if (!vec_reserve(&writer->traces, writer->traces.count + 1))
		return error_no_memory();
	spans_copy(spans, &header, sizeof(header));
	uint64_t offset = writer->end;
	error = append_some(writer, spans, count, true, &whole);
	if (error)
		return error;
	*vec_push(&writer->traces) = (struct auxtrace_place){offset, header.size};
	writer->space.reserve += sizeof(struct auxtrace_place);
	return NULL;
}

static struct sp_error *not_durable(const struct writer *writer, int errnum)
{
	return error_set_remedy(error_os(errnum, "cannot sync %s to disk", writer->name), "%s",
				remedy_of(errnum));
}

struct sp_error *writer_commit(struct writer *writer)
{
	struct sp_error *error = writer->errnum ? NULL : flush(writer);
	int errnum = error ? 0 : seal(writer);
	/* What could not be committed now may be by the next round, or at the end. */
	if (errnum && !writer->errnum && writer->seal.durability)
		error = not_durable(writer, errnum);
	else if (errnum && !writer->errnum)
		error = error_set_remedy(error_os(errnum, "cannot write the header of %s",
						  writer->name), "%s", remedy_of(errnum));
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
	struct file_start *start = &writer->seal.start;
	struct sp_error *error = file_start_make(start, events, count, attr_size,
						 &writer->features);
	if (error)
		return error;
	(void)room_for(writer, start->bytes.count, &writer->errnum);
	if (!writer->errnum)
		writer->errnum = seal_begin(&writer->seal);
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
		writer->errnum = spans_write(writer->output.fd, SPANS_APPEND, &span, 1, 0,
					     bytes.count, &writer->end);
		error = writer->errnum ? failed(writer) : NULL;
	}
	vec_deinit(&bytes);
	return error;
}

/* The name that the file has now. */
static struct sp_error *sync_name(const struct writer *writer)
{
	if (writer->output.stream)
		return NULL;
	int errnum = durable_name(writer->seal.durability, writer->output.path);
	return errnum ? not_durable(writer, errnum) : NULL;
}

static struct sp_error *start(struct writer *writer, const struct sp_event *events, size_t count,
			      const struct writer_info *info)
{
	uint32_t attr_size = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t needed = attr_size_needed(&events[i].attr, &events[i].tail);
		attr_size = needed > attr_size ? needed : attr_size;
	}
	struct sp_error *error =
		feature_set_start(&writer->features, info, events, count, attr_size);
	if (error)
		return error;
	if (!vec_reserve(&writer->pending, PENDING_SIZE))
		return error_no_memory();
	error = packing_init(&writer->packing, info->compression_level);
	if (error)
		return error;
	writer->seal.durability = info->durability;
	if (writer->output.stream && info->durability)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot sync %s: it is not a regular "
						  "file", writer->name), "use -o FILE");
	if (writer->output.stream)
		return start_stream(writer, events, count, attr_size);
	writer->space.reserve = CLOSING_RESERVE + writer->features.bytes.count +
				FILE_FEATURE_BITS * sizeof(struct file_section);
	error = start_file(writer, events, count, attr_size);
	if (error)
		return error;
	int errnum = seal_sync(&writer->seal);
	return errnum ? not_durable(writer, errnum) : NULL;
}

struct sp_error *writer_open(struct sp_ctx *ctx, const char *path, const struct sp_event *events,
			     size_t event_count, const struct writer_info *info,
			     struct writer **ret)
{
	(void)ctx;
	CLEANUP(cleanup_writer_free) struct writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return error_no_memory();
	writer->output.fd = -1;
	writer->name = strdup(strcmp(path, "-") != 0 ? path : "standard output");
	if (!writer->name)
		return error_no_memory();
	struct sp_error *error = output_open(path, &writer->output);
	writer->space.fd = writer->seal.fd = writer->output.fd;
	if (!error)
		error = start(writer, events, event_count, info);
	if (error)
		return error;
	*ret = take_ptr(writer);
	return NULL;
}

/* -- Closing --------------------------------------------------------------- */

/*
 * The table in full; if that cannot be, the one of the rounds, which lacks the
 * build-ids (MMAP2 records have them too) and the time span.
 */
static struct sp_error *finish_file(struct writer *writer)
{
	uint64_t file_end;
	int errnum = seal_last(&writer->seal, writer->end, &writer->features, &file_end);
	int cut_errnum = space_cut(&writer->space, file_end) ?: seal_sync(&writer->seal);
	if (!errnum)
		errnum = cut_errnum;
	if (!errnum)
		return NULL;
	return error_set_remedy(error_os(errnum, "cannot write the build-ids of %s; its "
					 "data is complete", writer->name),
				"%s", remedy_of(errnum));
}

/* What a file has in its table at the end, as records. */
static struct sp_error *finish_stream(struct writer *writer, const struct writer_end *end)
{
	struct record_buffer buffer = {0};
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < end->build_id_count; i++)
		error = feature_build_id_record(&end->build_ids[i], &buffer);
	if (!error && buffer.count) {
		struct iovec span = {buffer.items, buffer.count};
		error = append(writer, &span, 1);
	}
	vec_deinit(&buffer);
	return error;
}

/* Everything went well, into a file that no one will find. */
static struct sp_error *check_present(const struct writer *writer)
{
	struct stat st;
	if (writer->output.stream || fstat(writer->output.fd, &st) < 0 || st.st_nlink > 0)
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_NOT_FOUND,
					  "%s was removed during recording", writer->name),
				"record again to another directory (-o FILE)");
}

/* Notes why writing stopped and how many samples are missing, in the space reserved for closing. */
static struct sp_error *note_stop(struct writer *writer, uint64_t taken)
{
	struct record_buffer note = {0};
	int errnum = writer->errnum;
	uint64_t missing = taken > writer->samples ? taken - writer_samples(writer) :
						     writer->unwritten;
	const struct sp_note failed = {.kind = NOTE_WRITE_FAILED, .value_count = 2,
				       .values = {(uint64_t)errnum, missing}};
	struct sp_error *error = record_encode_note(&note, &failed);
	if (!error && writer->space.reserve > note.count) {
		struct iovec span = {note.items, note.count};
		writer->space.reserve -= note.count;
		sp_error_free(append(writer, &span, 1));
		writer->errnum = errnum;
	}
	vec_deinit(&note);
	return error;
}

/* The first build-ids for which space is reserved; how many. */
static size_t build_ids_fitting(const struct writer *writer, const struct writer_end *end)
{
	uint64_t bytes = 0;
	size_t count = 0;
	for (; count < end->build_id_count; count++) {
		bytes += feature_build_id_bytes(end->build_ids[count].filename);
		if (bytes > writer->build_id_bytes)
			break;
	}
	return count;
}

static struct sp_error *finish(struct writer *writer, const struct writer_end *end)
{
	struct writer_end fitting = *end;
	if (writer->output.stream)
		return writer->errnum ? NULL : finish_stream(writer, end);
	if (writer->errnum == ENOSPC || writer->errnum == EDQUOT || writer->errnum == EFBIG) {
		struct sp_error *note_error = note_stop(writer, end->samples);
		if (note_error)
			return note_error;
		fitting.build_id_count = build_ids_fitting(writer, end);
	}
	struct sp_error *error = feature_set_end(&writer->features, &fitting);
	if (!error && writer->traces.count)
		error = feature_set_auxtrace(&writer->features, writer->traces.items,
					     writer->traces.count);
	if (writer->packing.deflater)
		feature_set_ratio(&writer->features, packing_ratio(&writer->packing));
	return error_first(error, finish_file(writer));
}

struct sp_error *writer_publish(struct writer *writer)
{
	struct sp_error *error = output_publish(&writer->output);
	return error ?: sync_name(writer);
}

/* A place that is no name has none: `when` is NULL. */
static struct sp_error *close_as(struct writer *writer, const struct writer_end *end,
				 const struct timespec *when, char **name_ret)
{
	struct sp_error *error = writer_commit(writer);
	struct sp_error *later = finish(writer, end);
	struct sp_error *publish_error = output_publish(&writer->output);
	bool published = !publish_error;
	later = error_first(later, publish_error);
	if (when && published)
		later = error_first(later, output_date(&writer->output, *when, name_ret));
	else if (!error && !later)
		later = check_present(writer);
	if (published)
		later = error_first(later, sync_name(writer));
	int errnum = output_close(&writer->output);
	if (!error && !later && errnum)
		later = error_set_remedy(error_os(errnum, "cannot close %s", writer->name), "%s",
					 remedy_of(errnum));
	writer_free(writer);
	return error_first(error, later);
}

struct sp_error *writer_close(struct writer *writer, const struct writer_end *end)
{
	return close_as(writer, end, NULL, NULL);
}

struct sp_error *writer_close_dated(struct writer *writer, const struct writer_end *end,
				    struct timespec when, char **name_ret)
{
	*name_ret = NULL;
	return close_as(writer, end, &when, name_ret);
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	if (writer->output.fd >= 0 && writer->seal.bits_set)
		space_cut(&writer->space, seal_end(&writer->seal));
	output_close(&writer->output);
	file_start_deinit(&writer->seal.start);
	feature_set_deinit(&writer->features);
	vec_deinit(&writer->pending);
	packing_deinit(&writer->packing);
	vec_deinit(&writer->traces);
	free(writer->name);
	free(writer);
}
