/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The write queue before the file: its output, its losses, and its waits. */
#include "capture/output/write_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io.h"
#include "base/vec.h"
#include "file/file_format.h"
#include "files.h"
#include "recording.h"

#define MEMORY ((size_t)1 << 20)
#define ID_AT 8 /* PERF_SAMPLE_IDENTIFIER comes first */
#define CPU_AT 40

/* Contents of a recording, by its bytes. */
struct found {
	size_t samples, comms, bytes;
	uint64_t last_ns;
};

static void see_records(const uint8_t *bytes, size_t size, struct found *found)
{
	struct perf_event_header header;
	size_t at = 0;
	for (; at + sizeof(header) <= size; at += header.size) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			ck_abort_msg("a record of size %u at %zu", header.size, at);
		found->comms += header.type == PERF_RECORD_COMM;
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		uint64_t time_ns;
		memcpy(&time_ns, bytes + at + 32, sizeof(time_ns));
		if (time_ns <= found->last_ns)
			ck_abort_msg("sample %zu is out of order", found->samples);
		found->last_ns = time_ns;
		found->samples++;
	}
	ck_assert_uint_eq(at, size);
}

static struct found found_in_file(const char *path)
{
	struct found found = {0};
	struct file_header header;
	char *bytes;
	size_t size;
	ck_assert_int_eq(io_read_file(path, &bytes, &size), 0);
	memcpy(&header, bytes, sizeof(header));
	ck_assert_uint_le(header.data.offset + header.data.size, size);
	see_records((uint8_t *)bytes + header.data.offset, header.data.size, &found);
	found.bytes = size;
	free(bytes);
	return found;
}

/* A pipe with a slow reader. */
struct reader {
	const char *path;
	int fd;
	pthread_t thread;
	const uint64_t *progress; /* atomic; reads only once it stands still, unless NULL */
	struct { VEC(uint8_t); } bytes;
};

static void *read_all(void *arg)
{
	struct reader *reader = arg;
	uint64_t seen = UINT64_MAX;
	for (int still = 0; reader->progress && still < 10; usleep(20000)) {
		uint64_t now = __atomic_load_n(reader->progress, __ATOMIC_RELAXED);
		still = now == seen ? still + 1 : 0;
		seen = now;
	}
	fcntl(reader->fd, F_SETFL, 0);
	for (;;) {
		if (!vec_reserve(&reader->bytes, reader->bytes.count + 65536))
			return NULL;
		ssize_t size = read(reader->fd, reader->bytes.items + reader->bytes.count, 65536);
		if (size <= 0)
			return NULL;
		reader->bytes.count += (size_t)size;
	}
}

static struct writer *open_pipe(struct reader *reader)
{
	*reader = (struct reader){.path = files_path("fifo")};
	ck_assert_int_eq(mkfifo(reader->path, 0600), 0);
	reader->fd = open(reader->path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(reader->fd, 0);
	return recording_open(reader->path);
}

static void begin_reading(struct reader *reader, const uint64_t *progress)
{
	reader->progress = progress;
	ck_assert_int_eq(pthread_create(&reader->thread, NULL, read_all, reader), 0);
}

static struct found end_reading(struct reader *reader)
{
	struct found found = {0};
	pthread_join(reader->thread, NULL);
	close(reader->fd);
	ck_assert_uint_gt(reader->bytes.count, sizeof(struct perf_event_header) * 2);
	see_records(reader->bytes.items + 16, reader->bytes.count - 16, &found);
	vec_deinit(&reader->bytes);
	return found;
}

static struct write_queue *write_queue_or_fail(struct writer *writer)
{
	const struct write_queue_options options = {.memory_bytes = MEMORY, .sample_id_at = ID_AT,
						    .sample_cpu_at = CPU_AT};
	struct write_queue *write_queue;
	ok_or_fail(write_queue_new(&options, &write_queue));
	write_queue_begin(write_queue, writer);
	return write_queue;
}

static struct sp_error *hand_over(struct write_queue *write_queue, struct record_buffer *buffer)
{
	/* In two pieces; the first ends within a record. */
	size_t first = buffer->count / 2 / 8 * 8;
	struct iovec spans[] = {{buffer->items, first},
				{buffer->items + first, buffer->count - first}};
	buffer->count = 0;
	return write_queue_write(write_queue, spans, 2);
}

static void put_comm(struct record_buffer *buffer)
{
	const struct sp_record record = {.type = PERF_RECORD_COMM, .id = {.id = 21},
					 .comm = {RECORDING_PID, RECORDING_PID, "prog"}};
	ok_quietly(record_encode(buffer, &record, &recording_events[1].attr));
}

TEST(all_comes_out_in_order)
{
	const char *path = files_path("data");
	struct writer *writer = recording_open(path);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	uint64_t time_ns = 0;
	size_t comms = 0;
	for (size_t round = 0; round < 400; round++) {
		for (size_t i = 0; i < 1 + round * 7 % 300; i++)
			recording_put_sample(&buffer, RECORDING_START, ++time_ns);
		put_comm(&buffer);
		comms++;
		ok_quietly(hand_over(write_queue, &buffer));
		if (round % 5 == 0)
			ok_quietly(write_queue_commit(write_queue));
	}
	ok_or_fail(write_queue_end(write_queue));
	struct write_queue_counts counts = write_queue_counts(write_queue);
	ck_assert_uint_eq(counts.file_bytes, writer_size(writer));
	ck_assert_uint_eq(counts.unwritten, 0);
	write_queue_free(write_queue);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	struct found found = found_in_file(path);
	ck_assert_uint_eq(found.samples + counts.dropped, time_ns);
	ck_assert_uint_eq(found.comms, comms);
	vec_deinit(&buffer);
}

TEST(committed_data_is_in_an_unfinished_file)
{
	const char *path = files_path("data");
	struct writer *writer = recording_open(path);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	for (uint64_t i = 1; i <= 100; i++)
		recording_put_sample(&buffer, RECORDING_START, i);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_commit(write_queue));
	for (int i = 0; i < 1000 && found_in_file(path).samples < 100; i++)
		usleep(10000);
	ck_assert_uint_eq(found_in_file(path).samples, 100);
	recording_put_sample(&buffer, RECORDING_START, 101);
	ok_or_fail(hand_over(write_queue, &buffer));
	write_queue_free(write_queue);
	writer_free(writer);
	ck_assert_uint_eq(found_in_file(path).samples, 100);
	vec_deinit(&buffer);
}

TEST(a_reader_that_stands_still_costs_samples_alone)
{
	struct reader reader;
	struct writer *writer = open_pipe(&reader);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	struct write_queue_dropped dropped;
	uint64_t time_ns = 0;
	size_t comms = 0;
	/* Without a reader, a wait would never end. */
	while (time_ns < 3 * MEMORY / RECORDING_SAMPLE_SIZE) {
		for (size_t i = 0; i < 100; i++)
			recording_put_sample(&buffer, RECORDING_START, ++time_ns);
		put_comm(&buffer);
		comms++;
		ok_quietly(hand_over(write_queue, &buffer));
		if (comms % 10 == 0)
			ok_quietly(write_queue_commit(write_queue));
	}
	struct write_queue_counts counts = write_queue_counts(write_queue);
	ck_assert_uint_gt(counts.dropped, 1000);
	ck_assert_uint_eq(counts.waits, 0);
	/* Neither more nor much less is left out than has no room. */
	uint64_t kept = (time_ns - counts.dropped) * RECORDING_SAMPLE_SIZE;
	ck_assert_uint_le(kept, MEMORY + (256 << 10));
	ck_assert_uint_ge(kept, MEMORY / 2);
	ck_assert(!write_queue_next_dropped(write_queue, false, &dropped));

	begin_reading(&reader, NULL);
	for (int i = 0; i < 1000 && !write_queue_next_dropped(write_queue, false, &dropped); i++)
		usleep(10000);
	ck_assert_uint_eq(dropped.id, 11);
	ck_assert_uint_eq(dropped.cpu, 1);
	ck_assert_uint_eq(dropped.samples, counts.dropped);
	ck_assert(!write_queue_next_dropped(write_queue, true, &dropped));
	/* There is room again. */
	recording_put_sample(&buffer, RECORDING_START, ++time_ns);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_end(write_queue));
	ck_assert_uint_eq(write_queue_counts(write_queue).dropped, counts.dropped);
	write_queue_free(write_queue);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	struct found found = end_reading(&reader);
	ck_assert_uint_eq(found.comms, comms);
	ck_assert_uint_eq(found.samples, time_ns - counts.dropped);
	ck_assert_uint_eq(found.last_ns, time_ns);
	vec_deinit(&buffer);
}

TEST(records_other_than_samples_wait_for_space)
{
	struct reader reader;
	struct writer *writer = open_pipe(&reader);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	size_t comms = 0;
	uint64_t bytes = 0;
	begin_reading(&reader, &bytes);
	while (bytes < 4 * MEMORY) {
		for (size_t i = 0; i < 200; i++, comms++)
			put_comm(&buffer);
		__atomic_add_fetch(&bytes, buffer.count, __ATOMIC_RELAXED);
		ok_quietly(hand_over(write_queue, &buffer));
	}
	ok_or_fail(write_queue_end(write_queue));
	ck_assert_uint_gt(write_queue_counts(write_queue).waits, 0);
	ck_assert_uint_eq(write_queue_counts(write_queue).dropped, 0);
	write_queue_free(write_queue);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ck_assert_uint_eq(end_reading(&reader).comms, comms);
	vec_deinit(&buffer);
}

TEST(more_than_a_chunk_at_once)
{
	const char *path = files_path("data");
	struct writer *writer = recording_open(path);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	uint64_t time_ns = 0;
	while (buffer.count < MEMORY * 9 / 10)
		recording_put_sample(&buffer, RECORDING_START, ++time_ns);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_end(write_queue));
	ck_assert_uint_eq(write_queue_counts(write_queue).dropped, 0);
	write_queue_free(write_queue);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ck_assert_uint_eq(found_in_file(path).samples, time_ns);
	vec_deinit(&buffer);
}

TEST(a_failure_is_an_error_of_a_later_call)
{
	struct reader reader;
	struct writer *writer = open_pipe(&reader);
	struct write_queue *write_queue = write_queue_or_fail(writer);
	struct record_buffer buffer = {0};
	struct sp_error *error = NULL;
	close(reader.fd);
	uint64_t time_ns = 0;
	for (int i = 0; i < 1000 && !error; i++) {
		recording_put_sample(&buffer, RECORDING_START, ++time_ns);
		error = hand_over(write_queue, &buffer);
		if (!error)
			error = write_queue_commit(write_queue);
		usleep(1000);
	}
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	sp_error_free(error);
	/* Each later call fails, too, at the latest the end. */
	recording_put_sample(&buffer, RECORDING_START, ++time_ns);
	sp_error_free(hand_over(write_queue, &buffer));
	error = write_queue_end(write_queue);
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	sp_error_free(error);
	ck_assert_uint_eq(write_queue_counts(write_queue).unwritten, time_ns);
	write_queue_free(write_queue);
	error = writer_close(writer, &(struct writer_end){0});
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	sp_error_free(error);
	vec_deinit(&buffer);
}

static void free_nothing(struct write_queue_change *change)
{
	(void)change;
}

/* The next file has its beginning alone; all bytes are those before it, too. */
TEST(a_change_counts_what_waits_before_it)
{
	const struct write_queue_options options = {.memory_bytes = 0, .sample_id_at = ID_AT,
						    .sample_cpu_at = CPU_AT};
	struct write_queue_change change = {.free = free_nothing};
	struct write_queue *write_queue;
	struct record_buffer buffer = {0};
	ok_or_fail(write_queue_new(&options, &write_queue));
	recording_put_sample(&buffer, RECORDING_START, 1);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_change(write_queue, &change, 100));
	struct write_queue_counts counts = write_queue_counts(write_queue);
	ck_assert_uint_eq(counts.file_bytes, 100);
	ck_assert_uint_eq(counts.all_bytes, 100 + RECORDING_SAMPLE_SIZE);
	write_queue_free(write_queue);
	vec_deinit(&buffer);
}

static struct sp_error *make_file(struct write_queue_change *change, struct writer *old,
				  struct writer **next_ret)
{
	(void)change;
	sp_error_free(writer_close(old, &(struct writer_end){0}));
	*next_ret = recording_open(files_path("data"));
	return NULL;
}

/* The first file cannot be written; the second one can. */
TEST(samples_that_an_earlier_file_lacks_stay_counted)
{
	const struct write_queue_options options = {.memory_bytes = MEMORY, .sample_id_at = ID_AT,
						    .sample_cpu_at = CPU_AT};
	struct write_queue_change change = {.make = make_file, .free = free_nothing};
	struct write_queue *write_queue;
	struct record_buffer buffer = {0};
	struct reader reader;
	ok_or_fail(write_queue_new(&options, &write_queue));
	for (uint64_t time_ns = 1; time_ns <= 7; time_ns++)
		recording_put_sample(&buffer, RECORDING_START, time_ns);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_commit(write_queue));
	ok_or_fail(write_queue_change(write_queue, &change, 0));
	recording_put_sample(&buffer, RECORDING_START, 8);
	ok_or_fail(hand_over(write_queue, &buffer));
	struct writer *writer = open_pipe(&reader);
	close(reader.fd);
	write_queue_begin(write_queue, writer);
	struct sp_error *error = write_queue_end(write_queue);
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	sp_error_free(error);
	ck_assert_uint_eq(write_queue_counts(write_queue).unwritten, 7);
	writer = write_queue_take_writer(write_queue);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ck_assert_uint_eq(found_in_file(files_path("data")).samples, 1);
	write_queue_free(write_queue);
	vec_deinit(&buffer);
}

TEST(a_queue_that_was_not_started_can_be_freed)
{
	const struct write_queue_options options = {.memory_bytes = 0, .sample_id_at = ID_AT,
						    .sample_cpu_at = CPU_AT};
	struct write_queue *write_queue;
	struct record_buffer buffer = {0};
	ok_or_fail(write_queue_new(&options, &write_queue));
	recording_put_sample(&buffer, RECORDING_START, 1);
	ok_or_fail(hand_over(write_queue, &buffer));
	ok_or_fail(write_queue_commit(write_queue));
	ok_or_fail(write_queue_end(write_queue));
	write_queue_free(write_queue);
	vec_deinit(&buffer);
}
