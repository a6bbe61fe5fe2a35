/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a file at each step, and what happens where they cannot be written. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "base/vec.h"
#include "file/file_format.h"
#include "files.h"
#include "recording.h"

struct image {
	uint8_t *bytes;
	size_t size;
	struct file_header header;
	uint64_t data_end;
};

static void image_deinit(struct image *image)
{
	free(image->bytes);
}

#define IMAGE CLEANUP(image_deinit) struct image

static struct image image_read(const char *path)
{
	struct image image = {0};
	char *bytes;
	ck_assert_int_eq(io_read_file(path, &bytes, &image.size), 0);
	image.bytes = (uint8_t *)bytes;
	ck_assert_uint_ge(image.size, sizeof(image.header));
	memcpy(&image.header, bytes, sizeof(image.header));
	ck_assert(image.header.magic == FILE_MAGIC);
	ck_assert_uint_eq(image.header.size, sizeof(image.header));
	image.data_end = image.header.data.offset + image.header.data.size;
	ck_assert_uint_le(image.data_end, image.size);
	return image;
}

/* Walks the data, which must end on a whole record; how many there are of a type. */
static size_t image_count(const struct image *image, uint32_t type)
{
	struct perf_event_header header;
	size_t count = 0;
	uint64_t at = image->header.data.offset;
	while (at + sizeof(header) <= image->data_end) {
		memcpy(&header, image->bytes + at, sizeof(header));
		if (header.size < sizeof(header))
			ck_abort_msg("a record of size %u", header.size);
		count += header.type == type;
		at += header.size;
	}
	ck_assert_uint_eq(at, image->data_end);
	return count;
}

/* The payload of a feature, as readers find it: by its place among the bits. */
static struct sp_bytes image_feature(const struct image *image, unsigned int feature)
{
	struct file_section section;
	uint64_t bits = image->header.features[0], at = image->data_end;
	if (!(bits >> feature & 1))
		return (struct sp_bytes){0};
	at += sizeof(section) *
	      (uint64_t)__builtin_popcountll(bits & ((UINT64_C(1) << feature) - 1));
	ck_assert_uint_le(at + sizeof(section), image->size);
	memcpy(&section, image->bytes + at, sizeof(section));
	ck_assert_uint_le(section.offset + section.size, image->size);
	return (struct sp_bytes){image->bytes + section.offset, section.size};
}

static void has_string(const struct image *image, unsigned int feature, const char *text)
{
	struct sp_bytes payload = image_feature(image, feature);
	uint32_t size;
	ck_assert_msg(payload.size > sizeof(size), "no feature %u", feature);
	memcpy(&size, payload.bytes, sizeof(size));
	ck_assert_uint_eq(payload.size, sizeof(size) + size);
	ck_assert_uint_eq(size % 64, 0);
	ck_assert_str_eq((const char *)payload.bytes + sizeof(size), text);
}

static void put_samples(struct record_buffer *buffer, size_t count)
{
	for (size_t i = 0; i < count; i++)
		recording_put_sample(buffer, RECORDING_START + i % 16, 1000 + i);
}

/* Features of a file that is being recorded are those of one that is finished, but two. */
static void has_first_features(const struct image *image)
{
	has_string(image, FEATURE_HOSTNAME, "testhost");
	has_string(image, FEATURE_OSRELEASE, "6.1.0");
	has_string(image, FEATURE_VERSION, "0.1");
	has_string(image, FEATURE_ARCH, "x86_64");
	has_string(image, FEATURE_CPUDESC, "A CPU");
	has_string(image, FEATURE_CPUID, "Maker,1,2,3");
	struct sp_bytes cpus = image_feature(image, FEATURE_NRCPUS);
	ck_assert_uint_eq(cpus.size, 8);
	ck_assert_mem_eq(cpus.bytes, ((uint32_t[]){4, 3}), 8);
	ck_assert_mem_eq(image_feature(image, FEATURE_TOTAL_MEM).bytes, &(uint64_t){123456}, 8);
	struct sp_bytes cmdline = image_feature(image, FEATURE_CMDLINE);
	ck_assert_uint_eq(cmdline.size, 4 + 4 * 68);
	ck_assert_str_eq((const char *)cmdline.bytes + 4 + 3 * 68 + 4, "prog");
	struct sp_bytes events = image_feature(image, FEATURE_EVENT_DESC);
	ck_assert_mem_eq(events.bytes, ((uint32_t[]){2, PERF_ATTR_SIZE_VER5}), 8);
	ck_assert_uint_eq(events.size, 8 + 2 * (PERF_ATTR_SIZE_VER5 + 4 + 68 + 16));
	ck_assert_uint_eq(image_feature(image, FEATURE_PMU_MAPPINGS).size, 4 + 2 * (4 + 68));
	ck_assert_mem_eq(image_feature(image, FEATURE_CLOCKID).bytes, &(uint64_t){1}, 8);
	struct sp_bytes clock = image_feature(image, FEATURE_CLOCK_DATA);
	ck_assert_uint_eq(clock.size, 24);
	ck_assert_mem_eq(clock.bytes, ((uint32_t[]){1, 1}), 8);
	ck_assert_mem_eq(clock.bytes + 8, ((uint64_t[]){1700000000000000000, 5000}), 16);
}

TEST(attrs_and_ids_are_where_the_header_says)
{
	const char *path = files_path("data");
	ok_or_fail(writer_close(recording_open(path), &(struct writer_end){0}));
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image.header.attr_size, PERF_ATTR_SIZE_VER5 + 16);
	ck_assert_uint_eq(image.header.attrs.size, 2 * image.header.attr_size);
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_attr attr = {0};
		struct file_section ids;
		const uint8_t *entry =
			image.bytes + image.header.attrs.offset + i * image.header.attr_size;
		memcpy(&attr, entry, PERF_ATTR_SIZE_VER5);
		memcpy(&ids, entry + PERF_ATTR_SIZE_VER5, sizeof(ids));
		ck_assert_uint_eq(attr.size, PERF_ATTR_SIZE_VER5);
		attr.size = recording_events[i].attr.size;
		ck_assert_mem_eq(&attr, &recording_events[i].attr, sizeof(attr));
		ck_assert_uint_eq(ids.size, 16);
		ck_assert_mem_eq(image.bytes + ids.offset, recording_events[i].ids, 16);
	}
}

TEST(a_file_is_whole_after_each_commit)
{
	const char *path = files_path("data");
	struct record_buffer buffer = {0};
	struct writer *writer = recording_open(path);
	size_t samples = 0;
	/* Around the sizes at which writes are gathered, and beyond. */
	const size_t rounds[] = {0, 1, 2, 100, 146, 147, 1, 1000, 1200, 0, 20000, 1};
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		put_samples(&buffer, rounds[i]);
		ok_or_fail(recording_write(writer, &buffer));
		ok_or_fail(writer_commit(writer));
		samples += rounds[i];
		IMAGE image = image_read(path);
		ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE), samples);
		has_first_features(&image);
		ck_assert_uint_eq(image.data_end, writer_size(writer));
	}
	const struct sp_build_id build_ids[] = {
		{0, "ABCDEFGHIJKLMNOPQRST", 20, "/nonexistent/prog"},
		{0, "abcdefghijklmnopqrst", 20, "[kernel.kallsyms]"},
		{0, "abcdefghijklmnopqrst", 20, "/lib/modules/6.1/kernel/a.ko.xz"},
		{0, "abcdefghijklmnopqrst", 20, "/boot/vmlinux", PERF_RECORD_MISC_KERNEL},
		{0, "abcdefghijklmnopqrst", 20, "[vdso]"},
	};
	const struct writer_end end = {1000, 2000, build_ids, 5};
	ok_or_fail(writer_close(writer, &end));
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE), samples);
	has_first_features(&image);
	ck_assert_mem_eq(image_feature(&image, FEATURE_SAMPLE_TIME).bytes,
			 ((uint64_t[]){1000, 2000}), 16);
	struct sp_bytes ids = image_feature(&image, FEATURE_BUILD_ID);
	ck_assert_uint_eq(ids.size, 5 * 100);
	/* header (misc: user, size valid), pid -1, id, its size, name */
	ck_assert_mem_eq(ids.bytes + 4, ((uint16_t[]){0x8002, 100}), 4);
	ck_assert_mem_eq(ids.bytes + 8, "\xff\xff\xff\xff" "ABCDEFGHIJKLMNOPQRST\x14", 25);
	ck_assert_str_eq((const char *)ids.bytes + 36, "/nonexistent/prog");
	const uint16_t misc[] = {0x8002, 0x8001, 0x8001, 0x8001, 0x8002};
	for (size_t i = 0; i < 5; i++)
		ck_assert_mem_eq(ids.bytes + 100 * i + 4, ((uint16_t[]){misc[i], 100}), 4);
	/* Nothing behind the last payload, and no space kept. */
	ck_assert(ids.bytes + ids.size <= image.bytes + image.size);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_le(512 * st.st_blocks, st.st_size + 65536);
	vec_deinit(&buffer);
}

TEST(without_a_commit_nothing_new_is_part_of_the_file)
{
	const char *path = files_path("data");
	struct record_buffer buffer = {0};
	struct writer *writer = recording_open(path);
	put_samples(&buffer, 10);
	ok_or_fail(recording_write(writer, &buffer));
	ok_or_fail(writer_commit(writer));
	put_samples(&buffer, 5000);
	ok_or_fail(recording_write(writer, &buffer));
	{
		/* Without a commit, the header does not include the new records. */
		IMAGE image = image_read(path);
		ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE), 10);
		has_first_features(&image);
		ck_assert_uint_gt(image.size, image.data_end + 5000 * RECORDING_SAMPLE_SIZE - 1);
	}
	writer_free(writer);
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE), 10);
	vec_deinit(&buffer);
}

TEST(the_data_begins_with_what_the_recording_is_of)
{
	const char *path = files_path("data");
	writer_free(recording_open(path));
	IMAGE image = image_read(path);
	struct perf_event_header header;
	uint64_t feature;
	memcpy(&header, image.bytes + image.header.data.offset, sizeof(header));
	memcpy(&feature, image.bytes + image.header.data.offset + 8, sizeof(feature));
	ck_assert_uint_eq(header.type, SP_RECORD_HEADER_FEATURE);
	ck_assert_uint_eq(feature, FEATURE_HOSTNAME);
	ck_assert_uint_eq(image_count(&image, SP_RECORD_HEADER_FEATURE), 12);
	ck_assert_uint_eq(image_count(&image, SP_RECORD_EVENT_UPDATE), 2);
}

TEST(records_may_be_split_between_spans)
{
	const char *path = files_path("data");
	struct record_buffer buffer = {0};
	struct writer *writer = recording_open(path);
	put_samples(&buffer, 4000);
	/* More spans than one writev takes, none of them of whole records. */
	struct iovec spans[200];
	size_t at = 0, step = buffer.count / 200 + 1;
	for (int i = 0; i < 200; i++) {
		size_t size = buffer.count - at < step ? buffer.count - at : step;
		spans[i] = (struct iovec){buffer.items + at, size};
		at += size;
	}
	ck_assert_uint_eq(at, buffer.count);
	ok_or_fail(writer_write(writer, spans, 200));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE), 4000);
	ck_assert_mem_eq(image.bytes + image.data_end - buffer.count, buffer.items, buffer.count);
	vec_deinit(&buffer);
}

TEST(more_ids_than_a_record_holds)
{
	const char *path = files_path("data");
	static uint64_t ids[20000];
	struct writer *writer;
	const struct sp_event event = {"cycles", {RECORDING_ATTR}, ids, 20000};
	for (size_t i = 0; i < 20000; i++)
		ids[i] = i + 1;
	ok_or_fail(writer_open(path, &event, 1, &recording_info, &writer));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	IMAGE image = image_read(path);
	image_count(&image, 0);
	ck_assert_uint_eq(image_feature(&image, FEATURE_EVENT_DESC).size,
			  8 + PERF_ATTR_SIZE_VER5 + 4 + 68 + 8 * 20000);
}

/* -- Killed at any step ------------------------------------------------------ */

/* The recorder's counts: samples that must be, and that may be in the file. */
struct progress {
	volatile size_t committed, written;
	volatile bool at_rest; /* between a commit and what is written next */
};

static void record_in_steps(const char *path, struct progress *progress)
{
	/* Less than a table's size, around it, gathered, written at once, not committed. */
	static const size_t rounds[] = {1, 2, 4, 5, 6, 0, 100, 1, 1000, 3, 2000, 1, 500, 700, 1};
	struct record_buffer buffer = {0};
	struct writer *writer = recording_open(path);
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		put_samples(&buffer, rounds[i]);
		progress->written += rounds[i];
		ok_or_fail(recording_write(writer, &buffer));
		if (rounds[i] == 700 || rounds[i] == 100)
			continue;
		ok_or_fail(writer_commit(writer));
		progress->committed = progress->written;
		progress->at_rest = true;
		(void)getppid(); /* stops here, to be examined */
		progress->at_rest = false;
	}
	const struct sp_build_id build_id = {0, "ABCDEFGHIJKLMNOPQRST", 20, "/nonexistent/prog"};
	ok_or_fail(writer_close(writer, &(struct writer_end){1, 2, &build_id, 1}));
}

/* The file as a SIGKILL at this moment would leave it; whether it has its table. */
static bool valid_now(const char *path, const struct progress *progress)
{
	if (access(path, F_OK) < 0)
		return false;
	IMAGE image = image_read(path);
	size_t samples = image_count(&image, PERF_RECORD_SAMPLE);
	ck_assert_uint_ge(samples, progress->committed);
	ck_assert_uint_le(samples, progress->written);
	ck_assert_uint_eq(image_count(&image, SP_RECORD_HEADER_FEATURE), 12);
	if (image.header.features[0])
		has_first_features(&image);
	return image.header.features[0] != 0;
}

TEST(the_file_is_valid_after_each_system_call)
{
	const char *path = files_path("data");
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(progress != MAP_FAILED);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		raise(SIGSTOP);
		record_in_steps(path, progress);
		_exit(0);
	}
	size_t stops = 0, rests = 0;
	int status;
	for (;;) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		stops++;
		bool has_table = valid_now(path, progress);
		ck_assert(has_table || !progress->at_rest);
		rests += progress->at_rest;
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	}
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_test("needs ptrace");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_uint_gt(stops, 200);
	ck_assert_uint_eq(rests, (size_t)2 * 13); /* into and out of a system call, after each commit */
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image_feature(&image, FEATURE_BUILD_ID).size, 100);
}

/* -- What is there already --------------------------------------------------- */

static void refused(enum sp_error_code code, const char *path, const char *why)
{
	struct writer *writer;
	struct sp_error *error =
		writer_open(path, recording_events, 2, &recording_info, &writer);
	ck_assert_msg(error != NULL, "%s was opened", path);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_msg(strstr(sp_error_message(error), why), "%s", sp_error_message(error));
	ck_assert_msg(strstr(sp_error_message(error), path), "%s", sp_error_message(error));
	ck_assert_ptr_nonnull(sp_error_remedy(error));
	sp_error_free(error);
}

TEST(a_file_that_is_there_becomes_old)
{
	const char *path = files_path("data"), *old = files_path("data.old");
	char *text;
	files_write(path, "first", 5);
	files_write(old, "older", 5);
	ok_or_fail(writer_close(recording_open(path), &(struct writer_end){0}));
	ck_assert_int_eq(io_read_file(old, &text, NULL), 0);
	ck_assert_str_eq(text, "first");
	free(text);
	IMAGE image = image_read(path);
	ck_assert_str_eq(files_output("ls"), "data\ndata.old\n");
}

TEST(a_file_that_is_not_published_leaves_all_as_it_was)
{
	const char *path = files_path("data"), *old = files_path("data.old");
	struct writer *writer;
	ok_or_fail(writer_open(path, recording_events, 2, &recording_info, &writer));
	writer_free(writer);
	ck_assert_str_eq(files_output("ls -A"), "");
	files_write(path, "first", 5);
	files_write(old, "older", 5);
	ok_or_fail(writer_open(path, recording_events, 2, &recording_info, &writer));
	writer_free(writer);
	ck_assert_str_eq(files_output("ls -A; cat data data.old"), "data\ndata.old\nfirstolder");
}

TEST(two_recorders_of_one_name_keep_both_files)
{
	const char *path = files_path("data");
	struct writer *one, *other;
	files_write(path, "first", 5);
	ok_or_fail(writer_open(path, recording_events, 2, &recording_info, &one));
	ok_or_fail(writer_open(path, recording_events, 2, &recording_info, &other));
	ok_or_fail(writer_close(one, &(struct writer_end){0}));
	ok_or_fail(writer_close(other, &(struct writer_end){0}));
	IMAGE image = image_read(path), old = image_read(files_path("data.old"));
	ck_assert_str_eq(files_output("ls -A"), "data\ndata.old\n");
}

TEST(an_old_file_that_cannot_be_renamed_is_refused_at_once)
{
	files_run("echo first >data; mkdir data.old; touch data.old/file");
	refused(SP_ERROR_OS, files_path("data"), "data.old: Is a directory");
	ck_assert_str_eq(files_output("ls -A; cat data"), "data\ndata.old\nfirst\n");
}

TEST(a_file_is_not_touched_where_none_can_be_written)
{
	const char *path = files_path("data");
	char *text;
	struct writer *writer;
	files_write(path, "first", 5);
	/* No room for the header. */
	struct rlimit before, limit;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){50, before.rlim_max};
	/* The test's own report goes into a file: no assertion meanwhile. */
	setrlimit(RLIMIT_FSIZE, &limit);
	struct sp_error *error =
		writer_open(path, recording_events, 2, &recording_info, &writer);
	setrlimit(RLIMIT_FSIZE, &before);
	fails_with(SP_ERROR_LIMIT, error);
	ck_assert_int_eq(io_read_file(path, &text, NULL), 0);
	ck_assert_str_eq(text, "first");
	free(text);
	ck_assert_str_eq(files_output("ls"), "data\n");
}

TEST(impossible_outputs_are_rejected)
{
	refused(SP_ERROR_INVALID, files_folder(), "is a directory");
	refused(SP_ERROR_NOT_FOUND, files_path("no/such/folder"), "No such file");
	files_write(files_path("target"), "precious", 8);
	files_run("ln -s target link; ln -s nowhere dangling");
	refused(SP_ERROR_INVALID, files_path("link"), "symbolic link");
	refused(SP_ERROR_INVALID, files_path("dangling"), "symbolic link");
	ck_assert_str_eq(files_output("cat target; ls"), "precious" "dangling\nlink\ntarget\n");
}

TEST(files_of_other_users_in_a_shared_folder_are_rejected)
{
	if (geteuid() != 0)
		skip_test("needs root");
	files_run("mkdir -m 1777 shared; cd shared; ln -s /dev/null link; mkfifo fifo;"
		  "chown -h 1:1 . link fifo; chown 0:0 ..");
	files_run("chown 2:2 shared; chmod 1777 shared");
	refused(SP_ERROR_INVALID, files_path("shared/link"), "another user");
	refused(SP_ERROR_INVALID, files_path("shared/fifo"), "another user");
	/* The folder's owner can change its link, too, though the kernel follows it. */
	files_run("chown -h 2:2 shared/link");
	refused(SP_ERROR_INVALID, files_path("shared/link"), "another user");
}

TEST(a_file_of_others_in_a_shared_folder_is_left_alone)
{
	if (geteuid() != 0)
		skip_test("needs root");
	files_run("chmod 711 .; mkdir -m 1777 shared; echo theirs >shared/data; chown 1:1 shared/data");
	const char *path = files_path("shared/data");
	ck_assert_int_eq(setresuid(3, 3, 3), 0);
	refused(SP_ERROR_PERMISSION, path, "cannot rename");
	ck_assert_int_eq(setresuid(-1, -1, -1), 0);
	char *text;
	ck_assert_int_eq(io_read_file(path, &text, NULL), 0);
	ck_assert_str_eq(text, "theirs\n");
	free(text);
}

TEST(devices_and_links_to_them_are_streams)
{
	struct record_buffer buffer = {0};
	files_run("ln -s /dev/null link");
	const char *const paths[] = {"/dev/null", files_path("link")};
	for (size_t i = 0; i < 2; i++) {
		struct writer *writer = recording_open(paths[i]);
		put_samples(&buffer, 1000);
		ok_or_fail(recording_write(writer, &buffer));
		ok_or_fail(writer_commit(writer));
		ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	}
	ck_assert_str_eq(files_output("ls"), "link\n");
	ck_assert_int_eq(access("/dev/null.old", F_OK), -1);
	vec_deinit(&buffer);
}

TEST(a_file_that_is_removed_meanwhile_is_an_error)
{
	const char *path = files_path("data");
	struct writer *writer = recording_open(path);
	ck_assert_int_eq(unlink(path), 0);
	fails_with(SP_ERROR_NOT_FOUND, writer_close(writer, &(struct writer_end){0}));
	/* Moved is not removed. */
	writer = recording_open(path);
	ck_assert_int_eq(rename(path, files_path("moved")), 0);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
}

/* -- Full disks and limits --------------------------------------------------- */

/* Writes until it fails; the error, and how many samples were handed over. */
static struct sp_error *fill(struct writer *writer, size_t round, size_t *samples_ret)
{
	CLEANUP_FREE uint8_t *items = NULL;
	struct record_buffer buffer = {0};
	struct sp_error *error = NULL;
	*samples_ret = 0;
	while (!error) {
		put_samples(&buffer, round);
		error = recording_write(writer, &buffer);
		items = buffer.items;
		*samples_ret += round;
		if (*samples_ret > 10000000)
			ck_abort_msg("no end of it");
	}
	return error;
}

/* Fills the file, closes it, and sees that all that fitted is there, with the table. */
static void stops_whole(const char *path, size_t round, int errnum, uint64_t limit)
{
	struct writer *writer = recording_open(path);
	size_t samples;
	writer_reserve(writer, 100);
	struct sp_error *error = fill(writer, round, &samples);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_LIMIT);
	ck_assert_int_eq(sp_error_errno(error), errnum);
	ck_assert_msg(strstr(sp_error_message(error), path), "%s", sp_error_message(error));
	ck_assert_msg(strstr(sp_error_message(error), "are readable"), "%s",
		      sp_error_message(error));
	ck_assert_ptr_nonnull(sp_error_remedy(error));
	sp_error_free(error);
	{
		/* Already valid, before anything else is done. */
		IMAGE image = image_read(path);
		ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE),
				  samples - writer_unwritten_samples(writer));
		ck_assert_uint_gt(writer_unwritten_samples(writer), 0);
		has_first_features(&image);
	}
	/* Fails at once, and with the same error; nothing is written any more. */
	uint64_t size = writer_size(writer);
	struct perf_event_header more = {PERF_RECORD_SWITCH, 0, 8};
	fails_with(SP_ERROR_LIMIT, writer_write(writer, &(struct iovec){&more, 8}, 1));
	fails_with(SP_ERROR_LIMIT, writer_commit(writer));
	ck_assert_uint_eq(writer_size(writer), size);
	uint64_t unwritten = writer_unwritten_samples(writer);
	struct record_buffer buffer = {0};
	put_samples(&buffer, 7);
	fails_with(SP_ERROR_LIMIT, recording_write(writer, &buffer));
	vec_deinit(&buffer);
	ck_assert_uint_eq(writer_unwritten_samples(writer), unwritten + 7);

	/* Only the first has its space. */
	const struct sp_build_id build_ids[] = {
		{0, "ABCDEFGHIJKLMNOPQRST", 20, "/nonexistent/prog"},
		{0, "BCDEFGHIJKLMNOPQRSTU", 20, "/nonexistent/library"},
	};
	const struct writer_end end = {1000, 2000, build_ids, 2};
	fails_with(SP_ERROR_LIMIT, writer_close(writer, &end));
	IMAGE image = image_read(path);
	size_t written = image_count(&image, PERF_RECORD_SAMPLE);
	ck_assert_uint_eq(written, samples - unwritten);
	ck_assert_uint_le(unwritten, round);
	ck_assert_uint_le(image.size, limit);
	/* All of the space was used, but for a block and what the note of it did not need. */
	ck_assert_uint_ge(image.size, limit - 4096 - 1024);
	has_first_features(&image);
	ck_assert_uint_eq(image_feature(&image, FEATURE_BUILD_ID).size, 100);
	ck_assert_uint_eq(image_feature(&image, FEATURE_SAMPLE_TIME).size, 16);
}

static void limit_file_size(uint64_t size)
{
	struct rlimit limit = {size, size};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* Would end the program; that the writer does not raise it is part of the test. */
	ck_assert(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
}

TEST(the_limit_on_file_size_in_small_rounds)
{
	limit_file_size(1000001);
	stops_whole(files_path("data"), 10, EFBIG, 1000001);
}

TEST(the_limit_on_file_size_in_large_rounds)
{
	limit_file_size(3000003);
	stops_whole(files_path("data"), 10000, EFBIG, 3000003);
}

TEST(a_limit_that_is_lowered_meanwhile)
{
	const char *path = files_path("data");
	struct record_buffer buffer = {0};
	struct writer *writer = recording_open(path);
	put_samples(&buffer, 100000);
	ok_or_fail(recording_write(writer, &buffer));
	ok_or_fail(writer_commit(writer));
	/* Within what is allocated already: only the write itself finds out. */
	uint64_t size = writer_size(writer);
	limit_file_size(size + 1001);
	put_samples(&buffer, 1000);
	struct sp_error *error = recording_write(writer, &buffer);
	ck_assert_int_eq(sp_error_errno(error), EFBIG);
	sp_error_free(error);
	IMAGE image = image_read(path);
	ck_assert_uint_eq(image_count(&image, PERF_RECORD_SAMPLE),
			  100000 + 1001 / RECORDING_SAMPLE_SIZE);
	fails_with(SP_ERROR_LIMIT, writer_close(writer, &(struct writer_end){0}));
	IMAGE closed = image_read(path);
	ck_assert_uint_eq(image_count(&closed, PERF_RECORD_SAMPLE),
			  100000 + 1001 / RECORDING_SAMPLE_SIZE);
	vec_deinit(&buffer);
}

/* A file system of `size` bytes, where this user may mount one. */
static const char *small_disk(const char *size)
{
	const char *folder = files_path("disk");
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", folder, "tmpfs", 0, size) < 0)
		return NULL;
	return folder;
}

TEST(a_disk_that_fills_up_in_small_rounds)
{
	if (small_disk("size=2m"))
		stops_whole(files_path("disk/data"), 10, ENOSPC, 2 << 20);
}

TEST(a_disk_that_fills_up_in_large_rounds)
{
	if (small_disk("size=4m"))
		stops_whole(files_path("disk/data"), 10000, ENOSPC, 4 << 20);
}

TEST(a_disk_too_full_to_begin)
{
	const char *disk = small_disk("size=4k");
	struct writer *writer;
	if (!disk)
		skip_test("a small disk cannot be mounted");
	fails_with(SP_ERROR_LIMIT, writer_open(files_path("disk/data"), recording_events, 2,
					       &recording_info, &writer));
	ck_assert_str_eq(files_output("ls disk"), "");
}

TEST(a_full_device)
{
	struct writer *writer;
	struct sp_error *error =
		writer_open("/dev/full", recording_events, 2, &recording_info, &writer);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_errno(error), ENOSPC);
	sp_error_free(error);
}

/* -- Streams ----------------------------------------------------------------- */

TEST(a_reader_that_goes_away_is_an_error)
{
	const char *path = files_path("fifo");
	struct record_buffer buffer = {0};
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	struct writer *writer = recording_open(path);
	put_samples(&buffer, 100);
	ok_or_fail(recording_write(writer, &buffer));
	ok_or_fail(writer_commit(writer));
	close(fd);
	/* The default ends the program. */
	ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	put_samples(&buffer, 100);
	ok_or_fail(recording_write(writer, &buffer));
	struct sp_error *error = writer_commit(writer);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	ck_assert_ptr_nonnull(sp_error_remedy(error));
	sp_error_free(error);
	sigset_t pending;
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert(!sigismember(&pending, SIGPIPE));
	error = writer_close(writer, &(struct writer_end){0});
	ck_assert_int_eq(sp_error_errno(error), EPIPE);
	sp_error_free(error);
	vec_deinit(&buffer);
}

TEST(a_stream_into_a_file_ends_on_a_whole_record)
{
	const char *path = files_path("data");
	CLEANUP_CLOSE int saved = dup(STDOUT_FILENO), fd = open(path, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "before", 6), 6);
	ck_assert_int_ge(dup2(fd, STDOUT_FILENO), 0);
	struct writer *writer = recording_open("-");
	uint64_t begin = writer_size(writer);
	limit_file_size(6 + begin + 100 * RECORDING_SAMPLE_SIZE + 20);
	struct record_buffer buffer = {0};
	put_samples(&buffer, 1000);
	struct sp_error *error = recording_write(writer, &buffer);
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	ck_assert_int_eq(sp_error_errno(error), EFBIG);
	sp_error_free(error);
	writer_free(writer);
	struct stat st;
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, 6 + begin + 100 * RECORDING_SAMPLE_SIZE);
	vec_deinit(&buffer);
}
