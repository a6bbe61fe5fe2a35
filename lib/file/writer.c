/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file, and what makes it valid at each moment:
 *
 *	header   104 bytes; data.size is patched by each commit, the feature bits
 *	         are 0 until the end
 *	ids      u64 of all events
 *	attrs    for each event its perf_event_attr and the section of its ids
 *	data     HEADER_FEATURE records first, so that a file without a table
 *	         says what it is of; then what the recorder writes
 *	table    only from writer_close() on: a section for each feature, payloads
 *
 * Everything is written before what refers to it: the data before its size, the
 * table before its bits; size and bits are one write within one page, which a
 * SIGKILL does not divide. `end` is always behind a whole record.
 *
 * Space for the table is allocated ahead of the data (fallocate, the file's size
 * unchanged), and the data never grows into the last `reserve` bytes of it: a
 * disk that is full stops the data, not the closing.
 *
 * A stream (pipe, terminal, device) is perf's pipe format: a header of 16 bytes,
 * then HEADER_ATTR, HEADER_FEATURE and EVENT_UPDATE records, then the data.
 */
#include "file/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "file/features_write.h"
#include "file/output.h"
#include "record/put.h"

/* Writes up to this size are gathered in `pending`, which holds PENDING_SIZE. */
#define SMALL_SIZE ((size_t)8192)
#define PENDING_SIZE ((size_t)65536)

/* Room kept for the build-ids of the table, beside what is known at the start. */
#define BUILD_ID_RESERVE ((uint64_t)65536)

/* How far ahead space is allocated. */
#define AHEAD_MIN ((uint64_t)1 << 20)
#define AHEAD_MAX ((uint64_t)16 << 20)

#define BATCH 64

/* EVENT_UPDATE's kind of a name. */
#define UPDATE_NAME 2

struct writer {
	struct output output;
	char *name;           /* for messages */
	uint64_t data_offset;
	uint64_t end;         /* of the last whole record that is in the file */
	uint64_t committed;   /* up to where data.size reaches */
	uint64_t allocated;   /* space up to here is ours */
	uint64_t reserve;     /* of that, behind the data */
	bool cannot_allocate; /* the file system has no fallocate */
	int errnum;           /* of the first write that failed; 0: none */
	struct record_buffer pending;
	struct feature_set features;
};

DEFINE_CLEANUP(struct writer *, writer_free)

/* -- Signals ------------------------------------------------------------- */

/*
 * A write that fails with EPIPE or EFBIG also raises a signal at this thread,
 * whose default is death. It is held back and taken out, so that a failed write
 * is an error and nothing else, whatever the program does with its signals.
 */
struct signal_guard {
	sigset_t raised, before, pending;
};

static void signal_guard_begin(struct signal_guard *guard)
{
	sigemptyset(&guard->raised);
	sigaddset(&guard->raised, SIGPIPE);
	sigaddset(&guard->raised, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &guard->raised, &guard->before);
}

static void signal_guard_end(struct signal_guard *guard, int errnum)
{
	int raised = errnum == EPIPE ? SIGPIPE : errnum == EFBIG ? SIGXFSZ : 0;
	const struct timespec at_once = {0};
	sigset_t one;
	if (raised && !sigismember(&guard->before, raised)) {
		sigemptyset(&one);
		sigaddset(&one, raised);
		while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* -- Bytes to the file ----------------------------------------------------- */

static uint64_t spans_size(const struct iovec *spans, int count)
{
	uint64_t size = 0;
	for (int i = 0; i < count; i++)
		size += spans[i].iov_len;
	return size;
}

/*
 * Up to BATCH spans, beginning at byte `skip` and with at most `size` bytes;
 * returns how many.
 */
static int batch_make(const struct iovec *spans, int count, uint64_t skip, uint64_t size,
		      struct iovec *batch)
{
	int used = 0;
	for (int i = 0; i < count && used < BATCH && size; i++) {
		if (skip >= spans[i].iov_len) {
			skip -= spans[i].iov_len;
			continue;
		}
		uint64_t length = spans[i].iov_len - skip;
		if (length > size)
			length = size;
		batch[used++] = (struct iovec){
			.iov_base = (char *)spans[i].iov_base + skip,
			.iov_len = (size_t)length,
		};
		size -= length;
		skip = 0;
	}
	return used;
}

/* Writes the first `size` bytes of the spans behind `end`; 0 or the errno. */
static int put_spans(struct writer *writer, const struct iovec *spans, int count, uint64_t size,
		     uint64_t *done_ret)
{
	struct signal_guard guard;
	uint64_t done = 0;
	int errnum = 0;
	signal_guard_begin(&guard);
	while (done < size && !errnum) {
		struct iovec batch[BATCH];
		int used = batch_make(spans, count, done, size - done, batch);
		ssize_t put = writer->output.stream
				      ? writev(writer->output.fd, batch, used)
				      : pwritev(writer->output.fd, batch, used,
						(off_t)(writer->end + done));
		if (put > 0)
			done += (uint64_t)put;
		else if (put == 0)
			errnum = EIO;
		else if (errno != EINTR)
			errnum = errno;
	}
	signal_guard_end(&guard, errnum);
	*done_ret = done;
	return errnum;
}

/* Copies bytes [from, from + size) of the spans; they must be there. */
static void spans_copy(const struct iovec *spans, int count, uint64_t from, void *to, size_t size)
{
	struct iovec batch[BATCH];
	int used = batch_make(spans, count, from, size, batch);
	for (int i = 0; i < used; i++) {
		memcpy(to, batch[i].iov_base, batch[i].iov_len);
		to = (char *)to + batch[i].iov_len;
	}
}

/* How many of the first `size` bytes of the spans are whole records. */
static uint64_t whole_records(const struct iovec *spans, int count, uint64_t size)
{
	struct perf_event_header header;
	uint64_t whole = 0;
	while (size - whole >= sizeof(header)) {
		spans_copy(spans, count, whole, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - whole)
			break;
		whole += header.size;
	}
	return whole;
}

/* -- Space ----------------------------------------------------------------- */

static uint64_t file_size_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return INT64_MAX;
	return limit.rlim_cur;
}

/* Makes space up to `goal` ours; 0 or the errno. */
static int allocate(struct writer *writer, uint64_t goal)
{
	int errnum = 0;
	if (goal <= writer->allocated)
		return 0;
	while (!writer->cannot_allocate &&
	       fallocate(writer->output.fd, FALLOC_FL_KEEP_SIZE, (off_t)writer->allocated,
			 (off_t)(goal - writer->allocated)) < 0) {
		errnum = errno;
		if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
			return errnum;
		/* All else is no answer: then the writes themselves will tell. */
		if (errnum != EINTR)
			writer->cannot_allocate = true;
	}
	writer->allocated = goal;
	return 0;
}

/*
 * How many of `size` more bytes of data may be written; fewer than `size` only
 * together with an errno.
 */
static uint64_t room_for(struct writer *writer, uint64_t size, int *errnum_ret)
{
	uint64_t need = writer->end + size + writer->reserve;
	uint64_t ahead = writer->end / 4;
	*errnum_ret = 0;
	if (writer->output.stream || need <= writer->allocated)
		return size;
	ahead = ahead < AHEAD_MIN ? AHEAD_MIN : ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
	uint64_t limit = file_size_limit();
	int errnum = limit < need ? EFBIG : 0;
	if (errnum || allocate(writer, need + ahead < limit ? need + ahead : limit) != 0)
		errnum = allocate(writer, need < limit ? need : limit) ?: errnum;
	if (!errnum)
		return size;
	*errnum_ret = errnum;
	uint64_t taken = writer->end + writer->reserve;
	uint64_t room = writer->allocated > taken ? writer->allocated - taken : 0;
	return room < size ? room : size;
}

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

static struct sp_error *failed(const struct writer *writer)
{
	struct sp_error *error;
	if (writer->output.stream)
		error = error_os(writer->errnum, "writing to %s stopped after %" PRIu64 " bytes",
				 writer->name, writer->end);
	else
		error = error_os(writer->errnum,
				 "writing to %s stopped at %" PRIu64 " bytes, which stay readable",
				 writer->name, writer->end);
	return error_set_remedy(error, "%s", remedy_of(writer->errnum));
}

/* -- Data ------------------------------------------------------------------ */

/*
 * Takes back what of a record is in the file. What is behind the data of a file
 * is not read, so it is no error if it cannot be.
 */
static void cut(struct writer *writer, uint64_t surplus)
{
	struct stat st;
	off_t at = (off_t)writer->end;
	if (writer->output.stream) {
		/* Standard output may be a file, and not written from its start. */
		at = lseek(writer->output.fd, 0, SEEK_CUR);
		if (at < 0 || fstat(writer->output.fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		    st.st_size != at)
			return;
		at -= (off_t)surplus;
	}
	if (ftruncate(writer->output.fd, at) == 0 && !writer->output.stream &&
	    writer->allocated > writer->end)
		writer->allocated = writer->end;
}

static struct sp_error *patch_size(struct writer *writer)
{
	uint64_t size = writer->end - writer->data_offset;
	if (writer->output.stream || writer->end == writer->committed)
		return NULL;
	int errnum = io_pwrite(writer->output.fd, &size, sizeof(size),
			       offsetof(struct file_header, data.size));
	if (errnum)
		return error_os(errnum, "cannot write the header of %s", writer->name);
	writer->committed = writer->end;
	return NULL;
}

static struct sp_error *append(struct writer *writer, const struct iovec *spans, int count)
{
	int errnum, no_room;
	uint64_t size = spans_size(spans, count), done;
	uint64_t room = room_for(writer, size, &no_room);
	if (room < size)
		room = whole_records(spans, count, room);
	errnum = put_spans(writer, spans, count, room, &done);
	uint64_t whole = errnum ? whole_records(spans, count, done) : done;
	writer->end += whole;
	writer->errnum = errnum ?: no_room;
	if (whole < done)
		cut(writer, done - whole);
	if (!writer->errnum)
		return NULL;
	sp_error_free(patch_size(writer));
	return failed(writer);
}

static struct sp_error *flush(struct writer *writer)
{
	if (!writer->pending.count)
		return NULL;
	struct iovec span = {writer->pending.items, writer->pending.count};
	writer->pending.count = 0;
	return append(writer, &span, 1);
}

struct sp_error *writer_write(struct writer *writer, const struct iovec *spans, int count)
{
	uint64_t size = spans_size(spans, count);
	assert(size % 8 == 0);
	if (writer->errnum)
		return failed(writer);
	if (size > SMALL_SIZE || writer->pending.count + size > PENDING_SIZE) {
		struct sp_error *error = flush(writer);
		if (error)
			return error;
	}
	if (size > SMALL_SIZE)
		return append(writer, spans, count);
	for (int i = 0; i < count; i++) {
		memcpy(writer->pending.items + writer->pending.count, spans[i].iov_base,
		       spans[i].iov_len);
		writer->pending.count += spans[i].iov_len;
	}
	return NULL;
}

struct sp_error *writer_commit(struct writer *writer)
{
	struct sp_error *error = writer->errnum ? failed(writer) : flush(writer);
	struct sp_error *patch_error = patch_size(writer);
	if (!error)
		return patch_error;
	sp_error_free(patch_error);
	return error;
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->end + writer->pending.count;
}

/* -- Opening --------------------------------------------------------------- */

/* Names for events, in records of their own. */
static struct sp_error *put_names(struct record_buffer *buffer, const struct sp_event *events,
				  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* Without an id only the first event can be meant. */
		if (!events[i].name || (!events[i].id_count && i))
			continue;
		struct sp_record record = {
			.type = SP_RECORD_EVENT_UPDATE,
			.event_update = {
				.kind = UPDATE_NAME,
				.id = events[i].id_count ? events[i].ids[0] : 0,
				.data = {.bytes = (const uint8_t *)events[i].name,
					 .size = strlen(events[i].name) + 1},
			},
		};
		struct sp_error *error = record_encode(buffer, &record, NULL);
		if (error)
			return error;
	}
	return NULL;
}

/* Header (its features 0), ids, attrs and the first records. */
static struct sp_error *put_file_start(struct writer *writer, const struct sp_event *events,
				       size_t count, uint32_t attr_size,
				       struct record_buffer *buffer)
{
	struct put put = {.buffer = buffer};
	uint64_t left_out, ids_offset = sizeof(struct file_header);
	put_zeros(&put, sizeof(struct file_header));
	for (size_t i = 0; i < count; i++)
		put_bytes(&put, events[i].ids, 8 * events[i].id_count);
	uint64_t attrs_offset = buffer->count;
	for (size_t i = 0; i < count; i++) {
		put_attr(&put, &events[i].attr, attr_size);
		put_u64(&put, ids_offset);
		put_u64(&put, 8 * events[i].id_count);
		ids_offset += 8 * events[i].id_count;
	}
	if (put.no_memory)
		return error_no_memory();
	writer->data_offset = buffer->count;
	struct sp_error *error = feature_set_records(&writer->features, buffer, &left_out);
	if (!error && (left_out >> FEATURE_EVENT_DESC & 1))
		error = put_names(buffer, events, count);
	if (error)
		return error;
	struct file_header header = {
		.magic = FILE_MAGIC,
		.size = sizeof(header),
		.attr_size = attr_size + sizeof(struct file_section),
		.attrs = {attrs_offset, writer->data_offset - attrs_offset},
		.data = {writer->data_offset, buffer->count - writer->data_offset},
	};
	memcpy(buffer->items, &header, sizeof(header));
	return NULL;
}

/* As many ids as fit; further ones in further records of the same attr. */
static struct sp_error *put_attr_records(struct record_buffer *buffer,
					 const struct sp_event *event, uint32_t attr_size)
{
	size_t most = (RECORD_SIZE_MAX - sizeof(struct perf_event_header) - attr_size) / 8;
	size_t done = 0;
	do {
		size_t count = event->id_count - done < most ? event->id_count - done : most;
		struct sp_record record = {
			.type = SP_RECORD_HEADER_ATTR,
			.attr = {.attr = event->attr,
				 .ids = event->id_count ? event->ids + done : NULL,
				 .id_count = count},
		};
		record.attr.attr.size = attr_size;
		struct sp_error *error = record_encode(buffer, &record, NULL);
		if (error)
			return error;
		done += count;
	} while (done < event->id_count);
	return NULL;
}

static struct sp_error *put_stream_start(struct writer *writer, const struct sp_event *events,
					 size_t count, uint32_t attr_size,
					 struct record_buffer *buffer)
{
	struct put put = {.buffer = buffer};
	struct sp_error *error = NULL;
	uint64_t left_out;
	put_u64(&put, FILE_MAGIC);
	put_u64(&put, FILE_PIPE_HEADER_SIZE);
	if (put.no_memory)
		return error_no_memory();
	for (size_t i = 0; !error && i < count; i++)
		error = put_attr_records(buffer, &events[i], attr_size);
	if (!error)
		error = feature_set_records(&writer->features, buffer, &left_out);
	return error ?: put_names(buffer, events, count);
}

static struct sp_error *start_failed(struct writer *writer, int errnum)
{
	writer->errnum = errnum;
	return error_set_remedy(error_os(errnum, "cannot write to %s", writer->name), "%s",
				remedy_of(errnum));
}

/* The header goes last: until then this is no perf.data file at all. */
static struct sp_error *write_start(struct writer *writer, const struct record_buffer *start)
{
	struct iovec header = {start->items, sizeof(struct file_header)};
	struct iovec rest = {start->items + header.iov_len, start->count - header.iov_len};
	uint64_t done;
	int errnum;
	if (writer->output.stream) {
		struct iovec all = {start->items, start->count};
		errnum = put_spans(writer, &all, 1, all.iov_len, &done);
	} else {
		writer->end = header.iov_len;
		room_for(writer, rest.iov_len, &errnum);
		if (!errnum)
			errnum = put_spans(writer, &rest, 1, rest.iov_len, &done);
		writer->end = 0;
		if (!errnum)
			errnum = put_spans(writer, &header, 1, header.iov_len, &done);
	}
	if (errnum)
		return start_failed(writer, errnum);
	writer->end = writer->committed = start->count;
	return NULL;
}

static struct sp_error *start(struct writer *writer, const struct sp_event *events, size_t count,
			      const struct writer_info *info)
{
	uint32_t attr_size = 0;
	struct record_buffer buffer = {0};
	for (size_t i = 0; i < count; i++) {
		uint32_t needed = attr_size_needed(&events[i].attr);
		attr_size = needed > attr_size ? needed : attr_size;
	}
	struct sp_error *error =
		feature_set_start(&writer->features, info, events, count, attr_size);
	if (!error && !vec_reserve(&writer->pending, PENDING_SIZE))
		error = error_no_memory();
	writer->reserve = writer->features.bytes.count + BUILD_ID_RESERVE;
	if (!error)
		error = writer->output.stream
				? put_stream_start(writer, events, count, attr_size, &buffer)
				: put_file_start(writer, events, count, attr_size, &buffer);
	if (!error)
		error = write_start(writer, &buffer);
	vec_deinit(&buffer);
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
	if (!error)
		error = start(writer, events, event_count, info);
	if (error)
		return error;
	*ret = take_ptr(writer);
	return NULL;
}

/* -- Closing --------------------------------------------------------------- */

/* Writes the table without the features of `without` behind the data; 0 or the errno. */
static int put_table(struct writer *writer, uint64_t without, uint64_t *size_ret,
		     uint64_t *bits_ret)
{
	struct record_buffer table = {0};
	struct sp_error *error =
		feature_set_table(&writer->features, writer->end, without, &table, bits_ret);
	int errnum = ENOMEM;
	if (!error) {
		struct iovec span = {table.items, table.count};
		errnum = put_spans(writer, &span, 1, table.count, size_ret);
	}
	sp_error_free(error);
	vec_deinit(&table);
	return errnum;
}

/* Size and bits together: whoever sees the bits sees the size they stand behind. */
static int patch_size_and_bits(struct writer *writer, uint64_t bits)
{
	struct file_header header = {
		.data.size = writer->end - writer->data_offset,
		.features = {bits},
	};
	size_t from = offsetof(struct file_header, data.size);
	return io_pwrite(writer->output.fd, (const char *)&header + from, sizeof(header) - from,
			 (off_t)from);
}

/* The table in full; if there is no space for it, without the build-ids; else none. */
static struct sp_error *finish_file(struct writer *writer)
{
	uint64_t size, bits;
	int errnum = put_table(writer, 0, &size, &bits);
	int wanting = errnum;
	if (errnum)
		errnum = put_table(writer, UINT64_C(1) << FEATURE_BUILD_ID, &size, &bits);
	if (!errnum)
		errnum = patch_size_and_bits(writer, bits);
	if (errnum)
		size = 0;
	/* Also gives back what was allocated ahead. */
	if (ftruncate(writer->output.fd, (off_t)(writer->end + size)) < 0 && !wanting)
		wanting = errno;
	if (!wanting)
		return NULL;
	return error_set_remedy(error_os(wanting, "cannot complete the header of %s, whose data is "
					 "whole", writer->name), "%s", remedy_of(wanting));
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

static struct sp_error *finish(struct writer *writer, const struct writer_end *end)
{
	if (writer->output.stream)
		return finish_stream(writer, end);
	struct sp_error *error = feature_set_end(&writer->features, end);
	return error ?: finish_file(writer);
}

struct sp_error *writer_close(struct writer *writer, const struct writer_end *end)
{
	struct sp_error *error = writer_commit(writer);
	struct sp_error *later = NULL;
	if (!error || !writer->output.stream)
		later = finish(writer, end);
	int errnum = output_close(&writer->output);
	if (!error && !later && errnum)
		later = start_failed(writer, errnum);
	writer_free(writer);
	if (!error)
		return later;
	sp_error_free(later);
	return error;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	if (writer->output.fd >= 0 && !writer->output.stream)
		cut(writer, 0); /* gives back what was allocated ahead */
	output_close(&writer->output);
	feature_set_deinit(&writer->features);
	vec_deinit(&writer->pending);
	free(writer->name);
	free(writer);
}
