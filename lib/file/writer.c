/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file, and what makes it valid at each moment:
 *
 *	header    104 bytes
 *	ids       u64 of all events
 *	attrs     for each event its perf_event_attr and the section of its ids
 *	payloads  of the features that are known at the start
 *	data      HEADER_FEATURE records first (a file without a table still says
 *	          what it is of), then what the recorder writes
 *	table     for each bit in the header a section; readers look for it behind
 *	          the data. While recording it points at the payloads above; at the
 *	          end there is one with all payloads behind it, as perf writes it.
 *
 * The data grows over the table. What would go over it is held back, so that a
 * round goes: the rest of the data, and a table behind it; bits cleared; what was
 * held back; data.size and bits, in one write within one page, which a SIGKILL
 * does not divide. Killed anywhere, the file has the size of a round and its
 * table; killed in the few microseconds between the last steps, only no table.
 * `end` is always behind a whole record.
 *
 * Space for the last table is ours ahead of the data (space.h).
 *
 * A stream (pipe, device, standard output) is perf's pipe format: a header of 16
 * bytes, then HEADER_ATTR, HEADER_FEATURE and EVENT_UPDATE records, then the data.
 *
 * Compressed, what the recorder writes is COMPRESSED records, each round a frame or more of
 * their own: a killed recording can be read up to its last round. The start stays as it is.
 */
#include "file/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "file/output.h"
#include "file/packing.h"
#include "file/space.h"
#include "file/spans.h"
#include "file/start.h"

/* Writes up to this size are gathered in `pending`, which holds PENDING_SIZE. */
#define SMALL_SIZE ((size_t)8192)
#define PENDING_SIZE ((size_t)65536)

/* Room kept for the build-ids of the table, beside what is known at the start. */
#define BUILD_ID_RESERVE ((uint64_t)65536)

/* As the feature has it: where the record begins, and its size without the trace. */
struct auxtrace_place {
	uint64_t offset, size;
};

struct writer {
	struct output output;
	char *name; /* for messages */
	struct feature_set features;
	struct file_start start;      /* its bytes only until they are written */
	struct record_buffer pending; /* of PENDING_SIZE bytes */
	struct packing packing;       /* then nothing is pending */
	struct { VEC(struct auxtrace_place); } traces; /* AUXTRACE records that are in the file */
	uint64_t end;         /* of the last whole record that is in the file */
	uint64_t committed;   /* up to where data.size reaches */
	bool bits_set;        /* the header's, of a table at `committed` */
	uint64_t held_size;   /* of the data from there on, which is not in the file */
	uint8_t held[FILE_FEATURE_BITS * sizeof(struct file_section)];
	struct space space;   /* of a file */
	int errnum;           /* of the first write that failed; 0: none */
	uint64_t unwritten;   /* samples since then, and those that failed */
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
				 "writing to %s stopped at %" PRIu64 " bytes, which stay readable",
				 writer->name, writer->end);
	return error_set_remedy(error, "%s", remedy_of(writer->errnum));
}

/* -- The header's changing part -------------------------------------------- */

static int put_bytes_at(struct writer *writer, uint64_t offset, const void *bytes, size_t size)
{
	uint64_t done;
	struct iovec span = {(void *)(uintptr_t)bytes, size};
	return spans_write(writer->output.fd, (int64_t)offset, &span, 1, 0, size, &done);
}

/* Before the table is overwritten; 0 or the errno. */
static int clear_bits(struct writer *writer)
{
	const uint64_t none[4] = {0};
	if (!writer->bits_set)
		return 0;
	int errnum = put_bytes_at(writer, offsetof(struct file_header, features), none,
				  sizeof(none));
	writer->bits_set = errnum != 0;
	return errnum;
}

/* Size and bits together: whoever sees the bits sees the size they stand behind. */
static int patch_header(struct writer *writer, const struct feature_bits *bits)
{
	struct file_header header = {
		.data.size = writer->end - writer->start.data_offset,
	};
	if (bits)
		memcpy(header.features, bits->words, sizeof(header.features));
	size_t from = offsetof(struct file_header, data.size);
	int errnum = put_bytes_at(writer, from, (const char *)&header + from,
				  sizeof(header) - from);
	if (!errnum) {
		writer->committed = writer->end;
		writer->bits_set = bits != NULL;
	}
	return errnum;
}

static int put_held(struct writer *writer)
{
	int errnum = put_bytes_at(writer, writer->committed, writer->held, writer->held_size);
	if (!errnum)
		writer->held_size = 0;
	return errnum;
}

/* Makes the file valid up to `end`, with the table of what is known; 0 or the errno. */
static int seal(struct writer *writer)
{
	if (writer->output.stream || (writer->committed == writer->end && writer->bits_set))
		return 0;
	const struct record_buffer *table = &writer->start.table;
	bool apart = writer->end - writer->committed >= table->count;
	/* The records at the start say the same: without a table nothing is lost. */
	bool has_table = apart && !put_bytes_at(writer, writer->end, table->items, table->count);
	int errnum = clear_bits(writer);
	if (!errnum)
		errnum = put_held(writer);
	if (errnum)
		return errnum;
	if (!apart)
		has_table = !put_bytes_at(writer, writer->end, table->items, table->count);
	return patch_header(writer, has_table ? &writer->start.bits : NULL);
}

/* -- Data ------------------------------------------------------------------ */

/* Where the file ends, but for what was written since it was sealed. */
static uint64_t sealed_end(const struct writer *writer)
{
	return writer->committed + (writer->bits_set ? writer->start.table.count : 0);
}

/* As space_take(); a stream has room for all. */
static uint64_t room_for(struct writer *writer, uint64_t size, int *errnum_ret)
{
	*errnum_ret = 0;
	return writer->output.stream ? size :
				       space_take(&writer->space, writer->end, size, errnum_ret);
}

/* Takes back `surplus` bytes behind the last whole record. */
static void cut(struct writer *writer, uint64_t surplus)
{
	struct stat st;
	if (!writer->output.stream) {
		space_cut(&writer->space, sealed_end(writer));
		return;
	}
	/* Standard output may be a file, and may not have begun at its start. */
	off_t at = lseek(writer->output.fd, 0, SEEK_CUR);
	if (at >= 0 && fstat(writer->output.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == at)
		space_cut(&writer->space, (uint64_t)at - surplus);
}

/* Of `size` bytes to be written at `end`, those that the table is in the way of. */
static uint64_t hold(struct writer *writer, const struct iovec *spans, uint64_t size)
{
	uint64_t at = writer->end - writer->committed;
	if (!writer->bits_set || at >= writer->start.table.count)
		return 0;
	uint64_t held = writer->start.table.count - at;
	if (held > size)
		held = size;
	spans_copy(spans, writer->held + at, held);
	writer->held_size = at + held;
	return held;
}

/* Writes the first `size` bytes of the spans at `end`; 0 or the errno. */
static int put_data(struct writer *writer, const struct iovec *spans, int count, uint64_t size,
		    uint64_t *done_ret)
{
	uint64_t held = writer->output.stream ? 0 : hold(writer, spans, size), done;
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
	if (writer->held_size > writer->end - writer->committed)
		writer->held_size = writer->end - writer->committed;
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

struct sp_error *writer_commit(struct writer *writer)
{
	struct sp_error *error = writer->errnum ? NULL : flush(writer);
	int errnum = error ? 0 : seal(writer);
	/* What could not be committed now may be by the next round, or at the end. */
	if (errnum && !writer->errnum)
		error = error_os(errnum, "cannot write the header of %s", writer->name);
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

uint64_t writer_unwritten_samples(const struct writer *writer)
{
	return writer->unwritten;
}

/* -- Opening --------------------------------------------------------------- */

/* The header goes last: until then this is no perf.data file at all. */
static struct sp_error *write_file_start(struct writer *writer)
{
	const struct record_buffer *bytes = &writer->start.bytes;
	const struct record_buffer *table = &writer->start.table;
	size_t header = sizeof(struct file_header);
	(void)room_for(writer, bytes->count, &writer->errnum);
	if (!writer->errnum)
		writer->errnum = put_bytes_at(writer, header, bytes->items + header,
					      bytes->count - header);
	if (!writer->errnum)
		writer->errnum = put_bytes_at(writer, bytes->count, table->items, table->count);
	if (!writer->errnum)
		writer->errnum = put_bytes_at(writer, 0, bytes->items, header);
	if (writer->errnum)
		return failed(writer);
	writer->end = writer->committed = bytes->count;
	writer->bits_set = true;
	return NULL;
}

static struct sp_error *start_file(struct writer *writer, const struct sp_event *events,
				   size_t count, uint32_t attr_size)
{
	struct sp_error *error = file_start_make(&writer->start, events, count, attr_size,
						 &writer->features);
	if (!error)
		error = write_file_start(writer);
	vec_deinit(&writer->start.bytes);
	return error;
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
	if (writer->output.stream)
		return start_stream(writer, events, count, attr_size);
	writer->space.reserve = BUILD_ID_RESERVE + writer->features.bytes.count +
				FILE_FEATURE_BITS * sizeof(struct file_section);
	error = start_file(writer, events, count, attr_size);
	return error ?: output_publish(&writer->output);
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
	writer->space.fd = writer->output.fd;
	if (!error)
		error = start(writer, events, event_count, info);
	if (error)
		return error;
	*ret = take_ptr(writer);
	return NULL;
}

/* -- Closing --------------------------------------------------------------- */

/* The sections of a table at `end` with all payloads behind it. */
static struct sp_error *make_last_table(const struct writer *writer,
					struct record_buffer *sections,
					struct feature_bits *bits_ret)
{
	/* Their number gives their size, which says where the payloads will be. */
	struct sp_error *error = feature_set_sections(&writer->features, 0, sections, bits_ret);
	if (error)
		return error;
	uint64_t payloads = writer->end + sections->count;
	sections->count = 0;
	return feature_set_sections(&writer->features, payloads, sections, bits_ret);
}

/* Writes it, and says where the file ends then; 0 or the errno. */
static int put_last_table(struct writer *writer, uint64_t *file_end_ret)
{
	const struct record_buffer *payloads = &writer->features.bytes;
	struct record_buffer sections = {0};
	struct feature_bits bits;
	struct sp_error *error = make_last_table(writer, &sections, &bits);
	int errnum = error ? ENOMEM : 0;
	if (!errnum)
		errnum = put_bytes_at(writer, writer->end + sections.count, payloads->items,
				      payloads->count);
	if (!errnum)
		errnum = clear_bits(writer);
	if (!errnum)
		errnum = put_bytes_at(writer, writer->end, sections.items, sections.count);
	if (!errnum)
		errnum = patch_header(writer, &bits);
	*file_end_ret = writer->end + sections.count + payloads->count;
	vec_deinit(&sections);
	sp_error_free(error);
	return errnum;
}

/*
 * The table in full; if that cannot be, the one of the rounds, which lacks the
 * build-ids (MMAP2 records have them too) and the time span.
 */
static struct sp_error *finish_file(struct writer *writer)
{
	uint64_t file_end;
	int errnum = seal(writer);
	if (!errnum)
		errnum = put_last_table(writer, &file_end);
	if (errnum) {
		seal(writer);
		file_end = sealed_end(writer);
	}
	int cut_errnum = space_cut(&writer->space, file_end);
	if (!errnum)
		errnum = cut_errnum;
	if (!errnum)
		return NULL;
	return error_set_remedy(error_os(errnum, "the data of %s is whole, but its list of "
					 "build-ids cannot be written", writer->name),
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
					  "%s was removed while it was written", writer->name),
				"record again, to a place that nothing cleans up (-o)");
}

static struct sp_error *finish(struct writer *writer, const struct writer_end *end)
{
	if (writer->output.stream)
		return writer->errnum ? NULL : finish_stream(writer, end);
	struct sp_error *error = feature_set_end(&writer->features, end);
	if (!error && writer->traces.count)
		error = feature_set_auxtrace(&writer->features, writer->traces.items,
					     writer->traces.count);
	if (writer->packing.deflater)
		feature_set_ratio(&writer->features, packing_ratio(&writer->packing));
	return error_first(error, finish_file(writer));
}

struct sp_error *writer_keep(struct writer *writer)
{
	return output_keep(&writer->output);
}

/* A place that is no name has none: `when` is NULL. */
static struct sp_error *close_as(struct writer *writer, const struct writer_end *end,
				 const struct timespec *when, char **name_ret)
{
	struct sp_error *error = writer_commit(writer);
	struct sp_error *later = finish(writer, end);
	struct sp_error *keep_error = output_keep(&writer->output);
	if (!later)
		later = take_ptr(keep_error);
	sp_error_free(keep_error);
	if (when)
		later = error_first(later, output_date(&writer->output, *when, name_ret));
	else if (!error && !later)
		later = check_present(writer);
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
	if (writer->output.fd >= 0 && writer->bits_set)
		space_cut(&writer->space, sealed_end(writer));
	output_close(&writer->output);
	file_start_deinit(&writer->start);
	feature_set_deinit(&writer->features);
	vec_deinit(&writer->pending);
	packing_deinit(&writer->packing);
	vec_deinit(&writer->traces);
	free(writer->name);
	free(writer);
}
