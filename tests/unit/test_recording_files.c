/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of a recording: what each begins with, what is in them, and when they end. */
#include "capture/output/recording_files.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/io.h"
#include "file/file_format.h"
#include "files.h"
#include "made_ctx.h"

#define ATTR                                                                  \
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),   \
	.sample_type = RECORD_FIELDS_NEEDED, .sample_id_all = 1

static const uint64_t ids[] = {11}, dummy_ids[] = {21};
static const struct sp_event events[] = {
	{"the-clock", {ATTR, .freq = 1, .sample_freq = 997}, ids, 1},
	{"dummy", {ATTR, .config = PERF_COUNT_SW_DUMMY, .comm = 1, .task = 1}, dummy_ids, 1},
};

/* Opens a recording at a path of the test's folder. */
static void open_recording(struct recording *recording, const struct sp_capture_output *output)
{
	const struct capture_options options = {.output = *output};
	struct event_plan *plan = calloc(1, sizeof(*plan));
	const struct recording_options file = {
		.ctx = made_ctx(), .options = &options, .plan = plan, .events = events,
		.event_count = 2, .clock = CLOCK_MONOTONIC,
	};
	*recording = (struct recording){0};
	ck_assert_ptr_nonnull(plan);
	ok_or_fail(rotation_init(&recording->rotation, &options));
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &recording->rotation.live_state.fields));
	ok_or_fail(recording_init(recording, 8, 40));
	ok_or_fail(recording_open(recording, &file));
	free(plan);
	write_queue_publish(recording->write_queue);
}

static void add_comm(struct recording *recording, uint32_t pid, const char *name, uint64_t time_ns)
{
	struct record_buffer buffer = {0};
	const struct sp_record record = {
		.type = PERF_RECORD_COMM,
		.id = {.pid = pid, .tid = pid, .time_ns = time_ns, .id = 21},
		.comm = {pid, pid, name},
	};
	ok_or_fail(record_encode(&buffer, &record, &events[1].attr));
	ok_or_fail(recording_add(recording, buffer.items, buffer.count));
	ok_or_fail(batch_flush(&recording->batch));
	vec_deinit(&buffer);
}

static struct recording_progress at(uint64_t time_ns)
{
	return (struct recording_progress){
		.now_ns = time_ns, .seen_ns = time_ns, .unwritten_ns = UINT64_MAX,
		.attr = &events[0].attr,
	};
}

/* Numbers of records of each kind in a file. */
struct found {
	size_t comms, notes, marks;
	bool has_late; /* a COMM named "late" */
};

static struct found read_file(const char *path)
{
	struct found found = {0};
	struct file_header header;
	struct perf_event_header record;
	char *bytes;
	size_t size;
	ck_assert_int_eq(io_read_file(path, &bytes, &size), 0);
	memcpy(&header, bytes, sizeof(header));
	ck_assert_uint_le(header.data.offset + header.data.size, size);
	const char *data = bytes + header.data.offset;
	for (size_t place = 0; place < header.data.size; place += record.size) {
		memcpy(&record, data + place, sizeof(record));
		ck_assert_uint_ge(record.size, sizeof(record));
		found.comms += record.type == PERF_RECORD_COMM;
		uint64_t kind = 0;
		memcpy(&kind, data + place + sizeof(record), record.size > 8 ? sizeof(kind) : 0);
		found.notes += record.type == 78 && kind == NOTE_KIND;
		found.marks += record.type == SP_RECORD_FINISHED_ROUND;
		found.has_late |= record.type == PERF_RECORD_COMM &&
				  !strcmp(data + place + 16, "late");
	}
	free(bytes);
	return found;
}

TEST(a_file_has_metadata_notes_and_marks)
{
	struct recording recording;
	const char *path = files_path("data");
	open_recording(&recording, &(struct sp_capture_output){.path = path});
	add_comm(&recording, 7, "prog", 100);
	ok_or_fail(notes_add(&recording.notes, NOTE_MAX_SIZE, NULL, 1));
	const struct recording_progress progress = at(200);
	ok_or_fail(recording_end_round(&recording, &progress, true));
	const struct recording_end end = {0};
	ok_or_fail(recording_close(&recording, &end));
	const struct found found = read_file(path);
	ck_assert_uint_eq(found.comms, 1);
	ck_assert_uint_eq(found.notes, 1);
	ck_assert_uint_eq(found.marks, 1);
	recording_deinit(&recording);
}

/* A sample that is still unwound is older than the last mark: a new mark would be wrong. */
TEST(no_mark_is_written_before_older_samples)
{
	struct recording recording;
	const char *path = files_path("data");
	open_recording(&recording, &(struct sp_capture_output){.path = path});
	struct recording_progress progress = at(200);
	ok_or_fail(recording_commit(&recording, &progress));
	progress = at(400);
	progress.unwritten_ns = 199;
	ok_or_fail(recording_commit(&recording, &progress));
	ck_assert(recording.dirty);
	progress.unwritten_ns = 200;
	ok_or_fail(recording_commit(&recording, &progress));
	ck_assert(!recording.dirty);
	const struct recording_end end = {0};
	ok_or_fail(recording_close(&recording, &end));
	ck_assert_uint_eq(read_file(path).marks, 2);
	recording_deinit(&recording);
}

TEST(each_file_begins_with_the_tasks_that_live)
{
	struct recording recording;
	const char *path = files_path("data");
	open_recording(&recording, &(struct sp_capture_output){.path = path, .switch_on_demand = true});
	add_comm(&recording, 7, "early", 100);
	ok_or_fail(notes_add(&recording.notes, NOTE_MAX_SIZE, NULL, 1));
	struct recording_progress progress = at(200);
	ok_or_fail(recording_end_round(&recording, &progress, true));
	struct recording_end end = {.first_ns = 150, .last_ns = 160, .samples = 5};
	ok_or_fail(recording_change(&recording, &end));
	ok_or_fail(recording_write_live(&recording));
	recording_begin_samples(&recording);
	ck_assert_uint_gt(recording.rotation.first_bytes, recording.rotation.begin_bytes);
	add_comm(&recording, 8, "late", 300);
	progress = at(400);
	ok_or_fail(recording_end_round(&recording, &progress, true));
	end.samples = 9;
	ok_or_fail(recording_close(&recording, &end));
	struct sp_capture_file done;
	size_t files = 0;
	for (; file_maker_next_done(recording.rotation.maker, &done); files++) {
		const struct found found = read_file(done.path);
		ck_assert_uint_eq(found.comms, files ? 2 : 1);
		ck_assert_uint_eq(found.has_late, files);
		ck_assert_uint_eq(found.notes, 1);
	}
	ck_assert_uint_eq(files, 2);
	recording_deinit(&recording);
}

/* The newest two complete files. */
TEST(the_requested_number_of_files_is_kept)
{
	struct recording recording;
	const char *path = files_path("data");
	const struct recording_end end = {0};
	struct sp_capture_file done;
	size_t files = 0;
	open_recording(&recording, &(struct sp_capture_output){.path = path, .switch_on_demand = true,
							       .keep_files = 2});
	for (int i = 0; i < 3; i++)
		ok_or_fail(recording_change(&recording, &end));
	ok_or_fail(recording_close(&recording, &end));
	for (; file_maker_next_done(recording.rotation.maker, &done); files++)
		ck_assert_int_eq(access(done.path, F_OK), files < 2 ? -1 : 0);
	ck_assert_uint_eq(files, 4);
	recording_deinit(&recording);
}

TEST(a_next_file_that_cannot_be_made_is_an_error)
{
	struct recording recording;
	const char *path = files_path("data");
	const struct recording_end end = {0};
	struct rlimit before, none;
	open_recording(&recording, &(struct sp_capture_output){.path = path, .switch_on_demand = true});
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct sp_error *error = recording_change(&recording, &end);
	error = error_first(error, write_queue_flush(recording.write_queue));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_errno(error), EMFILE);
	sp_error_free(error);
	ok_or_fail(recording_close(&recording, &end));
	recording_deinit(&recording);
}

TEST(metadata_that_is_held_is_not_in_the_file)
{
	struct recording recording;
	const char *path = files_path("data");
	open_recording(&recording, &(struct sp_capture_output){.path = path, .switch_on_demand = true});
	recording.holds_metadata = true;
	add_comm(&recording, 7, "held", 100);
	ok_or_fail(batch_flush(&recording.batch));
	ok_or_fail(recording_write_live(&recording));
	const struct recording_end end = {0};
	ok_or_fail(recording_close(&recording, &end));
	struct sp_capture_file done;
	ck_assert(file_maker_next_done(recording.rotation.maker, &done));
	ck_assert_uint_eq(read_file(done.path).comms, 1);
	recording_deinit(&recording);
}

TEST(limits_end_files_or_the_recording)
{
	struct recording recording = {.rotation = {.max_bytes = 1000, .switch_bytes = 400}};
	bool ends;
	ck_assert_uint_eq(recording_limit(&recording, &ends), 400);
	ck_assert(!ends);
	recording.rotation.max_bytes = 300;
	ck_assert_uint_eq(recording_limit(&recording, &ends), 300);
	ck_assert(ends);
	recording.rotation = (struct rotation){0};
	ck_assert_uint_eq(recording_limit(&recording, &ends), 0);
	recording = (struct recording){.rotation = {.switch_bytes = 400}, .holds_metadata = true};
	ck_assert_uint_eq(recording_limit(&recording, &ends), 0);
}

TEST(a_limit_without_room_for_samples_is_refused)
{
	const struct capture_options options = {
		.output = {.path = files_path("data"), .max_bytes = 500},
	};
	struct event_plan plan = {0};
	const struct recording_options file = {
		.ctx = made_ctx(), .options = &options, .plan = &plan, .events = events,
		.event_count = 2, .clock = CLOCK_MONOTONIC,
	};
	struct recording recording = {0};
	ok_or_fail(rotation_init(&recording.rotation, &options));
	ok_or_fail(recording_init(&recording, 8, 40));
	struct sp_error *error = recording_open(&recording, &file);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_INVALID);
	sp_error_free(error);
	recording_abandon(&recording);
	recording_deinit(&recording);
}
