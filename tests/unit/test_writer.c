/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io.h"
#include "file/format.h"
#include "file/writer.h"
#include "record/encode.h"
#include "test.h"

static const uint64_t ids[] = {11, 12};
static const struct sp_event event = {
	.name = "cpu-clock",
	.attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
		 .sample_type = PERF_SAMPLE_IP, .sample_id_all = 1},
	.ids = ids,
	.id_count = 2,
};

TEST(a_file_is_valid_at_each_step)
{
	char dir[] = "/tmp/sprof-test-XXXXXX";
	char path[64];
	struct file_header header;
	struct writer *writer;
	struct writer_info info = {.hostname = "host"};
	struct record_buffer buffer = {0};
	struct sp_record record = {.type = PERF_RECORD_SAMPLE, .sample = {.ip = 0x1234}};
	ck_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/data", dir);
	ok_or_fail(writer_open(NULL, path, &event, 1, &info, &writer));
	int fd = open(path, O_RDONLY);
	ck_assert_int_eq(io_pread(fd, &header, sizeof(header), 0, NULL), 0);
	ck_assert(header.magic == FILE_MAGIC && header.data.size > 0);
	uint64_t size = header.data.size;
	ok_or_fail(record_encode(&buffer, &record, &event.attr));
	struct iovec span = {buffer.items, buffer.count};
	ok_or_fail(writer_write(writer, &span, 1));
	ok_or_fail(writer_commit(writer));
	ck_assert_int_eq(io_pread(fd, &header, sizeof(header), 0, NULL), 0);
	ck_assert_uint_eq(header.data.size, size + 16);
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ck_assert_int_eq(io_pread(fd, &header, sizeof(header), 0, NULL), 0);
	ck_assert_uint_eq(header.data.size, size + 16);
	ck_assert(header.features[0] & 1 << FEATURE_HOSTNAME);
	close(fd);
	vec_deinit(&buffer);
	unlink(path);
	rmdir(dir);
}
